"""Documents for a terminal: everything fits the width that is given, and no name is ever cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from acidtest.core.document import Document, Finding, Note, Part, Row, Section, Table
from acidtest.core.numbers import CellText as CellText
from acidtest.core.numbers import cell_text, fold_name

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

MARKS = {"severe": ("✗", "bold red"), "warning": ("!", "yellow"), "info": ("·", "cyan"), "good": ("✓", "green")}
GAP = 2
"""Spaces between columns."""
_NARROWEST_HEADING = 9
"""Characters to which headings of columns are folded where room is scarce."""
_WIDEST_WORD = 14
"""Words of headings up to this length are not broken."""
_NARROWEST_TEXT = 20
"""Characters to which columns of text are narrowed where room is scarce."""
_WIDEST_NAMES = 0.45
"""Share of the width that row names may take before they are wrapped."""


@dataclass(frozen=True)
class _Layout:
    """The layout of a table: widths of row names and columns, and whether intervals are below their values."""

    names: int
    widths: tuple[int, ...]
    stacked: bool


def print_document(document: Document, console: Console, *, full: bool = True) -> None:
    """Print a document; folded sections only with ``full``."""
    from rich.text import Text

    for part in render(document, console.width, full=full):
        console.print(part, soft_wrap=False)
    for signature in dict.fromkeys(document.signatures.values()):
        # Never broken over lines: it is there to be copied.
        console.print(Text(signature, style="dim"), soft_wrap=True)


def render(document: Document, width: int, *, full: bool = True) -> Iterator[RenderableType]:
    """The parts of a document as rich shows them in a width."""
    from rich.text import Text

    yield Text(document.headline or document.title, style="bold")
    yield Text("")
    yield from _parts(document.parts, width, full=full)


def _parts(parts: Sequence[Part], width: int, *, full: bool) -> Iterator[RenderableType]:
    from rich.text import Text

    for part in parts:
        if isinstance(part, Section):
            inner = [] if part.folded and not full else list(_parts(part.parts, width, full=full))
            if inner:
                yield Text(part.title, style="bold")
                yield from inner
        elif isinstance(part, Table):
            yield from _table(part, width)
        elif isinstance(part, Finding):
            yield _finding(part)
        elif isinstance(part, Note):
            yield Text(part.text, style="dim" if part.quiet else "", overflow="fold")
            if not part.quiet:
                yield Text("")
        # Charts, maps and rows to look through are for pages: on a terminal their tables say the same.


def _finding(finding: Finding) -> RenderableType:
    from rich.table import Table as Grid
    from rich.text import Text

    mark, style = MARKS[finding.severity]
    grid = Grid.grid(padding=(0, 1))
    grid.add_column(width=2)
    grid.add_column(overflow="fold")
    where = f"{finding.suite}: " if finding.suite else ""
    grid.add_row(Text(f" {mark}", style=style), Text(f"{where}{finding.sentence}"))
    return grid


def _table(table: Table, width: int) -> Iterator[RenderableType]:
    """A table in as many blocks of columns as the width requires, with row names in each."""
    from rich.text import Text

    texts = [
        [cell_text(cell, column.unit) for cell, column in zip(row.cells, table.columns, strict=True)]
        for row in table.rows
    ]
    if table.caption:
        yield Text(table.caption, overflow="fold")
    for chosen, layout in _blocks(table, texts, width):
        yield _grid(table, texts, chosen, layout)
    for note in (*table.notes, *([f"Published: {'; '.join(table.sources)}."] if table.sources else [])):
        yield Text(note, style="dim", overflow="fold")
    yield Text("")


def _blocks(table: Table, texts: Sequence[Sequence[CellText]], width: int) -> Iterator[tuple[list[int], _Layout]]:
    """The columns of each block and their layout: intervals beside values, below them, or several blocks."""
    names = [*(row.name for row in table.rows), *(row.heading for row in table.rows), table.corner]
    longest = min(max(map(len, names)), max(int(width * _WIDEST_NAMES), 12))
    everything = list(range(len(table.columns)))
    for stacked, heading in ((False, longest), (False, _NARROWEST_HEADING), (True, _NARROWEST_HEADING)):
        widths = [_column_width(table, texts, number, stacked=stacked, heading=heading) for number in everything]
        widths = _narrow_texts(table, widths, width - longest - GAP * len(widths))
        if longest + sum(widths) + GAP * len(widths) <= width:
            yield everything, _Layout(longest, tuple(widths), stacked)
            return
    block: list[int] = []
    for number in everything:
        if block and longest + sum(widths[n] + GAP for n in (*block, number)) > width:
            yield block, _Layout(longest, tuple(widths[n] for n in block), stacked=True)
            block = []
        block.append(number)
    yield block, _Layout(longest, tuple(widths[n] for n in block), stacked=True)


def _narrow_texts(table: Table, widths: Sequence[int], room: int) -> list[int]:
    """The widths with columns of text narrowed, so that their cells are wrapped, where all columns need more room."""
    texts = sorted((n for n, column in enumerate(table.columns) if column.unit == "text"), key=lambda n: widths[n])
    room -= sum(width for number, width in enumerate(widths) if number not in texts)
    narrowed = list(widths)
    for place, number in enumerate(texts):
        narrowed[number] = min(widths[number], max(room // (len(texts) - place), _NARROWEST_TEXT))
        room -= narrowed[number]
    return narrowed


def _column_width(
    table: Table, texts: Sequence[Sequence[CellText]], number: int, *, stacked: bool, heading: int
) -> int:
    """As wide as the widest cell, and as the heading folded to at most so many characters a line."""
    cells = [text for row in texts for text in _lines(row[number], stacked=stacked)]
    words = [len(word) for word in _heading(table, number).split() if len(word) <= _WIDEST_WORD]
    lines = fold_name(_heading(table, number), max([heading, *words, *map(len, cells)]))
    return max([1, *map(len, cells), *map(len, lines)])


def _heading(table: Table, number: int) -> str:
    column = table.columns[number]
    return f"{column.group} {column.name}".strip()


def _lines(text: CellText, *, stacked: bool) -> list[str]:
    return [text.value, text.detail] if stacked and text.detail else [text.line]


def _grid(table: Table, texts: Sequence[Sequence[CellText]], chosen: Sequence[int], layout: _Layout) -> RenderableType:
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim", show_edge=False)
    grid.add_column(Text(table.corner, overflow="fold"), width=layout.names, overflow="fold")
    for number, size in zip(chosen, layout.widths, strict=True):
        title = Text("\n".join(fold_name(_heading(table, number), size)))
        justify: Literal["left", "right"] = "left" if table.columns[number].unit == "text" else "right"
        grid.add_column(title, width=size, justify=justify, overflow="fold")
    rows = zip(table.rows, texts, strict=True)
    for heading, members in groupby(rows, key=lambda pair: pair[0].heading):
        if heading:
            grid.add_row(Text(heading, style="dim"))
        for row, cells in members:
            shown = (Text("\n".join(_lines(cells[number], stacked=layout.stacked))) for number in chosen)
            grid.add_row(Text("\n".join(fold_name(row.name, layout.names))), *shown, style=_style(row))
    return grid


def _style(row: Row) -> str | None:
    return "dim" if row.role in ("published", "people", "total") else None
