"""Answers as tables, exported from a store and imported into one.

A row is one answer: item, annotator, a column for each question as ``acidtest agreement --questionnaire`` reads them,
and the columns of the item. Everything else in a store (which answers count, when they were given, which were undone)
has its own columns, so that the store can be rebuilt from a table with everything.
"""

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
from acidtest.annotate.answers import ITEM_COLUMNS, Answers, check_answers, outcomes
from acidtest.annotate.columns import (
    LABEL_COLUMNS,
    PARTICIPATION_COLUMNS,
    RowError,
    clean_text,
    errors_in,
    exclusion_reason,
)
from acidtest.annotate.conditions import join_with_or
from acidtest.annotate.items import CHECK, EVERYBODY, ITEM, Item, json_row, validate_expected
from acidtest.annotate.projects import Project, fold_name
from acidtest.annotate.questionnaires import RESERVED, SEPARATOR, Questionnaire
from acidtest.annotate.state import Claim, ProjectState, StoredAnswer
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.files import refuse_overwrite
from acidtest.core.structured import parse_json
from acidtest.io.tables import is_delimited, read_table, write_table

AGREEMENT_COLUMNS = ("gold", "seconds", "role", "failed", "excluded")
"""Exported columns that agreement uses, besides the questions and the columns of the items."""
EXPORT_COLUMNS = (*AGREEMENT_COLUMNS, "at", "key", "status", "seat", "undone_at", "joined", "excluded_at", "expected")
"""All exported columns besides the questions and the columns of the items."""

_SOURCE = "source_"
"""The prefix for columns of the data whose names are reserved for our own columns."""
_ID_AND_GOLD = ("id", "item", "label", "gold")
"""Columns of the data that are left out if they only repeat the item's id and gold label."""

COUNTS, UNDONE, REPLACED, LATE, EXCLUDED = "counts", "undone", "replaced", "late", "excluded"
_STATUSES = (COUNTS, UNDONE, REPLACED, LATE, EXCLUDED)

_NAMESPACE = uuid.UUID("5b4e4a1e-6e55-4d62-9f0e-6163696474cc")
"""The UUID namespace of the keys that are made for imported answers."""


@dataclass(frozen=True)
class AnswerRow:
    """One answer as it is exported from a store or imported into one."""

    item: str
    annotator: str
    answers: dict[str, Any]
    seconds: float | None = None
    at: float | None = None
    key: str = ""
    status: str = COUNTS
    joined: float | None = None
    failed: bool | None = None
    """Whether an attention check was answered wrongly; None if the right answer is not known."""
    excluded: str = ""
    """Why the annotator was excluded."""
    excluded_at: float | None = None
    undone_at: float | None = None
    """When the answer was undone."""
    seat: int | None = None
    """The item's seat that the answer took; of several answers in one seat the first counts."""


@dataclass(frozen=True)
class ImportedAnswers:
    """The answers in a file, their items, and how many annotations or answers were skipped, by reason."""

    rows: Sequence[AnswerRow]
    items: Sequence[Item]
    notes: Mapping[str, int] = field(default_factory=dict)


def project_answers(project: Project, *, everything: bool = False) -> list[AnswerRow]:
    """The answers of a project, oldest first: those that count, or ``everything``, including attention checks."""
    with project.state() as state:
        pairs = [(claim, answer) for claim in state.claims.values() for answer in claim.answers]
        pairs.sort(key=lambda pair: pair[1].number)
        rows = [
            _export_row(project, state, claim, answer)
            for claim, answer in pairs
            if everything or not state.item(claim).is_check
        ]
    return [row for row in rows if everything or row.status == COUNTS]


def answer_frame(project: Project, rows: Sequence[AnswerRow], *, everything: bool = False) -> pl.DataFrame:
    with project.state() as state:
        items = {item.id: item for item in state.items}
    questionnaire = project.questionnaire
    cells = [_export_cells(row, items[row.item], questionnaire, everything=everything) for row in rows]
    types: dict[str, Any] = {"item": pl.String, "annotator": pl.String, "seconds": pl.Float64, **questionnaire.dtypes}
    if not cells:
        return pl.DataFrame(schema=types)
    return pl.DataFrame(cells, schema_overrides=types, infer_schema_length=None, strict=False)


def load_answers(project: Project, name: str) -> Answers:
    """The current answers of a project, with columns that mark attention checks and excluded people."""
    rows = [row for row in project_answers(project, everything=True) if row.status in (COUNTS, EXCLUDED)]
    if not rows:
        raise AcidtestError(f"{name}: nobody has answered anything yet")
    unused = set(EXPORT_COLUMNS) - {*AGREEMENT_COLUMNS, *project.questionnaire.by_id}
    frame = answer_frame(project, rows, everything=True).drop(unused)
    return replace(check_answers(frame, project.questionnaire), name=name)


def write_answers(project: Project, path: Path, *, everything: bool) -> dict[str, Any]:
    """Write the answers to a table of any format; an existing file is refused."""
    refuse_overwrite(path)
    frame = answer_frame(project, project_answers(project, everything=everything), everything=everything)
    if is_delimited(path):
        several = [question.id for question in project.questionnaire.questions if question.takes_several]
        frame = frame.with_columns(pl.col(several).list.join(SEPARATOR))
    write_table(frame, path)
    return {"answers": frame.height, "file": str(path)}


def read_answer_rows(path: Path, questionnaire: Questionnaire) -> ImportedAnswers:
    """The answers in a table, checked, with their items."""
    table = read_table(path)
    frame = table.written_frame
    if not frame.height:
        raise FileError(path, "has no rows: there are no answers in it")
    item = next((name for name in ITEM_COLUMNS if name in frame.columns), None)
    if item is None or "annotator" not in frame.columns:
        raise FileError(path, "has no columns item and annotator; answers have a row for each person and item")
    frame = frame.with_columns(clean_text(frame[item]).alias(item), clean_text(frame["annotator"]))
    # A question may have the name of one of our columns.
    columns = [name for name in EXPORT_COLUMNS if name in frame.columns and name not in questionnaire.by_id]
    cells = frame.select(columns).to_dicts() if columns else [{}] * frame.height
    with errors_in(table):
        judged = zip(frame[item], frame["annotator"], check_rows(frame, questionnaire), cells, strict=True)
        rows = [parse_row(*row, at=at) for at, row in enumerate(judged)]
        return ImportedAnswers(rows, _imported_items(frame, item, questionnaire))


def check_rows(frame: pl.DataFrame, questionnaire: Questionnaire) -> list[dict[str, Any]]:
    """Check the answers of each row, and spell them as the questionnaire does.

    A person may have several rows for an item, because undone answers are kept. The first answers of all people to all
    items are checked as one table, then the second ones, and so on.
    """
    item = next(name for name in ITEM_COLUMNS if name in frame.columns)
    rounds = frame.select(pl.int_range(pl.len()).over(item, "annotator")).to_series()
    checked = dict[int, dict[str, Any]]()
    for number in sorted(rounds.unique()):
        places = (rounds == number).arg_true().to_list()
        try:
            answers = check_answers(frame[places], questionnaire).frame
            outcomes(questionnaire, answers)
        except RowError as error:
            raise RowError(places[error.row], error.problem) from error
        for place, row in zip(places, answers.select(*questionnaire.by_id).to_dicts(), strict=True):
            checked[place] = {name: value for name, value in row.items() if value not in (None, [])}
    return [checked[place] for place in range(frame.height)]


def parse_row(item: str, annotator: str, answers: dict[str, Any], cells: Mapping[str, Any], *, at: int) -> AnswerRow:
    """An answer with the values parsed from its other cells; errors name row ``at``."""
    status = str(cells.get("status") or COUNTS)
    if status not in _STATUSES:
        raise RowError(at, f"status {status!r} is not {join_with_or(_STATUSES)}")
    numbers = dict[str, Any]()
    for name in ("seconds", "at", "joined", "excluded_at", "undone_at", "seat"):
        cell = cells.get(name)
        try:
            number = None if cell in (None, "") else float(str(cell))
        except ValueError:
            number = math.nan
        if number is not None and not 0 <= number < math.inf:
            raise RowError(at, f"{name} {cell!r} is not a number of 0 or more; write one, or leave it empty")
        numbers[name] = number
    numbers["seat"] = None if numbers["seat"] is None else int(numbers["seat"])
    excluded = exclusion_reason(str(cells.get("excluded") or "").strip())
    return AnswerRow(
        item, annotator, answers, **numbers, key=str(cells.get("key") or ""), status=status, excluded=excluded
    )


def import_answers(
    connection: sa.Connection, state: ProjectState, rows: Sequence[AnswerRow], *, now: float
) -> dict[str, int]:
    """Add answers to a project and count them; known ones are skipped, and those without a time get ``now``."""
    items = {item.id: number for number, item in enumerate(state.items, 1)}
    seats = dict[tuple[int, int | None], int]()
    """The seat in the store by item and seat in the file, so that answers that shared a seat still do."""

    def insert(table: sa.Table, **values: Any) -> int:
        return state.insert(connection, table, **values)

    def add(row: AnswerRow) -> bool:
        """Add the answer if it is new, and return whether it was."""
        item = items.get(row.item)
        if item is None:
            raise AcidtestError(f"item {row.item!r} is not in the project; its items come from the data")
        person = state.people_by_name.get(fold_name(row.annotator))
        claim = next((claim for claim in person.claims if claim.item == item), None) if person else None
        if claim:
            seats.setdefault((item, row.seat), claim.seat)
        key, at = _import_key(state, row, claim), now if row.at is None else row.at
        if key in state.answers_by_key:
            return False
        if person is None:
            joined = at if row.joined is None else row.joined
            names = {"name": row.annotator, "folded": fold_name(row.annotator)}
            person = state.people[insert(store.annotators, **names, at=joined)]
        if claim is None:
            seat = seats.get((item, row.seat)) if row.seat is not None else None
            seat = seats[item, row.seat] = state.unused_seat(item) if seat is None else seat
            claim = state.add_claim(connection, person, item, seat=seat, at=at)
        # An answer that was edited in the file gets the time of the import.
        at = at if key == row.key or not row.key else now
        answer = state.add_answer(connection, claim, row.answers, seconds=row.seconds, key=key, at=at)
        if row.status == UNDONE:
            insert(store.undos, answer=answer, at=at if row.undone_at is None else row.undone_at)
        if row.excluded and not person.excluded:
            since = at if row.excluded_at is None else row.excluded_at
            insert(store.exclusions, annotator=person.number, reason=row.excluded, at=since)
        return True

    added = sum(add(row) for row in rows)
    return {"answers": added, "known already": len(rows) - added}


def widen_seats(items: Iterable[Item], rows: Iterable[AnswerRow]) -> list[Item]:
    """The items, with enough seats for the people who answered them; checks have seats for everybody."""
    people = Counter(item for item, _ in {(row.item, fold_name(row.annotator)) for row in rows})
    return [replace(item, seats=EVERYBODY if item.is_check else max(item.seats, people[item.id])) for item in items]


def _export_row(project: Project, state: ProjectState, claim: Claim, answer: StoredAnswer) -> AnswerRow:
    person, passed = state.people[claim.annotator], project.passed(state, answer)
    excluded, status = project.exclusion_reason(state, person), COUNTS
    if answer.undone_at is not None:
        status = UNDONE
    elif answer is not claim.answers[-1]:
        status = REPLACED
    elif excluded:
        status = EXCLUDED
    elif not state.counts(claim):
        status = LATE
    return AnswerRow(
        state.item(claim).id,
        person.name,
        answer.answers,
        answer.seconds,
        answer.at,
        answer.key,
        status,
        person.joined,
        None if passed is None else not passed,
        excluded,
        person.excluded_at,
        answer.undone_at,
        claim.seat,
    )


def _export_cells(row: AnswerRow, item: Item, questionnaire: Questionnaire, *, everything: bool) -> dict[str, Any]:
    cells = {"gold": item.gold, "seconds": row.seconds, "at": row.at, "key": row.key}
    if everything:
        failed = None if row.failed is None else "yes" if row.failed else "no"
        cells |= {"role": item.role, "failed": failed, "excluded": row.excluded or None, "status": row.status}
        cells |= {name: getattr(row, name) for name in ("seat", "undone_at", "joined", "excluded_at")}
        cells["expected"] = json.dumps(item.expected) if item.expected else None
    reserved, repeated = _reserved_columns(questionnaire), (item.id, str(item.gold))
    known = {
        f"{_SOURCE}{name}" if name in reserved else name: value
        for name, value in item.known.items()
        if name not in _ID_AND_GOLD or str(value) not in repeated
    }
    questions = {name: row.answers.get(name) for name in questionnaire.by_id}
    return {"item": row.item, "annotator": row.annotator, **known, **cells, **questions}


def _reserved_columns(questionnaire: Questionnaire) -> set[str]:
    """Names of columns in tables of answers that do not describe an item."""
    names = (*RESERVED, *EXPORT_COLUMNS, *PARTICIPATION_COLUMNS, *LABEL_COLUMNS)
    return {*names, *questionnaire.by_id}


def _import_key(state: ProjectState, row: AnswerRow, claim: Claim | None) -> str:
    """The key to store an answer under; one that is already in the store if the answer is not new.

    An answer with a known key that was edited in the file gets a new key, and is stored as a further answer.
    """
    earlier = claim.answers if claim else []
    given = _sort_ticks(row.answers)
    if row.key:
        if row.key not in state.answers_by_key:
            return row.key
        same = next((answer for answer in earlier if answer.key == row.key), None)
        if same and (row.status in (UNDONE, REPLACED) or _sort_ticks(same.answers) == given):
            return row.key
    else:
        for answer in earlier:
            if _sort_ticks(answer.answers) == given and row.at in (None, answer.at):
                return answer.key
    return uuid.uuid5(_NAMESPACE, json.dumps([row.key, row.item, row.annotator, row.answers, row.at])).hex


def _sort_ticks(answers: Mapping[str, Any]) -> dict[str, Any]:
    return {name: sorted(value) if isinstance(value, list) else value for name, value in answers.items()}


def _imported_items(frame: pl.DataFrame, item: str, questionnaire: Questionnaire) -> list[Item]:
    """The items of a table of answers, for a project that has no other table of them."""
    used = {item, "annotator", *EXPORT_COLUMNS, *questionnaire.by_id}
    reserved = _reserved_columns(questionnaire)
    items = list[Item]()
    for row in map(json_row, frame.unique(item, keep="first", maintain_order=True).to_dicts()):
        known = {
            name.removeprefix(_SOURCE) if name.removeprefix(_SOURCE) in reserved else name: value
            for name, value in row.items()
            if name not in used
        }
        texts = {name: known.get(name, row.get(name)) for name in questionnaire.shows}
        fields = {name: "" if value is None else str(value) for name, value in texts.items()}
        role = CHECK if row.get("role") == CHECK else ITEM
        expected = _parse_expected(row.get("expected"), row[item], questionnaire) if role == CHECK else None
        gold = None if row.get("gold") is None else str(row["gold"])
        items.append(Item(row[item], fields, {**fields, **known}, role, gold=gold, expected=expected))
    return items


def _parse_expected(cell: Any, item: str, questionnaire: Questionnaire) -> dict[str, Any] | None:
    if cell in (None, ""):
        return None
    try:
        expected = parse_json(str(cell).encode(), f"control {item!r}", dict[str, Any])
    except FileError as error:
        raise AcidtestError(f"control {item!r}: expected {cell!r} is not a JSON object") from error
    validate_expected(item, expected, questionnaire)
    return expected
