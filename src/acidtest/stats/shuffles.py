"""Labels shuffled among groups of rows, and p-values that allow for many measures of the same shuffles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from acidtest.core.estimate import Estimate

Rows = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]


def shuffled_rows(groups: npt.NDArray[np.intp], times: int, rng: np.random.Generator) -> Rows:
    """intp[times + 1, n]: for each row the row whose labels it gets; the first shuffle changes nothing.

    Labels of a group stay together and go to a group of as many rows, since rows of one premise are alike both in
    their representations and in their labels. A group that has no other of its size keeps its labels.
    """
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    dealt = np.tile(np.arange(groups.size), (times + 1, 1))
    for size in np.unique(sizes[sizes > 0]):
        members = order[starts[sizes == size][:, None] + np.arange(size)]
        turns = rng.permuted(np.tile(np.arange(len(members)), (times, 1)), axis=1)
        dealt[1:, members.ravel()] = members[turns].reshape(times, -1)
    return dealt


@dataclass(frozen=True)
class Judged:
    """Measures compared with their values under shuffled labels; all arrays have the shape of the measures."""

    baselines: Floats
    lows: Floats
    highs: Floats
    p: Floats
    p_adjusted: Floats

    def baseline(self, *place: int) -> Estimate:
        """The mean of one measure over the shuffles and the middle 95 % of them."""
        value, low, high = (float(values[place]) for values in (self.baselines, self.lows, self.highs))
        return Estimate(value, low, high, method="permutations, middle 95 %")


def judged(values: Floats) -> Judged:
    """Compare the first entry of the last axis with all: p, and p corrected for all measures together.

    ``values`` ends in an axis of shuffles whose first is the data as they are; NaN where there is no measure. The
    correction is the greatest of all measures, each in units of its own spread (Westfall and Young's maxT): it uses
    that measures of neighbouring layers rise and fall together, and does not need more shuffles for more measures.
    """
    observed, drawn = values[..., 0], values[..., 1:]
    there = ~np.isnan(observed)
    p = np.where(there, (values >= observed[..., None] - 1e-12).mean(axis=-1), np.nan)
    centres, spreads = values.mean(axis=-1, keepdims=True), values.std(axis=-1, keepdims=True)
    # Nothing varies where no shuffle changes anything, as with a group of rows to every size.
    scaled = np.divide(values - centres, spreads, out=np.zeros_like(values), where=spreads > 1e-12)
    scaled[~there] = -np.inf
    most = scaled.reshape(-1, values.shape[-1]).max(axis=0, initial=-np.inf)
    adjusted = np.where(there, (most >= scaled[..., :1] - 1e-9).mean(axis=-1), np.nan)
    lows, highs = np.quantile(drawn, (0.025, 0.975), axis=-1)
    return Judged(drawn.mean(axis=-1), lows, highs, p, adjusted)


def clustered(
    value: float, influences: Floats, *, groups: npt.NDArray[np.intp], n: int, method: str, unit: bool
) -> Estimate:
    """A value with a 95 % interval from the influence of every row, summed over groups first.

    ``unit``: the value lies between 0 and 1, and the interval is made on the scale of log odds so that it does too.
    """
    from scipy.special import expit, logit, stdtrit

    sums = np.bincount(groups, influences)[np.unique(groups[influences != 0])]
    count = sums.size
    if count < 2:
        return Estimate(value, n=n, groups=count, note="one group of pairs: no interval")
    reach = float(stdtrit(count - 1, 0.975)) * float(np.sqrt((sums**2).sum() * count / (count - 1)))
    low, high = value - reach, value + reach
    if unit and 0 < value < 1:
        far = reach / (value * (1 - value))
        low, high = float(expit(logit(value) - far)), float(expit(logit(value) + far))
    return Estimate(value, low, high, n=n, groups=count, method=method)
