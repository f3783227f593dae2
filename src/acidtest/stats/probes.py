"""Linear probes of representations: how well held-out pairs with a label are separated from those without.

The probe is ridge regression of a column of 0 and 1, which for two classes is linear discriminant analysis with a
shrunken covariance. Its scores are a matrix, made of the representations alone, times the labels; so all targets and
all permutations of them come of one multiplication. How much is shrunk depends on the representations only: were it
chosen by how well labels come out, every permutation would need a choice of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from acidtest.stats.shuffles import Floats, Rows

FOLDS = 5

ROWS_PER_DEGREE = 30
"""Training rows for every degree of freedom that the probe may use."""

Matrix = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.intp]

_COLUMNS = 1024
"""Columns of labels multiplied at a time."""


def group_folds(groups: Codes, rng: np.random.Generator, *, folds: int = FOLDS) -> Codes:
    """The fold of each row; rows of a group share one, and folds differ by at most one group in size."""
    count = int(groups.max(initial=-1)) + 1
    return np.asarray(rng.permutation(np.arange(count) % folds)[groups])


@dataclass(frozen=True)
class Smoother:
    """One fold: held-out rows, training rows, and the matrix that maps training labels to held-out scores.

    ``penalty`` is that of the ridge, on standardised columns.
    """

    held_out: Codes
    train: Codes
    matrix: Matrix
    penalty: float


def smoothers(layer: Matrix, folds: Codes) -> list[Smoother]:
    """The smoother of every fold that leaves rows to train on."""
    parts = ((np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)) for fold in np.unique(folds))
    return [_smoother(layer, held_out, train) for held_out, train in parts if train.size]


def probe_scores(parts: Sequence[Smoother], labels: Bools) -> Matrix:
    """Held-out scores of rows for columns of labels."""
    scores = np.full(labels.shape, np.nan, dtype=np.float32)
    for smoother in parts:
        scores[smoother.held_out] = smoother.matrix @ labels[smoother.train].astype(np.float32)
    return scores


def probe_accuracies(parts: Sequence[Smoother], labels: Bools, *, dealt: Rows) -> Floats:
    """float64[columns, deals]: share of correctly ordered couples of held-out rows, one with, one without the label.

    That is the area under the curve within folds, folds weighted by their couples: scores of different folds come from
    different probes and are not compared. NaN where no fold has a couple.
    """
    deals, width = len(dealt), labels.shape[1]
    won, couples = np.zeros((2, deals, width))
    step = max(1, _COLUMNS // max(width, 1))
    for smoother in parts:
        for start in range(0, deals, step):
            part = slice(start, start + step)
            # Rows, then deals, then columns.
            given = labels[dealt[part]].transpose(1, 0, 2).reshape(len(labels), -1)
            scores = smoother.matrix @ given[smoother.train].astype(np.float32)
            more = _won(scores, given[smoother.held_out])
            won[part] += more[0].reshape(-1, width)
            couples[part] += more[1].reshape(-1, width)
    return np.divide(won, couples, out=np.full_like(won, np.nan), where=couples > 0).T


def accuracy_influences(scores: Matrix, labels: Bools, *, folds: Codes) -> tuple[float, Floats]:
    """A probe's accuracy on one column, and what each row adds to it (DeLong's placements, less what is expected)."""
    wins, couples = np.zeros((2, labels.size))
    for fold in np.unique(folds):
        members = np.flatnonzero(folds == fold)
        ranks, labelled = _ranks(scores[members, None])[:, 0], labels[members]
        for side, sign in ((labelled, 1.0), (~labelled, -1.0)):
            # Rank among all minus rank within the side counts the rows of the other side below.
            below = ranks[side] - _ranks(scores[members][side, None])[:, 0] if side.any() else np.zeros(0)
            others = members.size - int(side.sum())
            wins[members[side]] = below if sign > 0 else others - below
            couples[members[side]] = others
    total = float(couples[labels].sum())
    if not total:
        return float("nan"), np.zeros(labels.size)
    value = float(wins[labels].sum()) / total
    return value, (wins - value * couples) / total


def _smoother(layer: Matrix, held_out: Codes, train: Codes) -> Smoother:
    rows = layer[train].astype(np.float64)
    centre, spread = rows.mean(axis=0), rows.std(axis=0)
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 1e-6 * max(1.0, float(spread.max())))
    rows, tested = (rows - centre) * scale, (layer[held_out] - centre) * scale
    wide = rows.shape[1] > rows.shape[0]
    values, vectors = np.linalg.eigh(rows @ rows.T if wide else rows.T @ rows)
    penalty = _penalty(values, train.size / ROWS_PER_DEGREE)
    shrunk = (vectors / (np.maximum(values, 0.0) + penalty)) @ vectors.T
    matrix = (tested @ rows.T) @ shrunk if wide else tested @ (shrunk @ rows.T)
    return Smoother(held_out, train, matrix.astype(np.float32), penalty)


def _penalty(values: Floats, degrees: float) -> float:
    """The penalty that leaves so many effective degrees of freedom, at most half of those there are."""
    from scipy.optimize import brentq

    kept = values[values > 1e-9 * max(float(values.max(initial=0.0)), 1e-30)]
    if not kept.size:
        return 1.0
    wanted = min(degrees, kept.size / 2)
    ends = np.log(kept.min()) - 5, np.log(kept.sum()) + 5 - np.log(min(wanted, 1.0))
    return float(np.exp(brentq(lambda log: (kept / (kept + np.exp(log))).sum() - wanted, *ends)))


def _won(scores: Matrix, labels: Bools) -> tuple[Floats, Floats]:
    """For each column the correctly ordered couples, ties counted as half, and all couples."""
    having = labels.sum(axis=0).astype(np.float64)
    ranks = np.where(labels, _ranks(scores), 0.0).sum(axis=0)
    return ranks - having * (having + 1) / 2, having * (len(labels) - having)


def _ranks(scores: npt.NDArray[np.floating]) -> Floats:
    """Ranks from 1 on in every column; ties get their mean rank."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(scores.T, axis=1).T)
