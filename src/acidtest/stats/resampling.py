"""Resampling of groups within strata: what bootstrap intervals and permutation tests stand on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import ndtr, ndtri, stdtrit

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.signedinteger[Any]]
Numbers = npt.NDArray[np.signedinteger[Any]] | Floats
"""Whole numbers of few bytes where they will do: of rows and groups there may be millions."""

_Value = TypeVar("_Value", bound=np.generic)
Kind = Literal["percentile", "expanded", "accelerated"]

# An estimate of how uneven the groups are is itself unsteady; below this it would only add width.
_FEWEST_DEGREES = 4.0
# A multinomial count takes about as long as drawing this many groups one by one (measured).
_COUNT_COST = 16
# Of 16 bytes each: 2 MB at a time, small enough to stay near the cache.
_CHUNK_CELLS = 2**17
# Rows or groups of which floats and places, eight bytes each, are held at a time.
_BLOCK = 2**20


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a value lies with the stated confidence, and how that was found."""

    low: float
    high: float
    method: str


@dataclass(frozen=True, slots=True)
class Totals:
    """What resampling needs of the data: the sum, the size and the stratum of every group."""

    sums: Numbers
    sizes: Numbers
    strata: Codes

    @property
    def value(self) -> float:
        """The mean over rows."""
        return float(self.sums.sum() / self.sizes.sum())

    @property
    def blocks(self) -> Iterator[Totals]:
        """The groups, some of them at a time, as the numbers that NumPy is quick with."""
        for part in blocks(self.sums.size):
            sums, sizes = (each[part].astype(np.float64, copy=False) for each in (self.sums, self.sizes))
            yield Totals(sums, sizes, self.strata[part].astype(np.intp, copy=False))


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
    labels = np.zeros(np.size(sums), dtype=np.int8) if strata is None else strata
    totals = Totals(column(sums), column(sizes), _pooled(labels))
    means = np.concatenate(list(_resampled_means(totals, rng, resamples)))
    low, high = np.quantile(means, _levels(totals, means, kind=kind, confidence=confidence))
    return Interval(float(low), float(high), method)


def column(values: npt.ArrayLike) -> Numbers:
    """The values as numbers; flags are whole numbers of a byte each."""
    found = np.asarray(values)
    if found.dtype == np.bool_:
        return found.view(np.int8)
    return found if found.dtype.kind == "i" else found.astype(np.float64, copy=False)


def blocks(size: int) -> Iterator[slice]:
    """Where the parts of a long column lie that are looked at one after another."""
    return (slice(start, start + _BLOCK) for start in range(0, size, _BLOCK))


def taken(table: npt.NDArray[_Value], places: Codes) -> npt.NDArray[_Value]:
    """What stands at some places, in no more memory than that takes."""
    found = np.empty(places.size, dtype=table.dtype)
    for part in blocks(places.size):
        found[part] = table[places[part]]
    return found


def group_totals(
    values: npt.NDArray[np.generic],
    groups: npt.ArrayLike | None = None,
    *,
    strata: npt.ArrayLike | None = None,
    weights: Floats | None = None,
) -> Totals:
    """Sum, size and stratum of every group; a group that spans strata goes to a stratum of such groups."""
    own = column(values)
    sizes: Numbers = np.ones(own.size, dtype=np.int8) if weights is None else weights
    sums = own if weights is None else weights * own
    labels = np.zeros(own.size, dtype=np.int8) if strata is None else _numbered_from_one(strata)
    if groups is None:
        return Totals(sums, sizes, _pooled(labels))
    codes = numbered(groups)
    return Totals(group_sums(sums, codes), group_sums(sizes, codes), _pooled(_common_labels(labels, codes)))


def group_sums(values: npt.NDArray[np.generic], codes: Codes) -> Numbers:
    """The sum of the values of every group, groups being numbered."""
    own = column(values)
    kind = np.int32 if own.dtype == np.int8 else own.dtype
    sums: Numbers = np.zeros(int(codes.max(initial=-1)) + 1, dtype=kind)
    for part in blocks(own.size):
        np.add.at(sums, codes[part].astype(np.intp, copy=False), own[part].astype(sums.dtype, copy=False))
    return sums.astype(_whole(int(sums.max(initial=0)))) if own.dtype == np.int8 else sums


def _numbered_from_one(labels: npt.ArrayLike) -> Codes:
    codes = numbered(labels)
    return np.add(codes, 1, dtype=_whole(int(codes.max(initial=-1)) + 1))


def _common_labels(labels: Codes, codes: Codes) -> Codes:
    """The label that all rows of a group have, 0 where they have several."""
    found = np.zeros(codes.max(initial=-1) + 1, dtype=labels.dtype)
    for part in blocks(codes.size):
        found[codes[part]] = labels[part]
    several = np.zeros(found.size, dtype=np.bool_)
    for part in blocks(codes.size):
        own = codes[part]
        several[own[found[own] != labels[part]]] = True
    found[several] = 0
    return found


def stratum_weights(
    n_first: int, n_second: int, *, strata_first: npt.ArrayLike | None, strata_second: npt.ArrayLike | None
) -> tuple[Floats, Floats]:
    """A weight for each row of two sides that makes their strata alike.

    A stratum that both have gets the same part in each, its share of the rows of both; one that only one side has
    gets weight 0. Weights of a side are 1 on average over the rows that count.
    """
    if strata_first is None or strata_second is None:
        return np.ones(n_first), np.ones(n_second)
    codes = numbered(np.concatenate([np.asarray(strata_first), np.asarray(strata_second)]))
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
    size, value = float(totals.sizes.sum()), totals.value
    counts = _counts(totals.strata)
    corrections = counts / (counts - 1)
    away, sizes = np.zeros((2, counts.size))
    for block in totals.blocks:
        np.add.at(away, block.strata, block.sums - value * block.sizes)
        np.add.at(sizes, block.strata, block.sizes)

    def contributions() -> Iterator[tuple[Floats, Floats]]:
        """How far groups are from the mean of their stratum, and what they add to the variance."""
        for block in totals.blocks:
            correction = corrections[block.strata]
            centred = block.sums - value * block.sizes - (away / counts)[block.strata]
            influence = correction * centred / (size - correction * (block.sizes - (sizes / counts)[block.strata]))
            yield centred, influence**2 / correction

    variance = squares = cubes = 0.0
    for centred, parts in contributions():
        variance += float(parts.sum())
        squares += float((centred**2).sum())
        cubes += float((centred**3).sum())
    mean = variance / totals.sums.size
    unevenness = sum(float(((parts - mean) ** 2).sum()) for _, parts in contributions())
    free = totals.sums.size - float(totals.strata.max()) - 1
    degrees = 2 * variance**2 / unevenness * free / totals.sums.size if unevenness > 0 else math.inf
    return Spread(
        variance=variance,
        resampled=squares / size**2,
        degrees=min(max(degrees, _FEWEST_DEGREES), free),
        acceleration=cubes / (6 * squares**1.5) if squares > 0 else 0.0,
    )


def binary(values: Numbers) -> bool:
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
    strata = _kinds(totals)
    cells = max(min(int(counts.sum()), _COUNT_COST * counts.size) for _, counts in strata)
    step = max(1, _CHUNK_CELLS // cells)
    for start in range(0, resamples, step):
        drawn = np.zeros(min(step, resamples - start), dtype=np.complex128)
        for kinds, counts in strata:
            drawn += _drawn(kinds, counts, rng, size=drawn.size)
        yield drawn.real / drawn.imag


def _kinds(totals: Totals) -> list[tuple[npt.NDArray[np.complex128], npt.NDArray[np.int64]]]:
    """For each stratum its kinds of groups, in ascending order, and how many groups are of each."""
    names = ("stratum", "sum", "size")
    columns = ((block.strata, block.sums, block.sizes) for block in totals.blocks)
    counted = [pl.DataFrame(dict(zip(names, block, strict=True))).group_by(names).len("count") for block in columns]
    kinds = pl.concat(counted).group_by(names).agg(pl.col("count").cast(pl.Int64).sum()).sort(names)
    return [
        (own["sum"].to_numpy() + 1j * own["size"].to_numpy(), own["count"].to_numpy())
        for own in kinds.partition_by("stratum", maintain_order=True)
    ]


def _drawn(
    kinds: npt.NDArray[np.complex128], counts: npt.NDArray[np.int64], rng: np.random.Generator, *, size: int
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
    codes = numbered(labels)
    counts = _counts(codes)
    lonely = counts < 2
    if lonely.sum() == 1 and counts.size > 1:
        lonely[np.argsort(counts, kind="stable")[1]] = True
    if not lonely.any():
        return codes
    return taken(numbered(np.where(lonely, -1, np.arange(counts.size))), codes)


def numbered(labels: npt.ArrayLike) -> Codes:
    """For each label its number among the different ones, in ascending order; codes without gaps as they are."""
    values = np.asarray(labels)
    most = 4 * values.size
    if values.dtype.kind not in "iu" or not values.size or int(values.min()) < 0 or int(values.max()) > most:
        return _ranked(values)
    # Small whole numbers need no sorting, and of groups there may be millions.
    there = np.zeros(int(values.max()) + 1, dtype=np.bool_)
    for part in blocks(values.size):
        there[values[part]] = True
    if there.all() and values.dtype.kind == "i":
        return values
    numbers = np.cumsum(there, dtype=_whole(there.size))
    return taken(np.subtract(numbers, 1, out=numbers), values)


def _ranked(values: npt.NDArray[Any]) -> Codes:
    """As ``np.unique`` numbers them, in a third of the memory."""
    order = np.argsort(values)
    codes = np.empty(values.size, dtype=_whole(values.size))
    last = -1
    for part in blocks(values.size):
        ordered = values[order[max(part.start - 1, 0) : part.stop]]
        new = ordered[1:] != ordered[:-1]
        # The first of a block is compared with the last of the one before; the very first is always new.
        new = new if part.start else np.append(True, new)
        codes[order[part]] = last + np.cumsum(new)
        last += int(new.sum())
    return codes


def _whole(most: int) -> npt.DTypeLike:
    """The smallest kind of whole numbers that goes as far as this, and as far below 0."""
    return np.min_scalar_type(-most - 1)


def _counts(codes: Codes) -> npt.NDArray[np.int64]:
    counts = np.zeros(codes.max(initial=-1) + 1, dtype=np.int64)
    for part in blocks(codes.size):
        counts += np.bincount(codes[part], minlength=counts.size)
    return counts
