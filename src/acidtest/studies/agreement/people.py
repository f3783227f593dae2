"""The people behind ratings as a section of the document: accuracy, times, attention checks, and who is excluded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from acidtest.core.document import Cell, Column, Part, Published, Row, Section, Table, describe_count
from acidtest.core.ratings import DISCARDED
from acidtest.studies.agreement import AgreementResult, AttendanceResult
from acidtest.text.heuristics import HANS

_MOST_NAMED = 6
"""More people than this are not named in a sentence."""


def people_section(result: AgreementResult) -> Section | None:
    """A row for each person: how often they are right, how long they took, attention checks failed."""
    attendance = result.attendance
    accuracies = result.accuracy.people if result.accuracy else {}
    times = attendance.by_person if attendance else {}
    checks = attendance.controls if attendance else {}
    excluded = attendance.excluded if attendance else ()
    columns = [Column("judged", "count"), Column("accuracy")] if accuracies else []
    columns += [Column("median seconds", "seconds"), Column("seconds in all", "seconds")] if times else []
    columns += [Column("checks failed", "count"), Column("of", "count")] if checks else []
    columns += [Column("status", "text")] if excluded else []
    rows = []
    for name in dict.fromkeys([*accuracies, *times, *checks, *excluded]):
        accuracy, seconds, asked = accuracies.get(name), times.get(name), checks.get(name)
        cells: dict[str, Cell] = {"judged": accuracy.n if accuracy else None, "accuracy": accuracy}
        cells |= {"median seconds": seconds.median, "seconds in all": seconds.total} if seconds else {}
        cells |= {"checks failed": asked.failed, "of": asked.asked} if asked else {}
        cells |= {"status": "excluded" if name in excluded else ""}
        rows.append(Row(name, tuple(cells.get(column.name) for column in columns)))
    if attendance and attendance.seconds and times:
        cells = {"median seconds": attendance.seconds.median, "seconds in all": attendance.seconds.total, "status": ""}
        rows.append(Row("everybody", tuple(cells.get(column.name) for column in columns), role="total"))
    parts: list[Part] = []
    if rows:
        caption = "How often each person's label is gold, %, how long a judgement took, and attention checks failed"
        notes = tuple(_describe_attendance(attendance)) if attendance else ()
        parts.append(Table("people", caption, tuple(columns), tuple(rows), "person", notes=notes))
    if attendance and (DISCARDED in attendance.paces or (result.corpus == HANS and attendance.paces)):
        parts.append(_pace_table(result, attendance))
    return Section("People", tuple(parts)) if parts else None


def _pace_table(result: AgreementResult, attendance: AttendanceResult) -> Table:
    """Mean seconds of people on a pair, those of McCoy et al. (2019, appendix E) beside them."""
    published = {name: result.published_value(f"seconds of {name} people") for name in attendance.paces}
    columns = [Column("people", "count"), Column("seconds a pair", "seconds")]
    columns += [Column("published", "seconds", role="published")] if any(published.values()) else []
    rows = tuple(
        Row(name, (pace.people, pace.seconds, published_cell(published[name]))[: len(columns)])
        for name, pace in attendance.paces.items()
    )
    return Table("pace", "Seconds that people took for a pair, the mean of their means", tuple(columns), rows, "people")


def _describe_attendance(attendance: AttendanceResult) -> Iterator[str]:
    if attendance.seconds and attendance.seconds.n > 1:
        low, high = attendance.seconds.quartiles
        timed = f"half of {attendance.seconds.n:,} judgements"
        total = _duration(attendance.seconds.total)
        yield f"seconds: {timed} between {_seconds(low)} and {_seconds(high)}; {total} in all"
    elif attendance.seconds:
        yield "seconds: 1 judgement was timed"
    failed = {name: checks for name, checks in attendance.controls.items() if checks.failed}
    people = describe_people(len(attendance.controls))
    if failed:
        named = _names([f"{name} {checks.failed} of {checks.asked}" for name, checks in failed.items()])
        yield f"attention checks: {len(failed)} of {people} failed some: {named}"
    elif attendance.controls:
        yield f"attention checks: none of {people} failed any"
    if attendance.left_out:
        excluded = (
            f"{len(attendance.excluded):,} of {describe_people(attendance.people.all)}: {_names(attendance.excluded)}"
        )
        rows = f"{describe_count(attendance.left_out, 'row')} of answers left out, those of attention checks among them"
        yield f"excluded: {excluded if attendance.excluded else 'nobody'}; {rows}"


def describe_people(count: int) -> str:
    """``1 person``, ``12 people``."""
    return "1 person" if count == 1 else f"{count:,} people"


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 100 else f"{value:,.0f} s"


def _duration(value: float) -> str:
    """Seconds in the largest unit of which there are two."""
    units = (("hours", 3600.0), ("minutes", 60.0))
    return next((f"{value / size:.1f} {unit}" for unit, size in units if value >= 2 * size), _seconds(value))


def published_cell(value: float | None) -> Published | None:
    """A paper's number as a cell; None where it gives none."""
    return None if value is None else Published(value)
