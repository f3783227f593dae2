"""Which sentences plainly assert something, so that changing a word of one changes what is true.

Whoever negates, asks, supposes, reports, compares or quantifies may stay right when a word turns into its opposite:
*the soup might be cold* does not contradict *the soup might be hot*. The words that give such contexts away are listed
in ``data/contexts/doubts.tsv``, each with its reason.
"""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from acidtest.io.wordlists import packaged_table


def doubts(texts: pl.Series, reasons: Collection[str] | None = None) -> pl.Series:
    """For each text the first reason why it may be no plain assertion, null where there is none.

    ``reasons`` are those to look for, all when there are none given.
    """
    lower = pl.col("text").str.to_lowercase()
    reason = pl.lit(None, dtype=pl.String)
    table = packaged_table("contexts/doubts.tsv").reverse()
    for name, pattern in table.select("reason", "pattern").iter_rows():
        if reasons is None or name in reasons:
            reason = pl.when(lower.str.contains(pattern)).then(pl.lit(name)).otherwise(reason)
    return pl.DataFrame({"text": texts}).select(reason.alias("doubt"))["doubt"]
