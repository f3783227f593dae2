"""Shares among rows that are themselves an outcome, such as false neutrals among errors, on two sides of paired rows.

Different rows count on each side, so rows cannot be paired; but rows of one group err together, on both sides. The
correlation of the two shares and the test of their difference use the contribution of each group to a share, which is
linear to first order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from acidtest.core.estimate import Estimate
from acidtest.stats.intervals import rate
from acidtest.stats.resampling import Codes, Floats, Numbers, blocks, generator, group_sums, numbered
from acidtest.stats.significance import Test, flipped_signs

Flags = npt.NDArray[np.bool_]
NO_ROWS = "no errors on one side"


@dataclass(frozen=True)
class Counted:
    """The rows of one side: which of them count, and which of those are of the kind."""

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

    def in_groups(self, codes: Codes) -> _Totals:
        """The rows of every group, groups being numbered."""
        return _Totals(group_sums(self.counted, codes), group_sums(self.of_kind, codes))


@dataclass(frozen=True)
class _Totals:
    """How many rows of each group count, and how many of those are of the kind."""

    counted: Numbers
    of_kind: Numbers

    def contributions(self, part: slice, share: float) -> Floats:
        """The contribution of each group to the difference between this side's share and another share."""
        return np.asarray((self.of_kind[part] - share * self.counted[part]) / self.counted.sum())


def share_difference(first: Counted, second: Counted, *, groups: Codes, strata: Codes) -> Estimate:
    """Share on the first side minus share on the second, with its interval; rows of both sides are in the same order.

    Each end is the farther of two. MOVER with correlation (Zou and Donner 2008) lets each share keep the interval it
    would have alone, so that 0 and 1 are not taken as certain, but is too short on one side where the two shares are
    highly correlated; there the t interval on the contributions of groups is the wider one.
    """
    shares = [side.estimate(groups, strata) for side in (first, second)]
    one, two = (side.in_groups(numbered(groups)) for side in (first, second))
    n, count = sum(share.n for share in shares), int(((one.counted > 0) | (two.counted > 0)).sum())
    if not (shares[0].known and shares[1].known):
        return Estimate(math.nan, n=n, groups=count, note=NO_ROWS)
    value = shares[0].value - shares[1].value
    below, above = [share.value - share.low for share in shares], [share.high - share.value for share in shares]
    if any(map(math.isnan, (*below, *above))):
        return Estimate(value, n=n, groups=count, note=shares[0].note or shares[1].note)
    products = _products(one, two, (first.share, second.share))
    reach, together = _reach(products.apart, count), products.correlation
    low = value - max(_distance(below[0], above[1], together), reach)
    high = value + max(_distance(above[0], below[1], together), reach)
    methods = " and ".join(dict.fromkeys(share.method for share in shares))
    method = f"MOVER with correlation of two intervals ({methods}), at least a t interval"
    return Estimate(value, max(low, -1.0), min(high, 1.0), n, count, method)


def share_test(first: Counted, second: Counted, *, groups: Codes, draws_seed: int = 0, resamples: int = 10_000) -> Test:
    """Test whether the two shares differ by flipping the signs of the contributions of groups (Hemerik et al. 2020).

    Contributions are measured from the share of both sides together. Swapping the sides of groups instead would
    assume equally many errors on both, and reject too often where one has few (docs/statistics.md).
    """
    name, n = "paired permutation of contributions to shares", int(first.counted.sum() + second.counted.sum())
    if not (first.counted.any() and second.counted.any()):
        return Test(name, math.nan, math.nan, n, NO_ROWS)
    pooled = float((first.of_kind.sum() + second.of_kind.sum()) / n)
    one, two = (side.in_groups(numbered(groups)) for side in (first, second))
    size = one.counted.size
    # Scaled to be about 1, since tiny differences count as none.
    differences = (
        one.contributions(part, pooled) * size - two.contributions(part, pooled) * size for part in blocks(size)
    )
    result = flipped_signs(differences, rng=generator(draws_seed), resamples=resamples)
    return replace(result, name=name, statistic=result.statistic / size, n=n)


def _distance(one: float, two: float, correlation: float) -> float:
    return math.sqrt(max(one * one + two * two - 2 * correlation * one * two, 0.0))


def _reach(squares: float, groups: int) -> float:
    """Half the width of the t interval, given the sum of squared contributions; 0 for one group."""
    if groups < 2:
        return 0.0
    return float(stdtrit(groups - 1, 0.975) * math.sqrt(squares) * math.sqrt(groups / (groups - 1)))


@dataclass(frozen=True)
class _Products:
    """Sums over groups: contributions to each share squared, to both multiplied, and their difference squared."""

    one: float
    two: float
    both: float
    apart: float

    @property
    def correlation(self) -> float:
        """Of contributions to the two shares; 0 where one of them does not vary."""
        size = math.sqrt(self.one) * math.sqrt(self.two)
        return self.both / size if size > 0 else 0.0


def _products(one: _Totals, two: _Totals, shares: tuple[float, float]) -> _Products:
    sums = np.zeros(4)
    for part in blocks(one.counted.size):
        first, second = one.contributions(part, shares[0]), two.contributions(part, shares[1])
        apart = first - second
        sums += [first @ first, second @ second, first @ second, apart @ apart]
    return _Products(*sums.tolist())
