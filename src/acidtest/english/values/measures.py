"""Numbers with their units in a text, and every value that a text mentions in any form.

A ``Measure`` is a number as it is written ("22 million crowns", "$1,250", "forty-two men", "30-minute"): its parts,
its value, and its unit if it has one of ``data/quantities/units.tsv``. ``NumberMentions`` answers whether a document
has a number in any form: 1,200 is 1200 and twelve hundred, 3 km is 3,000 m, a dozen is 12.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property, lru_cache

from acidtest.english.values.numbers import PATTERN, in_words, number_from_words
from acidtest.io.wordlists import packaged_table

_SCALE_WORDS = {
    "": Decimal(1),
    "thousand": Decimal(10) ** 3,
    "million": Decimal(10) ** 6,
    "billion": Decimal(10) ** 9,
    "trillion": Decimal(10) ** 12,
}
SHORT_SCALES = {
    "k": "thousand",
    "m": "million",
    "mn": "million",
    "bn": "billion",
    "tn": "trillion",
    "K": "thousand",
    "M": "million",
    "B": "billion",
    "T": "trillion",
}
"""How newspapers shorten the words that multiply a number: £600m, $5M."""

SCALES = _SCALE_WORDS | {short: _SCALE_WORDS[word] for short, word in SHORT_SCALES.items()}
"""The words that multiply a number, short ones too, and by how much."""

SIGNS = {"$": "dollar", "US$": "dollar", "£": "pound sterling", "€": "euro", "¥": "yen"}
"""Currency signs and the units they stand for."""

_ANY_DIGITS = re.compile(
    r"\d+(?:,\d{3})*(?:\.\d+)?(?: ?(?P<scale>thousand|million|billion|trillion|(?:bn|tn|mn|m)\b))?"
)
_NUMBER = re.compile(
    r"(?<![\w.,:/^~'’$£€¥₹%+=*#–—−-])(?:(?P<sign>US\$|[$£€¥]) ?)?"
    rf"(?:(?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)|(?P<words>(?i:{PATTERN})))"
    r"(?:[ -](?P<scale>thousand|million|billion|trillion)\b|(?P<short>(?(sign)(?:[kmKMBT]|mn|bn|tn)|(?:mn|bn|tn))\b))?"
)
_UNIT = re.compile(r"(?P<link>[ -]?)(?P<unit>%|°[CF]?|[A-Za-zµ]+(?:[²³]|/[a-z]+)?(?:[ -][A-Za-z]+[²³]?){0,2})")
_END = re.compile(r"(?![\w²³/:^'’$£€¥₹+=*–—−]|-(?!old\b))(?!\s*[–—−:×x]\s*\d)(?!\s?/)(?![.,]\d| \d+/\d)")
_DIGITS_START = re.compile(r"(?:(?:US\$|[$£€¥]) ?)?\d[\d,.]*")
_FIRST_WORDS = tuple(in_words(number) for number in (*range(1, 13), *range(20, 100, 10)))
_FIRST_WORDS = (*_FIRST_WORDS, "thirteen", "fifteen", "a hundred", "a thousand", "a million")
"""How numbers in words begin; fourteen begins with four."""
_LONG_WORDS = re.compile(rf"\b{PATTERN}(?: (?P<scale>billion|trillion))?\b")
_LARGE = frozenset(("hundred", "thousand", "million", "billion", "trillion"))
_ORDINAL_ENDINGS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
    "y": "ieth",
    "": "th",
}


@dataclass(frozen=True)
class Unit:
    """A unit of measurement or a currency, in one spelling."""

    name: str
    dimension: str
    """What it measures; amounts of one dimension can be compared."""
    factor: Decimal
    """How many of the dimension's smallest common unit it is."""
    singular: str
    plural: str
    short: str
    """The abbreviation or sign; empty without one."""
    spelling: str
    """``gb`` or ``us``; empty where both spell it alike."""
    others: tuple[str, ...]
    """Names of units for which it could be mistaken, but which are never almost equal."""

    def written_like(self, text: str, unit: Unit) -> str:
        """This unit in the form in which ``text`` writes another one: singular, plural or short; empty without it."""
        if text == unit.short:
            return self.short
        return self.singular if text.lower() == unit.singular.lower() and text != unit.plural else self.plural


@dataclass(frozen=True)
class Measure:
    """A number in a text with its sign, scale and unit."""

    start: int
    number_start: int
    number_end: int
    end: int
    sign: str
    number: str
    """The number alone: "3.5" of "$3.5 million"."""
    scale: str
    link: str
    """What stands between the number and its unit: a space, a hyphen or nothing."""
    unit_text: str
    bare: Decimal
    """The value of ``number``: 3.5 of "$3.5 million"."""
    unit: Unit | None

    @property
    def value(self) -> Decimal:
        """The value with its scale: 3,500,000 of "$3.5 million"."""
        return self.bare * SCALES[self.scale]

    @property
    def dimension(self) -> str:
        """The dimension of its unit, or empty for a count."""
        return self.unit.dimension if self.unit else ""

    @property
    def amount(self) -> tuple[str, Decimal]:
        """Dimension and amount, equal for measures that mean the same, such as 3 km and 3,000 m."""
        return amount(self.value, self.unit)

    @property
    def is_words(self) -> bool:
        """Whether the number is written in words."""
        return self.number[0].isalpha()


def amount(value: Decimal, unit: Unit | None) -> tuple[str, Decimal]:
    """Dimension and amount of so many of a unit, or of a count."""
    return (unit.dimension, (value * unit.factor).normalize()) if unit else ("", value.normalize())


def read_measures(text: str) -> list[Measure]:
    """The numbers of a text in order, with their units; not those in ranges, scores, names such as P8, or dates."""
    end, measures = 0, list[Measure]()
    for start in _possible_starts(text):
        match = _NUMBER.match(text, start) if start >= end else None
        measure = _read(text, match) if match else None
        if measure:
            measures.append(measure)
            end = measure.end
    return measures


def _possible_starts(text: str) -> list[int]:
    """Where numbers may begin; several times as fast as a search for the whole pattern."""
    starts = [match.start() for match in _DIGITS_START.finditer(text)]
    lower = text.lower()
    for word in _FIRST_WORDS:
        start = lower.find(word)
        while start >= 0:
            starts.append(start)
            start = lower.find(word, start + len(word))
    return sorted(starts)


def _read(text: str, match: re.Match[str]) -> Measure | None:
    """The number that matched, with its unit; None where it is part of something else."""
    link, unit_text, unit = _unit_after(text, match.end())
    end = match.end() + len(link) + len(unit_text)
    if not _END.match(text, end):
        return None
    sign, words = match["sign"] or "", match["words"]
    last = "words" if words else "digits"
    return Measure(
        start=match.start(),
        number_start=match.start(last),
        number_end=match.end(last),
        end=end,
        sign=sign,
        number=match[last],
        scale=match["short"] or (match["scale"] or "").lower(),
        link=link,
        unit_text=unit_text,
        bare=Decimal(number_from_words(words) or 0) if words else Decimal(match["digits"].replace(",", "")),
        unit=units_by_form()[sign] if sign else unit,
    )


def _unit_after(text: str, position: int) -> tuple[str, str, Unit | None]:
    """The unit that begins at a position, the longest one, and what stands before it; empty without one."""
    match = _UNIT.match(text, position)
    if match:
        forms, tail = units_by_form(), match["unit"]
        stops = [stop.start() for stop in re.finditer(r"[ -]", tail)]
        for stop in (len(tail), *reversed(stops)):
            unit = forms.get(tail[:stop]) or _long_forms().get(tail[:stop].lower())
            if unit:
                return match["link"], tail[:stop], unit
    return "", "", None


class NumberMentions:
    """The values that a text mentions in digits, words, ordinals and words such as dozen, and its amounts by unit."""

    def __init__(self, text: str, words: frozenset[str]) -> None:
        """``words`` are the words of the text in lower case."""
        self._text = text
        self._words = words

    @cached_property
    def values(self) -> frozenset[Decimal]:
        """All values, those with a scale both with it and without."""
        return frozenset(self._values())

    @cached_property
    def amounts(self) -> frozenset[tuple[str, Decimal]]:
        """Dimensions and amounts of all numbers, those without a unit as counts."""
        return frozenset(measure.amount for measure in read_measures(self._text))

    def has(self, bare: Decimal, scale: str = "", unit: Unit | None = None) -> bool:
        """Whether the text mentions a number, with its scale or without, or the same amount in another unit."""
        value = bare * SCALES[scale]
        if bare in self.values or value in self.values:
            return True
        return unit is not None and unit.dimension in _convertible() and self.has_amount(value, unit)

    def has_amount(self, value: Decimal, unit: Unit | None) -> bool:
        """Whether the text mentions so many of a unit, or the same amount in another; a count without a unit."""
        return amount(value, unit) in self.amounts

    def _values(self) -> Iterator[Decimal]:
        for match in _ANY_DIGITS.finditer(self._text):
            bare = Decimal(match[0].removesuffix(match["scale"] or "").rstrip().replace(",", ""))
            yield bare
            yield bare * SCALES[match["scale"] or ""]
        known = _values_of_words()
        for word in self._words & known.keys():
            yield from known[word]
        if not self._words.isdisjoint(_LARGE):
            for match in _LONG_WORDS.finditer(self._text.lower()):
                words = match[0].removesuffix(match["scale"] or "").rstrip()
                yield Decimal(number_from_words(words) or 0) * SCALES[match["scale"] or ""]


@lru_cache(1 << 8)
def number_mentions(text: str, words: frozenset[str]) -> NumberMentions:
    """``NumberMentions`` of a text; kept for the next claims about it."""
    return NumberMentions(text, words)


@cache
def _values_of_words() -> dict[str, tuple[Decimal, ...]]:
    """Numbers below a hundred and ordinals in one word, and words such as dozen, with their values."""
    table = packaged_table("quantities/values.tsv")
    values = {word: tuple(map(Decimal, numbers.split("|"))) for word, numbers in table.iter_rows()}
    for number in range(100):
        words = in_words(number)
        values[words] = values[ordinal(words)] = (Decimal(number),)
    return values


def ordinal(words: str) -> str:
    """The ordinal of a number in words: twenty-one, twenty-first."""
    ending, replacement = next(pair for pair in _ORDINAL_ENDINGS.items() if words.endswith(pair[0]))
    return words.removesuffix(ending) + replacement


@dataclass(frozen=True)
class Conversion:
    """An exact conversion between two units, and for which numbers of the first it is natural."""

    target: str
    factor: Fraction
    least: Decimal
    most: Decimal

    def converted(self, value: Decimal) -> Decimal | None:
        """The number of the target unit; None where it is not natural or has more than two decimals."""
        if not self.least <= value <= self.most:
            return None
        product = Fraction(value) * self.factor
        limit = 100 if self.factor.denominator in (10, 100, 1000) else 1
        if (product * limit).denominator != 1:
            return None
        result = Decimal(product.numerator) / Decimal(product.denominator)
        return result if result != 1 else None


@cache
def conversions() -> dict[str, tuple[Conversion, ...]]:
    """The exact conversions from each unit."""
    table: dict[str, tuple[Conversion, ...]] = {}
    for source, target, factor, least, most in packaged_table("quantities/conversions.tsv").iter_rows():
        conversion = Conversion(target, Fraction(factor), Decimal(least), Decimal(most))
        table[source] = (*table.get(source, ()), conversion)
    return table


@cache
def units() -> tuple[Unit, ...]:
    """All units, one for each spelling."""
    return tuple(
        Unit(
            name, dimension, Decimal(factor), singular, plural, short, spelling, tuple(filter(None, others.split("|")))
        )
        for name, dimension, factor, singular, plural, short, spelling, others in packaged_table(
            "quantities/units.tsv"
        ).iter_rows()
    )


@cache
def units_by_form() -> dict[str, Unit]:
    """The unit of every form that is written: singular, plural, abbreviation, currency sign."""
    forms: dict[str, Unit] = {}
    for unit in units():
        for form in (unit.singular, unit.plural, unit.short):
            if form:
                forms.setdefault(form, unit)
    return forms


def find_unit(name: str, *, spelling: str) -> Unit:
    """A unit by its name, in the given spelling where there are two, and else in the British one."""
    candidates = [unit for unit in units() if unit.name == name]
    return next((unit for unit in candidates if unit.spelling == spelling), candidates[0])


@cache
def _convertible() -> frozenset[str]:
    """The dimensions with units of different sizes."""
    return frozenset(unit.dimension for unit in units() if unit.factor != 1)


@cache
def _long_forms() -> dict[str, Unit]:
    """The units by what they are called in lower case; abbreviations are left out, since mW is not MW."""
    forms = {form.lower(): unit for unit in reversed(units()) for form in (unit.singular, unit.plural)}
    return {form: unit for form, unit in forms.items() if form}
