"""Silhouettes: against scikit-learn, with groups left out, and with intervals that cover."""

from __future__ import annotations

import numpy as np
import pytest

from acidtest.stats.probes import clustered_estimate, shuffled_rows, silhouette_influences, silhouettes


def sample(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = np.stack([rng.random(n) < 0.4, rng.random(n) < 0.2], axis=1)
    layer = rng.normal(size=(n, 4)).astype(np.float32)
    layer[:, 0] += 2 * labels[:, 0]
    return layer, labels


def test_without_groups_they_are_the_mean_of_scikit_learns_on_the_two_sides() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    layer, labels = sample(90)
    found, _ = silhouette_influences(layer, np.arange(90), labels)
    drawn = silhouettes(layer, np.arange(90), labels=labels, dealt=np.arange(90)[None])
    for column in range(2):
        rows = metrics.silhouette_samples(layer, labels[:, column])
        theirs = (rows[labels[:, column]].mean() + rows[~labels[:, column]].mean()) / 2
        assert found[column] == pytest.approx(theirs, abs=1e-5)
        assert drawn[column, 0] == pytest.approx(theirs, abs=1e-5)


def test_rows_of_ones_own_group_count_for_neither_side() -> None:
    layer, labels = sample(40)
    groups = np.arange(40) // 2
    values = np.zeros(40)
    for row in range(40):
        far = np.sqrt(((layer - layer[row]) ** 2).sum(axis=1))
        own, others = labels[:, 0] == labels[row, 0], groups != groups[row]
        a, b = far[others & own].mean(), far[others & ~own].mean()
        values[row] = (b - a) / max(a, b)
    found = silhouettes(layer, groups, labels=labels, dealt=np.arange(40)[None])
    assert found[0, 0] == pytest.approx((values[labels[:, 0]].mean() + values[~labels[:, 0]].mean()) / 2, abs=1e-5)


def test_dealt_labels_are_measured_as_if_they_were_given() -> None:
    layer, labels = sample(60)
    groups = np.arange(60) // 3
    dealt = shuffled_rows(groups, 700, np.random.default_rng(0))
    found = silhouettes(layer, groups, labels=labels, dealt=dealt)
    alone = silhouettes(layer, groups, labels=labels[dealt[700]], dealt=np.arange(60)[None])
    assert found[:, 700] == pytest.approx(alone[:, 0])
    assert found[0, 0] > found[0, 1:].max()


def test_what_rows_add_is_what_is_lost_without_them() -> None:
    layer, labels = sample(120)
    groups = np.arange(120) // 2
    whole, added = silhouette_influences(layer, groups, labels)
    rows = np.arange(120)
    lost = []
    for group in range(60):
        kept = rows[groups != group]
        less, _ = silhouette_influences(layer[kept], groups[kept] - (groups[kept] > group), labels[kept])
        lost.append(whole - less)
    own = added.reshape(60, 2, 2).sum(axis=1)
    assert np.corrcoef(np.array(lost)[:, 0], own[:, 0])[0, 1] > 0.99
    assert np.std(lost, axis=0) == pytest.approx(own.std(axis=0), rel=0.1)


def test_intervals_cover_the_silhouette_of_the_whole_population() -> None:
    big, marks = sample(3000, seed=99)
    truth = silhouette_influences(big, np.arange(3000), marks)[0][0]
    covered = 0
    for seed in range(200):
        layer, labels = sample(80, seed)
        value, added = silhouette_influences(layer, np.arange(80), labels)
        found = clustered_estimate(value[0], added[:, 0], groups=np.arange(80), n=80, method="", unit=False)
        covered += found.low <= truth <= found.high
    # About 95 %; without what rows do to others far fewer do.
    assert covered >= 178


def test_rows_in_the_middle_of_the_cloud_are_no_cluster() -> None:
    layer = np.random.default_rng(0).normal(size=(400, 4)).astype(np.float32)
    middle = (layer**2).sum(axis=1) < 2
    found, _ = silhouette_influences(layer, np.arange(400), middle[:, None])
    shifted, _ = silhouette_influences(layer + 2 * middle[:, None], np.arange(400), middle[:, None])
    assert abs(found[0]) < 0.1 < 0.3 < shifted[0]


def test_a_label_of_one_row_has_no_silhouette_and_rows_in_one_place_have_0() -> None:
    labels = np.arange(6)[:, None] == 0
    assert np.isnan(silhouettes(np.eye(6, dtype=np.float32), np.arange(6), labels=labels, dealt=np.arange(6)[None]))
    labels = np.arange(6)[:, None] < 3
    same = silhouettes(np.ones((6, 2), np.float32), np.arange(6), labels=labels, dealt=np.arange(6)[None])
    assert same[0, 0] == 0
