"""The corpus that ships with the package: what a suite is made of when a user brings nothing."""

from __future__ import annotations

from functools import cache

import polars as pl

from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.io.wordlists import packaged_table

NAME = "starter"
CITATION = "acidtest starter corpus"


@cache
def starter_pairs() -> Suite:
    """Hand-written premise–hypothesis pairs of ten genres with their labels."""
    rows = packaged_table("starter/pairs.tsv").with_columns(certainty=pl.lit("human"))
    card = Card(NAME, licence="Apache-2.0", citation=CITATION, columns={"genre": "factor"})
    return Suite(complete_columns(rows, NAME).lazy(), card).sealed()


@cache
def starter_premises() -> Suite:
    """The starter pairs, and more whose premises name a drink, a planet or something else of a word list."""
    more = packaged_table("starter/lexical.tsv").select("genre", "premise", "hypothesis", "label")
    rows = pl.concat([packaged_table("starter/pairs.tsv"), more]).with_columns(certainty=pl.lit("human"))
    card = Card(f"{NAME}-lexical", licence="Apache-2.0", citation=CITATION, columns={"genre": "factor"})
    return Suite(complete_columns(rows, NAME).lazy(), card).sealed()


def starter_sentences() -> pl.DataFrame:
    """Hand-written sentences, each with an exact quantity and a name, and their genres."""
    return packaged_table("starter/quantities.tsv")
