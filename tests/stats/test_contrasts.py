"""Contrasts within cells, every cell weighing the same, with clustered intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from acidtest.core.estimate import Estimate
from acidtest.stats.contrasts import (
    CellContrast,
    Parts,
    contrast_estimate,
    detectable_effect,
    difference_estimate,
    p_above,
    standard_error,
    strongest_contrast,
)

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


def test_a_hundred_cells_are_told_apart() -> None:
    # Codes of 64 to 127 cells are bytes, twice of which once became negative.
    cells = np.repeat(np.arange(100, dtype=np.int8), 2)
    on = np.tile([True, False], 100)
    contrast = CellContrast.between(on, cells, np.ones(200, dtype=np.bool_))
    assert contrast.value(on) == pytest.approx(1)
    assert len(np.unique(contrast.arms)) == 200


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


def test_p_above_is_where_the_interval_would_begin_at_the_limit() -> None:
    # A one-sided p of 0.025 / 9 is that of the limit at which an interval for nine estimates begins.
    estimate = Estimate(0.3, 0.1, 0.5, n=400, groups=40)
    assert p_above(estimate, 0.1, tests=9) == pytest.approx(0.025 / 9)
    assert p_above(estimate, 0.3, tests=9) == pytest.approx(0.5)
    assert p_above(estimate, 0.5, tests=9) == pytest.approx(1 - 0.025 / 9)
    assert math.isnan(p_above(Estimate(math.nan, note="no rows"), 0.1))


def follows(share: float, rng: np.random.Generator, noise: np.ndarray) -> tuple[Parts, np.ndarray]:
    """The effect of a factor on 200 items asked with and without it, which a share of the items follows."""
    on, groups = np.tile([True, False], 200), np.repeat(np.arange(200), 2)
    follow = (rng.random(200) < share)[groups]
    contrast = CellContrast.between(on, np.zeros(400, dtype=np.int64), np.ones(400, dtype=np.bool_))
    return [(1.0, contrast, np.where(follow, on, noise[groups]))], groups


def test_a_difference_of_contrasts_on_the_same_rows_is_paired() -> None:
    rng = np.random.default_rng(3)
    noise = rng.random(200) < 0.5
    (first, groups), (second, _) = follows(0.2, rng, noise), follows(0.6, rng, noise)
    change = difference_estimate(first, second, groups_first=groups, groups_second=groups)
    (_, contrast, before), (_, _, after) = first[0], second[0]
    assert change.value == pytest.approx(contrast.value(after) - contrast.value(before))
    # The clustered standard error by hand: 200 items, each of which adds its own change of the difference.
    changes = (after.astype(int) - before.astype(int)).reshape(200, 2) @ [1, -1]
    error = np.sqrt(((changes - changes.mean()) ** 2).sum() / 199 * 200) / 200
    assert (change.high - change.low) / 2 == pytest.approx(1.972 * error, rel=0.01)
    assert change.groups == 200


def test_a_difference_of_contrasts_on_different_rows_adds_their_variances() -> None:
    rng = np.random.default_rng(4)
    (first, groups), (second, _) = (follows(share, rng, rng.random(200) < 0.5) for share in (0.2, 0.6))
    change = difference_estimate(first, second, groups_first=groups, groups_second=groups + 200)
    apart = [contrast_estimate(parts, groups) for parts in (first, second)]
    reach = [(one.high - one.low) / 2 for one in (*apart, change)]
    # 399 degrees of freedom against 199 each.
    assert reach[2] == pytest.approx(math.hypot(reach[0], reach[1]), rel=0.01)
    assert change.groups == 400


def test_a_column_differs_from_itself_by_exactly_nothing() -> None:
    first, groups = follows(0.5, np.random.default_rng(5), np.zeros(200, dtype=np.bool_))
    change = difference_estimate(first, first, groups_first=groups, groups_second=groups)
    assert change.value == 0
    assert math.copysign(1, change.value) == 1
    assert 0 < change.high < 0.03


def test_many_small_cells_are_told_apart() -> None:
    # 100 cells fit one byte, but twice their number does not.
    cells = np.repeat(np.arange(0, 300, 3), 2)
    on = np.tile([True, False], 100)
    contrast = CellContrast.between(on, cells, np.ones(200, dtype=np.bool_))
    assert contrast.value(on) == pytest.approx(1.0)


def test_an_arm_of_one_group_is_measured_from_its_side() -> None:
    # Two rows of one group make a whole arm: measured from their own mean they would seem to vary by nothing.
    contrast = CellContrast(
        rows=np.arange(8), weights=np.array([0.25] * 4 + [-0.25] * 4), arms=np.array([0, 0, 1, 1, 2, 2, 3, 3])
    )
    values = np.array([True, True, False, False, True, False, True, False])
    groups = np.array([0, 0, 1, 1, 2, 3, 4, 5])
    # The first side has mean 0.5, so groups 0 and 1 deviate by ±0.25; those of a shared arm by 0.25 · 0.5 · √2.
    expected = [0.25, -0.25, *(-0.125 * np.sqrt(2) * sign for sign in (1, -1, 1, -1))]
    assert contrast.deviations(values, groups) == pytest.approx(expected)


def test_a_standard_error_can_be_taken_from_any_interval() -> None:
    rng = np.random.default_rng(0)
    on, cells = np.arange(400) % 2 == 0, np.arange(400) // 2 % 20
    contrast = CellContrast.between(on, cells, np.ones(400, dtype=np.bool_))
    parts = [(1.0, contrast, rng.random(400) < 0.5)]
    errors = [
        standard_error(contrast_estimate(parts, np.arange(400), tests=tests), tests=tests) for tests in (1, 28, 500)
    ]
    assert errors == pytest.approx([errors[0]] * 3, rel=1e-6)
    # Two rates of 200 rows: the square root of 2 · 0.25 / 200.
    assert errors[0] == pytest.approx(0.05, rel=0.05)
    assert np.isnan(standard_error(Estimate(np.nan, note="nothing")))


def test_a_detectable_effect_grows_with_noise_and_shrinks_with_rows() -> None:
    def detectable(rows: int, rate: float) -> float:
        rng = np.random.default_rng(1)
        on, cells = np.arange(rows) % 2 == 0, np.arange(rows) // 2 % 10
        contrast = CellContrast.between(on, cells, np.ones(rows, dtype=np.bool_))
        values = rng.random(rows) < rate
        estimate = contrast_estimate([(1.0, contrast, values)], np.arange(rows), tests=10)
        return detectable_effect(contrast, values, estimate, limit=0.1, power=0.8, tests=10)

    assert 0.1 < detectable(4000, 0.0) < detectable(4000, 0.3) < detectable(400, 0.3) <= 1


def _crossed(rng: np.random.Generator, groups: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows of a design of three signs: cells, groups, main effects by cell, and products by cell."""
    signs = np.array([[1 - 2 * (cell >> bit & 1) for bit in range(3)] for cell in range(8)], dtype=np.float64)
    cells = rng.integers(0, 8, 12 * groups)
    mains = np.column_stack([np.ones(8), signs])
    products = np.column_stack([signs[:, 0] * signs[:, 1], signs[:, 0] * signs[:, 2], signs.prod(axis=1)])
    return cells, np.repeat(np.arange(groups), 12), mains, products


def test_the_strongest_of_many_contrasts_is_found() -> None:
    rng = np.random.default_rng(0)
    cells, groups, mains, products = _crossed(rng)
    share = 0.5 + 0.3 * products[cells, 1] + 0.2 * mains[cells, 1]
    found = strongest_contrast(rng.random(len(cells)) < share, cells, groups, mains=mains, contrasts=products)
    assert found is not None
    assert (found.place, found.tests) == (1, 3)
    assert found.value == pytest.approx(0.6, abs=0.1)
    interval = found.estimate(found.tests)
    assert interval.low < 0.6 < interval.high


def test_the_strongest_contrast_rejects_a_true_null_in_few_draws() -> None:
    rejected = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        cells, groups, mains, products = _crossed(rng)
        # Groups differ, and a main effect is there: neither is a combination.
        share = 0.3 + 0.2 * rng.random(60)[groups] + 0.2 * mains[cells, 2]
        found = strongest_contrast(rng.random(len(cells)) < share, cells, groups, mains=mains, contrasts=products)
        assert found is not None
        rejected += found.p * found.tests < 0.05
    assert rejected <= 24  # 5 % of 300, and two and a half standard errors


def test_nothing_is_tested_that_cannot_be_told_from_main_effects() -> None:
    rng = np.random.default_rng(0)
    cells, groups, mains, products = _crossed(rng)
    values = rng.random(len(cells)) < 0.5
    assert strongest_contrast(values, cells, groups, mains=np.eye(8), contrasts=products) is None
    assert strongest_contrast(values, cells, groups * 0, mains=mains, contrasts=products) is None


def test_a_contrast_that_one_group_decides_is_not_tested() -> None:
    signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]], dtype=np.float64)
    mains, products = np.column_stack([np.ones(4), signs]), signs.prod(axis=1)[:, None]
    # Group 0 alone has rows in all four cells; the others are in one cell each, which the main effects fit exactly.
    alone = np.repeat([0, 1, 2, 3], [30, 1, 1, 1])
    cells = np.concatenate([np.tile([0, 1, 2, 3], 8)[:30], [0, 1, 2]])
    for values in (signs.prod(axis=1)[cells] > 0, signs[cells, 0] > 0, np.zeros(33, dtype=np.bool_)):
        assert strongest_contrast(values, cells, alone, mains=mains, contrasts=products) is None


def test_no_rows_give_no_contrast() -> None:
    _, _, mains, products = _crossed(np.random.default_rng(0))
    nothing = np.zeros(0, dtype=np.int64)
    assert strongest_contrast(nothing > 0, nothing, nothing, mains=mains, contrasts=products) is None
    assert strongest_contrast(nothing > 0, nothing, nothing, mains=mains[:0], contrasts=products[:0]) is None


@pytest.mark.parametrize("value", [False, True])
def test_constant_values_have_no_strongest_contrast_to_speak_of(value: bool) -> None:
    cells, groups, mains, products = _crossed(np.random.default_rng(0))
    found = strongest_contrast(np.full(len(cells), value), cells, groups, mains=mains, contrasts=products)
    assert found is not None
    assert found.value == pytest.approx(0, abs=1e-12)
    assert found.p * found.tests >= 1
    assert found.estimate(found.tests).low < 0 < found.estimate(found.tests).high


@pytest.mark.parametrize("groups", [1, 2])
def test_one_or_two_groups_give_no_contrast(groups: int) -> None:
    cells, numbers, mains, products = _crossed(np.random.default_rng(0))
    values = products[cells, 0] > 0
    assert strongest_contrast(values, cells, numbers % groups, mains=mains, contrasts=products) is None
