"""The page of agreement, and figure 2 as a picture."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from acidtest.reports.agreement_page import agreement_chart, agreement_page, write_agreement_chart

from acidtest.core.ratings import Attendance, CheckCounts, Ratings, Times
from acidtest.studies.agreement import AgreementResult, agreement
from acidtest.text.taxonomy import CATEGORIES

SAID = {"row": pl.Int64, "annotator": pl.String, "label": pl.String, "categories": pl.List(pl.String)}


@pytest.fixture(scope="module")
def found() -> AgreementResult:
    rng = np.random.default_rng(4)
    marks = rng.random((60, 1, 15)) < 0.3
    both = np.where(rng.random((60, 2, 15)) < 0.9, marks, rng.random((60, 2, 15)) < 0.3)
    labels = np.where(rng.random((60, 2)) < 0.8, "entailment", "neutral")
    rows = [
        {
            "row": row,
            "annotator": ("ann", "<b>ben</b>")[who],
            "label": str(labels[row, who]),
            "categories": [name for name, is_ in zip(CATEGORIES, both[row, who], strict=True) if is_],
        }
        for row in range(60)
        for who in range(2)
    ]
    counts = np.stack([(labels == name).sum(axis=1) for name in ("entailment", "neutral")], axis=1)
    golds = pl.Series(["entailment"] * 60)
    ratings = Ratings(
        "<i>file</i>.jsonl",
        ("entailment", "neutral"),
        counts,
        golds,
        gold_from="gold",
        corpus="TaxiNLI",
        signature="agreement|signed",
        said=pl.DataFrame(rows, schema=SAID),
        categories=CATEGORIES,
        reference=golds,
        reference_from="gold",
        attendance=Attendance(
            Times(120, (1, 2, 3), 260), {"ann": Times(60, (1, 2, 3), 130)}, {"eve": CheckCounts(4, 2)}, ("eve",), 64
        ),
    )
    return agreement(ratings)


def cells(page: str, name: str) -> list[str]:
    row = re.search(rf'<tr><th scope="row">{name}</th>(.*?)</tr>', page)
    assert row
    return [re.sub(r"<[^>]+>", " ", cell).strip() for cell in re.findall(r"<td[^>]*>(.*?)</td>", row[1])]


def test_the_page_holds_every_number(found: AgreementResult) -> None:
    page = agreement_page(found)
    own = found.categories
    assert own is not None
    for name, each in own.categories.items():
        marked, kappa, alpha, cohen, paper = cells(page, name)
        assert (marked, paper) == (f"{each.marked}", "–")
        assert each.cohen is not None
        for cell, value in ((kappa, each.kappa), (alpha, each.alpha), (cohen, each.cohen)):
            assert cell.startswith(f"{value.value:.3f}".replace("-", "−"))
    assert cells(page, "mean")[-1] == "0.226"
    assert "; published 0.241" in page
    assert "published 86.7 %" in page
    assert "<dt>response time</dt><dd>median 2.0 s" in page
    assert cells(page, "eve") == ["–", "–", "–", "–", "2 of 4", "excluded"]
    assert "agreement|signed" in page


def test_nothing_of_the_file_is_taken_for_html(found: AgreementResult) -> None:
    page = agreement_page(found)
    assert "<i>file" not in page
    assert "<b>ben" not in page
    assert "&lt;b&gt;ben&lt;/b&gt;" in page


def test_figure_2_has_the_order_of_the_taxonomy_and_the_papers_mean(found: AgreementResult) -> None:
    chart = agreement_chart(found)
    assert [row.name for row in chart.rows] == [*CATEGORIES, "mean"]
    assert [heading for heading, _ in chart.groups] == [
        "Linguistic",
        "Logical: Connectives",
        "Logical: Deductions",
        "Knowledge",
        "All categories",
    ]
    assert chart.rows[-1].published == {"annotators of TaxiNLI": 0.226}
    assert chart.axis.ticks[-1] == 1
    assert [chart.axis.label(tick) for tick in (-0.2, 0.0, 0.6)] == ["−0.2", "0", "0.6"]


def test_the_axis_reaches_as_far_below_chance_as_the_intervals(found: AgreementResult) -> None:
    low = min(each.kappa.low for each in found.categories.categories.values())  # type: ignore[union-attr]
    first = agreement_chart(found).axis.ticks[0]
    assert first <= min(low, 0) < first + 0.2 or first == 0


def test_labels_alone_have_a_page_and_a_chart_too(found: AgreementResult, tmp_path: Path) -> None:
    alone = replace(found, categories=None, accuracy=None, attendance=None, corpus="", published=())
    assert [row.name for row in agreement_chart(alone).rows] == ["entailment", "neutral", "overall"]
    page = agreement_page(alone)
    assert 'id="categories"' not in page
    assert 'id="annotators"' not in page
    write_agreement_chart(alone, tmp_path / "chart.svg")
    svg = (tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert svg.startswith("<svg")
    assert ">0.2<" in svg
    write_agreement_chart(found, tmp_path / "chart.png")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
