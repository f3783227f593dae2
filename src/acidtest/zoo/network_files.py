"""Trained networks as folders: ``zoo.json``, ``model.safetensors`` and the files of the reader."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.files import chunks, replace_file, write_json
from acidtest.core.labels import LABELS, TWO_WAY_LABELS
from acidtest.core.structured import check_shape, read_own_json
from acidtest.zoo.catalogue import Architecture, architecture
from acidtest.zoo.readers import PairReader

SCHEMA = 1
CONFIG, WEIGHTS = "zoo.json", "model.safetensors"
_REMEDY = "train it again"


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
        """A new, untrained network."""
        network: torch.nn.Module = self.kind.network(reader.basis(len(self.labels)), **self.settings)
        return network


@dataclass(frozen=True)
class ReaderFiles:
    """The part of a reader's entry in zoo.json that all readers share: its files in the folder."""

    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class SavedNetwork:
    """A trained network, its reader, and a fingerprint of both."""

    config: NetworkConfig
    reader: PairReader
    network: torch.nn.Module
    fingerprint: str


def save_config(folder: Path, config: NetworkConfig, reader: PairReader) -> None:
    """Write zoo.json and the files of the reader."""
    write_json(folder / CONFIG, {"schema": SCHEMA, **asdict(config), "reader": reader.save(folder)})


def save_weights(folder: Path, network: torch.nn.Module) -> None:
    """Write the weights of a network, whole or not at all."""
    weights = {key: value.contiguous() for key, value in _saved_part(network).state_dict().items()}
    with replace_file(folder / WEIGHTS) as path:
        save_file(weights, path, metadata={"format": "pt"})


def load_weights(network: torch.nn.Module, path: Path) -> None:
    """Load the weights of a network from a file."""
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
    files = check_shape(reader_fields, path, ReaderFiles, key="reader", remedy=_REMEDY).files
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
    return SavedNetwork(config, reader, network, _fingerprint(folder, (CONFIG, WEIGHTS, *files)))


def _refuse_unknown(path: Path, fields: dict[str, Any], config: NetworkConfig, files: tuple[str, ...]) -> None:
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


def _fingerprint(folder: Path, names: Iterable[str]) -> str:
    """A digest of all files that decide what a network answers."""
    digest = hashlib.blake2b(digest_size=16)
    for name in names:
        for chunk in chunks(folder / name):
            digest.update(chunk)
    return digest.hexdigest()


def _saved_part(network: torch.nn.Module) -> torch.nn.Module:
    """The part whose weights are saved: its ``kept``, which other programs can read too, or the whole network."""
    part: torch.nn.Module = getattr(network, "kept", network)
    return part
