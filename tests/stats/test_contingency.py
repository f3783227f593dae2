"""Tests of contingency tables, against scipy, closed forms, the paper's figures, and simulated nulls."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from acidtest.core.errors import UnknownNameError
from acidtest.core.serialise import to_json
from acidtest.stats.contingency import (
    Crosstab,
    association,
    conditional_association,
    odds_ratio,
    permutation_p,
    pooled_log_odds_ratio,
)
from acidtest.stats.resampling import generator

TABLE_2 = [[155, 31], [8, 100]]
TABLE_3 = [[567, 20], [13, 20]]
TABLE_4 = [[5, 21, 0], [5, 543, 3], [0, 3, 0], [8, 20, 12]]


@pytest.mark.parametrize(
    ("table", "statistic", "df"),
    # Sanchez et al. 2018, section 6.1: what they call chi-square is G, with Yates' correction at one degree of freedom.
    [(TABLE_2, 175.34, 1), (TABLE_3, 74.16, 1), (TABLE_4, 101.26, 6)],
)
def test_the_papers_statistics_come_out_to_the_second_decimal(table, statistic, df):
    found = association(table)
    assert (round(found.statistic, 2), found.df) == (statistic, df)
    assert found.test == ("G with Yates' correction" if df == 1 else "G")


def test_g_and_pearson_are_scipys_on_random_tables():
    rng = np.random.default_rng(1)
    for _ in range(60):
        table = rng.integers(0, 30, rng.integers(2, 5, 2)) + rng.integers(0, 2)
        if not (table.any(axis=0).all() and table.any(axis=1).all()):
            continue
        for test, power in (("g", "log-likelihood"), ("pearson", "pearson")):
            for yates in (True, False):
                theirs = stats.chi2_contingency(table, correction=yates, lambda_=power)
                ours = association(table, test, yates=yates)
                assert (ours.statistic, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue), abs=1e-9)
                assert ours.df == theirs.dof
        effect = stats.contingency.association(table, method="cramer")
        assert abs(association(table).effect.value) == pytest.approx(effect)


def test_pearson_is_the_closed_form_of_a_two_by_two_table():
    (a, b), (c, d) = TABLE_2
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    n = a + b + c + d
    found = association(TABLE_2, "pearson", yates=False)
    assert found.statistic == pytest.approx(n * (a * d - b * c) ** 2 / margins)
    assert association(TABLE_2, "pearson").statistic == pytest.approx(n * (abs(a * d - b * c) - n / 2) ** 2 / margins)
    assert found.effect.value == pytest.approx((a * d - b * c) / math.sqrt(margins))
    assert found.effect.method == "phi"


def test_yates_correction_goes_no_further_than_what_is_expected():
    # Expected counts of 2.5 lie half a row away: corrected, nothing is left.
    found = association([[3, 2], [2, 3]])
    assert (found.statistic, found.p) == (0.0, 1.0)


def test_fisher_is_scipys_and_the_tea_tasting_lady():
    # Fisher (1935): 3 of 4 cups told rightly; two-sided p 34/70.
    lady = association([[3, 1], [1, 3]], "fisher")
    assert lady.p == pytest.approx(34 / 70)
    assert math.isnan(lady.statistic)
    assert lady.test == "Fisher's exact"
    assert association(TABLE_3, "fisher").p == pytest.approx(stats.fisher_exact(TABLE_3).pvalue)


def test_fisher_of_a_larger_table_is_the_share_of_tables_no_likelier():
    # All tables with these margins, by hand: the hypergeometric probability of each.
    table = np.array([[3, 0, 1], [0, 2, 1]])
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    law = stats.random_table(rows, columns)
    every = [
        np.array([[a, b, rows[0] - a - b], columns - [a, b, rows[0] - a - b]])
        for a in range(columns[0] + 1)
        for b in range(columns[1] + 1)
        if 0 <= rows[0] - a - b <= columns[2]
    ]
    chances = np.array([law.pmf(each) for each in every])
    assert chances.sum() == pytest.approx(1)
    exact = chances[chances <= law.pmf(table) * (1 + 1e-9)].sum()
    found = association(table, "fisher", rng=generator(3), draws=20_000)
    assert found.p == pytest.approx(exact, abs=4 * math.sqrt(exact / 20_000))
    assert found.test == "Fisher's exact, by simulation"
    assert found.note == "of 20,000 tables drawn with the same margins; p cannot fall below 5e-05"


def test_a_drawn_p_is_never_zero():
    assert association(TABLE_4, "fisher", rng=generator(0), draws=99).p == 1 / 100


def test_empty_rows_and_columns_are_dropped_and_said():
    table = Crosstab(
        ("change", "never", "no change"), ("correct", "incorrect"), np.array([[155, 31], [0, 0], [8, 100]])
    )
    found = association(table)
    assert (round(found.statistic, 2), found.df, found.note) == (175.34, 1, "empty rows dropped: never")
    assert association([[4, 0, 1], [2, 0, 5]]).note.startswith(
        "empty columns dropped: 2; fewer than 5 rows expected in"
    )


@pytest.mark.parametrize(
    ("table", "note"),
    [
        ([[0, 0], [0, 0]], "no rows"),
        ([[5, 3]], "all rows are alike in one of the two: nothing to test"),
        ([[5, 0], [7, 0]], "empty columns dropped: 2; all rows are alike in one of the two: nothing to test"),
    ],
)
@pytest.mark.parametrize("test", ["g", "pearson", "fisher"])
def test_a_table_that_cannot_be_tested_has_no_p(table, note, test):
    found = association(table, test)
    assert math.isnan(found.p)
    assert math.isnan(found.statistic)
    assert found.note.endswith(note.split("; ")[-1])
    assert not found.effect.known
    assert found.odds_ratio is None
    assert to_json(found)["p"] is None


def test_few_expected_rows_are_pointed_out():
    assert association(TABLE_4).note == "fewer than 5 rows expected in 7 of 12 cells: p is rough"
    assert association(TABLE_2).note == ""


def test_an_odds_ratio_has_woolfs_interval():
    found = odds_ratio(TABLE_2)
    reach = 1.959964 * math.sqrt(1 / 155 + 1 / 31 + 1 / 8 + 1 / 100)
    centre = math.log(155 * 100 / (31 * 8))
    assert (found.value, found.low, found.high) == pytest.approx(
        (math.exp(centre), math.exp(centre - reach), math.exp(centre + reach)), rel=1e-6
    )
    assert found.method == "Woolf"


def test_an_odds_ratio_with_an_empty_cell_adds_a_half_and_says_so():
    found = odds_ratio([[10, 0], [5, 5]])
    assert found.value == pytest.approx(10.5 * 5.5 / (0.5 * 5.5))
    assert found.note == "a half added to every cell, since one is empty"
    assert not odds_ratio([[10, 0], [5, 0]]).known
    assert not odds_ratio(TABLE_4).known


def test_one_table_has_its_own_log_odds_ratio_and_woolfs_variance():
    value, variance = pooled_log_odds_ratio([TABLE_2])
    assert value == pytest.approx(math.log(155 * 100 / (31 * 8)))
    assert variance == pytest.approx(1 / 155 + 1 / 31 + 1 / 8 + 1 / 100)
    assert pooled_log_odds_ratio([TABLE_2, TABLE_2]) == pytest.approx((value, variance / 2))


def test_a_pooled_odds_ratio_is_not_biased_by_how_hard_the_tables_are():
    # Odds ratio e in both tables, at 50 % and at 5 %; pooled counts would give exp(0.7).
    rng, draws = np.random.default_rng(3), []
    for _ in range(300):
        tables = []
        for rate in (0.5, 0.05):
            odds = rate / (1 - rate) * math.e
            first, second = rng.binomial(200, (odds / (1 + odds), rate))
            tables.append([[first, 200 - first], [second, 200 - second]])
        draws.append(pooled_log_odds_ratio(tables))
    values, variances = np.array(draws).T
    assert values.mean() == pytest.approx(1, abs=0.03)
    assert (np.abs(values - 1) < 1.96 * np.sqrt(variances)).mean() > 0.92


def test_a_pooled_odds_ratio_of_one_sided_tables_is_finite_and_without_rows_unknown():
    value, variance = pooled_log_odds_ratio([[[20, 80], [0, 100]], [[0, 0], [3, 4]]])
    # Half a row in every cell.
    assert value == pytest.approx(math.log(20.5 * 100.5 / (80.5 * 0.5)))
    assert variance > 2
    assert all(map(math.isnan, pooled_log_odds_ratio([[[0, 0], [3, 4]]])))


def test_intervals_of_the_odds_ratio_cover_the_truth():
    rng = np.random.default_rng(2)
    truth = (0.7 / 0.3) / (0.4 / 0.6)
    held = 0
    for _ in range(1000):
        ones = rng.binomial(60, (0.7, 0.4))
        found = odds_ratio([[ones[0], 60 - ones[0]], [ones[1], 60 - ones[1]]])
        held += found.low <= truth <= found.high
    # 1,000 draws: the standard error of 0.95 is 0.007.
    assert 0.93 <= held / 1000 <= 0.98


@pytest.mark.parametrize("test", ["g", "pearson", "fisher"])
def test_a_null_is_rejected_in_five_of_a_hundred_draws_or_fewer(test):
    rng = np.random.default_rng(3)
    tables = [np.array([rng.multinomial(80, [0.6, 0.4]), rng.multinomial(80, [0.6, 0.4])]) for _ in range(1000)]
    rejected = np.mean([association(table, test).p < 0.05 for table in tables])
    # Corrected and exact tests keep below; the standard error is 0.007.
    assert rejected <= 0.065


def test_a_null_of_a_larger_table_is_rejected_in_about_five_of_a_hundred_draws():
    rng = np.random.default_rng(4)
    tables = [np.array([rng.multinomial(90, [0.3, 0.3, 0.4]) for _ in range(4)]) for _ in range(1000)]
    assert 0.03 <= np.mean([association(table).p < 0.05 for table in tables]) <= 0.075


def test_strata_add_up_and_a_third_factor_falls_away():
    # Within each stratum rows and columns are independent; thrown together they are not.
    strata = [[[40, 10], [8, 2]], [[2, 8], [10, 40]]]
    assert association(np.sum(strata, axis=0)).p < 0.001
    tables = [Crosstab(("a", "b"), ("c", "d"), np.array(each)) for each in strata]
    found = conditional_association(tables)
    assert (found.statistic, found.df, found.p) == pytest.approx((0.0, 2, 1.0), abs=1e-9)
    planted = conditional_association([Crosstab(("a", "b"), ("c", "d"), np.array(TABLE_2)), tables[0]])
    alone = stats.chi2_contingency(TABLE_2, correction=False, lambda_="log-likelihood").statistic
    assert (planted.statistic, planted.df) == (pytest.approx(alone), 2)
    assert planted.test == "G, summed over strata"


def test_strata_without_anything_to_test_give_no_p():
    empty = Crosstab(("a", "b"), ("c", "d"), np.zeros((2, 2), dtype=np.int64))
    assert math.isnan(conditional_association([empty]).p)
    assert math.isnan(conditional_association([]).p)
    full = Crosstab(("a", "b"), ("c", "d"), np.array(TABLE_2))
    assert conditional_association([empty, full]).note == "strata that cannot be tested: 1"


def test_shuffling_rows_of_their_own_agrees_with_g():
    rows = np.repeat([0, 0, 1, 1], [30, 20, 18, 32])
    columns = np.repeat([0, 1, 0, 1], [30, 20, 18, 32])
    p = permutation_p(rows, columns, np.arange(100), rng=generator(0))
    # The permutation distribution of G on rows is Fisher's; 9,999 draws.
    assert p == pytest.approx(stats.fisher_exact([[30, 20], [18, 32]]).pvalue, abs=0.008)


def test_clusters_shuffled_as_wholes_keep_the_error_rate_where_rows_do_not():
    rng = np.random.default_rng(6)
    by_rows, by_clusters = [], []
    for _ in range(200):
        clusters = np.repeat(np.arange(24), 12)
        value = rng.permutation(np.repeat([0, 1], 12))[clusters]
        wrong = rng.random(288) < rng.beta(0.7, 0.7, 24)[clusters]
        table = Crosstab.of(value, wrong, names=(("a", "b"), ("right", "wrong")))
        by_rows.append(association(table).p < 0.05)
        by_clusters.append(permutation_p(value, wrong, clusters, rng=rng, draws=399) < 0.05)
    # 200 draws: the standard error of 0.05 is 0.015.
    assert np.mean(by_rows) > 0.3
    assert np.mean(by_clusters) <= 0.1


def test_shuffling_needs_two_values():
    assert math.isnan(permutation_p([0, 0], [0, 1], [0, 1], rng=generator(0)))
    assert math.isnan(permutation_p([0, 1], [1, 1], [0, 1], rng=generator(0)))
    assert math.isnan(permutation_p([], [], [], rng=generator(0)))


def test_codes_below_zero_are_left_out_of_a_table():
    found = Crosstab.of([0, 1, -1, 1], [1, -1, 0, 1], names=(("a", "b"), ("c", "d")))
    assert found.counts.tolist() == [[0, 1], [0, 1]]
    assert found.n == 2
    assert found.filled.columns == ("d",)
    assert to_json(found) == {"rows": ["a", "b"], "columns": ["c", "d"], "counts": [[0, 1], [0, 1]]}


def test_what_is_no_table_of_counts_is_refused():
    with pytest.raises(ValueError, match="whole numbers from 0 on"):
        association([[1.5, 2], [3, 4]])
    with pytest.raises(ValueError, match="has rows and columns, not 1 dimensions"):
        association([1, 2])
    with pytest.raises(UnknownNameError, match="no test of contingency tables called 'chi'"):
        association(TABLE_2, "chi")


def test_a_test_is_told_with_its_statistic_and_effect():
    assert association(TABLE_2).describe() == "G(1) = 175.34 with Yates' correction, phi 0.74"
    assert association(TABLE_4, "pearson").describe() == "Pearson's chi-square(6) = 216.11, Cramér's V 0.42"
    assert association(TABLE_3, "fisher").describe() == "Fisher's exact, phi 0.52"
    assert association([[10, 10], [11, 10]], yates=False).describe() == "G(1) = 0.02, phi −0.02"
    assert (
        conditional_association([Crosstab(("a", "b"), ("c", "d"), np.array(TABLE_2))])
        .describe()
        .endswith(", summed over strata")
    )
