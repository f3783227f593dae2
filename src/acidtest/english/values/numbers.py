"""English numbers: in words, and as exact quantities that can be changed or bounded in a sentence.

A quantity is a cardinal number that counts or measures: "350 pounds", "forty-two men", "$1,250", "15 percent". It can
be changed if "more than" may precede it and nothing else in the sentence determines it. Dates, times, names with
numbers, ranges, ages before a noun, the number one and similar cases are not changed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, lru_cache
from itertools import permutations
from typing import Literal

from acidtest.io.wordlists import packaged_table

Form = Literal["digits", "words", "decimal", "percent", "money"]
Bound = Literal["more than", "less than"]

_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES = {"million": 1_000_000, "thousand": 1_000, "hundred": 100}
_MOST_IN_WORDS = 999_999_999
NUMBER_WORDS = (*_SMALL[2:], *_TENS, *_SCALES)
"""The words that numbers above one are made of."""
# "A" and "an" stand for one before hundred, thousand and million.
_VALUES = dict(zip((*_SMALL, *_TENS, "a", "an"), (*range(20), *range(20, 100, 10), 1, 1), strict=True))

_UNIT, _TEEN = "|".join(_SMALL[1:10]), "|".join(_SMALL[10:])
_UNDER_HUNDRED = rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{_UNIT}))?|{_TEEN}|{_UNIT})"
_UNDER_THOUSAND = rf"(?:(?:(?:an?|{_UNIT}|{_TEEN})[- ]hundred(?:(?: and)? {_UNDER_HUNDRED})?)|{_UNDER_HUNDRED})"
_MILLIONS, _THOUSANDS = (rf"(?:an?|{_UNDER_THOUSAND}) {scale}" for scale in ("million", "thousand"))
_LINK = r"(?: and| ?,)? "
PATTERN = (
    rf"(?:{_MILLIONS}(?:{_LINK}{_THOUSANDS})?(?:{_LINK}{_UNDER_THOUSAND})?"
    rf"|{_THOUSANDS}(?:{_LINK}{_UNDER_THOUSAND})?|{_UNDER_THOUSAND})"
)
"""A number in lower-case words, to be used inside a regular expression. It does not match zero or "a dozen"."""

_SIGN = r"(?P<sign>(?:US)?[$£€¥₹] ?|Rs\.? ?)"
_DIGITS = r"(?P<digits>\d{1,3}(?:,\d{3})+|\d+)(?P<decimals>\.\d+)?"
_NUMBER = (
    rf"(?<![\w.,:/^~'’$£€¥₹%+=*#–—−-])(?:{_SIGN}?{_DIGITS}|(?P<words>(?i:{PATTERN})))"
    r"(?![\w/:^'’$£€¥₹+=*–—−-])(?!\s*[–—−:×x]\s*\d)(?!\s?/)(?![.,]\d)"
    r"(?P<after> ?%| ?percent\b| ?per cent\b| (?:thousand|million|billion|trillion)\b)?"
)
_WORD = re.compile(r"[A-Za-z]+(?:[.'’-][A-Za-z]+)*\.?|\d[\d,.:]*|\S")
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_PLURAL = re.compile(r"(?!.*(?:ss|us|is)$)(?:[a-z]+(?:-[a-z]+)*s|[a-z]*men|[a-z]*fish)")
_PURPOSE = re.compile(r"\bto (?!(?:the|an?|his|her|its|their|our|my|this|that|these|those)\b)[a-z]+\b")
_OPENING = re.compile(r"(?:^|,\s*|\b[Tt]here (?:is|are|was|were)\s+)$")
_CONSTANTS = {("24", "hours"), ("7", "days"), ("12", "months"), ("365", "days"), ("52", "weeks"), ("60", "minutes")}
_POSSESSIVE = ("'s", "’s", "s'", "s’", "'", "’")


def in_words(number: int, *, joined: bool = False) -> str:
    """A number below a thousand million in words; ``joined`` adds the British "and": a hundred and five."""
    if number < 20:
        return _SMALL[number]
    if number < 100:
        return _TENS[number // 10 - 2] + (f"-{_SMALL[number % 10]}" if number % 10 else "")
    scale, size = next((scale, size) for scale, size in _SCALES.items() if number >= size)
    head, rest = divmod(number, size)
    link = " and " if joined and rest < 100 else " "
    return f"{in_words(head, joined=joined)} {scale}" + (link + in_words(rest, joined=joined) if rest else "")


@lru_cache(1 << 12)
def number_from_words(words: str) -> int | None:
    """The value of a number in words, upper or lower case; None for other words, such as "a dozen"."""
    words = words.lower()
    if words != _SMALL[0] and not re.fullmatch(PATTERN, words):
        return None
    total = group = 0
    for word in re.findall(r"[a-z]+", words):
        if word == "hundred":
            group *= 100
        elif word in _SCALES:
            total, group = total + group * _SCALES[word], 0
        else:
            group += _VALUES.get(word, 0)
    return total + group


@dataclass(frozen=True)
class Quantity:
    """A number in a sentence: its place, its value and, if it cannot be changed, the reason (``problem``)."""

    start: int
    end: int
    text: str
    """The number with its currency sign, but without what follows: "$3.5" of "$3.5 million"."""
    value: Decimal
    """The value of ``text`` alone: 3.5 in that example."""
    form: Form
    limit: Decimal | None = None
    """The upper limit of other values (excluded): 100 percent, 100 cents."""
    opens_clause: bool = False
    """Whether it begins a clause ("Two men …", "There are two men …"), which may go on to others ("… and a woman")."""
    problem: str = ""

    @property
    def step(self) -> Decimal:
        """The smallest change that keeps the number equally round."""
        if self.value % 1:
            return Decimal(1).scaleb(-len(str(self.value).partition(".")[2]))
        digits = str(int(self.value))
        step = Decimal(10) ** (len(digits) - len(digits.rstrip("0")))
        if step == 1:
            return Decimal(5 if self.value >= 100 and self.value % 5 == 0 else 1)
        # There are too few equally round numbers near 100 or 2,000.
        return step / 2 if self.value / step < 5 else step

    @property
    def in_words(self) -> bool:
        """Whether it is written in words."""
        return self.text[0].isalpha() and not self.text.startswith(("Rs", "US"))


def quantities(sentence: str) -> list[Quantity]:
    """Every number of a sentence in order; those without a problem can be changed."""
    matches = list(re.finditer(_NUMBER, sentence))
    numbers = [_read(sentence, match) for match in matches]
    problems = (
        _problem_of_number(quantity)
        or _NumberContext(sentence, quantity, match.end()).problem()
        or _problem_of_others(quantity, numbers)
        for quantity, match in zip(numbers, matches, strict=True)
    )
    return [replace(quantity, problem=problem) for quantity, problem in zip(numbers, problems, strict=True)]


def first_integer(sentence: str) -> Quantity:
    """The first whole number in digits, as in the paper's script; the sentence must have one."""
    match = re.search(r"(?<![\w.,])\d+(?![\w]|[.,]\d)", sentence)
    assert match
    return Quantity(match.start(), match.end(), match[0], Decimal(match[0]), "digits")


def alternatives(quantity: Quantity, *, higher: bool) -> list[Decimal]:
    """Numbers clearly lower (0.4 to 0.85 times) or higher (1.2 to 2.2 times) that look like the quantity.

    A count stays plural. A higher one is at least two higher: "less than three men" must not mean exactly two.
    """
    return list(_alternatives(quantity, higher=higher))


def digit_alternatives(quantity: Quantity) -> list[Decimal]:
    """Whole numbers with another first digit, from 1 to 8, as the paper's script made them."""
    return [Decimal(digit + quantity.text[1:]) for digit in "12345678" if digit != quantity.text[0]]


def write_like(quantity: Quantity, value: Decimal) -> str:
    """Another number written as the quantity is: sign, commas, decimals, words, capital letter."""
    text = quantity.text
    if quantity.in_words:
        words = in_words(int(value), joined=" and " in text)
        return words.capitalize() if text[0].isupper() else words
    digits = re.sub(r"^\D+", "", text)
    comma = "," if "," in digits or value >= 1000 > quantity.value else ""
    return text.removesuffix(digits) + format(value, f"{comma}.{len(digits.partition('.')[2])}f")


def replace_number(sentence: str, quantity: Quantity, number: str, bound: Bound | None = None) -> str:
    """The sentence with ``number`` in the quantity's place, after "more than" or "less than" if given."""
    before, after = sentence[: quantity.start], sentence[quantity.end :]
    if bound is None:
        return before + number + after
    phrase = bound if quantity.start else bound.capitalize()
    return f"{before}{phrase} {number.lower() if quantity.in_words else number}{after}"


def _alternatives(quantity: Quantity, *, higher: bool) -> Iterator[Decimal]:
    low, high = ("1.2", "2.2") if higher else ("0.4", "0.85")
    step, value = quantity.step, quantity.value
    first, last = math.ceil(value * Decimal(low) / step), math.floor(value * Decimal(high) / step)
    # Otherwise 4 would be the only alternative to 2.
    last = max(last, 6) if higher and value == 2 else last
    # About a hundred choices are enough.
    for number in range(first, last + 1, max(1, (last - first) // 100)):
        if looks_alike(quantity, step * number):
            yield step * number


def looks_alike(quantity: Quantity, number: Decimal) -> bool:
    """Whether another number could stand in the quantity's place: as round, plural, and no year."""
    value = quantity.value
    if number <= 0 or number == 1 or value > 1 > number or (quantity.limit and number >= quantity.limit):
        return False
    if value % 1:
        return not str(number).endswith("0") or str(value).endswith("0")
    if number - value in (0, 1) or (quantity.in_words and number > _MOST_IN_WORDS):
        return False
    text = write_like(quantity, number)
    return not _YEAR.fullmatch(text) and not (quantity.in_words and text.count(" ") > quantity.text.count(" "))


def _read(sentence: str, match: re.Match[str]) -> Quantity:
    last = next(name for name in ("words", "decimals", "digits") if match[name])
    start, end = match.start(), match.end(last)
    if match["words"]:
        value = Decimal(number_from_words(match["words"]) or 0)
    else:
        value = Decimal(match["digits"].replace(",", "") + (match["decimals"] or ""))
    following = _WORD.search(sentence, match.end())
    noun = following[0].rstrip(".") if following else ""
    form: Form = "words" if match["words"] else "decimal" if match["decimals"] else "digits"
    if (match["after"] or "").strip().lower() in ("%", "percent", "per cent"):
        form = "percent"
    elif match["sign"] or role_words("unit").get(noun) == "money":
        form = "money"
    limit = Decimal(100) if form == "percent" or noun == "cents" else None
    return Quantity(start, end, sentence[start:end], value, form, limit, bool(_OPENING.search(sentence[:start])))


def _first_problem(problems: Mapping[str, object]) -> str:
    return next((problem for problem, holds in problems.items() if holds), "")


def _problem_of_number(quantity: Quantity) -> str:
    """Why a number cannot be changed in any context; empty if it can."""
    text, in_words = quantity.text, quantity.in_words
    problems = {
        "one or none": quantity.value in (0, 1),
        "vague": in_words and re.match(r"(?i)an? ", text),
        "year": _YEAR.fullmatch(text),
        "name": text[0].isupper() and quantity.start if in_words else quantity.form == "digits" and text[0] == "0",
        "whole": quantity.limit and quantity.value >= quantity.limit,
    }
    others = (number for higher in (False, True) for number in _alternatives(quantity, higher=higher))
    return _first_problem(problems) or ("no other number" if next(others, None) is None else "")


def _problem_of_others(quantity: Quantity, numbers: Sequence[Quantity]) -> str:
    """A problem if other numbers of the sentence determine it: 8 beside 5 and 3, 60 percent beside 40."""
    others = [other.value for other in numbers if other.start != quantity.start]
    complement = quantity.form == "percent" and 100 - quantity.value in others
    computed = any(
        quantity.value in (one + other, one - other, one * other) or quantity.value * other == one
        for one, other in permutations(others, 2)
    )
    return "told elsewhere" if complement or computed else ""


class _NumberContext:
    """The words around a number (with its percent sign or "million"), and the problem that they cause."""

    def __init__(self, sentence: str, quantity: Quantity, end: int) -> None:
        before = sentence[: quantity.start]
        self.quantity = quantity
        self.before = _WORD.findall(before)
        self.clause = re.split(r"[,;:]", before)[-1]
        self.after = [*_WORD.findall(sentence[end:]), "."]
        self.measures = self.after[0].lower().rstrip(".") in role_words("unit")

    def problem(self) -> str:
        return self._before() or self._joined() or self._after() or self._clause()

    def _before(self) -> str:
        if not self.before:
            return ""
        last = self.before[-1]
        word = last.lower().rstrip(".") or last
        kind = role_words("before").get(word, "")
        if kind and not (kind == "name" and self.measures):
            return kind
        if last.endswith(_POSSESSIVE):
            return "definite"
        if not re.match(r"[\w,]", last):
            return "punctuation"
        if last[0].isupper():
            # "Cave 31" is a name, "In 31" of "In 31 caves" is not.
            opens = len(self.before) == 1 and word in role_words("end")
            return "name" if not opens and self.quantity.form in ("digits", "decimal") and not self.measures else ""
        # An adjective may stand between an article and the number: "a record 5 goals".
        earlier = self.before[-2].lower() if len(self.before) > 1 else ""
        determined = role_words("before").get(earlier) in ("definite", "modified", "quantified")
        is_adjective = last[0].islower() and word not in role_words("moment") and word not in role_words("end")
        return "definite" if determined and is_adjective else ""

    def _joined(self) -> str:
        """Problems caused by the two words before a number together, such as a range or a list."""
        if len(self.before) < 2:
            return ""
        earlier, word = (part.lower() for part in self.before[-2:])
        units = role_words("unit")
        numbered = _ends_number(earlier) or earlier in ("percent", "%") or earlier in units
        whole = earlier in role_words("whole") or earlier.endswith(("est", "teenth", "tieth"))
        named = word in ("is", "are", "was", "were") and earlier not in ("there", "here") and not self.measures
        family = units.get(self.after[0].rstrip("."))
        problems = {
            "list": _ends_number(word) or (word == "and" and _ends_number(earlier)),
            "range": word in ("to", "by") and (numbered or "from" in self.before[-4:]),
            "part": word == "of" and whole,
            # "Ann and Bob are two doctors" states the number twice.
            "spelled out": named and self.quantity.form in ("digits", "words"),
            "compound": family and units.get(earlier if word in ("and", ",") else word) == family,
        }
        return _first_problem(problems)

    def _after(self) -> str:
        word = self.after[0].rstrip(".") or "."
        kind = role_words("after").get(word.lower())
        if kind:
            return kind
        if word in ("to", "by", "or") and _is_number(self.after[1]):
            return "range"
        if self._continues_list(self.after):
            return "list"
        if self.quantity.form == "percent" or (self.quantity.form == "money" and not self.measures):
            # In "a $450 grant" the number modifies a noun: no word that may be such a noun may follow.
            return "" if not word[0].isalnum() or word in role_words("free") else "modifier"
        return self._noun()

    def _noun(self) -> str:
        """Problems of a number that is not followed by a plural noun, or by an unsuitable one."""
        for place, word in enumerate(self.after[:4]):
            noun = word.rstrip(".")
            if word.endswith(_POSSESSIVE):
                return "possessive"
            if not re.fullmatch(r"[a-z]+(?:-[a-z]+)*", noun) or noun in role_words("end"):
                return "no noun"
            if noun in role_words("after"):
                return role_words("after")[noun]
            if _is_plural(noun):
                return self._after_noun(noun, self.after[place + 1 :])
            if f"{noun}s" in role_words("unit") or noun in ("foot", "inch"):
                return "modifier"
        return "no noun"

    def _after_noun(self, noun: str, rest: list[str]) -> str:
        following = rest[0].rstrip(".") or "."
        value, family = self.quantity.value, role_words("unit").get(noun)
        problems = {
            "possessive": following in _POSSESSIVE,
            "constant": (str(value), noun) in _CONSTANTS,
            "age": noun == "years" and rest[:2] == ["of", "age"],
            "body part": noun == "feet" and value == 2 and following == ".",
            "compared": noun == "times" and (following in role_words("compared") or following.endswith("er")),
            "compound": family and _has_smaller_unit(family, rest),
            # With few things a sentence may describe each: "two dogs, one black and one white".
            "spelled out": not family and value <= 12 and _names_single_things(following, rest),
            "list": self._continues_list(rest),
            # "Seven editors is enough" is about the number; "two dogs runs" is an error that readers would blame on us.
            "no agreement": following in ("is", "was", "has")
            or (_is_plural(following) and following not in role_words("end")),
        }
        return _first_problem(problems)

    def _continues_list(self, rest: list[str]) -> bool:
        """Whether "and" adds others: "more than" in "more than two men and two women" may apply to all of them."""
        another = self.quantity.opens_clause and rest[1:2] in (["a"], ["an"])
        return rest[0] == "and" and (another or _is_number(rest[1]))

    def _clause(self) -> str:
        """Problems of a number in a subordinate or purpose clause."""
        if not role_words("scope").keys().isdisjoint(_WORD.findall(self.clause)):
            return "subordinate"
        return "purpose" if _PURPOSE.search(self.clause) else ""


def _has_smaller_unit(family: str, rest: list[str]) -> bool:
    """Whether a number in a smaller unit follows, named or not: "5 feet 3", "2 hours and 30 minutes"."""
    words = [word.rstrip(".") for word in rest[:3] if word not in ("and", ",")]
    return _is_number(rest[0]) or role_words("unit").get("".join(words[1:2])) == family


def _names_single_things(following: str, rest: list[str]) -> bool:
    """Whether the words after the noun may name or describe each thing."""
    if following in (",", ":", ";"):
        return len(rest) > 2
    return following[0].isupper() or following in ("called", "named", "titled", "entitled")


def _is_number(word: str) -> bool:
    return word[0] in "0123456789$£€" or number_from_words(word.rstrip(".")) is not None


def _ends_number(word: str) -> bool:
    return _is_number(word) or word in ("hundred", "thousand", "million", "billion", "trillion")


def _is_plural(word: str) -> bool:
    listed = word in role_words("plural") or word in role_words("unit")
    return listed or (len(word) > 3 and bool(_PLURAL.fullmatch(word)))


@cache
def role_words(role: str) -> dict[str, str]:
    """The words with a role beside numbers (``before``, ``after``, ``unit`` …), each with its kind."""
    return dict(packaged_table("quantities/words.tsv").filter(role=role).select("word", "kind").iter_rows())
