"""Count words beside parts of speech in NLI files and write ``data/lexical/bigrams.parquet``.

Usage: python tools/build_bigrams.py FILE… ; every layout that acidtest reads will do.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

from acidtest import api
from acidtest.english.tagging import tag_texts
from acidtest.suites.lexical.bigrams import LEAST

OUTPUT = Path(__file__).parents[1] / "src" / "acidtest" / "data" / "lexical" / "bigrams.parquet"
TOGETHER = 20_000


def counted(texts: pl.Series) -> pl.DataFrame:
    """How often a word stands before a tag, a tag before a word and a tag before a tag."""
    words = tag_texts(texts, "light").select("text", "tag", word=pl.col("token").str.to_lowercase())
    beside = words.with_columns(pl.col("word", "tag").shift(-1).over("text").name.prefix("next_"))
    beside = beside.drop_nulls("next_word")
    kinds = (("word", "next_tag"), ("tag", "next_word"), ("tag", "next_tag"))
    pairs = pl.concat(beside.select(left=left, right=right) for left, right in kinds)
    return pairs.group_by("left", "right").agg(n=pl.len())


def main(files: list[str]) -> None:
    """Count all files together, each text once."""
    frames = [api.load(file).frame.select("premise", "hypothesis").collect() for file in files]
    texts = pl.concat(frame[side] for frame in frames for side in frame.columns).unique(maintain_order=True)
    found = counted(texts.head(0))
    for start in range(0, len(texts), TOGETHER):
        found = (
            pl.concat([found, counted(texts.slice(start, TOGETHER))]).group_by("left", "right").agg(pl.col("n").sum())
        )
    kept = found.filter(pl.col("n") >= LEAST).sort("left", "right").with_columns(pl.col("n").cast(pl.UInt32))
    kept.write_parquet(OUTPUT, compression="zstd")
    sys.stdout.write(f"{len(texts):,} texts, {kept.height:,} pairs kept in {OUTPUT.name}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
