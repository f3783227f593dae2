"""How well scores or verdicts tell two kinds of rows apart: AUC, balanced accuracy, precision at a base rate.

Rows come in groups, such as the claims of a document. Balanced accuracy and precision rest on shares of rows, and their
intervals on those of the shares (``intervals.rate``). AUC has a t interval on the logit scale with the jackknife's
variance, leaving out one group at a time; at 0 and 1 there is no variance, and the interval allows for the share of
groups that might be wrong without any being sampled.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from acidtest.core.document import describe_count
from acidtest.core.estimate import Estimate
from acidtest.stats.intervals import clopper_pearson, rate
from acidtest.stats.jackknife import LOGIT, Replicates, jackknifed
from acidtest.stats.resampling import Codes, Floats, numbered

Flags = npt.NDArray[np.bool_]

MIN_SIDE = 5
"""Balanced accuracy has no interval if fewer rows are of one kind, precision if fewer rows are called so."""

MAX_EXACT_ERRORS = 2


def balanced_accuracy(called: Flags, positive: Flags, *, groups: Codes) -> Estimate:
    """Mean of the share of positive rows that are called so and the share of others that are not; 1/2 is chance.

    The interval combines those of the two shares (``mean_of_sides``); fewer than five rows of a kind give none.
    """
    hit, rejected = (
        _share(called[flags] == positive[flags], groups[flags], empty=_ONE_KIND if positive.size else "no rows")
        for flags in (positive, ~positive)
    )
    return mean_of_sides(hit, rejected, groups=len(np.unique(groups)))


def mean_of_sides(first: Estimate, second: Estimate, *, groups: int) -> Estimate:
    """Mean of two shares of different rows, with the interval of MOVER (Zou and Donner 2008).

    An errorless side is not taken as certain: its own interval says how many errors may have gone unsampled. Below
    ``MIN_SIDE`` rows on a side that says too little, and there is no interval.
    """
    n, value = first.n + second.n, (first.value + second.value) / 2
    if math.isnan(value):
        return Estimate(math.nan, n=n, groups=groups, note=first.note if not first.known else second.note)
    fewest = min(first.n, second.n)
    below, above = (
        math.hypot(*distances) / 2
        for distances in zip(
            *((side.value - side.low, side.high - side.value) for side in (first, second)), strict=True
        )
    )
    note = f"rests on {describe_count(fewest, 'row')} of a kind: no interval" if fewest < MIN_SIDE else ""
    if note or math.isnan(below + above):
        return Estimate(value, n=n, groups=groups, note=note or first.note or second.note)
    method = " and ".join(dict.fromkeys((first.method, second.method)))
    return Estimate(value, value - below, value + above, n, groups, f"MOVER of two intervals ({method})")


def _share(values: Flags, groups: Codes, *, empty: str) -> Estimate:
    """A share as ``rate`` gives it, but with Clopper and Pearson's interval if one or two rows differ from the rest.

    Wilson's interval is too short there: combined, two of them covered in as few as 87 % of draws.
    """
    estimate = rate(values, groups=groups, empty=empty)
    right = int(values.sum())
    if estimate.method == "Wilson" and min(right, len(values) - right) <= MAX_EXACT_ERRORS:
        exact = clopper_pearson(right, len(values))
        return replace(estimate, low=exact.low, high=exact.high, method=exact.method)
    return estimate


def precision(called: Flags, positive: Flags, *, groups: Codes, base_rate: float, of: bool) -> Estimate:
    """Share of rows called ``of`` that are so, where a share of ``base_rate`` of all rows is not positive.

    With ``of`` true: the positive among those called positive; with false, the others among those called otherwise.
    The share of these rows has Wilson's interval, or one over groups; weights of the two kinds then bring value and
    ends to the base rate. Fewer than five rows called so give no interval.
    """
    judged = called if of else ~called
    kinds = int(positive.sum()), int((~positive).sum())
    if not all(kinds):
        return Estimate(math.nan, n=positive.size, note=_ONE_KIND if positive.size else "no rows")
    empty = f"no row is called {'positive' if of else 'otherwise'}"
    observed = _share(positive[judged] == of, groups[judged], empty=empty)
    weights = (1 - base_rate) / kinds[0], base_rate / kinds[1]
    right, wrong = weights if of else weights[::-1]

    def at_base_rate(share: float) -> float:
        return share * right / (share * right + (1 - share) * wrong)

    value, count, documents = at_base_rate(observed.value), observed.n, observed.groups
    if not observed.known or math.isnan(observed.low) or count < MIN_SIDE:
        note = observed.note
        if observed.known and count < MIN_SIDE:
            note = f"rests on {describe_count(count, 'row')}: no interval"
        return Estimate(value, n=count, groups=documents, note=note)
    low, high = at_base_rate(observed.low), at_base_rate(observed.high)
    return Estimate(value, low, high, count, documents, f"{observed.method}, weighted to the base rate")


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


def _interval(replicated: Replicates, undefined: str) -> Estimate:
    """The statistic with its interval; 0 and 1 get the one of Clopper and Pearson for as many rows as groups."""
    value, groups = replicated.value, replicated.groups
    if groups > 1 and not math.isnan(value) and (value < 1e-12 or value > 1 - 1e-12):
        share = clopper_pearson(0, groups).high
        method = "Clopper–Pearson, since all agree, over groups"
        low, high = (0.0, share) if value < 0.5 else (1 - share, 1.0)
        return Estimate(round(value), low, high, replicated.rows, groups, method)
    estimate = jackknifed(replicated, undefined=undefined, scale=LOGIT)
    return replace(estimate, n=replicated.rows)
