"""Kappa, the agreement of people beyond chance: Cohen's for two people, Fleiss' for any number.

Fleiss' is that of Fleiss (1971), overall and by label, and for rows with different numbers of labels that of Fleiss,
Levin and Paik (2003), section 18.3, as in Stata's ``kappa``: one minus the disagreement observed within rows over the
one expected by chance. Rows with fewer than two labels are left out.

The standard error of Fleiss, Nee and Landis (1979) holds only where people agree by chance, so it gives no interval
(Gwet 2021). Intervals here are those of ``jackknife``: the best of nine compared (docs/agreement.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from acidtest.core.estimate import Estimate
from acidtest.stats.jackknife import Floats, group_sums, jackknifed, replicates

NO_ROWS = "no row with two labels or more"


def cohen_kappa(
    first: Sequence[str] | npt.NDArray[np.generic],
    second: Sequence[str] | npt.NDArray[np.generic],
    *,
    groups: npt.ArrayLike | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Agreement beyond chance of two people who sorted the same things, from -1 to 1; 0 is chance.

    The interval is the large-sample one of Fleiss, Cohen and Everitt (1969); with ``groups``, a code for each thing,
    the jackknife's over these. No things, or one category for all of them from both people, where chance alone agrees:
    NaN with a note.
    """
    n = len(first)
    if n == 0:
        return Estimate(math.nan, note="nothing that both decided on")
    names, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    one, other = np.eye(len(names))[codes[:n]], np.eye(len(names))[codes[n:]]
    if groups is not None and len(names) > 1:
        columns = np.concatenate([np.ones((n, 1)), one * other, one, other], axis=1)
        kappas = replicates(group_sums(columns, groups), _cohen, rows=n)
        return jackknifed(kappas, undefined="", confidence=confidence)
    shares = one.T @ other / n
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed, expected = float(np.trace(shares)), float(rows @ columns)
    if math.isclose(expected, 1):
        return Estimate(math.nan, n=n, groups=n, note=f"both gave every row the category {names[0]}")
    value = (observed - expected) / (1 - expected)
    if math.isclose(observed, 1):
        return Estimate(1.0, n=n, groups=n, note="they agree on every row: no interval")
    diagonal = np.diag(shares) @ (1 - (rows + columns) * (1 - value)) ** 2
    others = shares.copy()
    np.fill_diagonal(others, 0)
    beside = (1 - value) ** 2 * (others * (columns[:, None] + rows[None, :]) ** 2).sum()
    variance = (diagonal + beside - (value - expected * (1 - value)) ** 2) / (n * (1 - expected) ** 2)
    reach = float(-ndtri((1 - confidence) / 2)) * math.sqrt(max(float(variance), 0.0))
    method = "large-sample interval (Fleiss, Cohen and Everitt 1969)"
    return Estimate(value, max(value - reach, -1.0), min(value + reach, 1.0), n, n, method)


def fleiss_kappa(counts: npt.ArrayLike, *, groups: npt.ArrayLike | None = None, confidence: float = 0.95) -> Estimate:
    """Agreement beyond chance, at most 1; 0 is chance. ``counts``: rows × labels, how many people said so.

    Rows with fewer than two labels are left out. No rows, or one label for all: NaN with a note.
    """
    sums = _kappa_sums(counts, None, groups)
    if sums is None:
        return Estimate(math.nan, note=NO_ROWS)
    kappas = replicates(sums.sums, lambda table: _kappas(table, together=True)[:, 0], rows=sums.rows)
    return jackknifed(kappas, undefined="everybody gave the same label: chance alone agrees", confidence=confidence)


def label_kappas(
    counts: npt.ArrayLike,
    *,
    people: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    confidence: float = 0.95,
) -> list[Estimate]:
    """The kappa of each label against all others taken together.

    With ``people``, how many judged each row, columns are categories of which each of them may have marked several or
    none: the kappa of each is that of having marked it. There is no interval where no row has two people who gave a
    label, or two who did not: rows then differ too little.
    """
    sums, together = _kappa_sums(counts, people, groups), given_together(counts, people)
    if sums is None:
        return [Estimate(math.nan, note=NO_ROWS)] * np.asarray(counts).shape[1]
    estimates = list[Estimate]()
    for label in range(sums.labels):
        undefined = "everybody gave the same label: chance alone agrees"
        if people is not None:
            undefined = "everybody marked it on every row: chance alone agrees"
        if not sums.given[label]:
            undefined = "nobody gave this label" if people is None else "nobody marked it"
        kappas = replicates(sums.sums, lambda table, at=label: _kappas(table)[:, at], rows=sums.rows)  # type: ignore[misc]
        estimate = jackknifed(kappas, undefined=undefined, confidence=confidence)
        estimates.append(estimate if together[label] else without_interval(estimate))
    return estimates


def mean_kappa(
    counts: npt.ArrayLike, *, people: npt.ArrayLike, groups: npt.ArrayLike | None = None, confidence: float = 0.95
) -> Estimate:
    """The mean of the kappas of categories (see ``label_kappas``), over those that have one."""
    sums = _kappa_sums(counts, people, groups)
    if sums is None:
        return Estimate(math.nan, note=NO_ROWS)
    kappas = replicates(sums.sums, lambda table: row_means(_kappas(table)), rows=sums.rows)
    return jackknifed(kappas, undefined="no category has a kappa", confidence=confidence)


def given_together(counts: npt.ArrayLike, people: npt.ArrayLike | None = None) -> npt.NDArray[np.bool_]:
    """Whether two people gave each label on some row, and on some row two did not."""
    table = np.asarray(counts, dtype=np.int64)
    others = (table.sum(axis=1) if people is None else np.asarray(people, dtype=np.int64))[:, None] - table
    return np.asarray((table >= 2).any(axis=0) & (others >= 2).any(axis=0))


def without_interval(estimate: Estimate) -> Estimate:
    """The estimate of a label that no two people gave on one row.

    Nearly all rows are then alike, and the jackknife variance is a fraction of the true one: in simulation its
    intervals never covered the true value.
    """
    if estimate.low != estimate.low:
        return estimate
    note = "no two people agree on it where they could: no interval"
    return Estimate(estimate.value, n=estimate.n, groups=estimate.groups, note=note)


def row_means(table: Floats) -> Floats:
    """The mean of the known values of each row, NaN where there are none."""
    known = ~np.isnan(table)
    total = np.where(known, table, 0.0).sum(axis=1)
    return np.where(known.any(axis=1), total / np.maximum(known.sum(axis=1), 1), np.nan)


@dataclass(frozen=True)
class _KappaSums:
    """The sums that kappa is computed from, a row for each group.

    The columns are the number of people beyond one per row, the number of people, then for every label how often it
    was given, and last the sum of x(m - x)/m, where x of the m people of a row gave it.
    """

    sums: Floats
    rows: int

    @property
    def labels(self) -> int:
        """The number of labels."""
        return int(self.sums.shape[1] - 2) // 2

    @property
    def given(self) -> Floats:
        """How often each label was given."""
        return np.asarray(self.sums[:, 2 : 2 + self.labels].sum(axis=0))


def _kappa_sums(counts: npt.ArrayLike, people: npt.ArrayLike | None, groups: npt.ArrayLike | None) -> _KappaSums | None:
    table = np.asarray(counts, dtype=np.float64)
    people_of_row = table.sum(axis=1) if people is None else np.asarray(people, dtype=np.float64)
    rated = people_of_row >= 2
    if not rated.any():
        return None
    table, people_of_row = table[rated], people_of_row[rated, None]
    columns = np.concatenate(
        [people_of_row - 1, people_of_row, table, table * (people_of_row - table) / people_of_row], axis=1
    )
    return _KappaSums(group_sums(columns, None if groups is None else np.asarray(groups)[rated]), len(table))


def _kappas(sums: Floats, *, together: bool = False) -> Floats:
    """The kappa of each label for every row of sums, or that of all labels together in one column."""
    labels = (sums.shape[1] - 2) // 2
    beyond_one, people, given, apart = np.split(sums, [1, 2, 2 + labels], axis=1)
    shares = given / np.maximum(people, 1)
    expected = shares * (1 - shares)
    if together:
        expected, apart = expected.sum(axis=1, keepdims=True), apart.sum(axis=1, keepdims=True)
    # Rounding may leave a little above 0 when a group is subtracted from sums of fractions.
    defined = (expected > 1e-12) & (beyond_one > 0)
    return np.where(defined, 1 - apart / np.where(defined, beyond_one * expected, 1.0), np.nan)


def _cohen(sums: Floats) -> Floats:
    """Cohen's kappa for rows of sums: things, things sorted alike by label, and each person's by label."""
    things, alike, first, second = np.split(sums, [1, *(1 + (sums.shape[1] - 1) // 3 * k for k in (1, 2))], axis=1)
    n = np.maximum(things[:, 0], 1)
    observed, expected = alike.sum(axis=1) / n, (first * second).sum(axis=1) / n**2
    defined = (expected < 1 - 1e-12) & (things[:, 0] > 0)
    return np.where(defined, (observed - expected) / np.where(defined, 1 - expected, 1.0), np.nan)
