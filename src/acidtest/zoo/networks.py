"""Readers of pairs for networks, and the folders that trained networks are saved to and loaded from.

A folder holds ``zoo.json``, ``model.safetensors`` and the files of the reader.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import polars as pl
import torch
from safetensors.torch import load_file, save_file

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.files import chunks, replace_file, write_json
from acidtest.core.labels import LABELS, TWO_WAY_LABELS
from acidtest.core.logs import note
from acidtest.core.structured import check_shape, read_own_json
from acidtest.zoo.batches import (
    InitialVectors,
    Inputs,
    SentenceInputs,
    Targets,
    WordVocabulary,
    build_vocabulary,
    load_vectors,
)
from acidtest.zoo.catalogue import Architecture, architecture
from acidtest.zoo.layers import Basis, WordVectors

if TYPE_CHECKING:
    from acidtest.zoo.training import TrainingOptions

SCHEMA = 1
CONFIG, WEIGHTS = "zoo.json", "model.safetensors"
_REMEDY = "train it again"


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
        """The pairs as inputs of the network on a device."""

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
        spelled = getattr(architecture(options.architecture).network, "reads_letters", False)
        words, tuned = initial.vocabulary, options.embeddings_tuned
        return cls(words, initial.dimensions, tuned, spelled, origin=origin, initial=initial)

    def with_seed(self, seed: int) -> Self:
        """The same reader with the random vectors of another seed."""
        return self if self.initial is None else replace(self, initial=replace(self.initial, seed=seed))

    @classmethod
    def load(cls, folder: Path, saved: Mapping[str, Any]) -> Self:
        words = WordVocabulary.load(folder)
        return cls(words, saved["dimensions"], saved["tuned"], saved["spelled"], origin=saved["embeddings"])

    def save(self, folder: Path) -> dict[str, Any]:
        return {
            "dimensions": self.dimensions,
            "tuned": self.tuned,
            "spelled": self.spelled,
            "known": len(self.vocabulary.words),
            "embeddings": dict(self.origin),
            "files": self.vocabulary.save(folder),
        }

    def basis(self, labels: int) -> Basis:
        """The vectors of words; zeros where weights are still to be loaded."""
        if self.initial is None:
            vectors = torch.zeros(len(self.vocabulary.words), self.dimensions)
        else:
            vectors = torch.from_numpy(self.initial.vectors)
        return Basis(WordVectors(vectors, tuned=self.tuned), labels, self.vocabulary)

    def inputs(self, frame: pl.DataFrame, targets: Targets | None, device: torch.device) -> Inputs:
        premises, hypotheses = (self.vocabulary.texts(frame[name], spelled=self.spelled) for name in self.columns)
        return SentenceInputs(premises, hypotheses, targets, device=device)


@dataclass(frozen=True)
class NetworkConfig:
    """What zoo.json says of a network, apart from its reader."""

    architecture: str
    labels: tuple[str, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    hypothesis_only: bool = False

    @property
    def kind(self) -> Architecture:
        return architecture(self.architecture)

    def network(self, reader: PairReader) -> torch.nn.Module:
        network: torch.nn.Module = self.kind.network(reader.basis(len(self.labels)), **self.settings)
        return network


@dataclass(frozen=True)
class SavedNetwork:
    """A trained network, its reader, and a fingerprint of both."""

    config: NetworkConfig
    reader: PairReader
    network: torch.nn.Module
    fingerprint: str


def save_config(folder: Path, config: NetworkConfig, reader: PairReader) -> None:
    write_json(folder / CONFIG, {"schema": SCHEMA, **asdict(config), "reader": reader.save(folder)})


def save_weights(folder: Path, network: torch.nn.Module) -> None:
    """Write the weights of a network, whole or not at all."""
    weights = {key: value.contiguous() for key, value in _saved_part(network).state_dict().items()}
    with replace_file(folder / WEIGHTS) as path:
        save_file(weights, path, metadata={"format": "pt"})


def load_weights(network: torch.nn.Module, path: Path) -> None:
    try:
        _saved_part(network).load_state_dict(load_file(path))
    except Exception as error:
        # The exceptions of safetensors and of torch have no class in common.
        raise FileError(path, f"does not hold the weights of this network ({error}); {_REMEDY}") from error


def load_network(folder: str | Path) -> SavedNetwork:
    """The network in a folder that ``acidtest train`` wrote."""
    folder = Path(folder)
    if not (folder / CONFIG).is_file():
        raise AcidtestError(f"zoo:{folder} has no {CONFIG}; acidtest train writes such folders")
    if not (folder / WEIGHTS).is_file():
        raise AcidtestError(
            f"zoo:{folder} is not trained yet: it has no {WEIGHTS}; train it with the same command again"
        )
    path = folder / CONFIG
    fields = read_own_json(path, dict[str, Any], SCHEMA, remedy=_REMEDY)
    config = check_shape(fields, path, NetworkConfig, remedy=_REMEDY)
    reader_fields = check_shape(fields.get("reader"), path, dict[str, Any], key="reader", remedy=_REMEDY)
    files = check_shape(reader_fields.get("files", []), path, list[str], key="reader.files", remedy=_REMEDY)
    _refuse_unknown(path, fields, config, files)
    try:
        reader: PairReader = config.kind.reader.load(folder, reader_fields)
        network = config.network(reader)
    except FileError:
        raise
    except Exception as error:
        # Torch refuses impossible sizes with many kinds of exceptions.
        problem = f"{error} is missing" if isinstance(error, KeyError) else str(error).partition("\n")[0]
        raise FileError(path, f"does not describe a network of this acidtest ({problem}); {_REMEDY}") from error
    load_weights(network, folder / WEIGHTS)
    digest = hashlib.blake2b(digest_size=16)
    for chunk in chain.from_iterable(chunks(folder / name) for name in (CONFIG, WEIGHTS, *files)):
        digest.update(chunk)
    return SavedNetwork(config, reader, network, digest.hexdigest())


def _refuse_unknown(path: Path, fields: dict[str, Any], config: NetworkConfig, files: Sequence[str]) -> None:
    """Raise for keys, labels and files that acidtest never writes."""
    known = ("schema", "reader", *NetworkConfig.__dataclass_fields__)
    for name in fields:
        if name not in known:
            raise FileError(path, f"{UnknownNameError('key', name, known)}; {_REMEDY}")
    if sorted(config.labels) not in (sorted(LABELS), sorted(TWO_WAY_LABELS)):
        expected = f"{', '.join(LABELS)}, or {' and '.join(TWO_WAY_LABELS)}"
        raise FileError(path, f"labels: expected {expected}, got {', '.join(config.labels) or 'none'}; {_REMEDY}")
    outside = [name for name in files if Path(name).name != name]
    if outside:
        raise FileError(path, f"reader.files: {outside[0]!r} is no file of this folder; {_REMEDY}")


def _saved_part(network: torch.nn.Module) -> torch.nn.Module:
    """The part of a network whose weights are saved: ``kept``, which other programs can read, or the whole network."""
    part: torch.nn.Module = getattr(network, "kept", network)
    return part
