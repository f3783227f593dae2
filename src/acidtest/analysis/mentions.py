"""Pairs of words in a training set's contradictions: one in the premise, the other in the hypothesis."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Suite
from acidtest.sources.morphology import candidate_frame
from acidtest.sources.tokens import placed


@dataclass(frozen=True)
class Counted:
    """For each pair of words the contradictions it stands in, and how many contradictions there are."""

    counts: pl.Series
    rows: int


def contradiction_counts(pairs: pl.DataFrame, train: Suite) -> Counted:
    """How many contradictions hold each pair of lower-case words (first two columns), either word in either sentence.

    Words are whole and in any inflection: *hotter* counts as *hot*. A word that might be a form of two counts for both.
    """
    frame = train.frame.filter(pl.col("label") == "contradiction").select("premise", "hypothesis").collect()
    if not frame.height:
        raise AcidtestError(
            f"{train.name} has no contradictions to look for antonyms in; give a three-way training set"
        )
    first, second = pairs.columns
    wanted = pl.concat([pairs[first], pairs[second]]).unique()
    premise, hypothesis = (_mentions(frame[side], wanted) for side in ("premise", "hypothesis"))
    found = premise.join(hypothesis, on="text", suffix="_other").select(
        "text",
        pl.min_horizontal("word", "word_other").alias(first),
        pl.max_horizontal("word", "word_other").alias(second),
    )
    ordered = pairs.select(
        pl.min_horizontal(first, second).alias(first), pl.max_horizontal(first, second).alias(second)
    )
    found = found.join(ordered.unique(), on=[first, second], how="semi").unique()
    counts = found.group_by(first, second).agg(pl.len().alias("n"))
    joined = ordered.join(counts, on=[first, second], how="left", maintain_order="left")
    return Counted(joined["n"].fill_null(0).cast(pl.Int64), frame.height)


def _mentions(texts: pl.Series, wanted: pl.Series) -> pl.DataFrame:
    """Which of the wanted words, in any form, stand in which text."""
    found = placed(texts)
    bases = candidate_frame(found.words.str.to_lowercase()).select("row", word="form").unique()
    bases = bases.filter(pl.col("word").is_in(wanted.implode())).with_columns(pl.col("row").cast(pl.Int64))
    places = pl.DataFrame({"text": found.text, "row": found.word}, schema={"text": pl.Int64, "row": pl.Int64})
    return places.join(bases, on="row").select("text", "word").unique()
