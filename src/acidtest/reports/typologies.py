"""Errors by category, as tables for the terminal and as a bar chart."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acidtest.core.errors import FileError
from acidtest.core.estimate import Estimate
from acidtest.core.files import replacing, write_text
from acidtest.reports.numerals import NONE, counted, interval, percent, published
from acidtest.reports.plots import COLOURS, FAINT, FONT, FONT_SIZE, GREY, INK, SYSTEM_SHAPES, Spec, as_png, as_svg
from acidtest.studies.error_typology import Agreement, CategoryShare, Typology

if TYPE_CHECKING:
    from rich.console import RenderableType

WIDTH, BAND, BAR, MARKS = 560, 36, 14, 11
"""In pixels; the bars of a band stand above its middle, published marks so far below it."""

_PERCENT = "format(datum.value * 100, '.0f') + ' %'"
_PROPOSED = ("proposed", "share", "95 % interval")


def typology_tables(found: Typology) -> list[RenderableType]:
    """What people decided, or where nobody has yet what was proposed, and the published shares beside it.

    Errors on pairs that rules made stand below, in a table of their own.
    """
    from rich.markup import escape
    from rich.text import Text

    head = f"[bold]{escape(found.name)}[/]  {counted(found.rows, 'error')}, {_decided(found)}"
    parts: list[RenderableType] = [Text.from_markup(head, emoji=False), _category_table(found)]
    parts += [Text(f"  {line}", style="dim") for line in _remarks(found)]
    if found.synthetic:
        made = found.synthetic
        parts += [Text(f"\n  On pairs that rules made: {counted(made.rows, 'error')}"), _category_table(made)]
        parts += [Text(f"  {line}", style="dim") for line in _remarks(made)]
    return [*parts, *(Text(f"  {line}", style="dim") for line in found.signatures)]


def _category_table(found: Typology) -> RenderableType:
    from rich.table import Table

    papers = published_shares(found)
    columns = ("errors", "share", "95 % interval", "proposed", "kept") if found.by_people else _PROPOSED
    table = Table(box=None, padding=(0, 2), header_style="dim")
    table.add_column("category")
    for column in (*columns, *papers):
        table.add_column(column, justify="right")
    for name, category in found.categories.items():
        shares = (f"{published(numbers.get(name))} %" for numbers in papers.values())
        table.add_row(name, *(_decided_cells(category) if found.by_people else _proposed_cells(category)), *shares)
    return table


def _remarks(found: Typology) -> list[str]:
    """What to know of the shares in a table."""
    remarks = []
    if found.prefilled:
        remarks.append("prefilled with the proposals; nobody has changed one yet")
    elif found.kept.known:
        remarks.append(f"kept: proposals that people agreed with, {_kept(found.kept)} in all")
    if found.published:
        remarks.append(_sources(found) + ("" if found.by_people else "; judged by hand there, proposed by rules here"))
    else:
        remarks.append("the published shares are of errors on MultiNLI's pairs as they are: none stands beside these")
    return remarks


def agreement_tables(found: Agreement) -> list[RenderableType]:
    """How far two people agree, on the whole and on each category."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2), header_style="dim")
    table.add_column("category")
    for column in ("first", "second", "both"):
        table.add_column(column, justify="right")
    for name, each in found.categories.items():
        table.add_row(name, *(f"{number}" for number in (each.first, each.second, each.both)))
    first, second = found.names
    lines: list[RenderableType] = [
        Text(f"first: {first}\nsecond: {second}\n{counted(found.rows, 'error')} sorted by both", style="dim"),
        Text(f"agreement  {_with_interval(found.share)}"),
        Text(f"Cohen's kappa  {_kappa(found.kappa)}"),
        table,
    ]
    if any(found.only):
        left_out = f"  left out: {found.only[0]} sorted by the first person only, {found.only[1]} by the second only"
        lines.append(Text(left_out, style="dim"))
    return lines


def published_shares(found: Typology) -> dict[str, dict[str, float]]:
    """The paper's shares by corpus and category."""
    shares: dict[str, dict[str, float]] = {}
    for score in found.published:
        corpus = score.by["corpus"].removeprefix("MultiNLI ")
        shares.setdefault(corpus, {})[score.by["category"]] = score.value
    return shares


def typology_chart(found: Typology) -> Spec:
    """A bar for each category with its interval, and a mark for each published share.

    What people decided, or what was proposed where nobody has decided anything.
    """
    import altair as alt

    title = "share of the errors that people sorted" if found.by_people else "share of errors, as proposed by rules"
    bars, marks = _bars(found), _marks(found)
    order = list(found.categories)
    top = max([0.1, *(bar["high"] for bar in bars), *(mark["share"] for mark in marks)])
    grid = alt.Axis(
        labelExpr=_PERCENT, title=title, tickCount=6, gridColor=FAINT, domain=False, ticks=False, **_type(GREY)
    )
    names = alt.Axis(title=None, ticks=False, domain=False, labelPadding=10, labelLimit=200, **_type(INK))
    y = alt.Y("category:N", sort=order, axis=names, scale=alt.Scale(paddingInner=0.4, paddingOuter=0.2))
    x = alt.X("share:Q", axis=grid, scale=alt.Scale(domain=[0, top], nice=True, zero=True))
    corpora = list(dict.fromkeys(mark["published"] for mark in marks))
    shape = alt.Shape(
        "published:N",
        scale=alt.Scale(domain=corpora, range=[SYSTEM_SHAPES[3], SYSTEM_SHAPES[2]]),
        legend=alt.Legend(orient="top", title=None, labelLimit=400, labelFontSize=FONT_SIZE - 1, labelColor=INK),
    )
    bar = {"size": BAR, "yOffset": 1 - BAR / 2, "cornerRadiusEnd": 2}
    point = {"filled": True, "fill": "#ffffff", "stroke": GREY, "strokeWidth": 1.5, "size": 60, "opacity": 1}
    layers = [
        _data(bars).mark_bar(color=COLOURS[0], opacity=0.55, **bar).encode(x=x, y=y),
        _data(bars).mark_rule(color=INK, strokeWidth=1.5, yOffset=bar["yOffset"]).encode(x="low:Q", x2="high:Q", y=y),
        _data(marks).mark_point(yOffset=MARKS, **point).encode(x=x, y=y, shape=shape),
    ]
    picture = (
        alt.layer(*layers)
        .properties(width=WIDTH, height=BAND * len(order), padding=8)
        .configure(font=FONT, background="#ffffff")
        .configure_view(stroke=None)
    )
    spec: Spec = picture.to_dict()
    return spec


def write_typology_chart(found: Typology, path: str | Path) -> None:
    """Draw the chart into a file, SVG or PNG by its ending."""
    path = Path(path)
    spec = typology_chart(found)
    if path.suffix.lower() == ".svg":
        write_text(path, as_svg(spec))
    elif path.suffix.lower() == ".png":
        with replacing(path) as temporary:
            temporary.write_bytes(as_png(spec))
    else:
        raise FileError(path, f"the ending {path.suffix or 'of its name'} says no picture; use .svg or .png")


def _bars(found: Typology) -> list[dict[str, Any]]:
    shares = {name: each.share if found.by_people else each.proposed_share for name, each in found.categories.items()}
    return [
        {
            "category": name,
            "share": share.value,
            "low": share.low if share.low == share.low else share.value,
            "high": share.high if share.high == share.high else share.value,
        }
        for name, share in shares.items()
        if share.known
    ]


def _marks(found: Typology) -> list[dict[str, Any]]:
    system = found.published[0].system if found.published else ""
    return [
        {"category": name, "share": value, "published": f"{system}, {corpus}"}
        for corpus, numbers in published_shares(found).items()
        for name, value in numbers.items()
    ]


def _data(values: list[dict[str, Any]]) -> Any:
    import altair as alt

    return alt.Chart(alt.Data(values=values))


def _type(colour: str) -> Mapping[str, Any]:
    return {
        "labelFontSize": FONT_SIZE - 1,
        "labelColor": colour,
        "titleFontSize": FONT_SIZE - 1,
        "titleFontWeight": "normal",
        "titleColor": GREY,
    }


def _decided_cells(each: CategoryShare) -> tuple[str, ...]:
    shown = _percent(each.proposed_share)
    return f"{each.count}", _percent(each.share), interval(each.share), shown, _kept(each.kept)


def _proposed_cells(each: CategoryShare) -> tuple[str, ...]:
    known = each.proposed_share.known
    return f"{each.proposed}" if known else NONE, _percent(each.proposed_share), interval(each.proposed_share)


def _sources(found: Typology) -> str:
    """Whose the published shares are, and where they stand."""
    systems = dict.fromkeys(score.system for score in found.published)
    places = dict.fromkeys(score.source for score in found.published)
    return f"MultiNLI {', '.join(published_shares(found))}: {', '.join(systems)}; {'; '.join(places)}"


def _decided(found: Typology) -> str:
    if not found.decided:
        return "none sorted by a person yet"
    if found.prefilled:
        return "prefilled"
    return "all sorted" if found.decided == found.rows else f"{found.decided:,} sorted"


def _percent(value: Estimate) -> str:
    return f"{percent(value)} %" if value.known else NONE


def _kept(value: Estimate) -> str:
    return f"{round(value.value * value.n)} of {value.n}" if value.known else NONE


def _with_interval(value: Estimate) -> str:
    if not value.known:
        return f"{NONE} ({value.note})"
    return f"{percent(value)} % ({interval(value)})" if value.low == value.low else f"{percent(value)} %"


def _kappa(value: Estimate) -> str:
    if not value.known:
        return f"{NONE} ({value.note})"
    # Adding 0 turns a rounded −0.00 into 0.00.
    shown, low, high = (f"{round(number, 2) + 0.0:.2f}" for number in (value.value, value.low, value.high))
    within = f"{low} to {high}" if value.low == value.low else value.note
    return f"{shown} ({within})".replace("-", "−")
