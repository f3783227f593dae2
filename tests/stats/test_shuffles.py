"""Labels dealt anew, and p-values of many measures of the same deals."""

from __future__ import annotations

import numpy as np
import pytest

from acidtest.stats.probes import clustered_estimate, shuffle_test, shuffled_rows


def test_labels_of_a_group_stay_together_and_go_to_a_group_of_its_size() -> None:
    groups = np.array([0, 1, 0, 2, 2, 3, 4, 4, 4, 5])
    dealt = shuffled_rows(groups, 50, np.random.default_rng(0))
    assert (dealt[0] == np.arange(10)).all()
    sizes = np.bincount(groups)
    for deal in dealt:
        assert sorted(deal) == list(range(10))
        for group in range(6):
            given = set(groups[deal[groups == group]])
            assert len(given) == 1
            assert sizes[given.pop()] == sizes[group]
    # The only group of three keeps its labels; those of one and of two do not.
    assert (dealt[:, groups == 4] == np.flatnonzero(groups == 4)).all()
    assert (dealt[:, 1] != 1).any()
    assert (dealt[:, 0] != 0).any()


def test_p_counts_the_data_themselves_and_is_never_0() -> None:
    # Two measures; of four deals none reaches the first, all reach the second.
    found = shuffle_test(np.array([[[9.0, 1, 2, 3, 4]], [[0.0, 1, 2, 3, 4]]]))
    assert found.p.ravel().tolist() == pytest.approx([1 / 5, 1])
    assert found.p_adjusted.ravel().tolist() == pytest.approx([1 / 5, 1])
    assert found.baselines.ravel().tolist() == pytest.approx([2.5, 2.5])


def test_what_has_no_measure_has_no_p_and_costs_the_others_nothing() -> None:
    values = np.random.default_rng(0).normal(size=(3, 4, 100))
    values[1, 2] = np.nan
    found = shuffle_test(values)
    assert np.isnan(found.p[1, 2])
    assert np.isnan(found.p_adjusted[1, 2])
    rest = np.delete(values.reshape(12, 1, 100), 6, axis=0)
    assert np.delete(found.p_adjusted.ravel(), 6) == pytest.approx(shuffle_test(rest).p_adjusted.ravel())


def test_measures_that_no_deal_changes_are_not_above_anything() -> None:
    found = shuffle_test(np.ones((2, 2, 20)))
    assert (found.p == 1).all()
    assert (found.p_adjusted == 1).all()


def test_among_measures_of_nothing_one_in_twenty_studies_finds_something() -> None:
    rng = np.random.default_rng(1)
    # Twelve measures that go together, as layers do.
    found = [
        shuffle_test((rng.normal(size=(1, 40)) + rng.normal(size=(12, 40)))[None]).p_adjusted.min() for _ in range(400)
    ]
    # With p at most 0.05 in 5 %, more than 33 of 400 would be seen once in a thousand times (binomial).
    assert sum(p <= 0.05 for p in found) <= 33


def test_an_interval_adds_up_the_rows_of_a_group_first() -> None:
    groups = np.repeat(np.arange(50), 4)
    rows = np.repeat(np.random.default_rng(0).normal(size=50), 4)
    alone = clustered_estimate(0.0, rows / 200, groups=np.arange(200), n=200, method="m", unit=False)
    together = clustered_estimate(0.0, rows / 200, groups=groups, n=200, method="m", unit=False)
    # Four copies of a row say no more than one: twice the standard error.
    assert (together.high - together.low) / (alone.high - alone.low) == pytest.approx(2, rel=0.05)
    assert clustered_estimate(0.5, np.ones(3), groups=np.zeros(3, dtype=np.intp), n=3, method="m", unit=True).note
