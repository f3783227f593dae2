"""Leaving out groups: what is left out, the interval by another way, and where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from acidtest.stats.jackknife import LOGIT, Replicates, group_sums, jackknifed, replicates


def mean(sums: np.ndarray) -> np.ndarray:
    return np.where(sums[:, 1] > 0, sums[:, 0] / np.maximum(sums[:, 1], 1), np.nan)


def test_rows_of_a_group_are_added_up() -> None:
    columns = np.array([[1.0, 10], [2, 20], [4, 40]])
    assert group_sums(columns, [7, 3, 7]).tolist() == [[2, 20], [5, 50]]
    assert group_sums(columns, None) is columns


def test_each_group_is_left_out_once() -> None:
    sums = np.array([[1.0, 2], [3, 3], [0, 5]])
    found = replicates(sums, mean, rows=10)
    assert found.value == pytest.approx(4 / 10)
    assert found.without == pytest.approx([3 / 8, 1 / 7, 4 / 5])
    assert found.groups == 3


def test_equal_groups_have_the_textbook_interval_on_the_logit_scale() -> None:
    # The jackknife of a mean of equal groups is its standard error, and Satterthwaite's degrees of freedom are twice
    # the squared variance over that of its parts.
    values = np.array([0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.35, 0.45, 0.55, 0.65])
    found = jackknifed(replicates(np.stack([values, np.ones(10)], axis=1), mean, rows=10), undefined="", scale=LOGIT)
    error = values.std(ddof=1) / math.sqrt(10)
    parts = (values - values.mean()) ** 2 / 90
    degrees = min(2 * parts.sum() ** 2 / ((parts - parts.mean()) ** 2).sum() * 0.9, 9)
    centre = values.mean()
    reach = stats.t.ppf(0.975, degrees) * error / (centre * (1 - centre))
    low = 1 / (1 + math.exp(-(math.log(centre / (1 - centre)) - reach)))
    assert found.low == pytest.approx(low)
    assert found.method == "t interval on the logit scale, jackknife over rows"


@pytest.mark.parametrize(
    ("value", "without", "note"),
    [
        (math.nan, [0.1, 0.2], "why not"),
        (1.0, [1.0, 1.0], "they agree on every row: no interval"),
        (0.5, [math.nan], "one row only: no interval"),
        (0.5, [0.4, math.nan], "it rests on one of the rows: no interval"),
        (0.5, [0.5, 0.5], "all rows are alike: no interval"),
        (-1.0, [-1.0, -0.5], "all rows are alike: no interval"),
    ],
)
def test_where_there_is_no_interval_it_says_why(value: float, without: list[float], note: str) -> None:
    found = jackknifed(Replicates(value, np.array(without), len(without)), undefined="why not")
    assert found.note == note
    assert math.isnan(found.low)
