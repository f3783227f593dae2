"""Answers from elsewhere: read from a table, checked, and added to a project, each once."""

from __future__ import annotations

import json
import math
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl
import sqlalchemy as sa

from acidtest.annotate import store
from acidtest.annotate.answers import ITEMS, RowError, checked_answers, text
from acidtest.annotate.attendance import exclusion
from acidtest.annotate.exchange import COUNTS, EXCLUDED, LATE, OWN, REPLACED, SOURCE, SPACE, UNDONE, Row, taken_columns
from acidtest.annotate.items import CONTROL, ITEM, Item, check_expected, plain_row
from acidtest.annotate.outcomes import outcomes
from acidtest.annotate.plans import EVERYBODY
from acidtest.annotate.questionnaires import Questionnaire
from acidtest.annotate.state import Claim, Person, State
from acidtest.annotate.work import folded_name
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.structured import parse_json
from acidtest.io.tables import read_table


@dataclass(frozen=True)
class Arrivals:
    """The answers in a file, the items they are about, and what else there is to say: how many were left out."""

    rows: Sequence[Row]
    items: Sequence[Item]
    notes: Mapping[str, int] = field(default_factory=dict)


def read_rows(path: Path, asked: Questionnaire) -> Arrivals:
    """The answers in a table."""
    table = read_table(path)
    frame = table.written_frame
    if not frame.height:
        raise FileError(path, "has no rows: there are no answers in it")
    item = next((name for name in ITEMS if name in frame.columns), None)
    if item is None or "annotator" not in frame.columns:
        raise FileError(path, "has no columns item and annotator; answers have a row for each person and item")
    named = frame.with_columns(text(frame[item]).alias(item), text(frame["annotator"]))
    # A question may be called like one of our columns.
    own = [name for name in OWN if name in frame.columns and name not in {question.id for question in asked.questions}]
    try:
        answers = checked_rows(named, asked)
        told = named.select(own).to_dicts() if own else [{}] * frame.height
        rows = [
            made_row(name, annotator, said, told[at], at=at)
            for at, (name, annotator, said) in enumerate(zip(named[item], named["annotator"], answers, strict=True))
        ]
        return Arrivals(rows, _items(named, item, asked))
    except RowError as error:
        line = table.line(error.row)
        raise FileError(path, error.problem if line else str(error), line) from error
    except AcidtestError as error:
        raise FileError(path, str(error)) from error


def checked_rows(frame: pl.DataFrame, asked: Questionnaire) -> list[dict[str, Any]]:
    """The answers of each row of a frame, as the questionnaire spells them; somebody may have answered an item twice.

    Answers that were taken back stand beside those that replaced them: each layer is a table of its own.
    """
    item = next(name for name in ITEMS if name in frame.columns)
    layer = frame.select(pl.int_range(pl.len()).over(item, "annotator")).to_series()
    found = dict[int, dict[str, Any]]()
    for number in sorted(layer.unique()):
        places = (layer == number).arg_true().to_list()
        try:
            checked = checked_answers(frame[places], asked).frame
            outcomes(asked, checked)
        except RowError as error:
            raise RowError(places[error.row], error.problem) from error
        answers = checked.select(question.id for question in asked.questions).to_dicts()
        for place, said in zip(places, answers, strict=True):
            found[place] = {name: value for name, value in said.items() if value not in (None, [])}
    return [found[place] for place in range(frame.height)]


def made_row(item: str, annotator: str, answers: dict[str, Any], told: Mapping[str, Any], *, at: int) -> Row:
    """A row of what a file tells of an answer; what is wrong is told as of row ``at``."""
    status, seat = str(told.get("status") or COUNTS), _number(told, "seat", at)
    if status not in (COUNTS, UNDONE, REPLACED, LATE, EXCLUDED):
        raise RowError(at, f"status {status!r} is none of counts, undone, replaced, late and excluded")
    return Row(
        item,
        annotator,
        answers,
        _number(told, "seconds", at),
        _number(told, "at", at),
        str(told.get("key") or ""),
        status,
        _number(told, "joined", at),
        excluded=exclusion(str(told.get("excluded") or "").strip()) or "",
        excluded_at=_number(told, "excluded_at", at),
        undone_at=_number(told, "undone_at", at),
        seat=None if seat is None else int(seat),
    )


def import_rows(connection: sa.Connection, state: State, found: Sequence[Row], *, now: float) -> dict[str, int]:
    """Add answers to a project; those that are there are left alone, and those without a time get ``now``."""
    numbers = {item.id: number for number, item in enumerate(state.items, 1)}
    seats = dict[tuple[int, int], int]()
    added = 0
    for row in found:
        if row.item not in numbers:
            raise AcidtestError(f"item {row.item!r} is not in the project; its items come from the data")
        added += _add(connection, state, row, numbers[row.item], seats=seats, now=now)
    return {"answers": added, "known already": len(found) - added}


def widened(found: Iterable[Item], answers: Iterable[Row]) -> list[Item]:
    """Items with a seat for everybody who answered them, and controls with one for whoever may come."""
    people = Counter(item for item, _ in {(row.item, folded_name(row.annotator)) for row in answers})
    return [
        replace(item, seats=EVERYBODY if item.role == CONTROL else max(item.seats, people[item.id])) for item in found
    ]


def _add(
    connection: sa.Connection, state: State, row: Row, item: int, *, seats: dict[tuple[int, int], int], now: float
) -> int:
    person = state.named.get(folded_name(row.annotator))
    claim = next((claim for claim in person.claims if claim.item == item), None) if person else None
    if claim and row.seat is not None:
        seats.setdefault((item, row.seat), claim.seat)
    key, at = _new_key(state, row, claim), now if row.at is None else row.at
    if key in state.keys:
        return 0
    if person is None:
        joined = at if row.joined is None else row.joined
        told = {"name": row.annotator, "folded": folded_name(row.annotator)}
        person = state.people[state.insert(connection, store.annotators, **told, at=joined)]
    claim = claim or _claim(connection, state, row, item, person, seats=seats, at=at)
    said = {"claim": claim.number, "version": len(claim.answers) + 1, "answers": json.dumps(row.answers)}
    # What was changed in the file was changed after it had been said.
    at = at if key == row.key or not row.key else now
    answer = state.insert(connection, store.answers, **said, seconds=row.seconds, key=key, at=at)
    if row.status == UNDONE:
        state.insert(connection, store.undos, answer=answer, at=at if row.undone_at is None else row.undone_at)
    if row.excluded and not person.excluded:
        since = at if row.excluded_at is None else row.excluded_at
        state.insert(connection, store.exclusions, annotator=person.number, reason=row.excluded, at=since)
    return 1


def _new_key(state: State, row: Row, claim: Claim | None) -> str:
    """The key under which an answer is to be kept; it is there already where nothing is new.

    A key may come again with other answers, changed in the file: they are kept as a further answer.
    """
    said = claim.answers if claim else []
    if row.key:
        if row.key not in state.keys:
            return row.key
        earlier = next((answer for answer in said if answer.key == row.key), None)
        if earlier and (row.status in (UNDONE, REPLACED) or _plain(earlier.answers) == _plain(row.answers)):
            return row.key
    else:
        for answer in said:
            if _plain(answer.answers) == _plain(row.answers) and row.at in (None, answer.at):
                return answer.key
    return uuid.uuid5(SPACE, json.dumps([row.key, row.item, row.annotator, row.answers, row.at])).hex


def _plain(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Answers with ticks in one order."""
    return {name: sorted(value) if isinstance(value, list) else value for name, value in answers.items()}


def _claim(
    connection: sa.Connection,
    state: State,
    row: Row,
    item: int,
    person: Person,
    *,
    seats: dict[tuple[int, int], int],
    at: float,
) -> Claim:
    """A claim for an answer from elsewhere; those that shared a seat there share one here."""
    seat = seats.get((item, row.seat)) if row.seat is not None else None
    if seat is None:
        seat = state.spare_seat(item)
    if row.seat is not None:
        seats[item, row.seat] = seat
    told = {"item": item, "seat": seat, "turn": state.turns(item, seat), "annotator": person.number}
    return state.claims[state.insert(connection, store.claims, **told, at=at)]


def _number(told: Mapping[str, Any], name: str, at: int) -> float | None:
    value = told.get(name)
    try:
        found = None if value in (None, "") else float(str(value))
    except ValueError:
        found = math.nan
    if found is not None and not 0 <= found < math.inf:
        raise RowError(at, f"{name} {value!r} is no number of 0 or more; write one, or leave it empty")
    return found


def _items(frame: pl.DataFrame, item: str, asked: Questionnaire) -> list[Item]:
    """The items that a table of answers is about, where there is no other table of them."""
    own, taken = {item, "annotator", *OWN, *(question.id for question in asked.questions)}, taken_columns(asked)
    found = list[Item]()
    for row in map(plain_row, frame.unique(item, keep="first", maintain_order=True).to_dicts()):
        known = {
            name.removeprefix(SOURCE) if name.removeprefix(SOURCE) in taken else name: value
            for name, value in row.items()
            if name not in own
        }
        fields = {name: _shown(known.get(name, row.get(name))) for name in asked.shows}
        gold, role = row.get("gold"), CONTROL if row.get("role") == CONTROL else ITEM
        expected = _expected(row.get("expected"), row[item], asked) if role == CONTROL else None
        named = None if gold is None else str(gold)
        found.append(Item(row[item], fields, {**fields, **known}, role, gold=named, expected=expected))
    return found


def _shown(value: Any) -> str:
    return "" if value is None else str(value)


def _expected(written: Any, item: str, asked: Questionnaire) -> dict[str, Any] | None:
    if written in (None, ""):
        return None
    try:
        found = parse_json(str(written).encode(), f"control {item!r}", dict[str, Any])
    except FileError as error:
        raise AcidtestError(f"control {item!r}: expected {written!r} is no table in JSON") from error
    check_expected(item, found, asked)
    return found
