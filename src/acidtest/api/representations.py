"""What a model's layers hold of categories of reasoning, in numbers and as maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.files import replacing, require_page, write_page
from acidtest.core.logs import note, stage
from acidtest.core.model import Model, Represents
from acidtest.core.suite import Suite, require_columns
from acidtest.workflows.batteries import Arguments, Battery, Reading
from acidtest.workflows.evaluations import model_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from acidtest.studies.representation_results import Representations

LIMIT = 2000
"""Pairs that are looked at where no other number is asked for."""

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and of how much."""

_Layers = npt.NDArray[np.float32]


def representations(
    model: str | object,
    suite: str | Suite,
    *,
    source: str | Path | Suite | None = None,
    limit: int = LIMIT,
    output: str | Path | None = None,
    plots: str | Path | None = None,
    keep: str | Path | None = None,
    by: Sequence[str] = (),
    permutations: int = 199,
    options: Arguments | None = None,
    arguments: Arguments | None = None,
    reading: Reading | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Representations:
    """Probes and silhouettes of every layer for label, categories and factors; with ``output`` an interactive page.

    ``keep`` is an .npz file that takes the representations, and gives them back where it has those of the same model
    and pairs. ``plots`` is a folder for the maps as SVG and PNG. ``by`` names further factors of the suite.
    """
    from acidtest.studies import representation
    from acidtest.studies.representation_maps import layer_maps, perplexity_of, require_scikit_learn

    told = progress or (lambda _title, _done, _total: None)
    if output is not None:
        require_page(output)
    if output is not None or plots is not None:
        require_scikit_learn()
    if keep is not None and Path(keep).suffix.lower() != ".npz":
        raise FileError(keep, "is to hold representations; give it a name that ends in .npz")
    asked = model_of(model, options)
    _require_layers(asked)
    battery = Battery((suite,), source=source, limit=limit, seed=seed, arguments=arguments, reading=reading)
    used = battery.used[0]
    require_columns(used.frame, asked.columns, used.name)
    frame = used.frame.collect()
    layers = _kept_layers(asked, frame, keep=keep, told=told)
    stage("probing %d layers", len(layers))
    told("probes", 0, len(layers))
    found = representation.representations(
        layers,
        frame,
        card=used.card,
        model=asked.name,
        names=_names(asked),
        by=by,
        permutations=permutations,
        seed=seed,
        progress=lambda done, total: told("probes", done, total),
    )
    if output is None and plots is None:
        return found
    stage("making maps of %d layers", len(layers))
    told("maps", 0, len(layers))
    maps = layer_maps(layers, seed=seed, progress=lambda done, total: told("maps", done, total))
    found = replace(found, maps=maps, perplexity=perplexity_of(frame.height))
    _write_pictures(found, output=output, plots=plots)
    return found


def _write_pictures(found: Representations, *, output: str | Path | None, plots: str | Path | None) -> None:
    """The page and the files of maps, whichever were asked for."""
    if output is not None:
        from acidtest.reports.representation_page import representation_page

        write_page(output, representation_page(found))
    if plots is not None:
        from acidtest.reports.representation_plots import write_maps

        write_maps(found, plots)


def representation_tables(found: Representations) -> list[RenderableType]:
    """What layers hold, as a person reads it on a terminal."""
    from acidtest.reports import representations as reported

    return reported.representation_tables(found)


def _require_layers(model: Model) -> None:
    if not isinstance(model, Represents):
        raise AcidtestError(
            f"{model.name} does not show its layers: only models with representations() and layers do, such as hf: "
            f"checkpoints, or an object of your own that has both (python:…)"
        )


def _names(model: Model) -> tuple[str, ...]:
    assert isinstance(model, Represents)
    return tuple(model.layers)


def _kept_layers(model: Model, frame: pl.DataFrame, *, keep: str | Path | None, told: Progress) -> _Layers:
    """The representations from the file, where it has them, else from the model."""
    if keep is not None and Path(keep).exists():
        found = _read(Path(keep), model, frame)
        if found is not None:
            note("representations are read from %s", keep)
            return found
        note("%s holds representations of another model or other pairs; it is written anew", keep)
    layers = _asked_layers(model, frame, told)
    if keep is not None:
        with replacing(keep) as path, path.open("wb") as file:
            np.savez(file, layers=layers, ids=frame["id"].to_numpy().astype(np.str_), model=_key(model))
    return layers


def _asked_layers(model: Model, frame: pl.DataFrame, told: Progress) -> _Layers:
    assert isinstance(model, Represents)
    columns = [frame[name].to_list() for name in model.columns]
    result: _Layers | None = None
    stage("asking %s for its layers", model.name)
    told(model.name, 0, frame.height)
    for start in range(0, frame.height, model.batch_size):
        stop = min(start + model.batch_size, frame.height)
        part = np.asarray(model.representations(*(column[start:stop] for column in columns)), dtype=np.float32)
        _check(part, model, stop - start)
        if result is None:
            result = np.empty((len(part), frame.height, part.shape[2]), dtype=np.float32)
        result[:, start:stop] = part
        told(model.name, stop, frame.height)
    assert result is not None
    return result


def _check(part: _Layers, model: Model, n: int) -> None:
    expected = f"({len(_names(model))} layers, {n} pairs, width)"
    if part.ndim != 3 or part.shape[:2] != (len(_names(model)), n) or not part.shape[2]:
        raise AcidtestError(f"{model.name}: representations() gave an array of shape {part.shape}, not {expected}")
    if not np.isfinite(part).all():
        layer = int(np.flatnonzero(~np.isfinite(part).all(axis=(1, 2)))[0])
        raise AcidtestError(f"{model.name}: {_names(model)[layer]} holds numbers that are not finite")


def _read(path: Path, model: Model, frame: pl.DataFrame) -> _Layers | None:
    """What the file holds, or None where that is about something else."""
    try:
        with np.load(path, allow_pickle=False) as held:
            same = str(held["model"]) == _key(model) and held["ids"].tolist() == frame["id"].to_list()
            layers = np.asarray(held["layers"], dtype=np.float32) if same and model.fingerprint else None
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise FileError(path, f"holds no representations ({error}); name another file") from error
    if layers is not None:
        _check(layers, model, frame.height)
    return layers


def _key(model: Model) -> str:
    return f"{model.fingerprint}|{'|'.join(_names(model))}"
