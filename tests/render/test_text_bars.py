"""Bars of text: what is sure is solid, the interval shaded."""

from __future__ import annotations

from math import nan

from acidtest.core.document import Reference
from acidtest.core.estimate import Estimate
from acidtest.render.terminal import draw_bars, plain_signs


def test_a_bar_is_solid_to_the_lower_end_and_shaded_over_the_interval() -> None:
    estimates = [Estimate(0.65, 0.55, 0.75), Estimate(nan, note="no rows"), None]
    drawn = draw_bars(estimates, 11, unit="percent", reference=None)
    assert drawn.bars == ("│█████▒▒▒", "│", "│")
    assert drawn.axis == "0       100"


def test_an_interval_on_both_sides_of_zero_is_shaded_on_both() -> None:
    drawn = draw_bars([Estimate(0.0, -0.2, 0.4), Estimate(0.4, 0.4, 0.4)], 13, unit="points", reference=None)
    assert drawn.bars == ("▒▒▒▒│▒▒▒▒▒▒▒▒", "    │████████")


def test_a_negative_effect_ends_at_zero_and_the_axis_shows_how_far_it_reaches() -> None:
    drawn = draw_bars([Estimate(-0.9, -1.0, -0.8), Estimate(0.5, 0.5, 0.5)], 16, unit="points", reference=None)
    assert drawn.bars == ("▒▒████████│", "          │█████")
    assert drawn.axis == "−100      0  +50"


def test_the_reference_is_marked_where_no_bar_reaches_and_named_if_there_is_room() -> None:
    drawn = draw_bars([Estimate(0.02, 0.01, 0.03)], 21, unit="percent", reference=Reference(0.5, "half of all"))
    assert drawn.bars == ("│▒         ┊",)
    assert drawn.axis == "0          ┊half  100"


def test_signs_that_a_terminal_cannot_show_become_ascii() -> None:
    assert plain_signs("│█▒┊ −1 …", "ascii") == "|#~: -1 ..."
    assert plain_signs("│█▒┊ −1 …", "utf-8") == "│█▒┊ −1 …"
