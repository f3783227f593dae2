"""Agreement of people on the same rows: kappa and Krippendorff's alpha of labels and categories, and overlap of sets.

Kappa is Cohen's for two people and Fleiss' (1971) for any number; if rows have different numbers of labels, it is that
of Fleiss, Levin and Paik (2003), section 18.3, as in Stata's ``kappa``. Alpha is nominal (Krippendorff 2011, Computing
Krippendorff's Alpha-Reliability), or with distances between whole sets. Both are one minus the ratio of disagreement
within rows to that expected by chance; rows with fewer than two labels are left out.

The standard error of Fleiss, Nee and Landis (1979) holds only where people agree by chance, so it gives no interval
(Gwet 2021). Intervals here are those of ``jackknife``: the best of nine compared (docs/results/statistics.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from acidtest.core.estimate import Estimate
from acidtest.stats.intervals import rate
from acidtest.stats.jackknife import Floats, Replicates, group_sums, jackknifed, replicates
from acidtest.stats.resampling import Labels, Values

Names = npt.NDArray[np.generic]
Booleans = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]
Distance = Literal["masi", "jaccard"]
Coefficient = Literal["kappa", "alpha"]

NO_ROWS = "no row with two labels or more"
_ONE_LABEL = "everybody gave the same label: chance alone agrees"


def cohen_kappa(first: Sequence[str] | Names, second: Sequence[str] | Names, *, groups: Labels = None) -> Estimate:
    """Agreement beyond chance of two people who classified the same things, from -1 to 1; 0 is chance.

    The interval is the large-sample one of Fleiss, Cohen and Everitt (1969); with ``groups``, a code for each thing,
    the jackknife's over these. NaN with a note if there are no things, or if both people gave all of them the same
    category, so that chance alone agrees. If one of them gave all the same category, kappa is 0 whatever the other
    one did: no interval.
    """
    from scipy.special import ndtri

    n = len(first)
    if n == 0:
        return Estimate(math.nan, note="nothing that both decided on")
    names, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    one, other = np.eye(len(names))[codes[:n]], np.eye(len(names))[codes[n:]]
    constant = [person for person, given in (("first", one), ("second", other)) if (given.sum(axis=0) == n).any()]
    if len(names) > 1 and constant:
        note = f"the {constant[0]} gave every row the same category: kappa is 0 whatever the other does, no interval"
        if len(constant) > 1:
            note = "each gave every row one category, and not the same: no interval"
        return Estimate(0.0, n=n, groups=n if groups is None else len(np.unique(groups)), note=note)
    if groups is not None and len(names) > 1:
        columns = np.concatenate([np.ones((n, 1)), one * other, one, other], axis=1)
        return jackknifed(replicates(group_sums(columns, groups), _cohen, rows=n), undefined="")
    shares = one.T @ other / n
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed, expected = float(np.trace(shares)), float(rows @ columns)
    if math.isclose(expected, 1):
        return Estimate(math.nan, n=n, groups=n, note=f"both gave every row the category {names[0]}")
    value = (observed - expected) / (1 - expected)
    if math.isclose(observed, 1):
        return Estimate(1.0, n=n, groups=n, note="they agree on every row: no interval")
    diagonal = np.diag(shares) @ (1 - (rows + columns) * (1 - value)) ** 2
    others = shares - np.diag(np.diag(shares))
    beside = (1 - value) ** 2 * (others * (columns[:, None] + rows[None, :]) ** 2).sum()
    variance = (diagonal + beside - (value - expected * (1 - value)) ** 2) / (n * (1 - expected) ** 2)
    if variance < 1e-24:
        return Estimate(value, n=n, groups=n, note="all rows are alike: no interval")
    reach = float(-ndtri(0.025)) * math.sqrt(float(variance))
    method = "large-sample interval (Fleiss, Cohen and Everitt 1969)"
    return Estimate(value, max(value - reach, -1.0), min(value + reach, 1.0), n, n, method)


def fleiss_kappa(counts: Values, *, groups: Labels = None) -> Estimate:
    """Agreement beyond chance, at most 1; 0 is chance. ``counts``: how many people gave each row each label.

    No rows, or one label for all: NaN with a note.
    """
    return _overall("kappa", counts, groups)


def krippendorff_alpha(counts: Values, *, groups: Labels = None) -> Estimate:
    """Nominal alpha of labels, at most 1; 0 is chance. ``counts``: how many people gave each row each label."""
    return _overall("alpha", counts, groups)


def label_kappas(counts: Values, *, people: Labels = None, groups: Labels = None) -> list[Estimate]:
    """The kappa of each label against all others taken together.

    With ``people`` (how many judged each row) columns are categories, of which a person may have marked several or
    none: the kappa of each is that of having marked it. There is no interval if no row has two people who gave the
    label, or no row has two who did not: rows then differ too little.
    """
    return _by_label("kappa", counts, people, groups)


def category_alphas(counts: Values, *, people: Values, groups: Labels = None) -> list[Estimate]:
    """The nominal alpha of having marked each category; ``people``: how many judged each row."""
    return _by_label("alpha", counts, people, groups)


def mean_kappa(counts: Values, *, people: Values, groups: Labels = None) -> Estimate:
    """The mean of the kappas of categories (see ``label_kappas``), over those that have one."""
    return _mean("kappa", counts, people, groups)


def mean_alpha(counts: Values, *, people: Values, groups: Labels = None) -> Estimate:
    """The mean of the alphas of categories, over those that have one."""
    return _mean("alpha", counts, people, groups)


def without_interval(estimate: Estimate) -> Estimate:
    """The estimate without its interval, for a label that no two people gave on one row.

    Nearly all rows are then alike, and the jackknife variance is a fraction of the true one: in simulation its
    intervals never covered the true value.
    """
    if math.isnan(estimate.low):
        return estimate
    note = "no two people agree on it where they could: no interval"
    return Estimate(estimate.value, n=estimate.n, groups=estimate.groups, note=note)


@dataclass(frozen=True)
class SetOverlap:
    """Intersection over union, and the number of rows without one since nobody marked anything."""

    iou: Estimate
    empty: int


def intersection_over_union(
    marked: Booleans, rows: Codes, *, groups: Codes | None = None, draws_seed: int = 0
) -> SetOverlap:
    """Categories that two people both marked, of those that either did: a mean over rows (Joshi et al. 2020).

    ``marked`` and ``rows`` have the categories and the row of each judgement by one person, ``groups`` a code for each
    row. With more than two people a row's value is the mean over pairs of them. Where both marked nothing it is 0/0:
    such pairs, and rows that have no other, are left out.
    """
    first, second = pairs_within(rows)
    both = (marked[first] & marked[second]).sum(axis=1)
    either = (marked[first] | marked[second]).sum(axis=1)
    filled = either > 0
    paired, row_of = np.unique(rows[first], return_inverse=True)
    pairs = np.bincount(row_of[filled], minlength=len(paired))
    shares = np.bincount(row_of[filled], both[filled] / either[filled], minlength=len(paired))
    used = pairs > 0
    if not used.any():
        note = "nobody marked anything where two people looked: 0/0" if len(paired) else NO_ROWS
        return SetOverlap(Estimate(math.nan, note=note), len(paired))
    row_groups = None if groups is None else groups[paired[used]]
    iou = rate(shares[used] / pairs[used], groups=row_groups, draws_seed=draws_seed)
    return SetOverlap(iou, int((~used).sum()))


def set_alpha(marked: Booleans, rows: Codes, *, distance: Distance, groups: Codes | None = None) -> Estimate:
    """Krippendorff's alpha of whole sets, disagreement measured by MASI (Passonneau 2006) or Jaccard's distance.

    Arguments as for ``intersection_over_union``. Two empty sets are the same.
    """
    people_of_row = np.bincount(rows)[rows] if len(rows) else np.zeros(0, dtype=np.int64)
    kept = people_of_row > 1
    if not kept.any():
        return Estimate(math.nan, note=NO_ROWS)
    rows, people_of_row = rows[kept], people_of_row[kept]
    names, sets = np.unique(marked[kept], axis=0, return_inverse=True)
    sets = sets.reshape(-1)
    apart = set_distances(names, distance)
    codes = np.unique(rows if groups is None else groups[rows], return_inverse=True)[1]
    first, second = pairs_within(rows)
    differences = 2 * apart[sets[first], sets[second]] / (people_of_row[first] - 1)
    observed = np.bincount(codes[first], differences, minlength=codes.max() + 1)
    beside, other = pairs_within(codes)
    within = np.bincount(codes[beside], 2 * apart[sets[beside], sets[other]], minlength=codes.max() + 1)
    # The expected disagreement is a sum over all pairs of judgements. Leaving a group out removes the pairs with it;
    # pairs within it are then subtracted twice and have to be added back.
    chance = apart @ np.bincount(sets, minlength=len(names))
    expected, people = float(chance[sets].sum()), np.bincount(codes)
    rest = expected - 2 * np.bincount(codes, chance[sets]) + within
    without = _alphas(observed.sum() - observed, rest, len(rows) - people)
    value = _alphas(observed.sum()[None], np.array([expected]), np.array([len(rows)]))
    estimates = Replicates(float(value[0]), without, len(np.unique(rows)))
    return jackknifed(estimates, undefined="everybody marked the same: chance alone agrees")


def set_distances(sets: Booleans, distance: Distance) -> Floats:
    """The distance of every two sets, from 0 for equal sets to 1 for sets with nothing in common."""
    members = sets.astype(np.float64)
    sizes, both = members.sum(axis=1), members @ members.T
    either = sizes[:, None] + sizes[None, :] - both
    alike = np.where(either > 0, both / np.maximum(either, 1), 1.0)
    if distance == "jaccard":
        return np.asarray(1 - alike)
    smaller, larger = np.minimum(sizes[:, None], sizes), np.maximum(sizes[:, None], sizes)
    # MASI weighs equal sets by 1, a set within another by 2/3, sets that overlap by 1/3.
    kinds = [both == larger, (both == smaller) & (both > 0), both > 0]
    return np.asarray(1 - alike * np.select(kinds, [1.0, 2 / 3, 1 / 3], 0.0))


def pairs_within(codes: Codes) -> tuple[Codes, Codes]:
    """The indices of every two judgements with the same code."""
    order = np.argsort(codes, kind="stable")
    ordered, firsts, seconds = codes[order], [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for step in range(1, len(codes)):
        same = np.flatnonzero(ordered[step:] == ordered[:-step])
        if not same.size:
            break
        firsts.append(order[same])
        seconds.append(order[same + step])
    return np.concatenate(firsts), np.concatenate(seconds)


def _overall(kind: Coefficient, counts: Values, groups: Labels) -> Estimate:
    sums, rows = _rating_sums(kind, counts, None, groups)
    if not rows:
        return Estimate(math.nan, note=NO_ROWS)
    estimates = replicates(sums, lambda table: _coefficients(kind, table, together=True)[:, 0], rows=rows)
    return jackknifed(estimates, undefined=_ONE_LABEL)


def _by_label(kind: Coefficient, counts: Values, people: Labels, groups: Labels) -> list[Estimate]:
    table = np.asarray(counts, dtype=np.int64)
    sums, rows = _rating_sums(kind, table, people, groups)
    if not rows:
        return [Estimate(math.nan, note=NO_ROWS)] * table.shape[1]
    others = (table.sum(axis=1) if people is None else np.asarray(people, dtype=np.int64))[:, None] - table
    given_together = np.asarray((table >= 2).any(axis=0) & (others >= 2).any(axis=0))
    always = _ONE_LABEL if people is None else "everybody marked it on every row: chance alone agrees"
    never = "nobody gave this label" if people is None else "nobody marked it"
    whole = sums.sum(axis=0)
    values, without = _coefficients(kind, whole[None])[0], _coefficients(kind, whole - sums)
    estimates = list[Estimate]()
    for label, value in enumerate(values):
        undefined = always if whole[2 + label] else never
        estimate = jackknifed(Replicates(float(value), without[:, label], rows), undefined=undefined)
        estimates.append(estimate if given_together[label] else without_interval(estimate))
    return estimates


def _mean(kind: Coefficient, counts: Values, people: Values, groups: Labels) -> Estimate:
    def mean_of_known(table: Floats) -> Floats:
        values = _coefficients(kind, table)
        known = ~np.isnan(values)
        total = np.where(known, values, 0.0).sum(axis=1)
        return np.where(known.any(axis=1), total / np.maximum(known.sum(axis=1), 1), np.nan)

    sums, rows = _rating_sums(kind, counts, people, groups)
    if not rows:
        return Estimate(math.nan, note=NO_ROWS)
    undefined = f"no category has {'a kappa' if kind == 'kappa' else 'an alpha'}"
    return jackknifed(replicates(sums, mean_of_known, rows=rows), undefined=undefined)


def _rating_sums(kind: Coefficient, counts: Values, people: Labels, groups: Labels) -> tuple[Floats, int]:
    """The sums that a coefficient is computed from, a row for each group, and the number of rows with two people.

    The columns are the number of people, that of people beyond one per row, then for every label how often it was
    given, and last the sum of x(m - x) over m (kappa) or m - 1 (alpha), where x of the m people of a row gave it.
    """
    table = np.asarray(counts, dtype=np.float64)
    people_of_row = table.sum(axis=1) if people is None else np.asarray(people, dtype=np.float64)
    rated = people_of_row >= 2
    table, many = table[rated], people_of_row[rated, None]
    apart = table * (many - table) / (many if kind == "kappa" else many - 1)
    columns = np.concatenate([many, many - 1, table, apart], axis=1)
    if not len(table):
        return columns, 0
    return group_sums(columns, None if groups is None else np.asarray(groups)[rated]), len(table)


def _coefficients(kind: Coefficient, sums: Floats, *, together: bool = False) -> Floats:
    """Kappa or alpha of each label for every row of sums, or that of all labels together in one column."""
    labels = (sums.shape[1] - 2) // 2
    people, beyond_one, given, apart = np.split(sums, [1, 2, 2 + labels], axis=1)
    shares = given / np.maximum(people, 1)
    expected = shares * (1 - shares) if kind == "kappa" else given * (people - given)
    if together:
        expected, apart = expected.sum(axis=1, keepdims=True), apart.sum(axis=1, keepdims=True)
    if kind == "alpha":
        return _alphas(apart, expected, people)
    # Rounding may leave a little above 0 when a group is subtracted from sums of fractions.
    defined = (expected > 1e-12) & (beyond_one > 0)
    return np.where(defined, 1 - apart / np.where(defined, beyond_one * expected, 1.0), np.nan)


def _alphas(apart: npt.NDArray[Any], expected: npt.NDArray[Any], people: npt.NDArray[Any]) -> Floats:
    """Alpha from observed and expected disagreement; NaN where chance expects none."""
    defined = expected > 1e-9
    return np.where(defined, 1 - (people - 1) * apart / np.where(defined, expected, 1.0), np.nan)


def _cohen(sums: Floats) -> Floats:
    """Cohen's kappa for rows of sums: things, agreements by label, and each person's counts by label."""
    things, alike, first, second = np.split(sums, [1, *(1 + (sums.shape[1] - 1) // 3 * k for k in (1, 2))], axis=1)
    n = np.maximum(things[:, 0], 1)
    observed, expected = alike.sum(axis=1) / n, (first * second).sum(axis=1) / n**2
    defined = (expected < 1 - 1e-12) & (things[:, 0] > 0)
    return np.where(defined, (observed - expected) / np.where(defined, 1 - expected, 1.0), np.nan)
