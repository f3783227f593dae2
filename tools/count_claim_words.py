"""Count which words of a hypothesis go with entailment and write ``data/grounding/claim_words.tsv``.

Usage: python tools/count_claim_words.py lingnli/train.jsonl.gz mnli/mnli_dev_matched.tsv …

``baseline:claim-only`` reads them: the words of at least 200 hypotheses whose odds of entailment are at least 1.4 times
those of all hypotheses, or at most 1 / 1.4 of them, each with the logarithm of that ratio.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

import acidtest
from acidtest.pairs.heuristics import words

OUTPUT = Path(__file__).parents[1] / "src" / "acidtest" / "data" / "grounding" / "claim_words.tsv"
LEAST_ROWS, LEAST_RATIO = 200, 1.4


def main(files: list[str]) -> None:
    """Count the words of all files and write those that tell something."""
    pairs = pl.concat(acidtest.load(file).frame.select("hypothesis", "label").collect() for file in files)
    entailed = pairs["label"] == "entailment"
    rows = pl.DataFrame({"word": words(pairs["hypothesis"]).list.unique(), "entailed": entailed}).explode("word")
    counts = rows.group_by("word").agg(rows=pl.len(), entailed=pl.col("entailed").sum())
    odds = entailed.sum() / (~entailed).sum()
    ratio = (pl.col("entailed") + 1) / (pl.col("rows") - pl.col("entailed") + 1) / odds
    telling = counts.filter(pl.col("rows") >= LEAST_ROWS, pl.col("word").str.contains(r"^[a-z]+(?:['’]t)?$"))
    weights = telling.select("word", weight=ratio.log().round(2)).sort("weight", "word")
    chosen = weights.filter(pl.col("weight").abs() >= pl.lit(LEAST_RATIO).log())
    chosen.write_csv(OUTPUT, separator="\t", quote_style="never")
    sys.stdout.write(f"{pairs.height:,} hypotheses, {chosen.height} words: {OUTPUT.name}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
