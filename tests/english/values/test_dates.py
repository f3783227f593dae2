"""Dates and times of day: reading and writing them."""

from __future__ import annotations

import pytest

from acidtest.english.values.dates import read_dates, read_times, write_date, write_time


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 3 May 2021", [("3 May 2021", "day first", 2021, 5, 3)]),
        ("on May 3rd, 2021", [("May 3rd, 2021", "month first", 2021, 5, 3)]),
        ("on 2021-05-03", [("2021-05-03", "iso", 2021, 5, 3)]),
        ("on the 3rd of May", [("3rd of May", "day first", None, 5, 3)]),
        ("In May he left, as he may", [("May", "month", None, 5, None)]),
        ("Oct. 20, 2000", [("Oct. 20, 2000", "month first", 2000, 10, 20)]),
        ("in March 1954", [("March 1954", "month and year", 1954, 3, None)]),
        ("in 1998, in 1500 cases, in the 2010s, in 2022-23", [("1998", "year", 1998, None, None)]),
    ],
)
def test_dates_are_read_in_every_form(text: str, expected: list[tuple[object, ...]]) -> None:
    assert [(date.text, date.form, date.year, date.month, date.day) for date in read_dates(text)] == expected


def test_a_weekday_is_read_but_not_its_plural() -> None:
    assert [date.weekday for date in read_dates("On Tuesday, not on Fridays")] == ["Tuesday"]


def test_dates_are_written_in_every_form() -> None:
    assert write_date("day first", 2021, 5, 3) == "3 May 2021"
    assert write_date("month first", 2021, 5, 3) == "May 3, 2021"
    assert write_date("iso", 2021, 5, 3) == "2021-05-03"
    assert write_date("day first", None, 6, 2, like="3rd of May") == "2nd of June"
    assert write_date("month first", None, 6, 11, like="May 3rd") == "June 11th"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("5 pm", (17, 0)), ("11.40 p.m.", (23, 40)), ("17:00", (17, 0)), ("12 a.m.", (0, 0)), ("12:30 PM", (12, 30))],
)
def test_times_of_day_are_read(text: str, expected: tuple[int, int]) -> None:
    assert [(time.hour, time.minute) for time in read_times(f"at {text}, or so")] == [expected]


def test_a_bare_number_is_no_time_of_day() -> None:
    assert read_times("at 9:30 he read verse 3:16 to 5 men") == []


def test_times_of_day_are_written_as_another_one_is() -> None:
    assert write_time(17, 0) == "17:00"
    assert write_time(9, 5, half="p.m.", like="5.05 p.m.") == "9.05 a.m."
    assert write_time(17, 0, half="am", like="9am") == "5pm"
    assert write_time(17, 30, half="pm") == "5:30 pm"
