"""Charts as pictures for papers and slides, drawn by Vega-Lite without a browser or a network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from acidtest.reports.charts import Axis, Chart, Row

FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif"
INK, FAINT, GREY, RULE = "#1b1f24", "#dfe3e8", "#6b7280", "#7d8590"
COLOURS = ("#0b5cad", "#c2410c", "#00785a", "#8e3b8e", "#7a5c00", "#4b5563")
SHAPES = ("circle", "diamond", "square", "triangle-up", "triangle-down", "cross")
SYSTEM_SHAPES = ("M0,-1V1", "M-.8,-.8L.8,.8M-.8,.8L.8,-.8", "M0,-.9L.9,.7H-.9Z", "M-.75,-.75H.75V.75H-.75Z")
"""A tick, a cross, a triangle and a square, all hollow, so that they never pass for a model's dot."""
PEOPLE_SHAPE = "M-.5,-1H.5M0,-1V1M-.5,1H.5"

WIDTH, FONT_SIZE, LANE, GAP, HEADING = 900, 13, 10, 6, 32

Spec = dict[str, Any]
"""A Vega-Lite specification."""


@dataclass(frozen=True)
class _Placed:
    """A row with where its lanes, one per series and one for the papers, begin and end."""

    row: Row
    top: float
    bottom: float


@dataclass(frozen=True)
class _Layout:
    placed: Sequence[_Placed]
    headings: Sequence[Mapping[str, Any]]
    axis: Axis
    names: int
    height: float

    @property
    def plot(self) -> int:
        return WIDTH - self.names


def specification(chart: Chart) -> Spec:
    """Dots with 95 % intervals, one line per row, under headings where rows have them.

    A row without a value shows a dash. Rows of one heading stand together.
    """
    import altair as alt

    layout = _layout(chart)
    layers = [
        _grid(layout),
        _separators(layout),
        _names(layout),
        *([_headings(layout)] if layout.headings else []),
        *([_line(layout, chart.axis.line)] if chart.axis.line is not None else []),
        *(_before(layout, chart.series) if chart.paired else []),
        *_estimates(layout, chart.series),
        *([_published(layout, chart)] if chart.systems or chart.people else []),
    ]
    picture = (
        alt.layer(*layers)
        .resolve_scale(color="independent", shape="independent")
        .resolve_axis(x="independent")
        .properties(width=layout.plot, height=layout.height, padding=2)
        .configure(font=FONT, aria=False, background="#ffffff")
        .configure_view(stroke=None)
        .configure_legend(orient="top")
    )
    # Altair would check every one of the marks against the schema of Vega-Lite, which takes longer than drawing them.
    spec: Spec = picture.to_dict(validate=False)
    # Vega puts legends beside each other; Altair's schema does not know the setting.
    spec["config"]["legend"]["layout"] = {"top": {"direction": "vertical", "anchor": "start", "margin": 4}}
    return spec


def as_svg(spec: Spec) -> str:
    """The chart as an SVG element."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec))


def as_png(spec: Spec, *, scale: float = 2) -> bytes:
    """The chart as a PNG picture, ``scale`` picture elements to the pixel."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(spec, scale=scale))


def _layout(chart: Chart) -> _Layout:
    lanes = len(chart.series) + bool(chart.systems or chart.people)
    names = min(max((len(row.name) for row in chart.rows), default=0) * 8 + 40, 320)
    placed, headings, y = list[_Placed](), list[dict[str, Any]](), 0.0
    for heading, members in chart.groups:
        if heading:
            headings.append({"y": y + HEADING - 10, "text": heading})
            y += HEADING
        for row in members:
            top = y + GAP / 2
            placed.append(_Placed(row, top, top + lanes * LANE))
            y = top + lanes * LANE + GAP / 2
    return _Layout(placed, headings, chart.axis, names, y)


def _chart(values: Iterable[Mapping[str, Any]]) -> Any:
    import altair as alt

    return alt.Chart(alt.Data(values=list(values)))


def _x(layout: _Layout, name: str = "x", *, axis: Any = None) -> Any:
    import altair as alt

    ends = [layout.axis.ticks[0], layout.axis.ticks[-1]]
    return alt.X(f"{name}:Q", scale=alt.Scale(domain=ends, nice=False), title=None, axis=axis)


def _y() -> Any:
    import altair as alt

    # No scale: rows, headings and names are placed in pixels by us, because bands do not leave room for headings.
    return alt.Y("y:Q", scale=None, axis=None)


def _grid(layout: _Layout) -> Any:
    import altair as alt

    percent, signed = "format(datum.value * 100, '.0f') + ' %'", "datum.value ? format(datum.value * 100, '+.0f') : '0'"
    written = "format(datum.value, '~r')" if layout.axis.plain else signed if layout.axis.signed else percent
    axis = alt.Axis(
        title=layout.axis.title,
        titleFontSize=FONT_SIZE - 1,
        titleFontWeight="normal",
        titleColor=GREY,
        values=list(layout.axis.ticks),
        labelExpr=written,
        grid=False,
        ticks=False,
        domain=False,
        labelFontSize=FONT_SIZE - 1,
        labelColor=GREY,
        labelPadding=4,
    )
    lines = ({"x": tick, "y": item.top, "y2": item.bottom} for item in layout.placed for tick in layout.axis.ticks)
    return _chart(lines).mark_rule(stroke=FAINT, strokeWidth=1).encode(x=_x(layout, axis=axis), y=_y(), y2="y2:Q")


def _separators(layout: _Layout) -> Any:
    import altair as alt

    values = ({"y": item.bottom + GAP / 2} for item in layout.placed)
    ends = {"x": alt.value(-layout.names), "x2": alt.value(layout.plot)}
    return _chart(values).mark_rule(stroke=FAINT, strokeWidth=1).encode(y=_y(), **ends)


def _names(layout: _Layout) -> Any:
    import altair as alt

    values = ({"y": (item.top + item.bottom) / 2, "text": item.row.name} for item in layout.placed)
    mark = {"fontSize": FONT_SIZE, "fill": INK, "align": "left", "baseline": "middle", "limit": layout.names - 12}
    return _chart(values).mark_text(**mark).encode(x=alt.value(-layout.names), y=_y(), text="text:N")


def _headings(layout: _Layout) -> Any:
    import altair as alt

    mark = {"fontSize": FONT_SIZE, "fontWeight": 600, "fill": INK, "align": "left", "baseline": "alphabetic"}
    return _chart(layout.headings).mark_text(**mark).encode(x=alt.value(-layout.names), y=_y(), text="text:N")


def _line(layout: _Layout, at: float) -> Any:
    values = ({"x": at, "y": item.top, "y2": item.bottom} for item in layout.placed)
    rule = _chart(values).mark_rule(stroke=GREY, strokeWidth=1.25, strokeDash=[3, 2])
    return rule.encode(x=_x(layout), y=_y(), y2="y2:Q")


def _legend(layout: _Layout, title: str | None = None) -> Any:
    import altair as alt

    return alt.Legend(
        title=title,
        titleFontSize=FONT_SIZE - 1,
        titleFontWeight="normal",
        titleColor=GREY,
        labelFontSize=FONT_SIZE - 1,
        labelColor=INK,
        labelLimit=layout.plot - 20,
        symbolStrokeWidth=1.5,
        # Browsers may set the names wider than they were measured here, in another font.
        columnPadding=28,
        columns=4,
        direction="horizontal",
        titleOrient="left",
    )


def _published(layout: _Layout, chart: Chart) -> Any:
    import altair as alt

    shared = next(iter(chart.marks), "")
    shapes = {system: SYSTEM_SHAPES[number] for system, number in chart.marks.items()}
    shapes |= dict.fromkeys(chart.people, PEOPLE_SHAPE)
    values = (
        {"x": value, "y": item.bottom - LANE / 2, "system": system if system in shapes else shared}
        for item in layout.placed
        for system, value in (*item.row.published.items(), *item.row.people.items())
    )
    scale = alt.Scale(domain=list(shapes), range=list(shapes.values()))
    shape = alt.Shape("system:N", scale=scale, legend=_legend(layout, "Published"))
    mark = {"filled": False, "stroke": RULE, "strokeWidth": 1.25, "size": 36, "opacity": 1}
    return _chart(values).mark_point(**mark).encode(x=_x(layout), y=_y(), shape=shape)


def _before(layout: _Layout, series: Sequence[str]) -> list[Any]:
    """A hollow dot for the untouched pairs, joined with the dot that follows it."""
    import altair as alt

    values = [
        {"x": old.value, "x2": item.row.estimates[model].value, "y": item.top + (series.index(model) + 0.5) * LANE}
        | {"model": model}
        for item in layout.placed
        for model, old in item.row.before.items()
        if old.known and item.row.estimates[model].known
    ]
    colours = [COLOURS[number % len(COLOURS)] for number in range(len(series))]
    colour = alt.Color("model:N", scale=alt.Scale(domain=list(series), range=colours), legend=None)
    joined = _chart(values).mark_rule(strokeWidth=1, strokeDash=[2, 2])
    dots = _chart(values).mark_point(filled=False, size=46, opacity=1, strokeWidth=1.5, fill="#ffffff")
    return [
        joined.encode(x=_x(layout), x2="x2:Q", y=_y(), color=colour),
        dots.encode(x=_x(layout), y=_y(), color=colour),
    ]


def _estimates(layout: _Layout, series: Sequence[str]) -> list[Any]:
    import altair as alt

    values = [
        (one, {"model": model, "y": item.top + (series.index(model) + 0.5) * LANE})
        for item in layout.placed
        for model, one in item.row.estimates.items()
    ]
    known = [place | {"x": one.value} for one, place in values if one.known]
    bounded = [place | {"low": one.low, "high": one.high} for one, place in values if one.low == one.low]
    dashes = [place | {"text": "–"} for one, place in values if not one.known]
    colours = [COLOURS[number % len(COLOURS)] for number in range(len(series))]
    shapes = [SHAPES[(number + number // len(COLOURS)) % len(SHAPES)] for number in range(len(series))]
    domain = list(series)
    colour = alt.Color("model:N", scale=alt.Scale(domain=domain, range=colours), legend=_legend(layout))
    shape = alt.Shape("model:N", scale=alt.Scale(domain=domain, range=shapes), legend=_legend(layout))
    plain = alt.Color("model:N", scale=alt.Scale(domain=domain, range=colours), legend=None)
    dots = _chart(known).mark_point(filled=True, size=52, opacity=1)
    return [
        _chart(bounded).mark_rule(strokeWidth=2).encode(x=_x(layout, "low"), x2="high:Q", y=_y(), color=plain),
        dots.encode(x=_x(layout), y=_y(), color=colour, shape=shape),
        _chart(dashes).mark_text(fontSize=FONT_SIZE, fill=GREY).encode(x=alt.value(6), y=_y(), text="text:N"),
    ]
