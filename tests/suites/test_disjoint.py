"""Pairs to train on that are none of the test's."""

from __future__ import annotations

import polars as pl

from acidtest.core.suite import Card, Suite, completed
from acidtest.suites.disjoint import disjoint


def suite(name: str, *rows: tuple[str, str, str]) -> Suite:
    frame = pl.DataFrame(rows, schema=["premise", "hypothesis", "subcase"], orient="row")
    made = completed(frame.with_columns(label=pl.lit("entailment")), name)
    return Suite(made.lazy(), Card(name, columns={"subcase": "factor"})).sealed()


def test_a_pair_of_the_test_is_left_out_however_it_is_written() -> None:
    ours = suite("ours", ("The judge ran.", "The judge ran.", "a"), ("The judge sat.", "The judge ran.", "a"))
    found = disjoint(ours, suite("theirs", ("the judge ran .", "The Judge ran", "b")), cell="subcase", most=5)
    assert found.suite.frame.select("premise").collect()["premise"].to_list() == ["The judge sat."]
    assert (found.left_out, found.shared_premises, found.shared_hypotheses) == (1, 0, 1)
    assert found.suite.card.rows == 1


def test_as_many_of_each_cell_are_kept_as_are_wanted_in_their_order() -> None:
    ours = suite("ours", *((f"A {number}.", "B.", "a" if number < 3 else "b") for number in range(5)))
    found = disjoint(ours, suite("theirs", ("A 0.", "B.", "a"), ("A 9.", "B.", "a")), cell="subcase", most=1)
    assert found.suite.frame.collect()["premise"].to_list() == ["A 1.", "A 3."]
    assert "plain premise" not in found.suite.frame.collect_schema()


def test_texts_shared_are_counted_once_and_only_among_the_pairs_that_are_kept() -> None:
    ours = suite("ours", ("P.", "H.", "a"), ("P.", "G.", "a"), ("Q.", "H.", "a"))
    found = disjoint(ours, suite("theirs", ("P.", "X.", "a"), ("Q.", "H.", "a")), cell="subcase", most=9)
    assert (found.left_out, found.shared_premises, found.shared_hypotheses) == (1, 1, 1)
