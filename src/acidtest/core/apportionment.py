"""Whole numbers in given proportions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Whole = npt.NDArray[np.int64]


def apportioned(total: int, shares: npt.ArrayLike, *, most: npt.ArrayLike | None = None) -> Whole:
    """How ``total`` things divide by ``shares``, by largest remainder; ties go to the first.

    No part exceeds its ``most``: what one cannot take goes to the others in proportion. When all are
    full the parts add up to less than ``total``.
    """
    share = np.asarray(shares, dtype=np.float64)
    limit = np.full(share.shape, total) if most is None else np.asarray(most, dtype=np.int64)
    parts = np.zeros(share.shape, dtype=np.int64)
    free = (share > 0) & (limit > 0)
    left = min(total, int(limit[share > 0].sum()))
    while left and free.any():
        fair = np.where(free, share, 0) / share[free].sum() * left
        step = np.minimum(_rounded(fair, left), limit - parts)
        parts += step
        left -= int(step.sum())
        free &= parts < limit
    return parts


def _rounded(fair: npt.NDArray[np.float64], total: int) -> Whole:
    whole = np.floor(fair + 1e-9).astype(np.int64)
    order = np.argsort(-(fair - whole), kind="stable")
    whole[order[: max(total - int(whole.sum()), 0)]] += 1
    return whole
