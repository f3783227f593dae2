"""What stands between texts and a network: how pairs become batches, and what the network is built on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import polars as pl
import torch

from acidtest.core.files import read_bytes, write_text
from acidtest.core.logs import note
from acidtest.zoo.batches import Inputs, Targets
from acidtest.zoo.catalogue import architecture
from acidtest.zoo.embeddings import Beginnings, drawn, read
from acidtest.zoo.layers import Basis, Words
from acidtest.zoo.sentences import SentenceInputs
from acidtest.zoo.words import Vocabulary, vocabulary

if TYPE_CHECKING:
    from acidtest.zoo.study import Study

VOCABULARY = "vocabulary.txt"


class Reader(Protocol):
    """Reads pairs for a kind of network."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads: premise and hypothesis, or trees over them."""

    def seeded(self, seed: int) -> Self:
        """The same by other chances."""

    def basis(self, labels: int) -> Any:
        """What a network that tells so many labels apart is built on."""

    def inputs(self, frame: pl.DataFrame, targets: Targets | None, device: torch.device) -> Inputs:
        """Pairs on a device."""

    def save(self, folder: Path) -> dict[str, Any]:
        """Write what it needs to a folder; what it gives back goes to zoo.json, and both to ``load``.

        ``files`` among that names the files written.
        """


@dataclass(frozen=True)
class WordReader:
    """Reads pairs as words with vectors; for some networks spelled out."""

    vocabulary: Vocabulary
    dimensions: int
    tuned: bool
    spelled: bool = False
    columns: tuple[str, ...] = ("premise", "hypothesis")
    origin: Mapping[str, Any] = field(default_factory=dict)
    """How many words have vectors of a file, and a digest of that."""
    beginnings: Beginnings | None = None
    """The vectors that words begin with; those of a folder come with all other weights."""

    @classmethod
    def begun(cls, study: Study, train: pl.DataFrame) -> Self:
        """The words of training pairs, with the vectors they begin with."""
        return cls.over(study, vocabulary([train["premise"], train["hypothesis"]]))

    @classmethod
    def over(cls, study: Study, words: Vocabulary) -> Self:
        """These words, and others that a file of vectors begins with."""
        seed = study.recipe.seed
        origin: dict[str, Any] = {}
        if study.embeddings == "random":
            found = drawn(words, study.dimensions, seed)
        else:
            found = read(words, Path(study.embeddings), more=study.more_words, seed=seed)
            known = len(found.vocabulary.words)
            note("%s: vectors of %s of %s words", study.embeddings, f"{len(found.places):,}", f"{known:,}")
            origin = {"found": len(found.places), "digest": found.fingerprint}
        spelled = architecture(study.architecture).reads_letters
        return cls(found.vocabulary, found.dimensions, study.embeddings_tuned, spelled, origin=origin, beginnings=found)

    def seeded(self, seed: int) -> Self:
        """The same with the vectors that another seed draws."""
        return self if self.beginnings is None else replace(self, beginnings=replace(self.beginnings, seed=seed))

    @classmethod
    def load(cls, folder: Path, told: Mapping[str, Any]) -> Self:
        """The reader of a folder."""
        return cls(load_words(folder), told["dimensions"], told["tuned"], told["spelled"], origin=told["embeddings"])

    def save(self, folder: Path) -> dict[str, Any]:
        """Write the words."""
        return {
            "dimensions": self.dimensions,
            "tuned": self.tuned,
            "spelled": self.spelled,
            "known": len(self.vocabulary.words),
            "embeddings": dict(self.origin),
            "files": save_words(folder, self.vocabulary),
        }

    def basis(self, labels: int) -> Basis:
        """Words with vectors."""
        if self.beginnings is None:
            vectors = torch.zeros(len(self.vocabulary.words), self.dimensions)
        else:
            vectors = torch.from_numpy(self.beginnings.vectors)
        return Basis(Words(vectors, tuned=self.tuned), labels, self.vocabulary)

    def inputs(self, frame: pl.DataFrame, targets: Targets | None, device: torch.device) -> Inputs:
        """Pairs of sentences on a device."""
        premises, hypotheses = (self.vocabulary.texts(frame[column]) for column in self.columns)
        return SentenceInputs(premises, hypotheses, targets, device=device, spelled=self.spelled)


def save_words(folder: Path, words: Vocabulary) -> list[str]:
    """Write a vocabulary to a folder; the names of the files that hold it."""
    write_text(folder / VOCABULARY, "".join(f"{word}\n" for word in words.words))
    return [VOCABULARY]


def load_words(folder: Path) -> Vocabulary:
    """The vocabulary in a folder."""
    return Vocabulary(tuple(read_bytes(folder / VOCABULARY).decode().split("\n")[:-1]))
