"""Sentences read back by the templates that could have made them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.pairs.hans import recogniser


def test_the_published_training_pairs_go_into_their_own_subcases(shared: Path) -> None:
    path = shared / "hans" / "hans_train_recovered.tsv.gz"
    rows = pl.read_csv(path, separator="\t", quote_char=None, infer_schema=False)
    found = recogniser().subcases(rows["sentence1"], rows["sentence2"])
    assert rows.height == 30_000
    assert (found["subcase"] == rows["subcase"]).sum() == 30_000


@pytest.mark.parametrize("suite", ["hans", "hans/novel"])
@pytest.mark.parametrize("words", ["fresh", "published"])
def test_generated_pairs_are_read_back(suite: str, words: str) -> None:
    rows = api.generate(suite, n=50, seed=3, arguments={"words": words}).frame.collect()
    found = recogniser().subcases(rows["premise"], rows["hypothesis"])
    assert found["subcase"].to_list() == rows["subcase"].to_list()
    assert found["template"].to_list() == rows["template"].to_list()
    assert recogniser().parses(rows["premise"]).to_list() == rows["premise_parse"].to_list()


def test_other_sentences_are_not_recognised() -> None:
    premises = pl.Series(["A man sleeps in a bed.", "The doctor slept the lawyer.", "", "The doctor near the doctor ."])
    assert recogniser().parses(premises).to_list() == [None] * 4
    pairs = recogniser().subcases(
        pl.Series(["The doctor saw the lawyer.", "The doctor saw the lawyer.", "The doctor saw the lawyer."]),
        pl.Series(["The lawyer saw the doctor.", "The doctor saw the lawyer.", "The lawyer saw."]),
    )
    assert pairs["subcase"].to_list() == ["ln_subject/object_swap", None, None]


def test_no_sentences_are_no_problem() -> None:
    none = pl.Series([], dtype=pl.String)
    assert recogniser().parses(none).to_list() == []
    assert recogniser().subcases(none, none).height == 0
