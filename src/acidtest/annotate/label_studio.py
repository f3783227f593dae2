"""Exchanges projects with Label Studio: tasks with annotations in JSON, and the labelling config to display them.

Label Studio assigns annotations without a known author to whoever imports them, and keeps results unchanged. So each
annotation carries a hidden text with its author and its other data in the store, which Label Studio exports again with
the tasks.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import polars as pl

from acidtest.annotate.columns import RowError
from acidtest.annotate.conditions import CONNECTIVES, GOLD, GOLD_COLUMN, as_list
from acidtest.annotate.exchange import COUNTS, AnswerRow, ImportedAnswers, check_rows, parse_row, project_answers
from acidtest.annotate.items import ITEM, Item, validate_expected
from acidtest.annotate.projects import Project
from acidtest.annotate.questionnaires import Question, Questionnaire
from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.files import refuse_overwrite, write_json, write_text
from acidtest.core.structured import MOST_TABLE_BYTES, check_shape, parse_json, read_json

HIDDEN = "acidtest"
"""The name of the hidden text of an annotation, and the key of our data in a task's ``meta``."""

_CONFIG_ENDING = ".config.xml"


def write_tasks(project: Project, path: Path, *, everything: bool) -> dict[str, Any]:
    """Write tasks with their annotations, and the labelling config beside them; existing files are refused."""
    if path.suffix.lower() != ".json":
        raise FileError(path, "is to hold tasks for Label Studio; give it a name that ends in .json")
    config = path.with_name(path.name.removesuffix(".json") + _CONFIG_ENDING)
    for file in (path, config):
        refuse_overwrite(file)
    rows = project_answers(project, everything=everything)
    with project.state() as state:
        items = [item for item in state.items if everything or not item.is_check]
    by_item = defaultdict[str, list[AnswerRow]](list)
    for row in rows:
        by_item[row.item].append(row)
    questionnaire = project.questionnaire
    tasks = [_export_task(number, item, by_item[item.id], questionnaire) for number, item in enumerate(items, 1)]
    write_json(path, tasks)
    write_text(config, labelling_config(questionnaire))
    return {"tasks": len(tasks), "answers": len(rows), "file": str(path), "config": str(config)}


def labelling_config(questionnaire: Questionnaire) -> str:
    """The questionnaire as Label Studio's tags.

    A question whose condition is about one other question is shown only if it holds. The tags cannot express other
    conditions (not, any, all): questions with these are always shown and never required.
    """
    view = ET.Element("View")
    ET.SubElement(view, "Header", value=questionnaire.title)
    for column in questionnaire.shows:
        ET.SubElement(view, "Header", value=column, size="5")
        ET.SubElement(view, "Text", name=column, value=f"${column}")
    for question in questionnaire.questions:
        _add_question(view, question, questionnaire)
    hidden = ET.SubElement(view, "View", style="display:none")
    ET.SubElement(hidden, "TextArea", name=HIDDEN, toName=questionnaire.shows[0])
    ET.indent(view)
    return ET.tostring(view, encoding="unicode") + "\n"


def holds_tasks(path: Path) -> bool:
    """Whether a file holds tasks of Label Studio."""
    if path.suffix.lower() != ".json":
        return False
    content = read_json(path, object, foreign=True, most_bytes=MOST_TABLE_BYTES)
    return isinstance(content, list) and all(isinstance(task, dict) and "data" in task for task in content)


@dataclass(frozen=True)
class StudioResult:
    """The answer to one question in an annotation."""

    from_name: str
    value: dict[str, Any]


@dataclass(frozen=True)
class StudioAnnotation:
    """One person's answers to a task."""

    result: list[StudioResult]
    was_cancelled: bool | None = None
    completed_by: int | str | dict[str, Any] | None = None
    created_at: str | None = None
    lead_time: float | None = None


@dataclass(frozen=True)
class StudioTask:
    """A task with its annotations, as Label Studio exports it."""

    data: dict[str, Any]
    id: int | str | None = None
    meta: dict[str, Any] | None = None
    annotations: list[StudioAnnotation] | None = None


def read_tasks(path: Path, questionnaire: Questionnaire) -> ImportedAnswers:
    """The answers in a file of tasks, checked, with their items.

    Annotations that were skipped in Label Studio are left out. So are answers to questions that the answers before them
    rule out, because Label Studio cannot hide every such question.
    """
    items, skipped = dict[str, Item](), 0
    answers, hidden, task_numbers = list[dict[str, Any]](), list[dict[str, Any]](), list[int]()
    remedy = "export the tasks from Label Studio as JSON again"
    tasks = read_json(path, list[StudioTask], remedy=remedy, foreign=True, most_bytes=MOST_TABLE_BYTES)
    for number, task in enumerate(tasks, 1):
        try:
            item = _import_item(task, questionnaire)
            if item.id in items:
                raise AcidtestError(f"item {item.id!r} stands in an earlier task")
            items[item.id] = item
            imported = [_import_annotation(annotation, questionnaire) for annotation in task.annotations or []]
        except (LookupError, ValueError) as error:
            raise FileError(path, f"task {number} is not as Label Studio writes it: {error!r}; {remedy}") from error
        except AcidtestError as error:
            raise FileError(path, f"task {number}: {error}") from error
        for given, cells in filter(None, imported):
            answers.append({"item": item.id, "annotator": cells["annotator"], **given})
            hidden.append(cells)
            task_numbers.append(number)
        skipped += imported.count(None)
    if not items:
        raise FileError(path, "holds no tasks")
    frame, dropped = _drop_unasked(answers, items, questionnaire)
    try:
        rows = [
            parse_row(answers[at]["item"], answers[at]["annotator"], checked, hidden[at], at=at)
            for at, checked in enumerate(check_rows(frame, questionnaire))
        ]
    except RowError as error:
        raise FileError(path, f"task {task_numbers[error.row]}: {error.problem}") from error
    notes = {"skipped": skipped, "answers to questions that are not asked": dropped}
    return ImportedAnswers(sorted(rows, key=lambda row: row.at or 0.0), list(items.values()), notes)


def _drop_unasked(
    answers: Sequence[Mapping[str, Any]], items: Mapping[str, Item], questionnaire: Questionnaire
) -> tuple[pl.DataFrame, int]:
    """A table of the answers without those to questions that are not asked, and how many were dropped."""
    schema = {"item": pl.String(), "annotator": pl.String(), **questionnaire.dtypes}
    frame, dropped = pl.DataFrame(answers, schema=schema), 0
    if questionnaire.asks_by_gold:
        golds = pl.Series([items[name].gold_name for name in frame["item"]], dtype=pl.String)
        frame = frame.with_columns(golds.alias(GOLD), golds.alias(GOLD_COLUMN))
    for question in questionnaire.questions:
        kept = frame.with_columns(pl.when(questionnaire.holds(question.when)).then(question.id).alias(question.id))
        dropped += kept[question.id].null_count() - frame[question.id].null_count()
        frame = kept
    return frame, dropped


def _export_task(number: int, item: Item, rows: list[AnswerRow], questionnaire: Questionnaire) -> dict[str, Any]:
    hidden = {name: value for name, value in item.__dict__.items() if name not in ("fields", "id")}
    return {
        "id": number,
        "data": {**{name: value for name, value in item.known.items() if name not in item.fields}, **item.fields},
        "meta": {HIDDEN: {"item": item.id, **hidden}},
        "annotations": [_export_annotation(row, questionnaire) for row in rows],
    }


def _export_annotation(row: AnswerRow, questionnaire: Questionnaire) -> dict[str, Any]:
    hidden = {name: value for name, value in row.__dict__.items() if name not in ("answers", "item")}
    target, values = questionnaire.shows[0], list[tuple[str, str, dict[str, Any]]]()
    for name, answer in row.answers.items():
        kind, key = ("choices", "choices") if questionnaire.by_id[name].answers else ("textarea", "text")
        values.append((name, kind, {key: as_list(answer)}))
    values.append((HIDDEN, "textarea", {"text": [json.dumps(hidden)]}))
    annotation = {
        "result": [
            {"id": f"{row.key}-{place}", "from_name": name, "to_name": target, "type": kind, "value": value}
            for place, (name, kind, value) in enumerate(values)
        ],
        "was_cancelled": row.status != COUNTS,
        "ground_truth": False,
    }
    if row.at is not None:
        annotation["created_at"] = datetime.fromtimestamp(row.at, UTC).isoformat()
    return annotation | ({"lead_time": row.seconds} if row.seconds is not None else {})


def _import_item(task: StudioTask, questionnaire: Questionnaire) -> Item:
    """The item of a task, with the data that our exports put in ``meta``."""
    data = task.data
    hidden = check_shape((task.meta or {}).get(HIDDEN, {}), "meta", dict[str, Any], key=HIDDEN)
    name = str(hidden.get("item") or data.get("item") or data.get("id") or task.id or "").strip()
    if not name:
        raise AcidtestError("has no id")
    fields = {column: str(data[column]) for column in questionnaire.shows}
    gold = hidden.get("gold") or data.get("gold")
    values = {"known": data, **hidden, "id": name, "fields": fields, "gold": None if gold is None else str(gold)}
    item = check_shape(values, "meta", Item, key=HIDDEN)
    if item.expected:
        validate_expected(name, item.expected, questionnaire)
    return item if item.is_check else replace(item, role=ITEM)


def _import_annotation(
    annotation: StudioAnnotation, questionnaire: Questionnaire
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The answers of an annotation and its other data; None if it is empty or was skipped in Label Studio."""
    answers, hidden = dict[str, Any](), dict[str, Any]()
    for result in annotation.result:
        name, value = result.from_name, result.value
        if name == HIDDEN:
            (text,) = check_shape(value.get("text"), HIDDEN, tuple[str], key="text")
            hidden = parse_json(text.encode(), HIDDEN, dict[str, Any])
        elif name not in questionnaire.by_id:
            raise UnknownNameError("question", name, questionnaire.by_id)
        else:
            answers[name] = _import_answer(questionnaire.by_id[name], value)
    # Our exports mark answers that do not count as cancelled, too; those are not skipped here.
    skipped = annotation.was_cancelled and hidden.get("status", COUNTS) == COUNTS
    if skipped or not (any(answers.values()) or hidden):
        return None
    if not hidden:
        # This was annotated in Label Studio itself.
        author = annotation.completed_by
        email = author.get("email") if isinstance(author, dict) else author
        at = datetime.fromisoformat(annotation.created_at).timestamp() if annotation.created_at else None
        hidden = {"annotator": f"label-studio {email}", "seconds": annotation.lead_time, "at": at}
    return answers, hidden | {"annotator": str(hidden["annotator"])}


def _import_answer(question: Question, value: dict[str, Any]) -> str | list[str] | None:
    """The answer in a result: the ticked options, or the text, joined if it came in several pieces."""
    texts = value.get("choices" if question.answers else "text")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise AcidtestError(f"question {question.id!r}: {texts!r} is not a list of texts")
    if question.takes_several:
        return texts or None
    if question.answers and len(texts) > 1:
        raise AcidtestError(f"question {question.id!r}: has {len(texts)} answers, but one is expected")
    return "\n".join(texts) or None


def _add_question(view: ET.Element, question: Question, questionnaire: Questionnaire) -> None:
    visibility = _visibility(question.when, questionnaire)
    block = ET.SubElement(view, "View", visibility or {})
    ET.SubElement(block, "Header", value=question.text, size="4")
    attributes = {"name": question.id, "toName": questionnaire.shows[0]}
    if question.required and (question.when is None or visibility):
        attributes["required"] = "true"
    if not question.answers:
        ET.SubElement(block, "TextArea", attributes)
        return
    attributes["choice"] = "multiple" if question.takes_several else "single"
    choices = ET.SubElement(block, "Choices", attributes)
    for option in question.options:
        hint = {"hint": option.help} if option.help else {}
        ET.SubElement(choices, "Choice", {"alias": option.id, "value": option.text, **hint})


def _visibility(when: Any, questionnaire: Questionnaire) -> dict[str, str] | None:
    """Attributes that show a question only if another has certain answers; None for any other condition."""
    if not isinstance(when, dict) or len(when) != 1:
        return None
    name, value = next(iter(when.items()))
    values = as_list(value)
    if name in (*CONNECTIVES, GOLD) or not all(isinstance(answer, str) for answer in values):
        return None
    texts = {option.id: option.text for option in questionnaire.by_id[name].options}
    # The documentation does not say whether the text or the alias is compared: both are named.
    choices = list(dict.fromkeys(text for answer in values for text in (texts[answer], answer)))
    if any("," in text for text in choices):
        return None
    return {"visibleWhen": "choice-selected", "whenTagName": name, "whenChoiceValue": ",".join(choices)}
