"""Contamination as a document: the verdict, accuracy in the four cells, their contrasts, and what these can show."""

from __future__ import annotations

from collections.abc import Iterator

from acidtest.core.document import Cell, Column, Document, Note, Part, PValue, Row, Section, Table
from acidtest.studies.contamination import ContaminationResult, ModelContamination


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
    cells = {(cell.words, cell.templates): cell.slices for cell in model.cells}
    words, templates = (dict.fromkeys(names) for names in zip(*cells, strict=True))
    rows = tuple(
        Row(f"{word_list} words", tuple(cells[word_list, column][name] for column in templates), name)
        for name in model.cells[0].slices
        for word_list in words
    )
    columns = tuple(Column(f"{column} templates") for column in templates)
    return Table(f"contamination {model.model} cells", "Accuracy, %, with 95 % intervals", columns, rows, "words")


def _contrast_table(model: ModelContamination) -> Table:
    columns = [Column("difference", "points"), Column("p adjusted", "p")]
    if model.reference:
        columns += [Column("reference", "points"), Column("excess", "points"), Column("p of the excess", "p")]
    names = [contrast.name for contrast in model.contrasts]
    rows, notes = [], dict[str, list[str]]()
    for contrast in sorted(model.contrasts, key=lambda contrast: names.index(contrast.name)):
        cells: list[Cell] = [contrast.difference, PValue(contrast.p_adjusted)]
        if model.reference:
            cells += [contrast.reference, contrast.excess, PValue(contrast.excess_p_adjusted)]
        rows.append(Row(contrast.slice, tuple(cells), heading=contrast.name))
    for contrast in model.contrasts:
        if contrast.effect.note:
            notes.setdefault(contrast.effect.note, []).append(f"{contrast.name}, {contrast.slice}")
    return Table(
        f"contamination {model.model} contrasts",
        "Differences between the cells, in points, with 95 % intervals",
        tuple(columns),
        tuple(rows),
        "slice",
        notes=tuple(f"{'; '.join(where)}: {note}" for note, where in notes.items()),
    )
