from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.stats.regression import PRIORS, Prior, dependent, discriminant, logistic, network, two_sided

Columns = dict[str, npt.NDArray[np.float64]]


def data(rows: int = 600, *, seed: int = 3) -> tuple[Columns, npt.NDArray[np.bool_]]:
    """Two categories and a length; only the first category and the length matter."""
    rng = np.random.default_rng(seed)
    columns = {
        "negation": rng.integers(0, 2, rows).astype(float),
        "world": rng.integers(0, 2, rows).astype(float),
        "Length1": rng.normal(100, 30, rows).round(),
    }
    odds = 0.4 + 1.1 * columns["negation"] - 0.012 * (columns["Length1"] - 100)
    return columns, rng.random(rows) < 1 / (1 + np.exp(-odds))


def test_logistic_regression_is_that_of_statsmodels() -> None:
    columns, right = data()
    api = pytest.importorskip("statsmodels.api")
    matrix = api.add_constant(np.column_stack(list(columns.values())))
    theirs = api.Logit(right.astype(float), matrix).fit(disp=0)
    ours = logistic(columns, right)
    np.testing.assert_allclose(ours.coefficients, theirs.params[1:], rtol=1e-9)
    np.testing.assert_allclose(ours.errors, theirs.bse[1:], rtol=1e-9)
    np.testing.assert_allclose(two_sided(ours.coefficients, ours.errors), theirs.pvalues[1:], rtol=1e-9)
    assert ours.explained == pytest.approx(theirs.prsquared, rel=1e-9)


def test_errors_over_groups_are_the_clustered_ones_of_statsmodels() -> None:
    columns, right = data()
    groups = np.arange(right.size) // 3
    api = pytest.importorskip("statsmodels.api")
    matrix = api.add_constant(np.column_stack(list(columns.values())))
    # Their correction also has (n - 1) / (n - k); ours is G / (G - 1) alone.
    theirs = api.Logit(right.astype(float), matrix).fit(
        disp=0, cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
    )
    ours = logistic(columns, right, groups=groups)
    np.testing.assert_allclose(ours.group_errors, theirs.bse[1:] * np.sqrt(200 / 199), rtol=1e-7)


def test_the_discriminant_is_that_of_scikit_learn() -> None:
    columns, right = data()
    sklearn = pytest.importorskip("sklearn.discriminant_analysis")
    theirs = sklearn.LinearDiscriminantAnalysis(solver="lsqr").fit(np.column_stack(list(columns.values())), right)
    np.testing.assert_allclose(discriminant(columns, right).coefficients, theirs.coef_[0], rtol=1e-7)


def test_errors_of_the_discriminant_are_those_of_a_bootstrap() -> None:
    columns, right = data(2000)
    rng, drawn = np.random.default_rng(0), []
    for _ in range(400):
        rows = rng.integers(0, right.size, right.size)
        drawn.append(discriminant({name: column[rows] for name, column in columns.items()}, right[rows]).coefficients)
    # 400 draws leave about 3.5 per cent of noise in a standard deviation.
    np.testing.assert_allclose(discriminant(columns, right).errors, np.std(drawn, axis=0), rtol=0.15)


def test_a_null_effect_is_found_in_one_of_twenty_draws() -> None:
    found = np.zeros(2)
    for seed in range(300):
        rng = np.random.default_rng(seed)
        columns = {"a": rng.integers(0, 2, 150).astype(float), "b": rng.normal(size=150)}
        right = rng.random(150) < 0.7
        for place, fit in enumerate((logistic(columns, right), discriminant(columns, right))):
            found[place] += two_sided(fit.coefficients, fit.errors)[0] < 0.05
    assert (found / 300 < 0.09).all()
    assert (found / 300 > 0.02).all()


def test_constant_and_dependent_columns_are_dropped_and_named() -> None:
    columns, right = data()
    more = {**columns, "one": np.ones(right.size), "again": 1 - columns["negation"]}
    for fit in (logistic(more, right), discriminant(more, right)):
        assert fit.dropped == {"one": "it is 1 in every row", "again": "it follows from negation"}
        assert np.isnan(fit.coefficients[3:]).all()
    np.testing.assert_allclose(logistic(more, right).coefficients[:3], logistic(columns, right).coefficients)


def test_a_column_that_parts_right_from_wrong_has_no_estimate_and_spares_the_others() -> None:
    columns, right = data()
    sure = (np.arange(right.size) % 5 == 0) & right
    fit = logistic({**columns, "sure": sure}, right)
    assert fit.dropped == {"sure": "it parts right from wrong: no finite estimate (towards +∞)"}
    assert fit.notes == (f"{sure.sum()} rows are decided by columns that part right from wrong, and left out",)
    # Maximum likelihood tends to what the undecided rows give.
    rest = logistic({name: column[~sure] for name, column in columns.items()}, right[~sure])
    np.testing.assert_allclose(fit.coefficients[:3], rest.coefficients, rtol=1e-6)
    assert fit.rows == right.size - sure.sum()


@pytest.mark.parametrize(
    ("column", "right", "why"),
    [
        ([0, 0, 1, 1], [0, 0, 1, 1], "it parts right from wrong: no finite estimate (towards +∞)"),
        ([0, 1, 0, 1], [1, 1, 1, 1], "every answer is right"),
        ([0, 1, 0, 1], [0, 0, 0, 0], "every answer is wrong"),
        ([], [], "there are no rows"),
        ([1], [1], "every answer is right"),
    ],
)
def test_what_cannot_be_estimated_says_why(column: list[int], right: list[int], why: str) -> None:
    fit = logistic({"a": column}, right)
    assert (fit.dropped, np.isnan(fit.coefficients).all()) == ({"a": why}, True)
    assert np.isnan(discriminant({"a": column}, right).coefficients).all()


def test_a_combination_of_several_columns_is_told() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=50), rng.normal(size=50)
    matrix = np.column_stack([first, second, 2 * first - second + 7])
    assert dependent(["a", "b", "c"], matrix) == {"c": "it follows from a, b"}


RNG = np.random.default_rng(5)
MARKS = {name: RNG.random(40) < share for name, share in (("a", 0.5), ("b", 0.3), ("c", 0.1), ("d", 0.05))}
RIGHT = RNG.random(40) < 0.7


def enumerated(prior: str, size: float, category: str) -> tuple[float, float]:
    """P(right | category) and the weight of unseen configurations, from all 16 configurations."""
    table = np.column_stack(list(MARKS.values()))
    cells, base = 2 ** len(MARKS), RIGHT.mean() if prior == "base-rate" else 0.5
    added = {"bdeu": size / cells, "base-rate": size / cells, "laplace": 2.0, "none": 0.0}[prior]
    extra = {"bdeu": size, "base-rate": size, "laplace": 2.0, "none": 0.0}[prior]
    chances = (table.sum(axis=0) + extra / 2) / (len(RIGHT) + extra)
    place, total, weight, unseen = list(MARKS).index(category), 0.0, 0.0, 0.0
    for configuration in product([False, True], repeat=len(MARKS)):
        if not configuration[place]:
            continue
        own = np.prod([c if on else 1 - c for on, c in zip(configuration, chances, strict=True)]) / chances[place]
        rows = (table == configuration).all(axis=1)
        unseen += 0 if rows.any() else own
        if rows.any() or prior != "none":
            total += own * (RIGHT[rows].sum() + added * base) / (rows.sum() + added)
            weight += own
    return total / weight, unseen


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("category", list(MARKS))
def test_estimates_are_those_of_all_configurations(prior: str, category: str) -> None:
    chance = network(MARKS, RIGHT, Prior(prior, 6)).chances[category]
    value, unseen = enumerated(prior, 6, category)
    assert chance.network.value == pytest.approx(value, rel=1e-12)
    assert chance.unseen == pytest.approx(unseen, abs=1e-12)
    # Without a prior, rows that are all right leave no spread.
    assert chance.network.low < value < chance.network.high or (prior == "none" and value == 1)


def test_observed_weights_without_a_prior_give_the_relative_frequency() -> None:
    found = network(MARKS, RIGHT, Prior("none"))
    for name, marks in MARKS.items():
        assert found.chances[name].observed.value == pytest.approx(RIGHT[marks].mean())
    assert found.possible == 16
    assert found.seen == len(np.unique(np.column_stack(list(MARKS.values())), axis=0))


def test_intervals_cover_a_planted_chance() -> None:
    covered = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        marks = {"a": rng.random(300) < 0.5, "b": rng.random(300) < 0.5}
        right = rng.random(300) < np.where(marks["a"], 0.8, 0.6)
        chance = network(marks, right).chances["a"].network
        covered += chance.low <= 0.8 <= chance.high
    assert 0.9 <= covered / 200 <= 0.99


def test_forty_categories_are_no_more_work_than_four() -> None:
    rng = np.random.default_rng(1)
    marks = {f"c{number}": rng.random(50) < 0.2 for number in range(40)}
    found = network(marks, rng.random(50) < 0.5)
    assert found.possible == 2**40
    assert all(0 <= chance.unseen <= 1 for chance in found.chances.values())


def test_a_category_without_rows_has_no_estimate() -> None:
    chance = network({"a": np.zeros(3, dtype=bool)}, np.ones(3, dtype=bool)).chances["a"]
    assert (chance.network.known, chance.network.note) == (False, "no rows of this category")


def test_an_impossible_prior_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="laplace"):
        Prior("laplase")
    with pytest.raises(AcidtestError, match="--sample-size is a number of rows above 0, not 0"):
        Prior("bdeu", 0)
