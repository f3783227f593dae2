"""The vectors that words begin with: drawn, or taken from a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from acidtest.sources.vector_files import read_vectors
from acidtest.zoo.words import PADDING, SPECIAL, Vocabulary

SPREAD = 0.1
"""Standard deviation of drawn vectors where there are no others to go by."""


@dataclass(frozen=True)
class Beginnings:
    """The words a network knows, the vector each begins with, how many came from a file, and a digest of that."""

    vocabulary: Vocabulary
    vectors: npt.NDArray[np.float32]
    found: int = 0
    fingerprint: str = ""


def drawn(vocabulary: Vocabulary, dimensions: int, seed: int) -> Beginnings:
    """Vectors drawn from a normal distribution."""
    return Beginnings(vocabulary, _drawn(len(vocabulary.words), dimensions, SPREAD, seed))


def read(vocabulary: Vocabulary, path: Path, *, more: int, seed: int) -> Beginnings:
    """Vectors from a file, whose first words are known, too; words it does not have get vectors that spread alike."""
    found = read_vectors(path, vocabulary.words[len(SPECIAL) :], first=more)
    whole = Vocabulary(
        tuple(dict.fromkeys((*vocabulary.words, *(word for word in found.words if word == word.lower()))))
    )
    known = [number for number, word in enumerate(found.words) if word in whole.numbers]
    spread = float(found.vectors.std()) if known else SPREAD
    vectors = _drawn(len(whole.words), found.vectors.shape[1], spread, seed)
    vectors[[whole.numbers[found.words[number]] for number in known]] = found.vectors[known]
    return Beginnings(whole, vectors, len(known), found.fingerprint)


def _drawn(words: int, dimensions: int, spread: float, seed: int) -> npt.NDArray[np.float32]:
    vectors = np.random.default_rng(seed).normal(0, spread, (words, dimensions)).astype(np.float32)
    vectors[PADDING] = 0
    return vectors
