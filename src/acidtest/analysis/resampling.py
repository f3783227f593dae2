"""Resampling of groups within strata: what bootstrap intervals and permutation tests stand on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri, stdtrit

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]
Kind = Literal["percentile", "expanded", "accelerated"]

# An estimate of how uneven the groups are is itself unsteady; below this it would only add width.
_FEWEST_DEGREES = 4.0
# A multinomial count takes about as long as drawing this many groups one by one (measured).
_COUNT_COST = 16
# Of 16 bytes each: 2 MB at a time, small enough to stay near the cache.
_CHUNK_CELLS = 2**17


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a value lies with the stated confidence, and how that was found."""

    low: float
    high: float
    method: str


@dataclass(frozen=True, slots=True)
class Totals:
    """What resampling needs of the data: the sum, the size and the stratum of every group."""

    sums: Floats
    sizes: Floats
    strata: Codes

    @property
    def value(self) -> float:
        """The mean over rows."""
        return float(self.sums.sum() / self.sizes.sum())


@dataclass(frozen=True, slots=True)
class Spread:
    """How far a mean over rows strays from group to group.

    ``resampled`` is the variance that resampling shows, which is too small; ``acceleration`` is BCa's.
    """

    variance: float
    resampled: float
    degrees: float
    acceleration: float


def generator(draws_seed: int) -> np.random.Generator:
    """The random numbers of one estimate or test; the same seed gives the same ones."""
    return np.random.Generator(np.random.Philox(key=draws_seed))


def bootstrap(
    sums: npt.ArrayLike,
    sizes: npt.ArrayLike,
    *,
    strata: npt.ArrayLike | None = None,
    rng: np.random.Generator,
    resamples: int = 10_000,
    confidence: float = 0.95,
    kind: Kind = "accelerated",
) -> Interval:
    """Bootstrap interval of the mean over rows, given the sum and size of each group; resamples within strata.

    ``percentile`` is the plain one. ``expanded`` moves its ends out to the jackknife variance and a t quantile
    (Hesterberg 2015); ``accelerated`` also corrects them for bias and skewness (BCa, Efron 1987). Groups that all
    agree give an interval of no width, fewer than two groups give NaN.
    """
    name = {"percentile": "percentile", "expanded": "expanded percentile", "accelerated": "expanded BCa"}[kind]
    method = f"{name} bootstrap, {resamples} resamples"
    if np.size(sums) < 2:
        return Interval(math.nan, math.nan, method)
    labels = np.zeros(np.size(sums)) if strata is None else strata
    totals = Totals(np.asarray(sums, dtype=np.float64), np.asarray(sizes, dtype=np.float64), _pooled(labels))
    means = np.concatenate(list(_resampled_means(totals, rng, resamples)))
    low, high = np.quantile(means, _levels(totals, means, kind=kind, confidence=confidence))
    return Interval(float(low), float(high), method)


def group_totals(
    values: Floats,
    groups: npt.ArrayLike | None = None,
    *,
    strata: npt.ArrayLike | None = None,
    weights: Floats | None = None,
) -> Totals:
    """Sum, size and stratum of every group; a group that spans strata goes to a stratum of such groups."""
    weights = np.ones(values.size) if weights is None else weights
    if groups is None:
        firsts = codes = np.arange(values.size)
    else:
        firsts, codes = numbered(groups)
    labels = np.zeros(values.size, dtype=np.intp) if strata is None else 1 + _codes(strata)
    mixed = np.bincount(codes, labels[firsts][codes] != labels, minlength=firsts.size) > 0
    return Totals(
        np.bincount(codes, weights * values, minlength=firsts.size).astype(np.float64),
        np.bincount(codes, weights, minlength=firsts.size).astype(np.float64),
        _pooled(np.where(mixed, 0, labels[firsts])),
    )


def stratum_weights(
    n_first: int, n_second: int, *, strata_first: npt.ArrayLike | None, strata_second: npt.ArrayLike | None
) -> tuple[Floats, Floats]:
    """A weight for each row of two sides that makes their strata alike.

    A stratum that both have gets the same part in each, its share of the rows of both; one that only one side has
    gets weight 0. Weights of a side are 1 on average over the rows that count.
    """
    if strata_first is None or strata_second is None:
        return np.ones(n_first), np.ones(n_second)
    codes = _codes(np.concatenate([np.asarray(strata_first), np.asarray(strata_second)]))
    counts = [np.bincount(side, minlength=codes.max(initial=-1) + 1) for side in (codes[:n_first], codes[n_first:])]
    shared = np.minimum(*counts) > 0
    shares = np.where(shared, counts[0] + counts[1], 0) / max((counts[0] + counts[1])[shared].sum(), 1)
    first, second = (shares * count[shared].sum() / np.maximum(count, 1) for count in counts)
    return first[codes[:n_first]], second[codes[n_first:]]


def spread(totals: Totals) -> Spread:
    """Jackknife over groups within strata of the ratio of sums to sizes.

    Degrees of freedom after Satterthwaite: twice the squared variance over the variance of the variance. The latter
    is taken from how the groups' contributions differ, and so sees unequal sizes and rare failures alike.
    """
    size = float(totals.sizes.sum())
    counts = np.bincount(totals.strata)[totals.strata]
    correction = counts / (counts - 1)
    centred = _centred(totals.sums - totals.value * totals.sizes, totals.strata)
    influence = correction * centred / (size - correction * _centred(totals.sizes, totals.strata))
    parts = influence**2 / correction
    variance = float(parts.sum())
    unevenness = float(((parts - parts.mean()) ** 2).sum())
    free = totals.sums.size - float(totals.strata.max()) - 1
    degrees = 2 * variance**2 / unevenness * free / totals.sums.size if unevenness > 0 else math.inf
    squares = float((centred**2).sum())
    return Spread(
        variance=variance,
        resampled=squares / size**2,
        degrees=min(max(degrees, _FEWEST_DEGREES), free),
        acceleration=float((centred**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0,
    )


def binary(values: Floats) -> bool:
    """Whether all values are 0 or 1."""
    return bool(((values == 0) | (values == 1)).all())


def _levels(totals: Totals, means: Floats, *, kind: Kind, confidence: float) -> Floats:
    """Which quantiles of the resampled means end the interval."""
    tail = (1 - confidence) / 2
    if kind == "percentile":
        return np.array([tail, 1 - tail])
    strayed = spread(totals)
    if strayed.resampled == 0:
        return np.array([tail, 1 - tail])
    reach = float(stdtrit(strayed.degrees, 1 - tail)) * math.sqrt(strayed.variance / strayed.resampled)
    ends = np.array([-reach, reach])
    if kind == "accelerated":
        # Ties with the value count half; sums of fractions make ties that differ in the last digit.
        close = 1e-12 * max(1.0, abs(totals.value))
        below = np.mean(means < totals.value - close) + np.mean(np.abs(means - totals.value) <= close) / 2
        bias = float(ndtri(np.clip(below, 1 / means.size, 1 - 1 / means.size)))
        ends = bias + (bias + ends) / np.maximum(1 - strayed.acceleration * (bias + ends), 1e-9)
    return np.asarray(ndtr(ends), dtype=np.float64)


def _resampled_means(totals: Totals, rng: np.random.Generator, resamples: int) -> Iterator[Floats]:
    """The mean over rows in each resample, a chunk at a time.

    Groups of one stratum with the same sum and size are interchangeable, so counts of such kinds are drawn where
    there are few kinds, and groups where there are many. A complex number holds the pair (sum, size), which lets one
    sort and one look-up serve both.
    """
    pairs = (totals.sums + 1j * totals.sizes)[np.argsort(totals.strata, kind="stable")]
    ends = np.cumsum(np.bincount(totals.strata))[:-1]
    strata = [np.unique(stratum, return_counts=True) for stratum in np.split(pairs, ends)]
    cells = max(min(int(counts.sum()), _COUNT_COST * counts.size) for _, counts in strata)
    step = max(1, _CHUNK_CELLS // cells)
    for start in range(0, resamples, step):
        drawn = np.zeros(min(step, resamples - start), dtype=np.complex128)
        for kinds, counts in strata:
            drawn += _drawn(kinds, counts, rng, size=drawn.size)
        yield drawn.real / drawn.imag


def _drawn(
    kinds: npt.NDArray[np.complex128], counts: npt.NDArray[np.intp], rng: np.random.Generator, *, size: int
) -> npt.NDArray[np.complex128]:
    """Totals of as many groups as the stratum has, drawn with replacement, ``size`` times."""
    groups = int(counts.sum())
    if _COUNT_COST * kinds.size < groups:
        return np.asarray((rng.multinomial(groups, counts / groups, size=size) * kinds).sum(axis=1))
    picks = rng.integers(0, groups, size=(size, groups))
    members = np.repeat(kinds, counts)
    if (kinds.imag == kinds.imag[0]).all():
        return np.asarray(members.real.take(picks).sum(axis=1) + 1j * members.imag.sum())
    return np.asarray(members.take(picks).sum(axis=1))


def _pooled(labels: npt.ArrayLike) -> Codes:
    """Strata as codes; those of a single group, which could not vary, are put together."""
    codes = _codes(labels)
    counts = np.bincount(codes)
    lonely = counts < 2
    if lonely.sum() == 1 and counts.size > 1:
        lonely[np.argsort(counts, kind="stable")[1]] = True
    return _codes(np.where(lonely, -1, np.arange(counts.size))[codes])


def numbered(labels: npt.ArrayLike) -> tuple[Codes, Codes]:
    """Where each different label first stands, in ascending order of labels, and for each label its number there."""
    values = np.asarray(labels)
    most = 4 * values.size
    if values.dtype.kind not in "iu" or not values.size or int(values.min()) < 0 or int(values.max()) > most:
        _, firsts, codes = np.unique(values, return_index=True, return_inverse=True)
        return firsts, codes
    # Small whole numbers need no sorting, and of groups there may be millions.
    there = np.zeros(int(values.max()) + 1, dtype=np.bool_)
    there[values] = True
    codes = (np.cumsum(there) - 1)[values]
    firsts = np.empty(int(codes.max()) + 1, dtype=np.intp)
    firsts[codes[::-1]] = np.arange(values.size)[::-1]
    return firsts, codes


def _codes(labels: npt.ArrayLike) -> Codes:
    return numbered(labels)[1]


def _centred(values: Floats, strata: Codes) -> Floats:
    means = np.bincount(strata, values) / np.bincount(strata)
    return np.asarray(values - means[strata])
