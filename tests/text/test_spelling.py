"""Misspelt words are found; names, new words and rare words are not taken for them."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.text.spelling import misspelt_words


def misspelt(text: str) -> list[str]:
    return misspelt_words(pl.Series([text])).to_list()[0]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("recieve", "receive"),
        ("teh", "the"),
        ("becaus", "because"),
        ("restuarant", "restaurant"),
        ("voleyball", "volleyball"),
        ("thier", "their"),
    ],
)
def test_a_slip_is_found_and_mended(word: str, meant: str) -> None:
    assert misspelt(f"We saw {word} again.") == [f"{word} ({meant})"]


@pytest.mark.parametrize(
    "word", ["Recieve", "don't", "biker", "cannot", "www.recieve.com", "recieve2", "hmm", "xyzzyx"]
)
def test_names_contractions_addresses_new_words_and_what_resembles_nothing_are_left_alone(word: str) -> None:
    assert misspelt(f"We saw {word} again.") == []


def test_forms_of_words_are_words() -> None:
    assert misspelt("The children were happier, running with knives and oxen, than anyone thought.") == []


def test_a_word_is_told_once_and_rows_stay_apart() -> None:
    found = misspelt_words(pl.Series(["freinds and freinds", None, "", "friends"]))
    assert found.to_list() == [["freinds (friends)"], None, [], []]
