"""Intervals against scipy, published examples and simulated truth."""

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from acidtest.stats.intervals import clopper_pearson, difference, mean_of_groups, rate, unpaired_difference, wilson
from acidtest.stats.resampling import generator

COUNTS = [(0, 1), (1, 1), (1, 10), (5, 10), (81, 263), (263, 263), (999, 1000)]


def grouped_rows(rng, truth, groups, *, alike=0.3, unequal=True):
    """Verdicts and groups of rows whose rate differs between groups (beta around the truth)."""
    sizes = rng.integers(1, 9, groups) if unequal else np.full(groups, 4)
    scale = (1 - alike) / alike
    rates = rng.beta(truth * scale, (1 - truth) * scale, groups)
    members = np.repeat(np.arange(groups), sizes)
    return (rng.random(members.size) < rates[members]).astype(float), members


def coverage(truth, estimates):
    return np.mean([estimate.low <= truth <= estimate.high for estimate in estimates])


@pytest.mark.parametrize(("successes", "n"), COUNTS)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_wilson_is_that_of_scipy(successes, n, confidence):
    expected = stats.binomtest(successes, n).proportion_ci(confidence, method="wilson")
    found = wilson(successes, n, confidence=confidence)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("successes", "n"), COUNTS)
def test_clopper_pearson_is_that_of_scipy(successes, n):
    expected = stats.binomtest(successes, n).proportion_ci(0.95, method="exact")
    found = clopper_pearson(successes, n)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_no_rows_have_no_wilson_or_clopper_pearson_interval():
    assert math.isnan(wilson(0, 0).low)
    assert math.isnan(clopper_pearson(0, 0).high)


def test_importing_intervals_leaves_scipy_stats_alone():
    code = "import sys, acidtest.stats.intervals, acidtest.stats.significance, acidtest.stats.power; "
    code += "sys.exit('scipy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_independent_rows_get_wilson():
    found = rate([True] * 81 + [False] * 182)
    # Newcombe (1998), Two-sided confidence intervals for the single proportion, Table I: 0.2553 to 0.3662.
    assert (found.low, found.high) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert (found.value, found.n, found.groups, found.method) == (81 / 263, 263, 263, "Wilson")


def test_rows_that_are_each_their_own_group_are_independent():
    values = [1, 0, 1, 1]
    assert rate(values, groups=["d", "a", "c", "b"], strata=[0, 1, 0, 1]) == rate(values)


@pytest.mark.parametrize("verdict", [0, 1])
def test_unanimous_rows_get_clopper_pearson(verdict):
    found = rate([verdict] * 20)
    assert found.method == "Clopper–Pearson"
    # Closed form: 0.025 ** (1 / 20)
    assert abs(found.value - (found.low if verdict else found.high)) == pytest.approx(1 - 0.025 ** (1 / 20))


def test_no_rows_have_no_rate():
    found = rate([])
    assert math.isnan(found.value)
    assert found.note == "no rows"
    assert difference([], []).note == "no rows"


def test_one_group_has_a_value_and_no_interval():
    found = rate([1, 1, 0, 1], groups=[7, 7, 7, 7])
    assert (found.value, found.n, found.groups) == (0.75, 4, 1)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.note == "one group only: no interval"
    assert math.isnan(difference([1, 1], [0, 1], groups=[0, 0]).low)


def test_few_groups_get_a_t_interval_on_the_logit_scale():
    # Group means 1/4, 2/4, 3/4, equal sizes: mean 0.5, jackknife variance s2/3 = 0.0625/3, and as the contributions
    # 0.0625, 0, 0.0625 are uneven, 2 degrees of freedom at most: t(0.975, 2) = 4.302653.
    values = [1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0]
    found = rate(values, groups=np.repeat([0, 1, 2], 4))
    reach = 4.302653 * math.sqrt(0.0625 / 3) / 0.25
    assert (found.low, found.high) == pytest.approx((1 / (1 + math.exp(reach)), 1 / (1 + math.exp(-reach))), abs=1e-6)
    assert found.method.startswith("t with 2.0 degrees of freedom")


def test_the_t_interval_is_around_the_mean_over_rows_not_over_groups():
    found = rate([1, 1, 1, 1, 1, 0, 0, 1], groups=[0, 0, 0, 0, 0, 0, 1, 1])
    assert found.value == 0.75
    assert found.low < 0.75 < found.high <= 1


def test_few_rows_of_unbounded_values_get_the_classical_t_interval():
    values = np.array([-3.0, -1.0, 0.0, 2.0, 4.0, 7.0, 7.5])
    found = rate(values)
    # With the degrees of freedom at their most, as here, this is the textbook's one-sample t interval.
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_groups_that_all_agree_leave_room_for_those_unseen():
    groups = np.repeat(np.arange(40), 3)
    bound = 1 - 0.025 ** (1 / 40)  # Clopper–Pearson for 0 of 40 groups
    right = rate(np.ones(120), groups=groups)
    assert (right.low, right.high) == pytest.approx((1 - bound, 1))
    assert right.method == "Clopper–Pearson, since all agree, over groups"
    halves = rate(np.tile([1, 0], 40), groups=np.repeat(np.arange(40), 2))
    assert (halves.low, halves.high) == pytest.approx((0.5 - bound / 2, 0.5 + bound / 2))


def test_strata_that_are_each_unanimous_are_not_certain_either():
    found = rate(np.repeat([1, 0], 60), groups=np.repeat(np.arange(40), 3), strata=np.repeat([0, 1], 60))
    assert found.value == 0.5
    assert found.high - found.low == pytest.approx(2 * (1 - 0.025 ** (1 / 40)))


def test_equal_values_without_bounds_have_no_interval():
    found = rate([5.0, 5.0, 5.0])
    assert found.value == 5.0
    assert math.isnan(found.low)
    assert found.note == "all rows agree: no interval"


def test_many_groups_get_a_bootstrap_that_neither_order_nor_names_change():
    rng = generator(1)
    values, members = grouped_rows(rng, 0.8, 60)
    found = rate(values, groups=members)
    assert found.method == "expanded BCa bootstrap, 10000 resamples, over groups"
    order = rng.permutation(values.size)
    assert rate(values[order], groups=members[order]) == found
    assert rate(values, groups=[f"s{member:03d}" for member in members]) == found


def test_a_rate_that_rests_on_a_handful_of_groups_gets_the_t_interval():
    values = np.ones(200)
    values[:6] = 0
    found = rate(values, groups=np.repeat(np.arange(40), 5))
    assert found.method.startswith("t with 4.0 degrees of freedom")
    assert found.low < 0.97 < found.high < 1


def test_strata_of_different_difficulty_narrow_the_interval():
    rng = generator(2)
    members = np.arange(400) // 2
    strata = members // 100
    values = (rng.random(400) < np.array([0.05, 0.95])[strata]).astype(float)
    within, across = rate(values, groups=members, strata=strata), rate(values, groups=members)
    assert within.value == across.value
    # Between the strata lies a variance of 0.45 ** 2, within them 0.05 * 0.95.
    expected = math.sqrt(0.0475 / 2 / (0.0475 / 2 + 0.2025))
    assert (within.high - within.low) / (across.high - across.low) == pytest.approx(expected, rel=0.2)


def test_groups_across_strata_and_lone_groups_are_resampled_too():
    rng = generator(3)
    values, members = grouped_rows(rng, 0.7, 50)
    strata = np.where(members == 7, members, 0)
    strata[np.flatnonzero(members < 5)[::2]] = 1
    found = rate(values, groups=members, strata=strata)
    plain = rate(values, groups=members)
    assert found.value == plain.value
    assert found.high - found.low == pytest.approx(plain.high - plain.low, rel=0.15)


@pytest.mark.parametrize("truth", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("n", [30, 200])
def test_intervals_of_independent_rows_cover(truth, n):
    chances = stats.binom.pmf(np.arange(n + 1), n, truth)
    found = [rate([1] * successes + [0] * (n - successes)) for successes in range(n + 1)]
    covered = sum(chance for chance, each in zip(chances, found, strict=True) if each.low <= truth <= each.high)
    assert 0.93 <= covered <= 0.995


@pytest.mark.parametrize(("groups", "truth"), [(5, 0.7), (15, 0.9), (29, 0.5), (30, 0.9), (68, 0.8), (120, 0.95)])
def test_intervals_of_grouped_rows_cover(groups, truth):
    rng = generator(groups)
    found = []
    for draw in range(400):
        values, members = grouped_rows(rng, truth, groups)
        found.append(rate(values, groups=members, draws_seed=draw, resamples=500))
    # 400 draws: the standard error of 0.95 is 0.011.
    assert 0.925 <= coverage(truth, found) <= 0.995


def test_pairs_are_compared_row_by_row():
    found = difference([1, 1, 1, 0, 1, 0] * 20, [1, 0, 0, 0, 1, 1] * 20)
    assert found.value == pytest.approx(1 / 6)
    # Normal approximation: 60 discordant of 120, 40 to 20.
    reach = 1.96 * math.sqrt((0.5 - (1 / 6) ** 2) / 120)
    assert (found.low, found.high) == pytest.approx((1 / 6 - reach, 1 / 6 + reach), abs=0.015)
    assert found.method == "expanded percentile bootstrap, 10000 resamples, over rows"


def test_paired_rows_of_different_number_are_refused():
    with pytest.raises(ValueError, match="paired rows differ in number: 3 and 1"):
        difference([1, 0, 1], [1])


def test_identical_models_do_not_differ_but_certainty_is_not_claimed():
    values = np.tile([1, 0, 1], 50)
    found = difference(values, values, groups=np.repeat(np.arange(50), 3))
    bound = 1 - 0.025 ** (1 / 50)
    assert (found.value, found.low, found.high) == pytest.approx((0, -bound, bound))
    assert found.method == "Clopper–Pearson, since all agree, over groups"


def test_a_model_always_right_where_the_other_is_always_wrong_differs_by_one():
    found = difference(np.ones(40), np.zeros(40))
    assert (found.value, found.high) == (1, 1)
    assert found.low == pytest.approx(1 - 2 * (1 - 0.025 ** (1 / 40)))


def test_a_planted_difference_is_found_in_groups():
    rng = generator(4)
    first, members = grouped_rows(rng, 0.9, 80)
    second = first * (rng.random(first.size) < 0.8)
    found = difference(first, second, groups=members)
    assert 0.1 < found.low < found.value < found.high < 0.3


@pytest.mark.parametrize("groups", [8, 25, 40, 200])
def test_intervals_of_paired_differences_cover(groups):
    rng = generator(groups + 1)
    found = []
    for draw in range(400):
        hard, members = grouped_rows(rng, 0.2, groups)
        which = rng.random(hard.size)
        found.append(
            difference(hard * (which < 0.6), hard * (which > 0.6), groups=members, draws_seed=draw, resamples=500)
        )
    # A fifth of the rows is discordant, 3 to 2 for the first.
    assert 0.925 <= coverage(0.2 * 0.2, found) <= 0.995


def test_unpaired_rows_get_newcombes_interval():
    found = unpaired_difference([1] * 56 + [0] * 14, [1] * 48 + [0] * 32)
    # Newcombe (1998), Table II, 56/70 - 48/80, method 10: 0.0524 to 0.3339.
    assert (found.value, found.low, found.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
    assert (found.n, found.groups) == (150, 150)


def test_unpaired_means_weigh_strata_alike_on_both_sides():
    # Stratum a: 1.0 against 0.5; stratum b: 0.25 against 0.25. Together a has 8 rows of 16, b the other 8.
    found = unpaired_difference(
        [1, 1, 1, 1, 0, 0, 1, 0],
        [1, 0, 0, 1, 1, 0, 0, 0],
        strata_first=list("aaaabbbb"),
        strata_second=list("aaaabbbb"),
    )
    assert found.value == pytest.approx(0.5 * 0.5 + 0.5 * 0)
    # Unequal parts: a has 2 rows of 10 on the first side and 8 of 10 on the second, so it weighs 10 / 20.
    uneven = unpaired_difference(
        [1, 1] + [0] * 8, [1] * 4 + [0] * 6, strata_first=list("aabbbbbbbb"), strata_second=list("aaaaaaaabb")
    )
    assert uneven.value == pytest.approx(0.5 * (1 - 0.5) + 0.5 * 0)


def test_rows_in_strata_of_one_side_only_are_left_out_and_counted():
    found = unpaired_difference([1, 0, 1, 1], [1, 0, 0], strata_first=[0, 0, 1, 1], strata_second=[0, 0, 2])
    assert found.value == 0
    assert found.note == "3 rows in strata that only one side has are left out"
    nothing = unpaired_difference([1], [0], strata_first=[0], strata_second=[1])
    assert math.isnan(nothing.value)
    assert nothing.note


def test_unpaired_sides_without_rows_or_with_one_group_have_no_interval():
    assert unpaired_difference([1, 0], []).note == "no rows on one side"
    one = unpaired_difference([1, 0], [1, 0, 1], groups_first=[3, 3])
    assert one.value == pytest.approx(0.5 - 2 / 3)
    assert math.isnan(one.low)
    assert one.note == "one group only: no interval"


def test_two_perfect_models_leave_room_for_a_difference():
    found = unpaired_difference(np.ones(30), np.ones(60))
    assert (found.low, found.high) == pytest.approx((-(1 - 0.025 ** (1 / 30)), 1 - 0.025 ** (1 / 60)))


@pytest.mark.parametrize("grouped", [False, True])
def test_intervals_of_unpaired_differences_cover(grouped):
    rng = generator(5)
    found = []
    for draw in range(400):
        first, of_first = grouped_rows(rng, 0.9, 50)
        second, of_second = grouped_rows(rng, 0.8, 40)
        if not grouped:
            first, second = rng.random(50) < 0.9, rng.random(40) < 0.8
        groups = {"groups_first": of_first, "groups_second": of_second} if grouped else {}
        found.append(unpaired_difference(first, second, **groups, draws_seed=draw, resamples=500))
    assert 0.925 <= coverage(0.1, found) <= 0.99


def test_a_mean_of_groups_has_a_t_interval_over_their_means() -> None:
    estimate = mean_of_groups(np.array([0.1, 0.3, 0.0, -0.1, 0.3, 0.4]), np.array([0, 0, 1, 2, 3, 4]))
    # R: t.test(c(.2, 0, -.1, .3, .4)): mean 0.16, standard error 0.0927, t = 2.776
    assert estimate.value == pytest.approx(0.16)
    assert (estimate.low, estimate.high) == (pytest.approx(-0.0975, abs=1e-4), pytest.approx(0.4175, abs=1e-4))
    assert (estimate.n, estimate.groups, estimate.note) == (6, 5, "")


def test_a_mean_of_few_groups_says_so_and_stays_within_its_bounds() -> None:
    two = mean_of_groups(np.array([-0.5, 0.2]), np.array([0, 1]))
    assert (two.low, two.high, two.note) == (-1.0, 1.0, "2 groups only")
    alike = mean_of_groups(np.zeros(3), np.arange(3))
    assert (alike.value, alike.note) == (0.0, "all groups are alike: no interval")
    assert math.isnan(alike.low)
    assert math.isnan(mean_of_groups(np.zeros(1), np.zeros(1, dtype=np.intp)).low)
    assert not mean_of_groups(np.zeros(0), np.zeros(0, dtype=np.intp)).known
