"""Polarity of word pairs, counted by hand and against a plain loop."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Card, Suite
from acidtest.pairs.counts import CATEGORIES, label_counts, matches_gold, pair_counts, polarities, polarity_names

E, N, C = "entailment", "neutral", "contradiction"

TRAIN = [
    ("The game is at sunset.", "It is sunrise.", C),
    ("Sunset, then sunset again.", "At sunrise, a sunrise.", C),
    ("A game at sunset.", "A game at sunrise.", N),
    # The other way round.
    ("A dog runs at sunrise.", "It is sunset.", E),
    ("The footbridge is long.", "The bridge is long.", E),
    ("A footbridge.", "A bridge.", N),
    ("It is hot.", "It is cold.", E),
    ("It is hot.", "It is cold.", N),
    ("It is hot.", "It is cold.", C),
    ("It is wet.", "It is dry.", N),
    ("It is wet.", "It is dry.", C),
    # No label of the three.
    ("It is wet.", "It is dry.", "non-entailment"),
    # Both words on one side are no pair.
    ("Up and down.", "It moves.", C),
    ("Bridges are long.", "A sunset.", N),
]


def suite(rows: list[tuple[str, str, str]]) -> Suite:
    frame = pl.DataFrame(rows, schema=["premise", "hypothesis", "label"], orient="row")
    return Suite(frame.lazy(), Card("train"))


def asked(*pairs: str) -> pl.DataFrame:
    both = [pair.split("/") for pair in pairs]
    return pl.DataFrame({"one": [one for one, _ in both], "two": [two for _, two in both]})


def test_polarity_is_the_most_frequent_label_of_the_ordered_pair() -> None:
    words = ("sunset/sunrise", "Sunrise/SUNSET", "footbridge/bridge", "hot/cold", "wet/dry", "up/down", "cold/hot")
    found = polarities(asked(*words), suite(TRAIN))
    assert found.frame.select(E, N, C).rows() == [
        (0, 1, 2),
        (1, 0, 0),
        (1, 1, 0),
        (1, 1, 1),
        (0, 1, 1),
        (0, 0, 0),
        (0, 0, 0),
    ]
    assert found.frame["polarity"].to_list() == [
        C,
        E,
        "entailment = neutral",
        "entailment = neutral = contradiction",
        "neutral = contradiction",
        "none",
        "none",
    ]
    assert found.frame["seen"].to_list() == [True] * 5 + [False] * 2
    assert (dict(found.rows), found.examples) == ({E: 3, N: 5, C: 5}, 13)


def test_inflections_count_when_asked_for() -> None:
    assert polarities(asked("bridge/sunset"), suite(TRAIN)).frame["polarity"].to_list() == ["none"]
    assert polarities(asked("bridge/sunset"), suite(TRAIN), inflections=True).frame["polarity"].to_list() == [N]


def test_what_is_not_one_word_on_either_side_has_no_polarity() -> None:
    frame = pl.DataFrame({"one": ["ice cream", None, "hot"], "two": ["tea", "tea", "cold"]})
    found = polarities(frame, suite(TRAIN)).frame
    assert found["polarity"].to_list() == [None, None, "entailment = neutral = contradiction"]
    assert found["seen"].to_list() == [None, None, True]


def test_no_pairs_have_no_polarity() -> None:
    found = polarities(pl.DataFrame(schema={"one": pl.String, "two": pl.String}), suite(TRAIN))
    assert found.frame.height == 0


def test_a_training_set_without_the_three_labels_is_refused() -> None:
    with pytest.raises(
        AcidtestError, match="train has no pairs of entailment, neutral, contradiction; give a three-way"
    ):
        polarities(asked("hot/cold"), suite([("a", "b", "non-entailment")]))


def test_there_are_eight_categories() -> None:
    assert CATEGORIES == (
        E,
        N,
        C,
        "entailment = neutral",
        "entailment = contradiction",
        "neutral = contradiction",
        "entailment = neutral = contradiction",
        "none",
    )
    assert polarity_names(np.array([[2, 2, 1], [0, 3, 0], [0, 0, 0]])).to_list() == ["entailment = neutral", N, "none"]


def test_a_polarity_matches_gold_that_accepts_it_and_ties_never_do() -> None:
    names = pl.Series([E, N, N, "entailment = neutral", "none", None])
    gold = np.array([0b001, 0b001, 0b110, 0b011, 0b111, 0b111], dtype=np.uint8)
    assert matches_gold(names, gold).tolist() == [True, False, True, False, False, False]


def test_contradictions_are_those_that_pair_counts_counts() -> None:
    pairs = asked("sunset/sunrise", "hot/cold", "wet/dry")
    assert label_counts(pairs, suite(TRAIN)).counts[C].to_list() == pair_counts(pairs, suite(TRAIN)).counts.to_list()


def test_counts_are_those_of_a_plain_loop() -> None:
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(12)]
    rows = [
        (" ".join(rng.choice(words, 4)), " ".join(rng.choice(words, 3)), str(rng.choice([E, N, C]))) for _ in range(500)
    ]
    pairs = [(str(one), str(two)) for one, two in rng.choice(words, (40, 2))]
    loop = []
    for one, two in pairs:
        held = [label for p, h, label in rows if one in re.findall(r"\w+", p) and two in re.findall(r"\w+", h)]
        loop.append(tuple(held.count(label) for label in (E, N, C)))
    frame = pl.DataFrame(pairs, schema=["one", "two"], orient="row")
    assert polarities(frame, suite(rows)).frame.select(E, N, C).rows() == loop
