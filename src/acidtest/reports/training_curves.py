"""How a training went, as a picture: loss and accuracy by epoch, over several seeds their mean and spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from acidtest.reports.plots import COLOURS, FAINT, FONT, FONT_SIZE, GREY, INK, Spec

Curve = Sequence[Mapping[str, float]]

_PANELS = (
    ("loss", {"training": "loss", "--dev": "dev_loss"}, ".4~g"),
    ("accuracy on --dev", {"--dev": "dev_accuracy"}, ".0%"),
)
_WIDTH, _HEIGHT = 380, 260


def curve_picture(curves: Sequence[Curve], best: Sequence[float]) -> Spec:
    """Lines by epoch; ``best`` are the epochs whose weights were kept, a ring around each where it is one curve.

    Several curves, one for each seed: thin lines, their mean, and a band from the lowest to the highest.
    """
    import altair as alt

    charts = []
    for title, lines, form in _PANELS:
        points = _points(curves, lines)
        if points:
            charts.append(_panel(points, title, form, best))
    found = (
        alt.hconcat(*charts, spacing=36)
        .properties(padding=6)
        .configure(font=FONT, aria=False, background="#ffffff")
        .configure_view(stroke=None)
        .configure_legend(orient="top")
    )
    spec: Spec = found.to_dict(validate=False)
    return spec


def _points(curves: Sequence[Curve], lines: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {"epoch": point["epoch"], "value": point[key], "line": line, "seed": number}
        for number, curve in enumerate(curves)
        for point in curve
        for line, key in lines.items()
        if key in point
    ]


def _means(points: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Mean, lowest and highest of each epoch that more than one curve has come to."""
    groups = dict[tuple[float, str], list[float]]()
    for point in points:
        groups.setdefault((point["epoch"], point["line"]), []).append(point["value"])
    return [
        {"epoch": epoch, "line": line, "value": fmean(values), "low": min(values), "high": max(values)}
        for (epoch, line), values in groups.items()
        if len(values) > 1
    ]


def _panel(points: Sequence[Mapping[str, Any]], title: str, form: str, best: Sequence[float]) -> Any:
    import altair as alt

    names = list(dict.fromkeys(point["line"] for point in points))
    several = len({point["seed"] for point in points}) > 1
    last = int(max(point["epoch"] for point in points))
    ticks = list(range(1, last + 1, max(1, -(-last // 10))))
    x = alt.X(
        "epoch:Q",
        scale=alt.Scale(domain=[min(1, last - 0.5), max(last, 1.5)], nice=False, padding=8),
        axis=_axis("epoch", values=ticks, format="d", grid=False),
    )
    scale = alt.Scale(zero=False)
    axis = _axis(title, format=form, grid=True)
    y = alt.Y("value:Q", scale=scale, axis=axis)
    palette = COLOURS[:1] if names == ["training"] else COLOURS[: len(names)] if len(names) > 1 else COLOURS[1:2]
    colours = alt.Scale(domain=names, range=list(palette))
    # The band is pale, and its symbols would be, too.
    style = {"title": None, "labelFontSize": FONT_SIZE - 1, "labelColor": INK, "symbolOpacity": 1}
    legend = alt.Legend(**style) if len(names) > 1 else None
    colour = alt.Color("line:N", scale=colours, legend=legend)
    lines = alt.Chart(alt.Data(values=list(points))).encode(x=x, y=y, color=colour)
    if several:
        means = alt.Chart(alt.Data(values=_means(points))).encode(x=x, color=colour)
        band = means.mark_area(opacity=0.18).encode(y=alt.Y("low:Q", scale=scale, axis=axis), y2="high:Q")
        layers = [band, lines.mark_line(strokeWidth=0.7, opacity=0.5).encode(detail="seed:N")]
        layers += [means.mark_line(strokeWidth=2.2).encode(y=y), means.mark_point(filled=True, size=30).encode(y=y)]
    else:
        kept = [point for point in points if point["epoch"] == best[point["seed"]]]
        ring = alt.Chart(alt.Data(values=kept)).mark_point(size=130, strokeWidth=1.6)
        layers = [lines.mark_line(strokeWidth=2.2), lines.mark_point(filled=True, size=36, opacity=1)]
        layers += [ring.encode(x=x, y=y, color=colour)]
    return alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT)


def _axis(title: str, **given: Any) -> Any:
    import altair as alt

    return alt.Axis(
        title=title,
        titleFontSize=FONT_SIZE - 1,
        titleFontWeight="normal",
        titleColor=GREY,
        labelFontSize=FONT_SIZE - 1,
        labelColor=GREY,
        gridColor=FAINT,
        ticks=False,
        domain=False,
        labelPadding=4,
        **given,
    )
