"""Answers as tables: out of a store, and into one again.

A row is one answer: item, annotator, a column for each question as ``acidtest agreement --questionnaire`` reads them,
and what is known of the item. What a store has besides (which answers count, when they were given, which were taken
back) stands in columns of its own, so that a table with everything makes the same store again.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import sqlalchemy as sa

from acidtest.annotate import store
from acidtest.annotate.answers import Answers, RowError, checked_answers
from acidtest.annotate.items import CONTROL, ITEM, Item, passed
from acidtest.annotate.questionnaires import TAKEN, Questionnaire
from acidtest.annotate.state import Answer, Claim, State
from acidtest.annotate.work import Work, folded_name
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.tables import read_table, unprefixed, write_table

OWN = ("gold", "seconds", "at", "role", "failed", "excluded", "status", "key", "joined")
"""Columns besides the questions and what is known of an item."""

COUNTS, UNDONE, REPLACED, LATE, EXCLUDED = "counts", "undone", "replaced", "late", "excluded"

_SPACE = uuid.UUID("5b4e4a1e-6e55-4d62-9f0e-6163696474cc")


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
    """Of a control: whether it was answered wrongly."""
    excluded: str = ""
    """Why the annotator was excluded."""


def rows(work: Work, *, everything: bool = False) -> list[Row]:
    """The answers of a project in the order in which they were given: those that count, or all, controls too."""
    with work.state() as state:
        found = [
            (answer, _row(work, state, claim, answer)) for claim in state.claims.values() for answer in claim.answers
        ]
    return [
        row
        for _, row in sorted(found, key=lambda pair: pair[0].number)
        if everything or (row.status == COUNTS and row.failed is None)
    ]


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
    frame = answer_frame(work, stand, everything=True).drop("at", "status", "key", "joined")
    digest = uuid.uuid5(_SPACE, frame.write_json()).hex
    return replace(checked_answers(frame, work.questionnaire), name=name, fingerprint=digest)


def write_answers(work: Work, path: Path, *, everything: bool) -> dict[str, Any]:
    """Write the answers to a table of any format."""
    frame = answer_frame(work, rows(work, everything=everything), everything=everything)
    write_table(frame, path)
    return {"answers": frame.height, "file": str(path)}


def read_rows(path: Path, asked: Questionnaire) -> tuple[list[Row], list[Item]]:
    """The answers in a table, checked, with the items they are about."""
    table = read_table(path)
    frame = unprefixed(table.frame)
    if not frame.height:
        raise FileError(path, "has no rows: there are no answers in it")
    item = next((name for name in ("item", "id") if name in frame.columns), None)
    if item is None or "annotator" not in frame.columns:
        raise FileError(path, "has no columns item and annotator; answers have a row for each person and item")
    # Answers that were taken back stand beside those that replaced them: each layer is a table of its own.
    layer = frame.select(pl.int_range(pl.len()).over(item, "annotator")).to_series()
    found = dict[int, Row]()
    for number in sorted(layer.unique()):
        places = (layer == number).arg_true().to_list()
        part = frame[places]
        try:
            checked = checked_answers(part, asked).frame
        except RowError as error:
            raise FileError(path, error.problem, table.line(places[error.row])) from error
        except AcidtestError as error:
            raise FileError(path, str(error)) from error
        for place, row, answers in zip(places, part.to_dicts(), checked.to_dicts(), strict=True):
            found[place] = _read(row, answers, asked)
    return [found[place] for place in range(frame.height)], _known_items(frame, item, asked)


def import_rows(work: Work, found: Sequence[Row]) -> dict[str, int]:
    """Add answers to a project; those whose key is there already are left alone."""
    with work.changing() as (connection, state):
        numbers = {item.id: number for number, item in enumerate(state.items, 1)}
        added = 0
        for row in found:
            if row.item not in numbers:
                raise AcidtestError(f"item {row.item!r} is not in the project; its items come from the data")
            added += _add(connection, state, row, numbers[row.item])
    return {"answers": added, "known already": len(found) - added}


def _add(connection: sa.Connection, state: State, row: Row, item: int) -> int:
    key = row.key or uuid.uuid5(_SPACE, json.dumps([row.item, row.annotator, row.answers, row.at])).hex
    if key in state.keys:
        return 0
    at = row.at or 0.0
    folded = folded_name(row.annotator)
    if folded not in state.named:
        state.insert(connection, store.annotators, name=row.annotator, folded=folded, at=row.joined or at)
    person = state.named[folded]
    claim = next((claim for claim in person.claims if claim.item == item), None)
    if claim is None:
        seat, turn = state.spare_seat(item)
        number = state.insert(connection, store.claims, item=item, seat=seat, turn=turn, annotator=person.number, at=at)
        claim = state.claims[number]
    told = {"claim": claim.number, "version": len(claim.answers) + 1, "answers": json.dumps(row.answers)}
    answer = state.insert(connection, store.answers, **told, seconds=row.seconds, key=key, at=at)
    if row.status == UNDONE:
        state.insert(connection, store.undos, answer=answer, at=at)
    if row.excluded and not person.excluded:
        state.insert(connection, store.exclusions, annotator=person.number, reason=row.excluded, at=at)
    return 1


def _row(work: Work, state: State, claim: Claim, answer: Answer) -> Row:
    person, item = state.people[claim.annotator], state.items[claim.item - 1]
    failed = None
    if item.role == CONTROL:
        failed = bool(item.expected) and not passed(item.expected or {}, answer.answers, work.questionnaire)
    return Row(
        item.id,
        person.name,
        answer.answers,
        answer.seconds,
        answer.at,
        answer.key,
        _status(state, claim, answer),
        person.joined,
        failed,
        person.excluded,
    )


def _status(state: State, claim: Claim, answer: Answer) -> str:
    if answer.undone:
        return UNDONE
    if answer is not claim.answers[-1]:
        return REPLACED
    if state.people[claim.annotator].excluded:
        return EXCLUDED
    return COUNTS if state.counts(claim) else LATE


def _cells(row: Row, item: Item, asked: Questionnaire, *, everything: bool) -> dict[str, Any]:
    questions = {question.id: row.answers.get(question.id) for question in asked.questions}
    own = {"gold": item.gold, "seconds": row.seconds, "at": row.at}
    if everything:
        failed = None if row.failed is None else "yes" if row.failed else "no"
        own |= {"role": item.role, "failed": failed, "excluded": row.excluded or None}
        own |= {"status": row.status, "key": row.key, "joined": row.joined}
    return {"item": row.item, "annotator": row.annotator, **known_columns(item, asked), **own, **questions}


def known_columns(item: Item, asked: Questionnaire) -> dict[str, Any]:
    """What is known of an item, named so that it is taken for nothing else; its id and gold have their own columns."""
    taken = {*TAKEN, *OWN, *(question.id for question in asked.questions)}
    told = (item.id, str(item.gold))
    said = {name: value for name, value in item.known.items() if name not in taken or str(value) not in told}
    return {f"source_{name}" if name in taken else name: value for name, value in said.items()}


def _read(row: dict[str, Any], answers: dict[str, Any], asked: Questionnaire) -> Row:
    said = {q.id: answers[q.id] for q in asked.questions if answers[q.id] not in (None, [])}
    return Row(
        answers["item"],
        answers["annotator"],
        said,
        _number(row.get("seconds")),
        _number(row.get("at")),
        str(row.get("key") or ""),
        str(row.get("status") or COUNTS),
        _number(row.get("joined")),
        excluded=str(row.get("excluded") or ""),
    )


def _number(value: Any) -> float | None:
    try:
        return None if value in (None, "") else float(value)
    except (TypeError, ValueError):
        return None


def _known_items(frame: pl.DataFrame, item: str, asked: Questionnaire) -> list[Item]:
    """The items that a table of answers is about, where there is no other table of them."""
    own = {item, "annotator", *OWN, *(question.id for question in asked.questions)}
    found = dict[str, Item]()
    for row in frame.to_dicts():
        name = str(row[item])
        known = {column: value for column, value in row.items() if column not in own}
        shown = {column: str(known.get(column) or "") for column in asked.shows}
        gold = row.get("gold")
        role = row.get("role") or ITEM
        found.setdefault(name, Item(name, shown, known, role, 1, gold=None if gold is None else str(gold)))
    return list(found.values())


def widened(found: Iterable[Item], answers: Sequence[Row]) -> list[Item]:
    """Items with a seat for everybody who answered them."""
    people = {item.id: len({row.annotator for row in answers if row.item == item.id}) for item in found}
    return [replace(item, seats=max(people[item.id], 1)) for item in found]
