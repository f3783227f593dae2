"""Dates, weekdays and times of day in a text: reading them, and writing them in other forms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from acidtest.io.wordlists import packaged_table

DateForm = Literal["day first", "month first", "iso", "month and year", "month", "year", "weekday"]

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_YEAR = r"(?:1[0-9]|20)\d\d"
_DAY = r"(?:[12]\d|3[01]|0?[1-9])"
_COUNTED = r" (?!(?:as|its|his|this|was|is|has|does|always|perhaps|besides|across|towards)\b)[a-z]+s\b"
"""A plural noun after a number of four digits, which then is no year: 1500 people do not live in 1500."""
_CLOCK = re.compile(
    r"(?<![\w.,:/-])(?:(?P<hour>1[0-2]|0?[1-9])(?:[.:](?P<minute>[0-5]\d))?(?P<space> ?)"
    r"(?P<half>[ap]\.m\.|[ap]\.m\b|[ap]m\b|[AP]M\b|[AP]\.M\.)|(?P<hours>0\d|1\d|2[0-3]):(?P<minutes>[0-5]\d))(?![\w:]|[.,]\d)"
)


@dataclass(frozen=True)
class DateMention:
    """A date in a text, or a part of one: a month, a year, a weekday."""

    start: int
    end: int
    text: str
    form: DateForm
    year: int | None = None
    month: int | None = None
    """From 1 to 12."""
    day: int | None = None
    weekday: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """What it has of year, month, day and weekday."""
        return tuple(part for part in ("year", "month", "day", "weekday") if getattr(self, part))


@dataclass(frozen=True)
class ClockTime:
    """A time of day in a text."""

    start: int
    end: int
    text: str
    hour: int
    """From 0 to 23."""
    minute: int
    half: str
    """ "a.m.", "pm" and the like as they are written; empty on the clock of 24 hours."""

    @property
    def minutes(self) -> int:
        """Minutes since midnight."""
        return 60 * self.hour + self.minute


def read_dates(text: str) -> list[DateMention]:
    """The dates of a text in order; years alone only after words such as *in*, and so *May* and *March*."""
    return [_date(match) for match in _date_pattern().finditer(text)]


def read_times(text: str) -> list[ClockTime]:
    """The times of day of a text in order: 5 pm, 11.40 p.m., 17:00."""
    return [_time(match) for match in _CLOCK.finditer(text)]


def month_names() -> tuple[str, ...]:
    """January to December."""
    return tuple(_months())


def days_of_month(month: int) -> int:
    """How many days a month has, February 28."""
    return list(_months().values())[month - 1]


def write_date(form: DateForm, year: int | None, month: int | None, day: int | None, *, like: str = "") -> str:
    """A date in a form; ``like`` is a date whose ordinal, *of* and comma are kept, such as "3rd of May 2021"."""
    name = month_names()[month - 1] if month else ""
    ending = _ordinal_ending(day) if day and re.search(r"\d(?:st|nd|rd|th)\b", like) else ""
    if form == "iso":
        return f"{year}-{month:02d}-{day:02d}"
    if form == "day first":
        link = " of " if " of " in like else " "
        return f"{day}{ending}{link}{name}" + (f" {year}" if year else "")
    if form == "month first":
        return f"{name} {day}{ending}" + (f", {year}" if year else "")
    if form == "month and year":
        return f"{name}{', ' if ',' in like else ' '}{year}"
    return name if form == "month" else str(year)


def write_time(hour: int, minute: int, *, half: str = "", like: str = "") -> str:
    """A time of day, on the clock of 24 hours, or of twelve where ``half`` is "pm" or a form of it."""
    if not half:
        return f"{hour:02d}:{minute:02d}"
    written = half.replace("a", "p").replace("A", "P") if hour >= 12 else half.replace("p", "a").replace("P", "A")
    point = "." if re.match(r"\d+\.", like) else ":"
    space = "" if re.search(r"\d[ap]", like, re.IGNORECASE) else " "
    return f"{(hour - 1) % 12 + 1}" + (f"{point}{minute:02d}" if minute or point in like[:3] else "") + space + written


def _ordinal_ending(day: int) -> str:
    return "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _date(match: re.Match[str]) -> DateMention:
    form = next(form for group, form in _FORMS.items() if match[group])
    parts = {name: next((match[group] for group in groups if match[group]), "") for name, groups in _PARTS.items()}
    return DateMention(
        match.start(_group_of(form)),
        match.end(_group_of(form)),
        match[_group_of(form)],
        form,
        int(parts["year"]) if parts["year"] else None,
        _month_number(parts["month"]),
        int(parts["day"]) if parts["day"] else None,
        match["weekday"] or "",
    )


_FORMS: dict[str, DateForm] = {
    "iso": "iso",
    "day_first": "day first",
    "month_first": "month first",
    "month_year": "month and year",
    "month_alone": "month",
    "year_alone": "year",
    "weekday": "weekday",
}
_PARTS = {
    "year": ("y1", "y2", "y3", "y4", "year_alone"),
    "month": ("m1", "m2", "m3", "m4", "month_alone"),
    "day": ("d1", "d2", "d3"),
}


def _group_of(form: DateForm) -> str:
    return next(group for group, known in _FORMS.items() if known == form)


@cache
def _date_pattern() -> re.Pattern[str]:
    names = "|".join(_months())
    month = rf"(?:{names}|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)\.?(?= ))"
    clear = "|".join(name for name in _months() if name not in ("May", "March"))
    # "May" and "March" alone are months only after such a word.
    after = r"(?:(?<=\b[IiOo][nf] )|(?<=\b[LlNn][ae][sx]t )|(?<=\bthis )|(?<=\b[Ss]ince ))"
    alternatives = (
        rf"(?P<iso>(?P<y1>{_YEAR})-(?P<m1>0[1-9]|1[0-2])-(?P<d1>{_DAY}))",
        rf"(?P<day_first>(?P<d2>{_DAY})(?:st|nd|rd|th)? (?:of )?(?P<m2>{month})(?:,? (?P<y2>{_YEAR})\b)?)",
        rf"(?P<month_first>(?P<m3>{month}) (?P<d3>{_DAY})(?:st|nd|rd|th)?(?!\d|[.,:]\d)(?:, (?P<y3>{_YEAR})\b)?)",
        rf"(?P<month_year>(?P<m4>{month}),? (?P<y4>{_YEAR}))",
        rf"(?P<month_alone>{clear}|{after}(?:May|March))",
        rf"(?<![$£€.,:/–-])(?P<year_alone>{_YEAR})(?!{_COUNTED}| (?:thousand|million|billion|percent)|%)",
        rf"(?P<weekday>{'|'.join(WEEKDAYS)})",
    )
    # The look-ahead makes a search several times as fast.
    return re.compile(rf"\b(?=[0-9A-Z])(?:{'|'.join(alternatives)})(?![\w/–]|-\d|[.,]\d)")


def _time(match: re.Match[str]) -> ClockTime:
    if match["hours"]:
        hour, minute = int(match["hours"]), int(match["minutes"])
    else:
        hour = int(match["hour"]) % 12 + (12 if match["half"][0] in "pP" else 0)
        minute = int(match["minute"] or 0)
    return ClockTime(match.start(), match.end(), match[0], hour, minute, match["half"] or "")


def _month_number(name: str) -> int | None:
    """The number of a month by its name, abbreviation or number in digits."""
    if name.isdigit():
        return int(name)
    return next((number for number, known in enumerate(_months(), 1) if name and known.startswith(name[:3])), None)


@cache
def _months() -> dict[str, int]:
    table = packaged_table("quantities/months.tsv")
    return {name: int(days) for name, days in table.select("name", "days").iter_rows()}
