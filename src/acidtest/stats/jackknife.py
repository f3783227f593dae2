"""Intervals of statistics that are functions of sums over rows, by leaving out one group of rows at a time.

The variance is that of the jackknife over groups. The interval is a t interval on a scale on which the statistic is
nearly normal, with fewer degrees of freedom the more unevenly groups contribute (docs/results/statistics.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from acidtest.core.estimate import Estimate
from acidtest.stats.resampling import Labels

Floats = npt.NDArray[np.float64]

_FEWEST_DEGREES = 4.0


@dataclass(frozen=True)
class IntervalScale:
    """A scale on which intervals are computed: transformation, inverse, slope, and a name for the method."""

    name: str
    forward: Callable[[float], float]
    back: Callable[[float], float]
    slope: Callable[[float], float]
    ends: tuple[float, float]


FISHER = IntervalScale("Fisher's scale", math.atanh, math.tanh, lambda value: 1 / (1 - value**2), (-1.0, 1.0))
"""For coefficients of agreement, from -1 to 1."""


def _logit(value: float) -> float:
    from scipy.special import logit

    return float(logit(value))


def _expit(value: float) -> float:
    from scipy.special import expit

    return float(expit(value))


LOGIT = IntervalScale("the logit scale", _logit, _expit, lambda value: 1 / (value * (1 - value)), (0.0, 1.0))
"""For shares."""


@dataclass(frozen=True)
class Replicates:
    """A statistic of all rows, and its values without each group."""

    value: float
    without: Floats
    rows: int

    @property
    def groups(self) -> int:
        return len(self.without)


def group_sums(columns: Floats, groups: Labels) -> Floats:
    """The sums of some columns over the rows of each group; without groups, the rows themselves."""
    if groups is None:
        return columns
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    return np.stack([np.bincount(codes, column) for column in columns.T], axis=1, dtype=np.float64)


def replicates(sums: Floats, statistic: Callable[[Floats], Floats], *, rows: int) -> Replicates:
    """A statistic and its values without each group; ``statistic`` computes a value for each row of sums."""
    whole = sums.sum(axis=0)
    return Replicates(float(statistic(whole[None, :])[0]), statistic(whole - sums), rows)


def jackknifed(
    replicated: Replicates,
    *,
    undefined: str,
    best: str = "they agree on every row",
    scale: IntervalScale = FISHER,
    confidence: float = 0.95,
) -> Estimate:
    """The statistic with its interval; ``undefined`` is the note where it is NaN, ``best`` says what a 1 means."""
    from scipy.special import stdtrit

    value, n, groups = replicated.value, replicated.rows, replicated.groups
    unit = "rows" if groups == n else "groups"
    if math.isnan(value):
        return Estimate(math.nan, n=n, groups=groups, note=undefined)
    if math.isclose(value, 1):
        return Estimate(1.0, n=n, groups=groups, note=f"{best}: no interval")
    if groups == 1:
        return Estimate(value, n=n, groups=1, note=f"one {unit[:-1]} only: no interval")
    without = replicated.without
    if np.isnan(without).any():
        return Estimate(value, n=n, groups=groups, note=f"it rests on one of the {unit}: no interval")
    parts = (without - without.mean()) ** 2 * (groups - 1) / groups
    variance = float(parts.sum())
    if variance < 1e-24 or value <= scale.ends[0] + 1e-12:
        return Estimate(value, n=n, groups=groups, note=f"all {unit} are alike: no interval")
    # Satterthwaite: twice the squared variance over the variance of the variance.
    unevenness = float(((parts - parts.mean()) ** 2).sum())
    degrees = 2 * variance**2 / unevenness * (groups - 1) / groups if unevenness > 0 else math.inf
    degrees = min(max(degrees, _FEWEST_DEGREES), groups - 1)
    reach = float(stdtrit(degrees, (1 + confidence) / 2)) * math.sqrt(variance) * scale.slope(value)
    low, high = (scale.back(scale.forward(value) + sign * reach) for sign in (-1, 1))
    return Estimate(value, low, high, n, groups, f"t interval on {scale.name}, jackknife over {unit}")
