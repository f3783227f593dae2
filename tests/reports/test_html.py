"""The report page: what it says, and that nothing in it runs or loads but our own script."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from acidtest.core.run import Run
from acidtest.reports.html import Entry, page, verdict

GOLD, OTHER = "entailment", "non-entailment"
BAD = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'"


def bad_entry(toy: SimpleNamespace) -> Entry:
    """A run in which every text that comes from outside is markup."""
    ids = [f"{BAD}{n}" for n in range(4)]
    parses = {"premise_parse": [f"(S {BAD})"] * 4}
    frame = toy.rows(suite=BAD, premise=[BAD] * 4, hypothesis=[BAD] * 4, id=ids, voice=[BAD] * 4, **parses)
    card = replace(toy.CARD, name=BAD, note=BAD, citation=BAD, columns={"voice": "factor"}, labels={GOLD: 4})
    slices = {
        "voice": {BAD: toy.estimate(0.5, 0.4, 0.6, note=BAD)},
        f"voice × {BAD}": {f"{BAD} × {BAD}": toy.estimate(0.5)},
    }
    numbers = [
        {"system": BAD, "source": BAD, "condition": condition, "by": {"voice": BAD}, "value": 0.5}
        for condition in ("", "people", BAD)
    ]
    result = toy.suite_result(
        signature=BAD, by=slices, notes=[BAD], published=numbers, metrics={BAD: toy.estimate(None, note=BAD)}
    )
    finding = {"code": BAD, "severity": "severe", "suite": BAD, "text": BAD, "evidence": [BAD]}
    made = toy.entry(frame, {BAD: result}, model=BAD, cards=[card], diagnosis=[finding])
    header = replace(made.run.header, settings={BAD: BAD}, versions={BAD: BAD}, notes=(BAD,))
    return Entry(Run(header, frame), made.results)


def contamination(toy: SimpleNamespace, **fields: Any) -> dict[str, Any]:
    """What the analysis of contamination hands over."""
    places = [("published", "published", 0.91), ("fresh", "published", 0.87), ("published", "novel", 0.66)]
    cells = [
        {"words": words, "templates": templates, "suite": f"hans:{words}", "slices": {"all pairs": toy.estimate(value)}}
        for words, templates, value in places
    ]
    contrast = {
        "slice": "all pairs",
        "name": "words",
        "question": "Does it do better with published words?",
        "difference": toy.estimate(0.04, 0.02, 0.06),
        "p": 0.00001,
        "p_adjusted": 0.03,
        "reference": None,
        "excess": None,
        "excess_p": None,
        "excess_p_adjusted": None,
    }
    found = {"model": "a-model", "reference": None, "cells": cells, "contrasts": [contrast], "verdict": "knows words"}
    return found | {"can": ["show this"], "cannot": ["show that"]} | fields


def test_the_page_loads_nothing_from_anywhere(toy: SimpleNamespace) -> None:
    text = page([toy.entry()])
    found = toy.Page(text)
    assert not found.attributes("src", "srcset", "data", "action", "xlink:href")
    assert {link[0] for link in found.attributes("href")} == {"#"}
    assert not found.of("link")
    style = "".join(re.findall(r"<style>(.*?)</style>", text, re.S))
    assert style
    assert not re.search(r"url\(|@import", style)


def test_a_policy_in_the_page_allows_its_own_script_and_nothing_else(toy: SimpleNamespace) -> None:
    text = page([toy.entry()])
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = (meta["content"] for meta in toy.Page(text).of("meta") if meta.get("http-equiv"))
    assert policy
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy


def test_markup_from_outside_is_shown_and_never_run(toy: SimpleNamespace) -> None:
    made = bad_entry(toy)
    leaked = contamination(toy, model=BAD, verdict=BAD, can=[BAD], cannot=[BAD], reference=BAD)
    found = toy.Page(page([made, made], not_compared=BAD, contamination=[leaked]))
    data = {"examples-index", "texts-0", "parses-0"}
    assert {script.get("id") for script in found.of("script")} == {*data, None}
    assert len(found.of("script")) == 4
    assert not found.of("img")
    assert not [name for _, attributes in found.elements for name in attributes if name.startswith("on")]


def test_the_same_runs_give_the_same_page(toy: SimpleNamespace) -> None:
    assert page([toy.entry()]) == page([toy.entry()])


def test_an_estimate_that_is_not_known_is_a_dash_with_its_note(toy: SimpleNamespace) -> None:
    assert '<td class="number" title="no examples of that">–</td>' in page([toy.entry()])


def test_percentages_have_one_decimal_and_intervals_a_dash(toy: SimpleNamespace) -> None:
    text = page([toy.entry()])
    assert ">97.1</td>" in text
    assert ">90.7</td>" in text
    assert "15.0–85.0" in text


def test_a_crossing_stands_with_entailment_first_and_the_papers_below(toy: SimpleNamespace) -> None:
    numbers = [
        {"system": "BERT", "source": "table 3", "by": {"voice": "active", "label": GOLD}, "value": 0.98},
        {"system": "BERT", "source": "table 9", "by": {"voice": "active"}, "value": 0.5},
    ]
    text = page([toy.entry(results={"toy": toy.suite_result(published=numbers)})])
    wide = text[text.index("scroll only-wide") : text.index("scroll only-narrow")]
    assert wide.index("gold entailment") < wide.index("gold non-entailment")
    cells = [data for _, data in toy.Page(wide[wide.index("<tbody>") :]).texts]
    assert cells == ["a-model", "50.0", "10.0–90.0", "–", "100.0", "20.0–100.0", "BERT", "98", "–", "–"]
    assert "Published numbers: table 3." in text


def test_people_have_a_row_of_their_own_and_other_conditions_a_table_of_theirs(toy: SimpleNamespace) -> None:
    def number(system: str, condition: str, value: float, **by: str) -> dict[str, Any]:
        return {"system": system, "source": "a paper", "condition": condition, "by": by, "value": value}

    numbers = [
        number("BERT", "", 0.11, voice="active", label=GOLD),
        number("crowd workers", "people", 0.77, voice="active", label=GOLD),
        number("crowd workers", "people", 0.76),
        number("BERT", "trained on more", 0.33, voice="active"),
    ]
    text = page([toy.entry(results={"toy": toy.suite_result(published=numbers)})])
    wide = text[text.index("scroll only-wide") : text.index("scroll only-narrow")]
    cells = [data for _, data in toy.Page(wide[wide.index("<tbody>") :]).texts]
    assert cells[6:] == ["people: crowd workers", "77", "–", "–", "BERT", "11", "–", "–"]
    assert re.search(r"People: crowd workers 76&nbsp;%", text)
    conditions = text[text.index("Published under other conditions") : text.index("Most confident mistakes")]
    assert "<h4>Trained on more.</h4>" in conditions
    assert [data for _, data in toy.Page(conditions[conditions.index("<tbody>") :]).texts][:6] == [
        "active",
        "97.1",
        "90.7",
        "98.3",
        "100",
        "33",
    ]
    others = text.replace(conditions, "")
    assert 'data-value="0.33"' not in others


def test_what_the_card_says_of_a_suite_is_not_said_again_of_each_model(toy: SimpleNamespace) -> None:
    card = replace(toy.CARD, note="Categories were proposed by rules.")
    noted = {"toy": toy.suite_result(notes=["categories were proposed by rules", "three pairs were cut"])}
    text = page([toy.entry(results=noted, model=name, cards=[card]) for name in ("a", "b")])
    assert text.count("Categories were proposed by rules.") == 1
    assert text.count("Three pairs were cut.") == 2


def test_a_slice_links_to_its_examples(toy: SimpleNamespace) -> None:
    by = {"voice": {"a/b & c": toy.estimate(0.5, 0.4, 0.6)}}
    links = toy.Page(page([toy.entry(results={"toy": toy.suite_result(by=by)})])).attributes("href")
    assert "#examples?suite=toy&f.voice=a%2Fb+%26+c" in links


@pytest.mark.parametrize("models", [2, 3, 6])
def test_every_model_has_a_column_in_every_table_and_a_lane_in_every_chart(toy: SimpleNamespace, models: int) -> None:
    names = [f"model-{number}" for number in range(models)]
    text = page([toy.entry(model=name) for name in names])
    suite = toy.section(text, "suite-1")
    for caption in ("Accuracy in per cent by voice", "Accuracy in per cent by label"):
        table = suite[suite.index(f'aria-label="{caption},') :]
        heads = re.findall(r'data-sort="number" data-column="(\d+)"', table[: table.index("</thead>")])
        assert heads == [str(number) for number in range(1, models + 2)]
        first = table[table.index("<tbody>") : table.index("</tr>", table.index("<tbody>"))]
        assert first.count("<td") == models + 1
    figure = suite[suite.index("<figure") : suite.index("</figure>")]
    row = figure[figure.index('<div class="plot-row">') :]
    looks = re.findall(r'<use href="#(m\d)" class="(c\d)"', row[: row.index("</svg>")])
    assert len(set(looks)) == models


def test_where_models_were_asked_unlike_numbers_of_pairs_each_cell_says_its_own(toy: SimpleNamespace) -> None:
    fewer = toy.suite_result(by={"voice": {"active": toy.estimate(0.5, 0.4, 0.6, n=7)}})
    suite = toy.section(page([toy.entry(), toy.entry(results={"toy": fewer}, model="b")]), "suite-1")
    assert "<small>n 100</small>" in suite
    assert "<small>n 7</small>" in suite


def test_a_chart_has_dot_interval_and_the_marks_of_papers_and_people_in_place(toy: SimpleNamespace) -> None:
    numbers = [
        {"system": "BERT", "source": "a", "condition": "", "by": {"voice": "active"}, "value": 0.25},
        {"system": "crowd", "source": "b", "condition": "people", "by": {"voice": "active"}, "value": 0.8},
    ]
    by = {"voice": {"active": toy.estimate(0.5, 0.375, 0.625), "passive": toy.estimate(None, note="none")}}
    card = replace(toy.CARD, crossings=())
    text = page([toy.entry(results={"toy": toy.suite_result(by=by, published=numbers)}, cards=[card])])
    figure = text[text.index("<figure") : text.index("</figure>")]
    active, passive = re.findall(r'<div class="plot-row">(.*?)</div>', figure, re.S)
    assert re.findall(r'<line class="c0" x1="([^"]+)" x2="([^"]+)"', active) == [("37.5%", "62.5%")]
    marks = re.findall(r'<use href="#(\w+)" class="\w+" x="([^"]+)"', active)
    assert marks == [("m0", "50%"), ("s0", "25%"), ("people", "80%")]
    assert "<use" not in passive
    assert ">–</text>" in passive
    # Gold lumps two labels together in neither label of this card: guessing among three gets a third.
    assert re.findall(r'<line class="d" x1="([^"]+)"', active) == ["33.33%"]


def test_every_factor_has_a_table_and_up_to_a_hundred_values_a_chart(toy: SimpleNamespace) -> None:
    many = {f"value {number}": toy.estimate(0.5, 0.4, 0.6) for number in range(101)}
    by = {"few": dict(list(many.items())[:100]), "many": many}
    card = replace(toy.CARD, columns={"few": "factor", "many": "factor"}, crossings=())
    text = page([toy.entry(results={"toy": toy.suite_result(by=by)}, cards=[card])])
    captions = re.findall(r'role="region" aria-label="Accuracy in per cent by (\w+),', text)
    assert sorted(captions) == ["few", "many"]
    assert re.findall(r'<figure class="chart" role="img" aria-label="Accuracy by (\w+) ', text) == ["few"]


def test_two_runs_of_one_model_are_numbered(toy: SimpleNamespace) -> None:
    models = toy.embedded(page([toy.entry(), toy.entry()]))["models"]
    assert [model["name"] for model in models] == ["a-model", "a-model (2)"]


def test_a_suite_without_factors_is_broken_down_by_label(toy: SimpleNamespace) -> None:
    card = replace(toy.CARD, columns={}, crossings=())
    by = {"label": {GOLD: toy.estimate(0.25, 0.1, 0.9), OTHER: toy.estimate(0.75, 0.1, 0.9)}}
    text = page([toy.entry(toy.rows().drop("voice"), {"toy": toy.suite_result(by=by)}, cards=[card])])
    assert "<h3>By label</h3>" in text
    assert toy.embedded(text)["factors"] == {}


def test_a_suite_of_no_rows_says_so_instead_of_showing_zero(toy: SimpleNamespace) -> None:
    nothing = toy.estimate(None, n=0, groups=0, method="", note="no rows")
    by: dict[str, Any] = {"label": {}, "voice": {}}
    result = toy.suite_result(overall=nothing, metrics={"accuracy": nothing}, by=by, unanswered=0)
    card = replace(toy.CARD, rows=0, labels={})
    text = page([toy.entry(toy.rows().clear(), {"toy": result}, cards=[card])])
    assert "accuracy not known: no rows" in text
    assert "This report holds no examples." in text
    assert "No mistake on this suite." in text
    assert toy.embedded(text)["count"] == 0
    assert "0.0" not in re.sub(r"<(style|script).*?</\1>", "", text, flags=re.S)


def test_several_suites_have_a_section_each_and_one_browser(toy: SimpleNamespace) -> None:
    cards = [
        toy.CARD,
        replace(toy.CARD, name="other", columns={"tense": "factor"}),
        replace(toy.CARD, name="other#control"),
    ]
    tense = {"voice": [None] * 4, "tense": ["past", "past", "present", "present"]}
    frames = [toy.rows(), toy.rows("other", **tense), toy.rows("other#control", voice=[None] * 4)]
    frame = pl.concat(frames, how="diagonal_relaxed")
    half = toy.estimate(0.5)
    by = {"label": {GOLD: half}, "tense": {"past": half, "present": half}}
    control = {"control": toy.estimate(0.9), "difference": toy.estimate(-0.4, -0.5, -0.3), "test": "exact McNemar"}
    changed = toy.suite_result(by=by, vs_control=control | {"p": 0.0, "p_adjusted": None})
    text = page([toy.entry(frame, {"toy": toy.suite_result(), "other": changed}, cards=cards)])
    data = toy.embedded(text)
    assert data["suites"] == {"toy": ["voice"], "other": ["tense"], "other#control": ["voice"]}
    assert data["count"] == 12
    assert data["factors"]["tense"][4:8] == tense["tense"]
    assert "difference −40.0 (−50.0 to −30.0) points, exact McNemar, p &lt;0.0001, corrected –" in text
    sections = [attributes["id"] for attributes in toy.Page(text).of("section")]
    assert sections[:4] == ["overview", "diagnosis", "suite-1", "suite-2"]


def test_subcases_are_charted_under_the_cell_they_belong_to_without_their_prefix(toy: SimpleNamespace) -> None:
    frame = toy.rows(voice=["le_short", "ln_be_long", "le_plain", "ln_get"])
    by = {"voice": {value: toy.estimate(0.5, 0.4, 0.6) for value in frame["voice"]}}
    card = replace(toy.CARD, crossings=(), columns={"voice": "factor"})
    text = page([toy.entry(frame, {"toy": toy.suite_result(by=by)}, cards=[card])])
    figure = text[text.index("<figure") : text.index("</figure>")]
    names = re.findall(r'<p class="plot-heading">([^<]+)</p>|<div class="plot-row"><span>([^<]+)</span>', figure)
    expected = ["Entailment", "short", "plain", "Non-entailment", "be long", "get"]
    assert [heading or name for heading, name in names] == expected


@pytest.mark.parametrize(
    ("severities", "line"),
    [
        (["severe", "severe", "warning"], "Grounds for distrust: 2 severe findings and 1 warning."),
        (["severe", "good"], "Grounds for distrust: 1 severe finding."),
        (["warning", "warning", "info"], "Some doubt: 2 warnings, nothing severe."),
        (["good", "info"], "These suites found no shortcut."),
        ([], "No rule had anything to say: read the numbers."),
    ],
)
def test_the_verdict_is_as_grave_as_the_gravest_finding(severities: list[str], line: str) -> None:
    assert verdict([{"severity": severity} for severity in severities]) == line


def test_a_method_is_explained_once_whatever_its_degrees_of_freedom(toy: SimpleNamespace) -> None:
    by = {
        "voice": {name: toy.estimate(0.5, 0.4, 0.6, method=f"t({name}) of the row mean, over groups") for name in "48"}
    }
    text = page([toy.entry(results={"toy": toy.suite_result(by=by)})])
    assert text.count("<dt>t of the row mean, over groups</dt>") == 1
    assert "The Wilson score interval" in text


def test_mistakes_can_be_read_without_a_script_with_gold_answer_and_probability(toy: SimpleNamespace) -> None:
    text = toy.section(page([toy.entry()]), "suite-1")
    block = text[text.index("<h3>Most confident mistakes</h3>") :]
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", block))
    assert "2 of 2 mistakes" in words
    sure = "Premise Some cats sleep. Hypothesis Cats sleep. gold entailment answered neutral at 0.700 voice active"
    assert sure in words
    assert "Premise No dog barked. Hypothesis A dog barked. gold non-entailment answered nothing" in words


def test_the_mistakes_of_a_model_without_probabilities_are_not_called_confident(toy: SimpleNamespace) -> None:
    text = toy.section(page([toy.entry(probabilities=False)]), "suite-1")
    assert "<h3>Some mistakes</h3>" in text
    assert "this model gives labels only" in text
    assert " at 0." not in text


def test_a_joint_page_that_has_no_tests_says_why(toy: SimpleNamespace) -> None:
    text = page([toy.entry(), toy.entry(model="b")], not_compared="no two of the runs have a suite in common")
    assert "<p>No two of the runs have a suite in common.</p>" in toy.section(text, "differences")
    assert 'id="differences"' not in page([toy.entry()])


def test_contamination_is_a_table_of_words_and_templates_with_verdict_and_limits(toy: SimpleNamespace) -> None:
    text = toy.section(page([toy.entry()], contamination=[contamination(toy)]), "contamination")
    assert "Knows words." in text
    corners = text[text.index('<div class="corners">') : text.index("</div>", text.index('<div class="corners">'))]
    cells = [data for _, data in toy.Page(corners[corners.index("<tbody>") :]).texts]
    assert cells == ["published words", "91.0", "66.0", "fresh words", "87.0", "–"]
    assert "+4.0<small>+2.0 to +6.0</small>" in text
    assert "0.0300" in text
    assert "Show this." in text
    assert "Show that." in text
    assert 'id="contamination"' not in page([toy.entry()])


def test_a_reference_model_stands_beside_the_contrasts_when_there_is_one(toy: SimpleNamespace) -> None:
    (contrast,) = contamination(toy)["contrasts"]
    beside = {"reference": toy.estimate(0.01, 0.0, 0.02), "excess": toy.estimate(0.03, 0.01, 0.05, note="few rows")}
    found = contamination(toy, reference="clean", contrasts=[contrast | beside | {"excess_p": 0.5}])
    text = toy.section(page([toy.entry()], contamination=[found]), "contamination")
    assert "beside that of clean" in text
    assert "+3.0<small>+1.0 to +5.0</small>" in text
    assert "Words, all pairs: few rows." in text
    assert "excess" not in toy.section(page([toy.entry()], contamination=[contamination(toy)]), "contamination")


@pytest.mark.browser
def test_on_paper_tables_keep_their_headings_and_details_are_open(
    toy: SimpleNamespace, chromium: Any, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text(page([toy.entry()]), encoding="utf-8")
    chromium.opened(path.as_uri())
    chromium.asked("Emulation.setEmulatedMedia", media="print")
    chromium.value("dispatchEvent(new Event('beforeprint'))")
    heading = "[...document.querySelectorAll('#suite-1 th[data-sort]')].map((each) => each.innerText.trim())"
    shown = chromium.value(heading)
    closed = chromium.value("document.querySelectorAll('details:not([open])').length")
    browser = chromium.value("getComputedStyle(document.querySelector('#examples')).display")
    chromium.value("dispatchEvent(new Event('afterprint'))")
    chromium.asked("Emulation.setEmulatedMedia", media="")
    assert shown[:5] == ["label", "%", "low", "high", "n"]
    assert "" not in shown
    assert closed == 0
    assert browser == "none"
    assert chromium.value("document.querySelectorAll('details[open]').length") == 0


@pytest.mark.browser
@pytest.mark.parametrize("models", [1, 2, 6])
def test_a_phone_scrolls_the_page_in_one_direction_only(
    toy: SimpleNamespace, chromium: Any, tmp_path: Path, models: int
) -> None:
    long = {f"a_very_long_value_of_a_factor_{number}_" * 3: toy.estimate(0.5, 0.4, 0.6) for number in range(3)}
    result = toy.suite_result(by={"voice": long})
    entries = [toy.entry(results={"toy": result}, model=f"organisation/a-long-model-name-{n}") for n in range(models)]
    path = tmp_path / "page.html"
    path.write_text(page(entries, contamination=[contamination(toy)]), encoding="utf-8")
    chromium.wide(390)
    chromium.opened(path.as_uri())
    chromium.value("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert chromium.value("document.documentElement.scrollWidth") == 390
    chromium.wide(1100)
