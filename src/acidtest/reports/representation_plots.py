"""Maps of all layers as pictures for papers and slides."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from acidtest.core.files import replacing, write_text
from acidtest.reports.plots import COLOURS, FONT, FONT_SIZE, GREY, INK, Spec, as_png, as_svg
from acidtest.studies.representation_results import Representations
from acidtest.studies.representation_targets import groups_of

_SIDE = 210
_ACROSS = 4
SEVERAL, NONE = "several", "none"


def write_maps(found: Representations, folder: str | Path) -> list[Path]:
    """The maps coloured by gold label and, where there are categories, by group of them: an SVG and a PNG each."""
    ways = {"label": found.rows["label"]}
    if found.categories:
        ways["groups"] = group_names(found)
    written = []
    for name, values in ways.items():
        spec = map_picture(found, values)
        path = Path(folder) / f"maps-{name}.svg"
        write_text(path, as_svg(spec))
        with replacing(path.with_suffix(".png")) as temporary:
            temporary.write_bytes(as_png(spec))
        written += [path, path.with_suffix(".png")]
    return written


def group_names(found: Representations) -> pl.Series:
    """For each pair the group its categories belong to, ``several`` or ``none``."""
    members = groups_of(found.categories)
    held = [pl.any_horizontal(pl.col(names).fill_null(False)).alias(group) for group, names in members.items()]
    names = pl.coalesce(pl.when(pl.col(group)).then(pl.lit(group)) for group in members)
    count = pl.sum_horizontal(pl.col(list(members)).cast(pl.Int32))
    chosen = pl.when(count > 1).then(pl.lit(SEVERAL)).when(count == 0).then(pl.lit(NONE)).otherwise(names)
    return found.rows.select(held).select(chosen.alias("group")).to_series()


def map_picture(found: Representations, values: pl.Series) -> Spec:
    """A small map for each layer, points coloured by value; the rare values are drawn last, to be seen."""
    import altair as alt

    assert found.maps is not None
    counts = values.value_counts(sort=True)
    names = counts[values.name].cast(pl.String).to_list()
    order = {name: place for place, name in enumerate(names)}
    points = [
        {"x": round(float(x), 3), "y": round(float(y), 3), "value": value, "layer": layer}
        for layer, places in zip(found.layers, found.maps, strict=True)
        for (x, y), value in sorted(zip(places, values, strict=True), key=lambda pair: order[str(pair[1])])
    ]
    plain = {NONE: "#c9ced6", SEVERAL: GREY}
    coloured = [name for name in sorted(names) if name not in plain]
    colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(coloured)} | plain
    shown = [*coloured, *(name for name in plain if name in names)]
    scale = alt.Scale(domain=shown, range=[colours[name] for name in shown])
    legend = alt.Legend(title=None, labelFontSize=FONT_SIZE - 1, labelColor=INK, orient="top", symbolSize=60)
    chart = (
        alt.Chart(alt.Data(values=points))
        .mark_circle(size=7, opacity=0.7)
        .encode(
            x=alt.X("x:Q", axis=None),
            y=alt.Y("y:Q", axis=None),
            color=alt.Color("value:N", scale=scale, legend=legend),
        )
        .properties(width=_SIDE, height=_SIDE)
        .facet(facet=alt.Facet("layer:N", title=None, sort=list(found.layers)), columns=_ACROSS)
        .configure(font=FONT, aria=False, background="#ffffff")
        .configure_header(labelFontSize=FONT_SIZE, labelColor=INK)
    )
    spec: Spec = chart.to_dict(validate=False)
    return spec
