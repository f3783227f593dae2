"""Words and pairs of words in a training set, counted by hand."""

from __future__ import annotations

import math

import polars as pl
import pytest

from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Card, Suite
from acidtest.pairs import counts as module
from acidtest.pairs.counts import pair_counts, word_counts

TRAIN = [
    ("The tea is hot.", "The tea is cold.", "contradiction"),
    # In the other order, inflected, twice in one pair.
    ("Cold soup, anyone?", "It was HOTTER than hot.", "contradiction"),
    # Both on one side.
    ("A cold day and a hot drink.", "It is raining.", "contradiction"),
    # No contradiction.
    ("The tea is hot.", "The tea is cold.", "neutral"),
    # A hotel is not hot.
    ("The hotel is full.", "A cold buffet.", "contradiction"),
    ("Two women slept.", "The men were awake.", "contradiction"),
    ("", "Cold.", "contradiction"),
    # Both ways round in one example.
    ("Hot and cold water.", "Cold and hot water.", "contradiction"),
]


def suite(rows: list[tuple[str, str, str]]) -> Suite:
    frame = pl.DataFrame(rows, schema=["premise", "hypothesis", "label"], orient="row")
    return Suite(frame.lazy(), Card("train"))


def pairs(*words: str) -> pl.DataFrame:
    both = [each.split("/") for each in words]
    return pl.DataFrame({"word": [one for one, _ in both], "other": [two for _, two in both]})


def test_a_pair_counts_where_its_first_word_is_in_the_premise_and_its_second_in_the_hypothesis() -> None:
    found = pair_counts(pairs("hot/cold", "Cold/HOT", "women/men", "men/women", "woman/man"), suite(TRAIN))
    assert found.counts.to_list() == [2, 2, 1, 0, 0]
    assert found.rows == 7


def test_undirected_pairs_count_once_an_example_in_either_order() -> None:
    found = pair_counts(pairs("hot/cold", "cold/hot", "men/women"), suite(TRAIN), directed=False)
    assert found.counts.to_list() == [3, 3, 1]


def test_inflections_count_when_asked_for() -> None:
    asked = pairs("hot/cold", "man/woman", "awake/asleep", "full/empty", "woman/man")
    assert pair_counts(asked, suite(TRAIN), directed=False, inflections=True).counts.to_list() == [3, 1, 0, 0, 1]
    assert pair_counts(asked, suite(TRAIN), inflections=True).counts.to_list() == [2, 0, 0, 0, 1]


def test_what_is_several_words_or_none_has_no_count() -> None:
    frame = pl.DataFrame({"word": ["ice cream", None, "hot"], "other": ["tea", "tea", "cold"]})
    assert pair_counts(frame, suite(TRAIN)).counts.to_list() == [None, None, 2]
    assert word_counts(pl.Series(["ice cream", None, "tea"]), suite(TRAIN)).counts.to_list() == [None, None, 2]


def test_no_pairs_have_no_counts() -> None:
    empty = pl.DataFrame(schema={"word": pl.String, "other": pl.String})
    found = pair_counts(empty, suite(TRAIN))
    assert (found.counts.to_list(), found.rows) == ([], 7)


def test_a_training_set_without_contradictions_is_refused() -> None:
    with pytest.raises(AcidtestError, match="train has no contradictions to look for pairs of words in"):
        pair_counts(pairs("hot/cold"), suite([("a", "b", "non-entailment")]))
    with pytest.raises(AcidtestError, match="train has no examples to count words in"):
        word_counts(pl.Series(["hot"]), Suite(suite(TRAIN).frame.clear(), Card("train")))


def test_a_word_is_counted_once_an_example_whatever_the_label() -> None:
    found = word_counts(pl.Series(["tea", "Cold", "hot", "cold", "snow"]), suite(TRAIN))
    assert found.counts.to_list() == [2, 7, 5, 7, 0]
    assert found.rows == 8


def test_mean_and_median_are_over_different_words() -> None:
    found = word_counts(pl.Series(["tea", "Cold", "hot", "cold", "snow", "ice cream"]), suite(TRAIN))
    # tea 2, cold 7, hot 5, snow 0.
    assert (found.mean, found.median) == (3.5, 3.5)
    assert (found.rarest, found.commonest) == (("snow", 0), ("cold", 7))


def test_no_words_have_no_mean() -> None:
    found = word_counts(pl.Series([], dtype=pl.String), suite(TRAIN))
    assert math.isnan(found.mean)
    assert math.isnan(found.median)
    assert (found.rarest, found.commonest) == (None, None)


def test_pieces_of_any_size_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROWS", 1)
    many = suite(TRAIN * 3)
    slow = pair_counts(pairs("hot/cold", "cold/hot"), many)
    monkeypatch.undo()
    assert slow.counts.to_list() == pair_counts(pairs("hot/cold", "cold/hot"), many).counts.to_list() == [6, 6]
