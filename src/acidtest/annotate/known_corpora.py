"""Published corpora that files of labels are, or are part of, so that what papers say of them can stand beside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl

from acidtest.io.tables import Table
from acidtest.text.taxonomy import TAXINLI as TAXINLI
from acidtest.text.taxonomy import is_taxinli

SNLI_TEST, BREAKING_NLI = "SNLI test", "Breaking NLI"

OWN = "annotated_label"
"""What TaxiNLI's file calls the label of the person who annotated a row, its gold being in ``label``."""

_SNLI_TEST_GOLD = {"entailment": 3368, "contradiction": 3237, "neutral": 3219}
_BREAKING_CATEGORIES = {"antonyms_wordnet", "cardinals", "nationalities"}
"""Three of its fourteen, by which it is known."""


def published_corpus(table: Table, gold: pl.Series, categories: Sequence[str]) -> str:
    """The published corpus that a file is, or is part of, or whose categories it has; empty where none is known."""
    names = {name.strip().lower(): name for name in table.columns}
    if is_taxinli(categories) or {OWN, "lexical_linguistic", "taxonomic_knowledge"} <= set(names):
        return TAXINLI
    if {"captionid", "pairid", "sentence1", "gold_label"} <= set(names):
        return SNLI_TEST if Counter(gold.drop_nulls().to_list()) == _SNLI_TEST_GOLD else ""
    if {"category", "sentence1", "gold_label"} <= set(names):
        found = table.rows.select([names["category"]]).collected().to_series().cast(pl.String, strict=False)
        return BREAKING_NLI if set(found.unique()) >= _BREAKING_CATEGORIES else ""
    return ""
