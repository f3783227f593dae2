"""Cohen's kappa: how much more two people agree than their habits alone would make them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from acidtest.core.estimate import Estimate


def cohen_kappa(first: Sequence[str], second: Sequence[str], *, confidence: float = 0.95) -> Estimate:
    """Agreement beyond chance of two people who sorted the same things, from -1 to 1; 0 is chance.

    The interval is the large-sample one of Fleiss, Cohen and Everitt (1969). No things, or one category for all of them
    from both people, where chance alone agrees: NaN with a note.
    """
    n = len(first)
    if n == 0:
        return Estimate(math.nan, note="nothing that both decided on")
    names, codes = np.unique([*first, *second], return_inverse=True)
    shares = np.zeros((len(names), len(names)))
    np.add.at(shares, (codes[:n], codes[n:]), 1 / n)
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
