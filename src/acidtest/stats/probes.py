"""Whether representations separate pairs with a label from those without it: linear probes, silhouettes, shuffles.

The probe is ridge regression of a column of 0 and 1, which for two classes is linear discriminant analysis with a
shrunken covariance. Its scores are a matrix that depends on the representations alone, times the labels, so that one
multiplication scores all targets and all permutations of them. The penalty depends on the representations only: if it
were tuned on labels, it would have to be tuned for every permutation.

A silhouette is the mean of the means of the two sides, so that neither their sizes nor their spread counts: rows with
a label that lie in the middle of the cloud would otherwise look like a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from acidtest.core.estimate import Estimate

FOLDS = 5

ROWS_PER_DEGREE = 30
"""Training rows for every degree of freedom that the probe may use."""

Floats = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]
Codes = npt.NDArray[np.intp]

_COLUMNS = 1024
"""Columns of labels multiplied at a time."""

_BLOCK = 1024
"""Rows whose distances to all others are in memory at a time."""


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
    parts = []
    for fold in np.unique(folds):
        held_out, train = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        if not train.size:
            continue
        rows = layer[train].astype(np.float64)
        centre, spread = rows.mean(axis=0), rows.std(axis=0)
        scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 1e-6 * max(1.0, float(spread.max())))
        rows, tested = (rows - centre) * scale, (layer[held_out] - centre) * scale
        wide = rows.shape[1] > rows.shape[0]
        values, vectors = np.linalg.eigh(rows @ rows.T if wide else rows.T @ rows)
        penalty = _penalty(values, train.size / ROWS_PER_DEGREE)
        shrunk = (vectors / (np.maximum(values, 0.0) + penalty)) @ vectors.T
        matrix = (tested @ rows.T) @ shrunk if wide else tested @ (shrunk @ rows.T)
        parts.append(Smoother(held_out, train, matrix.astype(np.float32), penalty))
    return parts


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
    won, couples = np.zeros((2, len(dealt), labels.shape[1]))
    for part, given in _deals(labels, dealt):
        for smoother in parts:
            scores, held_out = smoother.matrix @ given[smoother.train].astype(np.float32), given[smoother.held_out]
            having = held_out.sum(axis=0).astype(np.float64)
            # Ranks count the rows of both sides below, ties by half; those below on the own side are subtracted.
            ranks = np.where(held_out, _ranks(scores), 0.0).sum(axis=0)
            won[part] += (ranks - having * (having + 1) / 2).reshape(won[part].shape)
            couples[part] += (having * (len(held_out) - having)).reshape(won[part].shape)
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


def silhouettes(layer: Matrix, groups: Codes, *, labels: Bools, dealt: Rows) -> Floats:
    """float64[columns, deals]: the mean silhouette of rows with a label and of rows without, and the mean of the two.

    A row's is (b - a) / max(a, b), a being its mean Euclidean distance to its own side and b to the other (Rousseeuw
    1987). Rows of its own group count for neither: they lie near it because of the premise they share.
    """
    sums, counts = np.zeros((2, 2, len(dealt), labels.shape[1]))
    for start in range(0, len(layer), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(layer)))
        distances = _distances(layer, groups, rows=rows)
        for part, given in _deals(labels, dealt):
            leaning = _leanings(*_means(distances, groups, rows=rows, labels=given)[:2])
            known = ~np.isnan(leaning)
            for side, members in enumerate((given[rows], ~given[rows])):
                shape = sums[side, part].shape
                sums[side, part] += np.where(members & known, leaning, 0.0).sum(axis=0).reshape(shape)
                counts[side, part] += (members & known).sum(axis=0).reshape(shape)
    means = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return np.asarray((means[0] - means[1]).T / 2)


def silhouette_influences(layer: Matrix, groups: Codes, labels: Bools) -> tuple[Floats, Floats]:
    """The silhouette of each column, and float64[n, columns] what each row adds to it.

    A row adds its own silhouette, and its distances change those of others: to first order by the slope of their
    silhouettes in a and b. Without the second part intervals would be far too short.
    """
    n, width = labels.shape
    leaning, pulls = np.empty((n, width)), np.zeros((2, 2, n, width))
    for start in range(0, n, _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, n))
        distances = _distances(layer, groups, rows=rows)
        apart = (groups[rows, None] != groups).astype(np.float32)
        means = _means(distances, groups, rows=rows, labels=labels)
        leaning[rows] = _leanings(*means[:2])
        known = ~np.isnan(leaning[rows])
        for kind, slope in enumerate(_slopes(*means[:2])):
            slopes = np.where(known, slope / np.maximum(means[2 + kind], 1), 0.0)
            for side, members in enumerate((labels[rows], ~labels[rows])):
                weights = np.where(members, slopes, 0.0)
                pulls[side, kind] += distances.T @ weights - apart.T @ (weights * np.nan_to_num(means[kind]))
    value, added = np.zeros(width), np.zeros((n, width))
    for sign, members, pull in ((0.5, labels, pulls[0]), (-0.5, ~labels, pulls[1])):
        leanings = np.where(members, leaning, np.nan)
        count = (~np.isnan(leanings)).sum(axis=0)
        mean = np.divide(np.nansum(leanings, axis=0), count, out=np.full(width, np.nan), where=count > 0)
        value += sign * mean
        added += sign * (np.nan_to_num(leanings - mean) + np.where(labels, pull[0], pull[1])) / np.maximum(count, 1)
    return value, added


def shuffled_rows(groups: npt.NDArray[np.intp], times: int, rng: np.random.Generator) -> Rows:
    """intp[times + 1, n]: for each row the row whose labels it gets; the first shuffle changes nothing.

    Labels of a group stay together and go to a group of as many rows, since rows of one premise are alike both in
    their representations and in their labels. A group that has no other of its size keeps its labels.
    """
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    dealt = np.tile(np.arange(groups.size), (times + 1, 1))
    for size in np.unique(sizes[sizes > 0]):
        members = order[starts[sizes == size][:, None] + np.arange(size)]
        turns = rng.permuted(np.tile(np.arange(len(members)), (times, 1)), axis=1)
        dealt[1:, members.ravel()] = members[turns].reshape(times, -1)
    return dealt


@dataclass(frozen=True)
class ShuffleTest:
    """Measures compared with their values under shuffled labels; all arrays have the shape of the measures."""

    baselines: Floats
    lows: Floats
    highs: Floats
    p: Floats
    p_adjusted: Floats

    def baseline(self, *place: int) -> Estimate:
        """The mean of one measure over the shuffles and the middle 95 % of them."""
        value, low, high = (float(values[place]) for values in (self.baselines, self.lows, self.highs))
        return Estimate(value, low, high, method="permutations, middle 95 %")


def shuffle_test(values: Floats) -> ShuffleTest:
    """Compare the first entry of the last axis with all: p, and p corrected for all measures together.

    ``values`` ends in an axis of shuffles whose first is the data as they are; NaN where there is no measure. The
    correction compares with the greatest of all measures, each in units of its own spread (Westfall and Young's maxT):
    it uses that measures of neighbouring layers rise and fall together, and needs no more shuffles for more measures.
    """
    observed, drawn = values[..., 0], values[..., 1:]
    known = ~np.isnan(observed)
    p = np.where(known, (values >= observed[..., None] - 1e-12).mean(axis=-1), np.nan)
    centres, spreads = values.mean(axis=-1, keepdims=True), values.std(axis=-1, keepdims=True)
    # Nothing varies if no shuffle changes anything, as when all groups differ in size.
    scaled = np.divide(values - centres, spreads, out=np.zeros_like(values), where=spreads > 1e-12)
    scaled[~known] = -np.inf
    greatest = scaled.reshape(-1, values.shape[-1]).max(axis=0, initial=-np.inf)
    adjusted = np.where(known, (greatest >= scaled[..., :1] - 1e-9).mean(axis=-1), np.nan)
    lows, highs = np.quantile(drawn, (0.025, 0.975), axis=-1)
    return ShuffleTest(drawn.mean(axis=-1), lows, highs, p, adjusted)


def clustered_estimate(
    value: float, influences: Floats, *, groups: npt.NDArray[np.intp], n: int, method: str, unit: bool
) -> Estimate:
    """A value with a 95 % interval from the influence of every row, summed over groups first.

    ``unit``: the value lies between 0 and 1, and the interval is made on the scale of log odds so that it does too.
    """
    from scipy.special import expit, logit, stdtrit

    sums = np.bincount(groups, influences)[np.unique(groups[influences != 0])]
    count = sums.size
    if count < 2:
        return Estimate(value, n=n, groups=count, note="one group of pairs: no interval")
    reach = float(stdtrit(count - 1, 0.975)) * float(np.sqrt((sums**2).sum() * count / (count - 1)))
    low, high = value - reach, value + reach
    if unit and 0 < value < 1:
        logit_reach = reach / (value * (1 - value))
        low, high = (float(expit(logit(value) + sign * logit_reach)) for sign in (-1, 1))
    return Estimate(value, low, high, n=n, groups=count, method=method)


def _deals(labels: Bools, dealt: Rows) -> Iterator[tuple[slice, Bools]]:
    """The shuffled labels, some shuffles (deals) at a time: their slice, and rows × (deals × columns)."""
    step = max(1, _COLUMNS // max(labels.shape[1], 1))
    for start in range(0, len(dealt), step):
        part = slice(start, start + step)
        yield part, labels[dealt[part]].transpose(1, 0, 2).reshape(len(labels), -1)


def _penalty(values: Floats, degrees: float) -> float:
    """The penalty that leaves this many effective degrees of freedom, or half of those there are if that is less."""
    from scipy.optimize import brentq

    kept = values[values > 1e-9 * max(float(values.max(initial=0.0)), 1e-30)]
    if not kept.size:
        return 1.0
    wanted = min(degrees, kept.size / 2)
    ends = np.log(kept.min()) - 5, np.log(kept.sum()) + 5 - np.log(min(wanted, 1.0))
    return float(np.exp(brentq(lambda log: (kept / (kept + np.exp(log))).sum() - wanted, *ends)))


def _ranks(scores: npt.NDArray[np.floating]) -> Floats:
    """Ranks from 1 on in every column; ties get their mean rank."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(scores.T, axis=1).T)


def _distances(layer: Matrix, groups: Codes, *, rows: Codes) -> Matrix:
    """Distances of some rows to all, 0 within a group."""
    squares = np.einsum("ij,ij->i", layer, layer)
    distances = squares[rows, None] + squares - 2 * (layer[rows] @ layer.T)
    distances = np.sqrt(np.maximum(distances, 0.0, out=distances), out=distances)
    distances[groups[rows, None] == groups] = 0.0
    return np.asarray(distances)


def _means(distances: Matrix, groups: Codes, *, rows: Codes, labels: Bools) -> tuple[Floats, Floats, Codes, Codes]:
    """The mean distances of some rows to those with and those without the label, and how many these are."""
    inside = (distances @ labels.astype(np.float32)).astype(np.float64)
    outside = distances.sum(axis=1, dtype=np.float64)[:, None] - inside
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    in_group = np.add.reduceat(labels[order], starts, axis=0, dtype=np.intp)
    having = labels.sum(axis=0) - in_group[np.searchsorted(groups[order][starts], groups[rows])]
    lacking = (groups.size - np.bincount(groups)[groups[rows]])[:, None] - having
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.where(having > 0, inside / having, np.nan)
        other = np.where(lacking > 0, outside / lacking, np.nan)
    return near, other, having, lacking


def _leanings(near: Floats, other: Floats) -> Floats:
    """Silhouettes as if all rows had the label; rows without it have theirs with the other sign."""
    most = np.maximum(near, other)
    # Rows that all lie in one place are as near to one side as to the other.
    return np.divide(other - near, most, out=np.zeros_like(most), where=most != 0)


def _slopes(near: Floats, other: Floats) -> tuple[Floats, Floats]:
    """How leanings change with the mean distance to rows with the label, and to those without."""
    most = np.where(np.maximum(near, other) > 0, np.maximum(near, other), np.inf)
    closer = near < other
    return np.where(closer, -1 / most, -other / most**2), np.where(closer, near / most**2, 1 / most)
