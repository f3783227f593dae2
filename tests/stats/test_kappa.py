"""Cohen's kappa in closed form, at its limits, and its interval by another way and in simulation."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from acidtest.stats.agreement import cohen_kappa


def raters(table: list[list[int]]) -> tuple[list[str], list[str]]:
    size = range(len(table))
    pairs = [(f"c{i}", f"c{j}") for i, j in product(size, size) for _ in range(table[i][j])]
    return [first for first, _ in pairs], [second for _, second in pairs]


def kappa(shares: np.ndarray) -> float:
    expected = float(shares.sum(axis=1) @ shares.sum(axis=0))
    return (float(np.trace(shares)) - expected) / (1 - expected)


def test_the_interval_is_that_of_the_delta_method() -> None:
    table = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
    shares = np.array(table) / 100
    # The slope of kappa in each cell by small steps, and the variance of a multinomial: another way to the number.
    step = 1e-6
    slopes = np.zeros_like(shares)
    for cell in np.ndindex(shares.shape):
        moved = shares.copy()
        moved[cell] += step
        slopes[cell] = (kappa(moved) - kappa(shares)) / step
    variance = ((shares * slopes**2).sum() - (shares * slopes).sum() ** 2) / 100
    found = cohen_kappa(*raters(table))
    # Agreement 0.89; chance 0.8 * 0.8 + 0.1 * 0.05 + 0.1 * 0.15 = 0.66.
    assert found.value == pytest.approx((0.89 - 0.66) / 0.34)
    assert (found.high - found.low) / 2 == pytest.approx(1.959964 * math.sqrt(variance), rel=1e-4)
    assert found.n == 100


def test_two_by_two_in_closed_form() -> None:
    # Agreement 35 of 50, chance 0.5 * 0.6 + 0.5 * 0.4: (0.7 - 0.5) / 0.5.
    assert cohen_kappa(*raters([[20, 5], [10, 15]])).value == pytest.approx(0.4)


def test_the_order_of_the_people_does_not_matter() -> None:
    first, second = raters([[20, 5, 1], [10, 15, 0], [3, 3, 9]])
    one, other = cohen_kappa(first, second), cohen_kappa(second, first)
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


def test_people_who_agree_everywhere_have_one_and_no_interval() -> None:
    found = cohen_kappa(["a", "b"], ["a", "b"])
    assert found.value == 1
    assert math.isnan(found.low)
    assert found.note == "they agree on every row: no interval"


def test_what_chance_alone_explains_has_no_kappa() -> None:
    assert cohen_kappa([], []).note == "nothing that both decided on"
    assert cohen_kappa(["a", "a"], ["a", "a"]).note == "both gave every row the category a"


def test_people_who_never_agree_are_below_chance() -> None:
    assert cohen_kappa(["a", "b"] * 20, ["b", "a"] * 20).value == pytest.approx(-1)


@pytest.mark.parametrize("copying", [0.0, 0.5, 0.8])
def test_the_interval_covers_the_true_value(copying: float) -> None:
    # The second person copies the first with this probability and otherwise draws anew from the same shares, which
    # makes it the true kappa.
    rng = np.random.default_rng(7)
    shares = [0.4, 0.3, 0.2, 0.1]
    covered = 0
    for _ in range(400):
        first = rng.choice(list("abcd"), size=100, p=shares)
        second = np.where(rng.random(100) < copying, first, rng.choice(list("abcd"), size=100, p=shares))
        found = cohen_kappa(first.tolist(), second.tolist())
        covered += found.low <= copying <= found.high
    # 95 % of 400, with room for the draws: 4 standard deviations of a count of 400 at 0.95 are 17.
    assert 380 - 17 <= covered <= 380 + 17
