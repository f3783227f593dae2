"""Numbers as people write them."""

from __future__ import annotations

from math import nan

from acidtest.core.estimate import Estimate
from acidtest.reports.numerals import counted, interval, p_value, percent, points, published, share, signed


def test_a_paper_s_number_keeps_its_own_digits() -> None:
    assert [published(value) for value in (0.99, 0.116, 1.0, 0.0, None)] == ["99", "11.6", "100", "0", "–"]


def test_what_is_not_known_is_a_dash_and_never_a_zero() -> None:
    unknown = Estimate(nan, note="no rows")
    assert percent(None) == percent(unknown) == share(nan) == share(None) == signed(nan) == p_value(nan) == "–"
    assert interval(unknown) == interval(None) == ""
    assert points(unknown) == "– (no rows)"


def test_a_p_value_is_never_nothing() -> None:
    assert [p_value(p) for p in (0.0, 0.00009, 0.0001, 0.05, 1.0)] == [
        "<0.0001",
        "<0.0001",
        "0.0001",
        "0.0500",
        "1.0000",
    ]


def test_points_have_a_sign_but_a_zero_has_none() -> None:
    assert [signed(value) for value in (0.123, -0.4, 0.0, -0.0001, 0.00049)] == ["+12.3", "−40.0", "0.0", "0.0", "0.0"]
    assert points(Estimate(-0.4, -0.5, 0.1, 9, 9)) == "−40.0 (−50.0 to +10.0)"
    assert points(Estimate(-0.4, n=9, groups=1)) == "−40.0"


def test_one_is_singular() -> None:
    assert [counted(number, "row") for number in (0, 1, 2000)] == ["0 rows", "1 row", "2,000 rows"]
