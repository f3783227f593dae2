"""Trained networks as folders: ``zoo.json``, ``model.safetensors``, what the reader needs, the curve and a card."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.files import chunks, replacing, write_json
from acidtest.core.labels import LABELS, TWO_WAY_LABELS
from acidtest.core.structured import check_shape, read_own_json
from acidtest.zoo.catalogue import Architecture, architecture
from acidtest.zoo.readers import Reader

SCHEMA = 1
CONFIG, WEIGHTS = "zoo.json", "model.safetensors"
_AGAIN = "train it again"


@dataclass(frozen=True)
class Config:
    """What a network is made of, besides its weights and what it reads with."""

    architecture: str
    labels: tuple[str, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    hypothesis_only: bool = False

    @property
    def kind(self) -> Architecture:
        """The architecture."""
        return architecture(self.architecture)

    def network(self, reader: Reader) -> torch.nn.Module:
        """The network as it is before training."""
        made: torch.nn.Module = self.kind.network(reader.basis(len(self.labels)), **self.settings)
        return made


@dataclass(frozen=True)
class ReaderFiles:
    """What every reader says in zoo.json, whatever else it does: the files in the folder that it needs."""

    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Saved:
    """A trained network, how it reads pairs, and a fingerprint of both."""

    config: Config
    reader: Reader
    network: torch.nn.Module
    fingerprint: str


def save_config(folder: Path, config: Config, reader: Reader) -> None:
    """Write what a network is made of, before it is trained."""
    told = reader.save(folder)
    write_json(folder / CONFIG, {"schema": SCHEMA, **asdict(config), "reader": told})


def save_weights(folder: Path, network: torch.nn.Module) -> None:
    """Write the weights of a network, whole or not at all."""
    weights = {key: value.contiguous() for key, value in _kept(network).state_dict().items()}
    with replacing(folder / WEIGHTS) as path:
        save_file(weights, path, metadata={"format": "pt"})


def load_weights(network: torch.nn.Module, path: Path) -> None:
    """Give a network the weights of a file."""
    try:
        _kept(network).load_state_dict(load_file(path))
    except Exception as error:
        # What safetensors raises shares no class with what torch does.
        raise FileError(path, f"does not hold the weights of this network ({error}); train it again") from error


def load(folder: str | Path) -> Saved:
    """The network in a folder that ``acidtest train`` wrote."""
    folder = Path(folder)
    if not (folder / CONFIG).is_file():
        raise AcidtestError(f"zoo:{folder} has no {CONFIG}; acidtest train writes such folders")
    if not (folder / WEIGHTS).is_file():
        raise AcidtestError(
            f"zoo:{folder} is not trained yet: it has no {WEIGHTS}; train it with the same command again"
        )
    path = folder / CONFIG
    fields = read_own_json(path, dict[str, Any], SCHEMA, remedy=_AGAIN)
    config = check_shape(fields, path, Config, remedy=_AGAIN)
    own = check_shape(fields.get("reader"), path, dict[str, Any], key="reader", remedy=_AGAIN)
    files = check_shape(own, path, ReaderFiles, key="reader", remedy=_AGAIN).files
    _refuse_unknown(path, fields, config, files)
    try:
        reader: Reader = config.kind.reader.load(folder, own)
        network = config.network(reader)
    except FileError:
        raise
    except Exception as error:
        # Numbers that no network can have are refused by torch, in many ways.
        problem = f"{error} is missing" if isinstance(error, KeyError) else str(error).partition("\n")[0]
        raise FileError(path, f"does not describe a network of this acidtest ({problem}); {_AGAIN}") from error
    load_weights(network, folder / WEIGHTS)
    return Saved(config, reader, network, _fingerprint(folder, (CONFIG, WEIGHTS, *files)))


def _refuse_unknown(path: Path, fields: dict[str, Any], config: Config, files: tuple[str, ...]) -> None:
    """Raise for keys, labels and files that no network of ours has."""
    known = ("schema", "reader", *Config.__dataclass_fields__)
    for name in fields:
        if name not in known:
            raise FileError(path, f"{UnknownNameError('key', name, known)}; {_AGAIN}")
    if sorted(config.labels) not in (sorted(LABELS), sorted(TWO_WAY_LABELS)):
        expected = f"{', '.join(LABELS)}, or {' and '.join(TWO_WAY_LABELS)}"
        raise FileError(path, f"labels: expected {expected}, got {', '.join(config.labels) or 'none'}; {_AGAIN}")
    outside = [name for name in files if Path(name).name != name]
    if outside:
        raise FileError(path, f"reader.files: {outside[0]!r} is no file of this folder; {_AGAIN}")


def _fingerprint(folder: Path, names: Iterable[str]) -> str:
    """A digest of all that decides what a network answers."""
    digest = hashlib.blake2b(digest_size=16)
    for name in names:
        for chunk in chunks(folder / name):
            digest.update(chunk)
    return digest.hexdigest()


def _kept(network: torch.nn.Module) -> torch.nn.Module:
    """The part of a network whose weights are written: all, but for one around a network that others know, too."""
    part: torch.nn.Module = getattr(network, "kept", network)
    return part
