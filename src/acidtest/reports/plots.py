"""Charts of estimates with their intervals, drawn by Vega-Lite without a browser or a network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from acidtest.core.estimate import Estimate

FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif"
INK, FAINT, GREY, RULE = "#1b1f24", "#dfe3e8", "#6b7280", "#7d8590"
COLOURS = ("#0b5cad", "#c2410c", "#00785a", "#8e3b8e", "#7a5c00", "#4b5563")
SHAPES = ("circle", "diamond", "square", "triangle-up", "triangle-down", "cross")
SYSTEM_SHAPES = ("M0,-1V1", "M-.8,-.8L.8,.8M-.8,.8L.8,-.8", "M0,-.9L.9,.7H-.9Z", "M-.75,-.75H.75V.75H-.75Z")
"""A tick, a cross, a triangle and a square, all hollow, so that they never pass for a model's dot."""

Spec = dict[str, Any]
"""A Vega-Lite specification."""

_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Row:
    """One line of a chart: an estimate for each model and a number for each published system."""

    name: str
    estimates: Mapping[str, Estimate]
    heading: str = ""
    published: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class _Form:
    """Sizes in pixels. The narrow form writes a row's name above its lanes, so that a phone shows both."""

    plot: int
    names: int
    font: int
    name_height: int
    heading_height: int
    lane: int = 10
    gap: int = 6

    @property
    def narrow(self) -> bool:
        return self.names == 0


@dataclass(frozen=True)
class _Placed:
    """A row with where its name stands and where its lanes, one per model and one for the papers, begin and end."""

    row: Row
    name: float
    top: float
    bottom: float


def interval_chart(rows: Sequence[Row], *, chance: float | None = None, narrow: bool = False) -> Spec:
    """Dots with 95 % intervals, one line per row, under headings where rows have them, as a Vega-Lite specification.

    Values are rates from 0 to 1. A row without a value shows a dash. Rows of one heading stand together.
    """
    import altair as alt

    models = list(dict.fromkeys(model for row in rows for model in row.estimates))
    systems = list(dict.fromkeys(system for row in rows for system in row.published))
    form = _form(rows, narrow)
    placed, headings, height = _placed(rows, form, lanes=len(models) + bool(systems))
    layers = [
        _grid(placed, form, chance),
        *([] if narrow else [_separators(placed, form)]),
        _names(placed, form),
        *([_headings(headings, form)] if headings else []),
        *([_chance(placed, chance)] if chance is not None else []),
        *_estimates(placed, models, form),
        *([_published(placed, systems, form)] if systems else []),
    ]
    chart = (
        alt.layer(*layers)
        .resolve_scale(color="independent", shape="independent")
        .resolve_axis(x="independent")
        .properties(width=form.plot, height=height, padding=2)
        .configure(font=FONT, aria=False, background="#ffffff")
        .configure_view(stroke=None)
        .configure_legend(orient="top")
    )
    spec: Spec = chart.to_dict()
    # Vega puts legends beside each other, too wide for a phone; Altair's schema does not know the setting.
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


def _form(rows: Sequence[Row], narrow: bool) -> _Form:
    if narrow:
        return _Form(plot=324, names=0, font=12, name_height=16, heading_height=32)
    names = min(max((len(row.name) for row in rows), default=0) * 8 + 40, 320)
    return _Form(plot=900 - names, names=names, font=13, name_height=0, heading_height=32)


def _placed(rows: Sequence[Row], form: _Form, *, lanes: int) -> tuple[list[_Placed], list[dict[str, Any]], float]:
    placed, headings, y = list[_Placed](), list[dict[str, Any]](), 0.0
    order = {heading: number for number, heading in enumerate(dict.fromkeys(row.heading for row in rows))}
    for heading, members in groupby(sorted(rows, key=lambda row: order[row.heading]), key=lambda row: row.heading):
        if heading:
            headings.append({"y": y + form.heading_height - 10, "text": heading})
            y += form.heading_height
        for row in members:
            top = y + (form.name_height or form.gap / 2)
            bottom = top + lanes * form.lane
            placed.append(_Placed(row, y + 12 if form.narrow else (top + bottom) / 2, top, bottom))
            y = bottom + form.gap / (1 if form.narrow else 2)
    return placed, headings, y


def _chart(values: Iterable[Mapping[str, Any]]) -> Any:
    import altair as alt

    return alt.Chart(alt.Data(values=list(values)))


def _x(name: str = "x", *, axis: Any = None) -> Any:
    import altair as alt

    return alt.X(f"{name}:Q", scale=alt.Scale(domain=[0, 1], nice=False), title=None, axis=axis)


def _y() -> Any:
    import altair as alt

    # No scale: rows, headings and names are placed in pixels by us, because bands do not leave room for headings.
    return alt.Y("y:Q", scale=None, axis=None)


def _grid(placed: Sequence[_Placed], form: _Form, chance: float | None) -> Any:
    import altair as alt

    axis = alt.Axis(
        title="accuracy" if chance is None else f"accuracy; dashed line: chance ({chance:.0%})",
        titleFontSize=form.font - 1,
        titleFontWeight="normal",
        titleColor=GREY,
        values=list(_TICKS),
        format=".0%",
        grid=False,
        ticks=False,
        domain=False,
        labelFontSize=form.font - 1,
        labelColor=GREY,
        labelFlush=form.narrow,
        labelPadding=4,
    )
    lines = ({"x": tick, "y": item.top, "y2": item.bottom} for item in placed for tick in _TICKS)
    return _chart(lines).mark_rule(stroke=FAINT, strokeWidth=1).encode(x=_x(axis=axis), y=_y(), y2="y2:Q")


def _separators(placed: Sequence[_Placed], form: _Form) -> Any:
    import altair as alt

    values = ({"y": item.bottom + form.gap / 2} for item in placed)
    ends = {"x": alt.value(-form.names), "x2": alt.value(form.plot)}
    return _chart(values).mark_rule(stroke=FAINT, strokeWidth=1).encode(y=_y(), **ends)


def _names(placed: Sequence[_Placed], form: _Form) -> Any:
    import altair as alt

    values = ({"y": item.name, "text": item.row.name} for item in placed)
    limit = form.plot if form.narrow else form.names - 12
    mark = {"fontSize": form.font, "fill": INK, "align": "left", "limit": limit}
    baseline = "alphabetic" if form.narrow else "middle"
    x = alt.value(-form.names)
    return _chart(values).mark_text(**mark, baseline=baseline).encode(x=x, y=_y(), text="text:N")


def _headings(headings: Sequence[Mapping[str, Any]], form: _Form) -> Any:
    import altair as alt

    mark = {"fontSize": form.font, "fontWeight": 600, "fill": INK, "align": "left", "baseline": "alphabetic"}
    return _chart(headings).mark_text(**mark).encode(x=alt.value(-form.names), y=_y(), text="text:N")


def _chance(placed: Sequence[_Placed], chance: float) -> Any:
    values = ({"x": chance, "y": item.top, "y2": item.bottom} for item in placed)
    return _chart(values).mark_rule(stroke=GREY, strokeWidth=1.25, strokeDash=[3, 2]).encode(x=_x(), y=_y(), y2="y2:Q")


def _legend(form: _Form, title: str | None = None) -> Any:
    import altair as alt

    return alt.Legend(
        title=title,
        titleFontSize=form.font - 1,
        titleFontWeight="normal",
        titleColor=GREY,
        labelFontSize=form.font - 1,
        labelColor=INK,
        labelLimit=form.plot - 20,
        symbolStrokeWidth=1.5,
        # Browsers may set the names wider than they were measured here, in another font.
        columnPadding=28,
        columns=1 if form.narrow else 4,
        direction="vertical" if form.narrow else "horizontal",
        titleOrient="top" if form.narrow else "left",
    )


def _published(placed: Sequence[_Placed], systems: Sequence[str], form: _Form) -> Any:
    import altair as alt

    shown = dict(zip(systems, SYSTEM_SHAPES, strict=False))
    if len(systems) > len(SYSTEM_SHAPES):
        shown = dict.fromkeys([f"{len(systems)} published systems"], SYSTEM_SHAPES[0])
    values = (
        {"x": value, "y": item.bottom - form.lane / 2, "system": system if system in shown else next(iter(shown))}
        for item in placed
        for system, value in item.row.published.items()
    )
    scale = alt.Scale(domain=list(shown), range=list(shown.values()))
    shape = alt.Shape("system:N", scale=scale, legend=_legend(form, "Published"))
    mark = {"filled": False, "stroke": RULE, "strokeWidth": 1.25, "size": 36, "opacity": 1}
    return _chart(values).mark_point(**mark).encode(x=_x(), y=_y(), shape=shape)


def _estimates(placed: Sequence[_Placed], models: Sequence[str], form: _Form) -> list[Any]:
    import altair as alt

    values = [
        (one, {"model": model, "y": item.top + (models.index(model) + 0.5) * form.lane})
        for item in placed
        for model, one in item.row.estimates.items()
    ]
    known = [place | {"x": one.value} for one, place in values if one.known]
    bounded = [place | {"low": one.low, "high": one.high} for one, place in values if one.low == one.low]
    dashes = [place | {"text": "–"} for one, place in values if not one.known]
    colours = [COLOURS[number % len(COLOURS)] for number in range(len(models))]
    shapes = [SHAPES[(number + number // len(COLOURS)) % len(SHAPES)] for number in range(len(models))]
    domain = list(models)
    colour = alt.Color("model:N", scale=alt.Scale(domain=domain, range=colours), legend=_legend(form))
    shape = alt.Shape("model:N", scale=alt.Scale(domain=domain, range=shapes), legend=_legend(form))
    plain = alt.Color("model:N", scale=alt.Scale(domain=domain, range=colours), legend=None)
    dots = _chart(known).mark_point(filled=True, size=52, opacity=1)
    return [
        _chart(bounded).mark_rule(strokeWidth=2).encode(x=_x("low"), x2="high:Q", y=_y(), color=plain),
        dots.encode(x=_x(), y=_y(), color=colour, shape=shape),
        _chart(dashes).mark_text(fontSize=form.font, fill=GREY).encode(x=alt.value(6), y=_y(), text="text:N"),
    ]
