"""Questionnaires that ask by the gold label of items: one store, agreement and taxonomy for pairs of all labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("sqlalchemy", reason="stores need acidtest[annotate]")

from acidtest import api
from acidtest.annotate.answers import RequestError
from acidtest.annotate.conditions import condition_holds, depends_on_gold, resolve_gold
from acidtest.annotate.projects import Project
from acidtest.annotate.questionnaires import load_questionnaire
from acidtest.core.errors import AcidtestError

PAIRS = {
    "id": ["e", "c", "n", "m"],
    "premise": ["All dogs bark.", "All dogs bark.", "A dog barks.", "A cat sleeps."],
    "hypothesis": ["Rex barks.", "No dog barks.", "A dog is brown.", "Taxes rise."],
    "label": ["entailment", "contradiction", "neutral", "neutral"],
}
READ = {"outside_knowledge": "no", "approach": ["reading"], "connectives": ["none"]}
SUBJECT = {"same_topic": "yes", "same_subject": "yes", "same_object": "no"}

ANSWERS: dict[str, dict[str, dict[str, Any]]] = {
    "ann": {
        "e": {"inference": "entailment", **READ, "wording": ["lexical"]},
        "c": {"inference": "contradiction", **READ, "connectives": ["negation"], "wording": ["none"]},
        "n": {**SUBJECT, **READ, "wording": ["factivity"]},
        "m": {"same_topic": "no"},
    },
    "ben": {
        "e": {"inference": "entailment", **READ, "wording": ["lexical", "syntactic"]},
        "c": {"inference": "neutral", **READ, "connectives": ["negation"], "wording": ["none"]},
        "n": {**SUBJECT, **READ, "wording": ["lexical"]},
        "m": {"same_topic": "no"},
    },
}


def answer_all(project: Project, answers: dict[str, dict[str, dict[str, Any]]]) -> None:
    for name, said in answers.items():
        project.join(name)
        shown = project.next(name)
        while not shown.get("finished"):
            with project.state() as state:
                item = state.items[state.claims[shown["assignment"]].item - 1]
            key = f"key-{name}-{shown['assignment']}"
            shown = project.answer(name, shown["assignment"], said[item.id], key=key, seconds=3.0)["next"]


@pytest.fixture
def project(store_url: str) -> Project:
    project = api.annotation_project(
        pl.DataFrame(PAIRS), store=store_url, questionnaire="taxinli", options=api.PlanOptions(per_item=2)
    )
    answer_all(project, ANSWERS)
    return project


def test_one_agreement_is_of_pairs_of_all_labels(project: Project, store_url: str, tmp_path: Path) -> None:
    agreement = api.agreement(store_url, output=tmp_path / "pairs.jsonl")
    # Labels were asked for of the two pairs that are not neutral, on which the two people agree once.
    assert (agreement.rows, agreement.rated, agreement.unasked, agreement.given) == (4, 2, 2, 4)
    assert agreement.observed.value == 0.5
    assert agreement.accuracy is not None
    assert agreement.accuracy.average.value == 0.75
    assert agreement.categories is not None
    # {lexical} of {lexical, syntactic} 1/2; {negation} 1; {factivity} and {lexical} 0; nothing at all 0/0.
    assert agreement.categories.iou.value == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert agreement.categories.empty == 1
    # Both say so of one of the two neutral pairs, and of no other were they asked.
    assert agreement.categories.features["same_topic"].kappa.value == 1
    assert agreement.categories.features["same_topic"].kappa.n == 2


def test_one_taxonomy_is_of_pairs_of_all_labels(project: Project, store_url: str, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    api.agreement(store_url, output=pairs)
    rows = {row["item"]: row for row in map(json.loads, pairs.read_text(encoding="utf-8").splitlines())}
    # The two people do not agree on the label of c, but it came with one, as all pairs did.
    assert {name: row["label"] for name, row in rows.items()} == dict(zip(PAIRS["id"], PAIRS["label"], strict=True))
    assert {name: row["annotated_label"] for name, row in rows.items()} == {
        "e": "entailment",
        "c": None,
        "n": "neutral",
        "m": "neutral",
    }
    assert (rows["c"]["undecided"], rows["n"]["undecided"]) == ("no majority", None)
    assert rows["n"]["categories"] == ["same_topic", "same_subject"]
    statistics = api.taxonomy_statistics(pairs)
    assert dict(statistics.labels) == {"entailment": 1, "neutral": 2, "contradiction": 1}
    pairs_of = {name: counts.pairs for name, counts in statistics.categories.items() if counts.pairs}
    assert pairs_of == {"lexical": 1, "negation": 1}
    assert (statistics.features["same_topic"].value, statistics.features["same_topic"].n) == (0.5, 2)
    assert statistics.judged is not None
    assert (statistics.judged.value, statistics.judged.n) == (0.5, 2)


@pytest.mark.parametrize("form", ["answers.jsonl", "answers.tsv", "tasks.json"])
def test_answers_come_back_from_files(project: Project, store_url: str, tmp_path: Path, form: str) -> None:
    file, again = tmp_path / form, str(tmp_path / "again.db")
    api.export_annotations(project, file, form="label-studio" if form == "tasks.json" else "", everything=True)
    api.import_annotations(file, store=again, questionnaire="taxinli")
    first, second = api.agreement(store_url), api.agreement(again)
    assert first.signature == second.signature
    assert (first.kappa, first.unasked) == (second.kappa, second.unasked)


def test_what_the_item_does_not_ask_is_refused_and_gold_is_not_told(tmp_path: Path) -> None:
    pairs = pl.DataFrame(PAIRS)[2:3]
    project = api.annotation_project(pairs, store=str(tmp_path / "a.db"), questionnaire="taxinli")
    project.join("ann")
    shown = project.next("ann")
    assert shown["conditions"]["same_topic"] == {"all": []}
    assert shown["conditions"]["inference"] == {"any": []}
    assert "neutral" not in json.dumps(shown)
    with pytest.raises(RequestError, match="'inference' is not asked"):
        project.answer("ann", shown["assignment"], ANSWERS["ann"]["e"], key="some-key-1", seconds=1.0)
    with pytest.raises(RequestError, match="'same_topic' has no answer"):
        project.answer("ann", shown["assignment"], {}, key="some-key-1", seconds=1.0)


@pytest.mark.parametrize(
    ("label", "problem"),
    [
        (None, "item 'e' has no gold label, and questionnaire 'taxinli' asks by it"),
        ("maybe", "item 'e' has the gold 'maybe', which is not a label"),
        ("non-entailment", "item 'e': questionnaire 'taxinli' asks nothing where gold is non-entailment"),
    ],
)
def test_an_item_without_a_gold_that_is_asked_by_is_told(tmp_path: Path, label: str | None, problem: str) -> None:
    pairs = pl.DataFrame(PAIRS | {"label": [label, "neutral", "neutral", "neutral"]})
    with pytest.raises(AcidtestError, match=problem):
        api.annotation_project(pairs, store=str(tmp_path / "a.db"), questionnaire="taxinli")


def test_a_control_that_nobody_could_pass_is_told(tmp_path: Path) -> None:
    controls = tmp_path / "controls.tsv"
    controls.write_text("id\tpremise\thypothesis\tlabel\nk\tA\tB\tneutral\n", encoding="utf-8")
    options = api.PlanOptions(controls=controls)
    with pytest.raises(AcidtestError, match="nobody is asked for a label where gold is neutral"):
        api.annotation_project(
            pl.DataFrame(PAIRS), store=str(tmp_path / "a.db"), questionnaire="taxinli", options=options
        )


def test_answers_without_gold_cannot_be_followed(tmp_path: Path) -> None:
    file = tmp_path / "answers.tsv"
    file.write_text("item\tannotator\tsame_topic\np\tann\tno\n", encoding="utf-8")
    with pytest.raises(AcidtestError, match="has no column gold, and questionnaire 'taxinli' asks by the gold"):
        api.agreement(file, questionnaire="taxinli")


def test_a_condition_on_gold_becomes_true_or_false() -> None:
    written = {"any": [{"gold": ["entailment", "neutral"]}, {"not": {"gold": "neutral", "a": "yes"}}], "b": "no"}
    assert resolve_gold(written, "neutral") == {
        "any": [{"all": []}, {"not": {"all": [{"all": []}, {"a": "yes"}]}}],
        "b": "no",
    }
    assert resolve_gold({"gold": "neutral"}, None) == {"any": []}
    assert resolve_gold(None, "neutral") is None
    assert depends_on_gold({"not": {"any": [{"gold": "neutral"}]}}, {})
    with pytest.raises(AcidtestError, match="'nuetral' is not a gold label; expected entailment"):
        condition_holds({"gold": "nuetral"}, {})


def test_the_other_questionnaires_do_not_ask_by_gold() -> None:
    assert load_questionnaire("taxinli").asks_by_gold
    assert not any(load_questionnaire(name).asks_by_gold for name in ("taxonomy", "taxonomy-neutral", "error-types"))
