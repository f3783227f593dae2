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

        A group with a share s of the rows of an arm deviates less from the mean of that arm than from the true one, by
        1 - s. An arm that is all of one group is measured from the mean of all rows of its side.
        """
        column, group = values[self.rows].astype(np.float64), groups[self.rows]
        size = int(group.max(initial=-1)) + 1
        counts = np.bincount(self.arms)
        means = (np.bincount(self.arms, column) / np.maximum(counts, 1))[self.arms]
        share = _counts_of(self.arms * np.int64(size) + group, len(counts) * size) / counts[self.arms]
        alone = share == 1
        for side in (self.weights > 0, self.weights < 0):
            if (side & alone).any():
                means[side & alone] = column[side].mean()
        inflation = 1 / np.sqrt(np.where(alone, 1, 1 - share))
        terms = self.weights * (column - means) * inflation
        return np.bincount(group, terms, minlength=int(groups.max(initial=-1)) + 1).astype(np.float64)


MOST_COUNTERS = 4_000_000
"""The largest table of counters that is allocated instead of sorting."""


def _counts_of(codes: Codes, kinds: int) -> npt.NDArray[np.int64]:
    """How often the code of each row occurs, of so many kinds of codes."""
    if kinds <= MOST_COUNTERS:
        return np.bincount(codes, minlength=kinds)[codes]
    _, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
    return np.asarray(counts[place])


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
    effective = _effective_groups(parts, groups)
    error = float(np.linalg.norm(np.asarray(deviations))) * sqrt(effective / max(effective - 1, 1))
    reach = _quantile(1 - 0.025 / tests, max(effective - 1, 1)) * max(error, least_error)
    low, high = max(value - reach, least), min(value + reach, max(1.0, -least))
    return Estimate(value, low, high, n=len(rows), groups=involved, method=METHOD)


def _effective_groups(parts: Parts, groups: Codes) -> float:
    """How many groups of equal weight tell as much as those that take part, by what the design alone lets them vary."""
    variances = sum(
        np.bincount(groups[contrast.rows], (coefficient * contrast.weights) ** 2, minlength=int(groups.max()) + 1)
        for coefficient, contrast, _ in parts
    )
    return float(np.sum(variances) ** 2 / np.sum(np.square(variances)))


def standard_error(estimate: Estimate, *, tests: int = 1) -> float:
    """The standard error of a contrast, from its interval for ``tests`` estimates together; NaN if not known.

    It is exact if all groups weigh the same, and otherwise a little too large.
    """
    if not estimate.known or estimate.groups < 2:
        return nan
    # One end may be cut off at the greatest or the least value.
    reach = max(estimate.high - estimate.value, estimate.value - estimate.low)
    return reach / _quantile(1 - 0.025 / tests, estimate.groups - 1)


def p_above(estimate: Estimate, limit: float, *, tests: int = 1) -> float:
    """p of the one-sided t test that a contrast exceeds a limit, by its interval for ``tests`` estimates together."""
    from scipy.special import stdtr

    error = standard_error(estimate, tests=tests)
    return float(stdtr(estimate.groups - 1, (limit - estimate.value) / error)) if error == error else nan


def detectable_effect(
    contrast: CellContrast, values: Flags, estimate: Estimate, *, limit: float, power: float, tests: int
) -> float:
    """The smallest difference of two rates that is shown to exceed ``limit`` in a share ``power`` of such data.

    The standard error is that of the estimate, enlarged by how much more a rate varies that is so much higher. At most
    1; NaN if the estimate is not known.
    """
    error = standard_error(estimate, tests=tests)
    if error != error:
        return nan
    degrees = estimate.groups - 1
    reach = _quantile(1 - 0.025 / tests, degrees) + _quantile(power, degrees)
    with_factor, without = contrast.sides()
    base = min(with_factor.value(values), without.value(values))
    weight = float(with_factor.weights @ with_factor.weights)
    effect = limit
    for _ in range(50):
        rate = min(base + effect, 1.0)
        more = weight * max(rate * (1 - rate) - base * (1 - base), 0.0)
        effect = min(limit + reach * sqrt(error**2 + more), 1.0)
    return effect


@dataclass(frozen=True)
class CellValues:
    """The strongest of many contrasts between the cells of a design."""

    place: int
    """Which of them."""
    value: float
    """The difference between the rows where it is 1 and those where it is -1."""
    error: float
    p: float
    """Two-sided, for this contrast alone."""
    tests: int
    """How many were compared."""
    n: int
    groups: int
    degrees: float
    """Degrees of freedom of the error: one less than the effective number of groups."""

    def estimate(self, tests: int) -> Estimate:
        """Its value, with an interval that holds for ``tests`` contrasts together."""
        reach = _quantile(1 - 0.025 / tests, self.degrees) * self.error
        low, high = max(self.value - reach, -1.0), min(self.value + reach, 1.0)
        return Estimate(self.value, low, high, n=self.n, groups=self.groups, method=METHOD)


LEAST_LEFT = 0.25
"""A contrast is not tested if the main effects, in the sample at hand, explain more than the rest of it."""
MAX_GROUP_SHARE = 0.5
"""A contrast is not tested if one group has more of its weight: there is too little to compare that group with."""


def strongest_contrast(
    values: Flags, cells: Codes, groups: Codes, *, mains: Floats, contrasts: Floats
) -> CellValues | None:
    """The contrast between cells that differs most from zero by its standard error, main effects removed.

    ``mains`` and ``contrasts`` have a row for each cell: the columns of a linear model that holds under the null, and
    what is tested one at a time beside it, in values from -1 to 1. The standard error is clustered by group, and never
    below that of one deviating group. None if no contrast can be told from the main effects and from a single group.
    """
    from scipy.sparse import csr_array
    from scipy.special import stdtr

    group = numbered(groups)
    involved, rows = int(group.max(initial=-1)) + 1, len(values)
    if involved < 3:
        return None
    counts = np.bincount(cells, minlength=len(mains)).astype(np.float64)
    totals = np.bincount(cells, values.astype(np.float64), minlength=len(mains))
    fit = np.linalg.pinv(mains.T @ (counts[:, None] * mains))
    rest = contrasts - mains @ (fit @ (mains.T @ (counts[:, None] * contrasts)))
    left, whole = counts @ rest**2, counts @ contrasts**2
    asked = csr_array((np.ones(rows), (group, cells)), shape=(involved, len(mains)))
    most = np.asarray(asked @ rest**2).max(axis=0)
    tested = np.flatnonzero((left > LEAST_LEFT * np.maximum(whole, 1.0)) & (most <= MAX_GROUP_SHARE * left))
    spare = rows - int(np.linalg.matrix_rank(mains)) - 1
    if not len(tested) or spare < 1:
        return None
    rest, left = rest[:, tested], left[tested]
    slopes = rest.T @ totals / left
    residuals = values - (mains @ (fit @ (mains.T @ totals)))[cells]
    # What each group adds to each slope under the null, by which the strongest is chosen.
    terms = np.asarray(csr_array((residuals, (group, cells)), shape=(involved, len(mains))) @ rest)
    errors = np.maximum(np.sqrt(np.einsum("gc,gc->c", terms, terms)) / left, np.finfo(np.float64).tiny)
    least_error = sqrt(2) / (involved + 2)
    best = int(np.argmax(np.abs(slopes) / np.maximum(errors, least_error / 2)))
    # Its own error is that beyond what its slope makes one expect.
    shares = np.bincount(group, rest[cells, best] ** 2)
    # A group pulls the slope towards itself by its share, as in a jackknife over groups.
    own = (terms[:, best] - slopes[best] * shares) / (1 - shares / left[best])
    effective = float(shares.sum() ** 2 / (shares @ shares))
    degrees = max(effective - 1, 1.0)
    correction = sqrt(rows / spare * effective / degrees)
    error = max(2 * float(np.linalg.norm(own)) * correction / float(left[best]), least_error)
    value = float(np.clip(2 * slopes[best], -1, 1))
    p = 2 * float(stdtr(degrees, -abs(value) / error))
    return CellValues(int(tested[best]), value, error, p, len(tested), rows, involved, degrees)


def _least_error(parts: Parts, groups: Codes) -> float:
    """The standard error where one group deviates, given how many groups take part."""
    rows = np.concatenate([contrast.rows for _, contrast, _ in parts])
    return sqrt(2) / (len(np.unique(groups[rows])) + 2)


def _quantile(probability: float, degrees: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))
