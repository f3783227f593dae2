"""Intervals of numbers that are made of sums over rows, found by leaving out one group of rows at a time.

The variance is the jackknife's over groups, and the interval a t interval on a scale on which the number is nearly
normal, with degrees of freedom that fall as groups contribute unevenly to the variance (docs/agreement.md has what was
measured).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit, stdtrit

from acidtest.core.estimate import Estimate

Floats = npt.NDArray[np.float64]

_FEWEST_DEGREES = 4.0


@dataclass(frozen=True)
class Scale:
    """A scale on which intervals are taken: there and back, and how steep it is. ``name`` stands in the method."""

    name: str
    there: Callable[[float], float]
    back: Callable[[float], float]
    slope: Callable[[float], float]
    ends: tuple[float, float]


FISHER = Scale("Fisher's scale", math.atanh, math.tanh, lambda value: 1 / (1 - value**2), (-1.0, 1.0))
"""For coefficients of agreement, from -1 to 1."""

LOGIT = Scale(
    "the logit scale",
    lambda value: float(logit(value)),
    lambda value: float(expit(value)),
    lambda value: 1 / (value * (1 - value)),
    (0.0, 1.0),
)
"""For shares."""


@dataclass(frozen=True)
class Replicates:
    """A number of all rows, and the same without each group."""

    value: float
    without: Floats
    rows: int

    @property
    def groups(self) -> int:
        """How many there are."""
        return len(self.without)

    @property
    def unit(self) -> str:
        """What a group is."""
        return "rows" if self.groups == self.rows else "groups"


def group_sums(columns: Floats, groups: npt.ArrayLike | None) -> Floats:
    """The sums of some columns over the rows of each group; without groups the rows as they are."""
    if groups is None:
        return columns
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    return np.stack([np.bincount(codes, column) for column in columns.T], axis=1, dtype=np.float64)


def replicates(sums: Floats, statistic: Callable[[Floats], Floats], *, rows: int) -> Replicates:
    """A number and what becomes of it without each group; ``statistic`` takes rows of sums and gives one for each."""
    whole = sums.sum(axis=0)
    return Replicates(float(statistic(whole[None, :])[0]), statistic(whole - sums), rows)


def jackknifed(
    found: Replicates,
    *,
    undefined: str,
    best: str = "they agree on every row",
    scale: Scale = FISHER,
    confidence: float = 0.95,
) -> Estimate:
    """The number with its interval; ``undefined`` says why there is none, ``best`` what a 1 means."""
    value, n, groups, unit = found.value, found.rows, found.groups, found.unit
    if math.isnan(value):
        return Estimate(math.nan, n=n, groups=groups, note=undefined)
    if math.isclose(value, 1):
        return Estimate(1.0, n=n, groups=groups, note=f"{best}: no interval")
    if groups == 1:
        return Estimate(value, n=n, groups=1, note=f"one {unit[:-1]} only: no interval")
    without = found.without
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
    low, high = (scale.back(scale.there(value) + sign * reach) for sign in (-1, 1))
    return Estimate(value, low, high, n, groups, f"t interval on {scale.name}, jackknife over {unit}")
