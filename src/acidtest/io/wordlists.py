"""The tab-separated tables and word lists that ship with the package."""

from __future__ import annotations

from functools import cache
from importlib import resources

import polars as pl


@cache
def packaged_table(name: str) -> pl.DataFrame:
    """A table under ``data/`` by its path there, such as ``hans/templates.tsv``; all strings, never null."""
    source = resources.files("acidtest.data").joinpath(*name.split("/"))
    frame = pl.read_csv(source.read_bytes(), separator="\t", quote_char=None, infer_schema=False)
    return frame.with_columns(pl.all().fill_null(""))


@cache
def word_list(name: str) -> frozenset[str]:
    """One of the short lists of ``data/stress/lists.tsv``."""
    words: str = packaged_table("stress/lists.tsv").row(by_predicate=pl.col("list") == name)[1]
    return frozenset(words.split())
