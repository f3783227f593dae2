"""How well proposed categories agree with those that annotators marked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from acidtest.core.estimate import Estimate
from acidtest.stats.intervals import rate
from acidtest.stats.jackknife import LOGIT, Floats, IntervalScale, Replicates, group_sums, jackknifed, replicates

Flags = npt.NDArray[np.bool_]

_RATIO = IntervalScale("the log scale", math.log, math.exp, lambda value: 1 / value, (0.0, math.inf))


@dataclass(frozen=True)
class TagQuality:
    """A category's proposals measured against marks on the same rows.

    ``precision`` is the share of proposals that are marked, ``recall`` the share of marked rows that are proposed.
    ``chance`` is the share of all rows that are marked, which is the precision of random proposals; ``lift`` is
    precision over chance.
    """

    precision: Estimate
    recall: Estimate
    f1: Estimate = field(metadata={"json": "F1"})
    chance: Estimate
    lift: Estimate


def tag_quality(proposed: Flags, marked: Flags, *, groups: npt.ArrayLike | None = None) -> TagQuality:
    """How well proposals agree with marks; rows of one group, such as those of one premise, are not independent."""
    codes = np.arange(len(marked)) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    both = proposed & marked
    sums = group_sums(np.stack([both, proposed, marked, np.ones_like(both)], axis=1).astype(np.float64), codes)
    f1, lift = (replicates(sums, statistic, rows=len(both)) for statistic in (_f1, _lift))
    return TagQuality(
        precision=_share(both, proposed, codes, none="nothing was proposed"),
        recall=_share(both, marked, codes, none="nothing is marked"),
        f1=_interval(f1, LOGIT, undefined="nothing was proposed and nothing is marked", best="the same as the marks"),
        chance=rate(marked, groups=codes),
        lift=_interval(lift, _RATIO, undefined="nothing was proposed or nothing is marked", best="exactly chance"),
    )


def tag_qualities(
    proposed: Mapping[str, Flags], marked: Mapping[str, Flags], *, groups: npt.ArrayLike | None = None
) -> dict[str, TagQuality]:
    """``tag_quality`` of every category that is both proposed and marked, in the order of the proposals."""
    return {name: tag_quality(proposed[name], marked[name], groups=groups) for name in proposed if name in marked}


def _share(both: Flags, among: Flags, codes: npt.NDArray[np.int64], *, none: str) -> Estimate:
    if not among.any():
        return Estimate(math.nan, note=none)
    return rate(both[among], groups=codes[among])


def _interval(resampled: Replicates, scale: IntervalScale, *, undefined: str, best: str) -> Estimate:
    """A number of all rows with its interval; 0, where no proposal is marked, has none."""
    if resampled.value == 0:
        return Estimate(0.0, n=resampled.rows, groups=resampled.groups, note="no proposal is marked: no interval")
    return jackknifed(resampled, undefined=undefined, best=best, scale=scale)


def _f1(sums: Floats) -> Floats:
    both, proposed, marked, _ = sums.T
    return _ratio(2 * both, proposed + marked)


def _lift(sums: Floats) -> Floats:
    both, proposed, marked, rows = sums.T
    return _ratio(both * rows, proposed * marked)


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), math.nan)
