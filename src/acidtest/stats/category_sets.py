"""Agreement on sets of categories for the same rows: IOU, and Krippendorff's alpha with distances.

The input is a list of judgements, each by one person on one row: the categories marked and the row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from acidtest.core.estimate import Estimate
from acidtest.stats.alpha import alphas
from acidtest.stats.intervals import rate
from acidtest.stats.jackknife import Floats, Replicates, jackknifed
from acidtest.stats.kappa import NO_ROWS

Booleans = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]
Distance = Literal["masi", "jaccard"]

_SUBSET, _OVERLAP = 2 / 3, 1 / 3


@dataclass(frozen=True)
class SetOverlap:
    """Intersection over union, and the number of rows without one since nobody marked anything."""

    iou: Estimate
    empty: int


def intersection_over_union(
    marked: Booleans, rows: Codes, *, groups: Codes | None = None, draws_seed: int = 0
) -> SetOverlap:
    """Categories that two people both marked, of those that either did: a mean over rows (Joshi et al. 2020).

    With more than two people a row's is the mean over pairs of them. Where both marked nothing it is 0/0: such pairs,
    and rows that have no other, are left out. ``groups`` has a code for each row of the file.
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


def set_alpha(
    marked: Booleans, rows: Codes, *, distance: Distance, groups: Codes | None = None, confidence: float = 0.95
) -> Estimate:
    """Krippendorff's alpha of whole sets, disagreement measured by MASI (Passonneau 2006) or Jaccard's distance.

    Two empty sets are the same. Rows with one person are left out.
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
    without = alphas(
        observed.sum() - observed, expected - 2 * np.bincount(codes, chance[sets]) + within, len(rows) - people
    )
    value = alphas(observed.sum()[None], np.array([expected]), np.array([len(rows)]))
    replicates = Replicates(float(value[0]), without, len(np.unique(rows)))
    return jackknifed(replicates, undefined="everybody marked the same: chance alone agrees", confidence=confidence)


def set_distances(sets: Booleans, distance: Distance) -> Floats:
    """The distance of every two sets, from 0 for equal sets to 1 for sets with nothing in common."""
    members = sets.astype(np.float64)
    sizes, both = members.sum(axis=1), members @ members.T
    either = sizes[:, None] + sizes[None, :] - both
    alike = np.where(either > 0, both / np.maximum(either, 1), 1.0)
    if distance == "jaccard":
        return np.asarray(1 - alike)
    smaller, larger = np.minimum(sizes[:, None], sizes), np.maximum(sizes[:, None], sizes)
    kinds = [both == larger, (both == smaller) & (both > 0), both > 0]
    return np.asarray(1 - alike * np.select(kinds, [1.0, _SUBSET, _OVERLAP], 0.0))


def pairs_within(codes: Codes) -> tuple[Codes, Codes]:
    """The indices of every two judgements with the same code."""
    order = np.argsort(codes, kind="stable")
    ordered, firsts, seconds = codes[order], list[Codes](), list[Codes]()
    for step in range(1, len(codes)):
        same = np.flatnonzero(ordered[step:] == ordered[:-step])
        if not same.size:
            break
        firsts.append(order[same])
        seconds.append(order[same + step])
    none = np.zeros(0, dtype=np.int64)
    return np.concatenate([none, *firsts]), np.concatenate([none, *seconds])
