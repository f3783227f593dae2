"""Sets of categories: IOU and distances by hand, alpha of sets against another program and by leaving groups out."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import masi_distance

from acidtest.stats.agreement import intersection_over_union, pairs_within, set_alpha, set_distances
from acidtest.stats.jackknife import Replicates, jackknifed


def marks(*sets: str) -> np.ndarray:
    return np.array([[letter in each for letter in "abcd"] for each in sets])


def test_iou_is_a_mean_over_rows_and_leaves_out_what_nobody_marked() -> None:
    # Rows: {a, b} and {b, c} share one of three; {a} and {a} all; nothing and {d} none; nothing and nothing 0/0.
    marked = marks("ab", "bc", "a", "a", "", "d", "", "")
    found = intersection_over_union(marked, np.repeat(np.arange(4), 2))
    assert found.iou.value == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert (found.iou.n, found.empty) == (3, 1)


def test_of_three_people_it_is_the_mean_over_pairs() -> None:
    # {a}, {a, b} and nothing: 1/2, 0, 0. Then {a}, nothing, nothing: 0, 0 and a 0/0 that does not count.
    marked = marks("a", "ab", "", "a", "", "")
    found = intersection_over_union(marked, np.repeat(np.arange(2), 3))
    assert found.iou.value == pytest.approx((1 / 6 + 0) / 2)
    assert found.empty == 0


def test_rows_of_one_person_and_nothing_at_all_say_so() -> None:
    alone = intersection_over_union(marks("a", "b"), np.array([0, 1]))
    assert (alone.iou.note, alone.empty) == ("no row with two labels or more", 0)
    empty = intersection_over_union(marks("", ""), np.array([0, 0]))
    assert math.isnan(empty.iou.value)
    assert (empty.iou.note, empty.empty) == ("nobody marked anything where two people looked: 0/0", 1)
    assert intersection_over_union(np.zeros((0, 4), dtype=bool), np.zeros(0, dtype=np.int64)).empty == 0


def test_rows_of_one_group_stand_together() -> None:
    marked, rows = marks(*["ab", "bc", "a", "a", "c", "d"] * 20), np.repeat(np.arange(60), 2)
    alone = intersection_over_union(marked, rows)
    grouped = intersection_over_union(marked, rows, groups=np.arange(60) % 4)
    assert (alone.iou.groups, grouped.iou.groups) == (60, 4)


def test_every_two_judgements_of_a_row_are_a_pair_once() -> None:
    codes = np.array([5, 2, 5, 5, 2, 9])
    found = {frozenset(pair) for pair in zip(*(each.tolist() for each in pairs_within(codes)), strict=True)}
    assert found == {frozenset(pair) for pair in combinations(range(6), 2) if codes[pair[0]] == codes[pair[1]]}


def test_masi_weighs_subsets_and_overlaps_as_passonneau_has_it() -> None:
    # The same; a subset, 1/2 · 2/3; an overlap, 1/3 · 1/3; nothing in common; nothing and nothing; nothing and one.
    sets = marks("ab", "a", "bc", "d", "")
    found = set_distances(sets, "masi")
    assert found[0] == pytest.approx([0, 1 - 1 / 3, 1 - 1 / 9, 1, 1])
    assert found[4] == pytest.approx([1, 1, 1, 1, 0])
    assert set_distances(sets, "jaccard")[0] == pytest.approx([0, 1 / 2, 2 / 3, 1, 1])
    # NLTK rounds the weights to 0.67 and 0.33.
    for first, second in combinations(range(4), 2):
        names = [frozenset(np.flatnonzero(sets[each]).tolist()) for each in (first, second)]
        assert found[first, second] == pytest.approx(masi_distance(*names), abs=0.005)


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Marks, row and person of judgements: two to four people a row, who often follow the first."""
    rng = np.random.default_rng(seed)
    marked = rng.random((40, 4, 4)) < 0.35
    marked[:, 1:] = np.where(rng.random((40, 3, 1)) < 0.5, marked[:, :1], marked[:, 1:])
    there = np.arange(4)[None, :] < rng.integers(2, 5, size=40)[:, None]
    row, person = np.nonzero(there)
    return marked[row, person], row, person


@pytest.mark.parametrize("distance", ["masi", "jaccard"])
@pytest.mark.parametrize("seed", range(3))
def test_another_program_finds_the_same_alpha_of_sets(seed: int, distance: str) -> None:
    marked, rows, people = drawn(seed)

    def apart(first: frozenset[int], second: frozenset[int]) -> float:
        union, both = len(first | second), len(first & second)
        if not union:
            return 0.0
        kind = 1 if first == second else 2 / 3 if both == min(len(first), len(second)) else 1 / 3
        return 1 - both / union * (kind if distance == "masi" else 1)

    sets = [frozenset(np.flatnonzero(each).tolist()) for each in marked]
    data = [(f"c{who}", f"i{row}", each) for who, row, each in zip(people, rows, sets, strict=True)]
    found = set_alpha(marked, rows, distance=distance)  # type: ignore[arg-type]
    assert found.value == pytest.approx(AnnotationTask(data, distance=apart).alpha())


def test_its_interval_is_that_of_leaving_groups_out_one_by_one() -> None:
    marked, rows, _ = drawn(7)
    groups = np.arange(40) % 13
    found = set_alpha(marked, rows, distance="masi", groups=groups)
    without = np.array(
        [
            set_alpha(marked[kept], rows[kept], distance="masi").value
            for kept in (groups[rows] != one for one in range(13))
        ]
    )
    slowly = jackknifed(Replicates(found.value, without, 40), undefined="")
    assert (found.low, found.high) == pytest.approx((slowly.low, slowly.high))
    assert (found.n, found.groups) == (40, 13)


def test_alpha_of_sets_at_its_limits() -> None:
    assert set_alpha(marks("a", "b"), np.array([0, 1]), distance="masi").note == "no row with two labels or more"
    same = set_alpha(marks("a", "a", "a", "a"), np.array([0, 0, 1, 1]), distance="masi")
    assert same.note == "everybody marked the same: chance alone agrees"
    whole = set_alpha(marks("a", "a", "b", "b"), np.array([0, 0, 1, 1]), distance="jaccard")
    assert (whole.value, whole.note) == (1, "they agree on every row: no interval")
