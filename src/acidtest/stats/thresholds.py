"""Thresholds that are chosen on some groups and applied to others, and what rates with them are worth.

The groups are divided into two halves. The threshold for each half is the one with the highest balanced accuracy on the
other half, so that no row is judged by a threshold that it helped to choose. Intervals come from resamples of whole
groups, in each of which the thresholds are chosen again: the choice is a part of what is uncertain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from acidtest.core.estimate import Estimate
from acidtest.stats.discrimination import balanced_accuracy
from acidtest.stats.intervals import clopper_pearson
from acidtest.stats.resampling import Codes, Floats, generator

Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]

RESAMPLES = 1000
MOST_THRESHOLDS = 400
MOST_BUNDLES = 1000
"""More groups than this are resampled in bundles."""
FEWEST_GROUPS = 8
_FEW_LEFT = 0.9
"""An interval needs at least this share of the resamples; in the others a rate has no rows."""
_METHOD = "t on the logit scale, bootstrap over groups, thresholds chosen again in each resample"


@dataclass(frozen=True)
class Resamples:
    """Sums over rows with their value in every resample; the first is that of the rows themselves."""

    sums: Floats

    def __add__(self, other: Resamples) -> Resamples:
        return Resamples(self.sums + other.sums)

    def __sub__(self, other: Resamples) -> Resamples:
        return Resamples(self.sums - other.sums)

    def __truediv__(self, other: Resamples) -> Resamples:
        with np.errstate(invalid="ignore", divide="ignore"):
            return Resamples(self.sums / other.sums)


@dataclass(frozen=True)
class CrossFit:
    """The thresholds that were chosen for the two halves of the groups, in the data and in every resample."""

    thresholds: Floats
    """All that were tried, ascending."""
    chosen: Places
    """For each half and resample the place of its threshold, which was chosen on the other half."""
    whole: float
    """The threshold that is best on all groups."""
    weights: Floats
    """How often each bundle of groups is in each resample; the first has each once."""
    bundles: Codes
    """The bundle of each group."""

    def threshold_of(self, groups: Codes) -> Floats:
        """The threshold for each row, given its group."""
        return np.asarray(self.thresholds[self.chosen[_half(self.bundles_of(groups)), 0]])

    def bundles_of(self, groups: Codes) -> Codes:
        """The bundle of each row; groups that had no part in the choice are spread over all of them."""
        beyond = groups % (len(self.bundles) or 1)
        return np.asarray(self.bundles[beyond])

    def exceeded(self, scores: Floats) -> Places:
        """How many of the thresholds each score exceeds; rows without a score exceed none."""
        return np.searchsorted(self.thresholds, np.nan_to_num(scores, nan=-np.inf), side="left")

    def above(self, exceeded: Places, groups: Codes) -> Resamples:
        """How many rows exceed their threshold."""
        counts = _counts_above(exceeded, self.bundles_of(groups), len(self.thresholds), self.weights.shape[1])
        sums = np.zeros(self.weights.shape[0])
        for half in (0, 1):
            members = _half(np.arange(self.weights.shape[1])) == half
            sums += np.einsum("rb,br->r", self.weights[:, members], counts[members][:, self.chosen[half]])
        return Resamples(sums)

    def rows(self, groups: Codes) -> Resamples:
        """How many rows there are."""
        counts = np.bincount(self.bundles_of(groups), minlength=self.weights.shape[1])
        return Resamples(self.weights @ counts)

    def share_above(self, scores: Floats, groups: Codes) -> Estimate:
        """Share of rows whose score exceeds their threshold."""
        return self.estimate(self.above(self.exceeded(scores), groups) / self.rows(groups), groups, empty="no rows")

    def balanced_accuracy(self, scores: Floats, positive: Flags, groups: Codes) -> Estimate:
        """Mean of the share of positive rows above their threshold and the share of others not above it.

        Each end of the interval is the farther of two: over resamples, in which thresholds are chosen again, and of the
        thresholds as they are, since resamples of a side without errors never show one.
        """
        hit, false = (
            self.above(self.exceeded(scores[flags]), groups[flags]) / self.rows(groups[flags])
            for flags in (positive, ~positive)
        )
        chosen = self.estimate(Resamples((hit.sums + 1 - false.sums) / 2), groups, empty="all rows are of one kind")
        fixed = balanced_accuracy(scores > self.threshold_of(groups), positive, groups=groups)
        if math.isnan(chosen.low) or math.isnan(fixed.low):
            return chosen if math.isnan(chosen.low) else fixed
        return replace(chosen, low=min(chosen.low, fixed.low), high=max(chosen.high, fixed.high))

    def estimate(self, values: Resamples, groups: Codes, *, empty: str) -> Estimate:
        """A value with its interval; ``groups`` are those of the rows that it is about."""
        value, resampled = float(values.sums[0]), values.sums[1:]
        count, n = len(np.unique(groups)), len(groups)
        if math.isnan(value):
            return Estimate(math.nan, n=n, groups=count, note=empty)
        known = resampled[~np.isnan(resampled)]
        if count < 2 or len(known) < _FEW_LEFT * len(resampled):
            return Estimate(value, n=n, groups=count, note="too few groups: no interval")
        low, high = _interval(value, known, count)
        return Estimate(value, low, high, n, count, _METHOD)


def cross_fit(
    scores: Floats, positive: Flags, *, groups: Codes, number: int, seed: int = 0, resamples: int = RESAMPLES
) -> CrossFit | None:
    """Choose thresholds on rows of two kinds; None if a half lacks one of them or there are fewer than eight groups.

    ``groups`` are codes below ``number``, in an order that has nothing to do with what they hold: even and odd ones are
    the halves. The result may be applied to groups with other codes as well. Of thresholds that are equally good, the
    one farthest from all scores is taken.
    """
    if len(np.unique(groups)) < FEWEST_GROUPS:
        return None
    bundles = np.arange(number) if number <= MOST_BUNDLES else np.arange(number) * MOST_BUNDLES // number
    size = int(bundles[-1]) + 1
    members, halves = bundles[groups], _half(np.arange(size))
    if any(len(np.unique(positive[_half(members) == half])) < 2 for half in (0, 1)):
        return None
    weights = np.concatenate(
        [np.ones((1, size)), generator(seed).multinomial(size, np.full(size, 1 / size), resamples)]
    )
    thresholds, gaps = _candidates(scores)
    places = np.searchsorted(thresholds, scores, side="left")

    def best_of(half: Flags, weights: Floats) -> Places:
        """The place of the best threshold on some bundles in each resample."""
        shares = []
        for flags in (positive, ~positive):
            counts = _counts_above(places[flags], members[flags], len(thresholds), size)[half]
            rows = np.bincount(members[flags], minlength=size)[half]
            with np.errstate(invalid="ignore"):
                shares.append((weights[:, half] @ counts) / (weights[:, half] @ rows)[:, None])
        return _best_places(shares[0] - shares[1], gaps)

    chosen = np.stack([best_of(halves != half, weights) for half in (0, 1)])
    whole = best_of(np.ones(size, dtype=np.bool_), weights[:1])[0]
    return CrossFit(thresholds, chosen, float(thresholds[whole]), weights, bundles)


def _candidates(scores: Floats) -> tuple[Floats, Floats]:
    """Thresholds between neighbouring scores, with the gaps they stand in, and one below and above all scores.

    Some of them where they are many.
    """
    values = np.unique(scores)
    between, gaps = (values[1:] + values[:-1]) / 2, np.diff(values)
    if len(between) > MOST_THRESHOLDS:
        some = np.linspace(0, len(between) - 1, MOST_THRESHOLDS).round().astype(np.intp)
        between, gaps = between[some], gaps[some]
    lowest = np.nextafter(values[0], -np.inf)
    return np.concatenate([[lowest], between, [values[-1]]]), np.concatenate([[0.0], gaps, [0.0]])


def _best_places(values: Floats, gaps: Floats) -> Places:
    """In each row the place of the highest value; of several, that with the widest gap.

    A row that has NaN, because a resample lacks one of the two kinds, gets the place of the first row.
    """
    is_best = values >= np.max(np.where(np.isnan(values), -np.inf, values), axis=1, keepdims=True) - 1e-9
    places = np.where(is_best, gaps, -1.0).argmax(axis=1)
    return np.asarray(np.where(np.isnan(values).any(axis=1), places[0], places))


def _counts_above(exceeded: Places, bundles: Codes, thresholds: int, size: int) -> Floats:
    """How many rows of each bundle exceed each threshold, given how many thresholds each row exceeds."""
    cells = bundles.astype(np.intp) * (thresholds + 1) + exceeded
    table = np.bincount(cells, minlength=size * (thresholds + 1)).reshape(size, thresholds + 1)
    return np.asarray(table[:, ::-1].cumsum(axis=1)[:, -2::-1], dtype=np.float64)


def _half(bundles: Codes) -> Codes:
    return bundles % 2


def _interval(value: float, resampled: Floats, groups: int) -> tuple[float, float]:
    """A t interval on the logit scale with the standard deviation of the resamples.

    Their quantiles would be too far apart: a threshold chosen again and again averages out in the middle of the
    resamples, which varies less than the value. At 0 and 1 the interval allows for what groups that were not sampled
    might hold.
    """
    from scipy.special import expit, logit, stdtrit

    unseen = clopper_pearson(0, groups).high
    if value < 1e-12 or value > 1 - 1e-12:
        low, high = np.quantile(resampled, [0.025, 0.975])
        return (0.0, max(float(high), unseen)) if value < 0.5 else (min(float(low), 1 - unseen), 1.0)
    deviation = math.sqrt(groups / (groups - 1)) * float(resampled.std())
    reach = float(stdtrit(groups - 1, 0.975)) * deviation / (value * (1 - value))
    low, high = expit(logit(value) + np.array([-reach, reach]))
    # Near 0 and 1 the logit stretches a small deviation without bounds: no end goes beyond all resamples.
    return max(float(low), float(resampled.min())), min(float(high), float(resampled.max()))
