"""Trends and differences of cells when rows are alike by premise and by word pair."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm, t

from acidtest.stats.clusters import Clusterings, Effect, trend, weighted_difference


def sets(rng: np.random.Generator, pairs: int, premises: int, per: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Word pairs, each on one step, in premises that pairs share: codes of pairs, codes of premises, steps."""
    pair = np.repeat(np.arange(pairs), per)
    return pair, rng.integers(0, premises, len(pair)), rng.integers(0, 5, pairs)[pair]


def answers(
    rng: np.random.Generator, pair: np.ndarray, premise: np.ndarray, steps: np.ndarray, slope: float
) -> np.ndarray:
    """Right more or less often by pair and by premise, and by step."""
    by_pair, by_premise = rng.normal(size=pair.max() + 1)[pair], rng.normal(size=premise.max() + 1)[premise]
    chance = np.clip(0.6 + 0.18 * by_pair + 0.1 * by_premise + slope * (steps - 2), 0, 1)
    return (rng.random(len(pair)) < chance).astype(np.float64)


def test_independent_rows_get_nearly_cochran_and_armitage() -> None:
    rng = np.random.default_rng(0)
    steps = rng.integers(0, 6, 4000)
    values = (rng.random(4000) < 0.5 + 0.01 * steps).astype(np.float64)
    away, mean = steps - steps.mean(), values.mean()
    # The textbook statistic: the score over its standard deviation when all rows have the same rate.
    z = (away * values).sum() / math.sqrt(mean * (1 - mean) * (away**2).sum())
    found = trend(values, steps, Clusterings.of(np.arange(4000)))
    assert found.p == pytest.approx(2 * norm.sf(abs(z)), rel=0.05)
    # The slope is that of least squares.
    assert found.estimate.value == pytest.approx(np.polyfit(steps, values, 1)[0])


def test_the_variance_by_two_ways_is_that_by_each_less_that_by_both() -> None:
    parts = np.array([1.0, 2.0, -1.0, 3.0])
    both = Clusterings.of(["a", "a", "b", "b"], ["x", "y", "x", "y"])
    # By the first way (3² + 2²) 2/1 = 26, by the second (0² + 5²) 2/1 = 50, by both (1 + 4 + 1 + 9) 4/3 = 20.
    assert both.products(parts, parts).tolist() == pytest.approx([26, 50, 56])
    assert both.products(parts, parts).max() == pytest.approx(56)
    # Where both are the same way, nothing is gained or lost: 26 + 26 - 26.
    assert Clusterings.of(["a", "a", "b", "b"], ["x", "x", "y", "y"]).products(parts, parts).max() == pytest.approx(26)
    assert both.degrees == 1


def test_the_interval_of_a_slope_holds_0_when_the_test_does_not_reject() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        pair, premise, steps = sets(rng, 40, 80, 4)
        found = trend(answers(rng, pair, premise, steps, 0.04), steps, Clusterings.of(premise, pair))
        assert (found.estimate.low <= 0 <= found.estimate.high) == (found.p >= 0.05)


@pytest.mark.parametrize("pairs", [30, 200])
def test_a_simulated_null_is_rejected_in_at_most_five_in_a_hundred(pairs: int) -> None:
    rng = np.random.default_rng(2)
    rejected = naive = 0
    for _ in range(600):
        pair, premise, steps = sets(rng, pairs, 2 * pairs, 12)
        values = answers(rng, pair, premise, steps, 0.0)
        rejected += trend(values, steps, Clusterings.of(premise, pair)).p < 0.05
        naive += trend(values, steps, Clusterings.of(premise)).p < 0.05
    assert rejected / 600 <= 0.07
    # Rows of one premise alone are not what makes them alike: that test would find trends in nothing.
    assert naive / 600 > 0.1


def test_a_planted_trend_is_found_and_its_interval_covers_it() -> None:
    rng = np.random.default_rng(3)
    found, covered = 0, 0
    for _ in range(300):
        pair, premise, steps = sets(rng, 200, 400, 5)
        one = trend(answers(rng, pair, premise, steps, -0.05), steps, Clusterings.of(premise, pair))
        found += one.p < 0.05 and one.estimate.value < 0
        # Chances cut at 0 and 1 make the slope a little flatter than planted.
        covered += one.estimate.low <= -0.049 <= one.estimate.high
    assert found / 300 > 0.9
    assert covered / 300 > 0.92


@pytest.mark.parametrize(
    ("values", "steps", "groups", "note"),
    [
        ([], [], [], "no rows"),
        ([0, 1, 1], [2, 2, 2], [0, 1, 2], "all rows are on one step"),
        ([1, 1, 1], [0, 1, 2], [0, 1, 2], "all rows agree"),
        ([0, 1, 1], [0, 1, 2], [0, 0, 0], "one group only"),
    ],
)
def test_without_anything_to_tell_there_is_no_p(
    values: list[int], steps: list[int], groups: list[int], note: str
) -> None:
    found = trend(values, steps, Clusterings.of(groups, np.arange(len(values))))
    assert math.isnan(found.p)
    assert found.estimate.note == note


def test_too_few_clusters_leave_a_p_but_no_interval() -> None:
    found = trend([0, 1, 1, 0], [0, 1, 2, 3], Clusterings.of([0, 0, 1, 1]))
    assert not math.isnan(found.p)
    assert math.isnan(found.estimate.low)
    assert "too few groups" in found.estimate.note


def test_a_p_is_never_0() -> None:
    steps = np.repeat([0, 1], 5000)
    values = np.where(np.arange(10_000) % 10 == 0, 1 - steps, steps)
    assert trend(values, steps, Clusterings.of(np.arange(10_000))).p == 1e-15


def difference(values: list[int], cells: list[int], weights: list[float]) -> Effect:
    return weighted_difference(values, cells, weights, Clusterings.of(np.arange(len(values))))


def test_a_difference_of_two_cells_is_that_of_their_means() -> None:
    values, cells = [1, 1, 0, 1, 0, 1, 0, 0, 0], [0] * 4 + [1] * 5
    found = difference(values, cells, [1.0, -1.0])
    assert found.estimate.value == pytest.approx(0.75 - 0.2)
    # Variance by hand: ((3 · 0.25² + 0.75²)/4² · 4/3 + (4 · 0.2² + 0.8²)/5² · 5/4) · 9/8; 3 + 4 degrees of freedom.
    sd = math.sqrt(((3 * 0.0625 + 0.5625) / 16 * 4 / 3 + (4 * 0.04 + 0.64) / 25 * 5 / 4) * 9 / 8)
    assert found.p == pytest.approx(2 * t.sf(0.55 / sd, 7))
    assert found.estimate.high == pytest.approx(0.55 + t.ppf(0.975, 7) * sd)


def test_cells_that_all_agree_still_have_room() -> None:
    found = difference([1] * 20 + [1] * 20, [0] * 20 + [1] * 20, [1.0, -1.0])
    # Two cells of 20 with a share of 1/22 unseen: variance 2 · (1/22)(21/22)/20.
    reach = t.ppf(0.975, 38) * math.sqrt(2 * (21 / 22**2) / 20)
    assert (found.estimate.value, found.p) == (0.0, 1.0)
    assert found.estimate.high == pytest.approx(reach)


def test_an_empty_cell_or_one_cluster_has_no_difference() -> None:
    assert difference([1, 0], [0, 0], [1.0, -1.0]).estimate.note == "no rows on one side"
    assert difference([], [], []).estimate.note == "no rows on one side"
    found = weighted_difference([1, 0], [0, 1], [1.0, -1.0], Clusterings.of([0, 0]))
    assert found.estimate.note == "one group only: no interval"


def test_differences_of_many_cells_keep_their_level_and_cover() -> None:
    rng = np.random.default_rng(4)
    weights = np.full(8, 1 / 8)
    rejected = covered = 0
    for _ in range(1500):
        cells = np.repeat(np.arange(16), 40)
        pair = cells * 10 + rng.integers(0, 10, len(cells))
        premise = rng.integers(0, 300, len(cells))
        values = answers(rng, pair, premise, np.full(len(cells), 2), 0.0)
        found = weighted_difference(values, cells, [*weights, *-weights], Clusterings.of(premise, pair))
        rejected += found.p < 0.05
        covered += found.estimate.low <= 0 <= found.estimate.high
    assert rejected / 1500 <= 0.07
    assert covered / 1500 >= 0.93
