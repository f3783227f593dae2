from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from acidtest.core.ratings import summarise_times
from acidtest.core.serialise import to_json
from acidtest.stats.annotators import accepted, inference_accuracy, tag_qualities, tag_quality

LABELS = ("entailment", "neutral", "contradiction")
E, N, C = LABELS


def said(*judgements: tuple[int, str | None, str | None]) -> pl.DataFrame:
    return pl.DataFrame(judgements, schema={"row": pl.Int64, "annotator": pl.String, "label": pl.String}, orient="row")


def golds(*names: str | None) -> pl.Series:
    return pl.Series(names, dtype=pl.String)


def test_everybody_counts_the_same_however_much_they_judged() -> None:
    told = said(
        (0, "a", E), (1, "a", N), (2, "a", C), (3, "a", C), (0, "b", N), (1, "b", N), (4, "b", E), (5, "b", None)
    )
    found = inference_accuracy(told, LABELS, golds(E, N, C, N, None, E), gold_from="gold")
    # Ann is right in three of four, Ben in one of two: row 4 has no gold, and of row 5 Ben said nothing.
    assert {name: each.value for name, each in found.people.items()} == {"a": 0.75, "b": 0.5}
    assert found.average.value == pytest.approx((0.75 + 0.5) / 2)
    assert (found.average.n, found.unanswered) == (4, 0)
    assert to_json(found)["people"]["b"]["n"] == 2


def test_where_nobody_knows_who_it_is_one_share_and_no_answer_is_wrong() -> None:
    found = inference_accuracy(said((0, None, E), (1, None, None), (2, None, C)), LABELS, golds(E, E, C), gold_from="g")
    assert (found.average.value, found.unanswered, found.people) == (pytest.approx(2 / 3), 1, {})


def test_a_gold_set_accepts_its_labels() -> None:
    assert accepted(LABELS, golds("non-entailment", "any", None)).tolist() == [
        [False, True, True],
        [True, True, True],
        [False] * 3,
    ]


def test_without_gold_there_is_a_note() -> None:
    found = inference_accuracy(said((0, "a", E)), LABELS, golds(None), gold_from="gold")
    assert (math.isnan(found.average.value), found.average.note) == (True, "no label of a row with gold")


def test_people_who_are_always_right_have_no_interval_of_the_mean() -> None:
    told = said(*((row, who, E) for row in range(5) for who in "ab"))
    found = inference_accuracy(told, LABELS, golds(*[E] * 5), gold_from="gold")
    assert (found.average.value, found.average.note) == (1, "everybody is always right: no interval")
    assert found.people["a"].low < 1


def test_the_mean_is_jackknifed_over_groups() -> None:
    rng = np.random.default_rng(2)
    right = rng.random((60, 3)) < 0.8
    there = np.ones((60, 3), dtype=bool)
    # Somebody who judged rows of one group only.
    there[6:, 2] = False
    told = said(
        *((int(row), "xyz"[who], E if right[row, who] else N) for row, who in zip(*np.nonzero(there), strict=True))
    )
    groups = np.arange(60) // 6
    found = inference_accuracy(told, LABELS, golds(*[E] * 60), gold_from="gold", groups=groups).average

    def mean(kept: np.ndarray) -> float:
        shares = [right[kept & there[:, who], who].mean() for who in range(3) if (kept & there[:, who]).any()]
        return float(np.mean(shares))

    without = np.array([mean(groups != group) for group in range(10)])
    assert found.value == pytest.approx(mean(groups >= 0))
    variance = ((without - without.mean()) ** 2).sum() * 9 / 10
    # The interval is symmetric on the logit scale, as wide as a t quantile allows of 4 to 9 degrees of freedom.
    width = math.log(found.high / (1 - found.high)) - math.log(found.low / (1 - found.low))
    quantile = width / 2 / (math.sqrt(variance) / (found.value * (1 - found.value)))
    assert 2.262 <= quantile <= 2.777
    assert (found.n, found.groups) == (60, 10)


def test_times_are_told_by_quartiles() -> None:
    found = summarise_times(pl.Series([4, None, 1, 3, 2, 5]))
    assert found is not None
    assert (found.n, found.median, found.quartiles, found.total) == (5, 3, (2, 4), 15)
    assert to_json(found) == {"n": 5, "median": 3, "quartiles": [2, 4], "total": 15}
    assert summarise_times(pl.Series([None], dtype=pl.Float64)) is None


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
