"""Lists of unequal length in one array."""

from __future__ import annotations

import numpy as np

from acidtest.text.ranges import Ranges

ranges = Ranges.of_sorted(np.array([0, 0, 2, 2, 2]), 4)


def test_things_have_the_places_of_their_keys() -> None:
    assert [list(ranges[thing]) for thing in range(4)] == [[0, 1], [], [2, 3, 4], []]


def test_ranges_are_joined_in_the_order_asked_for_and_as_often() -> None:
    assert ranges.joined(np.array([2, 1, 0, 2])).tolist() == [2, 3, 4, 0, 1, 2, 3, 4]
    assert ranges.lengths(np.array([2, 1])).tolist() == [3, 0]


def test_nothing_joined_is_nothing() -> None:
    assert ranges.joined(np.array([], dtype=np.int64)).tolist() == []
    assert ranges.joined(np.array([1, 3])).tolist() == []


def test_lengths_make_ranges() -> None:
    assert Ranges.of_lengths(np.array([2, 0, 3])).starts.tolist() == [0, 2, 2, 5]
