"""Bars, curves and shaded grids as pictures for papers and slides, drawn by Vega-Lite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from acidtest.reports import plots
from acidtest.reports.charts import Bar, Bars, Chart, Curves, Picture, Shades
from acidtest.reports.numerals import share
from acidtest.reports.plots import COLOURS, FAINT, FONT, FONT_SIZE, GREY, INK, SHAPES, WIDTH, Spec

PART_COLOURS = ("#8fbce6", "#c9ced6", "#f0a988")
"""Entailment, neutral and contradiction: light enough for dark letters."""

_NAMES = 260
_BAR = 20
_STEP = 26
_HEADING = 30
_LETTERS = 0.07
"""A part smaller than this has no room for its number."""
_HEIGHT = 320
_CELL = 92


def picture(chart: Picture) -> Spec:
    """The drawing of a chart of any kind."""
    if isinstance(chart, Chart):
        return plots.specification(chart)
    if isinstance(chart, Bars):
        return _bars(chart)
    return _curves(chart) if isinstance(chart, Curves) else _shades(chart)


def _bars(chart: Bars) -> Spec:
    import altair as alt

    placed, headings, height = _placed(chart)
    parts, numbers = list[dict[str, Any]](), list[dict[str, Any]]()
    for y, bar in placed:
        left = 0.0
        for name, size in zip(chart.parts, bar.shares, strict=True):
            parts.append({"y": y, "y2": y + _BAR, "x": left, "x2": left + size, "part": name})
            if size >= _LETTERS:
                numbers.append({"y": y + _BAR / 2, "x": left + size / 2, "text": f"{share(size)} %"})
            left += size
    scale = alt.Scale(domain=[0, 1], nice=False)
    axis = _axis(chart.title, [0, 0.25, 0.5, 0.75, 1], "format(datum.value * 100, '.0f') + ' %'")
    colour = alt.Color(
        "part:N", scale=alt.Scale(domain=list(chart.parts), range=list(PART_COLOURS)), legend=_legend(chart.parts)
    )
    names = [{"y": y + _BAR / 2, "text": f"{bar.name} ({bar.n:,})"} for y, bar in placed]
    down, x = alt.Y("y:Q", scale=None, axis=None), alt.X("x:Q", scale=scale, axis=axis)
    layers = [
        _data(parts).mark_bar().encode(x=x, x2="x2:Q", y=down, y2="y2:Q", color=colour),
        _text(numbers, align="center").encode(x=x, y=down, text="text:N"),
        _text(names, limit=_NAMES - 12).encode(x=alt.value(-_NAMES), y=down, text="text:N"),
        _text(headings, fontWeight=600).encode(x=alt.value(-_NAMES), y=down, text="text:N"),
    ]
    return _finished(layers, width=WIDTH - _NAMES, height=height)


def _placed(chart: Bars) -> tuple[list[tuple[float, Bar]], list[dict[str, Any]], float]:
    """Where bars and headings stand, and how high all is."""
    placed, headings, y = list[tuple[float, Bar]](), list[dict[str, Any]](), 0.0
    for heading, rows in chart.groups:
        if heading:
            headings.append({"y": y + _HEADING / 2, "text": heading})
            y += _HEADING
        for bar in rows:
            placed.append((y, bar))
            y += _STEP
    return placed, headings, y


def _curves(chart: Curves) -> Spec:
    import altair as alt

    names = list(chart.series)
    points = [
        {"x": at, "y": one.value, "low": one.low, "high": one.high, "model": name}
        for name, curve in chart.series.items()
        for at, one in curve.points
        if one.known
    ]
    bounded = [point for point in points if point["low"] == point["low"]]
    flat = [
        {"y": curve.reference.value, "model": name}
        for name, curve in chart.series.items()
        if curve.reference and curve.reference.known
    ]
    ticks = chart.axis.ticks
    y_axis = _axis(chart.axis.title, list(ticks), "format(datum.value * 100, '.0f') + ' %'", grid=True)
    x_axis = _axis(f"{chart.title}; dashed: untouched pairs", list(chart.ticks), "format(datum.value, 'd')")
    x = alt.X("x:Q", scale=alt.Scale(domain=list(chart.ends), nice=False, padding=8), axis=x_axis)
    y_scale = alt.Scale(domain=[ticks[0], ticks[-1]], nice=False)
    colours = alt.Scale(domain=names, range=[COLOURS[i % len(COLOURS)] for i in range(len(names))])
    shapes = alt.Scale(domain=names, range=[SHAPES[i % len(SHAPES)] for i in range(len(names))])
    colour = alt.Color("model:N", scale=colours, legend=_legend(names))
    plain = alt.Color("model:N", scale=colours, legend=None)
    y = alt.Y("y:Q", scale=y_scale, axis=y_axis)
    shape = alt.Shape("model:N", scale=shapes, legend=_legend(names))
    layers = [
        _data(bounded)
        .mark_area(opacity=0.18)
        .encode(x=x, y=alt.Y("low:Q", scale=y_scale, axis=y_axis), y2="high:Q", color=plain),
        _data(flat).mark_rule(strokeDash=[5, 3], strokeWidth=1.5).encode(y=y, color=plain),
        _data(points).mark_line(strokeWidth=2).encode(x=x, y=y, color=plain),
        _data(points).mark_point(filled=True, size=36, opacity=1).encode(x=x, y=y, color=colour, shape=shape),
    ]
    return _finished(layers, width=WIDTH - 120, height=_HEIGHT)


def _shades(chart: Shades) -> Spec:
    import altair as alt

    cells = [
        {"row": row, "column": column, "model": name, "shade": chart.shade(one.value), "text": f"{share(one.value)} %"}
        for name, grid in chart.series.items()
        for (row, column), one in grid.items()
        if one.known
    ]
    x = alt.X("column:N", sort=list(chart.columns), axis=_axis("place", None, None, level=True))
    y = alt.Y("row:N", sort=list(chart.rows), axis=_axis("side", None, None))
    colour = alt.Color(
        "shade:Q", scale=alt.Scale(domain=[0, 1], range=["#ffffff", "#f0a988"], interpolate="rgb"), legend=None
    )
    base = alt.Chart(alt.Data(values=cells)).encode(x=x, y=y)
    size = {"width": _CELL * len(chart.columns), "height": _CELL / 2 * len(chart.rows)}
    layers = alt.layer(
        base.mark_rect(stroke=FAINT).encode(color=colour),
        base.mark_text(fontSize=FONT_SIZE, fill=INK).encode(text="text:N"),
    ).properties(**size)
    facet = layers.facet(facet=alt.Facet("model:N", title=None, sort=list(chart.series)), columns=2)
    return _configured(facet)


def _data(values: Iterable[Mapping[str, Any]]) -> Any:
    import altair as alt

    return alt.Chart(alt.Data(values=list(values)))


def _text(values: Iterable[Mapping[str, Any]], **mark: Any) -> Any:
    return _data(values).mark_text(
        **({"fontSize": FONT_SIZE, "fill": INK, "align": "left", "baseline": "middle"} | mark)
    )


def _axis(
    title: str, values: Sequence[float] | None, label: str | None, *, grid: bool = False, level: bool = False
) -> Any:
    """An axis in our style; ``level``: its labels are written across."""
    import altair as alt

    given: dict[str, Any] = {"values": values} if values is not None else {}
    given |= {"labelExpr": label} if label else {}
    given |= {"labelAngle": 0} if level else {}
    return alt.Axis(
        title=title,
        titleFontSize=FONT_SIZE - 1,
        titleFontWeight="normal",
        titleColor=GREY,
        labelFontSize=FONT_SIZE - 1,
        labelColor=GREY,
        grid=grid,
        gridColor=FAINT,
        ticks=False,
        domain=False,
        labelPadding=4,
        **given,
    )


def _legend(names: Sequence[str]) -> Any:
    import altair as alt

    if len(names) < 2:
        return None
    return alt.Legend(title=None, labelFontSize=FONT_SIZE - 1, labelColor=INK, direction="horizontal", labelLimit=400)


def _finished(layers: Sequence[Any], *, width: float, height: float) -> Spec:
    import altair as alt

    layered = alt.layer(*layers).resolve_scale(color="independent", shape="independent").resolve_axis(x="shared")
    return _configured(layered.properties(width=width, height=height))


def _configured(chart: Any) -> Spec:
    picture = (
        chart.properties(padding=2)
        .configure(font=FONT, aria=False, background="#ffffff")
        .configure_view(stroke=None)
        .configure_legend(orient="top")
        .configure_header(labelFontSize=FONT_SIZE, labelColor=INK)
    )
    spec: Spec = picture.to_dict(validate=False)
    return spec
