"""Logistic regression and linear discriminant, against statsmodels and scikit-learn, and where they cannot be had."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from acidtest.stats.regression import dependent, discriminant, logistic, two_sided

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
    assert ours.intercept == pytest.approx(theirs.params[0], rel=1e-9)
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
