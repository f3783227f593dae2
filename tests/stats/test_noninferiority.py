"""Score intervals, exact tests with a margin and effective rows, against brute force and simulated releases."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import optimize, stats

from acidtest.stats.noninferiority import (
    PairedCounts,
    effective_rows,
    equal_passes,
    is_below,
    loss_interval,
    p_above,
    p_below,
    pairs_needed,
    rate_p_above,
    rate_p_below,
    score,
)

Z = stats.norm.ppf(0.95)


def brute_score(wrong, right, n, margin):
    """The score with the shares that maximise the likelihood numerically, if the loss is the margin."""
    lowest, highest = max(0.0, -margin), (1 - margin) / 2

    def unlikelihood(share):
        shares = np.array([share + margin, share, 1 - 2 * share - margin])
        counts = np.array([wrong, right, n - wrong - right])
        return -float((counts * np.log(np.maximum(shares, 1e-300))).sum())

    share = optimize.minimize_scalar(
        unlikelihood, bounds=(lowest, highest), method="bounded", options={"xatol": 1e-12}
    ).x
    return (wrong - right - n * margin) / math.sqrt(n * (2 * share + margin - margin**2))


@pytest.mark.parametrize(("wrong", "right", "n"), [(12, 2, 44), (1, 0, 30), (0, 7, 100), (40, 41, 1000)])
@pytest.mark.parametrize("margin", [-0.1, 0.01, 0.05, 0.3])
def test_the_score_is_that_of_the_most_likely_shares(wrong, right, n, margin):
    assert score(wrong, right, n, margin) == pytest.approx(brute_score(wrong, right, n, margin), abs=1e-4)


@pytest.mark.parametrize(("wrong", "right", "n"), [(12, 2, 44), (3, 9, 80), (0, 1, 25), (300, 240, 3000)])
def test_the_ends_of_the_interval_are_where_the_score_test_stops_rejecting(wrong, right, n):
    interval = loss_interval(PairedCounts(wrong, right, n))
    loss = (wrong - right) / n
    low = optimize.brentq(lambda margin: brute_score(wrong, right, n, margin) - Z, -0.99, loss)
    high = optimize.brentq(lambda margin: brute_score(wrong, right, n, margin) + Z, loss, 0.99)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-5)


def test_models_that_never_differed_may_still_differ():
    # With no discordant row the interval ends where n δ / sqrt(n δ (1 - δ)) = z, at z² / (n + z²).
    for n in (10, 149, 3000):
        interval = loss_interval(PairedCounts(0, 0, n))
        assert interval.high == pytest.approx(Z**2 / (n + Z**2))
        assert interval.low == pytest.approx(-interval.high)


def test_without_rows_nothing_is_computed_and_nothing_is_shown():
    counts = PairedCounts(0, 0, 0)
    assert math.isnan(loss_interval(counts).low)
    assert math.isnan(counts.loss)
    assert p_above(counts, 0.02) == p_below(counts, 0.02) == 1
    assert not is_below(counts, 0.02)
    assert effective_rows(np.zeros(0, dtype=int)) == 0


def brute_p(wrong, right, n, margin, *, above):
    """The greatest chance of a score as extreme, summed over every table, at the shares in their exact interval."""
    tables = [(b, c) for b, c in product(range(n + 1), repeat=2) if b + c <= n]
    scores = np.array([float(score(b, c, n, margin)) for b, c in tables])
    observed = float(score(wrong, right, n, margin))
    extreme = scores >= observed - 1e-9 if above else scores <= observed + 1e-9
    chosen = [(b, c, n - b - c) for (b, c), kept in zip(tables, extreme, strict=True) if kept]
    interval = stats.binomtest(wrong + right, n).proportion_ci(1 - 1e-5, method="exact")
    shares = np.linspace(max(margin, interval.low, 1e-9), interval.high, 600)
    return max(
        stats.multinomial.pmf(chosen, n, [(share + margin) / 2, (share - margin) / 2, 1 - share]).sum()
        for share in shares
    )


@pytest.mark.parametrize(("wrong", "right"), [(0, 0), (3, 0), (2, 5), (6, 1), (12, 4)])
@pytest.mark.parametrize("margin", [0.0, 0.03, 0.15])
def test_exact_p_is_the_greatest_chance_over_all_tables_and_plausible_shares(wrong, right, margin):
    counts, n, discordant = PairedCounts(wrong, right, 20), 20, wrong + right
    for above, p in ((True, p_above(counts, margin)), (False, p_below(counts, margin))):
        # If the discordant rows are always the same ones, the newly wrong are binomial.
        given = 1.0 if above else 0.0
        if discordant > margin * n:
            binomial = stats.binom(discordant, (1 + margin * n / discordant) / 2)
            given = binomial.sf(wrong - 1) if above else binomial.cdf(wrong)
        # The chance of other shares is added, and the search is coarse.
        brute = min(1, brute_p(wrong, right, n, margin, above=above) + 1e-5)
        assert p == pytest.approx(max(brute, given), rel=0.01)


def test_ten_agreeing_pairs_show_nothing_and_149_show_a_loss_below_two_points():
    # The chance that 149 pairs agree if 2 % of them differ is 0.98 ** 149 = 0.0493.
    assert p_below(PairedCounts(0, 0, 149), 0.02) == pytest.approx(0.98**149, abs=2e-5)
    assert is_below(PairedCounts(0, 0, 149), 0.02)
    assert not is_below(PairedCounts(0, 0, 148), 0.02)
    assert not is_below(PairedCounts(0, 0, 10), 0.02)


def test_where_tangos_interval_would_pass_too_often_the_exact_test_does_not():
    # Of models that lose 2 points without gaining any, 0.98 ** 140 = 5.9 % agree on 140 pairs.
    assert loss_interval(PairedCounts(0, 0, 140)).high < 0.02
    assert not is_below(PairedCounts(0, 0, 140), 0.02)


def test_the_p_of_a_fractional_number_of_rows_is_close_to_that_of_the_whole_number():
    whole, fractional = (p_below(PairedCounts(8, 4, 100).scaled(rows), 0.1) for rows in (75.0, 75.4))
    assert fractional == pytest.approx(whole, rel=0.1)


def test_rows_in_groups_are_worth_as_many_as_there_would_be_groups_of_the_largest_size():
    assert effective_rows(np.arange(60)) == 60
    assert effective_rows(np.repeat(np.arange(60), 5)) == 60
    # 90 rows in one group and 10 alone: all that was lost may be the one group.
    sizes = np.array([90, *[1] * 10])
    assert effective_rows(np.repeat(np.arange(11), sizes)) == pytest.approx(100 / 90)
    assert effective_rows(np.zeros(500, dtype=int)) == 1


def simulated_passes(draws, sizes, lost, margin, seed):
    """How often a model passes that loses whole groups, each with its chance, on rows of these sizes."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    effective = effective_rows(groups)
    assert sum(sizes * lost) / sum(sizes) == pytest.approx(margin), "the loss is the margin"
    newly_wrong = (rng.random((draws, len(sizes))) < lost) @ sizes
    return np.mean([is_below(PairedCounts(wrong, 0, sum(sizes)).scaled(effective), margin) for wrong in newly_wrong])


@pytest.mark.parametrize("margin", [0.05, 0.1])
def test_a_model_that_loses_the_margin_in_large_groups_only_seldom_passes(margin):
    # Half the rows are in groups of 20, and only those are lost; by Kish's number of rows up to 70 % pass.
    sizes = np.array([20] * 75 + [1] * 1500)
    lost = np.where(sizes == 20, 2 * margin, 0.0)
    # 5 % and three standard errors.
    assert simulated_passes(1000, sizes, lost, margin, seed=1) <= 0.071
    kish = 3000**2 / (sizes**2).sum()
    assert kish > 1.8 * effective_rows(np.repeat(np.arange(len(sizes)), sizes))


@pytest.mark.parametrize("margin", [0.05, 0.1])
def test_a_model_that_loses_the_margin_in_small_groups_only_seldom_passes(margin):
    sizes = np.array([20] * 75 + [1] * 1500)
    lost = np.where(sizes == 1, 2 * margin, 0.0)
    assert simulated_passes(1000, sizes, lost, margin, seed=2) <= 0.071


@pytest.mark.parametrize(
    ("rows", "margin", "always"), [(50, 0.02, 8), (100, 0.02, 12), (100, 0.1, 50), (150, 0.0857, 80)]
)
def test_models_that_always_differ_on_the_same_rows_seldom_pass_or_fail_by_mistake(rows, margin, always):
    # The number of discordant rows does not vary. Without a test given that number, 5.7 to 7.7 % of these pass.
    newly_wrong = stats.binom(always, (1 + margin * rows / always) / 2)
    tables = [PairedCounts(wrong, always - wrong, rows) for wrong in range(always + 1)]
    chances = newly_wrong.pmf(range(always + 1))
    assert sum(chances[[is_below(counts, margin) for counts in tables]]) <= 0.05
    assert sum(chances[[p_above(counts, margin) <= 0.05 for counts in tables]]) <= 0.05


@pytest.mark.parametrize(("rows", "margin", "discordance"), [(272, 0.0606, 0.05), (320, 0.0559, 0.1), (82, 0.1, 0.05)])
def test_the_chance_that_an_equal_model_passes_is_that_of_simulated_ones(rows, margin, discordance):
    rng = np.random.default_rng(5)
    draws = rng.multinomial(rows, [discordance / 2, discordance / 2, 1 - discordance], 1500)
    tables, counts = np.unique(draws[:, :2], axis=0, return_counts=True)
    passing = [is_below(PairedCounts(wrong, right, rows), margin) for wrong, right in tables]
    assert equal_passes(discordance, rows, margin) == pytest.approx(np.average(passing, weights=counts), abs=0.04)


def test_an_equal_model_that_never_differs_passes_if_the_rows_suffice():
    assert equal_passes(0.0, 149, 0.02) == pytest.approx(1)
    assert equal_passes(0.0, 20, 0.02) == equal_passes(math.nan, 100, 0.1) == equal_passes(0.1, 0.0, 0.1) == 0


@pytest.mark.parametrize(("discordance", "margin"), [(0.05, 0.05), (0.1, 0.05), (0.2, 0.1)])
def test_pairs_needed_let_an_equal_model_pass_four_times_in_five(discordance, margin):
    n = pairs_needed(discordance, margin)
    rng = np.random.default_rng(3)
    draws = rng.multinomial(n, [discordance / 2, discordance / 2, 1 - discordance], 4000)
    passes = (score(draws[:, 0], draws[:, 1], n, margin) < -Z).mean()
    assert 0.77 < passes < 0.86


def test_pairs_needed_without_discordance_are_those_that_agreeing_pairs_need():
    assert [pairs_needed(0.0, margin) for margin in (0.01, 0.02, 0.05)] == [299, 149, 59]
    assert pairs_needed(0.1, 0.0) is None


@pytest.mark.parametrize("grouped", [False, True])
def test_models_that_lose_the_margin_pass_and_fail_in_at_most_five_per_cent(grouped):
    rng = np.random.default_rng(4)
    margin, wrong, right, releases = 0.05, 0.09, 0.04, 1000
    passed = failed = 0
    for _ in range(releases):
        outcome = rng.choice(3, 80 if grouped else 200, p=[wrong, right, 1 - wrong - right])
        rows = np.repeat(outcome, 5) if grouped else outcome
        groups = np.repeat(np.arange(80), 5) if grouped else np.arange(200)
        counts = PairedCounts((rows == 0).sum(), (rows == 1).sum(), len(rows)).scaled(effective_rows(groups))
        passed += is_below(counts, margin)
        failed += p_above(counts, margin) <= 0.05
    # 5 % and three standard errors.
    assert 0.01 * releases < passed <= 0.071 * releases
    assert 0.01 * releases < failed <= 0.071 * releases


def test_tests_of_a_rate_are_binomial():
    assert rate_p_above(70, 100, 0.6) == pytest.approx(stats.binom.sf(69, 100, 0.6))
    assert rate_p_below(50, 100, 0.6) == pytest.approx(stats.binom.cdf(50, 100, 0.6))
    assert rate_p_above(0, 100, 0.6) == rate_p_below(100, 100, 0.6) == 1
