"""Linear probes: against scikit-learn, on planted and on no effects."""

from __future__ import annotations

import numpy as np
import pytest

from acidtest.stats.probes import (
    accuracy_influences,
    clustered_estimate,
    group_folds,
    probe_accuracies,
    probe_scores,
    shuffled_rows,
    smoothers,
)


def sample(n: int, width: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Representations of which the first column says something of the first label, nothing of the second."""
    rng = np.random.default_rng(seed)
    layer = rng.normal(size=(n, width)).astype(np.float32) * rng.uniform(0.1, 10, size=width).astype(np.float32)
    labels = np.stack([layer[:, 0] / layer[:, 0].std() + rng.normal(size=n) > 1, rng.random(n) < 0.3], axis=1)
    return layer, labels, rng.integers(0, n // 2, size=n)


def test_rows_of_a_group_are_in_one_fold_and_folds_are_even() -> None:
    groups = np.random.default_rng(0).integers(0, 100, size=400)
    groups = np.unique(groups, return_inverse=True)[1]
    folds = group_folds(groups, np.random.default_rng(1))
    own = [set(folds[groups == group]) for group in np.unique(groups)]
    assert all(len(each) == 1 for each in own)
    counts = np.bincount([each.pop() for each in own])
    assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize("width", [20, 200])
def test_scores_are_those_of_scikit_learns_ridge_on_standardised_columns(width: int) -> None:
    linear, scaling = pytest.importorskip("sklearn.linear_model"), pytest.importorskip("sklearn.preprocessing")
    layer, labels, groups = sample(120, width)
    folds = group_folds(groups, np.random.default_rng(0))
    scores = probe_scores(smoothers(layer, folds), labels)
    for each in smoothers(layer, folds):
        scaler = scaling.StandardScaler().fit(layer[each.train].astype(np.float64))
        ridge = linear.Ridge(alpha=each.penalty).fit(scaler.transform(layer[each.train]), labels[each.train])
        theirs = ridge.predict(scaler.transform(layer[each.held_out])) - labels[each.train].mean(axis=0)
        assert scores[each.held_out] == pytest.approx(theirs, abs=2e-5)


def test_a_probe_of_two_classes_is_discriminant_analysis_with_a_shrunken_covariance() -> None:
    layer, labels, _ = sample(200, 10)
    folds = np.arange(200) % 2
    scores = probe_scores(smoothers(layer, folds), labels[:, :1])[:, 0]
    each = smoothers(layer, folds)[0]
    rows = layer[each.train].astype(np.float64)
    scaled, asked = (part / rows.std(axis=0) for part in (rows, layer[each.held_out]))
    one, two = scaled[labels[each.train, 0]], scaled[~labels[each.train, 0]]
    within = sum((part - part.mean(axis=0)).T @ (part - part.mean(axis=0)) for part in (one, two))
    direction = np.linalg.solve(within + each.penalty * np.eye(10), one.mean(axis=0) - two.mean(axis=0))
    assert np.corrcoef(asked @ direction, scores[each.held_out])[0, 1] == pytest.approx(1, abs=1e-6)


def test_accuracy_is_the_area_under_the_curve_within_folds() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    layer, labels, groups = sample(150, 12)
    folds = group_folds(groups, np.random.default_rng(0))
    scores = probe_scores(smoothers(layer, folds), labels)
    found = probe_accuracies(smoothers(layer, folds), labels, dealt=np.arange(150)[None])
    for column in range(2):
        areas, couples = [], []
        for fold in range(5):
            own = labels[folds == fold, column]
            areas.append(metrics.roc_auc_score(own, scores[folds == fold, column]))
            couples.append(own.sum() * (~own).sum())
        assert found[column, 0] == pytest.approx(np.average(areas, weights=couples))
        value, added = accuracy_influences(scores[:, column], labels[:, column], folds=folds)
        assert value == pytest.approx(found[column, 0])
        assert added.sum() == pytest.approx(0, abs=1e-9)


def test_dealt_labels_are_probed_as_if_they_were_given() -> None:
    layer, labels, groups = sample(80, 6)
    groups = np.unique(groups, return_inverse=True)[1]
    folds = group_folds(groups, np.random.default_rng(0))
    dealt = shuffled_rows(groups, 600, np.random.default_rng(0))
    found = probe_accuracies(smoothers(layer, folds), labels, dealt=dealt)
    for deal in (1, 599):
        alone = probe_accuracies(smoothers(layer, folds), labels[dealt[deal]], dealt=np.arange(80)[None])
        assert found[:, deal] == pytest.approx(alone[:, 0])
    assert found[0, 0] > 0.7
    assert found[0, 1:].mean() == pytest.approx(0.5, abs=0.02)


def test_a_layer_on_which_all_pairs_are_alike_tells_nothing_apart() -> None:
    labels = np.arange(40)[:, None] % 3 == 0
    found = probe_accuracies(
        smoothers(np.ones((40, 5), np.float32), np.arange(40) % 5), labels, dealt=np.arange(40)[None]
    )
    assert found[0, 0] == 0.5


def test_a_label_that_no_fold_has_beside_its_opposite_has_no_accuracy() -> None:
    labels = np.zeros((40, 1), dtype=np.bool_)
    layer = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
    found = probe_accuracies(smoothers(layer, np.arange(40) % 5), labels, dealt=np.arange(40)[None])
    assert np.isnan(found).all()


def test_intervals_of_given_scores_cover_the_truth_where_rows_come_in_groups() -> None:
    from scipy.special import ndtr

    rng = np.random.default_rng(0)
    # Scores of rows with the label lie one unit higher, with variance 2 on each side: P(higher) = Phi(1 / 2).
    covered = 0
    for _ in range(300):
        groups = np.repeat(np.arange(60), 3)
        labels = np.repeat(rng.random(60) < 0.4, 3)
        scores = labels + rng.normal(size=60)[groups] + rng.normal(size=180)
        value, added = accuracy_influences(scores.astype(np.float32), labels, folds=np.zeros(180, dtype=np.intp))
        found = clustered_estimate(value, added, groups=groups, n=180, method="", unit=True)
        covered += found.low <= ndtr(0.5) <= found.high
    assert 270 <= covered <= 298
