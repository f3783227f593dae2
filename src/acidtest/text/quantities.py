"""Exact quantities in sentences: which of them can be changed, and the sentence with one changed or bounded.

A quantity is a cardinal number that counts or measures: "350 pounds", "forty-two men", "$1,250", "15 percent". It can
be changed when "more than" may stand before it and nothing else in the sentence gives it. Dates, times, names with
numbers, ranges, ages before a noun, one and the like are left alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from itertools import permutations
from typing import Literal

from acidtest.io.wordlists import packaged_table
from acidtest.text import number_words

Form = Literal["digits", "words", "decimal", "percent", "money"]
Bound = Literal["more than", "less than"]

_INTEGER = re.compile(r"(?<![\w.,])\d+(?![\w]|[.,]\d)")
_SIGN = r"(?P<sign>(?:US)?[$£€¥₹]|Rs\.? ?)"
_DIGITS = r"(?P<digits>\d{1,3}(?:,\d{3})+|\d+)(?P<decimals>\.\d+)?"
_NUMBER = re.compile(
    rf"(?<![\w.,:/^~'’$£€¥₹%+=*#–—−-])(?:{_SIGN}?{_DIGITS}|(?P<words>(?i:{number_words.PATTERN})))"
    r"(?![\w/:^'’$£€¥₹+=*–—−-])(?!\s*[–—−:×x]\s*\d)(?!\s?/)(?![.,]\d)"
    r"(?P<after>%| ?percent\b| ?per cent\b| (?:thousand|million|billion|trillion)\b)?"
)
_WORD = re.compile(r"[A-Za-z]+(?:[.'’-][A-Za-z]+)*\.?|\d[\d,.:]*|\S")
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_PLURAL = re.compile(r"[a-z]+(?:-[a-z]+)*s|[a-z]*men|[a-z]*fish")
_SINGULAR = re.compile(r".*(?:ss|us|is)")
_PURPOSE = re.compile(r"\bto (?!(?:the|an?|his|her|its|their|our|my|this|that|these|those)\b)[a-z]+\b")
_OPENING = re.compile(r"(?:^|,\s*|\b[Tt]here (?:is|are|was|were)\s+)$")
_CONSTANTS = {("24", "hours"), ("7", "days"), ("12", "months"), ("365", "days"), ("52", "weeks"), ("60", "minutes")}
_POSSESSIVE = ("'s", "’s", "s'", "s’", "'", "’")
_FEW = 12
"""Of so few things a sentence may describe each one: "two dogs, one black and one white"."""
_MOST_CHOICES = 100


@dataclass(frozen=True)
class Quantity:
    """A number in a sentence: its place, its value and why it cannot be changed, if so."""

    start: int
    end: int
    text: str
    """The number with its currency sign, but without what follows: "$3.5" of "$3.5 million"."""
    value: Decimal
    """Of the text alone, 3.5 in that example."""
    form: Form
    limit: Decimal | None = None
    """What it must stay below: 100 percent, 100 cents."""
    opens_clause: bool = False
    """Whether it counts what a clause is about ("Two men …", "There are two men …"), so that there may be others."""
    problem: str = ""

    @property
    def step(self) -> Decimal:
        """The smallest change that leaves the number as round as it is."""
        if self.value % 1:
            return Decimal(1).scaleb(-len(str(self.value).partition(".")[2]))
        digits = str(int(self.value))
        step = Decimal(10) ** (len(digits) - len(digits.rstrip("0")))
        if step == 1:
            return Decimal(5 if self.value >= 100 and self.value % 5 == 0 else 1)
        # Too few numbers as round as 100 or 2,000 lie around them.
        return step / 2 if self.value / step < 5 else step

    @property
    def in_words(self) -> bool:
        """Whether it is written in words."""
        return self.text[0].isalpha() and not self.text.startswith(("Rs", "US"))


def quantities(sentence: str) -> list[Quantity]:
    """Every number of a sentence in order; those without a problem can be changed."""
    matches = list(_NUMBER.finditer(sentence))
    numbers = [_read(sentence, match) for match in matches]
    problems = [
        _problem_of_number(quantity)
        or _NumberContext.of(sentence, quantity, match.end()).problem
        or _problem_of_others(quantity, numbers)
        for quantity, match in zip(numbers, matches, strict=True)
    ]
    return [replace(quantity, problem=problem) for quantity, problem in zip(numbers, problems, strict=True)]


def first_integer(sentence: str) -> Quantity:
    """The first whole number in digits, as the paper's script took it; the sentence has one."""
    match = _INTEGER.search(sentence)
    if match is None:
        raise ValueError(f"no whole number in {sentence!r}")
    return Quantity(match.start(), match.end(), match[0], Decimal(match[0]), "digits")


def alternatives(quantity: Quantity, *, higher: bool) -> list[Decimal]:
    """Numbers clearly lower (0.4 to 0.85 times) or higher (1.2 to 2.2 times) that look like the quantity.

    A count stays plural. A higher one is at least two away: "less than three" things in the plural are two.
    """
    return list(_alternatives(quantity, higher=higher))


def digit_alternatives(quantity: Quantity) -> list[Decimal]:
    """Whole numbers with another first digit, from 1 to 8, as the paper's script made them."""
    first, rest = quantity.text[0], quantity.text[1:]
    return [Decimal(digit + rest) for digit in "12345678" if digit != first]


def write_like(quantity: Quantity, value: Decimal) -> str:
    """Another number written as the quantity is: sign, commas, decimals, words, capital letter."""
    text = quantity.text
    if quantity.in_words:
        words = number_words.in_words(int(value), joined=" and " in text)
        return words.capitalize() if text[0].isupper() else words
    sign = re.match(r"\D*", text)
    digits = text[sign.end() :] if sign else text
    comma = "," if "," in digits or value >= 1000 > quantity.value else ""
    return text[: len(text) - len(digits)] + format(value, f"{comma}.{len(digits.partition('.')[2])}f")


def replace_number(sentence: str, quantity: Quantity, number: str, bound: Bound | None = None) -> str:
    """The sentence with a number in the quantity's place, after "more than" or "less than" where given."""
    before, after = sentence[: quantity.start], sentence[quantity.end :]
    if bound is None:
        return before + number + after
    phrase = bound if quantity.start else bound.capitalize()
    return f"{before}{phrase} {number.lower() if quantity.in_words else number}{after}"


def _alternatives(quantity: Quantity, *, higher: bool) -> Iterator[Decimal]:
    low, high = ("1.2", "2.2") if higher else ("0.4", "0.85")
    step, value = quantity.step, quantity.value
    first, last = math.ceil(value * Decimal(low) / step), math.floor(value * Decimal(high) / step)
    # Else every two would become a four.
    last = max(last, 6) if higher and value == 2 else last
    for number in range(first, last + 1, max(1, (last - first) // _MOST_CHOICES)):
        if _looks_alike(quantity, step * number):
            yield step * number


def _looks_alike(quantity: Quantity, number: Decimal) -> bool:
    value = quantity.value
    if number <= 0 or number == 1 or value > 1 > number:
        return False
    if quantity.limit and number >= quantity.limit:
        return False
    if value % 1:
        return not str(number).endswith("0") or str(value).endswith("0")
    if number - value in (0, 1):
        return False
    text = write_like(quantity, number)
    return not _YEAR.fullmatch(text) and not (quantity.in_words and text.count(" ") > quantity.text.count(" "))


def _read(sentence: str, match: re.Match[str]) -> Quantity:
    last = next(name for name in ("words", "decimals", "digits") if match[name])
    start, end = match.start(), match.end(last)
    if match["words"]:
        value = Decimal(number_words.number_from_words(match["words"]) or 0)
    else:
        value = Decimal(match["digits"].replace(",", "") + (match["decimals"] or ""))
    noun = _first_word(sentence[match.end() :])
    form = _form(match, noun)
    limit = Decimal(100) if form == "percent" or noun == "cents" else None
    opens = bool(_OPENING.search(sentence[:start]))
    return Quantity(start, end, sentence[start:end], value, form, limit, opens)


def _form(match: re.Match[str], noun: str) -> Form:
    if (match["after"] or "").strip().lower() in ("%", "percent", "per cent"):
        return "percent"
    if match["sign"] or _role_words("unit").get(noun) == "money":
        return "money"
    return "words" if match["words"] else "decimal" if match["decimals"] else "digits"


def _problem_of_number(quantity: Quantity) -> str:
    """Why a number cannot be changed wherever it stands."""
    if quantity.value in (0, 1):
        return "one or none"
    if quantity.in_words and re.match(r"(?i)an? ", quantity.text):
        return "vague"
    if _YEAR.fullmatch(quantity.text):
        return "year"
    if quantity.form == "digits" and quantity.text.startswith("0"):
        return "name"
    if quantity.in_words and quantity.text[0].isupper() and quantity.start:
        return "name"
    if quantity.limit and quantity.value >= quantity.limit:
        return "whole"
    if not any(True for higher in (False, True) for _ in _alternatives(quantity, higher=higher)):
        return "no other number"
    return ""


def _problem_of_others(quantity: Quantity, numbers: Sequence[Quantity]) -> str:
    """Whether other numbers of the sentence determine it: 8 beside 5 and 3, 60 percent beside 40."""
    others = [other.value for other in numbers if other.start != quantity.start]
    if quantity.form == "percent" and 100 - quantity.value in others:
        return "told elsewhere"
    for one, other in permutations(others, 2):
        if quantity.value in (one + other, one - other, one * other) or quantity.value * other == one:
            return "told elsewhere"
    return ""


@dataclass(frozen=True)
class _NumberContext:
    """The words around a number, and why they keep it from being changed."""

    quantity: Quantity
    before: Sequence[str]
    clause: str
    """What stands before the number since the last comma."""
    after: Sequence[str]
    """Ends with a period where nothing follows."""

    @classmethod
    def of(cls, sentence: str, quantity: Quantity, end: int) -> _NumberContext:
        """``end`` is where the number ends with its percent sign or its million."""
        before, after = sentence[: quantity.start], sentence[end:]
        return cls(quantity, _WORD.findall(before), re.split(r"[,;:]", before)[-1], [*_WORD.findall(after), "."])

    @property
    def problem(self) -> str:
        """Why the number cannot be changed here, or nothing."""
        return self._before() or self._joined() or self._after() or self._clause()

    @property
    def _measures(self) -> bool:
        return self.after[0].lower().rstrip(".") in _role_words("unit")

    def _before(self) -> str:
        if not self.before:
            return ""
        last = self.before[-1]
        word = last.lower().rstrip(".") or last
        kind = _role_words("before").get(word, "")
        if kind and not (kind == "name" and self._measures):
            return kind
        if last.endswith(_POSSESSIVE):
            return "definite"
        if not re.match(r"[\w,]", last):
            return "punctuation"
        if last[0].isupper() and self._names(word):
            return "name"
        return "definite" if last[0].islower() and self._is_determined(word) else ""

    def _names(self, word: str) -> bool:
        """Whether the capitalised word before the number may be its name: "Cave 31", but not "In 31 caves"."""
        if len(self.before) == 1 and word in _role_words("end"):
            return False
        return self.quantity.form in ("digits", "decimal") and not self._measures

    def _is_determined(self, word: str) -> bool:
        """Whether the word before the number may be an adjective between an article and it: "a record 5 goals"."""
        earlier = self.before[-2].lower() if len(self.before) > 1 else ""
        determines = _role_words("before").get(earlier) in ("definite", "modified", "quantified")
        return determines and word not in _role_words("moment") and word not in _role_words("end")

    def _joined(self) -> str:
        """Problems of a number that belongs with what stands two words before it."""
        if len(self.before) < 2:
            return ""
        earlier, word = (part.lower() for part in self.before[-2:])
        numbered = _ends_number(earlier) or earlier in ("percent", "%") or earlier in _role_words("unit")
        if _ends_number(word) or (word == "and" and _ends_number(earlier)):
            return "list"
        if word in ("to", "by") and (numbered or "from" in self.before[-4:]):
            return "range"
        if word == "of" and (earlier in _role_words("whole") or earlier.endswith(("est", "teenth", "tieth"))):
            return "part"
        # "Ann and Bob are two doctors" gives the number twice.
        is_named = word in ("is", "are", "was", "were") and earlier not in ("there", "here") and not self._measures
        if is_named and self.quantity.form in ("digits", "words"):
            return "spelled out"
        family = _role_words("unit").get(self.after[0].rstrip("."))
        linked = earlier if word in ("and", ",") else word
        return "compound" if family and _role_words("unit").get(linked) == family else ""

    def _after(self) -> str:
        word = self.after[0].rstrip(".") or "."
        kind = _role_words("after").get(word.lower())
        if kind:
            return kind
        if word in ("to", "by", "or") and _is_number(self.after[1]):
            return "range"
        if self._continues_list(self.after):
            return "list"
        if self.quantity.form == "percent" or (self.quantity.form == "money" and not self._measures):
            # "A $450 grant": only what cannot be the noun it modifies may follow.
            return "" if not word[0].isalnum() or word in _role_words("free") else "modifier"
        return self._noun()

    def _noun(self) -> str:
        """Problems of a number that does not stand before a plural noun, or stands before an unfit one."""
        for place, word in enumerate(self.after[:4]):
            noun = word.rstrip(".")
            if word.endswith(_POSSESSIVE):
                return "possessive"
            if not re.fullmatch(r"[a-z]+(?:-[a-z]+)*", noun) or noun in _role_words("end"):
                return "no noun"
            if noun in _role_words("after"):
                return _role_words("after")[noun]
            if _is_plural(noun):
                return self._after_noun(noun, self.after[place + 1 :])
            if f"{noun}s" in _role_words("unit") or noun in ("foot", "inch"):
                return "modifier"
        return "no noun"

    def _after_noun(self, noun: str, rest: Sequence[str]) -> str:
        following = rest[0].rstrip(".") or "."
        family = _role_words("unit").get(noun)
        if following in _POSSESSIVE:
            return "possessive"
        if (str(self.quantity.value), noun) in _CONSTANTS:
            return "constant"
        if noun == "years" and list(rest[:2]) == ["of", "age"]:
            return "age"
        if noun == "feet" and self.quantity.value == 2 and following == ".":
            return "body part"
        if noun == "times" and (following in _role_words("compared") or following.endswith("er")):
            return "compared"
        if family and self._continues(family, rest):
            return "compound"
        if not family and self.quantity.value <= _FEW and self._names_single_things(following, rest):
            return "spelled out"
        if self._continues_list(rest):
            return "list"
        # "Seven editors is enough" is about the number; "two dogs runs" is a slip that would be counted as ours.
        is_singular = following in ("is", "was", "has") or (
            _is_plural(following) and following not in _role_words("end")
        )
        return "no agreement" if is_singular else ""

    def _continues_list(self, rest: Sequence[str]) -> bool:
        """Whether others are joined: "more than two men and two women", or "and a woman", may be about all of them."""
        if rest[0] != "and":
            return False
        return _is_number(rest[1]) or (self.quantity.opens_clause and rest[1] in ("a", "an"))

    @staticmethod
    def _continues(family: str, rest: Sequence[str]) -> bool:
        """Whether a smaller unit follows, named or not: "5 feet 3 inches", "2 hours and 30 minutes"."""
        if _is_number(rest[0]):
            return True
        words = [word.rstrip(".") for word in rest[:3] if word not in ("and", ",")]
        return len(words) > 1 and _role_words("unit").get(words[1]) == family

    @staticmethod
    def _names_single_things(following: str, rest: Sequence[str]) -> bool:
        """Whether what follows the noun may name or describe every single thing."""
        if following in (",", ":", ";"):
            return len(rest) > 2
        return following[0].isupper() or following in ("called", "named", "titled", "entitled")

    def _clause(self) -> str:
        """Problems of a number in a clause that does not stand for itself."""
        if any(word in _role_words("scope") for word in _WORD.findall(self.clause)):
            return "subordinate"
        return "purpose" if _PURPOSE.search(self.clause) else ""


def _is_number(word: str) -> bool:
    return word[0] in "0123456789$£€" or number_words.number_from_words(word.rstrip(".")) is not None


def _ends_number(word: str) -> bool:
    return _is_number(word) or word in ("hundred", "thousand", "million", "billion", "trillion")


def _is_plural(word: str) -> bool:
    if word in _role_words("plural") or word in _role_words("unit"):
        return True
    return len(word) > 3 and bool(_PLURAL.fullmatch(word)) and not _SINGULAR.fullmatch(word)


def _first_word(text: str) -> str:
    match = _WORD.search(text)
    return match[0].rstrip(".") if match else ""


@cache
def _role_words(role: str) -> dict[str, str]:
    """The words that play a role beside numbers, each with its kind."""
    rows = packaged_table("quantities/words.tsv").iter_rows(named=True)
    return {row["word"]: row["kind"] for row in rows if row["role"] == role}
