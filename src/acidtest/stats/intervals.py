"""Intervals for rates and differences of rows that come in groups.

Independent 0/1 rows get Wilson's interval, or Clopper and Pearson's at 0/n and n/n. Grouped rows get a bootstrap over
groups within strata. They get a t interval instead if there are fewer than 30 groups or few groups per stratum, or if
the variance of a rate depends on a handful of groups; a single group gets no interval. The textbook forms of both have
much less than 95 % coverage when groups are few, unequal or nearly all right, so they are corrected
(``benchmarks/coverage.py`` measures the gain):

- the variance is the jackknife's over groups, with degrees of freedom that fall as groups contribute unevenly to it;
- the t interval is centred on the row mean and computed on the logit scale, so that it is asymmetric near 0 and 1;
- the bootstrap is expanded to that variance and its t quantile (Hesterberg 2015), and for rates also accelerated (BCa).

Sums and differences of several rates of independent rows in strata (``combination``) have a closed form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from acidtest.core.estimate import Estimate
from acidtest.stats.bootstrap import Interval, Kind, bootstrap
from acidtest.stats.resampling import (
    Codes,
    Floats,
    Labels,
    Numbers,
    Rng,
    Totals,
    Values,
    binary,
    column,
    generator,
    group_totals,
    paired_columns,
    spread,
    weighted_sides,
)

Flags = npt.NDArray[np.bool_]

FEW_GROUPS = 30
FEW_IN_A_STRATUM = 5
FEW_DEGREES = 10.0
FEW_MEANS = 5


def wilson(successes: int, n: int, *, confidence: float = 0.95) -> Interval:
    """Wilson's score interval for a rate of independent rows; NaN without rows."""
    if n == 0:
        return Interval(math.nan, math.nan, "Wilson")
    z = _quantile(confidence)
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half_width = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return Interval(max(0.0, centre - half_width), min(1.0, centre + half_width), "Wilson")


def clopper_pearson(successes: float, n: float, *, confidence: float = 0.95) -> Interval:
    """The exact interval for a rate of independent rows: coverage is at least ``confidence``; NaN without rows.

    Numbers of effective rows may be fractional (Korn and Graubard 1998).
    """
    from scipy.special import betaincinv

    if n == 0:
        return Interval(math.nan, math.nan, "Clopper–Pearson")
    tail = (1 - confidence) / 2
    low = float(betaincinv(successes, n - successes + 1, tail)) if successes > 0 else 0.0
    high = float(betaincinv(successes + 1, n - successes, 1 - tail)) if successes < n else 1.0
    return Interval(low, high, "Clopper–Pearson")


def rate(
    values: Values,
    *,
    groups: Labels = None,
    strata: Labels = None,
    draws_seed: int = 0,
    resamples: int = 10_000,
    empty: str = "no rows",
) -> Estimate:
    """Mean of the values over rows, usually 0 for wrong and 1 for right, with its interval.

    ``groups`` and ``strata`` hold a code or a name per row. No rows: NaN with the note ``empty``. One group: no
    interval.
    """
    numbers = column(values)
    if not numbers.size:
        return Estimate(math.nan, note=empty)
    return _mean(numbers, groups, strata, rng=draws_seed, resamples=resamples)


def mean_of_groups(values: Floats, groups: Codes) -> Estimate:
    """Mean over groups of the mean of their values, for values from -1 to 1, with a t interval clipped to that.

    It is for differences of scores, where groups that are all alike tell nothing of others: then there is no interval.
    """
    from scipy.special import stdtrit

    if not values.size:
        return Estimate(math.nan, note="no pairs")
    codes = np.unique(groups, return_inverse=True)[1]
    means = np.bincount(codes, values) / np.bincount(codes)
    value, count = float(means.mean()), len(means)
    error = float(means.std(ddof=1)) / math.sqrt(count) if count > 1 else 0.0
    if error < 1e-12:
        note = "one group only" if count == 1 else "all groups are alike"
        return Estimate(value, n=values.size, groups=count, note=f"{note}: no interval")
    reach = float(stdtrit(count - 1, 0.975)) * error
    note = f"{count} groups only" if count < FEW_MEANS else ""
    low, high = max(value - reach, -1.0), min(value + reach, 1.0)
    return Estimate(value, low, high, values.size, count, "t interval over means of groups", note)


@dataclass(frozen=True)
class Counted:
    """The rows of one side: which count (denominator), and which of those are of the kind (numerator)."""

    counted: Flags
    of_kind: Flags

    @property
    def share(self) -> float:
        """Rows of the kind among those that count; NaN when none counts."""
        return float(self.of_kind.sum() / self.counted.sum()) if self.counted.any() else math.nan

    def estimate(self, groups: Codes, strata: Codes) -> Estimate:
        """The share with its interval."""
        if not self.counted.any():
            return Estimate(math.nan, note="no errors")
        return rate(self.of_kind[self.counted], groups=groups[self.counted], strata=strata[self.counted])


def difference(
    first: Values,
    second: Values,
    *,
    groups: Labels = None,
    strata: Labels = None,
    draws_seed: int = 0,
    resamples: int = 10_000,
) -> Estimate:
    """Mean of first minus second over paired rows, with its interval.

    The bootstrap is expanded but not accelerated: a difference is nearly symmetric, and the skewness of a few
    discordant groups is mostly noise. If first and second are equal in every group, the interval allows for the
    share of groups in which they might differ without any being sampled.
    """
    pair = paired_columns(first, second)
    bounds = (-1.0, 1.0) if _within_unit(pair[0]) and _within_unit(pair[1]) else (-math.inf, math.inf)
    totals = group_totals(pair[0] - pair[1], groups, strata=strata)
    return _estimate(totals, n=pair[0].size, bounds=bounds, kind="expanded", rng=draws_seed, resamples=resamples)


def unpaired_difference(
    first: Values,
    second: Values,
    *,
    groups_first: Labels = None,
    groups_second: Labels = None,
    strata_first: Labels = None,
    strata_second: Labels = None,
    draws_seed: int = 0,
    resamples: int = 10_000,
) -> Estimate:
    """Mean of the first minus mean of the second, over different rows, with its interval.

    With strata, both means are taken over the strata that both sides have, each weighted by its share of their rows;
    other rows are left out and counted in the note. Each mean gets the interval that ``rate`` would give it, and the
    two are combined as Newcombe (1998) does.
    """
    rng, groups, strata = generator(draws_seed), (groups_first, groups_second), (strata_first, strata_second)
    sides = weighted_sides(first, second, groups=groups, strata=strata)
    one, two = (
        _mean(side.values, side.groups, side.strata, weights=side.weights, rng=rng, resamples=resamples)
        for side in sides
    )
    left_out = sum(side.left_out for side in sides)
    note = f"{left_out} rows in strata that only one side has are left out" if left_out else ""
    n, count = one.n + two.n, one.groups + two.groups
    if not (one.known and two.known):
        return Estimate(math.nan, n=n, groups=count, note=note or "no rows on one side")
    value = one.value - two.value
    below, above = _hybrid(
        [(sign, mean.value - mean.low, mean.high - mean.value) for sign, mean in ((1, one), (-1, two))]
    )
    if math.isnan(below):
        return Estimate(value, n=n, groups=count, note="; ".join(filter(None, (one.note or two.note, note))))
    method = one.method if one.method == two.method else f"{one.method} and {two.method}"
    return Estimate(
        value, value - below, value + above, n, count, f"Newcombe's hybrid of two intervals ({method})", note
    )


@dataclass(frozen=True, slots=True)
class StratifiedRate:
    """A weighted rate of independent 0/1 rows in strata, reduced to what its interval needs.

    For every stratum, ``shares`` holds its share of the weight, ``rates`` the rate within it and ``squares`` the sum of
    the squared weights of its rows, where all weights add up to 1. Without rows there are no strata.
    """

    n: int
    shares: Floats
    rates: Floats
    squares: Floats

    @classmethod
    def of(cls, values: Values, *, strata: Labels = None, weights: Labels = None) -> StratifiedRate:
        """Summarise rows, each with its stratum and a weight above 0; strata of a single row are pooled."""
        right = column(values)
        if not binary(right):
            raise ValueError("a stratified rate takes right (1) and wrong (0) only")
        if right.size == 0:
            return cls(0, np.zeros(0), np.zeros(0), np.zeros(0))
        given = None if weights is None else np.asarray(weights, dtype=np.float64)
        totals = group_totals(right, strata=strata, weights=given)
        parts = totals.sizes / totals.sizes.sum()
        shares, rates, squares = (
            np.bincount(totals.strata, values).astype(np.float64) for values in (parts, parts * right, parts**2)
        )
        return cls(right.size, shares, rates / shares, squares)

    @property
    def value(self) -> float:
        """The weighted mean over rows; NaN without rows."""
        if self.unanimous:
            return float(self.rates[0])
        return float(self.shares @ self.rates) if self.n else math.nan

    @property
    def unanimous(self) -> bool:
        """Whether all rows are right or all are wrong."""
        return self.n > 0 and bool((self.rates == self.rates[0]).all()) and self.rates[0] in (0, 1)

    def reach(self, z: float) -> tuple[float, float]:
        """Distances from the value to the lower and the upper end of its interval; z is the normal quantile.

        The ends solve Wilson's equation, |p - value| = z sd(p), with the variance within strata. For p above the value,
        each wrong row is assumed to turn right with the same probability; for p below it, each right row to turn wrong.
        So a single stratum gets Wilson's interval, strata that are all right or all wrong can still change, and no end
        leaves [0, 1]. If all rows agree, the interval is Clopper and Pearson's for the effective number of rows.
        """
        return self._above(1 - self.rates, z), self._above(self.rates, z)

    def _above(self, rates: Floats, z: float) -> float:
        """Distance to the upper end, given the rate in each stratum."""
        from scipy.special import log_ndtr

        if not self.n:
            return math.nan
        room = float(self.shares @ (1 - rates))
        if room <= 0 or rates.max() == 0:
            # 1 - tail ** (1 / n) for n effective rows, by logarithms, since the tail may be too small for a float.
            return -math.expm1(float(log_ndtr(-z)) * float(self.squares.sum())) if room > 0 else 0.0
        # In a stratum of n effective rows, p(1 - p) is on average too small by the factor 1 - 1/n. Wilson's interval
        # does not correct this for the sample as a whole, so that factor is kept.
        inverse_sizes = self.squares / self.shares**2
        corrections = (1 - self.squares.sum()) / np.maximum(1 - inverse_sizes, 1e-12)
        observed = float((self.squares * rates * (1 - rates) * corrections).sum())
        added = float((self.squares * (1 - rates) ** 2).sum())
        # If wrong rows turn right with probability t, the rate rises by t * room and its variance is
        # (1 - t)(observed + t * added): a quadratic equation in t.
        square, linear = room**2 + z * z * added, z * z * (added - observed)
        return room * (linear + math.sqrt(linear**2 + 4 * square * z * z * observed)) / (2 * square)


def combination(parts: Sequence[tuple[float, StratifiedRate]], *, confidence: float = 0.95) -> Estimate:
    """Sum of independent rates, each times its coefficient, with its interval (MOVER, Zou and Donner 2008).

    The distance to each end is the root of the sum of squares of the parts' distances; for coefficients 1 and -1 this
    is Newcombe's hybrid. A part without rows: NaN with a note.
    """
    n = sum(rate.n for _, rate in parts)
    value = sum(coefficient * rate.value for coefficient, rate in parts)
    if math.isnan(value):
        return Estimate(math.nan, n=n, groups=n, note="no rows on one side")
    below, above = combined_reach(parts, _quantile(confidence))
    method = f"MOVER of {len(parts)} stratified Wilson intervals"
    return Estimate(value, value - below, value + above, n, n, method)


def combined_reach(parts: Sequence[tuple[float, StratifiedRate]], z: float) -> tuple[float, float]:
    """Distances from the value of a combination to the lower and the upper end of its interval."""
    return _hybrid([(coefficient, *rate.reach(z)) for coefficient, rate in parts])


def _mean(
    values: Numbers, groups: Labels, strata: Labels, *, weights: Floats | None = None, rng: Rng | int, resamples: int
) -> Estimate:
    totals = group_totals(values, groups, strata=strata, weights=weights)
    n = values.size
    # Weights that are 1 but for rounding leave independent rows independent.
    if 0 < n == totals.sums.size and (np.abs(totals.sizes - 1) <= 1e-5).all() and binary(values):
        successes = int(values.sum())
        interval = clopper_pearson(successes, n) if successes in (0, n) else wilson(successes, n)
        return Estimate(totals.value, interval.low, interval.high, n, n, interval.method)
    bounds = (0.0, 1.0) if _within_unit(values) else (-math.inf, math.inf)
    return _estimate(totals, n=n, bounds=bounds, kind="accelerated", rng=rng, resamples=resamples)


def _estimate(
    totals: Totals, *, n: int, bounds: tuple[float, float], kind: Kind, rng: Rng | int, resamples: int
) -> Estimate:
    """The mean over rows with the interval that suits the number of groups."""
    groups = totals.sums.size
    unit = "rows" if groups == n else "groups"
    if groups == 0:
        return Estimate(math.nan, note="no rows")
    if groups == 1:
        return Estimate(totals.value, n=n, groups=1, note=f"one {unit[:-1]} only: no interval")
    lows, highs = _extremes(totals)
    lowest, highest = float(lows.min()), float(highs.max())
    # If the groups of each stratum all have the same mean, the bootstrap has no variance.
    unanimous = (highs - lows).max() <= 1e-9 * max(1.0, highest, -lowest)
    if unanimous and math.isinf(bounds[1]):
        return Estimate(totals.value, n=n, groups=groups, note=f"all {unit} agree: no interval")
    few = groups < max(FEW_GROUPS, FEW_IN_A_STRATUM * (int(totals.strata.max()) + 1))
    if unanimous:
        # How far the value could move if the largest share of groups that may go unsampled differed from the rest.
        share = clopper_pearson(0, groups).high
        low = max(bounds[0], totals.value - share * (highest - bounds[0]))
        high = min(bounds[1], totals.value + share * (bounds[1] - lowest))
        interval = Interval(low, high, "Clopper–Pearson, since all agree")
    elif few or (kind == "accelerated" and spread(totals).degrees < FEW_DEGREES):
        interval = _t_interval(totals, bounds)
    else:
        interval = bootstrap(totals.sums, totals.sizes, strata=totals.strata, rng=rng, resamples=resamples, kind=kind)
    return Estimate(totals.value, interval.low, interval.high, n, groups, f"{interval.method}, over {unit}")


def _hybrid(reaches: Sequence[tuple[float, float, float]]) -> tuple[float, float]:
    """Distances below and above a sum, given (coefficient, distance below, distance above) of each part."""
    scaled = [(c * below, c * above) if c > 0 else (c * above, c * below) for c, below, above in reaches]
    return math.hypot(*(below for below, _ in scaled)), math.hypot(*(above for _, above in scaled))


def _quantile(confidence: float) -> float:
    from scipy.special import ndtri

    return float(-ndtri((1 - confidence) / 2))


def _t_interval(totals: Totals, bounds: tuple[float, float]) -> Interval:
    """A t interval around the row mean, on the logit scale between the bounds if these are finite."""
    from scipy.special import expit, logit, stdtrit

    deviation = spread(totals)
    half_width = float(stdtrit(deviation.degrees, 0.975)) * math.sqrt(deviation.variance)
    low, high = bounds
    width = high - low
    method = f"t with {deviation.degrees:.1f} degrees of freedom, linearised around the row mean"
    if math.isinf(width):
        return Interval(totals.value - half_width, totals.value + half_width, method)
    from_low, to_high = totals.value - low, high - totals.value
    half_width *= width / (from_low * to_high)
    ends = low + width * expit(logit(from_low / width) + np.array([-half_width, half_width]))
    return Interval(float(ends[0]), float(ends[1]), f"{method} on the logit scale")


def _extremes(totals: Totals) -> tuple[Floats, Floats]:
    """The lowest and the highest mean of a group in each stratum."""
    lows, highs = np.full((2, int(totals.strata.max()) + 1), [[np.inf], [-np.inf]])
    for block in totals.blocks:
        means = block.sums / block.sizes
        np.minimum.at(lows, block.strata, means)
        np.maximum.at(highs, block.strata, means)
    return lows, highs


def _within_unit(values: Numbers) -> bool:
    return bool(((values >= 0) & (values <= 1)).all())
