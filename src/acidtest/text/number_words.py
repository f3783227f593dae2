"""Whole numbers in English words, both ways."""

from __future__ import annotations

import re
from functools import cache

MOST = 999_999_999
"""The largest number that is read or written."""

_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES = {"million": 1_000_000, "thousand": 1_000}

_UNIT = "|".join(_SMALL[1:10])
_TEEN = "|".join(_SMALL[10:])
_TEN = "|".join(_TENS)
_UNDER_HUNDRED = rf"(?:(?:{_TEN})(?:[- ](?:{_UNIT}))?|{_TEEN}|{_UNIT})"
_UNDER_THOUSAND = rf"(?:(?:(?:an?|{_UNIT}|{_TEEN})[- ]hundred(?:(?: and)? {_UNDER_HUNDRED})?)|{_UNDER_HUNDRED})"
_MILLIONS, _THOUSANDS = (rf"(?:an?|{_UNDER_THOUSAND}) {scale}" for scale in _SCALES)
_LINK = r"(?: and| ?,)? "

PATTERN = (
    rf"(?:{_MILLIONS}(?:{_LINK}{_THOUSANDS})?(?:{_LINK}{_UNDER_THOUSAND})?"
    rf"|{_THOUSANDS}(?:{_LINK}{_UNDER_THOUSAND})?|{_UNDER_THOUSAND})"
)
"""A number in words, in lower case, for the middle of a regular expression. Zero and "a dozen" are none."""


def in_words(number: int, *, joined: bool = False) -> str:
    """A number from 0 to ``MOST`` in words; ``joined`` puts the British "and" after a hundred."""
    if not 0 <= number <= MOST:
        raise ValueError(f"{number} is not a number from 0 to {MOST}")
    return " ".join(_parts(number, joined=joined)) or _SMALL[0]


def number_from_words(words: str) -> int | None:
    """The number that some words are, in any case, or None: "a hundred and five" is 105, "a dozen" is none."""
    words = words.lower()
    if words == _SMALL[0]:
        return 0
    if not _whole().fullmatch(words):
        return None
    total = group = 0
    for word in re.findall(r"[a-z]+", words):
        if word in _SCALES:
            total, group = total + group * _SCALES[word], 0
        elif word == "hundred":
            group *= 100
        else:
            group += _values().get(word, 0)
    return total + group


def _parts(number: int, *, joined: bool) -> list[str]:
    for name, size in _SCALES.items():
        if number >= size:
            head, rest = divmod(number, size)
            link = ["and"] if joined and 0 < rest < 100 else []
            return [*_parts(head, joined=joined), name, *link, *_parts(rest, joined=joined)]
    if number >= 100:
        head, rest = divmod(number, 100)
        link = ["and"] if joined and rest else []
        return [_SMALL[head], "hundred", *link, *_parts(rest, joined=joined)]
    if number >= 20:
        tens, unit = divmod(number, 10)
        return [_TENS[tens - 2] + (f"-{_SMALL[unit]}" if unit else "")]
    return [_SMALL[number]] if number else []


@cache
def _whole() -> re.Pattern[str]:
    return re.compile(PATTERN)


@cache
def _values() -> dict[str, int]:
    """What a word adds to its group; "a" and "an" stand for one before hundred, thousand and million."""
    small = {word: value for value, word in enumerate(_SMALL)}
    return small | {word: 10 * value for value, word in enumerate(_TENS, 2)} | {"a": 1, "an": 1}
