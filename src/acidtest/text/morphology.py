"""What an English word may be a form of, before a lexicon is asked: Princeton's Morphy (morphy(7WN)).

A form on the exception list (*mice*) has the bases given there; any other has those its endings allow. As NLTK does,
and unlike Princeton, the word itself is always tried first, all endings are tried, and *-ves* may come from *-f*.
"""

from __future__ import annotations

from functools import cache

import polars as pl

from acidtest.io.wordlists import packaged_table


def candidates(word: str, pos: str) -> list[str]:
    """A lower-case word and what it may be a form of as a noun (n), verb (v), adjective (a) or adverb (r)."""
    bases = _exceptions().get((pos, word))
    if bases is None:
        bases = tuple(word.removesuffix(ending) + base for ending, base in _detachments(pos) if word.endswith(ending))
    return [word, *bases]


def candidate_frame(words: pl.Series) -> pl.DataFrame:
    """``candidates`` of many lower-case words at once: columns row, attempt, form and pos; null is every one."""
    asked = pl.DataFrame({"word": words}).with_row_index("row").lazy()
    irregular = asked.join(_exception_table().lazy(), on="word")
    detached = [
        asked.filter(pl.col("word").str.ends_with(ending)).select(
            "row",
            pl.lit(attempt, pl.UInt8).alias("attempt"),
            pl.concat_str(pl.col("word").str.head(-len(ending)), pl.lit(base)).alias("form"),
            pl.lit(pos).alias("pos"),
        )
        for pos in ("n", "v", "a")
        for attempt, (ending, base) in enumerate(_detachments(pos), start=1)
    ]
    itself = asked.select(
        "row", pl.lit(0, pl.UInt8).alias("attempt"), pl.col("word").alias("form"), pl.lit(None, pl.String).alias("pos")
    )
    regular = pl.concat(detached).join(irregular, on=["row", "pos"], how="anti")
    return pl.concat([itself, irregular.select("row", "attempt", "form", "pos"), regular]).collect()


@cache
def _detachments(pos: str) -> tuple[tuple[str, str], ...]:
    """Endings and what stands there in the base form, in the order in which they are tried."""
    table = packaged_table("wordnet/detachments.tsv").filter(pl.col("pos") == pos)
    return tuple(table.select("ending", "base").iter_rows())


@cache
def _exceptions() -> dict[tuple[str, str], tuple[str, ...]]:
    rows = packaged_table("wordnet/exceptions.tsv").iter_rows()
    return {(pos, form): tuple(bases.split()) for pos, form, bases in rows}


@cache
def _exception_table() -> pl.DataFrame:
    """One row for each irregular form and base: columns word, pos, form and attempt, from 1."""
    table = packaged_table("wordnet/exceptions.tsv").select(word="form", pos="pos", form=pl.col("bases").str.split(" "))
    return table.with_columns(attempt=pl.int_ranges(1, pl.col("form").list.len() + 1, dtype=pl.UInt8)).explode(
        "form", "attempt"
    )
