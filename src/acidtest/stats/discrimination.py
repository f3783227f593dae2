"""How well scores or verdicts tell two kinds of rows apart: AUC, balanced accuracy, precision at a base rate.

Rows come in groups, such as the claims of a document. Intervals are t intervals on the logit scale with the jackknife's
variance, leaving out one group at a time. Where nothing is wrong there is no variance: then the interval allows for the
share of groups that might be wrong without any being sampled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from acidtest.core.document import describe_count
from acidtest.core.estimate import Estimate
from acidtest.stats.intervals import clopper_pearson
from acidtest.stats.jackknife import LOGIT, Replicates, jackknifed, replicates
from acidtest.stats.resampling import Codes, Floats, numbered

Flags = npt.NDArray[np.bool_]

FEWEST_CALLED = 5
"""Precision has no interval if fewer rows are called so."""


def balanced_accuracy(called: Flags, positive: Flags, *, groups: Codes) -> Estimate:
    """Mean of the share of positive rows that are called so and the share of others that are not; 1/2 is chance."""
    return _from_counts(called, positive, groups, _balanced)


def precision(called: Flags, positive: Flags, *, groups: Codes, base_rate: float, of: bool) -> Estimate:
    """Share of rows called ``of`` that are so, where a share of ``base_rate`` of all rows is not positive.

    With ``of`` true: the positive among those called positive; with false, the others among those called otherwise.
    Fewer than five rows called so give no interval.
    """
    judged = called if of else ~called

    def share(sums: Floats) -> Floats:
        hit, false = _rates(sums)
        right, wrong = (1 - base_rate) * hit, base_rate * false
        if not of:
            right, wrong = base_rate * (1 - false), (1 - base_rate) * (1 - hit)
        with np.errstate(invalid="ignore"):
            return np.asarray(right / (right + wrong))

    empty = f"no row is called {'positive' if of else 'otherwise'}"
    estimate = _from_counts(called, positive, groups, share, empty=empty, basis=len(np.unique(groups[judged])))
    count = int(judged.sum())
    if estimate.known and count < FEWEST_CALLED:
        note = f"rests on {describe_count(count, 'row')}: no interval"
        return Estimate(estimate.value, n=estimate.n, groups=estimate.groups, note=note)
    return estimate


def auc(scores: Floats, positive: Flags, *, groups: Codes) -> Estimate:
    """Probability that a positive row has a higher score than another one; ties count half."""
    codes = numbered(groups).astype(np.intp)
    size = int(codes.max(initial=-1)) + 1
    ranks = np.unique(scores, return_inverse=True)[1]
    wins = _wins(ranks, positive)
    of_positive = np.bincount(codes[positive], wins[positive], minlength=size)
    of_others = np.bincount(codes[~positive], wins[~positive], minlength=size)
    inside = _wins_inside(ranks, positive, codes)
    positives, others = (np.bincount(codes[flags], minlength=size) for flags in (positive, ~positive))
    total, pairs = float(of_positive.sum()), float(positives.sum()) * float(others.sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        # Pairs inside a group are in both sums.
        without = (total - of_positive - of_others + inside) / (
            (positives.sum() - positives).astype(np.float64) * (others.sum() - others)
        )
    value = total / pairs if pairs else math.nan
    return _interval(Replicates(value, np.asarray(without, dtype=np.float64), len(scores)), _ONE_KIND)


_ONE_KIND = "all rows are of one kind"


def _wins(ranks: npt.NDArray[np.intp], positive: Flags) -> Floats:
    """For a positive row how many others it exceeds, for another how many positive rows exceed it; ties count half."""
    size = int(ranks.max(initial=-1)) + 1
    others, positives = (np.bincount(ranks[flags], minlength=size) for flags in (~positive, positive))
    below = np.cumsum(others) - others / 2
    above = positives.sum() - np.cumsum(positives) + positives / 2
    return np.asarray(np.where(positive, below[ranks], above[ranks]), dtype=np.float64)


def _wins_inside(ranks: npt.NDArray[np.intp], positive: Flags, codes: npt.NDArray[np.intp]) -> Floats:
    """The sum of wins over the pairs of a positive row and another one inside each group."""
    size = int(codes.max(initial=-1)) + 1
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(size + 1))
    inside = np.zeros(size)
    for number in range(size):
        rows = order[bounds[number] : bounds[number + 1]]
        high, low = ranks[rows][positive[rows]], ranks[rows][~positive[rows]]
        if high.size and low.size:
            ordered = np.sort(low)
            below = np.searchsorted(ordered, high, "left") + np.searchsorted(ordered, high, "right")
            inside[number] = below.sum() / 2
    return inside


def _from_counts(
    called: Flags,
    positive: Flags,
    groups: Codes,
    statistic: Callable[[Floats], Floats],
    *,
    empty: str = "",
    basis: int | None = None,
) -> Estimate:
    """A statistic of four counts, of which ``_rates`` makes two shares, with its interval over groups.

    ``basis`` is the number of groups that it rests on, if not all.
    """
    if not (positive.any() and (~positive).any()):
        return Estimate(math.nan, n=positive.size, note=_ONE_KIND if positive.size else "no rows")
    codes = numbered(groups).astype(np.intp)
    columns = (called & positive, positive, called & ~positive, ~positive)
    sums = np.stack([np.bincount(codes, column) for column in columns], axis=1).astype(np.float64)
    return _interval(replicates(sums, statistic, rows=positive.size), empty or _ONE_KIND, basis)


def _rates(sums: Floats) -> tuple[Floats, Floats]:
    """The share of positive rows, and that of others, called positive."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums[:, 0] / sums[:, 1], sums[:, 2] / sums[:, 3]


def _balanced(sums: Floats) -> Floats:
    hit, false = _rates(sums)
    return np.asarray((hit + 1 - false) / 2)


def _interval(replicated: Replicates, undefined: str, basis: int | None = None) -> Estimate:
    """The statistic with its interval; 0 and 1 get the one of Clopper and Pearson for as many rows as groups."""
    value, groups = replicated.value, replicated.groups
    if groups > 1 and not math.isnan(value) and (value < 1e-12 or value > 1 - 1e-12):
        share = clopper_pearson(0, groups if basis is None else basis).high
        method = "Clopper–Pearson, since all agree, over groups"
        low, high = (0.0, share) if value < 0.5 else (1 - share, 1.0)
        return Estimate(round(value), low, high, replicated.rows, groups, method)
    estimate = jackknifed(replicated, undefined=undefined, scale=LOGIT)
    return replace(estimate, n=replicated.rows)
