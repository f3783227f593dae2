from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("sqlalchemy", reason="stores need acidtest[annotate]")

from acidtest import api
from acidtest.annotate.exchange import project_answers
from acidtest.api import annotation_project, export_annotations, import_annotations
from acidtest.core.errors import FileError

QUESTIONS = """
schema = 1
title = "With a condition that tags cannot say"
[[question]]
id = "follows"
text = "Does it follow?"
kind = "one-of"
options = ["yes", "no", "odd"]
[[question]]
id = "why"
text = "Why not?"
kind = "several-of"
options = ["negation", "boolean"]
required = true
when = { not = { follows = "yes" } }
[[question]]
id = "remarks"
text = "Anything else?"
kind = "text"
required = false
[[rule]]
label_from = "follows"
"""
WHY_NOT = {"follows": "no", "why": ["negation", "boolean"], "remarks": "really"}


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    path = tmp_path / "asked.toml"
    path.write_text(QUESTIONS, encoding="utf-8")
    return path


def result(name: str, *given: Any) -> dict[str, Any]:
    kind = "text" if name == "remarks" else "choices"
    return {"from_name": name, "to_name": "premise", "type": kind, "value": {kind: list(given)}}


def annotation(*results: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"completed_by": 10, "created_at": "2021-03-09T22:16:08.728353Z", "result": list(results), **more}


def tasks(tmp_path: Path, *annotations: dict[str, Any]) -> Path:
    """One task with what one person said of it for each."""
    path = tmp_path / "project-1.json"
    found = [
        {"id": number, "data": {"premise": "p", "hypothesis": "h"}, "annotations": [each]}
        for number, each in enumerate(annotations, 1)
    ]
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (annotation(result("follows", "Maybe")), "task 2: question 'follows': 'Maybe' is not an answer"),
        (annotation(result("why", "negation")), "task 2: question 'follows' has no answer"),
        (annotation(result("follows"), result("remarks", "x")), "task 2: question 'follows' has no answer"),
        (annotation(result("follows", "yes", "no")), "task 2: question 'follows': has 2 answers, but one is expected"),
        (annotation(result("follows", 1)), r"task 2: question 'follows': \[1\] is not a list of texts"),
        (annotation(result("mood", "good")), "task 2: no question called 'mood'"),
        (annotation({"from_name": "follows", "value": {}}), "task 2: question 'follows': None is not a list of texts"),
        (annotation(result("follows", "no")), "task 2: question 'why' has no answer"),
    ],
)
def test_answers_that_are_none_are_told_and_not_kept(
    asked: Path, tmp_path: Path, made: dict[str, Any], problem: str
) -> None:
    path, store = tasks(tmp_path, annotation(result("follows", "yes")), made), str(tmp_path / "a.db")
    with pytest.raises(FileError, match=problem):
        import_annotations(path, store=store, questionnaire=asked)
    # Nothing is left behind: the same store can be set up anew.
    good = tasks(tmp_path, annotation(result("follows", "yes")))
    assert import_annotations(good, store=store, questionnaire=asked)["answers"] == 1
    assert api.agreement(store).questionnaire == "asked"


def test_what_was_skipped_in_label_studio_is_left_out_and_counted(asked: Path, tmp_path: Path) -> None:
    path = tasks(
        tmp_path,
        annotation(result("follows", "yes")),
        annotation(was_cancelled=True),
        annotation(result("follows", "yes"), was_cancelled=True),
        annotation(),
        annotation(result("follows")),
    )
    told = import_annotations(path, store=str(tmp_path / "a.db"), questionnaire=asked)
    assert told == {"answers": 1, "known already": 0, "skipped": 4}
    assert api.agreement(str(tmp_path / "a.db")).labels["yes"].given == 1


def test_answers_to_questions_that_are_not_asked_are_dropped_and_counted(asked: Path, tmp_path: Path) -> None:
    path = tasks(
        tmp_path,
        annotation(result("follows", "yes"), result("why", "negation"), result("remarks", "one", "two")),
        annotation(result("follows", "no"), result("why", "boolean", "negation")),
    )
    told = import_annotations(path, store=str(tmp_path / "a.db"), questionnaire=asked)
    assert told == {"answers": 2, "known already": 0, "answers to questions that are not asked": 1}
    assert [row.answers for row in project_answers(annotation_project(store=str(tmp_path / "a.db")))] == [
        {"follows": "yes", "remarks": "one\ntwo"},
        {"follows": "no", "why": ["boolean", "negation"]},
    ]


def test_what_was_changed_in_label_studio_is_kept_as_a_further_answer(asked: Path, tmp_path: Path) -> None:
    store, path = str(tmp_path / "a.db"), tmp_path / "tasks.json"
    frame = pl.DataFrame({"id": ["a", "b"], "premise": ["p", "q"], "hypothesis": ["h", "i"]})
    project = annotation_project(frame, store=store, questionnaire=asked)
    project.join("anna")
    while "item" in (shown := project.next("anna")):
        project.answer("anna", shown["assignment"], WHY_NOT, key=f"key-{shown['assignment']:08}", seconds=2)
    export_annotations(project, path, form="label-studio", everything=True)
    content = json.loads(path.read_text(encoding="utf-8"))
    ticks = {each["from_name"]: each["value"] for each in content[0]["annotations"][0]["result"]}
    ticks["follows"]["choices"] = ["odd"]
    # In another order they are the same.
    ticks["why"]["choices"].reverse()
    content[1]["annotations"][0]["result"][1]["value"]["choices"].reverse()
    path.chmod(0o644)
    path.write_text(json.dumps(content), encoding="utf-8")
    assert import_annotations(path, store=store, project=project) == {"answers": 1, "known already": 1}
    assert {row.item: (row.annotator, row.answers["follows"]) for row in project_answers(project)} == {
        "a": ("anna", "odd"),
        "b": ("anna", "no"),
    }
    assert sorted(row.status for row in project_answers(project, everything=True)) == ["counts", "counts", "replaced"]
    assert import_annotations(path, store=store, project=project) == {"answers": 0, "known already": 2}


def test_an_item_that_two_tasks_hold_is_told(asked: Path, tmp_path: Path) -> None:
    path = tasks(tmp_path, annotation(result("follows", "yes")))
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) * 2), encoding="utf-8")
    with pytest.raises(FileError, match="task 2: item '1' stands in an earlier task"):
        import_annotations(path, store=str(tmp_path / "a.db"), questionnaire=asked)
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(FileError, match="holds no tasks"):
        import_annotations(path, store=str(tmp_path / "a.db"), questionnaire=asked)
