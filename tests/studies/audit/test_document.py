"""What an audit says: findings in sentences, and a document with every part."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl
import pytest

from acidtest.core.document import Document, Note, Pairs, Section, tables, walk
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.render.html import render_page
from acidtest.studies.audit import AuditResult, audit
from acidtest.studies.audit.cues import Cue
from acidtest.studies.audit.document import document
from acidtest.studies.audit.findings import heuristic_severity, is_strong_cue

LABELS = ("entailment", "neutral", "contradiction")


def suite(rows: list[tuple[str, str, str]], name: str = "mine") -> Suite:
    frame = pl.DataFrame(rows, schema=dict.fromkeys(("premise", "hypothesis", "label"), pl.String), orient="row")
    return Suite(complete_columns(frame, name).lazy(), Card(name))


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


def test_findings_are_sentences_most_severe_first(biased: AuditResult) -> None:
    findings = {finding.code: finding for finding in biased.findings}
    assert findings["P1"].sentence == (
        "the hypothesis alone gives 100 % of each label on average, a guess 33 %: much of the label can be told "
        "without the premise"
    )
    length = "hypotheses of neutral have 12.0 words, of entailment 5.0: length gives the label away"
    assert findings["L1"].sentence == length
    assert findings["H1"].severity == "severe"
    assert findings["D2"].sentence == "1 pair stands more than once, 1 row too many"
    # Those of two persons differ in a number only.
    assert findings["D4"].sentence == "180 of 180 pairs are nearly the same as another, 180 as one of their own label"
    assert findings["K1"].sentence == "5 pairs of leaked (100 %) stand in the training set"
    assert findings["K3"].sentence == "no pair of none stands in the training set, exactly or nearly"
    order = ["severe", "warning", "info", "good"]
    places = [order.index(finding.severity) for finding in biased.findings]
    assert places == sorted(places)


def rows_with_subsequences(cases: int, rows: int) -> list[tuple[str, str, str]]:
    """Pairs of which the first few are cases of the subsequence heuristic, all entailed; labels are even elsewhere."""
    pairs = []
    for number in range(rows):
        premise = f"Person {number} walks a dog along the road."
        label = "entailment" if number < cases else ("entailment", "neutral", "contradiction")[number % 3]
        hypothesis = f"Person {number} walks a dog." if number < cases else f"It is day {number * 7 % 5} here."
        pairs.append((premise, hypothesis, label))
    return pairs


@pytest.mark.parametrize(
    ("cases", "rows", "severity", "ending"),
    [
        (30, 3400, "warning", "favours the subsequence heuristic, by 30 of 3,400 pairs"),
        (60, 3400, "severe", "teaches the subsequence heuristic, by 60 of 3,400 pairs"),
    ],
)
def test_a_heuristic_is_as_severe_as_it_is_common(cases: int, rows: int, severity: str, ending: str) -> None:
    findings = audit(suite(rows_with_subsequences(cases, rows))).findings
    (finding,) = [one for one in findings if one.code == "H1" and "run of words" in one.sentence]
    assert finding.severity == severity
    assert finding.sentence.startswith(
        "100 % of pairs whose hypothesis is a run of words of the premise are entailment"
    )
    assert finding.sentence.endswith(ending)


@pytest.mark.parametrize(
    ("share", "pairs", "rows", "severity"),
    [
        (1.0, 30, 4_500, "warning"),  # SICK's training set
        (0.98, 333, 9_842, "severe"),  # lexical overlap in SNLI's development set
        (1274 / 1346, 1346, 392_702, "severe"),  # subsequence in MultiNLI, which taught BERT
        (2158 / 2419, 2419, 392_702, "warning"),
        (1.0, 40, 392_702, "info"),
    ],
)
def test_how_severe_a_heuristic_is(share: float, pairs: int, rows: int, severity: str) -> None:
    assert heuristic_severity(share, pairs, rows) == severity


def test_a_cue_of_a_common_label_is_measured_from_how_common_that_is(biased: AuditResult) -> None:
    labels = {"entailment": 290, "neutral": 563, "contradiction": 147}
    skewed = replace(biased, rows=1000, balance=replace(biased.balance, labels=labels))
    # SICK's "man → woman": 82 % neutral where 56 % are anyway. Of a rare label 82 % would be telling.
    common, rare = Cue("man → woman", "neutral", 165, 135, 0.5, 0.0), Cue("no", "contradiction", 165, 135, 2.0, 0.0)
    assert not is_strong_cue(common, skewed)
    assert is_strong_cue(rare, skewed)


def test_what_rests_on_a_test_says_so(biased: AuditResult) -> None:
    tested = [finding for finding in biased.findings if finding.code in ("P1", "L1", "W1", "H1")]
    assert tested
    for finding in tested:
        assert re.search(rf"p (<0\.0001|0\.\d+), corrected for {len(biased.tests)} tests", finding.evidence[-1])


def section_titles(shown: Document) -> list[str]:
    return [part.title for part in walk(shown.parts) if isinstance(part, Section)]


def test_the_document_has_every_part(biased: AuditResult) -> None:
    shown = document(biased)
    parts = ["Findings", "Heuristics", "One sentence alone", "By label", "Tied to a label", "Phenomena", "Repetitions"]
    assert [title for title in section_titles(shown) if title in parts] == parts
    by_id = tables(shown)
    (leaked, _) = by_id["leakage"].rows
    assert (leaked.name, leaked.cells) == ("leaked", (5, 5, 5, 0, 0, 5, 5))
    cells = {row.name: row.cells for row in by_id["heuristics"].rows}
    # McCoy et al. (2019), section 2, beside ours: 61 pairs support it, with the one that stands twice.
    assert cells["lexical overlap"][:2] == (61, 0)
    assert cells["lexical overlap"][-3:-1] == (2158, 261)
    assert "nobody" in [row.name for row in by_id["cues hypothesis_words"].rows]
    assert any(isinstance(part, Note) and "≈ Person" in part.text for part in walk(shown.parts))
    (near,) = [
        part
        for section in walk(shown.parts)
        if isinstance(section, Section) and section.title == "Pairs that are nearly the same"
        for part in section.parts
    ]
    assert isinstance(near, Pairs)
    assert near.pairs[0].facts["nearly"].startswith("Person")


def test_the_page_does_not_obey_markup_of_the_set(biased: AuditResult) -> None:
    page = render_page(document(biased))
    assert "<b>Nobody" not in page
    assert "&lt;b&gt;Nobody" in page


@pytest.mark.parametrize("rows", [[], [("A dog runs.", "It moves.", "entailment")]], ids=["nothing", "one row"])
def test_hardly_anything_is_shown_too(rows: list[tuple[str, str, str]]) -> None:
    shown = document(audit(suite(rows)))
    assert "heuristics" in tables(shown)
    assert "nan" not in re.sub(r"<(script|style).*?</\1>", "", render_page(shown), flags=re.DOTALL)


def test_a_clean_set_is_called_so() -> None:
    rows = [(f"Premise {number} is so.", f"Claim {number} is too.", LABELS[number * 7 % 3]) for number in range(60)]
    (finding,) = audit(suite(rows)).findings
    assert (finding.code, finding.severity) == ("A1", "good")
    assert finding.sentence == "no shortcut was found"
    # What was not found could have been there: 60 rows show only a large bias.
    assert any(line.startswith("hypothesis alone: a gain of ") for line in finding.evidence)
