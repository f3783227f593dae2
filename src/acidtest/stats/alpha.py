"""Krippendorff's alpha: one minus the observed disagreement over that expected if labels were assigned at random.

As in Krippendorff (2011), Computing Krippendorff's Alpha-Reliability: nominal, for labels and for single categories
(``category_sets`` has that of whole sets). Any number of people per row; rows with fewer than two are left out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from acidtest.core.estimate import Estimate
from acidtest.stats.jackknife import Floats, group_sums, jackknifed, replicates
from acidtest.stats.kappa import NO_ROWS, given_together, row_means, without_interval


def krippendorff_alpha(
    counts: npt.ArrayLike, *, groups: npt.ArrayLike | None = None, confidence: float = 0.95
) -> Estimate:
    """Nominal alpha of labels, at most 1; 0 is chance. ``counts``: rows × labels, how many people said so."""
    sums, rows = _alpha_sums(counts, None, groups)
    if not rows:
        return Estimate(math.nan, note=NO_ROWS)
    estimates = replicates(sums, lambda table: _alphas(table, together=True)[:, 0], rows=rows)
    return jackknifed(estimates, undefined="everybody gave the same label: chance alone agrees", confidence=confidence)


def category_alphas(
    counts: npt.ArrayLike, *, people: npt.ArrayLike, groups: npt.ArrayLike | None = None, confidence: float = 0.95
) -> list[Estimate]:
    """The nominal alpha of having marked each category; ``people``: how many judged each row."""
    sums, rows = _alpha_sums(counts, people, groups)
    categories = np.asarray(counts).shape[1]
    if not rows:
        return [Estimate(math.nan, note=NO_ROWS)] * categories
    given = sums[:, 1 : 1 + categories].sum(axis=0)
    together = given_together(counts, people)
    estimates = []
    for category in range(categories):
        note = "everybody marked it on every row: chance alone agrees" if given[category] else "nobody marked it"
        values = replicates(sums, lambda table, at=category: _alphas(table)[:, at], rows=rows)  # type: ignore[misc]
        estimate = jackknifed(values, undefined=note, confidence=confidence)
        estimates.append(estimate if together[category] else without_interval(estimate))
    return estimates


def mean_alpha(
    counts: npt.ArrayLike, *, people: npt.ArrayLike, groups: npt.ArrayLike | None = None, confidence: float = 0.95
) -> Estimate:
    """The mean of the alphas of categories, over those that have one."""
    sums, rows = _alpha_sums(counts, people, groups)
    if not rows:
        return Estimate(math.nan, note=NO_ROWS)
    estimates = replicates(sums, lambda table: row_means(_alphas(table)), rows=rows)
    return jackknifed(estimates, undefined="no category has an alpha", confidence=confidence)


def _alpha_sums(
    counts: npt.ArrayLike, people: npt.ArrayLike | None, groups: npt.ArrayLike | None
) -> tuple[Floats, int]:
    """The sums that alpha is computed from, a row for each group, and the number of rows.

    The columns are the number of people, then for every label how often it was given, and the sum of x(m - x)/(m - 1),
    where x of the m people of a row gave it.
    """
    table = np.asarray(counts, dtype=np.float64)
    people_of_row = table.sum(axis=1) if people is None else np.asarray(people, dtype=np.float64)
    rated = people_of_row >= 2
    table, people_of_row = table[rated], people_of_row[rated, None]
    columns = np.concatenate([people_of_row, table, table * (people_of_row - table) / (people_of_row - 1)], axis=1)
    if not rated.any():
        return columns, 0
    return group_sums(columns, None if groups is None else np.asarray(groups)[rated]), len(table)


def _alphas(sums: Floats, *, together: bool = False) -> Floats:
    """The alpha of each label against all others for every row of sums, or that of all labels in one column."""
    labels = (sums.shape[1] - 1) // 2
    people, given, apart = np.split(sums, [1, 1 + labels], axis=1)
    expected = given * (people - given)
    if together:
        expected, apart = expected.sum(axis=1, keepdims=True), apart.sum(axis=1, keepdims=True)
    return alphas(apart, expected, people)


def alphas(apart: npt.NDArray[Any], expected: npt.NDArray[Any], people: npt.NDArray[Any]) -> Floats:
    """Alpha from observed and expected disagreement; NaN where chance expects none."""
    defined = expected > 1e-9
    return np.where(defined, 1 - (people - 1) * apart / np.where(defined, expected, 1.0), np.nan)
