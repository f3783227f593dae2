"""The suite ``grounding/knowledge``: documents that agree with the world, say otherwise or are silent."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.io.wordlists import packaged_table

BEFORE = "The theatre in Millbrook opens its season in September. This year it will stage Hamlet."
AFTER = "Tickets cost between 9 and 22 pounds. The director is Ottilie Marsh."


@cache
def generated() -> pl.DataFrame:
    return api.generate("grounding/knowledge").frame.collect()


def test_a_fact_is_asked_in_six_ways() -> None:
    shakespeare, dickens = (f"Hamlet was written by {name}." for name in ("William Shakespeare", "Charles Dickens"))
    rows = generated().filter(fact="author-hamlet").select("premise", "hypothesis", "label", "kind").rows()
    true, false = (f"The author of Hamlet is {name}." for name in ("William Shakespeare", "Charles Dickens"))
    assert rows == [
        (f"{BEFORE} {shakespeare} {AFTER}", true, "entailment", "document agrees with the world"),
        (
            f"{BEFORE} {shakespeare} {AFTER}",
            false,
            "contradiction",
            "document agrees with the world: claim says otherwise",
        ),
        (f"{BEFORE} {dickens} {AFTER}", false, "entailment", "document says otherwise: claim of the document"),
        (f"{BEFORE} {dickens} {AFTER}", true, "contradiction", "document says otherwise: claim of the world"),
        (f"{BEFORE} {AFTER}", true, "neutral", "true, not in the document"),
        (f"{BEFORE} {AFTER}", false, "neutral", "false, not in the document"),
    ]


def test_documents_that_say_otherwise_are_marked() -> None:
    marks = generated().select("document_says", "facts").unique().sort("document_says").rows()
    assert marks == [("nothing", "invented"), ("otherwise", "invented"), ("world", "real")]


def test_what_holds_by_definition_is_not_asked_of_a_silent_document() -> None:
    kinds = generated().filter(fact="days-week")["document_says"].unique().sort().to_list()
    assert kinds == ["otherwise", "world"]


def test_the_rows_of_a_fact_are_a_group_and_there_are_more_than_forty() -> None:
    assert generated()["group"].n_unique() == 52
    assert (generated()["group"] == generated()["fact"]).all()


def test_no_passage_says_a_claim_of_its_fact_without_the_sentence_for_it() -> None:
    for row in packaged_table("grounding/facts.tsv").iter_rows(named=True):
        silent = f"{row['before']} {row['after']}"
        answers = set(row["claim_world"].split()) ^ set(row["claim_otherwise"].split())
        assert answers, row["fact"]
        assert not any(word.strip(".,") in silent.replace(".", " ").split() for word in answers), row["fact"]
        assert row["world"] not in silent


def test_n_is_a_number_of_facts() -> None:
    assert api.generate("grounding/knowledge", n=5).frame.collect()["fact"].n_unique() == 5
    with pytest.raises(AcidtestError, match="60 facts were asked for, but there are only 52"):
        api.generate("grounding/knowledge", n=60)


def test_a_model_that_remembers_follows_the_world_against_the_document(tmp_path: Path) -> None:
    finished = api.run("baseline:majority:entailment", ["grounding/knowledge"], output=tmp_path / "run", page=False)
    by_kind = finished.results["suites"]["grounding/knowledge"]["by"]["kind"]
    assert by_kind["document says otherwise: claim of the document"]["value"] == 1.0
    assert by_kind["document says otherwise: claim of the world"]["value"] == 0.0
