"""Contrasts on a crossed design: the effect of one factor with the others held fixed, every cell weighing the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, nan, sqrt

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
        # Numbers come in as few bytes as hold them, and twice a number may not fit.
        cell = numbered(cells[chosen]).astype(np.int64)
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

    def after(self, rows: int) -> CellContrast:
        """The same contrast where its rows come after some other rows."""
        return CellContrast(self.rows + rows, self.weights, self.arms)

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


Parts = Sequence[tuple[float, CellContrast, Flags]]
"""A sum of contrasts, each with a coefficient and the column it is taken of."""


def contrast_estimate(parts: Parts, groups: Codes, *, tests: int = 1, least: float = -1.0) -> Estimate:
    """The sum of contrasts and its interval.

    The value is between ``least`` and 1. The interval holds for all of ``tests`` estimates together (Bonferroni).
    Groups that all deviate by nothing are no proof of certainty: the standard error is never below that of one
    deviating group.
    """
    return _estimate(parts, groups, least_error=_least_error(parts, groups), tests=tests, least=least)


def difference_estimate(
    first: Parts, second: Parts, *, groups_first: Codes, groups_second: Codes, tests: int = 1
) -> Estimate:
    """The second sum of contrasts minus the first, each of columns of its own rows, and its interval.

    Groups of the same number are one group: where both sums are taken of the same rows the difference is paired, and
    where they share no group the two are independent. The standard error is never below that of one deviating group on
    both sides; ``n`` counts the rows of both.
    """
    offset = len(groups_first)
    before, after = np.zeros(offset, dtype=np.bool_), np.zeros(len(groups_second), dtype=np.bool_)
    parts = [(-share, contrast, np.concatenate([values, after])) for share, contrast, values in first]
    parts += [(share, contrast.after(offset), np.concatenate([before, values])) for share, contrast, values in second]
    least_error = hypot(_least_error(first, groups_first), _least_error(second, groups_second))
    groups = np.concatenate([groups_first, groups_second])
    return _estimate(parts, groups, least_error=least_error, tests=tests, least=-2.0)


def _estimate(parts: Parts, groups: Codes, *, least_error: float, tests: int, least: float) -> Estimate:
    rows = np.unique(np.concatenate([contrast.rows for _, contrast, _ in parts]))
    # Rounded, so that a sum of many weights does not become 99.99 %; adding 0 makes a zero of −0.
    value = round(sum(coefficient * contrast.value(values) for coefficient, contrast, values in parts), 12) + 0.0
    involved = len(np.unique(groups[rows]))
    if value != value or involved < 2:
        return Estimate(nan, n=len(rows), groups=involved, note="no cell has pairs of both kinds")
    deviations = sum(coefficient * contrast.deviations(values, groups) for coefficient, contrast, values in parts)
    error = max(float(np.linalg.norm(np.asarray(deviations))), least_error)
    reach = _quantile(1 - 0.025 / tests, involved - 1) * error
    low, high = max(value - reach, least), min(value + reach, max(1.0, -least))
    return Estimate(value, low, high, n=len(rows), groups=involved, method=METHOD)


def p_above(estimate: Estimate, limit: float, *, tests: int = 1) -> float:
    """p of the one-sided t test that a contrast exceeds a limit, by its interval for ``tests`` estimates together."""
    from scipy.special import stdtr

    if not estimate.known or estimate.groups < 2:
        return nan
    degrees = estimate.groups - 1
    # One end may be cut off at the greatest or the least value.
    reach = max(estimate.high - estimate.value, estimate.value - estimate.low)
    error = reach / _quantile(1 - 0.025 / tests, degrees)
    return float(stdtr(degrees, (limit - estimate.value) / error))


def _least_error(parts: Parts, groups: Codes) -> float:
    """The standard error where one group deviates, given how many groups take part."""
    rows = np.concatenate([contrast.rows for _, contrast, _ in parts])
    return sqrt(2) / (len(np.unique(groups[rows])) + 2)


def _quantile(probability: float, degrees: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))
