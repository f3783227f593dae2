"""Rows reduced to groups within strata: what bootstrap intervals and permutation tests resample."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.signedinteger[Any]]
Numbers = npt.NDArray[np.signedinteger[Any]] | Floats
"""Integers of as few bytes as suffice, or floats: there may be millions of rows and groups."""

Rng = np.random.Generator
Values = npt.ArrayLike
"""A number for each row, group or cell."""
Labels = npt.ArrayLike | None
"""A code or a name for each row, such as that of its group or stratum; None where there are none."""

_Value = TypeVar("_Value", bound=np.generic)

# Lower limit of the degrees of freedom: their estimate is noisy, and a lower one would only widen intervals.
_FEWEST_DEGREES = 4.0
# Number of rows or groups that are converted to floats and indices of eight bytes at a time.
_BLOCK = 2**20


@dataclass(frozen=True, slots=True)
class Totals:
    """The sum, the size and the stratum of every group: all that resampling needs."""

    sums: Numbers
    sizes: Numbers
    strata: Codes

    @property
    def value(self) -> float:
        return float(self.sums.sum() / self.sizes.sum())

    @property
    def blocks(self) -> Iterator[Totals]:
        """The groups in blocks, as floats and indices."""
        for part in blocks(self.sums.size):
            sums, sizes = (values[part].astype(np.float64, copy=False) for values in (self.sums, self.sizes))
            yield Totals(sums, sizes, self.strata[part].astype(np.intp, copy=False))


@dataclass(frozen=True, slots=True)
class Spread:
    """The variance of a mean over rows that come in groups.

    ``resampled`` is the variance of bootstrap means, which is too small; ``degrees`` are the degrees of freedom of
    ``variance``; ``acceleration`` is the constant of BCa.
    """

    variance: float
    resampled: float
    degrees: float
    acceleration: float


def generator(draws_seed: int) -> np.random.Generator:
    """The random generator of one estimate or test, determined by the seed."""
    return np.random.Generator(np.random.Philox(key=draws_seed))


def column(values: Values) -> Numbers:
    """The values as numbers; booleans become integers of one byte."""
    numbers = np.asarray(values)
    if numbers.dtype == np.bool_:
        return numbers.view(np.int8)
    return numbers if numbers.dtype.kind == "i" else numbers.astype(np.float64, copy=False)


def paired_columns(first: Values, second: Values) -> tuple[Numbers, Numbers]:
    """Two columns of the same rows as numbers."""
    values = column(first), column(second)
    if values[0].shape != values[1].shape:
        raise ValueError(f"paired rows differ in number: {values[0].size} and {values[1].size}")
    return values


def blocks(size: int) -> Iterator[slice]:
    """Slices that divide a long column into blocks, to be processed one after another."""
    return (slice(start, start + _BLOCK) for start in range(0, size, _BLOCK))


def taken(table: npt.NDArray[_Value], places: Codes) -> npt.NDArray[_Value]:
    """``table[places]``, in blocks: NumPy would convert all places to eight-byte indices at once."""
    values = np.empty(places.size, dtype=table.dtype)
    for part in blocks(places.size):
        values[part] = table[places[part]]
    return values


def group_totals(
    values: npt.NDArray[np.generic], groups: Labels = None, *, strata: Labels = None, weights: Floats | None = None
) -> Totals:
    """Sum, size and stratum of every group; groups that span strata form a stratum of their own."""
    numbers = column(values)
    sizes: Numbers = np.ones(numbers.size, dtype=np.int8) if weights is None else weights
    sums = numbers if weights is None else weights * numbers
    labels = np.zeros(numbers.size, dtype=np.int8) if strata is None else numbered(strata)
    if groups is None:
        return Totals(sums, sizes, pooled_strata(labels))
    codes = numbered(groups)
    totals, counts = group_sums(sums, codes), group_sums(sizes, codes)
    if not labels.any():
        return Totals(totals, counts, np.zeros(totals.size, dtype=np.int8))
    return Totals(totals, counts, pooled_strata(_common_labels(labels, codes)))


def group_sums(values: npt.NDArray[np.generic], codes: Codes) -> Numbers:
    """The sum of the values of every group; ``codes`` holds the number of each row's group."""
    numbers = column(values)
    dtype = np.int32 if numbers.dtype == np.int8 else numbers.dtype
    sums: Numbers = np.zeros(int(codes.max(initial=-1)) + 1, dtype=dtype)
    for part in blocks(numbers.size):
        np.add.at(sums, codes[part].astype(np.intp, copy=False), numbers[part].astype(sums.dtype, copy=False))
    return sums.astype(_signed_type(int(sums.max(initial=0)))) if numbers.dtype == np.int8 else sums


def _common_labels(labels: Codes, codes: Codes) -> Codes:
    """The label shared by all rows of a group, plus 1; 0 for groups with mixed labels."""
    # The type must hold the largest label plus 1.
    common: Codes = np.zeros(codes.max(initial=-1) + 1, dtype=_signed_type(int(labels.max(initial=-1)) + 1))
    for part in blocks(codes.size):
        common[codes[part]] = labels[part]
    mixed = np.zeros(common.size, dtype=np.bool_)
    for part in blocks(codes.size):
        members = codes[part]
        mixed[members[common[members] != labels[part]]] = True
    common += 1
    common[mixed] = 0
    return common


@dataclass(frozen=True, slots=True)
class WeightedSide:
    """The rows of one side in the strata that both sides have, weighted so that strata have equal shares on both."""

    values: Floats
    groups: npt.NDArray[np.generic] | None
    strata: npt.NDArray[np.generic] | None
    weights: Floats
    left_out: int
    """Rows in strata that only this side has."""

    @property
    def totals(self) -> Totals:
        return group_totals(self.values, self.groups, strata=self.strata, weights=self.weights)


def weighted_sides(
    first: Values, second: Values, *, groups: tuple[Labels, Labels], strata: tuple[Labels, Labels]
) -> list[WeightedSide]:
    """Two sides of different rows, reduced to the strata that both have; ``groups`` and ``strata`` are (first, second).

    A stratum is weighted by its share of the rows of both sides together. The mean weight on each side is 1.
    """
    values = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    weights = [np.ones(side.size) for side in values]
    if strata[0] is not None and strata[1] is not None:
        joined = numbered(np.concatenate([np.asarray(strata[0]), np.asarray(strata[1])]))
        codes = joined[: values[0].size], joined[values[0].size :]
        counts = [np.bincount(side, minlength=joined.max(initial=-1) + 1) for side in codes]
        shared, rows = np.minimum(*counts) > 0, counts[0] + counts[1]
        shares = np.where(shared, rows, 0) / max(rows[shared].sum(), 1)
        for number, count in enumerate(counts):
            weights[number] = (shares * count[shared].sum() / np.maximum(count, 1))[codes[number]]
    sides = []
    for numbers, members, labels, weight in zip(values, groups, strata, weights, strict=True):
        used = weight > 0
        of_groups, of_strata = (None if names is None else np.asarray(names)[used] for names in (members, labels))
        sides.append(WeightedSide(numbers[used], of_groups, of_strata, weight[used], int((~used).sum())))
    return sides


def spread(totals: Totals) -> Spread:
    """Variance of the mean over rows (total sum over total size), by the jackknife over groups within strata.

    Degrees of freedom after Satterthwaite: twice the squared variance over the variance of the variance. The latter is
    estimated from the spread of the groups' contributions, so unequal sizes and rare failures lower the degrees.
    """
    size, value = float(totals.sizes.sum()), totals.value
    counts = _counts(totals.strata)
    corrections = counts / (counts - 1)
    deviation_sums, sizes = np.zeros((2, counts.size))
    for block in totals.blocks:
        np.add.at(deviation_sums, block.strata, block.sums - value * block.sizes)
        np.add.at(sizes, block.strata, block.sizes)

    def contributions() -> Iterator[tuple[Floats, Floats]]:
        """The deviation of groups from the mean of their stratum, and their contribution to the variance."""
        for block in totals.blocks:
            correction = corrections[block.strata]
            centred = block.sums - value * block.sizes - (deviation_sums / counts)[block.strata]
            influence = correction * centred / (size - correction * (block.sizes - (sizes / counts)[block.strata]))
            yield centred, influence**2 / correction

    variance = squares = cubes = 0.0
    for centred, parts in contributions():
        variance += float(parts.sum())
        squares += float((centred**2).sum())
        cubes += float((centred**3).sum())
    mean = variance / totals.sums.size
    unevenness = sum(float(((parts - mean) ** 2).sum()) for _, parts in contributions())
    most_degrees = totals.sums.size - float(totals.strata.max()) - 1
    degrees = 2 * variance**2 / unevenness * most_degrees / totals.sums.size if unevenness > 0 else math.inf
    return Spread(
        variance=variance,
        resampled=squares / size**2,
        degrees=min(max(degrees, _FEWEST_DEGREES), most_degrees),
        acceleration=cubes / (6 * squares**1.5) if squares > 0 else 0.0,
    )


def binary(values: Numbers) -> bool:
    return bool(((values == 0) | (values == 1)).all())


def pooled_strata(labels: npt.ArrayLike) -> Codes:
    """Codes of strata; those of one group, which have no variance, are pooled (a lone one with the next smallest)."""
    codes = numbered(labels)
    counts = _counts(codes)
    single = counts < 2
    if single.sum() == 1 and counts.size > 1:
        single[np.argsort(counts, kind="stable")[1]] = True
    if not single.any():
        return codes
    return taken(numbered(np.where(single, -1, np.arange(counts.size))), codes)


def numbered(labels: npt.ArrayLike) -> Codes:
    """The rank of each label among the distinct labels, from 0; signed codes without gaps are returned unchanged."""
    values = np.asarray(labels)
    if values.dtype.kind not in "iu" or not values.size:
        return _ranks(values)
    lowest, highest = int(values.min()), int(values.max())
    if lowest < 0 or highest > 4 * values.size:
        return _ranks(values)
    # Small integers need no sorting, and there may be millions of groups.
    present = np.zeros(highest + 1, dtype=np.bool_)
    for part in blocks(values.size):
        present[values[part]] = True
    if present.all() and values.dtype.kind == "i":
        return values
    numbers = np.cumsum(present, dtype=_signed_type(present.size))
    return taken(np.subtract(numbers, 1, out=numbers), values)


def _ranks(values: npt.NDArray[Any]) -> Codes:
    """The ranks that ``np.unique`` gives, in a third of the memory."""
    order = np.argsort(values)
    codes = np.empty(values.size, dtype=_signed_type(values.size))
    last = -1
    for part in blocks(values.size):
        ordered = values[order[max(part.start - 1, 0) : part.stop]]
        new = ordered[1:] != ordered[:-1]
        # The first value of a block is compared with the last of the previous block; the very first is always new.
        new = new if part.start else np.append(True, new)
        codes[order[part]] = last + np.cumsum(new)
        last += int(new.sum())
    return codes


def _signed_type(most: int) -> npt.DTypeLike:
    """The smallest signed integer type that holds ``most`` and ``-most``."""
    return np.min_scalar_type(-most - 1)


def _counts(codes: Codes) -> npt.NDArray[np.int64]:
    counts = np.zeros(codes.max(initial=-1) + 1, dtype=np.int64)
    for part in blocks(codes.size):
        counts += np.bincount(codes[part], minlength=counts.size)
    return counts
