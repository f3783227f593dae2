"""Contrasts on a crossed design: the effect of one factor with the others held fixed, every cell weighing the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
import numpy.typing as npt

from acidtest.core.estimate import Estimate
from acidtest.stats.resampling import Codes, numbered

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

METHOD = "mean over cells, clustered standard error"


@dataclass(frozen=True)
class CellContrast:
    """A weighted sum of row values, with what its interval needs: the effect of a factor, or a mean over cells.

    ``rows`` are the numbers of the rows that take part, ``weights`` what each adds to the value. Rows of one ``arm``
    are those of one cell and one side; a row's deviation is measured from the mean of its arm.
    """

    rows: Codes
    weights: Floats
    arms: Codes

    @classmethod
    def between(cls, on: Flags, cells: Codes, rows: Flags, *, by_size: bool = False) -> CellContrast:
        """The difference between the rows with a factor and those without, averaged over cells that have both.

        ``by_size`` weighs a cell by the smaller of its two sides; otherwise all cells weigh the same.
        """
        chosen = np.flatnonzero(rows)
        cell = numbered(cells[chosen])
        counts = np.bincount(2 * cell + on[chosen], minlength=2 * (int(cell.max(initial=-1)) + 1)).reshape(-1, 2)
        weights = counts.min(axis=1) if by_size else (counts.min(axis=1) > 0).astype(np.int64)
        kept = weights[cell] > 0
        chosen, cell = chosen[kept], cell[kept]
        side = on[chosen].astype(np.int64)
        share = weights[cell] / max(int(weights.sum()), 1) / counts[cell, side]
        return cls(chosen, np.where(side == 1, share, -share), 2 * cell + side)

    @classmethod
    def mean(cls, cells: Codes, rows: Flags) -> CellContrast:
        """The mean over cells of the rows' values."""
        chosen = np.flatnonzero(rows)
        cell = numbered(cells[chosen])
        counts = np.bincount(cell)
        return cls(chosen, 1 / (counts[cell] * max(len(counts), 1)), cell)

    def sides(self) -> tuple[CellContrast, CellContrast]:
        """The means of the two sides: of the rows with the factor, and of those without."""
        having = self.weights > 0
        first, second = (
            CellContrast(self.rows[part], np.abs(self.weights[part]), self.arms[part]) for part in (having, ~having)
        )
        return first, second

    def value(self, values: Flags) -> float:
        """The weighted sum for one column of values."""
        return float(self.weights @ values[self.rows].astype(np.float64)) if len(self.rows) else nan

    def deviations(self, values: Flags, groups: Codes) -> Floats:
        """What each group adds to the value beyond what its arms would make one expect.

        An arm of n rows deviates less from its own mean than from the true one, by (n − 1) / n; an arm of one row is
        measured from the mean of all rows of its side.
        """
        column = values[self.rows].astype(np.float64)
        counts = np.bincount(self.arms)
        means = (np.bincount(self.arms, column) / np.maximum(counts, 1))[self.arms]
        for side in (self.weights > 0, self.weights < 0):
            alone = side & (counts[self.arms] == 1)
            if alone.any():
                means[alone] = column[side].mean()
        inflation = np.sqrt(counts / np.maximum(counts - 1, 1))
        terms = self.weights * (column - means) * inflation[self.arms]
        return np.bincount(groups[self.rows], terms, minlength=int(groups.max(initial=-1)) + 1).astype(np.float64)


def contrast_estimate(
    parts: Sequence[tuple[float, CellContrast, Flags]],
    groups: Codes,
    *,
    tests: int = 1,
    least: float = -1.0,
) -> Estimate:
    """The sum of contrasts, each with a coefficient and the column it is taken of, and its interval.

    The value is between ``least`` and 1. The interval holds for all of ``tests`` estimates together (Bonferroni).
    Groups that all deviate by nothing are no proof of certainty: the standard error is never below that of one
    deviating group.
    """
    rows = np.unique(np.concatenate([contrast.rows for _, contrast, _ in parts]))
    # Rounded, so that a sum of many weights does not become 99.99 %.
    value = round(sum(coefficient * contrast.value(values) for coefficient, contrast, values in parts), 12)
    involved = len(np.unique(groups[rows]))
    if value != value or involved < 2:
        return Estimate(nan, n=len(rows), groups=involved, note="no cell has pairs of both kinds")
    deviations = sum(coefficient * contrast.deviations(values, groups) for coefficient, contrast, values in parts)
    error = max(float(np.linalg.norm(np.asarray(deviations))), sqrt(2) / (involved + 2))
    reach = _quantile(1 - 0.025 / tests, involved - 1) * error
    low, high = max(value - reach, least), min(value + reach, max(1.0, -least))
    return Estimate(value, low, high, n=len(rows), groups=involved, method=METHOD)


def _quantile(probability: float, degrees: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))
