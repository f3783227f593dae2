from acidtest.core.apportionment import apportioned


def test_parts_follow_the_shares_by_largest_remainder() -> None:
    assert apportioned(10, [1, 1, 1]).tolist() == [4, 3, 3]
    assert apportioned(1000, [3, 2]).tolist() == [600, 400]
    assert apportioned(1000, [6, 1]).tolist() == [857, 143]


def test_what_one_part_cannot_take_goes_to_the_others_in_proportion() -> None:
    assert apportioned(100, [2, 1, 1], most=[10, 100, 100]).tolist() == [10, 45, 45]


def test_when_all_are_full_the_parts_add_up_to_less() -> None:
    assert apportioned(100, [1, 1], most=[3, 4]).tolist() == [3, 4]


def test_nothing_divides_into_nothing() -> None:
    assert apportioned(0, [1, 2]).tolist() == [0, 0]
    assert apportioned(5, [0, 1]).tolist() == [0, 5]
