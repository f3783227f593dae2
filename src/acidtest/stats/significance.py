"""Tests whether two sets of answers differ, and corrections for many tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import UnknownNameError
from acidtest.stats.intervals import StratifiedRate, combined_reach
from acidtest.stats.resampling import (
    Codes,
    Floats,
    Labels,
    Numbers,
    Rng,
    Totals,
    Values,
    binary,
    blocks,
    generator,
    group_totals,
    numbered,
    paired_columns,
    weighted_sides,
)

# Counts drawn at a time: 32 MB of 8 bytes each.
_CHUNK_COUNTS = 2**22
# With fewer groups per kind than this, shuffling groups is quicker than drawing a count for each kind (measured).
_FEW_TO_A_KIND = 16
# Largest z considered: beyond it (p of 1e-15) no approximation is reliable, so p is never smaller.
_FARTHEST = 8.0


@dataclass(frozen=True, slots=True)
class Test:
    """Result of a test; ``p`` is the probability of a difference at least this large if there is none.

    ``statistic`` is the mean of the first minus the mean of the second; ``n`` counts rows. If there is nothing to test,
    ``statistic`` and ``p`` are NaN and ``note`` says why.
    """

    name: str
    statistic: float
    p: float
    n: int
    note: str = ""


def paired_test(
    first: Values,
    second: Values,
    groups: Labels = None,
    *,
    strata: Labels = None,
    draws_seed: int = 0,
    resamples: int = 10_000,
) -> Test:
    """Test whether two sets of values of the same rows differ, by the method that suits the rows.

    Exact McNemar for independent 0/1 rows. Rows that come in groups get the permutation of whole groups,
    since McNemar would count each row as independent evidence; rows in several strata get the permutation within
    strata.
    """
    values = paired_columns(first, second)
    stratified = strata is not None and int(numbered(strata).max(initial=0)) > 0
    if not stratified and binary(values[0]) and binary(values[1]):
        independent = groups is None or int(numbered(groups).max(initial=-1)) + 1 == values[0].size
        if independent:
            return mcnemar(first, second)
    strata, rng = strata if stratified else None, generator(draws_seed)
    return paired_permutation(first, second, groups=groups, strata=strata, rng=rng, resamples=resamples)


def mcnemar(first: Values, second: Values, *, mid_p: bool = False) -> Test:
    """McNemar's test on independent rows that are right (1) or wrong (0): the exact binomial, two-sided.

    ``mid_p`` gives the observed outcome half its probability (Fagerland, Lydersen and Laake 2013): less
    conservative, no longer exact.
    """
    from scipy.special import bdtr

    values = paired_columns(first, second)
    if not (binary(values[0]) and binary(values[1])):
        raise ValueError("McNemar's test takes right (1) and wrong (0) only; use paired_permutation")
    name = "McNemar, mid-p" if mid_p else "McNemar, exact"
    n = values[0].size
    if n == 0:
        return Test(name, math.nan, math.nan, 0, "no rows")
    gains, losses = int((values[0] > values[1]).sum()), int((values[0] < values[1]).sum())
    if gains + losses == 0:
        return Test(name, 0.0, 1.0, n, "no row tells the two apart")
    fewer = min(gains, losses)
    tail = float(bdtr(fewer, gains + losses, 0.5))
    beyond = float(bdtr(fewer - 1, gains + losses, 0.5)) if fewer else 0.0
    return Test(name, (gains - losses) / n, min(1.0, tail + (beyond if mid_p else tail)), n)


def paired_permutation(
    first: Values, second: Values, *, groups: Labels = None, strata: Labels = None, rng: Rng, resamples: int = 10_000
) -> Test:
    """Permutation test on paired rows: first and second are swapped in whole groups, chosen at random.

    p is (c + 1) / (resamples + 1), where c counts permutations with a difference at least as large: never 0. With
    strata, differences are divided by their standard error within strata, the same as the interval's. So strata that
    differ in opposite directions do not hide a difference on average, as they would from McNemar's test. The test is
    exact if first and second have the same distribution on every row; if they are equal only on average, it holds for
    many groups (Chung and Romano 2013).
    """
    name = "paired permutation" if strata is None else "paired permutation within strata"
    values = paired_columns(first, second)
    n = values[0].size
    if n == 0:
        return Test(name, math.nan, math.nan, 0, "no rows")
    totals = group_totals(values[0] - values[1], groups, strata=strata)
    if strata is None:
        result = flipped_signs((totals.sums[part] for part in blocks(totals.sums.size)), rng=rng, resamples=resamples)
        return replace(result, name=name, statistic=result.statistic / n, n=n)
    differing = int((np.abs(totals.sums) > 1e-12).sum())
    if differing == 0:
        return Test(name, 0.0, 1.0, n, "no group tells the two apart")
    counts, signs, studentised = _studentised_flips(totals)
    observed = float(studentised(signs[None, :])[0])
    extreme = 0
    for size in _chunks(resamples, counts.size):
        kept = rng.binomial(counts, 0.5, size=(size, counts.size))
        extreme += _count_extreme(studentised((2 * kept - counts).astype(np.float64)), observed)
    return Test(name, float(totals.sums.sum()) / n, (extreme + 1) / (resamples + 1), n, _floor_note(differing))


def flipped_signs(sums: Iterable[Numbers], *, rng: Rng, resamples: int = 10_000) -> Test:
    """Test whether the groups' differences, given in blocks, sum to 0, by flipping their signs at random.

    The statistic is their sum, ``n`` counts groups, and p is as in ``paired_permutation``.
    """
    name, observed, n = "flipped signs", 0.0, 0
    kinds = [(np.zeros(0), np.zeros(0, dtype=np.int64))]
    for block in sums:
        observed, n = observed + float(block.sum()), n + block.size
        # Groups with the same absolute difference are interchangeable: it is enough to draw how many keep their sign.
        kinds.append(np.unique(np.abs(block[np.abs(block) > 1e-12]), return_counts=True))
    sizes, places = np.unique(np.concatenate([size for size, _ in kinds]), return_inverse=True)
    counts = np.zeros(sizes.size, dtype=np.int64)
    np.add.at(counts, places, np.concatenate([count for _, count in kinds]))
    if sizes.size == 0:
        return Test(name, 0.0, 1.0, n, "no group tells the two apart")
    extreme = 0
    for size in _chunks(resamples, sizes.size):
        kept = rng.binomial(counts, 0.5, size=(size, sizes.size))
        extreme += _count_extreme((2 * kept - counts) @ sizes, observed)
    return Test(name, observed, (extreme + 1) / (resamples + 1), n, _floor_note(int(counts.sum())))


def unpaired_permutation(
    first: Values,
    second: Values,
    *,
    groups_first: Labels = None,
    groups_second: Labels = None,
    strata_first: Labels = None,
    strata_second: Labels = None,
    rng: Rng,
    resamples: int = 10_000,
) -> Test:
    """Permutation test on different rows: whole groups change sides within strata.

    The statistic is the difference of means over the strata that both sides have, each weighted by its share of their
    rows. p is as in ``paired_permutation``.
    """
    name = "unpaired permutation"
    sides = weighted_sides(first, second, groups=(groups_first, groups_second), strata=(strata_first, strata_second))
    values = np.concatenate([side.values for side in sides])
    is_first = np.arange(values.size) < sides[0].values.size
    # Negative codes keep the groups of the second side apart from those of the first.
    one, two = (np.arange(side.values.size) if side.groups is None else numbered(side.groups) for side in sides)
    groups = np.concatenate([one, -1 - two])
    labels = [side.strata for side in sides if side.strata is not None]
    totals = group_totals(values, groups, strata=np.concatenate(labels) if len(labels) == 2 else None)
    parts = _parts(totals, group_totals(is_first.astype(np.float64), groups).sums > 0)
    if not parts:
        return Test(name, math.nan, math.nan, values.size, "no rows on one side, or no strata that both sides have")
    size = sum(part.size for part in parts)
    observed = float(sum(part.size * part.contrast(part.first) for part in parts)) / size
    extreme = 0
    for chunk in _chunks(resamples, max(part.kinds.size for part in parts)):
        drawn = sum((part.size * part.contrast(part.permuted(rng, chunk)) for part in parts), np.zeros(chunk))
        extreme += _count_extreme(drawn / size, observed)
    return Test(name, observed, (extreme + 1) / (resamples + 1), values.size)


def combination_test(parts: Sequence[tuple[float, StratifiedRate]]) -> Test:
    """Test whether a sum of independent rates, each times its coefficient, differs from 0.

    p is one minus the confidence at which the interval of ``combination`` would just reach 0, found by bisection;
    never below 1e-15.
    """
    from scipy.special import ndtr

    name = "inverted MOVER interval"
    n = sum(rate.n for _, rate in parts)
    value = sum(coefficient * rate.value for coefficient, rate in parts)
    if math.isnan(value):
        return Test(name, math.nan, math.nan, n, "no rows on one side")

    def reaches_zero(z: float) -> bool:
        return combined_reach(parts, z)[0 if value > 0 else 1] >= abs(value)

    if reaches_zero(0.0):
        return Test(name, value, 1.0, n)
    low, high = 0.0, _FARTHEST
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if reaches_zero(middle) else (middle, high)
    return Test(name, value, 2 * float(ndtr(-high)), n)


def adjusted(ps: Sequence[float | None] | Floats, method: str = "holm") -> Floats:
    """p-values corrected for the size of their family, in the order given; None and NaN stay NaN and do not count.

    ``holm``; the false discovery rates ``bh`` (Benjamini and Hochberg) and ``by`` (Benjamini and Yekutieli: ``bh``
    times 1 + 1/2 + … + 1/m, valid however the tests depend on each other); or ``none``.
    """
    methods = ("holm", "bh", "by", "none")
    if method not in methods:
        raise UnknownNameError("correction", method, methods)
    values = np.array(ps, dtype=np.float64)
    order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]
    ordered, ranks = values[order], np.arange(1, order.size + 1)
    if method == "holm":
        ordered = np.maximum.accumulate(ordered * ranks[::-1])
    elif method != "none":
        size = order.size * (1 / ranks).sum() if method == "by" else order.size
        ordered = np.minimum.accumulate((ordered * (size / ranks))[::-1])[::-1]
    values[order] = np.minimum(ordered, 1.0)
    return values


def holm(ps: Sequence[float | None] | Floats) -> Floats:
    """Holm's adjusted p-values, as ``adjusted`` gives them."""
    return adjusted(ps, "holm")


def bonferroni(ps: Sequence[float | None] | Floats) -> Floats:
    """Bonferroni's adjusted p-values: each times the number of tests. None and NaN stay NaN and do not count."""
    values = np.array(ps, dtype=np.float64)
    return np.minimum(values * np.count_nonzero(~np.isnan(values)), 1.0)


@dataclass(frozen=True, slots=True)
class _Part:
    """A stratum with groups of both sides, counted by kind; a kind is a pair (sum, size) in a complex number."""

    size: float
    kinds: npt.NDArray[np.complex128]
    counts: npt.NDArray[np.intp]
    first: npt.NDArray[np.complex128]
    groups_first: int

    def contrast(self, first: npt.NDArray[np.complex128]) -> Floats:
        """Mean of the first side minus mean of the rest, given the totals of the first."""
        rest = self.counts @ self.kinds - first
        return np.asarray(first.real / first.imag - rest.real / rest.imag)

    def permuted(self, rng: Rng, size: int) -> npt.NDArray[np.complex128]:
        """Totals of the first side when groups are assigned to sides at random."""
        few = self.counts.sum() < _FEW_TO_A_KIND * self.kinds.size
        drawn_counts = rng.multivariate_hypergeometric(
            self.counts, self.groups_first, size=size, method="count" if few else "marginals"
        )
        return np.asarray(drawn_counts @ self.kinds)


def _parts(totals: Totals, is_first: npt.NDArray[np.bool_]) -> list[_Part]:
    """The strata with groups of both sides; groups that span strata form a stratum of their own."""
    pairs = totals.sums + 1j * totals.sizes
    parts = []
    for code in range(int(totals.strata.max(initial=-1)) + 1):
        members = totals.strata == code
        kinds, counts = np.unique(pairs[members], return_counts=True)
        first = pairs[members & is_first]
        if 0 < first.size < members.sum():
            parts.append(_Part(float(totals.sizes[members].sum()), kinds, counts, np.asarray(first.sum()), first.size))
    return parts


def _studentised_flips(totals: Totals) -> tuple[Codes, Floats, Callable[[Floats], Floats]]:
    """Group kinds for flipping signs, and the statistic: the mean difference over its standard error within strata.

    Groups of the same stratum, absolute difference and size are of one kind and interchangeable. Returns, for each
    kind, the number of groups and the number of positive minus negative ones, and a function that computes the
    statistic from each row of an array of the latter.
    """
    strata, sizes = totals.strata.astype(np.intp), totals.sizes.astype(np.float64)
    groups, rows, squared_rows = (
        np.bincount(strata, values).astype(np.float64) for values in (sizes**0, sizes, sizes**2)
    )
    differing = np.abs(totals.sums) > 1e-12
    keys = np.stack([strata, np.abs(totals.sums), sizes], axis=1)[differing]
    kinds, places, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    signs = np.bincount(places.ravel(), np.sign(totals.sums[differing])).astype(np.float64)
    # Kinds are in the order of their strata.
    strata, differences, sizes = kinds[:, 0].astype(np.intp), kinds[:, 1], kinds[:, 2]
    starts = np.flatnonzero(np.diff(strata, prepend=-1))
    corrections = groups / np.maximum(groups - 1, 1)
    squares = float((corrections[strata] * counts) @ differences**2)

    def studentised(signs: Floats) -> Floats:
        signed = signs * differences
        sums = np.zeros((len(signs), groups.size))
        sums[:, strata[starts]] = np.add.reduceat(signed, starts, axis=1)
        means = sums.sum(axis=1) / rows.sum()
        # The sum over groups of (difference - mean · size)², centred within strata by subtracting the last term.
        products = signed @ (corrections[strata] * sizes)
        variance = squares - 2 * means * products + means**2 * float(corrections @ squared_rows)
        variance -= (sums - means[:, None] * rows) ** 2 @ (corrections / groups)
        # Groups that are equal within strata have no variance: the statistic is then huge, or 0 if the mean is 0.
        error = np.sqrt(np.maximum(variance, 1e-18 * means**2)) / rows.sum()
        return np.asarray(np.divide(means, error, out=np.zeros_like(means), where=means != 0))

    return counts, signs, studentised


def _floor_note(differing: int) -> str:
    """A note on the smallest p that so few differing groups allow; empty if that is at most 0.05."""
    least = 2.0 ** (1 - differing)
    return f"groups that tell the two apart: {differing}; p cannot fall below {least:.2g}" if least > 0.05 else ""


def _chunks(resamples: int, width: int) -> list[int]:
    step = max(1, _CHUNK_COUNTS // width)
    return [min(step, resamples - start) for start in range(0, resamples, step)]


def _count_extreme(drawn: Floats, observed: float) -> int:
    """Number of drawn statistics at least as far from 0 as the observed one, allowing for rounding."""
    return int((np.abs(drawn) >= abs(observed) - 1e-12 * max(1.0, abs(observed))).sum())


def correct_with_excess(contrasts: Sequence[Any], correction: str) -> tuple[Any, ...]:
    """Contrasts with adjusted p-values; differences and excesses over a reference are one family."""
    ps = adjusted([p for contrast in contrasts for p in (contrast.p, contrast.excess_p)], correction)
    return tuple(
        replace(contrast, p_adjusted=float(p), excess_p_adjusted=float(excess_p))
        for contrast, p, excess_p in zip(contrasts, ps[::2], ps[1::2], strict=True)
    )
