"""The minimiser, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from acidtest.studies.scoring.pair_batches import Floats
from acidtest.studies.scoring.partial_input import minimise


def test_the_least_of_a_long_valley_is_found() -> None:
    stretch = np.geomspace(1, 1000, 20)
    target = np.linspace(-3, 3, 20)

    def loss(place: Floats) -> tuple[float, Floats]:
        return float((stretch * (place - target) ** 2).sum() / 2), stretch * (place - target)

    found = minimise(loss, np.zeros(20), iterations=200, tolerance=0.0)
    assert found == pytest.approx(target, abs=1e-4)


def test_a_start_at_the_minimum_stays_there() -> None:
    found = minimise(lambda place: (float((place**2).sum()), 2 * place), np.zeros(3), iterations=10)
    assert found.tolist() == [0, 0, 0]


def test_the_offset_of_a_regression_without_words_is_the_log_odds() -> None:
    def loss(place: Floats) -> tuple[float, Floats]:
        """Thirty of forty are right."""
        chance = 1 / (1 + np.exp(-place))
        return float(-30 * np.log(chance).sum() - 10 * np.log(1 - chance).sum()), 40 * chance - 30

    assert minimise(loss, np.zeros(1), iterations=50, tolerance=0.0)[0] == pytest.approx(np.log(3), abs=1e-6)
