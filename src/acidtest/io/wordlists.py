"""What ships with the package: tab-separated tables, word lists, and the corpus suites are made of by default."""

from __future__ import annotations

from functools import cache
from importlib import resources

import polars as pl

from acidtest.core.suite import Card, Suite, complete_columns

STARTER = "starter"
STARTER_CITATION = "acidtest starter corpus"


@cache
def packaged_table(name: str) -> pl.DataFrame:
    """A table under ``data/`` by its path there, such as ``hans/templates.tsv``; all strings, never null."""
    source = resources.files("acidtest.data").joinpath(*name.split("/"))
    frame = pl.scan_csv(source.read_bytes(), separator="\t", quote_char=None, infer_schema=False)
    return frame.with_columns(pl.all().fill_null("")).collect()


@cache
def word_list(name: str) -> frozenset[str]:
    """One of the short lists of ``data/stress/lists.tsv``."""
    words: str = packaged_table("stress/lists.tsv").row(by_predicate=pl.col("list") == name)[1]
    return frozenset(words.split())


@cache
def starter_pairs() -> Suite:
    """Hand-written premise–hypothesis pairs of ten genres with their labels."""
    return _starter_suite(STARTER, packaged_table("starter/pairs.tsv"))


@cache
def starter_premises() -> Suite:
    """The starter pairs, and more whose premises name a drink, a planet or something else of a word list."""
    more = packaged_table("starter/lexical.tsv").select("genre", "premise", "hypothesis", "label")
    return _starter_suite(f"{STARTER}-lexical", pl.concat([packaged_table("starter/pairs.tsv"), more]))


def _starter_suite(name: str, pairs: pl.DataFrame) -> Suite:
    rows = complete_columns(pairs.with_columns(certainty=pl.lit("human")), STARTER)
    card = Card(name, licence="Apache-2.0", citation=STARTER_CITATION, columns={"genre": "factor"})
    return Suite(rows.lazy(), card).sealed()
