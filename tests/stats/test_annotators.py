"""People one by one: accuracy by gold that is not theirs, its mean and interval, and times."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from acidtest.core.ratings import summarise_times
from acidtest.core.serialise import to_json
from acidtest.stats.annotators import accepted, inference_accuracy

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
