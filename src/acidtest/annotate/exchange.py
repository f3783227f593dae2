"""Answers as tables, out of a store; ``arrivals`` brings them into one again.

A row is one answer: item, annotator, a column for each question as ``acidtest agreement --questionnaire`` reads them,
and what is known of the item. What a store has besides (which answers count, when they were given, which were taken
back) stands in columns of its own, so that a table with everything makes the same store again.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from acidtest.annotate.answers import PARTICULARS, Answers, checked_answers
from acidtest.annotate.items import CONTROL, Item
from acidtest.annotate.questionnaires import SEPARATOR, TAKEN, Questionnaire
from acidtest.annotate.ratings import LABEL_COLUMNS
from acidtest.annotate.state import Answer, Claim, State
from acidtest.annotate.work import Work
from acidtest.core.errors import AcidtestError
from acidtest.core.files import refuse_to_lose
from acidtest.io.tables import is_delimited, write_table

COUNTED = ("gold", "seconds", "role", "failed", "excluded")
"""Columns besides the questions and what is known of an item that agreement is told of."""
OWN = (*COUNTED, "at", "key", "status", "seat", "undone_at", "joined", "excluded_at", "expected")
"""All such columns."""
SOURCE = "source_"
"""What stands before a column of the data that is called like one of ours."""

_TOLD = ("id", "item", "label", "gold")
"""Columns of the data that are left out where they say no more than an item's own id and gold."""

COUNTS, UNDONE, REPLACED, LATE, EXCLUDED = "counts", "undone", "replaced", "late", "excluded"

SPACE = uuid.UUID("5b4e4a1e-6e55-4d62-9f0e-6163696474cc")
"""Where our digests of answers have their names."""


@dataclass(frozen=True)
class Row:
    """One answer on its way out of a store or into one."""

    item: str
    annotator: str
    answers: dict[str, Any]
    seconds: float | None = None
    at: float | None = None
    key: str = ""
    status: str = COUNTS
    joined: float | None = None
    failed: bool | None = None
    """Of a control: whether it was answered wrongly; None where nobody said what is right."""
    excluded: str = ""
    """Why the annotator was excluded."""
    excluded_at: float | None = None
    undone_at: float | None = None
    """When it was taken back."""
    seat: int | None = None
    """Which of the item's seats it took; of several answers in one seat the first counts."""


def rows(work: Work, *, everything: bool = False) -> list[Row]:
    """The answers of a project in the order in which they were given: those that count, or all, controls too."""
    with work.state() as state:
        told = [(claim, answer) for claim in state.claims.values() for answer in claim.answers]
        told.sort(key=lambda pair: pair[1].number)
        if not everything:
            told = [(claim, answer) for claim, answer in told if state.items[claim.item - 1].role != CONTROL]
        found = [_row(work, state, claim, answer) for claim, answer in told]
    return [row for row in found if everything or row.status == COUNTS]


def answer_frame(work: Work, found: Sequence[Row], *, everything: bool = False) -> pl.DataFrame:
    """Answers as a table."""
    with work.state() as state:
        items = {item.id: item for item in state.items}
    asked = work.questionnaire
    table = [_cells(row, items[row.item], asked, everything=everything) for row in found]
    types: dict[str, Any] = {"item": pl.String, "annotator": pl.String, "seconds": pl.Float64}
    types |= {q.id: pl.List(pl.String) if q.takes_several else pl.String for q in asked.questions}
    if not table:
        return pl.DataFrame(schema=types)
    return pl.DataFrame(table, schema_overrides=types, infer_schema_length=None, strict=False)


def store_answers(work: Work, name: str) -> Answers:
    """The answers of a project that stand, as ``attended`` takes them: it leaves controls and excluded people out."""
    stand = [row for row in rows(work, everything=True) if row.status in (COUNTS, EXCLUDED)]
    if not stand:
        raise AcidtestError(f"{name}: nobody has answered anything yet")
    questions = {question.id for question in work.questionnaire.questions}
    frame = answer_frame(work, stand, everything=True).drop(set(OWN) - {*COUNTED, *questions})
    return replace(checked_answers(frame, work.questionnaire), name=name)


def write_answers(work: Work, path: Path, *, everything: bool) -> dict[str, Any]:
    """Write the answers to a table of any format, which is not there yet."""
    refuse_to_lose(path)
    frame = answer_frame(work, rows(work, everything=everything), everything=everything)
    if is_delimited(path):
        several = [question.id for question in work.questionnaire.questions if question.takes_several]
        frame = frame.with_columns(pl.col(several).list.join(SEPARATOR))
    write_table(frame, path)
    return {"answers": frame.height, "file": str(path)}


def known_columns(item: Item, asked: Questionnaire) -> dict[str, Any]:
    """What is known of an item, named so that it is taken for nothing else; its id and gold have their own columns."""
    taken = taken_columns(asked)
    told = (item.id, str(item.gold))
    said = {name: value for name, value in item.known.items() if name not in _TOLD or str(value) not in told}
    return {f"{SOURCE}{name}" if name in taken else name: value for name, value in said.items()}


def taken_columns(asked: Questionnaire) -> set[str]:
    """What columns of tables of answers are called that say something else than what is known of an item."""
    return {*TAKEN, *OWN, *PARTICULARS, *LABEL_COLUMNS, *(question.id for question in asked.questions)}


def _row(work: Work, state: State, claim: Claim, answer: Answer) -> Row:
    person, passed = state.people[claim.annotator], work.passed(state, answer)
    return Row(
        state.items[claim.item - 1].id,
        person.name,
        answer.answers,
        answer.seconds,
        answer.at,
        answer.key,
        _status(work, state, claim, answer),
        person.joined,
        None if passed is None else not passed,
        work.exclusion(state, person),
        person.excluded_at,
        answer.undone_at,
        claim.seat,
    )


def _status(work: Work, state: State, claim: Claim, answer: Answer) -> str:
    if answer.undone:
        return UNDONE
    if answer is not claim.answers[-1]:
        return REPLACED
    if work.exclusion(state, state.people[claim.annotator]):
        return EXCLUDED
    return COUNTS if state.counts(claim) else LATE


def _cells(row: Row, item: Item, asked: Questionnaire, *, everything: bool) -> dict[str, Any]:
    questions = {question.id: row.answers.get(question.id) for question in asked.questions}
    own = {"gold": item.gold, "seconds": row.seconds, "at": row.at, "key": row.key}
    if everything:
        failed = None if row.failed is None else "yes" if row.failed else "no"
        own |= {"role": item.role, "failed": failed, "excluded": row.excluded or None, "status": row.status}
        own |= {name: getattr(row, name) for name in ("seat", "undone_at", "joined", "excluded_at")}
        own |= {"expected": json.dumps(item.expected) if item.expected else None}
    return {"item": row.item, "annotator": row.annotator, **known_columns(item, asked), **own, **questions}
