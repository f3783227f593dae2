"""The agreement of people as a person reads it."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import polars as pl
from acidtest.reports.agreement_words import accuracy_told, times_told
from acidtest.reports.agreements import agreement_tables
from rich.console import Console

from acidtest.core.estimate import Estimate
from acidtest.core.ratings import Attendance, CheckCounts, PeoplePace, Ratings, Times
from acidtest.stats.annotators import InferenceAccuracy
from acidtest.studies.agreement import AgreementResult, agreement


def told(found: AgreementResult) -> list[str]:
    out = Console(file=io.StringIO(), width=200)
    for part in agreement_tables(found):
        out.print(part)
    assert isinstance(out.file, io.StringIO)
    return [line.rstrip() for line in out.file.getvalue().splitlines()]


def ratings(counts: list[list[int]], gold: list[str | None], **others: object) -> Ratings:
    labels = ("entailment", "neutral", "contradiction")[: len(counts[0])]
    golds = pl.Series("gold", gold, dtype=pl.String)
    return Ratings("file.jsonl", labels, np.array(counts), golds, signature="signed", **others)  # type: ignore[arg-type]


def test_all_is_told_once() -> None:
    counts = [[3, 0]] * 20 + [[0, 3]] * 18 + [[2, 1]] * 4 + [[1, 1]]
    found = agreement(ratings(counts, ["entailment"] * 20 + ["neutral"] * 18 + ["entailment"] * 4 + [None]))
    lines = told(found)
    # Apart 4 * 2/3 + 1/2; beyond one a row 2 * 42 + 1; shares 69/128 and 59/128: 1 - 3.1667 / (85 * 0.24847) = 0.850.
    # With gold: 1 - 2.6667 / (84 * 0.24842) = 0.872. Agreement (38 + 4/3 + 0) / 43, human (38 + 4 * 2/3) / 42.
    assert lines[0] == "file.jsonl  43 rows, 2 to 3 labels each"
    assert lines[1].split() == ["label", "given", "gold", "kappa", "95", "%", "interval", "rows", "with", "gold"]
    assert lines[2].split()[:4] == ["entailment", "69", "24", "0.850"]
    assert lines[4].split()[:4] == ["overall", "128", "42", "0.850"]
    assert lines[4].endswith("0.872")
    assert lines[5].startswith("observed agreement  91.5 % (")
    assert lines[6].startswith("human performance   96.8 % (")
    _, basis, floor = lines[6].split("; ")
    assert basis == "on 42 of 43 rows, 1 without a majority left out"
    assert floor == "gold is the majority of the same labels, which makes it 66.7 % or more"
    # x(m - x)/(m - 1) of both labels: 2 · (4 · 2/2 + 1/1) = 10; 1 - 127 · 10 / (2 · 69 · 59) = 0.844.
    assert lines[7].startswith("Krippendorff alpha  0.844 (")
    assert lines[8:] == ["  gold: majority", "  signed"]


def test_rows_with_two_or_three_labels_have_no_human_performance() -> None:
    # A third person was asked where two disagree: two of three are right on all the rows that are left.
    counts = [[2, 0]] * 100 + [[2, 1]] * 50
    lines = told(agreement(ratings(counts, ["entailment"] * 150)))
    (line,) = [line for line in lines if line.startswith("human performance")]
    assert line == (
        "human performance   – (gold is the vote of the same labels, and 100 of 150 rows have two; name gold from "
        "elsewhere with --gold)"
    )


def test_published_numbers_stand_beside_ours() -> None:
    counts = [[3, 0, 0], [0, 0, 3], [1, 1, 1], [0, 1, 2]] * 5
    golds = ["entailment", "contradiction", "entailment", "contradiction"] * 5
    lines = told(agreement(ratings(counts, golds, corpus="Breaking NLI", gold_from="gold_label")))
    assert lines[1].split() == ["label", "given", "gold", "kappa", "95", "%", "interval", "published"]
    assert [line.split()[-1] for line in lines[2:6]] == ["0.90", "–", "0.61", "0.61"]
    assert lines[7].endswith("; published 94.1 %")
    assert lines[9:12] == [
        "  gold: gold_label",
        "  neutral: no two people agree on it where they could: no interval",
        "  published: Breaking NLI, 8,193 pairs; Glockner et al. 2018, table 2",
    ]


def test_what_cannot_be_told_says_why_and_says_it_once() -> None:
    lines = told(agreement(ratings([[1, 0], [0, 1]], ["entailment", "neutral"])))
    assert lines[0] == "file.jsonl  2 rows; 2 rows with fewer than two labels left out"
    assert "observed agreement  – (no row with two labels or more)" in lines
    assert [line for line in lines if line.startswith("  overall:")] == ["  overall: no row with two labels or more"]
    assert not [line for line in lines if line.startswith("  entailment:")]


def test_a_label_of_one_row_says_that_it_has_no_interval() -> None:
    counts = [[3, 0, 0], [0, 3, 0], [2, 1, 0], [1, 2, 0], [2, 0, 1]]
    lines = told(agreement(ratings(counts, ["entailment", "neutral", "entailment", "neutral", "entailment"])))
    assert "  contradiction: it rests on one of the rows: no interval" in lines


def test_a_negative_kappa_has_a_minus_sign_and_a_rounded_zero_has_none() -> None:
    lines = told(agreement(ratings([[1, 1], [1, 1], [2, 0]], ["entailment"] * 3)))
    # Apart 1/2 + 1/2; beyond one a row 3; shares 4/6 and 2/6: 1 - 1 / (3 * 2/9) = -0.5.
    assert lines[2].split()[3] == "−0.500"


def test_discards_of_a_questionnaire_are_told_by_reason() -> None:
    found = agreement(ratings([[3, 0], [0, 3], [1, 1]], ["entailment", "neutral", None]))
    asked = replace(found, questionnaire="breaking-nli", discarded={"ungrammatical": 2, "empty": 1})
    line = "asked with breaking-nli: 3 items discarded (ungrammatical 2, empty 1), 2 with gold, 1 without"
    assert told(asked)[1] == line
    assert told(replace(asked, discarded={}))[1].startswith("asked with breaking-nli: no item discarded, 2 with gold")


SAID = {"row": pl.Int64, "annotator": pl.String, "label": pl.String, "categories": pl.List(pl.String)}


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
    said = pl.DataFrame(rows, schema=SAID)
    counts = np.array([[2 - (row == 0), row == 0] if labels else [] for row in range(len(sets))], dtype=np.int64)
    golds = pl.Series(["entailment"] * len(sets))
    names = tuple(sorted({name for both in sets for marks in both for name in marks.split()}))
    told = {"said": said, "categories": names, "reference": golds if labels else None, "reference_from": "gold"}
    return Ratings(
        "file.csv",
        ("entailment", "neutral") if labels else (),
        counts.reshape(len(sets), -1),
        golds if labels else pl.Series([None] * len(sets), dtype=pl.String),
        gold_from="gold",
        signature="signed",
        **told,  # type: ignore[arg-type]
    )


def test_categories_have_a_table_and_what_is_said_of_sets() -> None:
    found = agreement(marked(("x y", "x"), ("", ""), ("y", "y"), ("x", "y"), ("z", "z"), ("x", "x")))
    lines = told(found)
    assert lines[0] == "file.csv  6 rows, 2 people each"
    assert lines[1].split() == ["category", "marked", "kappa", "95", "%", "interval", "alpha", "Cohen"]
    # x was marked 2, 0, 0, 1, 0, 2 times: 1 - (1/2) / (6 · 5/12 · 7/12).
    assert lines[2].split()[:3] == ["x", "5", "0.657"]
    assert lines[4].split()[:3] == ["z", "2", "1.000"]
    assert lines[5].startswith("  mean")
    # (1/2 + 1 + 0 + 1 + 1) / 5.
    assert lines[6].startswith("IOU                 0.700 (")
    assert lines[6].endswith("; 1 row on which nobody marked anything (0/0) left out")
    assert lines[7].startswith("alpha of sets       ")
    assert lines[8:] == ["  z: they agree on every row: no interval", "  signed"]


def test_published_agreement_on_categories_stands_beside_ours() -> None:
    found = agreement(replace(marked(("x", "x"), ("y", "x"), ("y", "y"), labels=True), corpus="TaxiNLI"))
    lines = told(found)
    (mean,) = [line for line in lines if line.startswith("  mean")]
    assert mean.endswith("0.226")
    assert [line for line in lines if "published" in line] == [
        *[line for line in lines if line.startswith("  category")],
        *[line for line in lines if line.startswith("IOU") and "; published 0.241" in line],
        *[line for line in lines if line.endswith("; published 86.7 %")],
        "  published: TaxiNLI, 600 pairs; Joshi et al. 2020, section 3.1.1",
    ]
    # Ann is always right, Ben in two of three rows.
    (accuracy,) = [line for line in lines if line.startswith("inference accuracy")]
    assert accuracy.startswith("inference accuracy  83.3 % (")
    assert ", the mean of ann 100.0 % (" in accuracy
    assert any(line.startswith("Cohen's kappa       0.000 (") for line in lines)


def test_many_people_are_not_told_one_by_one() -> None:
    people = {f"p{number}": Estimate(number / 10, n=10, note="few") for number in range(9)}
    told = accuracy_told(InferenceAccuracy(Estimate(0.4, 0.3, 0.5), people, "gold"), None)
    assert told == "40.0 % (30.0–50.0), the mean of 9 people from 0.0 to 80.0 %"


def test_times_controls_and_exclusions_are_told() -> None:
    attendance = Attendance(
        seconds=Times(400, (8.1, 12.34, 120.6), 9000.0),
        controls={"ann": CheckCounts(10, 0), "ben": CheckCounts(10, 3)},
        excluded=("ben",),
        left_out=67,
        people=2,
        paces={"all": PeoplePace(2, 6.55), "kept": PeoplePace(1, 8.9), "discarded": PeoplePace(1, 4.2)},
    )
    found = agreement(replace(marked(("x", "x"), ("", "x")), attendance=attendance))
    lines = told(found)
    assert "response time       median 12.3 s, half of 400 between 8.1 s and 121 s; 2.5 hours in all" in lines
    assert "control items       1 of 2 people failed some: ben 3 of 10" in lines
    assert (
        "seconds a pair      mean of people: 6.5 of 2 people in all, 8.9 of 1 person kept, 4.2 of 1 person discarded"
        in lines
    )
    assert (
        "excluded            1 of 2 people: ben; 67 rows of answers left out, those of control items among them"
        in lines
    )


def test_one_label_a_row_is_right_or_wrong() -> None:
    said = pl.DataFrame(
        [{"row": row, "annotator": None, "label": label, "categories": None} for row, label in enumerate("aab")],
        schema=SAID,
    )
    golds = pl.Series(["a", "b", "b"])
    told_of = {"said": said, "reference": golds, "reference_from": "label"}
    found = Ratings("file.tsv", ("a", "b"), np.array([[1, 0], [1, 0], [0, 1]]), golds, gold_from="label", **told_of)  # type: ignore[arg-type]
    lines = told(agreement(found))
    assert lines[0] == "file.tsv  3 rows, one label each: nothing to agree on"
    assert lines[1].startswith("inference accuracy  66.7 % (")
    assert lines[2] == "  gold: label"


def test_names_are_not_taken_for_markup() -> None:
    found = replace(agreement(ratings([[2, 0], [1, 1]], ["entailment"] * 2)), name="[bold]x.csv")
    assert told(found)[0].startswith("[bold]x.csv  2 rows")


def test_one_judgement_has_no_middle_half() -> None:
    assert times_told(Times(1, (23.6, 23.6, 23.6), 23.6)) == "23.6 s, of the 1 that was timed"
