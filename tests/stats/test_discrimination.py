"""AUC, balanced accuracy and precision, against closed forms and simulated coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest

from acidtest.stats.discrimination import auc, balanced_accuracy, precision


def flags(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.bool_)


def test_auc_is_the_share_of_pairs_in_order_with_ties_as_halves() -> None:
    scores, positive = np.array([0.9, 0.5, 0.5, 0.1, 0.7]), flags(1, 1, 0, 0, 0)
    # Six pairs: 0.9 exceeds all three others; 0.5 ties with one, exceeds one and loses to one.
    assert auc(scores, positive, groups=np.arange(5)).value == pytest.approx((3 + 1.5) / 6)


def test_the_jackknife_of_auc_leaves_out_whole_groups() -> None:
    scores = np.array([0.9, 0.3, 0.8, 0.4, 0.2, 0.6, 0.7, 0.1])
    positive, groups = flags(1, 0, 1, 0, 1, 0, 1, 0), np.array([0, 0, 1, 1, 2, 2, 3, 3])
    estimate = auc(scores, positive, groups=groups)
    without = [
        auc(scores[groups != group], positive[groups != group], groups=groups[groups != group]).value
        for group in range(4)
    ]
    # Jackknife variance, t with Satterthwaite's degrees (here their least, 3), on the logit scale: by hand.
    variance = 3 / 4 * sum((value - np.mean(without)) ** 2 for value in without)
    logit = np.log(estimate.value / (1 - estimate.value))
    reach = 3.182446 * np.sqrt(variance) / (estimate.value * (1 - estimate.value))
    assert estimate.low == pytest.approx(1 / (1 + np.exp(-(logit - reach))), rel=1e-4)
    assert estimate.groups == 4


def test_balanced_accuracy_weighs_both_kinds_alike() -> None:
    called, positive = flags(1, 1, 1, 1, 0, 1), flags(1, 1, 1, 1, 0, 0)
    assert balanced_accuracy(called, positive, groups=np.arange(6)).value == pytest.approx((1 + 0.5) / 2)


def test_precision_at_a_base_rate_follows_from_the_two_rates() -> None:
    called, positive = flags(1, 1, 1, 0, 1, 0, 0, 0), flags(1, 1, 1, 1, 0, 0, 0, 0)
    groups = np.arange(8)
    # 75 % of positive rows and 25 % of others are called positive; one row in ten is not positive.
    supported = precision(called, positive, groups=groups, base_rate=0.1, of=True)
    assert supported.value == pytest.approx(0.9 * 0.75 / (0.9 * 0.75 + 0.1 * 0.25))
    others = precision(called, positive, groups=groups, base_rate=0.1, of=False)
    assert others.value == pytest.approx(0.1 * 0.75 / (0.1 * 0.75 + 0.9 * 0.25))


def test_nothing_wrong_leaves_room_for_what_was_not_sampled() -> None:
    positive, groups = np.tile(flags(1, 0), 20), np.repeat(np.arange(20), 2)
    ranked = auc(positive.astype(float), positive, groups=groups)
    # Clopper–Pearson at 0 of 20: 1 - 0.025 ** (1 / 20).
    assert (ranked.value, ranked.low) == (1, pytest.approx(0.025 ** (1 / 20)))
    balanced = balanced_accuracy(positive, positive, groups=groups)
    # Each side may have that many errors unseen, and balanced accuracy is the mean of two independent sides.
    reach = 1 - 0.025 ** (1 / 20)
    assert (balanced.value, balanced.low) == (1, pytest.approx(1 - math.hypot(reach, reach) / 2))


def test_an_errorless_side_of_few_rows_is_not_taken_as_certain() -> None:
    # 150 positive rows, 120 of them called so, and six others, none of which is.
    called, positive = np.arange(156) < 120, np.arange(156) < 150
    estimate = balanced_accuracy(called, positive, groups=np.arange(156))
    # Wilson at 120 of 150 (0.7289 to 0.8562), Clopper–Pearson at 6 of 6 (0.025 ** (1 / 6) to 1).
    below = math.hypot(0.8 - 0.728859, 1 - 0.025 ** (1 / 6)) / 2
    assert (estimate.value, estimate.low) == (0.9, pytest.approx(0.9 - below, abs=1e-5))
    assert estimate.high == pytest.approx(0.9 + (0.856159 - 0.8) / 2, abs=1e-5)


def test_fewer_than_five_rows_of_a_kind_give_no_interval() -> None:
    positive = np.arange(24) < 20
    estimate = balanced_accuracy(positive, positive, groups=np.arange(24))
    assert (estimate.value, estimate.note) == (1.0, "rests on 4 rows of a kind: no interval")
    assert math.isnan(estimate.low)


@pytest.mark.parametrize(("sides", "rates"), [((5, 5), (0.9, 0.9)), ((10, 5), (0.95, 0.95)), ((150, 5), (0.8, 1.0))])
def test_intervals_cover_with_few_claims_on_a_side(sides: tuple[int, int], rates: tuple[float, float]) -> None:
    rng, draws = np.random.default_rng(1), 400
    positive, groups = np.arange(sum(sides)) < sides[0], np.arange(sum(sides))
    truth, service = sum(rates) / 2, 0.9 * rates[0] / (0.9 * rates[0] + 0.1 * (1 - rates[1]))
    covered = np.zeros(2)
    for _ in range(draws):
        called = np.where(positive, rng.random(sum(sides)) < rates[0], rng.random(sum(sides)) >= rates[1])
        balanced = balanced_accuracy(called, positive, groups=groups)
        right = precision(called, positive, groups=groups, base_rate=0.1, of=True)
        for number, (estimate, true) in enumerate(((balanced, truth), (right, service))):
            # Without an interval nothing is claimed.
            covered[number] += not (estimate.low > true + 1e-9 or estimate.high < true - 1e-9)
    # Seven standard deviations of 400 draws at 0.95 are 0.076; before, 15 to 86 % covered.
    assert (covered / draws >= 0.9).all()


@pytest.mark.parametrize("size", [0, 3])
def test_rows_of_one_kind_are_no_number(size: int) -> None:
    positive, groups = np.ones(size, dtype=np.bool_), np.arange(size)
    for estimate in (
        auc(np.zeros(size), positive, groups=groups),
        balanced_accuracy(positive, positive, groups=groups),
        precision(positive, positive, groups=groups, base_rate=0.5, of=True),
    ):
        assert not estimate.known
        assert estimate.note


def test_one_document_gives_a_value_without_an_interval() -> None:
    estimate = auc(np.array([0.9, 0.2, 0.4, 0.3]), flags(1, 0, 0, 1), groups=np.zeros(4, dtype=np.int64))
    assert estimate.value == pytest.approx(0.75)
    assert np.isnan(estimate.low)


def test_equal_scores_are_chance() -> None:
    positive, groups = np.tile(flags(1, 0), 10), np.repeat(np.arange(10), 2)
    assert auc(np.full(20, 0.3), positive, groups=groups).value == 0.5


def test_intervals_cover_what_they_promise_when_scores_say_nothing() -> None:
    rng, covered = np.random.default_rng(0), np.zeros(2)
    for _ in range(300):
        groups = np.repeat(np.arange(40), 6)
        shift = rng.normal(size=40)[groups]
        scores, positive = shift + rng.normal(size=groups.size), rng.random(groups.size) < 2 / 3
        estimates = auc(scores, positive, groups=groups), balanced_accuracy(scores > 0, positive, groups=groups)
        covered += [estimate.low <= 0.5 <= estimate.high for estimate in estimates]
    assert (covered / 300 > 0.92).all()
    assert (covered / 300 < 0.99).all()


def test_precision_of_few_rows_called_so_has_no_interval() -> None:
    # Of ten documents with one positive row and another one each, one other row is called so, rightly.
    groups = np.repeat(np.arange(10), 2)
    positive = np.tile([True, False], 10)
    called = np.ones(20, dtype=np.bool_)
    called[1] = False
    one = precision(called, positive, groups=groups, base_rate=0.1, of=False)
    assert (one.value, one.note) == (1.0, "rests on 1 row: no interval")
    assert math.isnan(one.low)


def test_precision_is_wilsons_interval_of_the_rows_called_so_at_the_base_rate() -> None:
    # 30 of 40 positive rows and 6 of 10 others are called positive: 30 of 36 are so.
    positive = np.arange(50) < 40
    called = (np.arange(50) < 30) | (np.arange(50) >= 44)
    estimate = precision(called, positive, groups=np.arange(50), base_rate=0.2, of=True)
    # The base rate is that of the sample, so the share itself: Wilson at 30 of 36 is 0.6811 to 0.9213.
    assert estimate.value == pytest.approx(30 / 36)
    assert (estimate.low, estimate.high) == (pytest.approx(0.6811, abs=1e-4), pytest.approx(0.9213, abs=1e-4))
    assert (estimate.n, estimate.groups) == (36, 36)


def test_precision_without_an_error_allows_for_as_many_groups_as_it_rests_on() -> None:
    groups = np.repeat(np.arange(10), 2)
    positive = np.tile([True, False], 10)
    called = np.ones(20, dtype=np.bool_)
    called[1:12:2] = False
    some = precision(called, positive, groups=groups, base_rate=0.1, of=False)
    # Six rows without an error: 1 - 0.025 ** (1 / 6) may be wrong (Clopper and Pearson), here of rows that are half
    # positive; where nine in ten are, each such row stands for nine.
    right = 0.025 ** (1 / 6)
    assert (some.low, some.high) == (pytest.approx(0.1 * right / (0.1 * right + 0.9 * (1 - right))), 1.0)
