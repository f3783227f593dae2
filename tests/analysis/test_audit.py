"""Counts of supporting and contradicting pairs, by hand and on the real files."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from acidtest import api
from acidtest.analysis.audit import Support, audit
from acidtest.core.suite import Card, Suite, completed

PAIRS = [
    ("If the artist slept, the actor ran.", "The artist slept.", "neutral"),
    ("Because the artist slept, the actor ran.", "The artist slept.", "entailment"),
    ("The doctor near the actor danced.", "The actor danced.", "contradiction"),
    ("The actor was paid by the doctor.", "The doctor paid the actor.", "entailment"),
    ("The actor was paid by the doctor.", "The actor paid the doctor.", "non-neutral"),
    ("The actor danced.", "The actor slept.", "neutral"),
]


def suite(rows: list[tuple[str, str, str]]) -> Suite:
    frame = pl.DataFrame(rows, schema=["premise", "hypothesis", "label"], orient="row")
    return Suite(completed(frame, "mine").lazy(), Card("mine"))


def test_counts_are_cumulative_and_leave_open_gold_aside() -> None:
    assert audit(suite(PAIRS)).heuristics == {
        "lexical_overlap": Support(2, 2),
        "subsequence": Support(1, 2),
        "constituent": Support(1, 1),
    }


def test_without_parses_constituents_are_not_told() -> None:
    found = audit(suite([("A man sleeps in a bed.", "A man sleeps.", "entailment")]))
    assert found.heuristics["constituent"] is None
    assert found.to_json()["heuristics"] == {
        "lexical_overlap": {"support": 1, "contradict": 0, "unknown": 0},
        "subsequence": {"support": 1, "contradict": 0, "unknown": 0},
        "constituent": None,
    }


def test_the_contradicting_pairs_of_mnli(shared: Path) -> None:
    found = api.audit(shared / "hans" / "mnli_contradicting_examples.tsv", faithful=True)
    assert found.heuristics == {
        "lexical_overlap": Support(0, 261),
        "subsequence": Support(0, 55),
        "constituent": None,
    }


def test_snli_has_parses_for_every_subsequence(shared: Path) -> None:
    found = api.audit(shared / "snli" / "snli_1.0_dev.jsonl.gz").heuristics
    assert found["constituent"] is not None
    assert found["subsequence"] is not None
    assert found["constituent"].unknown == 0
    assert found["constituent"].support <= found["subsequence"].support


def test_what_is_known_is_counted_although_something_is_not() -> None:
    known = [("The doctor near the actor danced.", "The actor danced.", "neutral")] * 3
    found = audit(suite([*known, ("A man sleeps in a bed.", "A man sleeps.", "entailment")])).heuristics
    assert found["constituent"] == Support(0, 0, 1)
