"""Numbers in words and back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidtest.text.number_words import MOST, PATTERN, in_words, number_from_words

WRITTEN = {
    0: "zero",
    2: "two",
    13: "thirteen",
    20: "twenty",
    42: "forty-two",
    100: "one hundred",
    105: "one hundred five",
    350: "three hundred fifty",
    1_000: "one thousand",
    7_016: "seven thousand sixteen",
    21_300: "twenty-one thousand three hundred",
    1_000_000: "one million",
    2_450_001: "two million four hundred fifty thousand one",
}


@pytest.mark.parametrize(("number", "words"), WRITTEN.items())
def test_a_number_is_written_as_americans_do(number: int, words: str) -> None:
    assert in_words(number) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (105, "one hundred and five"),
        (350, "three hundred and fifty"),
        (2_006, "two thousand and six"),
        (300, "three hundred"),
        (1_250, "one thousand two hundred and fifty"),
    ],
)
def test_a_number_is_joined_with_and_as_the_british_do(number: int, words: str) -> None:
    assert in_words(number, joined=True) == words


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("a hundred and five", 105),
        ("A hundred", 100),
        ("an hundred", 100),
        ("twenty one", 21),
        ("Forty-Two", 42),
        ("twelve hundred", 1_200),
        ("two thousand, three hundred", 2_300),
        ("a million", 1_000_000),
        ("three million two hundred thousand and nine", 3_200_009),
    ],
)
def test_other_ways_to_say_a_number_are_read(words: str, number: int) -> None:
    assert number_from_words(words) == number


@pytest.mark.parametrize(
    "words",
    [
        "a dozen",
        "dozen",
        "hundred",
        "and five",
        "two-thirds",
        "third",
        "several",
        "",
        "a",
        "nineteen fifty nine",
        "fiveteen",
    ],
)
def test_what_is_no_number_is_none(words: str) -> None:
    assert number_from_words(words) is None


@given(st.integers(0, 1_000_000) | st.integers(0, MOST), st.booleans())
def test_a_number_in_words_is_the_number_again(number: int, joined: bool) -> None:
    words = in_words(number, joined=joined)
    assert number_from_words(words) == number
    assert number == 0 or re.fullmatch(PATTERN, words)


@pytest.mark.parametrize("number", [-1, MOST + 1])
def test_a_number_out_of_range_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match="is not a number from 0"):
        in_words(number)
