"""Texts as numbers of words: what the papers' networks read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.text.tokens import placed

PADDING, UNKNOWN = 0, 1
"""The numbers of what fills sentences up, and of words that are not in the vocabulary."""

SPECIAL = ("<padding>", "<unknown>")

LETTERS = 16
"""Letters of a word that count, for networks that read them; as bytes of UTF-8."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Texts:
    """Texts end to end: the number of every word, and where each text begins and at last where all end.

    ``forms`` numbers the words as they are written, known or not, and ``letters`` spells each of these out.
    """

    ids: npt.NDArray[np.int32]
    starts: Ints
    forms: npt.NDArray[np.int32]
    letters: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Ints:
        """How many words each text has."""
        return np.diff(self.starts)


@dataclass(frozen=True)
class Vocabulary:
    """Words and their numbers, in lower case; the first two stand for padding and for all others."""

    words: tuple[str, ...]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each word; what stands for padding and for all others is no word of a text."""
        return {word: number for number, word in enumerate(self.words) if number >= len(SPECIAL)}

    def texts(self, column: pl.Series | Sequence[str]) -> Texts:
        """The texts of a column; one without a word has an unknown one."""
        series = pl.Series(column, dtype=pl.String) if not isinstance(column, pl.Series) else column
        found = placed(series)
        forms = [word.lower() for word in found.words.to_list()]
        numbers = np.array([*(self.numbers.get(word, UNKNOWN) for word in forms), UNKNOWN], dtype=np.int32)
        counts = np.bincount(found.text, minlength=len(series))
        empty = np.flatnonzero(counts == 0)
        # The form of what stands in an empty text is the last, and has no letters.
        words = np.insert(found.word, (np.cumsum(counts) - counts)[empty], len(forms))
        counts[empty] = 1
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        return Texts(numbers[words], starts, words.astype(np.int32), _letters([*forms, ""]))


def vocabulary(columns: Iterable[pl.Series], more: Iterable[str] = ()) -> Vocabulary:
    """Every word of some columns, the most frequent first, then the words named besides."""
    counts = pl.concat([_counted(column) for column in columns]).group_by("word").agg(pl.col("count").sum())
    ordered = counts.sort(pl.col("count"), "word", descending=[True, False])["word"].to_list()
    return Vocabulary(tuple(dict.fromkeys((*SPECIAL, *ordered, *more))))


def _counted(column: pl.Series) -> pl.DataFrame:
    found = placed(column)
    counts = np.bincount(found.word, minlength=len(found.words)).astype(np.int64)
    return pl.DataFrame({"word": found.words.str.to_lowercase(), "count": counts})


def _letters(words: Sequence[str]) -> npt.NDArray[np.uint8]:
    """The first letters of each word; 0 where there are fewer."""
    table = np.zeros((len(words), LETTERS), dtype=np.uint8)
    for row, word in enumerate(words):
        spelled = word.encode()[:LETTERS]
        table[row, : len(spelled)] = list(spelled)
    return table
