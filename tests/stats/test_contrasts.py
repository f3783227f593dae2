"""Contrasts within cells, every cell weighing the same, with clustered intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from acidtest.stats.contrasts import CellContrast, contrast_estimate

EVERYTHING = np.ones(6, dtype=np.bool_)


def test_every_cell_weighs_the_same_whatever_its_size() -> None:
    on = np.array([True, True, True, False, True, False])
    cells = np.array([0, 0, 0, 0, 1, 1])
    values = np.array([True, True, False, False, False, True])
    # Cell 0: 2/3 − 0; cell 1: 0 − 1.
    assert CellContrast.between(on, cells, EVERYTHING).value(values) == pytest.approx((2 / 3 - 1) / 2)


def test_cells_can_weigh_as_much_as_their_smaller_side() -> None:
    on = np.array([True, True, False, False, True, False])
    cells = np.array([0, 0, 0, 0, 1, 1])
    values = np.array([True, True, False, False, False, True])
    assert CellContrast.between(on, cells, EVERYTHING, by_size=True).value(values) == pytest.approx((2 * 1 - 1) / 3)


def test_a_cell_without_one_side_takes_no_part() -> None:
    on = np.array([True, False, True, True, True, True])
    contrast = CellContrast.between(on, np.array([0, 0, 1, 1, 1, 1]), EVERYTHING)
    assert contrast.rows.tolist() == [0, 1]


def test_no_cell_with_both_sides_gives_no_number() -> None:
    contrast = CellContrast.between(EVERYTHING, np.zeros(6, dtype=np.int64), EVERYTHING)
    estimate = contrast_estimate([(1.0, contrast, EVERYTHING)], np.arange(6))
    assert not estimate.known
    assert estimate.note


def test_agreement_of_all_groups_is_no_certainty() -> None:
    on = np.tile([True, False], 20)
    contrast = CellContrast.between(on, np.zeros(40, dtype=np.int64), np.ones(40, dtype=np.bool_))
    estimate = contrast_estimate([(1.0, contrast, on)], np.arange(40) // 2)
    assert estimate.value == 1
    assert 0.75 < estimate.low < 0.95
    assert estimate.high == 1


def test_intervals_cover_the_truth_where_groups_answer_alike() -> None:
    """20 items of 8 rows: an item's own habit is added to an effect of 0.3."""
    rng, covered, draws = np.random.default_rng(0), 0, 300
    groups = np.repeat(np.arange(20), 8)
    on = np.tile([True, False], 80)
    everything, cells = np.ones(160, dtype=np.bool_), np.zeros(160, dtype=np.int64)
    contrast = CellContrast.between(on, cells, everything)
    for _ in range(draws):
        habit = rng.uniform(0, 0.6, 20)[groups]
        values = rng.random(160) < habit + 0.3 * on
        estimate = contrast_estimate([(1.0, contrast, values)], groups)
        covered += estimate.low <= 0.3 <= estimate.high
    assert 0.92 < covered / draws < 0.99


def test_joint_intervals_are_wider() -> None:
    on = np.tile([True, False], 20)
    values = np.random.default_rng(0).random(40) < 0.5
    contrast = CellContrast.between(on, np.zeros(40, dtype=np.int64), np.ones(40, dtype=np.bool_))
    one, ten = (contrast_estimate([(1.0, contrast, values)], np.arange(40), tests=tests) for tests in (1, 10))
    assert ten.low < one.low < one.value < one.high < ten.high
    assert math.isclose(one.value, ten.value)
