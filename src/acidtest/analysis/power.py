"""How small a difference a number of rows can be expected to show."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

Floats = npt.NDArray[np.float64]


def smallest_detectable_difference(
    n: float,
    *,
    rate: float = 0.5,
    paired: bool = True,
    discordance: float | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
) -> float:
    """The smallest difference between two models' accuracies that n independent rows each would probably show.

    Probably is ``power``, by a two-sided test at ``alpha``, when one model's accuracy is ``rate`` and the other's lies
    on the side of it where there is more room. Paired: McNemar's test on n rows both have answered (Connor 1987),
    ``discordance`` being the share of rows that exactly one of them gets right. When it is not known the two are taken
    to err independently, which is conservative: models mostly stumble over the same rows, and then less suffices.
    Unpaired: the z test of two proportions, n rows for each model.

    NaN with fewer than two rows, or when not even the largest possible difference would show.
    """
    return float(
        smallest_detectable_differences(
            [n], rate=rate, paired=paired, discordance=discordance, alpha=alpha, power=power
        )[0]
    )


def smallest_detectable_differences(
    ns: npt.ArrayLike,
    *,
    rate: float = 0.5,
    paired: bool = True,
    discordance: float | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
) -> Floats:
    """``smallest_detectable_difference`` for each number of rows."""
    rows = np.asarray(ns, dtype=np.float64)
    better = max(rate, 1 - rate)
    largest = better if discordance is None or not paired else min(better, discordance)
    critical, wanted = -float(ndtri(alpha / 2)), float(ndtri(power))

    def surplus(differences: Floats) -> Floats:
        worse = better - differences
        within = better * (1 - better) + worse * (1 - worse)
        if not paired:
            middle = (better + worse) / 2
            null, spread = np.sqrt(2 * middle * (1 - middle)), np.sqrt(within)
        elif discordance is None:
            null, spread = np.sqrt(within + differences**2), np.sqrt(within)
        else:
            null = np.full_like(differences, math.sqrt(discordance))
            spread = np.sqrt(np.maximum(discordance - differences**2, 0))
        return np.asarray(np.sqrt(rows) * differences - critical * null - wanted * spread)

    found = _roots(surplus, rows.shape, largest)
    return np.where(rows < 2, math.nan, found)


def _roots(surplus: Callable[[Floats], Floats], shape: tuple[int, ...], largest: float) -> Floats:
    """Where each surplus turns positive between 0 and the largest, by bisection; NaN where it never does."""
    low, high = np.zeros(shape), np.full(shape, largest)
    reachable = surplus(high) >= 0
    for _ in range(60):
        middle = (low + high) / 2
        enough = surplus(middle) >= 0
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(reachable, high, math.nan)
