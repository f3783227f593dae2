"""What agreement says to people: tables of kappas and shares, published numbers beside them, and notes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from acidtest.core.document import Chart, Document, Note, Published, Section, Table, tables, walk
from acidtest.core.estimate import Estimate
from acidtest.core.ratings import Attendance, CheckCounts, Headcount, PeoplePace, Ratings, Times
from acidtest.pairs.taxonomy import CATEGORIES
from acidtest.render.files import write_chart
from acidtest.render.html import render_page
from acidtest.stats.annotators import InferenceAccuracy
from acidtest.studies.agreement import AgreementResult, agreement, document

SAID = {"row": pl.Int64, "annotator": pl.String, "label": pl.String, "categories": pl.List(pl.String)}


def ratings(counts: list[list[int]], gold: list[str | None], **others: Any) -> Ratings:
    labels = ("entailment", "neutral", "contradiction")[: len(counts[0])]
    golds = pl.Series("gold", gold, dtype=pl.String)
    return Ratings("file.jsonl", labels, np.array(counts), golds, signature="signed", **others)


def notes(shown: Document) -> list[str]:
    """Every sentence of a document, those below tables too."""
    parts = list(walk(shown.parts))
    below = [note for part in parts if isinstance(part, Table) for note in part.notes]
    return [*(part.text for part in parts if isinstance(part, Note)), *below]


def cells(shown: Document, table: str, row: str) -> dict[str, Any]:
    found = tables(shown)[table]
    (chosen,) = [one for one in found.rows if one.name == row]
    return {column.name: cell for column, cell in zip(found.columns, chosen.cells, strict=True)}


def test_everything_about_labels_is_shown() -> None:
    counts = [[3, 0]] * 20 + [[0, 3]] * 18 + [[2, 1]] * 4 + [[1, 1]]
    result = agreement(ratings(counts, ["entailment"] * 20 + ["neutral"] * 18 + ["entailment"] * 4 + [None]))
    shown = document(result)
    # Apart 4 * 2/3 + 1/2; beyond one a row 2 * 42 + 1; shares 69/128 and 59/128: 1 - 3.1667 / (85 * 0.24847) = 0.850.
    # With gold: 1 - 2.6667 / (84 * 0.24842) = 0.872. Agreement (38 + 4/3 + 0) / 43, human (38 + 4 * 2/3) / 42.
    assert "43 rows, 2 to 3 labels each." in notes(shown)
    assert shown.headline.startswith("file.jsonl: people agree on labels with a Fleiss' kappa of 0.850 (")
    entailment, overall = cells(shown, "labels", "entailment"), cells(shown, "labels", "overall")
    assert (entailment["given"], entailment["gold"]) == (69, 24)
    assert entailment["kappa"].value == pytest.approx(0.850, abs=0.0005)
    assert (overall["given"], overall["gold"]) == (128, 42)
    assert overall["kappa of rows with gold"].value == pytest.approx(0.872, abs=0.0005)
    assert cells(shown, "accuracies", "observed agreement")["value"].value == pytest.approx(0.915, abs=0.0005)
    assert cells(shown, "accuracies", "human performance")["value"].value == pytest.approx(0.968, abs=0.0005)
    assert "human performance: on 42 of 43 rows, 1 without a majority left out" in notes(shown)
    floor = "human performance: gold is the majority of the same labels, which makes it 66.7 % or more"
    assert floor in notes(shown)
    # x(m - x)/(m - 1) of both labels: 2 · (4 · 2/2 + 1/1) = 10; 1 - 127 · 10 / (2 · 69 · 59) = 0.844.
    alpha = cells(shown, "coefficients", "Krippendorff's alpha of labels")["value"]
    assert alpha.value == pytest.approx(0.844, abs=0.0005)
    assert "gold: majority" in notes(shown)
    assert result.signature.startswith("signed|seed:0|acidtest:")
    assert shown.signatures == {"file.jsonl": result.signature}


def test_rows_with_two_or_three_labels_have_no_human_performance() -> None:
    # A third person was asked where two disagree: two of three are right on all the rows that are left.
    counts = [[2, 0]] * 100 + [[2, 1]] * 50
    shown = document(agreement(ratings(counts, ["entailment"] * 150)))
    assert (
        "human performance: gold is the vote of the same labels, and 100 of 150 rows have two; name gold from "
        "elsewhere with --gold"
    ) in notes(shown)


def test_published_numbers_stand_beside_ours() -> None:
    counts = [[3, 0, 0], [0, 0, 3], [1, 1, 1], [0, 1, 2]] * 5
    golds: list[str | None] = ["entailment", "contradiction", "entailment", "contradiction"] * 5
    shown = document(agreement(ratings(counts, golds, corpus="Breaking NLI", gold_from="gold_label")))
    # Glockner et al. 2018, table 2.
    published = [row.cells[-1] for row in tables(shown)["labels"].rows]
    assert published == [Published(0.90), None, Published(0.61), Published(0.61)]
    assert cells(shown, "accuracies", "human performance")["published"] == Published(0.941)
    assert "gold: gold_label" in notes(shown)
    assert "neutral: no two people agree on it where they could: no interval" in notes(shown)
    assert "published: Breaking NLI, 8,193 pairs; Glockner et al. 2018, table 2" in notes(shown)


def test_what_cannot_be_measured_says_why() -> None:
    shown = document(agreement(ratings([[1, 0], [0, 1]], ["entailment", "neutral"])))
    assert "2 rows; 2 rows with fewer than two labels left out." in notes(shown)
    assert "entailment, neutral, overall: no row with two labels or more" in notes(shown)
    assert shown.headline.endswith("agreement cannot be measured: no row with two labels or more.")


def test_a_label_of_one_row_says_that_it_has_no_interval() -> None:
    counts = [[3, 0, 0], [0, 3, 0], [2, 1, 0], [1, 2, 0], [2, 0, 1]]
    golds: list[str | None] = ["entailment", "neutral", "entailment", "neutral", "entailment"]
    assert "contradiction: it rests on one of the rows: no interval" in notes(
        document(agreement(ratings(counts, golds)))
    )


def test_discards_of_a_questionnaire_are_given_by_reason() -> None:
    asked = ratings(
        [[3, 0], [0, 3], [1, 1]],
        ["entailment", "neutral", None],
        questionnaire="breaking-nli",
        discarded={"ungrammatical": 2, "empty": 1},
    )
    discarded = "asked with breaking-nli: 3 items discarded (ungrammatical 2, empty 1), 2 with gold, 1 without."
    assert discarded in notes(document(agreement(asked)))
    none = notes(document(agreement(replace(asked, discarded={}))))
    assert "asked with breaking-nli: no item discarded, 2 with gold, 1 without." in none


def marked(*sets: tuple[str, str], labels: bool = False) -> Ratings:
    """What Ann and Ben marked on each row; with labels, Ann's are all entailment and Ben's neutral on the first."""
    rows = [
        {
            "row": row,
            "annotator": who,
            "label": (["entailment", "neutral"][who == "ben" and row == 0]) if labels else None,
            "categories": marks.split(),
        }
        for row, both in enumerate(sets)
        for who, marks in zip(("ann", "ben"), both, strict=True)
    ]
    counts = np.array([[2 - (row == 0), row == 0] if labels else [] for row in range(len(sets))], dtype=np.int64)
    golds = pl.Series(["entailment"] * len(sets))
    return Ratings(
        "file.csv",
        ("entailment", "neutral") if labels else (),
        counts.reshape(len(sets), -1),
        golds if labels else pl.Series([None] * len(sets), dtype=pl.String),
        gold_from="gold",
        signature="signed",
        said=pl.DataFrame(rows, schema=SAID),
        categories=tuple(sorted({name for both in sets for marks in both for name in marks.split()})),
        reference=golds if labels else None,
        reference_from="gold",
    )


def test_categories_have_a_table_and_coefficients_of_sets() -> None:
    shown = document(agreement(marked(("x y", "x"), ("", ""), ("y", "y"), ("x", "y"), ("z", "z"), ("x", "x"))))
    assert "6 rows, 2 people each." in notes(shown)
    assert [column.name for column in tables(shown)["categories"].columns] == [
        "marked",
        "kappa",
        "alpha",
        "Cohen's kappa",
    ]
    # x was marked 2, 0, 0, 1, 0, 2 times: 1 - (1/2) / (6 · 5/12 · 7/12).
    assert cells(shown, "categories", "x")["marked"] == 5
    assert cells(shown, "categories", "x")["kappa"].value == pytest.approx(0.657, abs=0.0005)
    assert cells(shown, "categories", "z")["kappa"].value == 1
    assert [row.name for row in tables(shown)["categories"].rows] == ["x", "y", "z", "mean"]
    # (1/2 + 1 + 0 + 1 + 1) / 5.
    assert cells(shown, "coefficients", "IOU of categories")["value"].value == pytest.approx(0.7)
    assert "IOU: 1 row on which nobody marked anything (0/0) left out" in notes(shown)
    assert "z: they agree on every row: no interval" in notes(shown)
    assert "labels" not in tables(shown)


def test_published_agreement_on_categories_stands_beside_ours() -> None:
    shown = document(agreement(replace(marked(("x", "x"), ("y", "x"), ("y", "y"), labels=True), corpus="TaxiNLI")))
    # Joshi et al. 2020, section 3.1.1.
    assert cells(shown, "categories", "mean")["published"] == Published(0.226)
    assert cells(shown, "coefficients", "IOU of categories")["published"] == Published(0.241)
    assert cells(shown, "accuracies", "inference accuracy")["published"] == Published(0.867)
    assert "published: TaxiNLI, 600 pairs; Joshi et al. 2020, section 3.1.1" in notes(shown)
    # Ann is always right, Ben in two of three rows.
    assert cells(shown, "accuracies", "inference accuracy")["value"].value == pytest.approx(5 / 6)
    assert cells(shown, "people", "ann")["accuracy"].value == 1
    assert cells(shown, "coefficients", "Cohen's kappa of labels")["value"].value == 0


def test_accuracy_says_whose_mean_it_is_and_what_counts_as_wrong() -> None:
    result = agreement(marked(("x", "x"), ("y", "x"), labels=True))
    people = {f"p{number}": Estimate(number / 10, n=10, note="few") for number in range(9)}
    many = replace(result, accuracy=InferenceAccuracy(Estimate(0.4, 0.3, 0.5), people, "gold", unanswered=2))
    assert "inference accuracy: the mean of 9 people" in notes(document(many))
    assert "inference accuracy: 2 rows without an answer counted wrong" in notes(document(many))
    assert len(tables(document(many))["people"].rows) == 9


def test_times_checks_and_exclusions_are_shown() -> None:
    attendance = Attendance(
        seconds=Times(400, 12.34, (8.1, 120.6), 9000.0),
        by_person={"ann": Times(400, 12.34, (8.1, 120.6), 9000.0)},
        controls={"ann": CheckCounts(10, 0), "ben": CheckCounts(10, 3)},
        excluded=("ben",),
        left_out=67,
        people=Headcount(2, 1),
        paces={"all": PeoplePace(2, 6.55), "kept": PeoplePace(1, 8.9), "discarded": PeoplePace(1, 4.2)},
    )
    shown = document(agreement(replace(marked(("x", "x"), ("", "x")), attendance=attendance, corpus="HANS")))
    assert "seconds: half of 400 judgements between 8.1 s and 121 s; 2.5 hours in all" in notes(shown)
    assert cells(shown, "people", "everybody")["median seconds"] == 12.34
    assert "attention checks: 1 of 2 people failed some: ben 3 of 10" in notes(shown)
    assert cells(shown, "people", "ben") | {"checks failed": 3, "of": 10, "status": "excluded"} == cells(
        shown, "people", "ben"
    )
    excluded = "excluded: 1 of 2 people: ben; 67 rows of answers left out, those of attention checks among them"
    assert excluded in notes(shown)
    # McCoy et al. 2019, appendix E: 8.9 seconds of those retained.
    assert cells(shown, "pace", "kept") == {"people": 1, "seconds a pair": 8.9, "published": Published(8.9)}
    once = replace(attendance, seconds=Times(1, 23.6, (23.6, 23.6), 23.6))
    assert "seconds: 1 judgement was timed" in notes(
        document(agreement(replace(marked(("x", "x"), ("", "x")), attendance=once)))
    )


def test_one_label_a_row_is_right_or_wrong() -> None:
    said = pl.DataFrame(
        [{"row": row, "annotator": None, "label": label, "categories": None} for row, label in enumerate("aab")],
        schema=SAID,
    )
    golds = pl.Series(["a", "b", "b"])
    one = Ratings(
        "file.tsv",
        ("a", "b"),
        np.array([[1, 0], [1, 0], [0, 1]]),
        golds,
        gold_from="label",
        said=said,
        reference=golds,
        reference_from="label",
    )
    shown = document(agreement(one))
    assert "3 rows, one label each: nothing to agree on." in notes(shown)
    assert shown.headline == "file.tsv: people's labels are gold in 66.7 % of their judgements."
    assert list(tables(shown)) == ["accuracies"]


@pytest.fixture(scope="module")
def taxonomy_result() -> AgreementResult:
    """Two people, one of a hostile name, who gave sixty rows labels and categories of the taxonomy."""
    rng = np.random.default_rng(4)
    marks = rng.random((60, 1, 15)) < 0.3
    both = np.where(rng.random((60, 2, 15)) < 0.9, marks, rng.random((60, 2, 15)) < 0.3)
    labels = np.where(rng.random((60, 2)) < 0.8, "entailment", "neutral")
    rows = [
        {
            "row": row,
            "annotator": ("ann", "<b>ben</b>")[who],
            "label": str(labels[row, who]),
            "categories": [name for name, is_marked in zip(CATEGORIES, both[row, who], strict=True) if is_marked],
        }
        for row in range(60)
        for who in range(2)
    ]
    golds = pl.Series(["entailment"] * 60)
    return agreement(
        Ratings(
            "<i>file</i>.jsonl",
            ("entailment", "neutral"),
            np.stack([(labels == name).sum(axis=1) for name in ("entailment", "neutral")], axis=1),
            golds,
            gold_from="gold",
            corpus="TaxiNLI",
            said=pl.DataFrame(rows, schema=SAID),
            categories=CATEGORIES,
            reference=golds,
            reference_from="gold",
        )
    )


def test_nothing_of_the_file_is_taken_for_html(taxonomy_result: AgreementResult) -> None:
    page = render_page(document(taxonomy_result))
    assert "<i>file" not in page
    assert "<b>ben" not in page
    assert "&lt;b&gt;ben&lt;/" in page
    assert "figure 2 of Joshi et al." in page


def test_figure_2_has_the_order_of_the_taxonomy_and_the_papers_mean(taxonomy_result: AgreementResult) -> None:
    shown = document(taxonomy_result)
    table = tables(shown)["categories"]
    assert [row.name for row in table.rows] == [*CATEGORIES, "mean"]
    assert list(dict.fromkeys(row.heading for row in table.rows)) == [
        "Linguistic",
        "Logical: Connectives",
        "Logical: Deductions",
        "Knowledge",
        "All categories",
    ]
    assert [part.table for part in walk(shown.parts) if isinstance(part, Chart)] == ["labels", "categories"]


def test_the_chart_is_that_of_categories_or_of_labels(taxonomy_result: AgreementResult, tmp_path: Path) -> None:
    write_chart(document(taxonomy_result), tmp_path / "chart.png")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
    write_chart(document(taxonomy_result), tmp_path / "chart.svg")
    assert ">coreference<" in (tmp_path / "chart.svg").read_text(encoding="utf-8")
    alone = document(replace(taxonomy_result, categories=None, accuracy=None))
    assert [part.title for part in alone.parts if isinstance(part, Section)] == ["Labels", "As a whole"]
    write_chart(alone, tmp_path / "labels.svg")
    assert ">entailment<" in (tmp_path / "labels.svg").read_text(encoding="utf-8")
