"""Tests and intervals from contributions of clusters of rows: trends, differences of cells, and shares of outcomes.

Rows of one premise are answered alike, and so are rows about the same two words, which occur in many premises. To treat
rows as independent, or to cluster by premise alone, would overstate the evidence (see docs/explanation/lexical.md).
So variances of trends and cells are robust to both clusterings: the sum of the variances by each, minus that by their
intersection (Cameron, Gelbach and Miller 2011), and never below either.

A share among rows selected by outcome, such as false neutrals among errors, counts different rows on two sides. Rows
cannot be paired then, but groups can: to first order, the error of a share is a sum over groups.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from acidtest.core.estimate import Estimate
from acidtest.stats.intervals import Counted
from acidtest.stats.resampling import Codes, Floats, Numbers, Values, blocks, generator, group_sums, numbered
from acidtest.stats.significance import Test, flipped_signs

_LEAST_P = 1e-15
"""The smallest p reported: no approximation is reliable further out."""

_NO_ERRORS = "no errors on one side"


@dataclass(frozen=True)
class Effect:
    """An estimate that is 0 without an effect, with its test; p is NaN where there is no test."""

    estimate: Estimate
    test: str
    p: float


@dataclass(frozen=True)
class Clusterings:
    """One or two ways to cluster the rows: the code of every row's cluster in each."""

    codes: tuple[Codes, ...]

    @classmethod
    def of(cls, *labels: npt.ArrayLike) -> Clusterings:
        """Number the clusters, given by codes or names of rows."""
        return cls(tuple(np.unique(np.asarray(names), return_inverse=True)[1].astype(np.int64) for names in labels))

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(int(codes.max(initial=-1)) + 1 for codes in self.codes)

    @property
    def degrees(self) -> int:
        """Degrees of freedom: the smaller number of clusters, less one."""
        return min(self.sizes) - 1

    def products(self, one: Floats, two: Floats) -> Floats:
        """Candidates for the covariance of two sums over rows; callers take the one with the largest variance."""
        single = [_product(one, two, codes) for codes in self.codes]
        if len(self.codes) < 2:
            return np.array(single)
        both = np.unique(self.codes[0] * self.sizes[1] + self.codes[1], return_inverse=True)[1]
        return np.array([*single, sum(single) - _product(one, two, both)])


def trend(values: Values, steps: npt.ArrayLike, clusterings: Clusterings, *, unit: str = "groups") -> Effect:
    """By how much the mean of 0/1 rows changes from one step to the next; steps are numbered, equally far apart.

    The statistic is Cochran and Armitage's, the sum of (step - mean)(value - mean); its variance is robust to the
    clusterings and its distribution t. The interval contains the slopes that the test would not reject. No rows,
    one step, one cluster or rows that all agree: no p, with a note.
    """
    from scipy.special import stdtrit

    value, step = np.asarray(values, dtype=np.float64), np.asarray(steps, dtype=np.float64)
    name = f"Cochran–Armitage, variance robust to {unit}"
    note = ""
    if not value.size:
        note = "no rows"
    elif np.ptp(step) == 0:
        note = "all rows are on one step"
    elif np.ptp(value) == 0:
        note = "all rows agree"
    elif clusterings.degrees < 1:
        note = "one group only"
    n, count = value.size, min(clusterings.sizes, default=0)
    if note:
        return Effect(Estimate(math.nan, n=n, groups=count, note=note), name, math.nan)
    away = step - step.mean()
    scores, squares = away * (value - value.mean()), away**2
    score, square = float(scores.sum()), float(squares.sum())
    # Under a slope b the contributions are scores - b * squares, so that their variance is a quadratic in b.
    candidates = [clusterings.products(*pair) for pair in ((scores, scores), (scores, squares), (squares, squares))]
    widest = int(candidates[0].argmax())
    constant, linear, quadratic = (float(products[widest]) for products in candidates)
    degrees = clusterings.degrees
    p = _p(score, constant, degrees)
    reach = float(stdtrit(degrees, 0.975)) ** 2
    ends = _roots(square**2 - reach * quadratic, score * square - reach * linear, score**2 - reach * constant)
    method = f"inverted {name}, t with {degrees} degrees of freedom"
    if ends is None:
        wide = f"too few {unit} for an interval"
        return Effect(Estimate(score / square, n=n, groups=count, note=wide), name, p)
    return Effect(Estimate(score / square, *ends, n, count, method), name, p)


def weighted_difference(
    values: Values, cells: npt.ArrayLike, weights: Sequence[float], clusterings: Clusterings
) -> Effect:
    """The weighted sum of the means of cells, for values from -1 to 1, with a t interval and test.

    ``cells`` are indices of ``weights``. A cell whose rows all agree, or belong to one cluster, gets the variance
    that it would have with one more right and one more wrong cluster (after Agresti and Caffo 2000). NaN with a note
    if a cell has no rows.
    """
    from scipy.special import stdtrit

    value, cell = np.asarray(values, dtype=np.float64), np.asarray(cells, dtype=np.int64)
    name = "t test, variance robust to clusters"
    weight, counts = np.asarray(weights, dtype=np.float64), np.bincount(cell, minlength=len(weights))
    n, groups = value.size, min(clusterings.sizes, default=0)
    if not len(weight) or (counts == 0).any() or clusterings.degrees < 1:
        note = "no rows on one side" if not len(weight) or (counts == 0).any() else "one group only: no interval"
        return Effect(Estimate(math.nan, n=n, groups=groups, note=note), name, math.nan)
    means = np.bincount(cell, value, minlength=len(weight)) / counts
    pairs = (np.unique(np.stack([cell, codes]), axis=1)[0] for codes in clusterings.codes)
    cluster_counts = np.array([np.bincount(members, minlength=len(weight)) for members in pairs])
    fewest = cluster_counts.min(axis=0)
    # Rows deviate less from the mean of their cell than from the true mean: hence k / (k - 1) for k clusters.
    parts = (weight / counts * np.sqrt(fewest / np.maximum(fewest - 1, 1)))[cell] * (value - means[cell])
    shown = float(clusterings.products(parts, parts).max())
    variance = max(shown, 0.0) + float(_unseen(value, cell, weight, fewest).sum())
    total = float(weight @ means)
    degrees = max(1, min(clusterings.degrees, int((cluster_counts - 1).sum(axis=1).min())))
    if not variance:
        return Effect(Estimate(total, n=n, groups=groups, note="nothing varies: no interval"), name, math.nan)
    reach = float(stdtrit(degrees, 0.975)) * math.sqrt(variance)
    p = _p(total, variance, degrees)
    method = f"t with {degrees} degrees of freedom, variance robust to clusters"
    return Effect(Estimate(total, total - reach, total + reach, n, groups, method), name, p)


def share_difference(first: Counted, second: Counted, shares: Sequence[Estimate], *, groups: Codes) -> Estimate:
    """Share on the first side minus share on the second, with its interval; rows of both sides are in the same order.

    ``shares`` are the estimates of the two sides.
    Each end is the farther of two. MOVER with correlation (Zou and Donner 2008) lets each share keep the interval it
    would have alone, so that 0 and 1 are not taken as certain, but is too short on one side where the two shares are
    highly correlated; there the t interval on the contributions of groups is the wider one.
    """
    from scipy.special import stdtrit

    one, two = _GroupShare.of(first, groups), _GroupShare.of(second, groups)
    n, count = sum(share.n for share in shares), int(((one.counted > 0) | (two.counted > 0)).sum())
    if not (shares[0].known and shares[1].known):
        return Estimate(math.nan, n=n, groups=count, note=_NO_ERRORS)
    value = shares[0].value - shares[1].value
    below, above = [share.value - share.low for share in shares], [share.high - share.value for share in shares]
    if any(map(math.isnan, (*below, *above))):
        return Estimate(value, n=n, groups=count, note=shares[0].note or shares[1].note)
    products = np.zeros(4)
    for part in blocks(one.counted.size):
        adds, takes = one.contributions(part, first.share), two.contributions(part, second.share)
        products += [adds @ adds, takes @ takes, adds @ takes, (adds - takes) @ (adds - takes)]
    size = math.sqrt(products[0]) * math.sqrt(products[1])
    correlation = float(products[2]) / size if size > 0 else 0.0
    reach = 0.0
    if count > 1:
        reach = float(stdtrit(count - 1, 0.975) * math.sqrt(products[3]) * math.sqrt(count / (count - 1)))

    def distance(one: float, two: float) -> float:
        return max(math.sqrt(max(one * one + two * two - 2 * correlation * one * two, 0.0)), reach)

    low, high = value - distance(below[0], above[1]), value + distance(above[0], below[1])
    methods = " and ".join(dict.fromkeys(share.method for share in shares))
    method = f"MOVER with correlation of two intervals ({methods}), at least a t interval"
    return Estimate(value, max(low, -1.0), min(high, 1.0), n, count, method)


def share_test(first: Counted, second: Counted, *, groups: Codes, draws_seed: int = 0, resamples: int = 10_000) -> Test:
    """Test whether the two shares differ by flipping the signs of the contributions of groups (Hemerik et al. 2020).

    Contributions are computed with the pooled share of both sides. Swapping the sides of groups instead would
    assume equally many errors on both, and reject too often where one has few (docs/explanation/statistics.md).
    """
    name, n = "paired permutation of contributions to shares", int(first.counted.sum() + second.counted.sum())
    if not (first.counted.any() and second.counted.any()):
        return Test(name, math.nan, math.nan, n, _NO_ERRORS)
    pooled = float((first.of_kind.sum() + second.of_kind.sum()) / n)
    one, two = _GroupShare.of(first, groups), _GroupShare.of(second, groups)
    size = one.counted.size
    # Scaled to be about 1, since tiny differences count as none.
    differences = (
        one.contributions(part, pooled) * size - two.contributions(part, pooled) * size for part in blocks(size)
    )
    result = flipped_signs(differences, rng=generator(draws_seed), resamples=resamples)
    return replace(result, name=name, statistic=result.statistic / size, n=n)


@dataclass(frozen=True)
class _GroupShare:
    """How many rows of each group count, and how many of those are of the kind."""

    counted: Numbers
    of_kind: Numbers

    @classmethod
    def of(cls, side: Counted, groups: Codes) -> _GroupShare:
        codes = numbered(groups)
        return cls(group_sums(side.counted, codes), group_sums(side.of_kind, codes))

    def contributions(self, part: slice, share: float) -> Floats:
        """The contribution of each group to the difference between this side's share and another share."""
        return np.asarray((self.of_kind[part] - share * self.counted[part]) / self.counted.sum())


def _unseen(values: Floats, cells: Codes, weights: Floats, clusters: Codes) -> Floats:
    """The variance of cells that show none: that with one more right and one more wrong cluster."""
    lows, highs = np.full((2, len(weights)), [[np.inf], [-np.inf]])
    np.minimum.at(lows, cells, values)
    np.maximum.at(highs, cells, values)
    shows = (highs > lows) & (clusters > 1)
    share = (np.abs(lows + highs) / 2 * clusters + 1) / (clusters + 2)
    return np.where(shows, 0.0, weights**2 * share * (1 - share) / clusters)


def _product(one: Floats, two: Floats, codes: Codes) -> float:
    sums = [np.bincount(codes, values) for values in (one, two)]
    count = sums[0].size
    return float(sums[0] @ sums[1]) * count / (count - 1) if count > 1 else math.nan


def _p(value: float, variance: float, degrees: int) -> float:
    """The two-sided p-value of Student's t."""
    from scipy.special import stdtr

    return max(2 * float(stdtr(degrees, -abs(value) / math.sqrt(variance))), _LEAST_P) if variance > 0 else math.nan


def _roots(square: float, half: float, constant: float) -> tuple[float, float] | None:
    """The roots of square * b² - 2 * half * b + constant; None unless it is negative between two of them."""
    discriminant = half**2 - square * constant
    if square <= 0 or discriminant < 0:
        return None
    return (half - math.sqrt(discriminant)) / square, (half + math.sqrt(discriminant)) / square
