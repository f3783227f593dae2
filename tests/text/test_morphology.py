"""Morphy's attempts, before a lexicon is asked; the examples are those of morphy(7WN) and of its exception lists."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.text.morphology import candidate_frame, candidates


@pytest.mark.parametrize(
    ("word", "pos", "expected"),
    [
        ("dogs", "n", ["dogs", "dog"]),
        ("churches", "n", ["churches", "churche", "church"]),
        ("women", "n", ["women", "woman"]),
        ("wolves", "n", ["wolves", "wolf"]),
        ("axes", "n", ["axes", "ax", "axis"]),
        ("tried", "v", ["tried", "try"]),
        ("hiking", "v", ["hiking", "hike", "hik"]),
        ("finer", "a", ["finer", "fin", "fine"]),
        ("best", "r", ["best", "well"]),
        ("quickly", "r", ["quickly"]),
        ("s", "n", ["s", ""]),
    ],
)
def test_a_word_may_be_a_form_of(word: str, pos: str, expected: list[str]) -> None:
    assert candidates(word, pos) == expected


def test_a_column_gets_the_attempts_of_its_words() -> None:
    words = ["axes", "churches", "best", "tried", "s", ""]
    frame = candidate_frame(pl.Series(words))
    for row, word in enumerate(words):
        for pos in "nvar":
            mine = frame.filter((pl.col("row") == row) & (pl.col("pos").is_null() | (pl.col("pos") == pos)))
            assert mine.sort("attempt")["form"].to_list() == candidates(word, pos)
