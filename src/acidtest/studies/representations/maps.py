"""Maps of layers: t-SNE (van der Maaten and Hinton 2008), each turned so that neighbouring layers can be compared."""

from __future__ import annotations

import importlib
import os
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import numpy as np

from acidtest.core.errors import AcidtestError
from acidtest.stats.probes import Matrix
from acidtest.studies.representations import Maps, Progress

COMPONENTS = 50
"""Principal components that a map is made of; the rest is mostly noise and costs time."""


def perplexity(n: int) -> float:
    """The perplexity of a map of so many pairs: the usual one, or less where there are few pairs."""
    return min(30.0, (n - 1) / 3)


def layer_maps(layers: Matrix, *, seed: int = 0, progress: Progress = lambda done, total: None) -> Maps:
    """float32[layers, n, 2]: a map of each layer between -1 and 1, turned to match the one before it.

    Every map is made by one thread, so that it depends on the seed alone and not on how many processors there are; as
    many are made at a time as there are processors. Turning a map changes no distance.
    """
    require_scikit_learn()
    n = layers.shape[1]
    if n < 5:
        raise AcidtestError(f"a map needs at least 5 pairs, not {n}")
    maps = np.empty((len(layers), n, 2), dtype=np.float32)
    with ThreadPoolExecutor(min(len(layers), os.cpu_count() or 1), initializer=_use_one_thread) as pool:
        tasks = {pool.submit(_layer_map, layer, seed): number for number, layer in enumerate(layers)}
        for done, task in enumerate(as_completed(tasks), 1):
            maps[tasks[task]] = task.result()
            progress(done, len(layers))
    for number in range(1, len(maps)):
        # Rotated, and mirrored if need be, to be as near as possible to the map before.
        left, _, right = np.linalg.svd(maps[number].T.astype(np.float64) @ maps[number - 1])
        maps[number] = maps[number] @ (left @ right)
    return maps


def require_scikit_learn() -> None:
    """Raise where the library that makes maps is not installed."""
    _library("sklearn.manifold")


def principal_components(layer: Matrix) -> Matrix:
    """The first principal components of a layer, each with its largest loading positive."""
    centred = layer.astype(np.float64) - layer.mean(axis=0, dtype=np.float64)
    wide = centred.shape[1] > centred.shape[0]
    values, vectors = np.linalg.eigh(centred @ centred.T if wide else centred.T @ centred)
    kept = slice(-1, -min(COMPONENTS, values.size) - 1, -1)
    scores = vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0)) if wide else centred @ vectors[:, kept]
    signs = np.sign(np.take_along_axis(scores, np.abs(scores).argmax(axis=0)[None], axis=0))
    return np.asarray(scores * np.where(signs == 0, 1, signs), dtype=np.float32)


def _use_one_thread() -> None:
    # The limit holds for this thread only; without it all threads of all maps wait for each other.
    _library("threadpoolctl").threadpool_limits(1, user_api="openmp")


def _layer_map(layer: Matrix, seed: int) -> Maps:
    points = principal_components(layer)
    spread = float(points[:, 0].std())
    if spread == 0:
        return np.zeros((len(points), 2), dtype=np.float32)
    start = np.zeros((len(points), 2), dtype=np.float32)
    start[:, : min(2, points.shape[1])] = points[:, :2] / spread * 1e-4
    tsne = _library("sklearn.manifold").TSNE(
        init=start, perplexity=perplexity(len(points)), random_state=seed, n_jobs=1
    )
    positions = np.asarray(tsne.fit_transform(points), dtype=np.float32)
    positions -= positions.mean(axis=0)
    return np.asarray(positions / max(float(np.abs(positions).max()), 1e-12), dtype=np.float32)


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise AcidtestError(
            f"maps of layers need {error.name}; install it with: pip install 'acidtest[factors]' "
            f"(without -o and --plots the numbers need nothing more)"
        ) from error
