"""Projects as Label Studio keeps them: tasks with annotations in JSON, and the labelling config that shows them.

Label Studio gives annotations without a known author to whoever imports them, and keeps results as they are. So each
annotation carries a hidden text that says whose it is and what a store knows of it besides; it comes back with the
tasks that Label Studio exports.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import polars as pl

from acidtest.annotate.answers import RowError
from acidtest.annotate.arrivals import Arrivals, checked_rows, made_row
from acidtest.annotate.conditions import GOLD, GOLD_COLUMN, WORDS, written_conditions
from acidtest.annotate.exchange import COUNTS, Row, rows
from acidtest.annotate.items import CONTROL, ITEM, Item, check_expected
from acidtest.annotate.questionnaires import Question, Questionnaire
from acidtest.annotate.work import Work
from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.files import refuse_to_lose, write_json, write_text
from acidtest.core.structured import MOST_TABLE_BYTES, check_shape, parse_json, read_json

HIDDEN = "acidtest"
"""The control that holds whose an annotation is."""

CONFIG = ".config.xml"


def write_tasks(work: Work, path: Path, *, everything: bool) -> dict[str, Any]:
    """Write tasks with their annotations, and beside them the labelling config; neither may be there yet."""
    if path.suffix.lower() != ".json":
        raise FileError(path, "is to hold tasks for Label Studio, whose name ends in .json")
    config = path.with_name(path.name.removesuffix(".json") + CONFIG)
    for file in (path, config):
        refuse_to_lose(file)
    found = rows(work, everything=everything)
    with work.state() as state:
        items = [item for item in state.items if everything or item.role != CONTROL]
    by_item = dict[str, list[Row]]()
    for row in found:
        by_item.setdefault(row.item, []).append(row)
    tasks = [_task(number, item, by_item.get(item.id, []), work.questionnaire) for number, item in enumerate(items, 1)]
    write_json(path, tasks)
    write_text(config, labelling_config(work.questionnaire, work.written))
    return {"tasks": len(tasks), "answers": len(found), "file": str(path), "config": str(config)}


def labelling_config(asked: Questionnaire, written: dict[str, Any]) -> str:
    """The questionnaire as Label Studio's tags.

    A question that is asked where one other is answered so is hidden elsewhere; what its tags cannot say (not, any,
    all) is left to the annotator, and the question is not required there.
    """
    view = ET.Element("View")
    ET.SubElement(view, "Header", value=asked.title)
    for column in asked.shows:
        ET.SubElement(view, "Header", value=column, size="5")
        ET.SubElement(view, "Text", name=column, value=f"${column}")
    conditions = written_conditions(written)
    for question in asked.questions:
        _add_question(view, question, asked, conditions[question.id])
    hidden = ET.SubElement(view, "View", style="display:none")
    ET.SubElement(hidden, "TextArea", name=HIDDEN, toName=asked.shows[0])
    ET.indent(view)
    return ET.tostring(view, encoding="unicode") + "\n"


def is_tasks(path: Path) -> bool:
    """Whether a file holds tasks of Label Studio."""
    if path.suffix.lower() != ".json":
        return False
    found = read_json(path, object, foreign=True, most_bytes=MOST_TABLE_BYTES)
    return isinstance(found, list) and all(isinstance(each, dict) and "data" in each for each in found)


@dataclass(frozen=True)
class StudioResult:
    """The answer to one question in an annotation."""

    from_name: str
    value: dict[str, Any]


@dataclass(frozen=True)
class StudioAnnotation:
    """What one person said of a task."""

    result: list[StudioResult]
    was_cancelled: bool | None = None
    completed_by: int | str | dict[str, Any] | None = None
    created_at: str | None = None
    lead_time: float | None = None


@dataclass(frozen=True)
class HiddenItem:
    """What a store knows of an item, as an export of ours hides it in a task."""

    item: str = ""
    known: dict[str, Any] | None = None
    role: str = ""
    seats: int = 1
    category: str = ""
    gold: str | None = None
    expected: dict[str, Any] | None = None


@dataclass(frozen=True)
class StudioTask:
    """A task with its annotations, as Label Studio exports it."""

    data: dict[str, Any]
    id: int | str | None = None
    meta: dict[str, Any] | None = None
    annotations: list[StudioAnnotation] | None = None


@dataclass(frozen=True)
class _Annotation:
    """What one annotation says, not checked yet."""

    task: int
    item: str
    annotator: str
    answers: dict[str, Any]
    told: dict[str, Any]


def read_tasks(path: Path, asked: Questionnaire) -> Arrivals:
    """The answers in a file of tasks, checked, with their items.

    Annotations that were skipped there are left out. So are answers to questions that the answers before them rule out:
    Label Studio cannot hide every such question.
    """
    found, items, skipped = list[_Annotation](), dict[str, Item](), 0
    remedy = "export the tasks from Label Studio as JSON again"
    tasks = read_json(path, list[StudioTask], remedy=remedy, foreign=True, most_bytes=MOST_TABLE_BYTES)
    for number, task in enumerate(tasks, 1):
        try:
            item = _item(task, asked)
            if item.id in items:
                raise AcidtestError(f"item {item.id!r} stands in a task before it")
            items[item.id] = item
            given = [_said(number, item, each, asked) for each in task.annotations or []]
        except (LookupError, ValueError) as error:
            raise FileError(path, f"task {number} is not as Label Studio writes it: {error!r}; {remedy}") from error
        except AcidtestError as error:
            raise FileError(path, f"task {number}: {error}") from error
        found += [each for each in given if each]
        skipped += given.count(None)
    if not items:
        raise FileError(path, "holds no tasks")
    frame, dropped = _asked(found, items, asked)
    try:
        answers = checked_rows(frame, asked)
        made = [made_row(each.item, each.annotator, answers[at], each.told, at=at) for at, each in enumerate(found)]
    except RowError as error:
        raise FileError(path, f"task {found[error.row].task}: {error.problem}") from error
    notes = {"skipped": skipped, "answers to questions that are not asked": dropped}
    return Arrivals(sorted(made, key=lambda row: row.at or 0.0), list(items.values()), notes)


def _asked(found: Sequence[_Annotation], items: Mapping[str, Item], asked: Questionnaire) -> tuple[pl.DataFrame, int]:
    """Annotations as a table of answers without those to questions that are not asked, and how many these were."""
    types = {q.id: pl.List(pl.String) if q.takes_several else pl.String for q in asked.questions}
    schema = {"item": pl.String, "annotator": pl.String, **types}
    table = [{"item": each.item, "annotator": each.annotator, **each.answers} for each in found]
    frame, dropped = pl.DataFrame(table, schema=schema), 0
    if asked.asks_by_gold:
        golds = pl.Series([items[each.item].gold_name for each in found], dtype=pl.String)
        frame = frame.with_columns(golds.alias(GOLD), golds.alias(GOLD_COLUMN))
    for question in asked.questions:
        kept = frame.with_columns(pl.when(question.when.holds).then(question.id).alias(question.id))
        dropped += kept[question.id].null_count() - frame[question.id].null_count()
        frame = kept
    return frame, dropped


def _task(number: int, item: Item, answers: list[Row], asked: Questionnaire) -> dict[str, Any]:
    known = {name: value for name, value in item.__dict__.items() if name not in ("fields", "id")}
    return {
        "id": number,
        "data": {**{name: value for name, value in item.known.items() if name not in item.fields}, **item.fields},
        "meta": {HIDDEN: {"item": item.id, **known}},
        "annotations": [_annotation(row, asked) for row in answers],
    }


def _annotation(row: Row, asked: Questionnaire) -> dict[str, Any]:
    shown = asked.shows[0]
    told = {name: value for name, value in row.__dict__.items() if name not in ("answers", "item")}
    results = [_result(asked.question(name), answer, shown) for name, answer in row.answers.items()]
    hidden = {"from_name": HIDDEN, "to_name": shown, "type": "textarea", "value": {"text": [json.dumps(told)]}}
    made = {
        "result": [{"id": f"{row.key}-{place}", **each} for place, each in enumerate([*results, hidden])],
        "was_cancelled": row.status != COUNTS,
        "ground_truth": False,
    }
    if row.at is not None:
        made["created_at"] = datetime.fromtimestamp(row.at, UTC).isoformat()
    return made | ({"lead_time": row.seconds} if row.seconds is not None else {})


def _result(question: Question, answer: Any, shown: str) -> dict[str, Any]:
    listed = answer if isinstance(answer, list) else [answer]
    value = {"choices": listed} if question.answers else {"text": listed}
    kind = "choices" if question.answers else "textarea"
    return {"from_name": question.id, "to_name": shown, "type": kind, "value": value}


def _item(task: StudioTask, asked: Questionnaire) -> Item:
    data = task.data
    hidden = check_shape((task.meta or {}).get(HIDDEN, {}), "meta", HiddenItem, key=HIDDEN)
    name = str(hidden.item or data.get("item") or data.get("id") or task.id or "").strip()
    gold = hidden.gold or data.get("gold")
    if not name:
        raise AcidtestError("has no id")
    if hidden.expected:
        check_expected(name, hidden.expected, asked)
    return Item(
        name,
        {column: str(data[column]) for column in asked.shows},
        dict(data if hidden.known is None else hidden.known),
        CONTROL if hidden.role == CONTROL else ITEM,
        hidden.seats,
        hidden.category,
        None if gold is None else str(gold),
        hidden.expected,
    )


def _said(task: int, item: Item, annotation: StudioAnnotation, asked: Questionnaire) -> _Annotation | None:
    """What an annotation says; None where it was skipped in Label Studio."""
    answers, told = dict[str, Any](), dict[str, Any]()
    questions = {question.id: question for question in asked.questions}
    for result in annotation.result:
        name, value = result.from_name, result.value
        if name == HIDDEN:
            (text,) = check_shape(value.get("text"), HIDDEN, tuple[str], key="text")
            told = parse_json(text.encode(), HIDDEN, dict[str, Any])
        elif name not in questions:
            raise UnknownNameError("question", name, questions)
        else:
            answers[name] = _given(questions[name], value)
    # Answers of ours that do not count are marked as skipped, too.
    skipped = annotation.was_cancelled and told.get("status", COUNTS) == COUNTS
    if skipped or not (any(answers.values()) or told):
        return None
    if not told:
        # Somebody annotated this in Label Studio itself.
        author = annotation.completed_by
        named = author.get("email") if isinstance(author, dict) else author
        at = datetime.fromisoformat(annotation.created_at).timestamp() if annotation.created_at else None
        told = {"annotator": f"label-studio {named}", "seconds": annotation.lead_time, "at": at}
    return _Annotation(task, item.id, str(told["annotator"]), answers, told)


def _given(question: Question, value: dict[str, Any]) -> str | list[str] | None:
    """The answer in a result: what was ticked, or what was written, all of it where it was in several pieces."""
    listed = value.get("choices" if question.answers else "text")
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise AcidtestError(f"question {question.id!r}: {listed!r} is no list of texts")
    if question.takes_several:
        return listed or None
    if question.answers and len(listed) > 1:
        raise AcidtestError(f"question {question.id!r}: has {len(listed)} answers, but one is asked for")
    return "\n".join(listed) or None


def _add_question(view: ET.Element, question: Question, asked: Questionnaire, when: Any) -> None:
    visible = _visibility(when, asked)
    own = ET.SubElement(view, "View", visible or {})
    ET.SubElement(own, "Header", value=question.text, size="4")
    named = {"name": question.id, "toName": asked.shows[0]}
    if question.required and (when is None or visible):
        named["required"] = "true"
    if not question.answers:
        ET.SubElement(own, "TextArea", named)
        return
    choices = ET.SubElement(own, "Choices", {**named, "choice": "multiple" if question.takes_several else "single"})
    for option in question.options:
        told = {"hint": option.help} if option.help else {}
        ET.SubElement(choices, "Choice", {"alias": option.id, "value": option.text, **told})


def _visibility(when: Any, asked: Questionnaire) -> dict[str, str] | None:
    """The condition that one question was answered so, in the words of the tags; None where it is another."""
    if not isinstance(when, dict) or len(when) != 1:
        return None
    name, value = next(iter(when.items()))
    values = value if isinstance(value, list) else [value]
    if name in (*WORDS, GOLD) or not all(isinstance(each, str) for each in values):
        return None
    texts = {option.id: option.text for option in asked.question(name).options}
    # Its documentation does not say whether the text or the alias is compared: both are named.
    said = list(dict.fromkeys(word for each in values for word in (texts[each], each)))
    if any("," in word for word in said):
        return None
    return {"visibleWhen": "choice-selected", "whenTagName": name, "whenChoiceValue": ",".join(said)}
