"""An audit in words, on the terminal and as a page."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import polars as pl
import pytest
from acidtest.reports.audit_page import audit_page
from acidtest.reports.audits import audit_table
from rich.console import Console

from acidtest.core.suite import Card, Suite, completed
from acidtest.studies.audit import AuditResult, audit
from acidtest.studies.audit.cues import Cue
from acidtest.studies.audit.findings import find_biases, heuristic_severity, is_strong_cue

LABELS = ("entailment", "neutral", "contradiction")


def suite(rows: list[tuple[str, str, str]], name: str = "mine") -> Suite:
    frame = pl.DataFrame(rows, schema=dict.fromkeys(("premise", "hypothesis", "label"), pl.String), orient="row")
    return Suite(completed(frame, name).lazy(), Card(name))


@pytest.fixture(scope="module")
def biased() -> AuditResult:
    """Sixty premises with three hypotheses each; contradictions say <b>nobody</b>, which a page must not obey."""
    rows = []
    for number in range(60):
        premise = f"Person {number} walks a dog along the road."
        rows.append((premise, f"Person {number} walks a dog.", "entailment"))
        rows.append((premise, f"Person {number} is tired and would rather be at home by now.", "neutral"))
        rows.append((premise, f"<b>Nobody</b> walks dog {number}.", "contradiction"))
    return audit(suite([*rows, rows[0]]), against=[suite(rows[:5], "leaked"), suite([], "none")])


def printed(found: AuditResult) -> str:
    console = Console(width=110, record=True, quiet=True)
    with console.capture() as capture:
        console.quiet = False
        for part in audit_table(found):
            console.print(part)
    return capture.get()


def test_findings_are_sentences_gravest_first(biased: AuditResult) -> None:
    told = {finding.code: finding for finding in find_biases(biased)}
    assert told["P1"].text == (
        "the hypothesis alone gives 100 % of each label on average, a guess 33 %: much of the label can be told "
        "without the premise"
    )
    assert told["L1"].text == "hypotheses of neutral have 12.0 words, of entailment 5.0: length gives the label away"
    assert told["H1"].severity == "severe"
    assert told["D2"].text == "1 pair stands more than once, 1 row too many"
    # Those of two persons differ in a number only.
    assert told["D4"].text == "180 of 180 pairs are nearly the same as another, 180 as one of their own label"
    assert told["K1"].text == "5 pairs of leaked (100 %) stand in the training set"
    assert told["K3"].text == "no pair of none stands in the training set, exactly or nearly"
    order = ["severe", "warning", "info", "good"]
    places = [order.index(finding.severity) for finding in find_biases(biased)]
    assert places == sorted(places)


def rows_with_subsequences(cases: int, rows: int) -> list[tuple[str, str, str]]:
    """Pairs of which the first few are cases of the subsequence heuristic, all entailed; labels are even elsewhere."""
    made = []
    for number in range(rows):
        premise = f"Person {number} walks a dog along the road."
        label = "entailment" if number < cases else ("entailment", "neutral", "contradiction")[number % 3]
        hypothesis = f"Person {number} walks a dog." if number < cases else f"It is day {number * 7 % 5} here."
        made.append((premise, hypothesis, label))
    return made


@pytest.mark.parametrize(
    ("cases", "rows", "severity", "said"),
    [
        (30, 3400, "warning", "favours the subsequence heuristic, by 30 of 3,400 pairs"),
        (60, 3400, "severe", "teaches the subsequence heuristic, by 60 of 3,400 pairs"),
    ],
)
def test_a_heuristic_is_as_grave_as_it_is_common(cases: int, rows: int, severity: str, said: str) -> None:
    found = audit(suite(rows_with_subsequences(cases, rows)))
    told = [finding for finding in find_biases(found) if finding.code == "H1" and "run of words" in finding.text]
    assert [finding.severity for finding in told] == [severity]
    assert told[0].text.startswith("100 % of pairs whose hypothesis is a run of words of the premise are entailment")
    assert told[0].text.endswith(said)


@pytest.mark.parametrize(
    ("share", "touched", "rows", "severity"),
    [
        (1.0, 30, 4_500, "warning"),  # SICK's training set
        (0.98, 333, 9_842, "severe"),  # lexical overlap in SNLI's development set
        (1274 / 1346, 1346, 392_702, "severe"),  # subsequence in MultiNLI, which taught BERT
        (2158 / 2419, 2419, 392_702, "warning"),
        (1.0, 40, 392_702, "info"),
    ],
)
def test_how_grave_a_heuristic_is(share: float, touched: int, rows: int, severity: str) -> None:
    assert heuristic_severity(share, touched, rows) == severity


def test_a_cue_of_a_common_label_is_measured_from_how_common_that_is(biased: AuditResult) -> None:
    labels = {"entailment": 290, "neutral": 563, "contradiction": 147}
    skewed = replace(biased, rows=1000, balance=replace(biased.balance, labels=labels))
    # SICK's "man → woman": 82 % neutral where 56 % are anyway. Of a rare label 82 % would be telling.
    common, rare = Cue("man → woman", "neutral", 165, 135, 0.5, 0.0), Cue("no", "contradiction", 165, 135, 2.0, 0.0)
    assert not is_strong_cue(common, skewed)
    assert is_strong_cue(rare, skewed)


def test_what_rests_on_a_test_says_so(biased: AuditResult) -> None:
    tested = [finding for finding in find_biases(biased) if finding.code in ("P1", "L1", "W1", "H1")]
    assert tested
    for finding in tested:
        assert re.search(rf"p (<0\.0001|0\.\d+), corrected for {len(biased.ps)} tests", finding.evidence[-1])


def test_the_terminal_has_every_part(biased: AuditResult) -> None:
    text = printed(biased)
    for part in ("Heuristics", "One sentence alone", "By label", "Tied to a label", "Phenomena", "Repetitions"):
        assert part in text
    assert "nobody" in text
    assert re.search(r"leaked +5 +5 +5 +0 +0 +5 +5", text)
    assert "≈ Person" in text


def test_the_page_stands_alone_and_escapes(biased: AuditResult) -> None:
    page = audit_page(biased)
    assert "<b>Nobody" not in page
    assert "&lt;b&gt;Nobody" in page
    assert not re.search(r"""(?:src|href)=["']https?:""", page)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([a-z]+)"', page)) <= set(ids)
    for section in ("findings", "heuristics", "partial", "measures", "cues", "phenomena", "repetitions", "leakage"):
        assert f'<section id="{section}"' in page
    assert page.count("<figure") >= 5
    assert "Pairs that are nearly the same" in page
    HTMLParser().feed(page)


@pytest.mark.parametrize("rows", [[], [("A dog runs.", "It moves.", "entailment")]], ids=["nothing", "one row"])
def test_hardly_anything_is_shown_too(rows: list[tuple[str, str, str]]) -> None:
    found = audit(suite(rows))
    assert "heuristic" in printed(found)
    assert "nan" not in printed(found)
    assert "nan" not in re.sub(r"<(script|style).*?</\1>", "", audit_page(found), flags=re.DOTALL)


def test_a_clean_set_is_called_so() -> None:
    rows = [(f"Premise {number} is so.", f"Claim {number} is too.", LABELS[number * 7 % 3]) for number in range(60)]
    (finding,) = find_biases(audit(suite(rows)))
    assert (finding.code, finding.severity) == ("A1", "good")
