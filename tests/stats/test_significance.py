"""Tests of significance against published examples, scipy and simulated nulls."""

import math

import numpy as np
import pytest
from scipy import stats

from acidtest.core.errors import UnknownNameError
from acidtest.stats import significance
from acidtest.stats.intervals import difference
from acidtest.stats.resampling import generator
from acidtest.stats.significance import (
    adjusted,
    bonferroni,
    holm,
    mcnemar,
    paired_permutation,
    paired_test,
    unpaired_permutation,
)


def pairs(gains, losses, alike=10):
    """Verdicts of two models of which the first alone is right ``gains`` times."""
    return [1] * gains + [0] * losses + [1] * alike, [0] * gains + [1] * losses + [1] * alike


def discordant_rows(rng, groups, *, alike=0.8):
    """Verdicts of two equally good models on groups of 4 rows whose outcomes are much alike."""
    likely = np.array([0.6, 0.2, 0.2]) * (1 - alike) / alike
    shares = rng.dirichlet(likely, groups).cumsum(axis=1)[:, :-1]
    members = np.repeat(np.arange(groups), 4)
    outcome = (rng.random(members.size)[:, None] > shares[members]).sum(axis=1)
    return outcome == 1, outcome == 2, members


def test_mcnemar_matches_the_published_example():
    # Fagerland, Lydersen and Laake (2013), airway hyper-responsiveness, 1 and 7 discordant: exact 0.0703, mid-p 0.0391.
    first, second = pairs(1, 7, alike=13)
    assert mcnemar(first, second).p == pytest.approx(0.0703, abs=5e-5)
    assert mcnemar(first, second, mid_p=True).p == pytest.approx(0.0391, abs=5e-5)
    assert mcnemar(first, second).statistic == pytest.approx(-6 / 21)


@pytest.mark.parametrize(("gains", "losses"), [(5, 15), (0, 3), (4, 4), (1, 0), (600, 700)])
def test_exact_mcnemar_is_the_binomial_test(gains, losses):
    expected = stats.binomtest(gains, gains + losses, 0.5)
    assert mcnemar(*pairs(gains, losses)).p == pytest.approx(expected.pvalue)
    chance = stats.binom.pmf(gains, gains + losses, 0.5)
    halved = 1.0 if gains == losses else expected.pvalue - chance
    assert mcnemar(*pairs(gains, losses), mid_p=True).p == pytest.approx(halved)


def test_models_that_agree_have_p_one_and_not_nothing_over_nothing():
    for test in (mcnemar([1, 0, 1], [1, 0, 1]), mcnemar([1, 0, 1], [1, 0, 1], mid_p=True)):
        assert (test.p, test.statistic, test.note) == (1, 0, "no row tells the two apart")
    test = paired_permutation([1, 0, 1], [1, 0, 1], rng=generator(0))
    assert (test.p, test.statistic, test.note) == (1, 0, "no group tells the two apart")
    # One row gained and one lost within a group: the group does not tell them apart.
    assert paired_permutation([1, 0], [0, 1], groups=[0, 0], rng=generator(0)).p == 1


@pytest.mark.parametrize(
    "test",
    [
        mcnemar([], []),
        paired_permutation([], [], rng=generator(0)),
        paired_test([], []),
        paired_test([], [], []),
        unpaired_permutation([], [], rng=generator(0)),
        unpaired_permutation([1, 0], [], rng=generator(0)),
        unpaired_permutation([1, 0], [1], strata_first=[0, 0], strata_second=[1], rng=generator(0)),
    ],
)
def test_nothing_to_test_has_no_p(test):
    assert math.isnan(test.p)
    assert math.isnan(test.statistic)
    assert test.note.startswith("no rows")


def test_one_group_can_show_nothing():
    test = paired_test([1, 1, 1], [0, 0, 0], [5, 5, 5])
    assert (test.statistic, test.p, test.n) == (1, 1, 3)
    assert test.note == "groups that tell the two apart: 1; p cannot fall below 1"


def test_rows_of_unequal_number_or_of_other_values_are_refused():
    with pytest.raises(ValueError, match="paired rows differ in number: 2 and 1"):
        mcnemar([1, 0], [1])
    with pytest.raises(ValueError, match="right"):
        mcnemar([0.5], [1])


def test_independent_rows_get_mcnemar_and_groups_or_fractions_the_permutation():
    first, second = pairs(5, 15)
    assert paired_test(first, second).name == "McNemar, exact"
    assert paired_test(first, second, np.arange(30)) == paired_test(first, second)
    assert paired_test(first, second, np.arange(30) // 2).name == "paired permutation"
    assert paired_test(np.array(first) / 2, second).name == "paired permutation"


def test_the_paired_permutation_of_rows_approaches_exact_mcnemar():
    first, second = pairs(9, 21)
    exact = mcnemar(first, second).p
    found = paired_permutation(first, second, rng=generator(1), resamples=40_000)
    assert found.statistic == pytest.approx(-12 / 40)
    # Exact p is 0.043; its Monte-Carlo error over 40,000 permutations is 0.001.
    assert found.p == pytest.approx(exact, abs=0.004)


def test_the_paired_permutation_of_unequal_differences_is_that_of_scipy():
    rng = generator(2)
    first, second = rng.random(25), rng.random(25) * 0.7

    def mean_difference(x, y, axis):
        return np.mean(x - y, axis=axis)

    expected = stats.permutation_test(
        (first, second),
        mean_difference,
        permutation_type="samples",
        n_resamples=20_000,
        vectorized=True,
        rng=generator(3),
    )
    found = paired_permutation(first, second, rng=generator(4), resamples=20_000)
    assert found.p == pytest.approx(expected.pvalue, abs=0.01)


def test_a_p_value_is_never_zero():
    found = paired_permutation(np.ones(300), np.zeros(300), rng=generator(0), resamples=999)
    assert found.p == 1 / 1000
    assert unpaired_permutation(np.ones(300), np.zeros(300), rng=generator(0), resamples=999).p == 1 / 1000


def false_positives(discordant, *, mid_p):
    """Chance that McNemar's test rejects at 0.05 when both models are as good, summed over all outcomes."""
    chances = stats.binom.pmf(np.arange(discordant + 1), discordant, 0.5)
    ps = [mcnemar(*pairs(gains, discordant - gains), mid_p=mid_p).p for gains in range(discordant + 1)]
    return chances[np.array(ps) <= 0.05].sum()


def test_exact_mcnemar_never_rejects_too_often():
    assert max(false_positives(discordant, mid_p=False) for discordant in range(60)) <= 0.05


@pytest.mark.parametrize("discordance", [0.1, 0.3, 0.6])
def test_mid_p_mcnemar_rejects_about_as_often_as_it_should(discordance):
    # For a given number of discordant rows it may reject more often (8 rows: 0.07), over all numbers hardly ever.
    chances = stats.binom.pmf(np.arange(61), 60, discordance)
    rejected = chances @ [false_positives(discordant, mid_p=True) for discordant in range(61)]
    assert 0.015 <= rejected <= 0.053


def test_groups_fool_mcnemar_but_not_the_permutation():
    rng = generator(5)
    rows, whole = [], []
    for draw in range(400):
        first, second, members = discordant_rows(rng, 30)
        rows.append(mcnemar(first, second).p <= 0.05)
        whole.append(paired_test(first, second, members, draws_seed=draw, resamples=299).p <= 0.05)
    # 400 draws: the standard error of 0.05 is 0.011.
    assert np.mean(whole) <= 0.075
    assert np.mean(rows) >= 0.15


def test_a_planted_difference_is_found_in_groups():
    rng = generator(6)
    first, second, members = discordant_rows(rng, 60)
    found = paired_test(first | (rng.random(first.size) < 0.4), second, members)
    assert found.p < 0.01
    assert found.statistic > 0.2


def test_the_unpaired_permutation_of_verdicts_approaches_fishers_exact_test():
    first, second = np.repeat([1, 0], [30, 10]), np.repeat([1, 0], [21, 19])
    # With sides of equal size the two-sided tests agree: p is 0.061.
    expected = stats.fisher_exact([[30, 10], [21, 19]]).pvalue
    found = unpaired_permutation(first, second, rng=generator(7), resamples=40_000)
    assert found.statistic == pytest.approx(9 / 40)
    assert found.p == pytest.approx(expected, abs=0.005)


def test_the_unpaired_permutation_of_numbers_is_that_of_scipy():
    rng = generator(8)
    first, second = rng.normal(0.5, 1, 30), rng.normal(0, 1, 45)

    def mean_difference(x, y, axis):
        return np.mean(x, axis=axis) - np.mean(y, axis=axis)

    expected = stats.permutation_test(
        (first, second), mean_difference, n_resamples=10_000, vectorized=True, rng=generator(9)
    )
    # scipy doubles the smaller tail, we count both: nearly the same for a nearly symmetric statistic.
    assert unpaired_permutation(first, second, rng=generator(10)).p == pytest.approx(expected.pvalue, abs=0.015)


def test_strata_keep_an_uneven_mixture_from_looking_like_a_difference():
    rng = generator(11)
    strata_first, strata_second = np.repeat([0, 1], [300, 100]), np.repeat([0, 1], [100, 300])
    rates = np.array([0.9, 0.3])
    first, second = (rng.random(400) < rates[strata] for strata in (strata_first, strata_second))
    assert unpaired_permutation(first, second, rng=rng).p < 0.001
    within = unpaired_permutation(first, second, strata_first=strata_first, strata_second=strata_second, rng=rng)
    assert within.p > 0.05
    assert abs(within.statistic) < 0.1


def test_a_stratum_that_one_side_lacks_is_left_out():
    found = unpaired_permutation(
        [1, 0, 1, 1], [1, 0, 0], strata_first=[0, 0, 1, 1], strata_second=[0, 0, 2], rng=generator(0)
    )
    assert (found.statistic, found.n) == (0, 4)


@pytest.mark.parametrize("grouped", [False, True])
def test_the_unpaired_permutation_rarely_rejects_a_true_null(grouped):
    rng = generator(12)
    rejected = []
    for _ in range(300):
        members = np.repeat(np.arange(40), 4) if grouped else np.arange(160)
        rates = rng.beta(1, 0.5, members[-1] + 1)
        values = rng.random(160) < rates[members]
        sides = members % 2 == 0
        groups = {"groups_first": members[sides], "groups_second": members[~sides]}
        found = unpaired_permutation(values[sides], values[~sides], **groups, rng=rng, resamples=299)
        rejected.append(found.p <= 0.05)
    # 300 draws: the standard error of 0.05 is 0.013.
    assert np.mean(rejected) <= 0.08


def test_holm_and_benjamini_hochberg_match_r():
    ps = [0.01, 0.04, 0.03, 0.005]
    # By hand: sorted 0.005, 0.01, 0.03, 0.04; Holm 4, 3, 2, 1 times, never falling; as R's p.adjust(ps, "holm").
    assert holm(ps).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    # Benjamini–Hochberg 4/1, 4/2, 4/3, 4/4 times, never rising from the end; as p.adjust(ps, "BH").
    assert adjusted(ps, "bh").tolist() == pytest.approx([0.02, 0.04, 0.04, 0.02])


def test_benjamini_yekutieli_and_bonferroni_match_r_and_scipy():
    ps = [0.01, 0.04, 0.03, 0.005]
    # Benjamini–Hochberg's times 1 + 1/2 + 1/3 + 1/4 = 25/12; as R's p.adjust(ps, "BY").
    expected = [0.02 * 25 / 12, 0.04 * 25 / 12, 0.04 * 25 / 12, 0.02 * 25 / 12]
    assert adjusted(ps, "by").tolist() == pytest.approx(expected)
    assert bonferroni(ps).tolist() == pytest.approx([0.04, 0.16, 0.12, 0.02])
    assert bonferroni([0.5, None, 0.9]).tolist() == pytest.approx([1.0, math.nan, 1.0], nan_ok=True)
    rng = generator(15)
    for _ in range(20):
        drawn = rng.random(rng.integers(1, 30))
        assert adjusted(drawn, "by") == pytest.approx(stats.false_discovery_control(drawn, method="by"))


def test_benjamini_yekutieli_keeps_the_false_discovery_rate_of_tests_that_depend():
    rng = generator(16)
    rates = []
    for _ in range(1000):
        # Ten tests that share most of their noise, three of them with an effect.
        scores = 0.8 * rng.standard_normal() + 0.6 * rng.standard_normal(10) + np.repeat([3.0, 0.0], [3, 7])
        found = adjusted(2 * stats.norm.sf(np.abs(scores)), "by") < 0.05
        rates.append(found[3:].sum() / max(1, found.sum()))
    assert np.mean(rates) <= 0.05


@pytest.mark.parametrize("method", ["holm", "bh", "by", "none"])
def test_unknown_p_values_stay_unknown_and_do_not_count(method):
    whole = adjusted([0.01, None, 0.04, math.nan, 0.2], method)
    assert np.isnan(whole[[1, 3]]).all()
    assert whole[[0, 2, 4]].tolist() == adjusted([0.01, 0.04, 0.2], method).tolist()
    assert adjusted([], method).size == 0
    assert np.isnan(adjusted([None], method)).all()


def test_adjusted_p_values_keep_order_and_stay_within_one():
    rng = generator(13)
    for _ in range(50):
        ps = rng.random(rng.integers(1, 12))
        order = np.argsort(ps)
        for found in (holm(ps), adjusted(ps, "bh"), adjusted(ps, "by"), bonferroni(ps)):
            assert (np.diff(found[order]) >= 0).all()
            assert ((found >= ps) & (found <= 1)).all()
        assert (holm(ps) >= adjusted(ps, "bh")).all()
    assert holm([0.9, 0.8]).tolist() == [1, 1]


def test_tied_p_values_get_the_same_adjustment():
    # As R's p.adjust(c(0.02, 0.02, 0.02), ...): Holm 0.06 each, Benjamini–Hochberg 0.02 each.
    assert holm([0.02] * 3).tolist() == pytest.approx([0.06] * 3)
    assert adjusted([0.02] * 3, "bh").tolist() == pytest.approx([0.02] * 3)


def test_an_unknown_correction_is_refused_with_a_hint():
    with pytest.raises(UnknownNameError, match="no correction called 'hollm'; did you mean 'holm'"):
        significance.adjusted([0.1], "hollm")


def test_holm_keeps_the_chance_of_any_false_positive():
    rng = generator(14)
    families = rng.random((2000, 8))
    assert np.mean([holm(family).min() <= 0.05 for family in families]) <= 0.06


def heterogeneous_rows(rng, n, *, gain=0.3, change=0.0):
    """Verdicts of two models of which one is better in the first half of rows, the other in the second."""
    strata = np.repeat([0, 1], [n // 2, n - n // 2])
    chance = np.where(strata == 0, gain + change, 0.02)
    losses = np.where(strata == 0, 0.02, gain - change)
    outcome = rng.random(n)
    return outcome < chance, outcome > 1 - losses, strata


def test_rows_in_strata_get_a_test_within_them():
    first, second = pairs(5, 15)
    strata = np.arange(30) % 3
    assert paired_test(first, second, strata=strata).name == "paired permutation within strata"
    assert paired_test(first, second, np.arange(30) // 2, strata=strata).name == "paired permutation within strata"
    assert paired_test(first, second, strata=np.zeros(30)).name == "McNemar, exact"


def test_strata_that_do_not_matter_leave_mcnemars_p():
    first, second = pairs(20, 38, alike=942)
    strata = np.arange(1_000) % 4
    found = paired_permutation(first, second, strata=strata, rng=generator(1), resamples=40_000)
    assert found.statistic == pytest.approx(-18 / 1_000)
    # Exact McNemar, binomial(58, 1/2): 0.0248; the strata add noise of their own, and 40,000 draws 0.0008.
    assert found.p == pytest.approx(mcnemar(first, second).p, abs=0.006)


def test_models_that_differ_in_opposite_directions_are_told_apart_as_their_interval_says():
    first, second = np.zeros((2, 3_000))
    first[:600], second[1_500:2_035] = 1, 1
    strata = np.repeat([0, 1], 1_500)
    assert difference(first, second, strata=strata).low > 0
    # 600 rows for one and 535 for the other: binomial(1135, 1/2) gives 0.057.
    assert mcnemar(first, second).p == pytest.approx(stats.binomtest(535, 1_135).pvalue)
    assert mcnemar(first, second).p > 0.05
    # Within strata: 65 / sqrt(1500 (0.4 · 0.6 + 0.357 · 0.643)) = 2.45 standard errors, p = 0.014.
    found = paired_permutation(first, second, strata=strata, rng=generator(1))
    assert found.p == pytest.approx(0.014, abs=0.004)


def test_within_strata_a_true_null_is_rejected_as_often_as_it_should_be():
    rng = generator(6)
    ps = []
    for _ in range(1_000):
        first, second, strata = heterogeneous_rows(rng, 200)
        ps.append(paired_permutation(first, second, strata=strata, rng=rng, resamples=399).p)
    # No difference on average, though strata differ. 1,000 draws: the standard error of 0.05 is 0.007.
    assert np.mean(np.array(ps) <= 0.05) == pytest.approx(0.05, abs=0.02)
    assert np.mean(np.array(ps) <= 0.5) == pytest.approx(0.5, abs=0.06)


def test_within_strata_a_planted_difference_is_found_more_often():
    rng = generator(7)
    within, across = [], []
    for _ in range(300):
        first, second, strata = heterogeneous_rows(rng, 400, change=0.05)
        within.append(paired_permutation(first, second, strata=strata, rng=rng, resamples=399).p <= 0.05)
        across.append(mcnemar(first, second).p <= 0.05)
    assert np.mean(within) > np.mean(across) + 0.05


def test_models_that_agree_in_every_stratum_have_p_one():
    found = paired_permutation([1, 0, 1, 1], [1, 0, 1, 1], strata=[0, 0, 1, 1], rng=generator(0))
    assert (found.p, found.statistic, found.note) == (1, 0, "no group tells the two apart")
    assert math.isnan(paired_permutation([], [], strata=[], rng=generator(0)).p)
