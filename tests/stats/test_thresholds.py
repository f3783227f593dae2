"""Thresholds chosen on one half of the groups and applied to the other."""

from __future__ import annotations

import numpy as np
import pytest

from acidtest.core.estimate import Estimate
from acidtest.stats.thresholds import CrossFit, cross_fit


def sample(rng: np.random.Generator, documents: int = 60) -> tuple[np.ndarray, ...]:
    """Groups, kinds, scores, and those of the same rows after an edit that lowers them; the best threshold is 0."""
    groups = np.repeat(np.arange(documents), 9)
    positive = rng.random(groups.size) < 2 / 3
    scores = np.where(positive, 0.75, -0.75) + 0.5 * rng.normal(size=documents)[groups] + rng.normal(size=groups.size)
    return groups, positive, scores, scores - 0.7 + 0.5 * rng.normal(size=groups.size)


def still_above(fit: CrossFit, before: np.ndarray, after: np.ndarray, groups: np.ndarray) -> Estimate:
    both = np.minimum(fit.exceeded(before), fit.exceeded(after))
    return fit.estimate(fit.above(both, groups) / fit.above(fit.exceeded(before), groups), groups, empty="none")


def test_each_half_is_judged_by_the_threshold_of_the_other() -> None:
    # Even groups are told apart at 0.3, odd ones at 0.7.
    groups = np.repeat(np.arange(20), 2)
    positive = np.tile([True, False], 20)
    scores = np.where(groups % 2 == 0, 0.3, 0.7) + np.where(positive, 0.1, -0.1)
    fit = cross_fit(scores, positive, groups=groups, number=20)
    assert fit is not None
    thresholds = fit.threshold_of(np.array([0, 1]))
    assert 0.6 < thresholds[0] < 0.8
    assert 0.2 < thresholds[1] < 0.4
    # With the other half's threshold, all even rows are below and all odd ones above.
    assert fit.balanced_accuracy(scores, positive, groups).value == 0.5


def test_kinds_that_scores_tell_apart_are_told_apart_in_the_middle_of_the_gap() -> None:
    rng = np.random.default_rng(1)
    groups, positive = np.repeat(np.arange(30), 4), np.tile([True, True, False, False], 30)
    scores = np.where(positive, 0.8, 0.0) + 0.2 * rng.random(groups.size)
    fit = cross_fit(scores, positive, groups=groups, number=30)
    assert fit is not None
    assert fit.whole == pytest.approx(0.5, abs=0.02)
    accuracy = fit.balanced_accuracy(scores, positive, groups)
    assert accuracy.value == 1
    # Clopper–Pearson at 0 of 30.
    assert accuracy.low == pytest.approx(0.025 ** (1 / 30))


@pytest.mark.parametrize("documents", [0, 1, 7])
def test_few_groups_choose_no_threshold(documents: int) -> None:
    groups, positive = np.repeat(np.arange(documents), 2), np.tile([True, False], documents)
    assert cross_fit(positive.astype(float), positive, groups=groups, number=documents) is None


def test_rows_of_one_kind_choose_no_threshold() -> None:
    groups = np.arange(40)
    assert cross_fit(np.linspace(0, 1, 40), np.ones(40, dtype=np.bool_), groups=groups, number=40) is None


def test_equal_scores_call_all_rows_alike() -> None:
    groups, positive = np.repeat(np.arange(20), 2), np.tile([True, False], 20)
    fit = cross_fit(np.full(40, 0.4), positive, groups=groups, number=20)
    assert fit is not None
    assert fit.balanced_accuracy(np.full(40, 0.4), positive, groups).value == 0.5


def test_rows_without_a_score_exceed_no_threshold() -> None:
    groups, positive = np.repeat(np.arange(20), 2), np.tile([True, False], 20)
    fit = cross_fit(positive.astype(float), positive, groups=groups, number=20)
    assert fit is not None
    assert fit.exceeded(np.array([np.nan, 1.0])).tolist() == [0, 2]


def test_intervals_of_a_paired_share_cover_about_what_they_promise() -> None:
    # The share above 0 after the edit, of those above 0 before it, in four million rows of the same kind.
    rng = np.random.default_rng(0)
    groups, positive, before, after = sample(rng, 400_000)
    truth = (after[positive & (before > 0)] > 0).mean()
    covered, widths = 0, []
    for seed in range(150):
        groups, positive, before, after = sample(rng)
        fit = cross_fit(before, positive, groups=groups, number=60, seed=seed, resamples=300)
        assert fit is not None
        estimate = still_above(fit, before[positive], after[positive], groups[positive])
        covered += estimate.low <= truth <= estimate.high
        widths.append(estimate.high - estimate.low)
    assert covered / 150 >= 0.92
    # Fixing the threshold at 0 would give 0.12: that it is chosen costs something.
    assert 0.12 < np.mean(widths) < 0.22


def test_many_groups_are_resampled_in_bundles() -> None:
    rng = np.random.default_rng(2)
    groups, positive, before, _ = sample(rng, 3000)
    fit = cross_fit(before, positive, groups=groups, number=3000, resamples=50)
    assert fit is not None
    assert fit.weights.shape == (51, 1000)
    assert fit.whole == pytest.approx(0, abs=0.4)
