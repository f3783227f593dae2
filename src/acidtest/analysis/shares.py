"""Shares among rows that are themselves an outcome, such as false neutrals among errors, on two sides of paired rows.

Which rows count differs from side to side, so nothing is paired row by row; but rows of one group err together, on both
sides. A group's contribution to a share is linear to first order, and that is what the correlation of the two shares
and the test of their difference rest on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from acidtest.analysis.intervals import rate
from acidtest.analysis.resampling import Floats, generator, group_totals
from acidtest.analysis.significance import Test, paired_permutation
from acidtest.core.estimate import Estimate

Flags = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]

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

    def contributions(self, groups: Codes, share: float) -> Floats:
        """What each group adds to the distance of this side's share from another; with its own share they sum to 0."""
        of_kind = group_totals(self.of_kind.astype(np.float64), groups).sums
        counted = group_totals(self.counted.astype(np.float64), groups).sums
        return np.asarray((of_kind - share * counted) / counted.sum())


def share_difference(first: Counted, second: Counted, *, groups: Codes, strata: Codes) -> Estimate:
    """Share on the first side minus share on the second, with its interval; rows of both sides stand in one order.

    Each end is the farther of two. MOVER with correlation (Zou and Donner 2008) lets each share keep the interval it
    would have alone, so that 0 and 1 are not taken for certain, but falls short on one side where the two shares hang
    closely together; there the t interval on the groups' contributions, which makes no such allowance, is the wider.
    """
    shares = [side.estimate(groups, strata) for side in (first, second)]
    n, count = sum(share.n for share in shares), int(np.unique(groups[first.counted | second.counted]).size)
    if not (shares[0].known and shares[1].known):
        return Estimate(math.nan, n=n, groups=count, note=NO_ROWS)
    value = shares[0].value - shares[1].value
    below, above = [share.value - share.low for share in shares], [share.high - share.value for share in shares]
    if any(map(math.isnan, (*below, *above))):
        return Estimate(value, n=n, groups=count, note=shares[0].note or shares[1].note)
    one, two = (side.contributions(groups, side.share) for side in (first, second))
    reach, together = _reach(one - two, count), _correlation(one, two)
    low = value - max(_distance(below[0], above[1], together), reach)
    high = value + max(_distance(above[0], below[1], together), reach)
    methods = " and ".join(dict.fromkeys(share.method for share in shares))
    method = f"MOVER with correlation of two intervals ({methods}), at least a t interval"
    return Estimate(value, max(low, -1.0), min(high, 1.0), n, count, method)


def share_test(first: Counted, second: Counted, *, groups: Codes, draws_seed: int = 0, resamples: int = 10_000) -> Test:
    """Whether the two shares differ: the signs of whole groups' contributions are flipped (Hemerik et al. 2020).

    Contributions are measured from the share of both sides together. Swapping the sides of groups instead would take
    them to have equally many errors, and reject too often where one has few (docs/statistics.md).
    """
    name, n = "paired permutation of contributions to shares", int(first.counted.sum() + second.counted.sum())
    if not (first.counted.any() and second.counted.any()):
        return Test(name, math.nan, math.nan, n, NO_ROWS)
    pooled = float((first.of_kind.sum() + second.of_kind.sum()) / n)
    one, two = (side.contributions(groups, pooled) for side in (first, second))
    # Scaled to be a mean over groups, since that is what the test takes its statistic to be.
    found = paired_permutation(one * one.size, two * two.size, rng=generator(draws_seed), resamples=resamples)
    return replace(found, name=name, n=n)


def _distance(one: float, two: float, correlation: float) -> float:
    return math.sqrt(max(one * one + two * two - 2 * correlation * one * two, 0.0))


def _reach(contributions: Floats, groups: int) -> float:
    """Half the width of the t interval; one group has none."""
    if groups < 2:
        return 0.0
    return float(stdtrit(groups - 1, 0.975) * np.linalg.norm(contributions) * math.sqrt(groups / (groups - 1)))


def _correlation(one: Floats, two: Floats) -> float:
    size = float(np.linalg.norm(one) * np.linalg.norm(two))
    return float(one @ two) / size if size > 0 else 0.0
