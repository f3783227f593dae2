"""Words replaced as the script released with the stress tests replaced them, on definitions of our own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from acidtest.suites.stress.antonymy import replace_as_released

# Boy is a male child, whose antonym is girl, and a son, whose antonym is daughter.
BOY = {"male_child.n.01": "a youthful male person", "son.n.01": "a male human offspring"}


@pytest.fixture(autouse=True)
def _own_definitions(made_wordnet: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACIDTEST_WORDNET", str(made_wordnet(BOY)))


def changes(*texts: str, parses: list[str | None] | None = None) -> list[str]:
    column = None if parses is None else pl.Series(parses, dtype=pl.String)
    return replace_as_released(pl.Series(texts), column)["changed"].to_list()


def test_lesk_chooses_the_sense_in_the_whole_text() -> None:
    assert changes("A youthful boy slept.") == ["A youthful girl slept."]


def test_of_equal_senses_the_one_with_the_last_name_wins_with_all_its_antonyms() -> None:
    # Of boy.n.02, boy.n.04, male_child.n.01 and son.n.01 the last is son: son and boy oppose daughter and girl.
    assert changes("The boy slept.") == ["The daughter slept.", "The girl slept."]


def test_the_first_equal_characters_are_replaced_even_inside_a_word() -> None:
    assert changes("The boyish, youthful boy slept.") == ["The girlish, youthful boy slept."]


def test_listed_words_and_words_with_capitals_stay() -> None:
    assert changes("The parents voted on the left.", "Optimists sang.") == []
    assert changes("An optimist sang.") == ["An pessimist sang."]


def test_adjectives_with_antonyms_of_their_own_stay() -> None:
    # Hot is the head of its cluster: only satellites are looked at, and they have no antonyms.
    assert changes("The soup was hot.") == []


def test_a_row_tells_where_and_what_was_replaced() -> None:
    rows = replace_as_released(pl.Series(["It rained.", "He met an optimist."]))
    assert rows.rows() == [(1, 10, "He met an pessimist.", "optimist", "pessimist", "noun")]


def test_words_are_those_of_the_binary_parse_where_there_is_one() -> None:
    # Our tokens keep the hyphenated word whole.
    text = "He met an optimist-in-chief."
    parse = "( ( He ( met ( an ( optimist ( - in-chief ) ) ) ) ) . )"
    assert changes(text, text, parses=[None, parse]) == ["He met an pessimist-in-chief."]


def test_nothing_gives_nothing() -> None:
    assert replace_as_released(pl.Series([], dtype=pl.String)).is_empty()
