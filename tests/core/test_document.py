"""Phrases that documents share."""

from __future__ import annotations

import pytest

from acidtest.core.document import describe_count


@pytest.mark.parametrize(
    ("count", "noun", "expected"),
    [
        (1, "row", "1 row"),
        (2000, "row", "2,000 rows"),
        (1, "category", "1 category"),
        (8, "category", "8 categories"),
        (2, "day", "2 days"),
        (0, "typed pair", "0 typed pairs"),
    ],
)
def test_a_count_takes_the_noun_in_its_number(count: int, noun: str, expected: str) -> None:
    assert describe_count(count, noun) == expected
