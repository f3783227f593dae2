"""Contamination as a document: the verdict, accuracy in the four cells, their contrasts, and what these can show."""

from __future__ import annotations

from collections.abc import Iterator

from acidtest.core.document import Cell, Column, Document, Note, Part, PValue, Row, Section, Table
from acidtest.core.estimate import Estimate
from acidtest.studies.contamination import ContaminationResult
from acidtest.studies.contamination.cells import ContaminationCell, ContaminationContrast, ModelContamination

WORDS, TEMPLATES = ("published", "fresh"), ("published", "novel")


def document(result: ContaminationResult) -> Document:
    """A section for each model."""
    several = len(result.models) > 1
    headline = " ".join(f"{model.model}: {model.verdict}" if several else model.verdict for model in result.models)
    return Document(
        title="acidtest contamination",
        headline=headline or "No model was asked all four suites.",
        parts=tuple(Section(f"Contamination: {model.model}", tuple(_parts(model))) for model in result.models),
        models=tuple(model.model for model in result.models),
    )


def _parts(model: ModelContamination) -> Iterator[Part]:
    yield Note(model.verdict)
    yield _cell_table(model)
    yield _contrast_table(model)
    for name, question in {contrast.name: contrast.question for contrast in model.contrasts}.items():
        yield Note(f"{name}: {question}", quiet=True)
    if model.reference:
        yield Note(f"reference: {model.reference}", quiet=True)
    yield Section("What this can show", tuple(Note(line) for line in model.can), folded=True)
    yield Section("What it cannot show", tuple(Note(line) for line in model.cannot), folded=True)


def _cell_table(model: ModelContamination) -> Table:
    """Accuracy on every slice: rows are words, columns are templates."""
    cells = {(cell.words, cell.templates): cell for cell in model.cells}
    slices = dict.fromkeys(name for cell in model.cells for name in cell.slices)
    rows = tuple(
        Row(f"{words} words", tuple(_slice(cells.get((words, templates)), name) for templates in TEMPLATES), name)
        for name in slices
        for words in WORDS
    )
    columns = tuple(Column(f"{templates} templates") for templates in TEMPLATES)
    return Table(f"contamination {model.model} cells", "Accuracy, %, with 95 % intervals", columns, rows, "words")


def _slice(cell: ContaminationCell | None, name: str) -> Estimate | None:
    return cell.slices.get(name) if cell else None


def _contrast_table(model: ModelContamination) -> Table:
    has_reference = any(contrast.reference is not None for contrast in model.contrasts)
    columns = [Column("difference", "points"), Column("p adjusted", "p")]
    columns += [
        Column("reference", "points"),
        Column("excess", "points"),
        Column("p of the excess", "p"),
    ] * has_reference
    rows = tuple(
        Row(contrast.slice, tuple(_contrast_cells(contrast, has_reference)), heading=contrast.name)
        for name in dict.fromkeys(contrast.name for contrast in model.contrasts)
        for contrast in model.contrasts
        if contrast.name == name
    )
    notes: dict[str, list[str]] = {}
    for contrast in model.contrasts:
        if contrast.effect.note:
            notes.setdefault(contrast.effect.note, []).append(f"{contrast.name}, {contrast.slice}")
    return Table(
        f"contamination {model.model} contrasts",
        "Differences between the cells, in points, with 95 % intervals",
        tuple(columns),
        rows,
        "slice",
        notes=tuple(f"{'; '.join(where)}: {note}" for note, where in notes.items()),
    )


def _contrast_cells(contrast: ContaminationContrast, has_reference: bool) -> Iterator[Cell]:
    yield contrast.difference
    yield PValue(contrast.p_adjusted)
    if has_reference:
        yield contrast.reference
        yield contrast.excess
        yield PValue(contrast.excess_p_adjusted)
