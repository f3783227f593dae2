"""The bootstrap against scipy's, and the bookkeeping of groups, strata and weights."""

import math

import numpy as np
import pytest
from scipy import stats

from acidtest.stats import resampling
from acidtest.stats.bootstrap import bootstrap
from acidtest.stats.resampling import generator, group_totals, numbered, spread, taken, weighted_sides


def ratio(sums, sizes, axis=-1):
    return np.sum(sums, axis=axis) / np.sum(sizes, axis=axis)


@pytest.mark.parametrize(
    ("groups", "most"),
    [pytest.param(400, 3, id="few kinds: counts are drawn"), pytest.param(60, 50, id="many kinds: groups are drawn")],
)
@pytest.mark.parametrize(("kind", "method"), [("percentile", "percentile"), ("accelerated", "BCa")])
def test_the_bootstrap_is_that_of_scipy(groups, most, kind, method):
    rng = generator(groups)
    sizes = rng.integers(1, most + 1, groups).astype(float)
    sums = rng.binomial(sizes.astype(int), 0.8).astype(float)
    theirs = stats.bootstrap(
        (sums, sizes), ratio, paired=True, vectorized=True, n_resamples=20_000, method=method, rng=generator(1)
    ).confidence_interval
    ours = bootstrap(sums, sizes, rng=generator(2), resamples=20_000, kind=kind)
    # scipy does not expand: undo it where we do.
    widening = 1.0
    if kind == "accelerated":
        strayed = spread(group_totals(sums / sizes, None, weights=sizes))
        widening = stats.t.ppf(0.975, strayed.degrees) / 1.96 * math.sqrt(strayed.variance / strayed.resampled)
    value = sums.sum() / sizes.sum()
    # Monte-Carlo error of an end is 0.02 standard errors, so 0.01 of half the width; discreteness adds as much.
    tolerance = 0.06 * (theirs.high - theirs.low) / 2
    assert value + (ours.low - value) / widening == pytest.approx(theirs.low, abs=tolerance)
    assert value + (ours.high - value) / widening == pytest.approx(theirs.high, abs=tolerance)


def test_expansion_matches_hesterbergs_for_equal_and_even_groups():
    # Half the groups all right, half all wrong: contributions are even, so degrees of freedom are groups - 1.
    totals = group_totals(np.repeat([1.0, 0.0], 20), np.arange(40))
    strayed = spread(totals)
    assert strayed.degrees == 39
    assert strayed.variance == pytest.approx(0.25 / 39)
    assert strayed.variance / strayed.resampled == pytest.approx(40 / 39)
    assert strayed.acceleration == pytest.approx(0)


def test_the_variance_is_that_of_the_jackknife():
    rng = generator(6)
    sizes = rng.integers(1, 6, 12).astype(float)
    sums = rng.binomial(sizes.astype(int), 0.6).astype(float)
    without = (sums.sum() - sums) / (sizes.sum() - sizes)
    expected = 11 / 12 * ((without - sums.sum() / sizes.sum()) ** 2).sum()
    assert spread(group_totals(sums / sizes, weights=sizes)).variance == pytest.approx(expected)


def test_one_failing_group_leaves_few_degrees_of_freedom():
    values = np.ones(100)
    values[0] = 0
    assert spread(group_totals(values)).degrees == 4


def test_the_bootstrap_of_less_than_two_groups_is_nan_and_of_like_groups_a_point():
    assert math.isnan(bootstrap([3.0], [4.0], rng=generator(0)).low)
    assert math.isnan(bootstrap([], [], rng=generator(0)).high)
    found = bootstrap([1.0] * 50, [2.0] * 50, rng=generator(0))
    assert (found.low, found.high) == (0.5, 0.5)


def test_a_seed_draws_what_its_generator_draws() -> None:
    sums, sizes = np.arange(60) % 4, np.full(60, 3)
    strata = np.arange(60) // 50
    seeded = [bootstrap(sums, sizes, strata=strata, rng=7, resamples=500) for _ in range(2)]
    assert seeded == [bootstrap(sums, sizes, strata=strata, rng=generator(7), resamples=500)] * 2
    assert bootstrap(sums, sizes, strata=strata, rng=8, resamples=500) != seeded[0]


def test_groups_are_drawn_within_their_strata():
    # Each stratum is unanimous, so that whatever is drawn within strata has the same mean.
    found = bootstrap(
        [1.0] * 30 + [0.0] * 30, [1.0] * 60, strata=[0] * 30 + [1] * 30, rng=generator(0), kind="percentile"
    )
    assert (found.low, found.high) == (0.5, 0.5)


def test_every_resample_has_as_many_groups_as_there_are():
    # Sums are all 1, sizes 1 or 3: the mean is 1 / (mean size), which ends at 1/3 and 1 were all groups alike.
    sizes = np.repeat([1.0, 3.0], 30)
    found = bootstrap(np.ones(60), sizes, rng=generator(0), kind="percentile")
    # Normal approximation of the mean size: 2 ± 1.96 / sqrt(60).
    reach = 1.96 / math.sqrt(60)
    assert (found.low, found.high) == pytest.approx((1 / (2 + reach), 1 / (2 - reach)), abs=0.01)


def test_totals_sum_the_rows_of_each_group():
    totals = group_totals(np.array([1.0, 0.0, 1.0, 1.0]), ["b", "a", "b", "c"])
    assert totals.sums.tolist() == [0, 2, 1]
    assert totals.sizes.tolist() == [1, 2, 1]
    assert totals.value == 0.75


def test_groups_across_strata_and_lone_groups_are_pooled():
    groups = [0, 0, 1, 2, 3, 4, 4, 5]
    strata = ["x", "y", "x", "x", "z", "y", "x", "w"]
    # 0 and 4 span strata; 1 and 2 are x; 3 is alone in z and 5 in w.
    codes = group_totals(np.zeros(8), groups, strata=strata).strata
    assert codes[0] == codes[4]
    assert codes[1] == codes[2]
    assert codes[3] == codes[5]
    assert len(set(codes.tolist())) == 3


def test_a_lone_group_joins_the_smallest_stratum():
    strata = group_totals(np.zeros(6), np.arange(6), strata=[0, 1, 1, 2, 2, 2]).strata
    assert strata[0] == strata[1] == strata[2] != strata[3]


def test_weights_give_each_shared_stratum_the_same_part_of_both_sides():
    sides = weighted_sides([1] * 4, [1] * 4, groups=(None, None), strata=(list("aaab"), list("abbc")))
    first, second = (side.weights for side in sides)
    # Shared: a with 4 rows of both sides, b with 3; c is left out. First: a 3 rows, b 1. Second: a 1, b 2.
    assert first.tolist() == pytest.approx([4 / 7 * 4 / 3] * 3 + [3 / 7 * 4])
    assert second.tolist() == pytest.approx([4 / 7 * 3, 3 / 7 * 3 / 2, 3 / 7 * 3 / 2])
    assert [side.left_out for side in sides] == [0, 1]
    assert first.mean() == pytest.approx(1)
    assert second.mean() == pytest.approx(1)


@pytest.mark.parametrize(
    "labels",
    [
        np.random.default_rng(0).integers(0, 50, 1000),
        np.random.default_rng(0).integers(-5, 5, 100),
        np.random.default_rng(0).integers(0, 10**9, 100),
        np.array(["b", "a", "b"]),
        np.array([], dtype=np.int64),
    ],
)
def test_labels_are_numbered_as_sorting_would(labels: np.ndarray) -> None:
    assert np.array_equal(numbered(labels), np.unique(labels, return_inverse=True)[1])


def test_flags_are_summed_as_numbers_are():
    flags, groups = np.array([True, False, True, True]), [1, 0, 1, 2]
    totals = group_totals(flags, groups)
    assert totals.sums.tolist() == group_totals(flags.astype(float), groups).sums.tolist() == [0, 2, 1]
    assert totals.sums.dtype == totals.sizes.dtype == np.int8
    assert group_totals(np.ones(300, dtype=np.bool_), np.zeros(300)).sums.tolist() == [300]


@pytest.mark.parametrize("values", ["flags", "fractions"])
def test_what_is_looked_at_in_blocks_is_what_is_looked_at_whole(values: str, monkeypatch: pytest.MonkeyPatch):
    rng = generator(3)
    column = rng.random(1000) < 0.7 if values == "flags" else rng.random(1000).round(1)
    groups, strata = rng.integers(10**12, 10**12 + 300, 1000), np.array(list("abc"))[rng.integers(0, 3, 1000)]
    strata[groups % 4 > 0] = "d"

    def found():
        totals = group_totals(column, groups, strata=strata)
        interval = bootstrap(totals.sums, totals.sizes, strata=totals.strata, rng=generator(0), resamples=200)
        return totals, numbered(groups), spread(totals), interval

    totals, codes, strayed, interval = found()
    monkeypatch.setattr(resampling, "_BLOCK", 7)
    again, codes_again, strayed_again, interval_again = found()
    for name in ("sums", "sizes", "strata"):
        assert np.array_equal(getattr(again, name), getattr(totals, name))
    assert np.array_equal(codes_again, codes)
    # Only the order of additions differs.
    for name in ("variance", "resampled", "degrees", "acceleration"):
        assert getattr(strayed_again, name) == pytest.approx(getattr(strayed, name), rel=1e-9)
    assert (interval_again.low, interval_again.high) == pytest.approx((interval.low, interval.high), rel=1e-9)
    assert np.array_equal(taken(column, codes), column[codes])
