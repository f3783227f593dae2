"""Proposals against marks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from acidtest.stats.annotators import tag_qualities, tag_quality


def test_shares_are_those_of_a_hand_calculation() -> None:
    proposed = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0], dtype=bool)
    marked = np.array([1, 1, 1, 0, 1, 1, 0, 0, 0, 0], dtype=bool)
    quality = tag_quality(proposed, marked)
    # 3 of 4 proposals are marked, 3 of 5 marks proposed: F1 = 2·3 / (4 + 5), chance 5/10, lift 0.75 / 0.5.
    assert quality.precision.value == 0.75
    assert quality.recall.value == 0.6
    assert quality.f1.value == pytest.approx(2 / 3)
    assert quality.chance.value == 0.5
    assert quality.lift.value == pytest.approx(1.5)
    assert all(value.low < value.value < value.high for value in vars(quality).values())
    assert (quality.precision.n, quality.recall.n, quality.f1.n) == (4, 5, 10)


def test_what_cannot_be_computed_says_why() -> None:
    none, some = np.zeros(6, dtype=bool), np.array([1, 0, 0, 1, 0, 0], dtype=bool)
    nothing = tag_quality(none, some)
    assert math.isnan(nothing.precision.value)
    assert nothing.precision.note == "nothing was proposed"
    assert nothing.recall.value == 0
    assert math.isnan(nothing.lift.value)
    unmarked = tag_quality(some, none)
    assert unmarked.recall.note == "nothing is marked"
    assert unmarked.precision.value == 0
    missed = tag_quality(some, ~some & np.array([0, 1, 0, 0, 0, 0], dtype=bool))
    assert (missed.f1.value, missed.lift.value) == (0, 0)
    assert missed.lift.note == "no proposal is marked: no interval"
    assert tag_quality(none[:0], none[:0]).chance.note


def test_proposals_that_are_the_marks_are_perfect() -> None:
    marked = np.arange(40) % 4 == 0
    quality = tag_quality(marked, marked)
    assert (quality.precision.value, quality.recall.value, quality.f1.value) == (1, 1, 1)
    assert quality.lift.value == 4


def test_random_proposals_have_a_lift_of_one_in_their_interval() -> None:
    draws = np.random.default_rng(5)
    held = 0
    for _ in range(200):
        proposed, marked = draws.random(400) < 0.3, draws.random(400) < 0.2
        lift = tag_quality(proposed, marked).lift
        held += lift.low <= 1 <= lift.high
    # 95 % of 200, give or take three standard deviations.
    assert 181 <= held <= 199


def test_rows_of_one_premise_widen_the_interval() -> None:
    draws = np.random.default_rng(7)
    proposed, marked = (np.repeat(draws.random(60) < share, 5) for share in (0.5, 0.4))
    alone, together = (
        tag_quality(proposed, marked, groups=groups).f1 for groups in (None, np.repeat(np.arange(60), 5))
    )
    assert alone.value == together.value
    assert together.high - together.low > 1.5 * (alone.high - alone.low)
    assert (alone.groups, together.groups) == (300, 60)


def test_only_categories_that_are_both_proposed_and_marked_are_measured() -> None:
    flags = np.array([True, False])
    assert list(tag_qualities({"a": flags, "b": flags}, {"c": flags, "b": flags})) == ["b"]
