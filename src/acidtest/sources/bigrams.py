"""How often two words stand side by side: what tells a sentence that nobody would say.

Counts come from a corpus of the user's. Without one, the packaged counts of a word beside a part of speech serve: they
know that *of* is followed by a noun, not which.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

import polars as pl

from acidtest.core.streams import visit_batches
from acidtest.core.suite import Suite
from acidtest.sources.tokens import tokens

LEAST = 10
"""How often a pair must have been seen, as in Glockner et al. (2018), section 3.1."""

_TELLING = 300
"""How often a word must have been counted before its not having been seen somewhere tells anything."""

EDGE = ""
"""Stands beside the first and the last word of a text."""


@dataclass(frozen=True)
class Bigrams:
    """Pairs of lower-case words that stand side by side often enough."""

    pairs: pl.DataFrame
    """Columns left and right."""

    def plausible(self, previous: pl.Series, words: pl.Series, following: pl.Series) -> pl.Series:
        """Whether words are known beside their neighbours; of several words the outer ones count."""
        lower = words.str.to_lowercase()
        first, last = lower.str.extract(r"^(\S+)"), lower.str.extract(r"(\S+)$")
        return self._known(previous, first) & self._known(last, following)

    def _known(self, left: pl.Series, right: pl.Series) -> pl.Series:
        asked = pl.DataFrame({"left": left, "right": right}).with_row_index("row")
        held = asked.join(self.pairs, on=["left", "right"], how="semi")["row"]
        beside_an_edge = (left == EDGE) | (right == EDGE) | right.str.contains(r"^\W+$") | left.str.contains(r"^\W+$")
        return asked["row"].is_in(held.implode()) | beside_an_edge


def bigrams(corpus: Suite, *, least: int = LEAST) -> Bigrams:
    """The bigrams of premises and hypotheses that occur at least so often."""
    found = pl.DataFrame(schema={"left": pl.String, "right": pl.String, "n": pl.Int64})

    def count(batch: pl.DataFrame) -> None:
        nonlocal found
        texts = pl.concat([batch["premise"], batch["hypothesis"]])
        words = tokens(texts).select("text", right=pl.col("token").str.to_lowercase())
        pairs = words.with_columns(left=pl.col("right").shift(1).over("text")).drop_nulls("left")
        counted = pairs.group_by("left", "right").agg(n=pl.len().cast(pl.Int64))
        found = pl.concat([found, counted]).group_by("left", "right").agg(pl.col("n").sum())

    visit_batches(corpus.frame.select("premise", "hypothesis"), count)
    return Bigrams(found.filter(pl.col("n") >= least).select("left", "right"))


@cache
def packaged_bigrams() -> pl.DataFrame:
    """Words and parts of speech that stand side by side: left, right, n; a part of speech is written in capitals."""
    with resources.as_file(resources.files("acidtest.data").joinpath("lexical", "bigrams.parquet")) as path:
        return pl.read_parquet(path)


def plausible_by_tag(words: pl.DataFrame) -> pl.Series:
    """Whether words are likely between their neighbours by the packaged counts.

    Columns previous, word, next, and the part of speech of each: previous_tag, tag, next_tag. Asked is how often the
    neighbour stands beside such a part of speech and, of a word that is common enough to tell, how often it stands
    beside the neighbour's. A neighbour too rare to tell is taken by its own part of speech.
    """
    lower = words["word"].str.to_lowercase()
    first, last = lower.str.extract(r"^(\S+)"), lower.str.extract(r"(\S+)$")
    kept = pl.Series([True]).new_from_index(0, words.height)
    for side, own, tag in (("previous", first, "previous_tag"), ("next", last, "next_tag")):
        neighbour, its_tag = words[side], words[tag]
        known = neighbour.is_in(_common(side).implode())
        told = pl.select(pl.when(known).then(neighbour).otherwise(its_tag)).to_series()
        by_neighbour = _seen(side, told, words["tag"])
        telling = own.is_in(_common("next" if side == "previous" else "previous").implode()) & (first == last)
        by_word = _seen(side, its_tag, own) | ~telling
        kept &= (by_neighbour & by_word) | (neighbour == EDGE) | neighbour.str.contains(r"^\W+$")
    return kept


def _seen(side: str, neighbour: pl.Series, own: pl.Series) -> pl.Series:
    """Whether the packaged counts have something with its neighbour on one side."""
    left, right = (neighbour, own) if side == "previous" else (own, neighbour)
    asked = pl.DataFrame({"left": left, "right": right}).with_row_index("row")
    held = asked.join(packaged_bigrams(), on=["left", "right"], how="semi")["row"]
    return asked["row"].is_in(held.implode())


@cache
def _common(side: str) -> pl.Series:
    """What stands often enough before something (side previous) or after it (next) to say what it goes with."""
    column = "left" if side == "previous" else "right"
    counts = packaged_bigrams().group_by(column).agg(pl.col("n").sum())
    return counts.filter(pl.col("n") >= _TELLING)[column]
