"""Proposals counted by hand, and how their document shows what the rules are worth."""

from __future__ import annotations

import polars as pl

from acidtest.core.document import Note, tables
from acidtest.core.serialise import to_json
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.pairs.category_rules import PREFIX, PROPOSED
from acidtest.studies.tag import document, tag


def suite(columns: dict[str, list[bool]]) -> Suite:
    height = len(next(iter(columns.values())))
    texts = {side: [f"{side} {number}" for number in range(height)] for side in ("premise", "hypothesis")}
    frame = pl.DataFrame({**texts, "label": ["neutral"] * height, **columns})
    card = Card("mine", arguments={"from": "corpus"}, columns=dict.fromkeys(columns, "category"))
    return Suite(complete_columns(frame, "mine").lazy(), card).sealed()


def proposals(**proposed: list[bool]) -> Suite:
    height = len(next(iter(proposed.values())))
    return suite({PREFIX + name: proposed.get(name, [False] * height) for name in PROPOSED})


def test_proposals_are_counted_and_compared_with_the_marks_of_the_file() -> None:
    result = tag(proposals(negation=[True, True, False, False]), suite({"negation": [True, False, False, True]}))
    assert (result.name, result.rows, result.untagged) == ("corpus", 4, 2)
    negation = result.categories["negation"]
    assert (negation.proposed, negation.share.value) == (2, 0.5)
    assert negation.here is not None
    assert (negation.here.precision.value, negation.here.recall.value, negation.here.lift.value) == (0.5, 0.5, 1.0)
    assert result.categories["lexical"].here is None
    written = to_json(result)["categories"]["negation"]
    assert written["column"] == "auto_negation"
    assert set(written["here"]) == set(written["measured"]) == {"precision", "recall", "F1", "chance", "lift"}


def test_the_document_says_which_rules_are_no_better_than_chance() -> None:
    shown = document(tag(proposals(negation=[True, False])))
    assert shown.headline == "corpus: 2 pairs, 1 without a proposal."
    by_id = tables(shown)
    assert set(by_id) == {"proposals", "rules"}, "the file marks nothing"
    lifts = {row.name: row.cells[-1] for row in by_id["proposals"].rows}
    assert [name for name, lift in lifts.items() if lift == "chance"] == ["taxonomic"]
    assert any(isinstance(part, Note) and "not annotated" in part.text for part in shown.parts)


def test_marks_of_the_file_have_a_table_of_their_own() -> None:
    shown = document(tag(proposals(negation=[True, True]), suite({"negation": [True, False]})))
    [row] = tables(shown)["marks"].rows
    assert row.name == "negation"
    assert row.cells[0] == 1, "one row is marked"
