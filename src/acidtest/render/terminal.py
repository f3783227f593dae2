"""Documents as lines of text for a terminal: everything fits the width, and no name is ever cut."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from unicodedata import combining, east_asian_width

from acidtest.core.document import Chart, Document, Finding, Note, Part, Reference, Section, Table, Unit, walk
from acidtest.core.escaping import escape_terminal
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import CellText as CellText
from acidtest.core.numbers import cell_text, fold_name
from acidtest.render.svg import cell_estimate, drawn_columns

SURE, SHADE, ZERO, LIMIT = "█", "▒", "│", "┊"
NARROWEST, WIDEST = 20, 48
"""How many characters bars have at least, else none are drawn, and at most."""


@dataclass(frozen=True)
class TextBars:
    """The line above some bars, which says what they are measured on, and a bar for each row; none is wider."""

    axis: str
    bars: tuple[str, ...]


def draw_bars(estimates: Sequence[Estimate | None], width: int, *, unit: Unit, reference: Reference | None) -> TextBars:
    """A bar for each estimate, from zero to its value, ``width`` characters at most; an unknown one has an empty bar.

    Shares have a scale to 100 %, other values one that ends at the farthest end of an interval.
    """
    ends = [end for estimate in estimates if estimate for end in _ends(estimate)]
    is_share, is_difference = unit.endswith("percent"), unit.endswith("points")
    high = 1.0 if is_share else max([*ends, reference.value if reference else 0.0, 1e-9])
    low = 0.0 if is_share else min([*ends, 0.0])
    left = round((width - 1) * -low / (high - low))
    scale = _Scale(left, width - 1 - left, low, high)
    limit = scale.place(reference.value) if reference else -1
    label = f"{100 * high:.0f}" if is_share else f"{100 * high:+.0f}" if is_difference else f"{high:.2g}"
    least = f"{100 * low:+.0f}".replace("-", "−") if is_difference and low < 0 else ""
    axis = scale.axis(label, reference.label if reference else "", limit, least=least)
    return TextBars(axis, tuple(scale.bar(estimate, limit) for estimate in estimates))


@dataclass(frozen=True)
class _Scale:
    """Characters to the left and right of the sign for zero, and the values at both ends."""

    left: int
    right: int
    low: float
    high: float

    def place(self, value: float) -> int:
        """The character that a value falls into."""
        if value < 0:
            return self.left - 1 - min(int(value / self.low * self.left), self.left - 1) if self.left else 0
        return self.left + 1 + min(int(value / self.high * self.right), self.right - 1)

    def bar(self, estimate: Estimate | None, limit: int) -> str:
        """The bar of an estimate, and a sign at ``limit`` where the bar does not reach."""
        signs = [LIMIT if place == limit else " " for place in range(self.left + 1 + self.right)]
        signs[self.left] = ZERO
        if estimate is not None and estimate.known:
            low, high = _ends(estimate)
            sure = low if low > 0 else high if high < 0 else 0.0
            for start, end, sign in ((0.0, sure, SURE), (low, high, SHADE)):
                if start != end:
                    # A bar to the left begins at the sign for zero, not at the first character to its right.
                    first, last = sorted(
                        self.left if side == 0 and min(start, end) < 0 else self.place(side) for side in (start, end)
                    )
                    signs[first : last + 1] = sign * (last + 1 - first)
            signs[self.left] = ZERO
        return "".join(signs).rstrip()

    def axis(self, label: str, limit_label: str, limit: int, *, least: str) -> str:
        """Zero, the reference with as many words of its label as there is room for, and the values at both ends."""
        signs = [" "] * (self.left + 1 + self.right)
        if len(least) < self.left:
            signs[: len(least)] = least
        signs[self.left] = "0"
        signs[len(signs) - len(label) :] = label
        words, room = limit_label.split(), len(signs) - len(label) - 1
        while words and limit + 1 + len(" ".join(words)) > room:
            words.pop()
        text = LIMIT + " ".join(words)
        if self.left < limit and limit + len(text) <= room:
            signs[limit : limit + len(text)] = text
        return "".join(signs)


def _ends(estimate: Estimate) -> tuple[float, float]:
    """The ends of the interval; the value itself where there is none."""
    if not estimate.known:
        return 0.0, 0.0
    has_interval = estimate.low == estimate.low
    return (estimate.low, estimate.high) if has_interval else (estimate.value, estimate.value)


_STYLES = {"bold": "1", "dim": "2", "severe": "1;31", "warning": "33", "info": "36", "good": "32"}
"""ANSI codes; the command line removes them when it does not write to a terminal."""
_SEVERITY_WIDTH = len("warning") + 2
"""Characters of the column that says how grave a finding is."""
_PLAIN: dict[str, str | int | None] = {
    SURE: "#",
    SHADE: "~",
    ZERO: "|",
    LIMIT: ":",
    "·": "*",
    "−": "-",
    "–": "-",
    "→": "->",
    "…": "...",
    "“": '"',
    "”": '"',
    "’": "'",
    "×": "x",
}
"""Signs of ASCII for terminals that cannot show ours."""
_GAP = 2
"""Spaces between columns."""
_NARROWEST_HEADING = 9
"""Characters to which column headings are folded when space is short."""
_WORD = re.compile(r"[^\s\-/_:.]+[\-/_:.]*")
_WIDEST_WORD = 14
"""Words of headings up to this length are not broken."""
_NARROWEST_TEXT = 20
"""Characters to which text columns are narrowed when space is short."""
_WIDEST_NAMES = 0.45
"""Share of the width that row names may take before they are wrapped."""


@dataclass(frozen=True)
class _Layout:
    """The layout of a table: widths of row names and columns, and whether intervals are below their values."""

    names: int
    widths: tuple[int, ...]
    stacked: bool

    @property
    def width(self) -> int:
        """The width of the whole table."""
        return self.names + sum(self.widths) + _GAP * len(self.widths)


def render(document: Document, width: int, *, full: bool = True) -> Iterator[str]:
    """The lines of a document with ANSI styles, wrapped to ``width``; folded sections only with ``full``."""
    yield from _paragraph(document.headline or document.title, width, "bold")
    yield ""
    yield from _parts(document.parts, width, full=full, charts={})
    for signature in dict.fromkeys(document.signatures.values()):
        # Never broken over lines: it is there to be copied.
        yield paint(signature, "dim")


def render_screen(document: Document, width: int) -> Iterator[str]:
    """The lines of a short document with what matters last, where the eye is: signatures, parts, the headline.

    Charts are drawn as bars of text beside their tables.
    """
    for name, signature in document.signatures.items():
        fits = len(name) + _GAP + len(signature) <= width
        # Never broken over lines: it is there to be copied.
        lines = [f"{name}{' ' * _GAP}{signature}"] if fits else [name, signature]
        yield from (paint(line, "dim") for line in lines)
    yield from _parts(document.parts, width, full=False, charts=_charts(document))
    if isinstance(document.parts[-1], Finding):
        yield ""
    for sentence in document.sentences or (document.headline,):
        yield from _paragraph(sentence, width, "bold")


def plain_signs(text: str, encoding: str | None) -> str:
    """The text with ASCII in place of those of our signs that a terminal of this encoding cannot show."""
    try:
        text.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return text.translate(str.maketrans(_PLAIN))
    return text


def paint(text: str, style: str = "") -> str:
    """The text on one line, in a style, escaped for a terminal."""
    shown = escape_terminal(text)
    return f"\x1b[{_STYLES[style]}m{shown}\x1b[0m" if style and shown else shown


def _charts(document: Document) -> dict[str, Chart]:
    """The charts that can be drawn as bars of text, by the table they draw."""
    charts = [part for part in walk(document.parts) if isinstance(part, Chart) and part.mark in ("bars", "dots")]
    return {chart.table: chart for chart in reversed(charts)}


def _parts(parts: Sequence[Part], width: int, *, full: bool, charts: Mapping[str, Chart]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Section):
            inner = [] if part.folded and not full else list(_parts(part.parts, width, full=full, charts=charts))
            if inner:
                yield from _paragraph(part.title, width, "bold")
                yield from inner
        elif isinstance(part, Table):
            yield from _table(part, width, charts.get(part.id))
        elif isinstance(part, Finding):
            yield from _finding(part, width)
        elif isinstance(part, Note):
            yield from _paragraph(part.text, width, "dim" if part.quiet else "")
            if not part.quiet:
                yield ""
        # Charts are drawn as bars beside their tables; maps, pairs and the example browser are for pages.


def _paragraph(text: str, width: int, style: str = "") -> Iterator[str]:
    yield from (paint(part, style) for part in _wrap(text, width) if part)


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def _finding(finding: Finding, width: int) -> Iterator[str]:
    """A word for how grave it is, then the sentence and the suites that show it."""
    where = f" [{finding.where}]" if finding.where else ""
    first, *rest = _wrap(f"{finding.sentence}{where}", width - _SEVERITY_WIDTH)
    gap = " " * (_SEVERITY_WIDTH - len(finding.severity))
    yield f"{paint(finding.severity, finding.severity)}{gap}{paint(first)}"
    yield from (f"{' ' * _SEVERITY_WIDTH}{paint(line)}" for line in rest)


def _table(table: Table, width: int, chart: Chart | None = None) -> Iterator[str]:
    """The lines of a table, in as many blocks of columns as the width requires; each block repeats the row names."""
    texts = [
        [cell_text(cell, column.unit) for cell, column in zip(row.cells, table.columns, strict=True)]
        for row in table.rows
    ]
    yield from _paragraph(table.caption, width)
    lines = _lines_with_bars(table, texts, width, chart) if chart else None
    if lines is None:
        lines = [line for block, layout in _blocks(table, texts, width) for line in _block(table, texts, block, layout)]
    yield from lines
    for note in (*table.notes, *([f"Published: {'; '.join(table.sources)}."] if table.sources else [])):
        yield from _paragraph(note, width, "dim")
    yield ""


def _lines_with_bars(table: Table, texts: Sequence[Sequence[CellText]], width: int, chart: Chart) -> list[str] | None:
    """The table with a bar in each row, if the chart draws one column and there is room.

    Where there is little room, the bars show the intervals instead of numbers.
    """
    drawn = drawn_columns(chart, table)
    if len(drawn) != 1:
        return None
    (column,) = drawn
    brief = [[CellText(text.value) if number == column else text for number, text in enumerate(row)] for row in texts]
    for shown in (texts, brief):
        chosen, layout = next(_blocks(table, shown, width, reserved=_GAP + NARROWEST))
        if len(chosen) < len(table.columns) or layout.stacked:
            continue
        room = min(width - layout.width - _GAP, WIDEST)
        estimates = [cell_estimate(row.cells[column]) for row in table.rows]
        bars = draw_bars(estimates, room, unit=table.columns[column].unit, reference=chart.reference)
        return list(_block(table, shown, chosen, layout, bars))
    return None


def _blocks(
    table: Table, texts: Sequence[Sequence[CellText]], width: int, *, reserved: int = 0
) -> Iterator[tuple[list[int], _Layout]]:
    """The columns and layout of each block: one with intervals beside values, else below them, else several blocks.

    ``reserved`` characters of the width are left free.
    """
    names = [*(row.name for row in table.rows), *(row.heading for row in table.rows), table.corner]
    longest = min(max(map(_width, names)), max(int(width * _WIDEST_NAMES), 12))
    everything = list(range(len(table.columns)))
    width -= reserved
    for stacked, heading in ((False, longest), (False, _NARROWEST_HEADING), (True, _NARROWEST_HEADING)):
        widths = [_column_width(table, texts, number, stacked=stacked, heading=heading) for number in everything]
        narrowed = _narrow_texts(table, everything, widths, width - longest)
        if longest + sum(narrowed) + _GAP * len(narrowed) <= width:
            yield everything, _Layout(longest, tuple(narrowed), stacked)
            return
    blocks: list[list[int]] = [[]]
    for number in everything:
        if blocks[-1] and longest + sum(narrowed[n] + _GAP for n in (*blocks[-1], number)) > width:
            blocks.append([])
        blocks[-1].append(number)
    for block in blocks:
        # A text that shares its block with fewer columns has more room.
        yield block, _Layout(longest, tuple(_narrow_texts(table, block, widths, width - longest)), stacked=True)


def _narrow_texts(table: Table, block: Sequence[int], widths: Sequence[int], room: int) -> list[int]:
    """The widths of a block of columns; where they exceed ``room``, text columns are narrowed and their cells wrap."""
    texts = sorted((n for n in block if table.columns[n].unit == "text"), key=lambda n: widths[n])
    room -= sum(widths[n] for n in block if n not in texts) + _GAP * len(block)
    narrowed = {n: widths[n] for n in block}
    for place, number in enumerate(texts):
        narrowed[number] = min(widths[number], max(room // (len(texts) - place), _NARROWEST_TEXT))
        room -= narrowed[number]
    return list(narrowed.values())


def _column_width(
    table: Table, texts: Sequence[Sequence[CellText]], number: int, *, stacked: bool, heading: int
) -> int:
    """The width of the widest cell, or of the heading if wider; it is folded at ``heading`` characters or more."""
    cells = [text for row in texts for text in _lines(row[number], stacked=stacked)]
    words = [len(word) for word in _WORD.findall(_heading(table, number)) if len(word) <= _WIDEST_WORD]
    lines = fold_name(_heading(table, number), max([heading, *words, *map(_width, cells)]))
    return max([1, *map(_width, cells), *map(_width, lines)])


def _heading(table: Table, number: int) -> str:
    column = table.columns[number]
    return f"{column.group} {column.name}".strip()


def _lines(text: CellText, *, stacked: bool) -> list[str]:
    return [text.value, text.detail] if stacked and text.detail else [text.line]


def _block(
    table: Table,
    texts: Sequence[Sequence[CellText]],
    chosen: Sequence[int],
    layout: _Layout,
    bars: TextBars | None = None,
) -> Iterator[str]:
    """The lines of a block: column headings, aligned at their last lines, then the rows under their row headings."""
    widths = (layout.names, *layout.widths)
    left = (True, *(table.columns[number].unit == "text" for number in chosen))
    titles = [_heading(table, number) for number in chosen]
    folded = [fold_name(title, width) for title, width in zip((table.corner, *titles), widths, strict=True)]
    depth = max(map(len, folded))
    titles_above = [""] * (depth - 1)
    for line, axis in zip(
        zip(*([""] * (depth - len(lines)) + lines for lines in folded), strict=True),
        [*titles_above, bars.axis if bars else ""],
        strict=True,
    ):
        yield paint(_beside(_join(line, widths, left), layout, axis), "dim")
    drawn = bars.bars if bars else [""] * len(table.rows)
    rows = zip(table.rows, texts, drawn, strict=True)
    for heading, members in groupby(rows, key=lambda member: member[0].heading):
        if heading:
            yield paint(heading, "dim")
        for row, cells, bar in members:
            style = "dim" if row.role in ("published", "people", "total") else ""
            shown = [_lines(cells[number], stacked=layout.stacked) for number in chosen]
            wrapped = [
                [part for line in lines for part in _wrap(line, width)] if is_text else lines
                for lines, width, is_text in zip(shown, layout.widths, left[1:], strict=True)
            ]
            lines = zip_longest(fold_name(row.name, layout.names), *wrapped, fillvalue="")
            for number, line in enumerate(lines):
                yield paint(_beside(_join(line, widths, left), layout, "" if number else bar), style)


def _beside(line: str, layout: _Layout, bar: str) -> str:
    """A line of a table, and a bar to its right."""
    return f"{line}{' ' * (layout.width + _GAP - _width(line))}{bar}" if bar else line


def _join(cells: Sequence[str], widths: Sequence[int], left: Sequence[bool]) -> str:
    """Cells side by side, aligned left in their columns where ``left``, otherwise right."""
    padded = (
        cell + " " * (width - _width(cell)) if to_left else " " * (width - _width(cell)) + cell
        for cell, width, to_left in zip(cells, widths, left, strict=True)
    )
    return (" " * _GAP).join(padded).rstrip()


def _width(text: str) -> int:
    """The number of terminal columns a text takes; wide characters, such as Chinese, take two."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1 for sign in text)
