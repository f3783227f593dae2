"""Asks a model for the representations in its layers, probes them and maps them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.files import ZipArchive, replace_file
from acidtest.core.guests import guest_code
from acidtest.core.logs import note, stage
from acidtest.core.model import Model, Represents
from acidtest.core.suite import Suite, require_columns
from acidtest.workflows.batteries import Arguments, Battery, Reading
from acidtest.workflows.evaluations import model_of

if TYPE_CHECKING:
    from acidtest.studies.representations import RepresentationsResult

LAYER_LIMIT = 2000
"""The default number of pairs."""

Progress = Callable[[str, int, int], None]
"""Called with the title of a step, the amount done and the total."""

_Layers = npt.NDArray[np.float32]


class _LayeredModel(Model, Represents, Protocol):
    """A model that shows its layers."""


def representations(
    model: str | object,
    suite: str | Suite,
    *,
    source: str | Path | Suite | None = None,
    limit: int = LAYER_LIMIT,
    maps: bool = False,
    keep: str | Path | None = None,
    by: Sequence[str] = (),
    permutations: int = 199,
    options: Arguments | None = None,
    arguments: Arguments | None = None,
    reading: Reading | None = None,
    seed: int = 0,
    progress: Progress = lambda title, done, total: None,
) -> RepresentationsResult:
    """Probes and silhouettes of every layer for label, categories and factors; with ``maps`` also a map of each layer.

    ``keep`` is an .npz file to which the representations are written, and from which they are read where it has those
    of the same model and pairs. ``by`` names further factors of the suite.
    """
    from acidtest.core.study import STUDIES
    from acidtest.studies.representations import layer_maps, map_library, perplexity

    if maps:
        map_library("sklearn.manifold")
    if keep is not None and Path(keep).suffix.lower() != ".npz":
        raise FileError(keep, "is to hold representations; give it a name that ends in .npz")
    layered = model_of(model, options)
    if not isinstance(layered, Represents):
        raise AcidtestError(
            f"{layered.name} does not show its layers: only models with representations() and layers do, such as hf: "
            f"checkpoints, or an object of your own that has both (python:…)"
        )
    battery = Battery((suite,), source=source, limit=limit, seed=seed, arguments=arguments, reading=reading)
    used = battery.used[0]
    require_columns(used.frame, layered.columns, used.name)
    frame = used.frame.collect()
    layers = _kept_layers(layered, frame, Path(keep), progress) if keep else _ask_layers(layered, frame, progress)
    stage("probing %d layers", len(layers))
    progress("probes", 0, len(layers))
    result: RepresentationsResult = STUDIES["representations"].compute(
        layers,
        frame,
        card=used.card,
        model=layered.name,
        names=tuple(layered.layers),
        by=by,
        permutations=permutations,
        seed=seed,
        progress=lambda done, total: progress("probes", done, total),
    )
    if not maps:
        return result
    stage("making maps of %d layers", len(layers))
    progress("maps", 0, len(layers))
    drawn = layer_maps(layers, seed=seed, progress=lambda done, total: progress("maps", done, total))
    return replace(result, maps=drawn, perplexity=perplexity(frame.height))


def _kept_layers(model: _LayeredModel, frame: pl.DataFrame, keep: Path, progress: Progress) -> _Layers:
    """The representations from the file if it has them, else from the model; those are written to the file."""
    key = f"{model.fingerprint}|{'|'.join(model.layers)}"
    if keep.exists():
        try:
            with ZipArchive(keep, kind="file of representations") as members:
                members.require_small()
            with np.load(keep, allow_pickle=False) as file:
                same = str(file["model"]) == key and file["ids"].tolist() == frame["id"].to_list()
                kept = np.asarray(file["layers"], dtype=np.float32) if same and model.fingerprint else None
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise FileError(keep, f"holds no representations ({error}); name another file") from error
        if kept is not None:
            _check_layers(kept, model, frame.height)
            note("representations are read from %s", keep)
            return kept
        note("%s holds representations of another model or other pairs; it is replaced", keep)
    layers = _ask_layers(model, frame, progress)
    with replace_file(keep) as path, path.open("wb") as file:
        np.savez(file, layers=layers, ids=frame["id"].to_numpy().astype(np.str_), model=key)
    return layers


def _ask_layers(model: _LayeredModel, frame: pl.DataFrame, progress: Progress) -> _Layers:
    columns = [frame[name].to_list() for name in model.columns]
    layers = np.empty((0, 0, 0), dtype=np.float32)
    stage("asking %s for its layers", model.name)
    progress(model.name, 0, frame.height)
    for start in range(0, frame.height, model.batch_size):
        stop = min(start + model.batch_size, frame.height)
        with guest_code():
            part = np.asarray(model.representations(*(column[start:stop] for column in columns)), dtype=np.float32)
        _check_layers(part, model, stop - start)
        if not start:
            layers = np.empty((len(part), frame.height, part.shape[2]), dtype=np.float32)
        layers[:, start:stop] = part
        progress(model.name, stop, frame.height)
    return layers


def _check_layers(part: _Layers, model: _LayeredModel, n: int) -> None:
    names = tuple(model.layers)
    if part.ndim != 3 or part.shape[:2] != (len(names), n) or not part.shape[2]:
        expected = f"({len(names)} layers, {n} pairs, width)"
        raise AcidtestError(f"{model.name}: representations() gave an array of shape {part.shape}, not {expected}")
    if not np.isfinite(part).all():
        layer = int(np.flatnonzero(~np.isfinite(part).all(axis=(1, 2)))[0])
        raise AcidtestError(f"{model.name}: {names[layer]} holds numbers that are not finite")
