import numpy as np
import pytest
from scipy import stats

from acidtest.core.draws import Draws, apportion, key, permute_ranks


def order(size: int, seed: int = 0) -> list[int]:
    column = np.arange(size, dtype=np.uint64)
    return permute_ranks(column, np.full(size, size, np.uint64), np.full(size, key(seed), np.uint64)).tolist()


def test_a_key_is_the_same_for_ever() -> None:
    # BLAKE2b of the parts; a change here would change every suite ever generated.
    assert key(0, "hans", "x") == 0x2CBD45A59A8A863C


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 1000, 15360])
def test_a_permutation_visits_every_number_once(size: int) -> None:
    assert sorted(order(size)) == list(range(size))


def test_another_key_gives_another_order() -> None:
    assert order(1000, seed=0) != order(1000, seed=1)


def test_the_first_places_of_a_permutation_are_uniform() -> None:
    # Which of 10 numbers comes first, over 5,000 keys: chi-square against the uniform.
    firsts = permute_ranks(
        np.zeros(5000, np.uint64), np.full(5000, 10, np.uint64), np.array([key("k", i) for i in range(5000)], np.uint64)
    )
    assert stats.chisquare(np.bincount(firsts.astype(int), minlength=10)).pvalue > 0.001


def test_neighbouring_places_of_a_permutation_are_uncorrelated() -> None:
    numbers = np.array(order(1 << 15))
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 0.03


def test_choices_are_uniform_and_do_not_depend_on_the_other_rows() -> None:
    draws, rows = Draws(0, "suite"), np.arange(30_000, dtype=np.uint64)
    together = draws.choices(rows, 7, "noun")
    assert stats.chisquare(np.bincount(together, minlength=7)).pvalue > 0.001
    assert draws.choices(rows[12_345:12_346], 7, "noun")[0] == together[12_345]


def test_slots_and_seeds_draw_independently() -> None:
    rows = np.arange(1000, dtype=np.uint64)
    first = Draws(0, "suite").choices(rows, 1000, "a")
    assert (first == Draws(0, "suite").choices(rows, 1000, "b")).mean() < 0.01
    assert (first == Draws(1, "suite").choices(rows, 1000, "a")).mean() < 0.01
    assert (first == Draws(0, "other").choices(rows, 1000, "a")).mean() < 0.01


def test_parts_follow_the_shares_by_largest_remainder() -> None:
    assert apportion(10, [1, 1, 1]).tolist() == [4, 3, 3]
    assert apportion(1000, [3, 2]).tolist() == [600, 400]
    assert apportion(1000, [6, 1]).tolist() == [857, 143]


def test_what_one_part_cannot_take_goes_to_the_others_in_proportion() -> None:
    assert apportion(100, [2, 1, 1], most=[10, 100, 100]).tolist() == [10, 45, 45]


def test_when_all_are_full_the_parts_add_up_to_less() -> None:
    assert apportion(100, [1, 1], most=[3, 4]).tolist() == [3, 4]


def test_nothing_divides_into_nothing() -> None:
    assert apportion(0, [1, 2]).tolist() == [0, 0]
    assert apportion(5, [0, 1]).tolist() == [0, 5]
