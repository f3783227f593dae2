"""Tables with the paper's systems beside the models: published numbers joined to rows by suite and slice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from acidtest.core.document import Cell, Column, Published, Row, Table
from acidtest.core.errors import list_some
from acidtest.io.published import MAIN, PEOPLE
from acidtest.studies.stress import ORIGINAL, StressResult, StressScore


@dataclass(frozen=True)
class PaperLine:
    """A row of one of the paper's tables: the models' cells, and which published numbers stand beside them."""

    name: str
    cells: Mapping[str, Cell]
    suite: str
    by: Mapping[str, str]
    heading: str = ""
    note: str = ""


def paper_tables(result: StressResult, table_id: str, caption: str, lines: Sequence[PaperLine]) -> Iterator[Table]:
    """A table of the lines, models first, then people and the paper's systems; none where no model has a value."""
    if not any(cell for line in lines if line.suite != ORIGINAL for cell in line.cells.values()):
        return
    models = dict.fromkeys(model for line in lines for model in line.cells)
    scores = [_scores_by_system(result.published.get(line.suite, ()), line.by) for line in lines]
    on_tests = [by_system for line, by_system in zip(lines, scores, strict=True) if line.suite != ORIGINAL]
    systems = dict.fromkeys(key for by_system in on_tests for key in by_system if key[0] == MAIN)
    people = dict.fromkeys(key for by_system in on_tests for key in by_system if key[0] == PEOPLE)
    columns = [Column(model, model=model if model in result.models else "") for model in models]
    columns += [Column(_person(system), role="people") for _, system in people]
    columns += [Column(system, role="published") for _, system in systems]
    rows = tuple(
        Row(
            line.name,
            (
                *(line.cells.get(model) for model in models),
                *(_published_cell(by_system.get(key)) for key in (*people, *systems)),
            ),
            line.heading,
            "control" if line.suite == ORIGINAL else "",
        )
        for line, by_system in zip(lines, scores, strict=True)
    )
    shown = {*people, *systems}
    known = [[score for key, score in by_system.items() if key in shown] for by_system in scores]
    notes = {
        line.name: tuple(dict.fromkeys(filter(None, (line.note, *_differences(members)))))
        for line, members in zip(lines, known, strict=True)
    }
    sources = tuple(dict.fromkeys(score.source for members in known for score in members))
    yield Table(table_id, caption, tuple(columns), rows, notes=tuple(_row_notes(notes)), sources=sources)


def _scores_by_system(scores: Iterable[StressScore], by: Mapping[str, str]) -> dict[tuple[str, str], StressScore]:
    """The published numbers on a slice by condition and system; a system with two goes by its source too."""
    by_system: dict[tuple[str, str], StressScore] = {}
    for score in scores:
        if dict(score.by) == dict(by):
            key = (score.condition, score.system)
            by_system[key if key not in by_system else (score.condition, f"{score.system} ({score.source})")] = score
    return by_system


def _published_cell(score: StressScore | None) -> Published | None:
    if score is None:
        return None
    if score.printed is None:
        return Published(score.value)
    return Published(score.printed, score.value, score.note)


def _person(system: str) -> str:
    return system if system.lower() in ("people", "humans") else f"people: {system}"


def _differences(scores: Iterable[StressScore]) -> Iterator[str]:
    """How published numbers differ from those beside them, and which were corrected."""
    for score in scores:
        yield from score.differs
        if score.printed is not None:
            yield f"{score.system}: {score.note}"


def _row_notes(notes: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Each note once, after the names of the rows it is about."""
    for note in dict.fromkeys(note for members in notes.values() for note in members):
        rows = [name for name, members in notes.items() if note in members]
        others = [name for name in notes if name not in rows]
        if 2 * len(others) < len(notes) > 2:
            yield f"{f'all but {list_some(others)}' if others else 'all rows'}: {note}"
        else:
            yield f"{list_some(rows)}: {note}"
