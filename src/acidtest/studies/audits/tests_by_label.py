"""Whether a measure differs between labels, where pairs of one premise are one group."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from acidtest.studies.audits.batches import Codes, Floats

FEW_GROUPS = 30
TEST = "score test over premises"


@dataclass(frozen=True)
class LabelTest:
    """A score test of equal means; NaN with a note where there is nothing to test."""

    statistic: float
    p: float
    note: str = ""


def label_test(values: Floats, labels: Codes, groups: Codes) -> LabelTest:
    """Whether the mean of some values is the same for every label.

    What each group adds to the score is one draw, so rows of a group may resemble each other in values and labels as
    much as they like. The variance is that under the hypothesis tested, which keeps the test honest with few groups.
    """
    kinds, codes = np.unique(labels, return_inverse=True)
    count = int(groups.max()) + 1 if groups.size else 0
    if len(kinds) < 2:
        return LabelTest(math.nan, math.nan, "fewer than two labels")
    if count < FEW_GROUPS:
        return LabelTest(math.nan, math.nan, f"fewer than {FEW_GROUPS} premises")
    centred = values - values.mean()
    shares = np.bincount(codes) / len(codes)
    scores = np.zeros((count, len(kinds) - 1))
    for kind in range(len(kinds) - 1):
        scores[:, kind] = np.bincount(groups, ((codes == kind) - shares[kind]) * centred, count)
    return _quadratic(scores)


def _quadratic(scores: Floats) -> LabelTest:
    """The chi-square statistic of group scores whose mean is 0 if the labels do not differ."""
    variance = scores.T @ scores
    total = scores.sum(axis=0)
    scale = float(np.abs(variance).max())
    if scale < 1e-12:
        return LabelTest(0.0, 1.0)
    rank = int(np.linalg.matrix_rank(variance, tol=scale * 1e-10))
    statistic = float(total @ np.linalg.pinv(variance, rcond=1e-10) @ total)
    return LabelTest(statistic, float(chdtrc(rank, max(statistic, 0.0))))
