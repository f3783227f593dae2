"""Edits of claims that change their label: negation, trend, partial, cause, hedge, scope and quotation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Suite
from acidtest.io.wordlists import packaged_table

EDITS = ("negation", "trend", "partial", "cause", "hedge", "scope", "quotation")
MARKED_ONLY = ("cause", "hedge", "scope", "quotation")

DOCUMENT = (
    "The Harrow mill burned down in 1902. Clara Voss rebuilt it two years later. Sales of flour rose by 8 percent in "
    "1910. Dorn argued that the new wheel was too small. Voss said that the river would never run dry. "
    "The dam may weaken the bridge, but nobody has examined it. Some of the workers left the valley in 1911."
)
FACTS = (("The Harrow mill burned down.", 0), ("Sales of flour rose by 8 percent.", 2))
SENTENCES = [f"{sentence}." for sentence in DOCUMENT.removesuffix(".").split(". ")]


def edited(tmp_path: Path, edit: str, claims: Mapping[str, int | None], *, marked: bool = True) -> Suite:
    """The suite of an edit made of claims about the document, each with the number of its evidence sentence."""
    rows = [{"document": DOCUMENT, "claim": claim, "label": "entailment"} for claim in claims]
    if marked:
        rows = [{**row, "evidence": SENTENCES[number or 0]} for row, number in zip(rows, claims.values(), strict=True)]
    path = tmp_path / "claims.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return api.generate(f"grounding/{edit}", source=path)


def pairs(suite: Suite) -> list[tuple[str, str]]:
    return suite.frame.select("hypothesis", "label").collect().rows()


def test_a_claim_is_negated_or_freed_of_its_negation(tmp_path: Path) -> None:
    claims = {
        "Clara Voss rebuilt the mill.": 1,
        "The mill did not survive the fire of 1902.": 0,
        "Some of the workers left the valley.": 6,
    }
    suite = edited(tmp_path, "negation", claims)
    assert pairs(suite) == [
        ("Clara Voss did not rebuild the mill.", "contradiction"),
        ("The mill survived the fire of 1902.", "contradiction"),
    ]
    assert suite.frame.collect()["kind"].to_list() == ["inserted", "removed"]
    assert suite.card.left_out == {"quantified or indefinite subject": 1}


def test_a_claim_worded_otherwise_than_its_evidence_is_not_negated(tmp_path: Path) -> None:
    claims = dict.fromkeys(["The Harrow mill burned down.", "The Harrow building fell victim to flames."])
    suite = edited(tmp_path, "negation", claims, marked=False)
    assert pairs(suite) == [("The Harrow mill did not burn down.", "contradiction")]
    assert suite.card.left_out == {"no single evidence sentence": 1}


def test_a_trend_is_turned_round(tmp_path: Path) -> None:
    suite = edited(tmp_path, "trend", {"Sales of flour rose by 8 percent.": 2, "The dam may weaken the bridge.": 5})
    assert pairs(suite) == [("Sales of flour fell by 8 percent.", "contradiction")]
    frame = suite.frame.collect()
    assert frame.select("edit", "kind", "change").rows() == [("trend", "change", "rose → fell")]


def test_a_detail_that_the_document_does_not_have_makes_a_claim_neutral(tmp_path: Path) -> None:
    suite = edited(tmp_path, "partial", {"Clara Voss rebuilt the mill.": 1, "I saw the mill in 1904.": 1})
    [(hypothesis, label)] = pairs(suite)
    detail = suite.frame.collect()["change"][0].removeprefix("+ ")
    assert label == "neutral"
    assert detail in hypothesis
    assert hypothesis.replace(f", {detail}", "").replace(f" {detail}", "").replace(", rebuilt", " rebuilt") == (
        "Clara Voss rebuilt the mill."
    )
    assert suite.card.left_out == {"first or second person": 1}


def test_a_cause_is_invented_between_two_facts_that_are_not_neighbours(tmp_path: Path) -> None:
    suite = edited(tmp_path, "cause", dict(FACTS))
    first, second = "the Harrow mill burned down", "sales of flour rose by 8 percent"

    def forms(effect: str, reason: str) -> set[str]:
        begin = effect[0].upper() + effect[1:]
        return {
            f"{begin} because {reason}.",
            f"{reason[0].upper()}{reason[1:]}, and therefore {effect}.",
            f"Because {reason}, {effect}.",
        }

    [(one, label), (two, _)] = pairs(suite)
    assert label == "non-entailment"
    assert one in forms(first, second)
    assert two in forms(second, first)


def test_claims_of_a_document_that_follow_each_other_are_never_parted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acidtest.suites.corpus._BATCH_ROWS", 1)
    first, second = ({"document": DOCUMENT, "claim": claim, "evidence": SENTENCES[number]} for claim, number in FACTS)
    other = {"document": "Ann left.", "claim": "Ann left the town.", "evidence": "Ann left."}
    path = tmp_path / "claims.jsonl"
    rows = [{**row, "label": "entailment"} for row in (other, first, second, other)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    suite = api.generate("grounding/cause", source=path)
    assert suite.frame.collect().height == 2


def test_neighbouring_facts_are_not_joined(tmp_path: Path) -> None:
    with pytest.raises(AcidtestError, match="2 no other fact without a stated link"):
        edited(tmp_path, "cause", {"The Harrow mill burned down.": 0, "Clara Voss rebuilt the mill.": 1})


def test_a_hedge_is_dropped_where_the_evidence_has_one(tmp_path: Path) -> None:
    claims = {"The dam may weaken the bridge.": 5, "The mill may have burned down.": 0, "Voss may not have left.": 5}
    suite = edited(tmp_path, "hedge", claims)
    assert pairs(suite) == [("The dam weakens the bridge.", "neutral")]
    assert suite.card.left_out == {"no hedge in the evidence": 1, "negation in the claim": 1}


def test_what_might_otherwise_have_been_is_no_hedge(tmp_path: Path) -> None:
    claims = {"The dam may weaken the bridge.": 5, "Fame might otherwise have eluded the dam.": 5}
    suite = edited(tmp_path, "hedge", claims)
    assert pairs(suite) == [("The dam weakens the bridge.", "neutral")]
    assert suite.card.left_out == {"permission or possibility": 1}


def test_some_becomes_all(tmp_path: Path) -> None:
    suite = edited(tmp_path, "scope", {"Some of the workers left the valley.": 6, "Some workers went away.": 6})
    assert pairs(suite) == [
        ("All of the workers left the valley.", "non-entailment"),
        ("All workers went away.", "non-entailment"),
    ]


def test_a_statement_is_given_to_another_speaker_who_says_something_else(tmp_path: Path) -> None:
    claims = {"Dorn argued that the new wheel was too small.": 3, "Voss said that she had hope.": 4}
    suite = edited(tmp_path, "quotation", claims)
    assert pairs(suite) == [("Voss argued that the new wheel was too small.", "non-entailment")]
    assert suite.card.left_out == {"pronoun of the speaker": 1}


def test_an_opinion_is_given_to_another_speaker_by_name_only(tmp_path: Path) -> None:
    claims = {"The new wheel was too small, according to Dorn.": 3, "The river is full, according to the town.": 4}
    suite = edited(tmp_path, "quotation", claims)
    assert pairs(suite) == [("The new wheel was too small, according to Voss.", "non-entailment")]


@pytest.mark.parametrize("edit", MARKED_ONLY)
def test_some_edits_are_made_only_where_the_evidence_is_marked(tmp_path: Path, edit: str) -> None:
    claims = dict.fromkeys(
        [
            "The Harrow mill burned down in 1902.",
            "Sales of flour rose by 8 percent in 1910.",
            "The dam may weaken the bridge.",
            "Some of the workers left the valley in 1911.",
            "Dorn argued that the new wheel was too small.",
        ]
    )
    with pytest.raises(AcidtestError, match="evidence not marked"):
        edited(tmp_path, edit, claims, marked=False)


@cache
def starter(edit: str) -> pl.DataFrame:
    return api.generate(f"grounding/{edit}").frame.collect()


@pytest.mark.parametrize("edit", EDITS)
def test_the_starter_gives_each_edit_at_least_forty_pairs_of_another_gold(edit: str) -> None:
    frame = starter(edit)
    assert frame.height >= 40
    assert "entailment" not in frame["label"].to_list()
    assert frame["hypothesis"].n_unique() == frame.height


def test_hand_written_changes_of_the_starter_come_out_as_they_were_written() -> None:
    claims = pl.concat([starter(edit).select("edit", "hypothesis") for edit in EDITS])
    written = api.generate("grounding/claims").frame.collect().filter(pl.col("reason").is_in(EDITS))
    same = written.join(claims, left_on=["reason", "hypothesis"], right_on=["edit", "hypothesis"])
    # Not all: others were worded more freely than an edit words them.
    counts = dict(same.group_by("reason").len().iter_rows())
    assert counts == {"hedge": 15, "negation": 9, "quotation": 12, "scope": 8, "trend": 13}


def test_as_many_claims_are_edited_as_were_asked_for_and_their_documents_stay_whole() -> None:
    suite = api.generate("grounding/trend", n=5)
    assert suite.frame.collect()["base_id"].n_unique() == 5
    assert suite.control is not None
    untouched = suite.control.frame.collect()
    documents = untouched["document"].unique()
    assert set(documents) == set(suite.frame.collect()["document"])
    whole = api.generate("grounding/claims").frame.filter(pl.col("document").is_in(documents.implode())).collect()
    assert untouched.height == whole.height
    with pytest.raises(AcidtestError, match="only 52 of 'grounding-starter' can be edited so"):
        api.generate("grounding/trend", n=60)


def test_after_does_not_deny_before(tmp_path: Path) -> None:
    claim = "Clara Voss worked as a nurse before she joined the union."
    path = tmp_path / "claims.jsonl"
    row = {"document": f"{claim} The union was small.", "claim": claim, "label": "entailment"}
    path.write_text(json.dumps(row), encoding="utf-8")
    made = api.generate("grounding/trend", source=path)
    assert pairs(made) == [("Clara Voss worked as a nurse after she joined the union.", "non-entailment")]


def test_a_lengthened_claim_says_no_more_than_its_document_and_keeps_its_gold(tmp_path: Path) -> None:
    rows = [
        {"document": DOCUMENT, "claim": claim, "label": label}
        for claim, label in (
            *((claim, "entailment") for claim, _ in FACTS),
            ("Clara Voss sold the mill.", "contradiction"),
            ("Dorn owned a boat.", "neutral"),
        )
    ]
    path = tmp_path / "claims.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    made = api.generate("grounding/lengthened", source=path)
    asides = set(packaged_table("grounding/asides.tsv")["aside"])
    assert made.control is not None
    frame = made.frame.collect().join(
        made.control.frame.collect().select(base_id="id", old="hypothesis", before="label"), on="base_id"
    )
    assert frame.height == 4
    assert frame["label"].to_list() == frame["before"].to_list()
    for row in frame.iter_rows(named=True):
        added = row["hypothesis"].removeprefix(row["old"].removesuffix(".")).removesuffix(".")
        if row["kind"] == "aside":
            assert added.removeprefix(", ") in asides
        else:
            assert added in (", and the Harrow mill burned down", ", and sales of flour rose by 8 percent")


def with_originals(edit: str) -> pl.DataFrame:
    made = api.generate(f"grounding/{edit}")
    assert made.control is not None
    originals = made.control.frame.select(base_id="id", original="hypothesis").collect()
    return made.frame.collect().join(originals, on="base_id")


@pytest.mark.parametrize(("edit", "kind"), [("partial", "aside"), ("cause", "fact")])
def test_the_control_of_an_edit_lengthens_claims_by_as_many_words(edit: str, kind: str) -> None:
    control = with_originals("lengthened").filter(kind=kind)
    words = (pl.col(column).str.count_matches(r"\S+") for column in ("hypothesis", "original"))
    longer = next(words) - next(words)
    added = [
        frame.select(longer).to_series()
        for frame in (with_originals(edit), control, control.filter(pl.col("label") != "entailment"))
    ]
    means, spreads = [column.mean() for column in added], [column.std() for column in added]
    assert means[1:] == pytest.approx([means[0]] * 2, rel=0.1)
    assert spreads[1:] == pytest.approx([spreads[0]] * 2, rel=0.35)
    assert control.filter(pl.col("label") != "entailment").height >= 100
