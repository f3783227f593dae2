"""Texts as numbers of words, and the vectors that words start with: random, or taken from a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.io.embeddings import read_vectors
from acidtest.text.tokens import tokenise

PADDING, UNKNOWN = 0, 1
"""The numbers of padding and of words that are not in the vocabulary."""

SPECIAL = ("<padding>", "<unknown>")

LETTERS = 16
"""Bytes of UTF-8 of a word that networks of letters read."""

SPREAD = 0.1
"""Standard deviation of random vectors when no file gives another."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Texts:
    """Texts end to end: the number of every word, and where each text starts, with the total length last.

    ``forms`` numbers the words as they are written, known or not, and ``letters`` spells each of these.
    """

    ids: npt.NDArray[np.int32]
    starts: Ints
    forms: npt.NDArray[np.int32]
    letters: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Ints:
        return np.diff(self.starts)


@dataclass(frozen=True)
class WordVocabulary:
    """Lower-case words and their numbers; the first two entries are padding and the unknown word."""

    words: tuple[str, ...]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each word; the two special entries are not words of texts."""
        return {word: number for number, word in enumerate(self.words) if number >= len(SPECIAL)}

    def texts(self, column: pl.Series | Sequence[str]) -> Texts:
        """The texts of a column; a text without words gets one unknown word."""
        series = column if isinstance(column, pl.Series) else pl.Series(column, dtype=pl.String)
        tokens = tokenise(series)
        forms = [word.lower() for word in tokens.words.to_list()]
        numbers = np.array([*(self.numbers.get(word, UNKNOWN) for word in forms), UNKNOWN], dtype=np.int32)
        counts = np.bincount(tokens.text, minlength=len(series))
        empty = np.flatnonzero(counts == 0)
        # The word of an empty text is the last form, which has no letters.
        words = np.insert(tokens.word, (np.cumsum(counts) - counts)[empty], len(forms))
        counts[empty] = 1
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        return Texts(numbers[words], starts, words.astype(np.int32), _spell([*forms, ""]))


def build_vocabulary(columns: Iterable[pl.Series]) -> WordVocabulary:
    """Every word of some columns, the most frequent first."""
    counts = pl.concat([_word_counts(column) for column in columns]).group_by("word").agg(pl.col("count").sum())
    ordered = counts.sort(pl.col("count"), "word", descending=[True, False])["word"].to_list()
    return WordVocabulary(tuple(dict.fromkeys((*SPECIAL, *ordered))))


def _word_counts(column: pl.Series) -> pl.DataFrame:
    tokens = tokenise(column)
    counts = np.bincount(tokens.word, minlength=len(tokens.words)).astype(np.int64)
    return pl.DataFrame({"word": tokens.words.str.to_lowercase(), "count": counts})


def _spell(words: Sequence[str]) -> npt.NDArray[np.uint8]:
    """The first ``LETTERS`` bytes of each word, followed by zeros."""
    table = np.zeros((len(words), LETTERS), dtype=np.uint8)
    for row, word in enumerate(words):
        letters = word.encode()[:LETTERS]
        table[row, : len(letters)] = list(letters)
    return table


@dataclass(frozen=True)
class InitialVectors:
    """The vocabulary of a network and the vectors it starts with: ``given`` in some ``places``, random elsewhere.

    ``fingerprint`` is a digest of the file that gave them.
    """

    vocabulary: WordVocabulary
    dimensions: int
    seed: int
    spread: float = SPREAD
    places: Sequence[int] = ()
    given: Floats | None = None
    fingerprint: str = ""

    @property
    def vectors(self) -> Floats:
        """float32[words, dimensions], a new array each time because networks train it in place."""
        shape = (len(self.vocabulary.words), self.dimensions)
        vectors = np.random.default_rng(self.seed).normal(0, self.spread, shape).astype(np.float32)
        vectors[PADDING] = 0
        if self.given is not None:
            vectors[self.places] = self.given
        return vectors


def load_vectors(vocabulary: WordVocabulary, path: Path, *, more: int, seed: int) -> InitialVectors:
    """Vectors from a file; its first ``more`` lower-case words join the vocabulary.

    Words that the file lacks get random vectors with the standard deviation of those it has.
    """
    file = read_vectors(path, vocabulary.words[len(SPECIAL) :], first=more)
    extended = WordVocabulary(
        tuple(dict.fromkeys((*vocabulary.words, *(word for word in file.words if word == word.lower()))))
    )
    known = [number for number, word in enumerate(file.words) if word in extended.numbers]
    return InitialVectors(
        extended,
        file.vectors.shape[1],
        seed,
        spread=float(file.vectors.std()) if known else SPREAD,
        places=[extended.numbers[file.words[number]] for number in known],
        given=file.vectors[known],
        fingerprint=file.fingerprint,
    )
