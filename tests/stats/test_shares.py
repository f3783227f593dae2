"""Shares among errors on two sides: closed forms, corners, coverage and a true null."""

from __future__ import annotations

import math

import numpy as np
import pytest

from acidtest.stats import resampling
from acidtest.stats.clusters import share_difference, share_test
from acidtest.stats.intervals import Counted, rate, unpaired_difference


def side(*counts: tuple[str, int]) -> Counted:
    """Rows in order: ``k`` an error of the kind, ``e`` another error, ``-`` none."""
    marks = np.array([mark for mark, count in counts for _ in range(count)])
    return Counted(marks != "-", marks == "k")


def ids(rows: int) -> np.ndarray:
    return np.arange(rows)


def difference(first: Counted, second: Counted, groups: np.ndarray | None = None):
    groups = ids(len(first.counted)) if groups is None else groups
    shares = [side.estimate(groups, np.zeros_like(groups)) for side in (first, second)]
    return share_difference(first, second, shares, groups=groups)


def test_the_difference_is_that_of_the_two_shares():
    found = difference(side(("k", 30), ("e", 10), ("-", 60)), side(("-", 60), ("k", 10), ("e", 30)))
    assert found.value == pytest.approx(30 / 40 - 10 / 40)
    assert (found.n, found.groups) == (80, 80)


def test_errors_in_different_rows_get_at_least_newcombes_interval():
    # Disjoint rows do not hang together: without correlation MOVER is Newcombe's hybrid of two Wilson intervals.
    first, second = side(("k", 30), ("e", 10), ("-", 40)), side(("-", 40), ("k", 10), ("e", 30))
    found = difference(first, second)
    newcombe = unpaired_difference([1] * 30 + [0] * 10, [1] * 10 + [0] * 30)
    assert found.low <= newcombe.low + 1e-12
    assert found.high >= newcombe.high - 1e-12
    # The t interval on contributions: squares 2 * 40 * p(1 - p) / 40 ** 2 with p of 3/4 and 1/4, 80 groups.
    reach = 1.990450 * math.sqrt(2 * 0.1875 / 40 * 80 / 79)
    assert found.high - found.value == pytest.approx(max(newcombe.high - newcombe.value, reach), abs=1e-6)


def test_the_same_errors_on_both_sides_leave_little_room():
    # Wilson's interval is lopsided, so even a correlation of 1 leaves the difference of its two arms.
    same = side(("k", 12), ("e", 28), ("-", 10))
    found = difference(same, same)
    alone = rate([1] * 12 + [0] * 28)
    assert found.value == 0
    assert found.high == -found.low == pytest.approx(abs((alone.high - alone.value) - (alone.value - alone.low)))


def test_a_side_whose_errors_are_all_of_the_kind_is_not_taken_for_certain():
    found = difference(side(("k", 10), ("-", 90)), side(("e", 10), ("-", 90)))
    # Clopper and Pearson's 0.025 ** (1 / 10) on either side; the correlation of constants counts as none.
    assert (found.value, found.high) == (1, 1)
    assert found.low == pytest.approx(1 - math.sqrt(2) * (1 - 0.025 ** (1 / 10)))


def test_without_errors_on_one_side_there_is_neither_difference_nor_test():
    none, some = side(("-", 5)), side(("k", 2), ("e", 3))
    assert not difference(none, some).known
    assert difference(none, some).note == "no errors on one side"
    test = share_test(some, none, groups=ids(5))
    assert math.isnan(test.p)
    assert test.note == "no errors on one side"


def test_one_group_has_a_difference_and_no_interval():
    groups = np.zeros(5, dtype=np.int64)
    found = difference(side(("k", 2), ("e", 3)), side(("k", 1), ("e", 4)), groups)
    assert found.value == pytest.approx(0.2)
    assert math.isnan(found.low)
    assert found.note == "one group only: no interval"
    assert share_test(side(("k", 2), ("e", 3)), side(("k", 1), ("e", 4)), groups=groups).p == 1


def test_identical_answers_have_p_one():
    same = side(("k", 12), ("e", 28), ("-", 10))
    assert share_test(same, same, groups=ids(50)).p == 1


def test_a_single_error_on_both_sides_is_no_division_by_nothing():
    lone = side(("k", 1), ("-", 3))
    assert difference(lone, lone).value == 0


def test_the_statistic_is_the_difference_of_shares():
    first, second = side(("k", 30), ("e", 10), ("-", 60)), side(("-", 50), ("k", 10), ("e", 30), ("-", 10))
    assert share_test(first, second, groups=ids(100)).statistic == pytest.approx(0.5)


def drawn(rng: np.random.Generator, shares: tuple[float, float], rates: tuple[float, float], groups: int):
    """Groups of two rows that err alike; 60 % of what decides a row is the same on both sides."""
    codes = np.repeat(np.arange(groups), 2)

    def chances() -> np.ndarray:
        alike = np.repeat(rng.random(groups) < 0.5, 2)
        return np.where(alike, np.repeat(rng.random(groups), 2), rng.random(2 * groups))

    error, kind, same = chances(), chances(), rng.random(2 * groups) < 0.6
    sides = []
    for share, wrong in zip(shares, rates, strict=True):
        counted = np.where(same, error, chances()) < wrong
        sides.append(Counted(counted, counted & (np.where(same, kind, chances()) < share)))
    return sides[0], sides[1], codes


@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.6, 0.15)])
def test_a_true_null_is_rejected_in_about_five_per_cent_even_where_one_side_errs_far_less(rates):
    rng = np.random.default_rng(0)
    ps = []
    for number in range(400):
        first, second, codes = drawn(rng, (0.4, 0.4), rates, 100)
        ps.append(share_test(first, second, groups=codes, draws_seed=number, resamples=499).p)
    # Binomial(400, 0.05): 0.975 quantile 29.
    assert sum(p < 0.05 for p in ps) <= 29


def test_a_planted_effect_is_found_and_the_interval_covers_it():
    rng = np.random.default_rng(1)
    rejected = covered = 0
    for number in range(150):
        first, second, codes = drawn(rng, (0.7, 0.35), (0.5, 0.3), 100)
        rejected += share_test(first, second, groups=codes, draws_seed=number, resamples=499).p < 0.05
        found = difference(first, second, codes)
        covered += found.low <= 0.35 <= found.high
    assert rejected >= 145
    # Binomial(150, 0.95): 0.01 quantile 136.
    assert covered >= 136


def test_the_interval_covers_where_the_two_shares_hang_closely_together():
    # All errors of before remain, and more of another kind join them: MOVER alone covers 90 % here, one-sidedly.
    rng = np.random.default_rng(2)
    truth = 0.14 * 0.22 / (0.22 + 0.78 * 0.13) - 0.14
    covered = 0
    for _ in range(300):
        before, kind = rng.random(600) < 0.22, rng.random(600) < 0.14
        after = before | (rng.random(600) < 0.13)
        found = difference(Counted(after, before & kind), Counted(before, before & kind))
        covered += found.low <= truth <= found.high
    assert covered >= 278  # Binomial(300, 0.95): 0.02 quantile 277.


def test_groups_looked_at_in_blocks_give_the_same(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(0)
    first, second = (Counted(wrong, wrong & (rng.random(400) < 0.6)) for wrong in rng.random((2, 400)) < 0.5)
    groups = rng.integers(0, 150, 400)
    change, test = difference(first, second, groups), share_test(first, second, groups=groups)
    monkeypatch.setattr(resampling, "_BLOCK", 16)
    again = difference(first, second, groups)
    assert (again.value, again.low, again.high) == pytest.approx((change.value, change.low, change.high), rel=1e-12)
    assert share_test(first, second, groups=groups).p == test.p
