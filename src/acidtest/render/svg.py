"""Draw the values of a table as an SVG chart of one of six kinds, for pages and for files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from math import ceil, isfinite
from textwrap import wrap

from acidtest.core.document import Cell, Change, Chart, Coefficient, Column, Published, Push, Row, Table
from acidtest.core.escaping import escape_xml
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import fold_name, number_text
from acidtest.render.drawing import FONT_SIZE, GAP, HEADING, LANE, LETTER, NARROW, AxisScale, Drawing, round_ticks

_SHAPES = (
    '<circle r="4"/>',
    '<path d="M0-5L5 0 0 5-5 0Z"/>',
    '<path d="M-3.6-3.6H3.6V3.6H-3.6Z"/>',
    '<path d="M0-4.6L4.8 3.8H-4.8Z"/>',
    '<path d="M0 4.6L4.8-3.8H-4.8Z"/>',
    '<path d="M-1.6-4.6H1.6V-1.6H4.6V1.6H1.6V4.6H-1.6V1.6H-4.6V-1.6H-1.6Z"/>',
)
_HOLLOW = ('<path d="M0-5V5"/>', '<path d="M-3.2-3.2L3.2 3.2M-3.2 3.2L3.2-3.2"/>', '<path d="M0-4L4 3H-4Z"/>')


def draw(chart: Chart, table: Table, *, width: int = 900, standalone: bool = False) -> str:
    """A chart of a table as SVG, ``width`` pixels wide."""
    drawing = Drawing(width)
    draw_on(drawing, chart, table)
    return drawing.svg(chart.title or table.caption, standalone=standalone)


def draw_on(drawing: Drawing, chart: Chart, table: Table) -> None:
    """Draw a chart of a table below what the drawing already contains."""
    _DRAWERS[chart.mark](drawing, chart, table)


def drawn_columns(chart: Chart, table: Table) -> list[int]:
    """The indices of the columns that a chart draws: those it names, or all that hold models' results."""
    if chart.columns:
        return [number for number, column in enumerate(table.columns) if column.name in chart.columns]
    units = ("percent", "points", "whole percent", "whole points", "decimal", "number")
    return [
        number
        for number, column in enumerate(table.columns)
        if column.unit in units and not column.role and any(cell_estimate(row.cells[number]) for row in table.rows)
    ]


def cell_estimate(cell: Cell) -> Estimate | None:
    """The estimate that a chart draws for a cell; for a change, the value after it."""
    if isinstance(cell, Estimate):
        return cell
    if isinstance(cell, Coefficient | Push):
        return cell.estimate
    return cell.after if isinstance(cell, Change) else None


def _scale(chart: Chart, table: Table, columns: Sequence[int], left: float, right: float) -> AxisScale:
    """The scale of the values: always 0 to 100 % for shares, otherwise from the lowest to the highest value."""
    unit = table.columns[columns[0]].unit if columns else "percent"
    if unit == "percent":
        return AxisScale((0.0, 0.25, 0.5, 0.75, 1.0), left, right, unit)
    values = [chart.reference.value if chart.reference else 0.0]
    for row in table.rows:
        for number, column in enumerate(table.columns):
            cell = row.cells[number]
            if number in columns and (estimate := cell_estimate(cell)):
                values += [value for value in (estimate.value, estimate.low, estimate.high) if isfinite(value)]
            elif column.role == "published" and isinstance(cell, Published):
                values.append(cell.value)
    return AxisScale(round_ticks(min(values), max(values)), left, right, unit)


def _draw_legend(drawing: Drawing, entries: Sequence[tuple[str, str, str]]) -> None:
    """Draw marks with their names, on as many lines as necessary; an entry is (shape, CSS class, name)."""
    x, y = 0.0, drawing.height + 10
    for shape, css, name in entries:
        size = 18 + len(name) * LETTER + 16
        if x and x + size > drawing.width:
            x, y = 0.0, y + 20
        drawing.mark(shape, x + 7, y, css)
        drawing.text(x + 18, y, name)
        x += size
    drawing.height = y + 16 if entries else drawing.height


def _legend_entries(table: Table, columns: Sequence[int], papers: Sequence[int] = ()) -> list[tuple[str, str, str]]:
    """The marks of the columns and, if the chart draws them, of published ones; empty for a single mark."""
    models = [(_SHAPES[i % 6], f"s{i % 6}", name) for i, name in enumerate(_legend_names(table, columns))]
    published = [(_HOLLOW[i % 3], "published", name) for i, name in enumerate(_legend_names(table, papers))]
    return [*(models if len(models) > 1 or published else []), *published]


def _legend_names(table: Table, columns: Sequence[int]) -> list[str]:
    """The names of columns; those that share one are told apart by the model or the heading they are under."""
    names = Counter(table.columns[number].name for number in columns)
    drawn = (table.columns[number] for number in columns)
    return [(names[one.name] > 1 and (one.model or one.group)) or one.name for one in drawn]


def _paper_columns(table: Table) -> list[int]:
    """The columns of published numbers; those of the paper's stars or words cannot be drawn."""
    return [
        number
        for number, column in enumerate(table.columns)
        if column.role in ("published", "people")
        and any(isinstance(row.cells[number], Published) for row in table.rows)
    ]


def _draw_row_names(
    drawing: Drawing, table: Table, lanes: int, lane: int = LANE
) -> Iterator[tuple[Row, float, float, float]]:
    """Draw names and headings row by row; yield each row with the left end, top and bottom of its plot."""
    narrow = drawing.width < NARROW
    names_width = 0.0 if narrow else _names_width(table, drawing.width)
    for heading, rows in groupby(table.rows, key=lambda row: row.heading):
        if heading:
            drawing.text(0, drawing.height + HEADING / 2 + 4, heading, css="heading")
            drawing.height += HEADING
        for row in rows:
            if narrow:
                drawing.text(0, drawing.height + 10, row.name)
                drawing.height += 18
            top = drawing.height + GAP / 2
            bottom = top + max(lanes * lane, 0 if narrow else FONT_SIZE + 4)
            if not narrow:
                _draw_name(drawing, row.name, names_width, (top + bottom) / 2)
            yield row, names_width, top, bottom
            drawing.height = bottom + GAP / 2
            drawing.line(0, drawing.height, drawing.width, drawing.height, "grid")


def _names_width(table: Table, width: float) -> float:
    longest = max((len(row.name) for row in table.rows), default=0) * LETTER + 16
    return round(min(longest, width * 0.38))


def _plot_left(drawing: Drawing, table: Table) -> float:
    """The left end of the plot: right of the names, or at the edge if names are above their rows."""
    return 6.0 if drawing.width < NARROW else _names_width(table, drawing.width)


def _draw_name(drawing: Drawing, name: str, width: float, middle: float) -> None:
    lines = fold_name(name, max(8, int((width - 12) / LETTER)))
    for number, line in enumerate(lines):
        drawing.text(0, middle + (number - (len(lines) - 1) / 2) * (FONT_SIZE + 2), line)


def _draw_axis(drawing: Drawing, scale: AxisScale, title: str) -> None:
    # Labels need about six letters each; where ticks are closer, only every second or third has one, zero among them.
    apart = abs(scale.right - scale.left) / max(len(scale.ticks) - 1, 1)
    every = max(1, ceil(6 * LETTER / max(apart, 1)))
    zero = scale.ticks.index(0.0) if 0.0 in scale.ticks else 0
    for number, tick in enumerate(scale.ticks):
        if (number - zero) % every:
            continue
        anchor = "end" if number == len(scale.ticks) - 1 else "middle" if number or scale.left > 20 else "start"
        drawing.text(scale(tick), drawing.height + 12, scale.label(tick), css="quiet", anchor=anchor)
    drawing.height += 24
    middle = (scale.left + scale.right) / 2
    if len(title) * LETTER > 2 * min(middle, drawing.width - middle):
        middle = drawing.width / 2
    for line in wrap(title, max(int(drawing.width / LETTER), 16)):
        drawing.text(middle, drawing.height + 8, line, css="quiet", anchor="middle")
        drawing.height += 18


def _draw_dots(drawing: Drawing, chart: Chart, table: Table) -> None:
    """Values with intervals, a lane for each model, and one for published numbers."""
    columns, papers = drawn_columns(chart, table), _paper_columns(table)
    _draw_legend(drawing, _legend_entries(table, columns, papers))
    scale = _scale(chart, table, columns, _plot_left(drawing, table), drawing.width - 12)
    for row, _, top, bottom in _draw_row_names(drawing, table, len(columns) + bool(papers)):
        for tick in scale.ticks:
            drawing.line(scale(tick), top, scale(tick), bottom, "grid")
        if chart.reference:
            drawing.line(scale(chart.reference.value), top, scale(chart.reference.value), bottom, "zero")
        for lane, number in enumerate(columns):
            _draw_value(drawing, row, table.columns[number], row.cells[number], scale, top + (lane + 0.5) * LANE, lane)
        for lane, number in enumerate(papers):
            cell = row.cells[number]
            if isinstance(cell, Published):
                title = f"{table.columns[number].name}: {number_text(cell.value, scale.unit)}"
                value = cell.value if cell.corrected is None else cell.corrected
                drawing.mark(_HOLLOW[lane % 3], scale(value), bottom - LANE / 2, "published", title)
    title = f"{chart.axis}; dashed: {chart.reference.label}" if chart.reference else chart.axis
    _draw_axis(drawing, scale, title.removeprefix("; "))


def _draw_value(
    drawing: Drawing, row: Row, column: Column, cell: Cell, scale: AxisScale, y: float, series: int
) -> None:
    """Draw a value with its interval; for a change, also the value before it, as a hollow mark joined by a line."""
    value = cell_estimate(cell)
    if value is None:
        return
    css = f"s{series % 6}"
    if not value.known:
        drawing.text(scale.left + 4, y, "–", css="quiet")
        return
    if isinstance(cell, Change) and cell.before.known:
        drawing.line(scale(cell.before.value), y, scale(value.value), y, f"{css} zero")
        drawing.mark('<circle r="3.6" class="hollow"/>', scale(cell.before.value), y, css)
    if value.low == value.low:
        drawing.line(scale(value.low), y, scale(value.high), y, f"{css} range")
    title = f"{row.name}, {column.name}: {number_text(value.value, scale.unit)}"
    drawing.mark(_SHAPES[series % 6], scale(value.value), y, css, title)


def _draw_bars(drawing: Drawing, chart: Chart, table: Table) -> None:
    """Bars from the reference line, with intervals, and a lane for each model."""
    columns = drawn_columns(chart, table)
    swatch = '<path d="M-5-5H5V5H-5Z"/>'
    names = _legend_names(table, columns) if len(columns) > 1 else []
    _draw_legend(drawing, [(swatch, f"p{i % 5}", name) for i, name in enumerate(names)])
    scale = _scale(chart, table, columns, _plot_left(drawing, table), drawing.width - 12)
    start = scale(chart.reference.value if chart.reference else 0.0)
    for row, _, top, bottom in _draw_row_names(drawing, table, len(columns)):
        for tick in scale.ticks:
            drawing.line(scale(tick), top, scale(tick), bottom, "grid")
        for lane, number in enumerate(columns):
            value = cell_estimate(row.cells[number])
            if value is None or not value.known:
                continue
            y, end = top + lane * LANE, scale(value.value)
            size = f'x="{min(start, end):g}" y="{y + 2:g}" width="{abs(end - start):g}" height="{LANE - 4}"'
            drawing.elements.append(f'<rect {size} class="p{lane % 5}"/>')
            if value.low == value.low:
                drawing.line(scale(value.low), y + LANE / 2, scale(value.high), y + LANE / 2, "zero range")
    _draw_axis(drawing, scale, chart.axis)


_WIDE_LANE = 18
"""The height of a lane with text beside its bar."""


def _draw_effects(drawing: Drawing, chart: Chart, table: Table) -> None:
    """Bars from zero with intervals, and beside each its number, its label and whether it is used.

    Bars of what is not used are faint. The reference line crosses the rows whose cells say whether it is passed.
    """
    columns, narrow = drawn_columns(chart, table), drawing.width < NARROW
    _draw_legend(drawing, _legend_entries(table, columns))
    room = (25 if narrow else 32) * LETTER
    scale = _scale(chart, table, columns, _plot_left(drawing, table), drawing.width - room)
    zero = scale(0.0)
    for row, _, top, bottom in _draw_row_names(drawing, table, len(columns), _WIDE_LANE):
        for tick in scale.ticks:
            drawing.line(scale(tick), top, scale(tick), bottom, "grid")
        drawing.line(zero, top, zero, bottom, "axis")
        if chart.reference and any(isinstance(row.cells[number], Push) for number in columns):
            drawing.line(scale(chart.reference.value), top, scale(chart.reference.value), bottom, "zero")
        for lane, number in enumerate(columns):
            cell, y = row.cells[number], top + (lane + 0.5) * _WIDE_LANE
            value = cell_estimate(cell)
            if value is None or not value.known:
                drawing.text(scale.right + 8, y, "–", css="quiet")
                continue
            pushes = isinstance(cell, Push) and not cell.used
            end = scale(value.value)
            size = f'x="{min(zero, end):g}" y="{y - 6:g}" width="{max(abs(end - zero), 1):g}" height="12"'
            drawing.elements.append(f'<rect {size} class="s{lane % 6}{" faint" if pushes else ""}" stroke="none"/>')
            if value.low == value.low:
                drawing.line(scale(value.low), y, scale(value.high), y, "whisker")
            drawing.text(scale.right + 8, y, _effect_label(cell, value, short=narrow), css="quiet" if pushes else "")
    title = f"{chart.axis}; dashed: {chart.reference.label}" if chart.reference else chart.axis
    _draw_axis(drawing, scale, title.removeprefix("; "))


_POINTS = AxisScale((0.0, 1.0), 0, 1, "points")


def _effect_label(cell: Cell, value: Estimate, *, short: bool) -> str:
    """``+45 toward entailment, used``."""
    number = _POINTS.label(round(value.value, 2))
    if not isinstance(cell, Push):
        return number
    toward = f" {'' if short else 'toward '}{cell.toward}" if cell.toward else ""
    return f"{number}{toward}{', used' if cell.used else ''}"


def _draw_stack(drawing: Drawing, chart: Chart, table: Table) -> None:
    """A stacked bar for each row; every column is one part of it, a share or a count."""
    columns = drawn_columns(chart, table)
    unit = table.columns[columns[0]].unit if columns else "percent"
    swatch = '<path d="M-5-5H5V5H-5Z"/>'
    _draw_legend(drawing, [(swatch, f"p{i % 5}", name) for i, name in enumerate(_legend_names(table, columns))])
    totals = [sum(_part_size(row.cells[number]) for number in columns) for row in table.rows]
    ticks = (0.0, 0.25, 0.5, 0.75, 1.0) if unit == "percent" else round_ticks(0.0, max(totals, default=1.0))
    scale = AxisScale(ticks, _plot_left(drawing, table), drawing.width - 12, unit)
    for row, _, top, bottom in _draw_row_names(drawing, table, 2):
        start = 0.0
        for lane, number in enumerate(columns):
            size = _part_size(row.cells[number])
            x, end = scale(start), scale(start + size)
            place = f'x="{x:g}" y="{top:g}" width="{end - x:g}" height="{bottom - top:g}"'
            drawing.elements.append(f'<rect {place} class="p{lane % 5}"/>')
            label = f"{number_text(size, unit)}{' %' if unit == 'percent' else ''}"
            if end - x > len(label) * LETTER + 4:
                drawing.text((x + end) / 2, (top + bottom) / 2, label, anchor="middle")
            start += size
    _draw_axis(drawing, scale, chart.axis)


def _part_size(cell: Cell) -> float:
    """The size of a part of a whole; 0 where it is not known."""
    value = cell_estimate(cell)
    if value is not None:
        return value.value if value.known else 0.0
    return float(cell) if isinstance(cell, int | float) else 0.0


def _draw_line(drawing: Drawing, chart: Chart, table: Table) -> None:
    """A curve for each model over row names, which are numbers; a row of role control is a horizontal line."""
    columns = drawn_columns(chart, table)
    _draw_legend(drawing, _legend_entries(table, columns))
    curve_rows = [row for row in table.rows if row.role != "control"]
    control_rows = [row for row in table.rows if row.role == "control"]
    x_values = [float(row.name) for row in curve_rows]
    top, bottom = drawing.height + 8, drawing.height + 300
    y_scale = _scale(chart, table, columns, bottom, top)
    ticks = round_ticks(min(x_values), max(x_values)) if x_values else (0.0, 1.0)
    if len(set(x_values)) > 1:
        whole = all(x_value.is_integer() for x_value in x_values)
        apart = 0.15 * (max(x_values) - min(x_values))
        near = [tick for tick in ticks if min(tick - min(x_values), max(x_values) - tick) < apart]
        inner_ticks = (tick for tick in ticks[1:-1] if (tick.is_integer() or not whole) and tick not in near)
        ticks = (min(x_values), *inner_ticks, max(x_values))
    x_scale = AxisScale(ticks, 56, drawing.width - 12, "number")
    for tick in y_scale.ticks:
        drawing.line(x_scale.left, y_scale(tick), x_scale.right, y_scale(tick), "grid")
        drawing.text(x_scale.left - 8, y_scale(tick), y_scale.label(tick), css="quiet", anchor="end")
    for series, number in enumerate(columns):
        css = f"s{series % 6}"
        points = [
            (x_scale(x_value), value)
            for x_value, row in zip(x_values, curve_rows, strict=True)
            if (value := cell_estimate(row.cells[number])) and value.known
        ]
        bounded = [(x, value) for x, value in points if value.low == value.low]
        if bounded:
            outline = [f"{x:g} {y_scale(value.high):g}" for x, value in bounded] + [
                f"{x:g} {y_scale(value.low):g}" for x, value in reversed(bounded)
            ]
            drawing.elements.append(f'<path d="M{"L".join(outline)}Z" class="band {css}"/>')
        path = "L".join(f"{x:g} {y_scale(value.value):g}" for x, value in points)
        drawing.elements.append(f'<path d="M{path}" class="curve {css}"/>' if points else "")
        for x, value in points:
            drawing.mark(_SHAPES[series % 6], x, y_scale(value.value), css, number_text(value.value, y_scale.unit))
        for row in control_rows:
            value = cell_estimate(row.cells[number])
            if value is not None and value.known:
                drawing.line(x_scale.left, y_scale(value.value), x_scale.right, y_scale(value.value), f"zero {css}")
    drawing.height = bottom
    _draw_axis(drawing, x_scale, chart.axis or table.corner)


def _draw_shades(drawing: Drawing, chart: Chart, table: Table) -> None:
    """The table with its cells shaded: the lower the value the darker, or the further from a reference."""
    columns = drawn_columns(chart, table)
    values = [
        value.value
        for row in table.rows
        for number in columns
        if (value := cell_estimate(row.cells[number])) and value.known
    ]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    names_width = _names_width(table, drawing.width)
    cell_width = (drawing.width - names_width) / max(len(columns), 1)
    titles = [table.columns[number].name for number in columns]
    rotated = max(map(len, titles), default=0) * LETTER > cell_width
    drawing.height = max(map(len, titles)) * LETTER + 12 if rotated else 22
    for lane, title in enumerate(titles):
        x = names_width + (lane + 0.5) * cell_width
        if rotated:
            opening_tag = f'<text transform="translate({x + 4:g} {drawing.height - 6:g}) rotate(-90)" class="quiet">'
            drawing.elements.append(f"{opening_tag}{escape_xml(title)}</text>")
        else:
            drawing.text(x, 10, title, css="quiet", anchor="middle")
    for row in table.rows:
        drawing.text(0, drawing.height + 16, row.name)
        for lane, number in enumerate(columns):
            value = cell_estimate(row.cells[number])
            if value is None or not value.known:
                continue
            # Full contrast needs a range of at least five points, so that small differences do not look large.
            shade, css = (high - value.value) / max(high - low, 0.05) * 0.6, "s1"
            if chart.reference:
                distance = value.value - chart.reference.value
                shade, css = abs(distance) / max(high - low, 0.05) * 0.9, "s0" if distance > 0 else "s1"
            place = f'x="{names_width + lane * cell_width:g}" y="{drawing.height:g}" width="{cell_width:g}" height="32"'
            drawing.elements.append(
                f'<rect {place} class="{css}" stroke="none" fill-opacity="{shade:.2f}" stroke-opacity="0"/>'
            )
            unit = table.columns[number].unit
            text = f"{value.value:.2f}".replace("-", "−") if unit == "number" else number_text(value.value, unit)
            if len(text) * LETTER <= cell_width:
                drawing.text(names_width + (lane + 0.5) * cell_width, drawing.height + 16, text, anchor="middle")
        drawing.height += 34


_DRAWERS: dict[str, Callable[[Drawing, Chart, Table], None]] = {
    "dots": _draw_dots,
    "bars": _draw_bars,
    "stack": _draw_stack,
    "line": _draw_line,
    "shades": _draw_shades,
    "effects": _draw_effects,
}
