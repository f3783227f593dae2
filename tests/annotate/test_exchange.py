from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import polars as pl
import pytest

pytest.importorskip("sqlalchemy", reason="stores need acidtest[annotate]")

from acidtest import api
from acidtest.annotate.exchange import project_answers
from acidtest.annotate.label_studio import HIDDEN, labelling_config
from acidtest.annotate.projects import Project
from acidtest.api import PlanOptions, annotation_project, export_annotations, import_annotations
from acidtest.core.errors import AcidtestError, FileError

PAIRS = pl.DataFrame(
    {
        "id": ["p1", "p2", "p3"],
        "premise": ["=1+1", "A <b>dog</b>.", "Ünï\ncode"],
        "hypothesis": ["a", "b", "c"],
        "label": ["entailment", "neutral", "-"],
        "genre": ["fiction", "travel", None],
        "seconds": [1, 2, 3],
    }
)
QUESTIONS = """
schema = 1
title = "All kinds"
[[question]]
id = "follows"
text = "Does it follow?"
kind = "one-of"
options = ["entailment", "neutral"]
[[question]]
id = "what"
text = "What was needed?"
kind = "several-of"
options = ["negation", "boolean", { id = "none", exclusive = true }]
when = { follows = "entailment" }
[[question]]
id = "remarks"
text = "Anything else?"
kind = "text"
when = { not = { follows = "entailment" } }
[[rule]]
label_from = "follows"
categories_from = ["what"]
"""
FOLLOWS = {"follows": "entailment", "what": ["negation", "boolean"]}
NEUTRAL = {"follows": "neutral", "remarks": 'it\'s "odd", <i>really</i>\n=2+2'}


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    path = tmp_path / "kinds.toml"
    path.write_text(QUESTIONS, encoding="utf-8")
    return path


@pytest.fixture
def project(tmp_path: Path, asked: Path, store_url: str) -> Project:
    """Anna and Ben answered, Cleo failed a control; Anna took one answer back and gave another."""
    controls = tmp_path / "controls.tsv"
    controls.write_text("id\tpremise\thypothesis\tlabel\nc1\tx\tx\tentailment\n", encoding="utf-8")
    options = PlanOptions(per_item=2, controls=controls)
    project = annotation_project(PAIRS, store=store_url, questionnaire=asked, options=options)
    for name in ("Cleo", "Anna", "Ben"):
        project.join(name)
        while "item" in (shown := project.next(name)):
            right = shown["item"]["fields"]["premise"] in ("x", "=1+1") and name != "Cleo"
            said = FOLLOWS if right else NEUTRAL
            project.answer(name, shown["assignment"], said, key=f"{name}-{shown['assignment']}-a", seconds=2.25)
        if name == "Anna":
            back = project.undo(name)
            right = back["item"]["fields"]["premise"] in ("x", "=1+1")
            again = FOLLOWS if right else NEUTRAL | {"remarks": "changed"}
            project.answer(name, back["assignment"], again, key="anna-again", seconds=None)
    return project


def everything(project: Project) -> list[Any]:
    return sorted(project_answers(project, everything=True), key=lambda row: row.key)


@pytest.mark.parametrize(
    ("form", "name", "other"),
    [("", "a.csv", "a.csv"), ("label-studio", "a.json", "a.json"), ("label-studio", "a.json", "a.config.xml")],
)
def test_an_export_replaces_nothing_that_is_there(
    project: Project, tmp_path: Path, form: str, name: str, other: str
) -> None:
    (tmp_path / other).write_text("somebody's work")
    with pytest.raises(FileError, match=f"{other}: exists, perhaps with somebody's work"):
        export_annotations(project, tmp_path / name, form=form)
    assert (tmp_path / other).read_text() == "somebody's work"
    assert [path.name for path in tmp_path.iterdir() if path.suffix in (".csv", ".json", ".xml")] == [other]


def test_what_counts_is_exported_as_agreement_reads_it(project: Project, asked: Path, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    assert export_annotations(project, path) == {"answers": 6, "file": str(path)}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    first = next(line for line in lines if line["item"] == "p1" and line["annotator"] == "Ben")
    assert {name: first[name] for name in ("premise", "hypothesis", "gold", "genre", "seconds")} == {
        "premise": "=1+1",
        "hypothesis": "a",
        "gold": "entailment",
        "genre": "fiction",
        "seconds": 2.25,
    }
    assert (first["follows"], first["what"], first["remarks"]) == ("entailment", ["negation", "boolean"], None)
    # A column of the data that is called like one of ours is not lost.
    assert first["source_seconds"] == 1
    assert {line["annotator"] for line in lines} == {"Anna", "Ben"}
    agreement = api.agreement(path, questionnaire=asked, gold="gold")
    assert agreement.labels["neutral"].given == 4


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
def test_a_table_of_everything_makes_the_same_store_again(
    project: Project, asked: Path, tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"everything{ending}"
    told = export_annotations(project, path, everything=True)
    other = str(tmp_path / "other.db")
    assert import_annotations(path, store=other, questionnaire=asked) == {
        "answers": told["answers"],
        "known already": 0,
    }
    again = annotation_project(store=other)
    assert [(r.item, r.annotator, r.answers, r.status) for r in everything(again)] == [
        (r.item, r.annotator, r.answers, r.status) for r in everything(project)
    ]
    assert [(r.seconds, r.at, r.joined, r.excluded) for r in everything(again)] == [
        (r.seconds, r.at, r.joined, r.excluded) for r in everything(project)
    ]
    assert import_annotations(path, store=other) == {"answers": 0, "known already": told["answers"]}


def test_label_studio_tasks_make_the_same_store_again(project: Project, asked: Path, tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    export_annotations(project, path, form="label-studio", everything=True)
    other = str(tmp_path / "other.db")
    import_annotations(path, store=other, questionnaire=asked)
    again = annotation_project(store=other)
    assert everything(again) == everything(project)
    with project.state() as before, again.state() as after:
        assert [(item.id, item.known, item.role, item.gold, item.expected) for item in after.items] == [
            (item.id, item.known, item.role, item.gold, item.expected) for item in before.items
        ]


def test_tasks_are_as_label_studio_writes_them(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    told = export_annotations(project, path, form="label-studio")
    tasks = json.loads(path.read_text(encoding="utf-8"))
    assert [task["data"]["premise"] for task in tasks] == ["=1+1", "A <b>dog</b>.", "Ünï\ncode"]
    annotation = next(each for each in tasks[0]["annotations"] if "lead_time" in each)
    assert annotation["lead_time"] == 2.25
    assert [{name: value for name, value in result.items() if name != "id"} for result in annotation["result"][:2]] == [
        {"from_name": "follows", "to_name": "premise", "type": "choices", "value": {"choices": ["entailment"]}},
        {"from_name": "what", "to_name": "premise", "type": "choices", "value": {"choices": ["negation", "boolean"]}},
    ]
    # Label Studio refuses annotations of people it does not know; without a name they are the importer's.
    assert "completed_by" not in annotation
    config = ET.fromstring(Path(told["config"]).read_text(encoding="utf-8"))
    controls = {each.get("name"): each for each in config.iter() if each.tag in ("Choices", "TextArea")}
    objects = {each.get("name") for each in config.iter("Text")}
    used = {(r["from_name"], r["to_name"]) for task in tasks for a in task["annotations"] for r in a["result"]}
    assert {name for name, _ in used} <= set(controls)
    assert {name for _, name in used} <= objects


def test_the_labelling_config_has_every_question(project: Project) -> None:
    config = ET.fromstring(labelling_config(project.questionnaire))
    choices = {each.get("name"): each for each in config.iter("Choices")}
    assert [choice.get("alias") for choice in choices["what"]] == ["negation", "boolean", "none"]
    assert (choices["follows"].get("choice"), choices["follows"].get("required")) == ("single", "true")
    assert choices["what"].get("choice") == "multiple"
    views = {view.find("Header").get("value"): view for view in config.iter("View") if view.find("Choices") is not None}  # type: ignore[union-attr]
    condition = views["What was needed?"]
    assert condition.get("visibleWhen") == "choice-selected"
    assert (condition.get("whenTagName"), condition.get("whenChoiceValue")) == ("follows", "entailment")
    texts = {each.get("name"): each for each in config.iter("TextArea")}
    # A condition that its tags cannot say leaves the question open, and not required.
    assert texts["remarks"].get("required") is None
    assert HIDDEN in texts


def test_annotations_made_in_label_studio_come_in(asked: Path, tmp_path: Path) -> None:
    result = {"from_name": "follows", "to_name": "premise", "type": "choices", "value": {"choices": ["neutral"]}}
    annotation = {"id": 1001, "completed_by": 10, "lead_time": 4.288, "created_at": "2021-03-09T22:16:08.728353Z"}
    tasks = [{"id": 7, "data": {"premise": "p", "hypothesis": "h"}, "annotations": [annotation | {"result": [result]}]}]
    path = tmp_path / "project-1.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    store = str(tmp_path / "a.db")
    assert import_annotations(path, store=store, questionnaire=asked)["answers"] == 1
    (row,) = project_answers(annotation_project(store=store))
    assert (row.item, row.annotator, row.answers, row.seconds) == (
        "7",
        "label-studio 10",
        {"follows": "neutral"},
        4.288,
    )


def test_files_that_cannot_be_imported_are_told(project: Project, tmp_path: Path) -> None:
    store = project.store.url
    foreign = tmp_path / "foreign.jsonl"
    foreign.write_text('{"item": "p9", "annotator": "eve", "follows": "neutral"}\n', encoding="utf-8")
    with pytest.raises(FileError, match=r"foreign.jsonl: item 'p9' is not in the project"):
        import_annotations(foreign, store=store, project=project)
    foreign.write_text('{"item": "p1", "annotator": "eve", "follows": "perhaps"}\n', encoding="utf-8")
    with pytest.raises(FileError, match=r"foreign.jsonl:1: question 'follows': 'perhaps' is not an answer"):
        import_annotations(foreign, store=store, project=project)
    tasks = tmp_path / "tasks.json"
    tasks.write_text('[{"data": {"premise": "p"}}]', encoding="utf-8")
    with pytest.raises(FileError, match=r"tasks\.json: task 1: has no id"):
        import_annotations(tasks, store=store, project=project)
    assert len({row.annotator for row in project_answers(project, everything=True)}) == 3


def test_a_format_that_is_none_is_told(project: Project, tmp_path: Path) -> None:
    with pytest.raises(AcidtestError, match="there is no format 'prodigy'"):
        export_annotations(project, tmp_path / "a.jsonl", form="prodigy")
    with pytest.raises(FileError, match=r"a name that ends in .json"):
        export_annotations(project, tmp_path / "a.jsonl", form="label-studio")
