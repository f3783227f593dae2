"""Numbers as people read them: never a zero that is none, never a digit that nobody computed."""

from __future__ import annotations

import math

import pytest

from acidtest.core.document import Change, Coefficient, Published, Push, PValue
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import cell_text, describe_share, fold_name, number_text, p_value, share, signed

KNOWN = Estimate(0.814, 0.805, 0.822, 1000, 1000, "Wilson")
UNKNOWN = Estimate(math.nan, note="no rows")


def test_what_is_not_known_is_a_dash_and_never_a_zero() -> None:
    assert cell_text(UNKNOWN, "percent") == ("–", "")
    assert cell_text(None, "count") == ("–", "")
    assert cell_text(PValue(math.nan), "p") == ("–", "")
    assert describe_share(UNKNOWN) == "not known (no rows)"


def test_percentages_have_one_decimal_and_intervals_a_dash() -> None:
    assert cell_text(KNOWN, "percent") == ("81.4", "80.5–82.2")
    assert cell_text(KNOWN, "percent").line == "81.4 (80.5–82.2)"
    assert describe_share(KNOWN) == "81.4 % (95 % interval 80.5–82.2, n = 1,000)"


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0.0"), (1, "100.0"), (0.0002, "0.02"), (0.00001, "0.01"), (0.9998, "99.98")]
)
def test_a_share_is_rounded_to_nothing_or_all_only_where_it_is_that(value: float, text: str) -> None:
    assert share(value) == text


def test_points_have_a_sign_but_a_zero_has_none() -> None:
    assert [signed(value) for value in (0.012, -0.012, 0.0001, -0.0001)] == ["+1.2", "−1.2", "0.0", "0.0"]
    assert cell_text(Estimate(-0.05, -0.1, 0.02, 5, 5), "points").detail == "−10.0 to +2.0"


def test_a_p_value_is_never_nothing() -> None:
    assert [p_value(p) for p in (0.0, 0.00005, 0.0001, 0.05, 1)] == ["<0.0001", "<0.0001", "0.0001", "0.0500", "1.0000"]


def test_a_paper_s_number_keeps_its_own_digits() -> None:
    assert cell_text(Published(0.81), "percent").value == "81"
    assert cell_text(Published(0.11, 0.116), "percent").value == "11 → 11.6"


def test_a_coefficient_shows_two_digits_of_its_error() -> None:
    assert cell_text(Coefficient(Estimate(-0.12345, n=9), 0.0123, "**"), "number") == ("−0.123**", "± 0.012")


def test_a_change_shows_both_values_and_the_later_interval() -> None:
    before = Estimate(0.5, 0.4, 0.6, 100, 100)
    assert cell_text(Change(before, KNOWN), "percent").line == "50.0 → 81.4 (80.5–82.2)"


def test_large_numbers_are_written_out() -> None:
    assert [number_text(value, "number") for value in (10_071, 0.00123, -2.5)] == ["10,071", "0.00123", "−2.5"]


@pytest.mark.parametrize("width", [3, 5, 9, 40])
def test_a_folded_name_loses_nothing(width: int) -> None:
    name = "subcase: ln_relative-clause/around it"
    lines = fold_name(name, width)
    assert max(map(len, lines)) <= width
    assert "".join(lines).replace(" ", "") == name.replace(" ", "")


def test_the_label_that_answers_move_toward_stands_before_the_interval() -> None:
    effect = Estimate(0.6, 0.5, 0.7, 100, 100, "m")
    assert cell_text(Push(effect, "entailment", used=True), "points").line == "+60.0* (entailment, +50.0 to +70.0)"
    assert cell_text(Push(effect), "points").line == "+60.0 (+50.0 to +70.0)"
