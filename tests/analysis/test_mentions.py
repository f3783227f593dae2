"""Pairs of words in contradictions, counted by hand."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.analysis.mentions import contradiction_counts
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Card, Suite

TRAIN = [
    ("The tea is hot.", "The tea is cold.", "contradiction"),
    (
        "Cold soup, anyone?",
        "It was HOTTER than hot.",
        "contradiction",
    ),  # in the other order, inflected, twice in one pair
    ("A cold day and a hot drink.", "It is raining.", "contradiction"),  # both on one side
    ("The tea is hot.", "The tea is cold.", "neutral"),  # no contradiction
    ("The hotel is full.", "A cold buffet.", "contradiction"),  # a hotel is not hot
    ("Two women slept.", "The men were awake.", "contradiction"),
    ("", "Cold.", "contradiction"),
]


def suite(rows: list[tuple[str, str, str]]) -> Suite:
    frame = pl.DataFrame(rows, schema=["premise", "hypothesis", "label"], orient="row")
    return Suite(frame.lazy(), Card("train"))


def pairs(*words: str) -> pl.DataFrame:
    return pl.DataFrame({"word": [each.split()[0] for each in words], "antonym": [each.split()[1] for each in words]})


def test_a_pair_counts_where_its_words_stand_in_premise_and_hypothesis_of_a_contradiction() -> None:
    found = contradiction_counts(pairs("hot cold", "man woman", "awake asleep", "full empty"), suite(TRAIN))
    assert found.counts.to_list() == [2, 1, 0, 0]
    assert found.rows == 6


def test_the_order_of_the_two_words_makes_no_difference() -> None:
    found = contradiction_counts(pairs("cold hot", "hot cold", "woman man"), suite(TRAIN))
    assert found.counts.to_list() == [2, 2, 1]


def test_a_training_set_without_contradictions_is_refused() -> None:
    with pytest.raises(AcidtestError, match="train has no contradictions to look for antonyms in"):
        contradiction_counts(pairs("hot cold"), suite([("a", "b", "non-entailment")]))


def test_no_pairs_have_no_counts() -> None:
    empty = pl.DataFrame(schema={"word": pl.String, "antonym": pl.String})
    assert contradiction_counts(empty, suite(TRAIN)).counts.to_list() == []
