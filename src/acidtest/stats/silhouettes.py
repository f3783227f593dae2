"""Silhouettes: whether pairs with a label, and those without it, lie nearer to their own side.

The value is the mean of the means of the two sides, so that neither their sizes nor their spread counts: rows with a
label that happen to lie in the middle of the cloud look like a cluster on their own, but are none.
"""

from __future__ import annotations

import numpy as np

from acidtest.stats.probes import Bools, Codes, Matrix
from acidtest.stats.shuffles import Floats, Rows

_BLOCK = 1024
"""Rows whose distances to all others are in memory at a time."""

_COLUMNS = 1024


def silhouettes(layer: Matrix, groups: Codes, *, labels: Bools, dealt: Rows) -> Floats:
    """float64[columns, deals]: the mean silhouette of rows with a label and of rows without, and the mean of the two.

    A row's is (b - a) / max(a, b), a being its mean Euclidean distance to its own side and b to the other (Rousseeuw
    1987). Rows of its own group count for neither: they lie near it because of the premise they share.
    """
    deals, width = len(dealt), labels.shape[1]
    sums, counts = np.zeros((2, 2, deals, width))
    step = max(1, _COLUMNS // max(width, 1))
    for start in range(0, len(layer), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(layer)))
        far = _distances(layer, groups, rows=rows)
        for first in range(0, deals, step):
            part = slice(first, first + step)
            given = labels[dealt[part]].transpose(1, 0, 2).reshape(len(labels), -1)
            leaning = _leanings(*_means(far, groups, rows=rows, labels=given)[:2])
            known = ~np.isnan(leaning)
            for side, members in enumerate((given[rows], ~given[rows])):
                sums[side, part] += np.where(members & known, leaning, 0.0).sum(axis=0).reshape(-1, width)
                counts[side, part] += (members & known).sum(axis=0).reshape(-1, width)
    means = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return np.asarray((means[0] - means[1]).T / 2)


def silhouette_influences(layer: Matrix, groups: Codes, labels: Bools) -> tuple[Floats, Floats]:
    """The silhouette of each column, and float64[n, columns] what each row adds to it.

    A row adds its own silhouette, and by being near or far it changes those of others: to first order by the slope of
    their silhouettes in a and b. Without the second part intervals come out far too short.
    """
    n, width = labels.shape
    leaning, pulls = np.empty((n, width)), np.zeros((2, 2, n, width))
    for start in range(0, n, _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, n))
        far = _distances(layer, groups, rows=rows)
        apart = (groups[rows, None] != groups).astype(np.float32)
        means = _means(far, groups, rows=rows, labels=labels)
        leaning[rows] = _leanings(*means[:2])
        known = ~np.isnan(leaning[rows])
        for kind, slope in enumerate(_slopes(*means[:2])):
            slopes = np.where(known, slope / np.maximum(means[2 + kind], 1), 0.0)
            for side, members in enumerate((labels[rows], ~labels[rows])):
                weights = np.where(members, slopes, 0.0)
                pulls[side, kind] += far.T @ weights - apart.T @ (weights * np.nan_to_num(means[kind]))
    value, added = np.zeros(width), np.zeros((n, width))
    for sign, members, pull in ((0.5, labels, pulls[0]), (-0.5, ~labels, pulls[1])):
        leanings = np.where(members, leaning, np.nan)
        count = (~np.isnan(leanings)).sum(axis=0)
        mean = np.divide(np.nansum(leanings, axis=0), count, out=np.full(width, np.nan), where=count > 0)
        value += sign * mean
        added += sign * (np.nan_to_num(leanings - mean) + np.where(labels, pull[0], pull[1])) / np.maximum(count, 1)
    return value, added


def _distances(layer: Matrix, groups: Codes, *, rows: Codes) -> Matrix:
    """Distances of some rows to all, 0 within a group."""
    squares = np.einsum("ij,ij->i", layer, layer)
    far = squares[rows, None] + squares - 2 * (layer[rows] @ layer.T)
    far = np.sqrt(np.maximum(far, 0.0, out=far), out=far)
    far[groups[rows, None] == groups] = 0.0
    return np.asarray(far)


def _means(far: Matrix, groups: Codes, *, rows: Codes, labels: Bools) -> tuple[Floats, Floats, Codes, Codes]:
    """The mean distances of some rows to those with and those without the label, and how many these are."""
    inside = (far @ labels.astype(np.float32)).astype(np.float64)
    outside = far.sum(axis=1, dtype=np.float64)[:, None] - inside
    having = labels.sum(axis=0) - _label_counts_in_group(labels, groups)[rows]
    lacking = (groups.size - np.bincount(groups)[groups[rows]])[:, None] - having
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.where(having > 0, inside / having, np.nan)
        other = np.where(lacking > 0, outside / lacking, np.nan)
    return near, other, having, lacking


def _leanings(near: Floats, other: Floats) -> Floats:
    """Silhouettes as if all rows had the label; those of rows that have it not are these with the other sign."""
    most = np.maximum(near, other)
    # Rows that all lie in one place are as near to these as to those.
    return np.divide(other - near, most, out=np.zeros_like(most), where=most != 0)


def _slopes(near: Floats, other: Floats) -> tuple[Floats, Floats]:
    """How leanings change with the mean distance to rows with the label, and to those without."""
    most = np.where(np.maximum(near, other) > 0, np.maximum(near, other), np.inf)
    closer = near < other
    return np.where(closer, -1 / most, -other / most**2), np.where(closer, near / most**2, 1 / most)


def _label_counts_in_group(labels: Bools, groups: Codes) -> Codes:
    """How many rows of each row's group have each label."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    counts = np.add.reduceat(labels[order], starts, axis=0, dtype=np.intp)
    return np.asarray(counts[np.searchsorted(groups[order][starts], groups)])
