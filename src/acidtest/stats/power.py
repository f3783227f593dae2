"""The smallest difference between two models' accuracies that a number of rows can be expected to show.

A difference is detectable when a two-sided test at ``ALPHA`` would find it with chance ``power``. The two formulas take
a number of independent rows. ``detectable_difference`` and ``detectable_unpaired_difference`` take the rows that two
models answered and compute from their variance how many independent rows they are worth, so that they agree with the
interval of the difference: rows in groups are worth fewer, strata that explain differences make them worth more.
"""

from __future__ import annotations

import math

import numpy as np

from acidtest.stats.resampling import Labels, Values, column, group_totals, spread, weighted_sides

ALPHA, POWER = 0.05, 0.8
_NO_SPREAD = 1e-15
_NORMAL = 1e9
"""Degrees of freedom at which Student's distribution is the normal one; SciPy's quantile takes no infinity."""


def smallest_detectable_difference(
    n: float, *, discordance: float, degrees: float = math.inf, power: float = POWER
) -> float:
    """The smallest difference that McNemar's test on n rows would probably show (Connor 1987).

    ``discordance`` is the share of rows that exactly one model gets right. A difference d needs a share of at
    least d, so a smaller one is raised to d: models that never differed so far have a detectable difference too.
    ``degrees`` are those of the variance behind n. NaN where not even a difference of 1 would show.
    """
    critical, wanted = _quantiles(degrees, power)
    if n < 2 or n + wanted**2 < critical**2:
        return math.nan
    # sqrt(n) d = critical sqrt(psi) + wanted sqrt(psi - d^2), solved for d / sqrt(psi).
    root = (math.sqrt(n) * critical + wanted * math.sqrt(n + wanted**2 - critical**2)) / (n + wanted**2)
    smallest = root * max(math.sqrt(discordance), root)
    return smallest if smallest <= 1 else math.nan


def smallest_detectable_unpaired_difference(
    n: float, *, rate: float, degrees: float = math.inf, power: float = POWER
) -> float:
    """The smallest difference that the z test of two proportions would probably show, n rows for each model.

    ``rate`` lies midway between the two accuracies, as far as 0 and 1 leave room. NaN where not even a difference of 1
    would show.
    """
    critical, wanted = _quantiles(degrees, power)

    def surplus(difference: float) -> float:
        middle = min(max(rate, difference / 2), 1 - difference / 2)
        null = 2 * middle * (1 - middle)
        # Rounding may leave a variance of 0 a little below it.
        spread_apart = max(null - difference**2 / 2, 0.0)
        return math.sqrt(n) * difference - critical * math.sqrt(null) - wanted * math.sqrt(spread_apart)

    if n < 2 or surplus(1.0) < 0:
        return math.nan
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if surplus(middle) >= 0 else (middle, high)
    return high


def detectable_difference(first: Values, second: Values, *, groups: Labels = None, strata: Labels = None) -> float:
    """The smallest difference that these rows, which two models got right (1) or wrong (0), would probably show.

    Rows are assumed to vary as they do around the observed difference; with many discordant rows the result is 2.8
    standard errors. They count as (variance of a row) / (variance of the mean over groups within strata) independent
    rows, or as many as there are groups if no group varies. NaN with fewer than two groups.
    """
    change = np.asarray(column(first), dtype=np.float64) - column(second)
    totals = group_totals(change, groups, strata=strata)
    if totals.sums.size < 2:
        return math.nan
    variance, seen = float(change.var()), spread(totals)
    if min(variance, seen.variance) <= _NO_SPREAD:
        return smallest_detectable_difference(totals.sums.size, discordance=0.0)
    return smallest_detectable_difference(variance / seen.variance, discordance=variance, degrees=seen.degrees)


def detectable_unpaired_difference(
    first: Values,
    second: Values,
    *,
    groups_first: Labels = None,
    groups_second: Labels = None,
    strata_first: Labels = None,
    strata_second: Labels = None,
) -> float:
    """The smallest difference that different rows of two models would probably show, in the strata both have.

    Each model is given as many independent rows as yield the variance of the difference. NaN if a side has fewer than
    two groups.
    """
    groups, strata = (groups_first, groups_second), (strata_first, strata_second)
    sides = [side.totals for side in weighted_sides(first, second, groups=groups, strata=strata)]
    if min(side.sums.size for side in sides) < 2:
        return math.nan
    rates, spreads = [side.value for side in sides], [spread(side) for side in sides]
    variance = sum(seen.variance for seen in spreads)
    independent = sum(rate * (1 - rate) for rate in rates)
    if min(variance, independent) <= _NO_SPREAD:
        return smallest_detectable_unpaired_difference(min(side.sums.size for side in sides), rate=1.0)
    degrees = variance**2 / sum(seen.variance**2 / seen.degrees for seen in spreads)
    # The common rate at which the rows of both models would vary as much as these do.
    rate = (1 + math.sqrt(max(1 - 2 * independent, 0.0))) / 2
    return smallest_detectable_unpaired_difference(independent / variance, rate=rate, degrees=degrees)


def _quantiles(degrees: float, power: float) -> tuple[float, float]:
    from scipy.special import stdtrit

    degrees = min(degrees, _NORMAL)
    return float(stdtrit(degrees, 1 - ALPHA / 2)), float(stdtrit(degrees, power))
