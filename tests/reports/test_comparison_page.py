"""The comparison: its page, its section in a joint report, its words."""

from __future__ import annotations

import re
from dataclasses import replace
from math import nan
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from acidtest.core.estimate import Estimate
from acidtest.core.suite import Card
from acidtest.reports.comparison_page import comparison_page
from acidtest.reports.differences import MOST_PAIRS, families, in_words, matrices, whole_chart
from acidtest.reports.html import Entry, page
from acidtest.studies.comparison import Contrast, contrasts

CARD = Card("toy", columns={"voice": "factor"}, strata=("voice",), crossings=(("voice", "label"),), rows=80)


def made(toy: SimpleNamespace, model: str, right: float, *, ids: str = "row", card: Card = CARD, **facts: Any) -> Entry:
    """A run over eighty rows of which the first so many are right."""
    count = 80
    correct = [number < right * count for number in range(count)]
    labels = ["entailment", "neutral"] * (count // 2)
    answers = [label if fine else "contradiction" for label, fine in zip(labels, correct, strict=True)]
    chances = {
        f"p_{label}": [0.9 if answer == label else 0.05 for answer in answers]
        for label in ("entailment", "neutral", "contradiction")
    }
    frame = pl.DataFrame(
        {
            "suite": [card.name] * count,
            "id": [f"{ids} {number}" for number in range(count)],
            "premise": [f"<b>{ids} {number} rained." for number in range(count)],
            "hypothesis": ["It was wet."] * count,
            "label": labels,
            "group": [f"{ids} {number}" for number in range(count)],
            "voice": ["active", "active", "passive", "passive"] * (count // 4),
            **chances,
            "answer": answers,
            "correct": correct,
        }
    )
    result = toy.suite_result(signature=f"toy|model:{model}", by={"label": {}, "voice": {}}, unanswered=0)
    return toy.entry(frame, {card.name: result}, model=model, cards=[card], **facts)


def compared(entries: list[Entry]) -> list[Contrast]:
    return contrasts([entry.run for entry in entries])


def contrast(**fields: Any) -> Contrast:
    change = Estimate(0.1, 0.05, 0.15, 100, 100)
    usual = Contrast("toy", "a", "b", "", "", (0.5, 0.6), change, True, "McNemar, exact", 0.001, 0.002, 0.04)
    return replace(usual, **fields)


def test_a_difference_is_told_with_its_direction_interval_and_adjusted_p() -> None:
    assert in_words(contrast()) == (
        "toy: b is 10.0 points better than a (95 % interval +5.0 to +15.0, adjusted p 0.0020)."
    )
    assert "b is 10.0 points worse than a" in in_words(contrast(difference=Estimate(-0.1, -0.15, -0.05, 9, 9)))


def test_no_difference_is_told_with_what_would_have_gone_unseen() -> None:
    assert in_words(contrast(p_adjusted=0.2)) == (
        "toy: no difference shown between b and a, +10.0 (+5.0 to +15.0) points. "
        "A difference under about 4.0 points would probably have gone unseen."
    )
    assert "unseen" not in in_words(contrast(p_adjusted=0.2, detectable=nan))
    assert "no difference shown" in in_words(contrast(p_adjusted=nan))


def test_what_cannot_be_compared_says_why() -> None:
    unknown = contrast(difference=Estimate(nan, note="no rows"), p=nan, p_adjusted=nan)
    assert in_words(unknown) == "toy: b and a cannot be compared (no rows)."


def test_a_matrix_turns_each_difference_round() -> None:
    pairs = [("a", "b", 0.1), ("a", "c", 0.3), ("b", "c", 0.0)]
    found = [
        contrast(first=first, second=second, difference=Estimate(value, value - 0.1, value + 0.2, 9, 9))
        for first, second, value in pairs
    ]
    (matrix,) = matrices(found)
    assert matrix.models == ("a", "b", "c")
    assert matrix.cells["c", "a"].difference.value == 0.3
    turned = matrix.cells["a", "c"].difference
    assert (turned.value, turned.low, turned.high) == pytest.approx((-0.3, -0.5, -0.2))
    assert str(matrix.cells["b", "c"].difference.value) == "0.0"
    assert matrices(found[:1]) == []


def test_families_hold_every_pair_and_many_pairs_have_charts_of_their_own(toy: SimpleNamespace) -> None:
    entries = [made(toy, f"m{number}", number / 5) for number in range(5)]
    runs = {entry.run.header.model.name: entry.run for entry in entries}
    found = {family.factor: family for family in families(compared(entries), runs)}
    assert list(found) == ["", "label", "voice", "voice × label"]
    assert len(found["voice"].pairs) == 10 > MOST_PAIRS
    assert found["voice"].chart is None
    assert all(pair.chart for pair in found["voice"].pairs)
    few = {family.factor: family for family in families(compared(entries[:3]), runs)}
    assert few["voice"].chart
    assert few["voice"].chart.series == ("m1 − m0", "m2 − m0", "m2 − m1")
    assert not any(pair.chart for pair in few["voice"].pairs)


def test_one_pair_on_one_suite_needs_no_chart_of_the_whole(toy: SimpleNamespace) -> None:
    assert whole_chart([contrast()]) is None
    picture = whole_chart([contrast(), contrast(suite="other")])
    assert picture
    assert [row.heading for row in picture.rows] == ["toy", "other"]


@pytest.mark.parametrize("models", [2, 3, 6])
def test_the_page_has_every_pair_by_every_factor(toy: SimpleNamespace, models: int) -> None:
    entries = [made(toy, f"m{number}", number / models) for number in range(models)]
    text = comparison_page(entries, compared(entries))
    pairs = models * (models - 1) // 2
    suite = toy.section(text, "suite-1")
    assert (
        len(re.findall(r'aria-label="m\d − m\d, the same rows, (?:McNemar|paired permutation within strata)', suite))
        == 3 * pairs
    )
    assert suite.count("<figure") == 3 * (1 if pairs <= MOST_PAIRS else pairs)
    assert text.count('<table class="matrix">') == (models > 2)
    assert suite.count("that both were asked") == pairs


def test_rows_only_one_gets_right_are_listed_and_linked(toy: SimpleNamespace) -> None:
    entries = [made(toy, "weak", 0.25), made(toy, "strong", 0.75)]
    suite = toy.section(comparison_page(entries, compared(entries)), "suite-1")
    assert "Of 80 rows that both were asked, both get 20 right, neither 20, only weak 0, only strong 40." in suite
    assert "Only strong is right" in suite
    assert "Only weak is right" not in suite
    assert "#examples?suite=toy&amp;model=1&amp;verdict=right&amp;other=0%3Awrong" in suite
    assert "&lt;b&gt;row 20 rained." in suite
    assert "<b>row" not in suite


def test_the_rows_of_a_category_are_told_by_its_own_column(toy: SimpleNamespace) -> None:
    card = Card("toy", columns={"negation": "category", "world": "category"}, rows=80)
    entries = [made(toy, "weak", 0.25, card=card), made(toy, "strong", 0.75, card=card)]
    marks = {"negation": [True, False] * 40, "world": [True] * 80}
    entries = [
        replace(
            each,
            run=replace(
                each.run,
                frame=each.run.predictions.with_columns(**{name: pl.Series(column) for name, column in marks.items()}),
            ),
        )
        for each in entries
    ]
    suite = toy.section(comparison_page(entries, compared(entries)), "suite-1")
    assert "#examples?suite=toy&amp;f.negation=yes&amp;verdict=differs" in suite
    assert "f.category" not in suite


def test_runs_on_different_rows_are_said_to_be_unpaired(toy: SimpleNamespace) -> None:
    entries = [made(toy, "one", 0.25), made(toy, "two", 0.75, ids="other")]
    text = comparison_page(entries, compared(entries))
    assert "different, unpaired" in toy.section(text, "pairing")
    suite = toy.section(text, "suite-1")
    assert "Not asked the same rows, so no row can be told apart by them: two − one." in suite
    assert "that both were asked" not in suite


def test_where_one_model_is_two_way_rows_are_judged_as_the_tests_judge_them(toy: SimpleNamespace) -> None:
    three = made(toy, "three", 1.0)
    two = made(toy, "two", 1.0, resolution="two-way")
    # The three-way model says contradiction where gold is neutral: wrong by its own labels, right two-way.
    frame = three.run.predictions.with_columns(
        answer=pl.lit("contradiction"), p_entailment=0.0, p_neutral=0.1, p_contradiction=0.9, correct=pl.lit(False)
    )
    entries = [replace(three, run=replace(three.run, frame=frame)), two]
    suite = toy.section(comparison_page(entries, compared(entries)), "suite-1")
    assert "all are judged two-way" in suite
    assert "both get 40 right, neither 0, only three 0, only two 40." in suite


def test_a_joint_report_tests_whole_suites_and_crossings(toy: SimpleNamespace) -> None:
    entries = [made(toy, "weak", 0.25), made(toy, "strong", 0.75)]
    text = toy.section(page(entries, contrasts=compared(entries)), "differences")
    assert "toy: strong is 50.0 points better than weak" in text
    assert re.findall(r"<summary>(toy by [^<]+) <", text) == ["toy by voice × label"]
    assert text.count("<figure") == 1
    assert "active × entailment" in text


def test_nothing_of_the_models_can_run_in_a_comparison(toy: SimpleNamespace) -> None:
    bad = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'"
    card = replace(CARD, name=bad)
    entries = [made(toy, f"{bad}{number}", number / 2, card=card) for number in range(3)]
    found = toy.Page(comparison_page(entries, compared(entries), correction=bad))
    assert len(found.of("script")) == 3
    assert not found.of("img")
    assert not found.attributes("src", "srcset", "data", "action", "onerror")


@pytest.mark.browser
def test_a_comparison_fits_a_phone_and_its_links_choose_rows(
    toy: SimpleNamespace, chromium: Any, tmp_path: Path
) -> None:
    entries = [made(toy, f"organisation/a-long-model-name-{number}", number / 4) for number in range(4)]
    path = tmp_path / "page.html"
    path.write_text(comparison_page(entries, compared(entries)), encoding="utf-8")
    chromium.wide(390)
    chromium.opened(path.as_uri())
    chromium.value("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert chromium.value("document.documentElement.scrollWidth") == 390
    chromium.wide(1100)
    chromium.opened(f"{path.as_uri()}#examples?suite=toy&model=3&verdict=right&other=0:wrong")
    assert chromium.value("document.querySelector('.count').textContent") == "60 of 80 examples"
