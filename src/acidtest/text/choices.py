"""The synsets that words may have, for many words at once: what a way to choose a sense chooses from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.text.ranges import Ranges
from acidtest.text.wordnet import ALL_POS, SATELLITE, wordnet

ANY = "any"
"""Asks for every part of speech."""
WANTED = pl.Enum([*ALL_POS.categories, ANY])


@dataclass(frozen=True)
class Asked:
    """Words to be told the sense of: contexts are lists of tokens, and ``rows`` says which is whose."""

    contexts: pl.Series
    words: pl.Series
    pos: pl.Series
    """One of ``WANTED`` for each word."""
    rows: pl.Series


@dataclass(frozen=True)
class Choices:
    """The synsets each word may have: those of question ``q`` are a range of ``numbers``, in WordNet's order."""

    questions: NDArray[np.int32]
    """Which of the different questions, a word with its part of speech, each word asks."""
    ranges: Ranges
    numbers: NDArray[np.int32]

    @classmethod
    def of(cls, asked: Asked, *, satellites: bool) -> Choices:
        """The choices for each word; ``satellites`` says whether they are adjectives when ``a`` is asked for."""
        distinct, words = coded(asked.words)
        parts = WANTED.categories
        codes = words * len(parts) + asked.pos.to_physical().to_numpy()
        used = np.zeros(len(distinct) * len(parts), dtype=bool)
        used[codes] = True
        number_of = np.cumsum(used, dtype=np.int32) - 1
        word, part = np.divmod(np.flatnonzero(used), len(parts))
        questions = pl.DataFrame({"word": distinct.gather(word), "wanted": parts.gather(part)})
        found = wordnet().sense_frame(distinct).select("word", "pos", "synset")
        rows = questions.with_row_index("question").join(found, on="word", maintain_order="left_right")
        pos, wanted = pl.col("pos").cast(pl.String), pl.col("wanted")
        rows = rows.filter((wanted == ANY) | (wanted == pos) | (satellites & (wanted == "a") & (pos == SATELLITE)))
        ranges = Ranges.of_sorted(rows["question"].to_numpy(), questions.height)
        return cls(number_of[codes], ranges, rows["synset"].to_numpy())

    def synsets(self, places: NDArray[np.int64]) -> pl.Series:
        """The synset at one place of the choices of each word; null where there are none."""
        none = self.ranges.lengths(self.questions) == 0
        at = np.where(none, len(self.numbers), self.ranges.starts[self.questions] + places)
        return pl.Series(np.append(self.numbers, 0)[at]).set(pl.Series(none), None)


def coded(values: pl.Series) -> tuple[pl.Series, NDArray[np.int32]]:
    """The different values, none of them null, and for each value its place among them."""
    categories = values.cast(pl.Categorical(pl.Categories.random()))
    distinct = categories.unique()
    codes = distinct.to_physical().to_numpy()
    place_of = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.int32)
    place_of[codes] = np.arange(len(codes), dtype=np.int32)
    return distinct.cast(pl.String), place_of[categories.to_physical().to_numpy()]
