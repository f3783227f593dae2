"""Readers turn texts into batches, and provide what a network is built on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import polars as pl
import torch

from acidtest.core.files import read_bytes, write_text
from acidtest.core.logs import note
from acidtest.zoo.batches import Inputs, SentenceInputs, Targets
from acidtest.zoo.catalogue import architecture
from acidtest.zoo.layers import Basis, WordVectors
from acidtest.zoo.words import InitialVectors, WordVocabulary, build_vocabulary, load_vectors

if TYPE_CHECKING:
    from acidtest.zoo.training import TrainingOptions

VOCABULARY = "vocabulary.txt"


class PairReader(Protocol):
    """Reads pairs for a kind of network.

    The class also has ``for_training(options, train)``, a reader made from training pairs, and ``load(folder, saved)``,
    one from a folder and what ``save`` returned.
    """

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads: premise and hypothesis, or trees over them."""

    def with_seed(self, seed: int) -> Self:
        """The same reader with the random numbers of another seed."""

    def basis(self, labels: int) -> Any:
        """What a network with this many labels is built on."""

    def inputs(self, frame: pl.DataFrame, targets: Targets | None, device: torch.device) -> Inputs:
        """Pairs on a device."""

    def save(self, folder: Path) -> dict[str, Any]:
        """Write the reader's files to a folder; return its entry for zoo.json, whose ``files`` names them."""


@dataclass(frozen=True)
class WordReader:
    """Reads pairs as words with vectors, and spells them for networks that read letters."""

    vocabulary: WordVocabulary
    dimensions: int
    tuned: bool
    spelled: bool = False
    columns: tuple[str, ...] = ("premise", "hypothesis")
    origin: Mapping[str, Any] = field(default_factory=dict)
    """How many words have vectors from a file, and the digest of that file."""
    initial: InitialVectors | None = None
    """The vectors that words start with; None in a trained network, whose vectors are among its weights."""

    @classmethod
    def for_training(cls, options: TrainingOptions, train: pl.DataFrame) -> Self:
        """The reader for the words of training pairs."""
        return cls.for_vocabulary(options, build_vocabulary([train["premise"], train["hypothesis"]]))

    @classmethod
    def for_vocabulary(cls, options: TrainingOptions, words: WordVocabulary) -> Self:
        """The reader for these words and, with a file of vectors, for its first ``more_words``."""
        seed = options.recipe.seed
        origin: dict[str, Any] = {}
        if options.embeddings == "random":
            initial = InitialVectors(words, options.dimensions, seed)
        else:
            initial = load_vectors(words, Path(options.embeddings), more=options.more_words, seed=seed)
            with_vector, total = len(initial.places), len(initial.vocabulary.words)
            note("%s: vectors of %s of %s words", options.embeddings, f"{with_vector:,}", f"{total:,}")
            origin = {"found": with_vector, "digest": initial.fingerprint}
        return cls(
            initial.vocabulary,
            initial.dimensions,
            options.embeddings_tuned,
            architecture(options.architecture).reads_letters,
            origin=origin,
            initial=initial,
        )

    def with_seed(self, seed: int) -> Self:
        """The same reader with the random vectors of another seed."""
        return self if self.initial is None else replace(self, initial=replace(self.initial, seed=seed))

    @classmethod
    def load(cls, folder: Path, saved: Mapping[str, Any]) -> Self:
        words = load_vocabulary(folder)
        return cls(words, saved["dimensions"], saved["tuned"], saved["spelled"], origin=saved["embeddings"])

    def save(self, folder: Path) -> dict[str, Any]:
        return {
            "dimensions": self.dimensions,
            "tuned": self.tuned,
            "spelled": self.spelled,
            "known": len(self.vocabulary.words),
            "embeddings": dict(self.origin),
            "files": save_vocabulary(folder, self.vocabulary),
        }

    def basis(self, labels: int) -> Basis:
        """The vectors of words; zeros where weights are still to be loaded."""
        if self.initial is None:
            vectors = torch.zeros(len(self.vocabulary.words), self.dimensions)
        else:
            vectors = torch.from_numpy(self.initial.vectors)
        return Basis(WordVectors(vectors, tuned=self.tuned), labels, self.vocabulary)

    def inputs(self, frame: pl.DataFrame, targets: Targets | None, device: torch.device) -> Inputs:
        premises, hypotheses = (self.vocabulary.texts(frame[column]) for column in self.columns)
        return SentenceInputs(premises, hypotheses, targets, device=device, spelled=self.spelled)


def save_vocabulary(folder: Path, vocabulary: WordVocabulary) -> list[str]:
    """Write a vocabulary to a folder; return the names of the files written."""
    write_text(folder / VOCABULARY, "".join(f"{word}\n" for word in vocabulary.words))
    return [VOCABULARY]


def load_vocabulary(folder: Path) -> WordVocabulary:
    """The vocabulary in a folder."""
    return WordVocabulary(tuple(read_bytes(folder / VOCABULARY).decode().split("\n")[:-1]))
