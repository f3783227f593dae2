"""The vectors that words begin with: drawn, or taken from a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from acidtest.io.vector_files import read_vectors
from acidtest.zoo.words import PADDING, SPECIAL, Vocabulary

Floats = npt.NDArray[np.float32]

SPREAD = 0.1
"""Standard deviation of drawn vectors where there are no others to go by."""


@dataclass(frozen=True)
class Beginnings:
    """The words a network knows, and the vectors they begin with: given in some ``places``, drawn in others.

    ``fingerprint`` is a digest of the file that gave them.
    """

    vocabulary: Vocabulary
    dimensions: int
    seed: int
    spread: float = SPREAD
    places: Sequence[int] = ()
    given: Floats | None = None
    fingerprint: str = ""

    @property
    def vectors(self) -> Floats:
        """float32[words, dimensions], new each time: a network learns them where they lie."""
        shape = (len(self.vocabulary.words), self.dimensions)
        vectors = np.random.default_rng(self.seed).normal(0, self.spread, shape).astype(np.float32)
        vectors[PADDING] = 0
        if self.given is not None:
            vectors[self.places] = self.given
        return vectors


def drawn(vocabulary: Vocabulary, dimensions: int, seed: int) -> Beginnings:
    """Vectors drawn from a normal distribution."""
    return Beginnings(vocabulary, dimensions, seed)


def read(vocabulary: Vocabulary, path: Path, *, more: int, seed: int) -> Beginnings:
    """Vectors from a file, whose first words are known, too; words it does not have get vectors that spread alike."""
    found = read_vectors(path, vocabulary.words[len(SPECIAL) :], first=more)
    whole = Vocabulary(
        tuple(dict.fromkeys((*vocabulary.words, *(word for word in found.words if word == word.lower()))))
    )
    known = [number for number, word in enumerate(found.words) if word in whole.numbers]
    spread = float(found.vectors.std()) if known else SPREAD
    places = [whole.numbers[found.words[number]] for number in known]
    return Beginnings(
        whole, found.vectors.shape[1], seed, spread, places, given=found.vectors[known], fingerprint=found.fingerprint
    )
