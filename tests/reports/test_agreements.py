"""The agreement of people as a person reads it."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import polars as pl
from rich.console import Console

from acidtest.analysis.agreement import Agreement, Ratings, agreement
from acidtest.reports.agreements import agreement_tables


def told(found: Agreement) -> list[str]:
    out = Console(file=io.StringIO(), width=110)
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
    assert lines[7:] == ["  gold: majority", "  signed"]


def test_published_numbers_stand_beside_ours() -> None:
    counts = [[3, 0, 0], [0, 0, 3], [1, 1, 1], [0, 1, 2]] * 5
    golds = ["entailment", "contradiction", "entailment", "contradiction"] * 5
    lines = told(agreement(ratings(counts, golds, corpus="Breaking NLI", gold_from="gold_label")))
    assert lines[1].split() == ["label", "given", "gold", "kappa", "95", "%", "interval", "published"]
    assert [line.split()[-1] for line in lines[2:6]] == ["0.90", "–", "0.61", "0.61"]
    assert lines[7].endswith("; published 94.1 %")
    assert lines[8:10] == [
        "  gold: gold_label",
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


def test_names_are_not_taken_for_markup() -> None:
    found = replace(agreement(ratings([[2, 0], [1, 1]], ["entailment"] * 2)), name="[bold]x.csv")
    assert told(found)[0].startswith("[bold]x.csv  2 rows")
