"""Which sections of a page are folded, so that a page can be read before anything is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from acidtest.core.document import Chart, Finding, Map, Note, Pairs, Part, Section, Table, Toggles, estimates

ROOM = 3000
"""The height in pixels, on a wide screen, that open sections may take together."""
SHORT = 200
"""A section that takes no more than this stays open, wherever it stands."""
LEADING = 3
"""The first sections of a document say what it is about and stay open."""
_LINE = 100
"""Characters on a line of a paragraph."""


def fold_sections(parts: tuple[Part, ...], tables: Mapping[str, Table], room: float = ROOM) -> tuple[Part, ...]:
    """The parts with those sections folded that do not fit into ``room`` beside what stands before them."""
    folded, leading = list[Part](), LEADING
    for part in parts:
        if isinstance(part, Section) and not part.folded:
            if part_height(part, tables) > max(room, SHORT):
                part = _shorten(part, tables, room) if leading > 0 else _fold(part)
            leading -= 1
        room -= part_height(part, tables)
        folded.append(part)
    return tuple(folded)


def _shorten(section: Section, tables: Mapping[str, Table], room: float) -> Section:
    """The section, still open, with sections inside it folded from the first that does not fit."""
    inner = list[Part]()
    for part in section.parts:
        if isinstance(part, Section) and part_height(part, tables) > max(room, SHORT):
            part = _fold(part)
        room -= part_height(part, tables)
        inner.append(part)
    return replace(section, parts=tuple(inner))


def _fold(section: Section) -> Section:
    """The section folded; if it has no summary, the first sentence inside is one."""
    notes = (part.text for part in section.parts if isinstance(part, Note))
    return replace(section, folded=True, summary=section.summary or next(notes, "").partition(". ")[0].rstrip("."))


def part_height(part: Part, tables: Mapping[str, Table]) -> float:
    """About how many pixels a part takes on a wide screen."""
    if isinstance(part, Section):
        return 50 if part.folded else 70 + sum(part_height(inner, tables) for inner in part.parts)
    if isinstance(part, Table):
        tall = any(estimates(cell) for row in part.rows for cell in row.cells)
        headings = len({row.heading for row in part.rows if row.heading})
        return 90 + len(part.rows) * (48 if tall else 30) + 35 * headings + 30 * len(part.notes)
    if isinstance(part, Chart):
        table = tables[part.table]
        return 330 if part.mark == "line" else 60 + len(table.rows) * (14 + 12 * min(len(table.columns), 4))
    if isinstance(part, Finding):
        return 80 + 24 * len(part.evidence) + 24 * (len(part.sentence) // _LINE)
    if isinstance(part, Note):
        return 32 + 24 * (len(part.text) // _LINE)
    if isinstance(part, Pairs):
        return 110 * len(part.pairs)
    if isinstance(part, Toggles):
        return 200 * len(part.toggles)
    return 700 if isinstance(part, Map) else 50
