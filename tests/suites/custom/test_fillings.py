"""Sentences filled with the same words: order, repeats, and slots that only some of them have."""

from __future__ import annotations

import polars as pl

from acidtest.core.draws import Draws
from acidtest.suites.custom.fillings import fill_sentences
from acidtest.suites.custom.slots import ListedWord, SlottedSentence

CITIES = [ListedWord(text) for text in ("Paris", "Lima", "Oslo")]
NAMES = [ListedWord("Anna", part="female"), ListedWord("Omar", part="male")]
SENTENCES = {
    "went": SlottedSentence.parse("{name} went from {city} to {city2}."),
    "arrived": SlottedSentence.parse("{name} arrived in {city2}."),
}
WORDS = {"name": NAMES, "city": CITIES, "city2": CITIES}


def fill(wanted: int, *different: str, seed: int = 0) -> pl.DataFrame:
    return fill_sentences(SENTENCES, WORDS, wanted, Draws(seed, "test"), different=[different])


def test_all_sentences_get_the_same_words_and_no_word_fills_two_slots() -> None:
    frame = fill(100, "went")
    # Two names, and three cities for one slot and the two others for the next.
    assert frame.height == 2 * 3 * 2
    assert set(frame.select("went", "arrived").iter_rows()) == {
        (f"{name} went from {origin} to {goal}.", f"{name} arrived in {goal}.")
        for name in ("Anna", "Omar")
        for origin in ("Paris", "Lima", "Oslo")
        for goal in ("Paris", "Lima", "Oslo")
        if origin != goal
    }


def test_sentences_that_must_differ_are_never_the_same_in_two_rows() -> None:
    assert fill(100, "arrived")["arrived"].n_unique() == fill(100, "arrived").height == 2 * 3


def test_fewer_rows_are_the_first_of_more_and_another_seed_gives_others() -> None:
    assert fill(3, "went").equals(fill(9, "went").head(3))
    assert not fill(3, "went", seed=1).equals(fill(3, "went"))


def test_the_part_of_a_list_that_a_word_is_from_becomes_a_column() -> None:
    frame = fill(100, "went")
    assert frame.columns == ["went", "arrived", "name"]
    assert set(frame.filter(pl.col("arrived").str.starts_with("Omar"))["name"]) == {"male"}


def test_a_sentence_without_slots_is_there_once() -> None:
    sentences = {"fixed": SlottedSentence.parse("It rained.")}
    assert fill_sentences(sentences, {}, 5, Draws(0, "test"), different=[["fixed"]]).to_dicts() == [
        {"fixed": "It rained."}
    ]
