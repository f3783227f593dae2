"""Bootstrap intervals of means over rows that come in groups, resampled within strata."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, groupby
from typing import Literal

import numpy as np
import numpy.typing as npt

from acidtest.stats.resampling import Floats, Labels, Rng, Totals, Values, column, generator, pooled_strata, spread

Kind = Literal["percentile", "expanded", "accelerated"]

# The first two numbers decide which draws are made in which order: another value changes every interval.
# Drawing one multinomial count takes about as long as drawing this many groups one by one (measured).
_COUNT_COST = 16
# Complex numbers of 16 bytes drawn at a time: 2 MB, small enough for the cache.
_CHUNK_CELLS = 2**17
# Draws are kept for tables of at most this many kinds of groups, which take 128 KB.
_MOST_KEPT_KINDS = 2**12


@dataclass(frozen=True, slots=True)
class Interval:
    """The range in which a value lies with the stated confidence, and the method."""

    low: float
    high: float
    method: str


def bootstrap(
    sums: Values,
    sizes: Values,
    *,
    strata: Labels = None,
    rng: Rng | int,
    resamples: int = 10_000,
    kind: Kind = "accelerated",
) -> Interval:
    """95 % bootstrap interval of the mean over rows, given the sum and size of each group; resamples within strata.

    ``percentile`` is the plain bootstrap. ``expanded`` moves its ends out to the jackknife variance and a t quantile
    (Hesterberg 2015); ``accelerated`` also corrects them for bias and skewness (BCa, Efron 1987). Groups that all
    agree give an interval of zero width, fewer than two groups give NaN. ``rng`` may be a seed: its draws are kept, for
    several studies of a report ask for the same slices.
    """
    name = {"percentile": "percentile", "expanded": "expanded percentile", "accelerated": "expanded BCa"}[kind]
    method = f"{name} bootstrap, {resamples} resamples"
    if np.size(sums) < 2:
        return Interval(math.nan, math.nan, method)
    labels = np.zeros(np.size(sums), dtype=np.int8) if strata is None else strata
    totals = Totals(column(sums), column(sizes), pooled_strata(labels))
    kinds, counts = _count_kinds(totals)
    if isinstance(rng, int) and counts.size <= _MOST_KEPT_KINDS:
        means = _seeded_means(kinds.tobytes(), counts.tobytes(), rng, resamples)
    else:
        means = _resampled_means(kinds, counts, generator(rng) if isinstance(rng, int) else rng, resamples)
    low, high = np.quantile(means, _levels(totals, means, kind=kind))
    return Interval(float(low), float(high), method)


def _levels(totals: Totals, means: Floats, *, kind: Kind) -> Floats:
    """The quantiles of the resampled means at which the interval ends."""
    from scipy.special import ndtr, ndtri, stdtrit

    plain = np.array([0.025, 0.975])
    if kind == "percentile":
        return plain
    deviation = spread(totals)
    if deviation.resampled == 0:
        return plain
    reach = float(stdtrit(deviation.degrees, 0.975)) * math.sqrt(deviation.variance / deviation.resampled)
    ends = np.array([-reach, reach])
    if kind == "accelerated":
        # Means equal to the value count half; through rounding, equal means may differ in the last digit.
        close = 1e-12 * max(1.0, abs(totals.value))
        below = np.mean(means < totals.value - close) + np.mean(np.abs(means - totals.value) <= close) / 2
        bias = float(ndtri(np.clip(below, 1 / means.size, 1 - 1 / means.size)))
        ends = bias + (bias + ends) / np.maximum(1 - deviation.acceleration * (bias + ends), 1e-9)
    return np.asarray(ndtr(ends), dtype=np.float64)


@lru_cache(maxsize=256)
def _seeded_means(kinds: bytes, counts: bytes, seed: int, resamples: int) -> Floats:
    """The mean over rows in each resample that a seed gives; kinds and counts are the bytes of their arrays."""
    table, numbers = np.frombuffer(kinds).reshape(-1, 3), np.frombuffer(counts, dtype=np.int64)
    return _resampled_means(table, numbers, generator(seed), resamples)


def _resampled_means(kinds: Floats, counts: npt.NDArray[np.int64], rng: Rng, resamples: int) -> Floats:
    """The mean over rows in each resample.

    Groups of one stratum with the same sum and size are of one kind and interchangeable. If a stratum has few kinds,
    the number of groups of each kind is drawn, otherwise the groups themselves. A complex number holds the pair (sum,
    size), so that both are looked up and added at once.
    """
    strata = _by_stratum(kinds, counts)
    step = max(1, _CHUNK_CELLS // max(min(stratum.groups, _COUNT_COST * stratum.kinds.size) for stratum in strata))
    resampled = np.zeros(resamples, dtype=np.complex128)
    batches = _batches(strata, most_groups=_CHUNK_CELLS // step)
    for start in range(0, resamples, step):
        chunk = resampled[start : start + step]
        for batch in batches:
            chunk += batch.draw(rng, chunk.size)
    return resampled.real / resampled.imag


@dataclass(frozen=True, slots=True)
class _GroupKinds:
    """The kinds of groups of a stratum in ascending order, and how many groups are of each."""

    kinds: npt.NDArray[np.complex128]
    counts: npt.NDArray[np.int64]
    groups: int

    @property
    def few(self) -> bool:
        return _COUNT_COST * self.kinds.size < self.groups

    def draw(self, rng: Rng, size: int) -> npt.NDArray[np.complex128]:
        """Totals of ``size`` resamples, each with as many groups as the stratum has, drawn with replacement."""
        if self.kinds.size == 1:
            return np.full(size, self.groups * self.kinds[0])
        drawn = rng.multinomial(self.groups, self.counts / self.groups, size=size)
        # As pairs of floats, since products of complex numbers take several threads, which cost more than they save.
        return (drawn @ self.kinds.view(np.float64).reshape(-1, 2)).view(np.complex128)[:, 0]


@dataclass(frozen=True, slots=True)
class _GroupBatch:
    """Successive strata whose groups are drawn one by one: all their groups, and how many each stratum has."""

    members: npt.NDArray[np.complex128]
    groups: list[int]

    def draw(self, rng: Rng, size: int) -> npt.NDArray[np.complex128]:
        """Totals of ``size`` resamples, each with as many groups of every stratum as it has, with replacement."""
        ends = accumulate(self.groups)
        picks = [
            rng.integers(end - groups, end, size=(size, groups)) for groups, end in zip(self.groups, ends, strict=True)
        ]
        places = picks[0] if len(picks) == 1 else np.concatenate(picks, axis=1)
        members = self.members
        if (members.imag == members.imag[0]).all():
            return np.asarray(members.real.take(places).sum(axis=1) + 1j * members.imag.sum())
        return np.asarray(members.take(places).sum(axis=1))


def _batches(strata: Sequence[_GroupKinds], *, most_groups: int) -> list[_GroupKinds | _GroupBatch]:
    """The strata in order, those whose groups are drawn one by one in batches of about ``most_groups``."""
    batches: list[_GroupKinds | _GroupBatch] = []
    ends = accumulate(stratum.groups for stratum in strata)
    numbered_strata = zip((end // most_groups for end in ends), strata, strict=True)
    for (few, _), batch in groupby(numbered_strata, key=lambda pair: (pair[1].few, pair[0])):
        members = [stratum for _, stratum in batch]
        if few:
            batches += members
        else:
            kinds = np.concatenate([np.repeat(stratum.kinds, stratum.counts) for stratum in members])
            batches.append(_GroupBatch(kinds, [stratum.groups for stratum in members]))
    return batches


def _count_kinds(totals: Totals) -> tuple[Floats, npt.NDArray[np.int64]]:
    """The kinds of groups as sorted rows (stratum, sum, size), and how many groups are of each."""
    kinds, counts = np.zeros((0, 3)), np.zeros(0, dtype=np.int64)
    for block in totals.blocks:
        kinds = np.concatenate([kinds, np.column_stack([block.strata, block.sums, block.sizes])])
        order = np.lexsort(kinds.T[::-1])
        kinds = kinds[order]
        starts = np.flatnonzero(np.append(True, (kinds[1:] != kinds[:-1]).any(axis=1)))
        counts = np.add.reduceat(np.append(counts, np.ones(block.sums.size, dtype=np.int64))[order], starts)
        kinds = kinds[starts]
    return kinds, counts


def _by_stratum(kinds: Floats, counts: npt.NDArray[np.int64]) -> list[_GroupKinds]:
    ends = np.flatnonzero(np.diff(kinds[:, 0])) + 1
    parts = zip(np.split(kinds[:, 1] + 1j * kinds[:, 2], ends), np.split(counts, ends), strict=True)
    return [_GroupKinds(members, numbers, int(numbers.sum())) for members, numbers in parts]
