"""The smallest detectable difference against published formulas, the interval beside it and simulated tests."""

import math

import numpy as np
import pytest
from scipy import stats

from acidtest.stats.intervals import difference, unpaired_difference
from acidtest.stats.power import (
    detectable_difference,
    detectable_unpaired_difference,
    smallest_detectable_difference,
    smallest_detectable_unpaired_difference,
)
from acidtest.stats.resampling import generator
from acidtest.stats.significance import mcnemar, paired_permutation

Z_ALPHA, Z_POWER = stats.norm.ppf([0.975, 0.8])


def outcomes(gains, losses, n):
    """Verdicts of two models on n rows: so many that only the first gets right, and only the second."""
    first, second = np.ones(n), np.ones(n)
    second[:gains] = 0
    first[gains : gains + losses] = 0
    return first, second


def grouped_outcomes(rng, groups, *, discordance, change, alike=0.5):
    """Groups of 4 rows whose outcomes are alike; ``change`` is the true difference, ``discordance`` the true share."""
    shares = np.array([1 - discordance, (discordance + change) / 2, (discordance - change) / 2])
    cuts = rng.dirichlet(shares * (1 - alike) / alike, groups).cumsum(axis=1)[:, :-1]
    members = np.repeat(np.arange(groups), 4)
    outcome = (rng.random(members.size)[:, None] > cuts[members]).sum(axis=1)
    return outcome == 1, outcome == 2, members


def test_unpaired_is_the_inverse_of_the_usual_sample_size():
    # R's help page: power.prop.test(p1 = .50, p2 = .75, power = .90) needs n = 76.7 in each group.
    assert smallest_detectable_unpaired_difference(76.7, rate=0.625, power=0.9) == pytest.approx(0.25, abs=2e-4)


@pytest.mark.parametrize("n", [100, 300, 30_000])
@pytest.mark.parametrize("discordance", [0.1, 0.4])
def test_paired_inverts_connors_formula(n, discordance):
    found = smallest_detectable_difference(n, discordance=discordance)
    # Connor (1987): n = (z_alpha sqrt(psi) + z_power sqrt(psi - d^2))^2 / d^2
    needed = (Z_ALPHA * math.sqrt(discordance) + Z_POWER * math.sqrt(discordance - found**2)) ** 2 / found**2
    assert needed == pytest.approx(n)


def test_more_rows_show_smaller_differences():
    paired = [smallest_detectable_difference(n, discordance=0.1) for n in (100, 1_000, 10_000)]
    unpaired = [smallest_detectable_unpaired_difference(n, rate=0.5) for n in (100, 1_000, 10_000)]
    assert paired == sorted(paired, reverse=True)
    assert unpaired == sorted(unpaired, reverse=True)
    assert all(few < many for few, many in zip(paired, unpaired, strict=True))


def test_few_degrees_of_freedom_need_a_larger_difference():
    # The normal quantiles 1.960 + 0.842 against Student's with 5 degrees of freedom, 2.571 + 0.920 (tables).
    many, few = (smallest_detectable_difference(10_000, discordance=0.1, degrees=free) for free in (math.inf, 5))
    assert few / many == pytest.approx((2.571 + 0.920) / (1.960 + 0.842), rel=1e-3)


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_rows_show_nothing(n):
    assert math.isnan(smallest_detectable_difference(n, discordance=0.5))
    assert math.isnan(smallest_detectable_difference(n + 2, discordance=0.5))
    assert math.isnan(smallest_detectable_unpaired_difference(n, rate=0.5))


def test_models_that_hardly_differ_need_as_many_discordant_rows_as_a_difference_makes():
    # A difference d makes d n discordant rows at least: sqrt(n) d = z_alpha sqrt(d) + z_power sqrt(d - d^2).
    found = smallest_detectable_difference(1_000, discordance=0.0)
    assert math.sqrt(1_000) * found == pytest.approx(Z_ALPHA * math.sqrt(found) + Z_POWER * math.sqrt(found - found**2))
    # Exact McNemar wants six rows, all one way, for p = 2 / 2^6 = 0.03; with this chance there are six or more.
    assert stats.binom.sf(5, 1_000, found) == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_perfect_and_hopeless_models_can_still_be_compared_on_different_rows(rate):
    found = smallest_detectable_unpaired_difference(1_000, rate=rate)
    # power.prop.test(p1 = 1, p2 = 1 - d, n = 1000) has power 0.8 at d = 0.0078 (its formula, solved by hand).
    middle = found / 2
    reached = Z_ALPHA * math.sqrt(2 * middle * (1 - middle)) + Z_POWER * math.sqrt(found * (1 - found))
    assert math.sqrt(1_000) * found == pytest.approx(reached)


def test_independent_rows_get_connors_formula_with_the_discordance_seen():
    first, second = outcomes(60, 40, 1_000)
    # The variance is estimated on n - 1 degrees of freedom.
    expected = smallest_detectable_difference(999, discordance=0.1)
    assert detectable_difference(first, second) == pytest.approx(expected, rel=5e-3)


def test_a_small_difference_has_the_detectable_one_that_its_interval_says():
    # 2.8 standard errors (1.96 + 0.84), and the interval is 1.96 to either side.
    rng = generator(3)
    first, second, groups = grouped_outcomes(rng, 400, discordance=0.15, change=0.0)
    shown = difference(first, second, groups=groups)
    error = (shown.high - shown.low) / 2 / Z_ALPHA
    assert detectable_difference(first, second, groups=groups) == pytest.approx((Z_ALPHA + Z_POWER) * error, rel=0.05)


def test_strata_that_explain_the_differences_make_smaller_ones_detectable():
    first, second = outcomes(300, 0, 1_000)
    strata = np.repeat([0, 1], [400, 600])  # all gains are in the first, where three in four rows are gains
    narrow, wide = detectable_difference(first, second, strata=strata), detectable_difference(first, second)
    shown = difference(first, second, strata=strata), difference(first, second)
    ratio = (shown[0].high - shown[0].low) / (shown[1].high - shown[1].low)
    assert narrow / wide == pytest.approx(ratio, rel=0.03)


def test_models_that_never_differ_have_a_detectable_difference_by_their_groups():
    rows = np.ones(4_000)
    assert detectable_difference(rows, rows) == smallest_detectable_difference(4_000, discordance=0)
    groups = np.repeat(np.arange(1_000), 4)
    assert detectable_difference(rows, rows, groups=groups) == smallest_detectable_difference(1_000, discordance=0)


def test_models_that_always_differ_do_not_promise_everything():
    assert detectable_difference(np.ones(500), np.zeros(500)) == smallest_detectable_difference(500, discordance=0)


def test_a_large_difference_has_the_detectable_one_that_its_interval_says():
    # As on HANS: gains of 95 % in a few templates, 30 % in some, 2 % in most; +18.8 points, 0.5 to either side.
    rng = generator(8)
    templates = np.arange(15_000) % 60
    right = rng.random(15_000) < np.where(templates < 7, 0.95, np.where(templates < 20, 0.3, 0.02))
    shown = difference(right, np.zeros(15_000), strata=templates)
    reach = (shown.high - shown.low) / 2
    assert (shown.value, reach) == pytest.approx((0.19, 0.004), abs=0.005)
    found = detectable_difference(right, np.zeros(15_000), strata=templates)
    assert found == pytest.approx((Z_ALPHA + Z_POWER) / Z_ALPHA * reach, rel=0.05)


@pytest.mark.parametrize("rows", [[], [1]])
def test_no_rows_and_one_group_show_nothing(rows):
    assert math.isnan(detectable_difference(rows, rows))
    assert math.isnan(detectable_difference([1, 1, 0], [0, 1, 0], groups=[7, 7, 7]))
    assert math.isnan(detectable_unpaired_difference(rows, [1, 0, 1]))


def test_different_rows_get_the_sizes_their_interval_says():
    rng = generator(5)
    first, second = rng.random(2_000) < 0.9, rng.random(800) < 0.88
    shown = unpaired_difference(first, second)
    error = (shown.high - shown.low) / 2 / Z_ALPHA
    assert detectable_unpaired_difference(first, second) == pytest.approx((Z_ALPHA + Z_POWER) * error, rel=0.05)
    perfect = detectable_unpaired_difference(np.ones(900), np.ones(700))
    assert perfect == smallest_detectable_unpaired_difference(700, rate=1)


def test_the_difference_is_found_as_often_as_promised():
    rng = generator(1)
    n, discordance = 400, 0.2
    found = smallest_detectable_difference(n, discordance=discordance)
    shares = [1 - discordance, (discordance + found) / 2, (discordance - found) / 2]
    rejected = []
    for _ in range(1_500):
        outcome = rng.choice(3, size=n, p=shares)
        rejected.append(mcnemar(outcome == 1, outcome == 2, mid_p=True).p <= 0.05)
    # 1,500 draws: the standard error of 0.8 is 0.010.
    assert np.mean(rejected) == pytest.approx(0.8, abs=0.035)


def test_in_groups_the_difference_is_found_as_often_as_promised():
    rng = generator(4)
    printed = []
    for _ in range(50):
        first, second, groups = grouped_outcomes(rng, 200, discordance=0.2, change=0.03)
        printed.append(detectable_difference(first, second, groups=groups))
    rejected = []
    for _ in range(600):
        first, second, groups = grouped_outcomes(rng, 200, discordance=0.2, change=float(np.mean(printed)))
        rejected.append(paired_permutation(first, second, groups=groups, rng=rng, resamples=499).p <= 0.05)
    # 600 draws: the standard error of 0.8 is 0.016.
    assert np.mean(rejected) == pytest.approx(0.8, abs=0.05)


def test_no_difference_is_found_rarely():
    rng = generator(2)
    rejected = []
    for _ in range(1_500):
        outcome = rng.choice(3, size=400, p=[0.8, 0.1, 0.1])
        rejected.append(mcnemar(outcome == 1, outcome == 2).p <= 0.05)
    assert np.mean(rejected) <= 0.06
