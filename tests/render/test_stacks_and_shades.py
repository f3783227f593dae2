"""Charts of counts and of values on both sides of a reference line, and a single chart as a file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from acidtest.core.document import Chart, Column, Document, Published, Reference, Row, Table
from acidtest.core.errors import FileError
from acidtest.core.estimate import Estimate
from acidtest.render.files import write_chart
from acidtest.render.svg import draw

COUNTS = Table(
    "counts",
    "Pairs",
    (Column("yes", "count"), Column("no", "count")),
    (Row("first", (30, 10)), Row("second", (5, None))),
)


def widths(svg: str, css: str) -> list[float]:
    return [float(width) for width in re.findall(rf'<rect [^>]*width="([\d.]+)"[^>]*class="{css}"', svg)]


def test_counts_are_stacked_on_a_scale_that_ends_above_the_largest_sum() -> None:
    svg = draw(Chart("counts", "stack", ("yes", "no")), COUNTS, width=900)
    first, second = widths(svg, "p0")
    assert first == pytest.approx(6 * second, abs=0.5), "30 and 5 of the same scale"
    assert widths(svg, "p1")[1] == 0
    assert ">40</text>" in svg
    assert "%" not in svg


def test_values_are_shaded_by_the_side_and_distance_of_a_reference() -> None:
    names = [f"a long name {number}" for number in range(9)]
    cells = tuple(Estimate(value / 10) for value in range(-4, 5))
    table = Table("phi", "Phi", tuple(Column(name, "number") for name in names), (Row("row", cells),))
    svg = draw(Chart("phi", "shades", reference=Reference(0.0, "unrelated")), table, width=760)
    shades = re.findall(r'class="(s[01])" stroke="none" fill-opacity="([\d.]+)"', svg)
    assert [css for css, _ in shades] == ["s1"] * 5 + ["s0"] * 4
    assert shades[0][1] == shades[-1][1] == "0.45"
    assert svg.count("rotate(-90)") == 9, "names that do not fit their columns stand upright"
    assert ">−0.40</text>" in svg


def test_a_single_chart_is_written_by_the_ending_of_its_file(tmp_path: Path) -> None:
    document = Document("t", "A headline.", (COUNTS, Chart("counts", "stack", ("yes", "no"))))
    write_chart(document, tmp_path / "c.svg")
    assert (tmp_path / "c.svg").read_text(encoding="utf-8").startswith("<svg")
    write_chart(document, tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(FileError, match=r"c.pdf: the ending .pdf is not that of a picture; use .svg or .png"):
        write_chart(document, tmp_path / "c.pdf")


def legend(svg: str) -> list[str]:
    """The texts above the first row of a chart."""
    return re.findall(r">([^<]+)</text>", svg.partition('class="grid"')[0])


def test_a_legend_tells_columns_of_one_name_apart_by_their_model() -> None:
    """Figure 8 of Joshi et al. (2020): the Bayesian network of each model."""
    columns = tuple(Column("network", model=model, group=model) for model in ("esim", "bert"))
    table = Table("network", "P", columns, (Row("lexical", (Estimate(0.4), Estimate(0.6))),))
    for mark in ("dots", "bars", "stack"):
        texts = legend(draw(Chart("network", mark), table))
        assert texts[:2] == ["esim", "bert"], mark


def test_a_legend_names_only_marks_that_are_drawn() -> None:
    """Figure 6: the paper's stars are words, which no chart draws; bars draw no published numbers."""
    columns = (
        Column("esim", "number"),
        Column("bert", "number"),
        Column("stars of the paper", "text", role="published"),
    )
    table = Table("logistic", "L", columns, (Row("lexical", (Estimate(0.4), Estimate(0.6), "***")),))
    assert "stars of the paper" not in draw(Chart("logistic"), table)
    numbers = (Column("esim"), Column("bert"), Column("the paper", role="published"))
    published = Table("table", "T", numbers, (Row("lexical", (Estimate(0.4), Estimate(0.6), Published(0.5))),))
    assert "the paper</text>" in draw(Chart("table"), published)
    assert "the paper</text>" not in draw(Chart("table", "bars"), published)
    assert widths(draw(Chart("table", "bars"), published), "p0")
