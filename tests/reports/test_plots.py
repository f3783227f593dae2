"""Charts: what is drawn, where it fits, and that nothing written in it is taken for markup."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Sequence
from math import nan
from typing import Any

import pytest

from acidtest.core.estimate import Estimate
from acidtest.reports.charts import Chart, Row, difference_axis, rate_axis
from acidtest.reports.plots import WIDTH, Spec, as_png, as_svg, specification

ROWS = [
    Row("passive", {"m": Estimate(0.25, 0.2, 0.3, 100, 100)}, heading="Non-entailment", published={"BERT": 0.1}),
    Row("swap", {"m": Estimate(0.5, n=1, groups=1, note="one group")}, heading="Entailment"),
    Row("adverb", {"m": Estimate(nan, note="no examples")}, heading="Non-entailment"),
]


def interval_chart(rows: Sequence[Row], *, chance: float | None = None) -> Spec:
    return specification(Chart(tuple(rows), rate_axis(chance)))


def layers(spec: Spec, kind: str, **look: Any) -> list[dict[str, Any]]:
    """The data of every layer with this kind of mark and these settings."""
    found = [
        layer["data"]["values"]
        for layer in spec["layer"]
        if layer["mark"]["type"] == kind and look.items() <= layer["mark"].items()
    ]
    return [value for values in found for value in values]


def sizes(svg: str) -> set[float]:
    return {float(size) for size in re.findall(r'font-size="([\d.]+)px"', svg)}


def width(svg: str) -> float:
    found = re.search(r'<svg[^>]* width="([\d.]+)"', svg)
    assert found
    return float(found[1])


def test_every_known_estimate_is_a_dot_and_every_unknown_one_a_dash() -> None:
    spec = interval_chart(ROWS)
    assert sorted(dot["x"] for dot in layers(spec, "point", filled=True)) == [0.25, 0.5]
    assert [text["text"] for text in layers(spec, "text")].count("–") == 1


def test_an_estimate_without_an_interval_has_no_line() -> None:
    lines = [line for line in layers(interval_chart(ROWS), "rule") if "low" in line]
    assert [(line["low"], line["high"]) for line in lines] == [(0.2, 0.3)]


def test_a_chart_is_plain_json() -> None:
    json.dumps(interval_chart(ROWS), allow_nan=False)


def test_rows_of_one_heading_stand_together_below_it() -> None:
    texts = sorted(layers(interval_chart(ROWS), "text"), key=lambda text: text["y"])
    words = [text["text"] for text in texts if text["text"] != "–"]
    assert words == ["Non-entailment", "passive", "adverb", "Entailment", "swap"]


def test_the_line_of_chance_stands_at_chance_and_is_named() -> None:
    spec = interval_chart(ROWS, chance=0.5)
    assert {line["x"] for line in layers(spec, "rule", strokeDash=[3, 2])} == {0.5}
    assert "chance (50 %)" in as_svg(spec)


def test_published_systems_have_marks_of_their_own_up_to_four_and_one_between_them_beyond() -> None:
    def row(systems: int) -> Row:
        return Row("a", ROWS[0].estimates, published={f"system {number}": 0.5 for number in range(systems)})

    four, five = (layers(interval_chart([row(systems)]), "point", filled=False) for systems in (4, 5))
    assert [mark["system"] for mark in four] == ["system 0", "system 1", "system 2", "system 3"]
    assert [mark["system"] for mark in five] == ["5 published systems"] * 5


def test_eight_models_differ_in_colour_or_shape() -> None:
    row = Row("a", {f"model {number}": Estimate(number / 10, 0, 1, 10, 10) for number in range(8)})
    dots = next(part for part in interval_chart([row])["layer"] if part["mark"].get("filled"))
    looks = zip(*(dots["encoding"][name]["scale"]["range"] for name in ("color", "shape")), strict=True)
    assert len(set(looks)) == 8


def test_a_picture_fits_a_page_in_letters_of_eleven_pixels_or_more() -> None:
    long = [Row("a very long name of a template with many words in it, and then some", ROWS[0].estimates)]
    for rows in (ROWS, long):
        svg = as_svg(interval_chart(rows))
        assert width(svg) <= WIDTH + 36
        assert min(sizes(svg)) >= 11


def test_people_are_marked_as_such() -> None:
    row = Row("a", ROWS[0].estimates, published={"BERT": 0.2}, people={"people: crowd workers": 0.77})
    marks = layers(interval_chart([row]), "point", filled=False)
    assert [(mark["system"], mark["x"]) for mark in marks] == [("BERT", 0.2), ("people: crowd workers", 0.77)]


def test_differences_are_drawn_around_nothing_with_signs() -> None:
    changes = [Estimate(0.1, -0.02, 0.22, 9, 9), Estimate(-0.2, -0.3, -0.1, 9, 9)]
    rows = tuple(Row(name, {"b − a": change}) for name, change in zip("xy", changes, strict=True))
    svg = as_svg(specification(Chart(rows, difference_axis(changes))))
    ticks = re.findall(r">([+−]?\d+)</text>", svg)
    assert ticks == ["−40", "−20", "0", "+20", "+40"]


def test_two_drawings_in_one_page_cannot_share_an_identifier() -> None:
    assert not re.search(r'\sid="', as_svg(interval_chart(ROWS)))


def test_markup_in_names_is_text() -> None:
    bad = "<script>alert(1)</script>"
    row = Row(f"row {bad}", {f"model {bad}": Estimate(0.5, 0.4, 0.6, 9, 9)}, f"head {bad}", {f"paper {bad}": 0.5})
    svg = as_svg(interval_chart([row]))
    assert "<script" not in svg
    assert svg.count("&lt;script") >= 4


def test_a_drawing_loads_nothing() -> None:
    svg = as_svg(interval_chart(ROWS, chance=0.5))
    assert not re.search(r"(href|src)\s*=|url\(|@import", svg)


def test_the_picture_is_a_png_of_twice_the_drawing() -> None:
    spec = interval_chart(ROWS)
    png = as_png(spec, scale=2)
    assert png.startswith(b"\x89PNG")
    assert struct.unpack(">I", png[16:20])[0] == pytest.approx(2 * width(as_svg(spec)), abs=2)
