"""The heuristics of McCoy et al. (2019), told from words alone."""

from __future__ import annotations

import polars as pl

_WORD = r"[\p{L}\p{N}]+(?:['’\-][\p{L}\p{N}]+)*"


def words(sentences: pl.Series) -> pl.Series:
    """The words of each sentence, lower-cased, without punctuation, as a list column."""
    return sentences.str.to_lowercase().str.extract_all(_WORD)


def lexical_overlap(premises: pl.Series, hypotheses: pl.Series) -> pl.Series:
    """Whether every word of the hypothesis occurs in the premise; a hypothesis without words does not count."""
    frame = pl.DataFrame({"premise": words(premises), "hypothesis": words(hypotheses)})
    outside = pl.col("hypothesis").list.set_difference("premise").list.len()
    return frame.select((outside == 0) & (pl.col("hypothesis").list.len() > 0)).to_series()


def subsequence(premises: pl.Series, hypotheses: pl.Series) -> pl.Series:
    """Whether the words of the hypothesis stand in the premise one after another."""
    frame = pl.DataFrame({"premise": words(premises), "hypothesis": words(hypotheses)})
    joined = [
        pl.concat_str(pl.lit(" "), pl.col(name).list.join(" "), pl.lit(" ")).alias(name) for name in frame.columns
    ]
    inside = pl.col("premise").str.contains(pl.col("hypothesis"), literal=True)
    return frame.select(joined).select(inside & (pl.col("hypothesis").str.len_chars() > 2)).to_series()
