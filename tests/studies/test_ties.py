"""Groups that tests do not tell apart."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from acidtest.core.estimate import Estimate
from acidtest.core.serialise import to_json
from acidtest.stats.contingency import Ties, letter, tied_categories, tied_groups
from acidtest.studies.comparison.contrasts import Contrast, tied_models


def contrast(first: str, second: str, p: float, accuracies: tuple[float, float], factor: str = "") -> Contrast:
    change = Estimate(accuracies[1] - accuracies[0], note="made up")
    return Contrast("hans", first, second, factor, "", accuracies, change, True, "McNemar, exact", p, p, 0.1)


def test_ties_overlap_where_the_middle_is_told_from_neither_end():
    assert tied_groups("abc", [("a", "c")]) == (("a", "b"), ("b", "c"))


def test_nothing_told_apart_is_one_group_and_everything_one_each():
    assert tied_groups("abc", []) == (("a", "b", "c"),)
    assert tied_groups("abc", list(combinations("abc", 2))) == (("a",), ("b",), ("c",))
    assert tied_groups("", []) == ()
    assert tied_groups("a", []) == (("a",),)


def test_two_share_a_group_exactly_when_they_are_not_told_apart():
    rng = np.random.default_rng(0)
    names = "abcdefgh"
    for _ in range(100):
        apart = {pair for pair in combinations(names, 2) if rng.random() < rng.random()}
        groups = tied_groups(names, apart)
        shared = {pair for pair in combinations(names, 2) if any(set(pair) <= set(group) for group in groups)}
        assert shared == set(combinations(names, 2)) - apart
        assert not any(set(one) < set(two) for one in groups for two in groups)
        assert set().union(*groups) == set(names)


def test_letters_go_on_after_z():
    assert [letter(number) for number in (0, 25, 26, 27, 701, 702)] == ["a", "z", "aa", "ab", "zz", "aaa"]


def test_members_show_the_letters_of_their_groups():
    ties = Ties("hans", {"a": 0.9, "b": 0.8, "c": 0.7}, (("a", "b"), ("b", "c")))
    assert ties.letters == {"a": "a", "b": "a b", "c": "b"}
    assert to_json(ties)["groups"] == [["a", "b"], ["b", "c"]]


def test_models_are_tied_by_adjusted_p_on_whole_suites_best_first():
    contrasts = [
        contrast("x", "y", 0.001, (0.5, 0.9)),
        contrast("x", "z", 0.2, (0.5, 0.6)),
        contrast("y", "z", 0.04, (0.9, 0.6)),
        # A slice of the suite says nothing about the whole.
        contrast("x", "z", 0.0001, (0.1, 0.9), factor="label"),
    ]
    (ties,) = tied_models(contrasts)
    assert (ties.what, list(ties.rates), ties.groups) == ("hans", ["y", "z", "x"], (("y",), ("z", "x")))
    assert tied_models(contrasts, alpha=0.01)[0].groups == (("y", "z"), ("z", "x"))
    assert tied_models([]) == []


def test_a_test_that_cannot_be_computed_tells_nobody_apart():
    (ties,) = tied_models([contrast("x", "y", math.nan, (math.nan, 0.9))])
    assert ties.groups == (("y", "x"),)
    assert to_json(ties)["rates"]["x"] is None


def test_categories_with_planted_differences_are_told_apart():
    ties = tied_categories(
        {"low": (20, 100), "middle": (48, 100), "also": (52, 100), "high": (90, 100), "none": (0, 0)}
    )
    assert ties.groups == (("high",), ("also", "middle"), ("low",))
    assert "none" not in ties.rates


def test_equal_categories_are_seldom_told_apart():
    rng = np.random.default_rng(1)
    split = [
        len(tied_categories({str(n): (int(rng.binomial(60, 0.7)), 60) for n in range(4)}).groups) > 1
        for _ in range(200)
    ]
    # Holm keeps the chance of any false difference at 0.05; Fisher's test is below that.
    assert np.mean(split) <= 0.08


def test_one_category_is_tied_with_itself():
    assert tied_categories({"only": (3, 5)}).groups == (("only",),)
    assert tied_categories({}).groups == ()


def test_corrections_go_by_name():
    counts = {"low": (30, 100), "middle": (45, 100), "high": (60, 100)}
    assert tied_categories(counts, correction="none").groups == (("high",), ("middle",), ("low",))
    assert tied_categories(counts, correction="by").groups == (("high", "middle"), ("middle", "low"))
    with pytest.raises(Exception, match="no correction called"):
        tied_categories(counts, correction="byy")
