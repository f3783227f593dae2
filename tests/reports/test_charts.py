"""Charts as data: axes that hold what they must, marks that stay apart."""

from __future__ import annotations

from math import nan

import pytest

from acidtest.core.estimate import Estimate
from acidtest.reports.charts import Chart, Row, difference_axis, rate_axis


def change(value: float, low: float = nan, high: float = nan) -> Estimate:
    return Estimate(value, low, high, 10, 10)


@pytest.mark.parametrize(
    ("changes", "ends"),
    [
        ([change(0.01, -0.004, 0.024)], (-0.01, 0.03)),
        ([change(-1.0, -1.0, -0.99)], (-1.0, 0.0)),
        ([change(1.0, 0.9, 1.0), change(-1.0, -1.0, -0.9)], (-1.0, 1.0)),
        ([change(0.3), Estimate(nan, note="no rows")], (0.0, 0.3)),
        ([change(0.0, 0.0, 0.0)], (-0.01, 0.01)),
        ([], (-0.01, 0.01)),
    ],
)
def test_the_axis_of_differences_holds_every_interval_and_nothing(
    changes: list[Estimate], ends: tuple[float, float]
) -> None:
    axis = difference_axis(changes)
    assert (axis.ticks[0], axis.ticks[-1]) == pytest.approx(ends)
    assert 2 <= len(axis.ticks) <= 7
    assert any(tick == 0 for tick in axis.ticks)
    assert axis.line == 0


def test_places_go_from_one_end_of_the_axis_to_the_other() -> None:
    axis = difference_axis([change(-0.1, -0.2, 0.0), change(0.1, 0.0, 0.2)])
    assert [axis.place(value) for value in (-0.2, 0.0, 0.2)] == pytest.approx([0, 0.5, 1])


def test_the_axis_of_differences_reaches_published_ones() -> None:
    assert difference_axis([change(0.02, 0.01, 0.03)], [0.175]).place(0.175) < 1


def test_labels_of_points_have_a_sign_and_labels_of_rates_a_unit() -> None:
    signed = difference_axis([change(0.0, -0.1, 0.1)])
    assert [signed.label(tick) for tick in (-0.1, 0.0, 0.1)] == ["−10", "0", "+10"]
    assert rate_axis(0.5).label(0.25) == "25 %"


def test_more_than_four_published_systems_share_one_mark() -> None:
    row = Row("a", {}, published={f"system {number}": 0.5 for number in range(5)})
    assert Chart((row,), rate_axis()).marks == {"5 published systems": 0}
    four = Row("a", {}, published={f"system {number}": 0.5 for number in range(4)})
    assert list(Chart((four,), rate_axis()).marks.values()) == [0, 1, 2, 3]


def test_rows_of_one_heading_stand_together() -> None:
    rows = (Row("a", {}, "one"), Row("b", {}, "two"), Row("c", {}, "one"))
    groups = Chart(rows, rate_axis()).groups
    assert [(heading, [row.name for row in members]) for heading, members in groups] == [
        ("one", ["a", "c"]),
        ("two", ["b"]),
    ]
