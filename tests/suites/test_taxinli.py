"""Suite ``taxinli``: the published files, and only those."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.checks import find_problems
from acidtest.core.errors import AcidtestError, FileError
from acidtest.pairs.taxonomy import CATEGORIES

# Counts of the released file by label (E, N, C); the sum is what gives 1.76 categories a pair.
SOME = {"negation": (43, 185, 1157), "syntactic": (1722, 488, 693), "taxonomic": (13, 8, 13)}


def test_both_files_are_read_as_published_and_a_pair_has_one_id(shared: Path) -> None:
    whole = api.generate("taxinli", source=shared / "taxinli" / "taxinli10k.tsv")
    part = api.generate("taxinli", source=shared / "taxinli" / "taxinli10k_MNLIDev.tsv")
    assert find_problems(whole) == find_problems(part) == []
    assert whole.card.rows == api.suites()["taxinli"].rows == 10_071
    assert whole.card.labels == {"contradiction": 3375, "entailment": 3495, "neutral": 3201}
    assert whole.card.categories == part.card.categories == CATEGORIES
    frame, dev = whole.frame.collect(), part.frame.collect()
    for name, counts in SOME.items():
        held = frame.filter(name)["label"].value_counts()
        assert dict(held.iter_rows()) == dict(zip(("entailment", "neutral", "contradiction"), counts, strict=True))
    assert int(frame.select(pl.sum_horizontal(pl.col(CATEGORIES).sum())).item()) == 17_722
    assert frame.filter(pl.col("label") != "neutral")["same_topic"].null_count() == 3375 + 3495
    assert frame["annotated_label"].null_count() == 39
    assert dev.height == len(set(dev["id"]) & set(frame["id"])) == 7_727
    assert [name for name in part.card.columns if name.startswith("answer_")] == [
        "answer_naive_bayes",
        "answer_esim",
        "answer_bert",
    ]


def test_without_its_file_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(AcidtestError, match="'taxinli' is a published file; give it with --from FILE"):
        api.generate("taxinli")
    other = tmp_path / "other.csv"
    other.write_text("premise,hypothesis,label,negation\nA,B,neutral,1\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"other\.csv: is not a published file of TaxiNLI.*use the suite taxonomy"):
        api.generate("taxinli", source=other)
