"""Suite ``grounding/date``: another year, month, day, weekday, time of day or duration in a claim."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING

from acidtest.suites.grounding.edits import CheckedClaim, ClaimBatch, EditedPair, Result, edit
from acidtest.suites.grounding.mentions import (
    IN_DOCUMENT,
    NO_EVIDENCE,
    candidate_measures,
    change_problem,
    claim_problem,
    context_problem,
    restriction_problem,
)
from acidtest.suites.grounding.numbers import change_number, choose_measure, duration_gold, is_duration

if TYPE_CHECKING:
    from acidtest.english.values.dates import ClockTime, DateMention
    from acidtest.english.values.measures import NumberMentions

_STATE = re.compile(r"\b(?:exist(?:s|ed|ence)?|alive|already|still|remain(?:s|ed)?)\b")
"""What was so in a year was often so in others, which readers infer."""
_DATE_START = re.compile(r"\d|day\b|\b(?:Ja|Fe|Ma|Ap|Ju|Au|Se|Oc|No|De)")


@dataclass(frozen=True)
class _Place:
    """A part of a date in a claim that may become another one."""

    kind: str
    mention: DateMention | ClockTime


@edit("date", summary="A date, time of day or duration of a supported claim replaced by another", rows=73, version=2)
def date(batch: ClaimBatch) -> Iterator[Result]:
    """One year, month, day, weekday, time of day or duration of a supported claim becomes another.

    It must stand in the one sentence that decides the claim, in any form, and the other one nowhere in the document.
    Dates after words such as *since*, *until* and *before* stay as they are. Gold is contradiction where a thing
    happens once (*founded*, *born*), and non-entailment elsewhere: what was so in 2019 may have been so in 2012.
    ``kind`` is year, month, day, weekday, time or duration.
    """
    for row, claim in batch.supported():
        places = _places(claim.text)
        measures = [measure for measure in candidate_measures(claim.text) if is_duration(claim.text, measure)]
        problems = [_problem(claim, place) for place in places]
        changeable = [place for place, problem in zip(places, problems, strict=True) if not problem]
        chosen = choose_measure(claim, measures)
        if not changeable and isinstance(chosen, str):
            reason = next(iter(problems), "") or chosen
            if reason:
                yield row, reason
        elif isinstance(chosen, str) or (changeable and claim.choose(2, 2)):
            yield row, _change_date(claim, changeable[claim.choose(len(changeable))])
        else:
            yield row, change_number(claim, chosen, "duration", duration_gold(claim.text, chosen))


def _places(text: str) -> list[_Place]:
    from acidtest.english.values.dates import read_dates, read_times

    if not _DATE_START.search(text):
        return []
    dates = [mention for mention in read_dates(text) if mention.form != "weekday" or not _in_name(text, mention)]
    places = [
        _Place(part, mention)
        for mention in dates
        for part in mention.parts
        if text[mention.end : mention.end + 1] != ":"
    ]
    return places + [_Place("time", mention) for mention in read_times(text)]


def _problem(claim: CheckedClaim, place: _Place) -> str:
    text, mention = claim.text, place.mention
    if _STATE.search(text):
        return "state that may last"
    problem = change_problem(text[: mention.start], kind="date_")
    problem = problem or context_problem(text, mention.start, mention.end, kind="date_")
    problem = problem or claim_problem(text) or restriction_problem(text, text[: mention.start])
    if problem:
        return problem
    sentence = claim.evidence_sentence
    if sentence is None:
        return NO_EVIDENCE
    same = [other for other in _places(sentence) if _is_same(place, other)]
    if not same:
        return "date not in the evidence sentence"
    places = ((other.mention.start, other.mention.end) for other in same)
    return next(filter(None, (context_problem(sentence, start, end, kind="date_") for start, end in places)), "")


def _in_name(text: str, mention: DateMention) -> bool:
    """Whether a weekday may be part of a name: the Sunday Times, Black Friday."""
    return bool(re.match(r" [A-Z]", text[mention.end :]) or re.search(r"\S [A-Z]\w* $", text[: mention.start]))


def _is_same(place: _Place, other: _Place) -> bool:
    """Whether two places have the same year, month and so on; days are the same in one month only."""

    from acidtest.english.values.dates import ClockTime

    one, two = place.mention, other.mention
    if place.kind != other.kind:
        return False
    if isinstance(one, ClockTime) or isinstance(two, ClockTime):
        return isinstance(one, ClockTime) and isinstance(two, ClockTime) and one.minutes == two.minutes
    same = getattr(one, place.kind) == getattr(two, place.kind)
    return same and (place.kind != "day" or one.month == two.month)


def _change_date(claim: CheckedClaim, place: _Place) -> EditedPair | str:
    from acidtest.english.values.dates import ClockTime

    mention = place.mention
    others = list(_other_times(claim, mention) if isinstance(mention, ClockTime) else _other_dates(claim, place))
    if not others:
        return IN_DOCUMENT
    other = others[claim.choose(len(others), 1)]
    once = place.kind in ("year", "month", "day") and _happens_once(claim.text)
    return EditedPair(
        claim=claim.text[: mention.start] + other + claim.text[mention.end :],
        label="contradiction" if once else "non-entailment",
        change=f"{mention.text} → {other}",
        kind=place.kind,
    )


def _happens_once(text: str) -> bool:
    """Whether a claim with a single date tells something that happens to a thing once."""

    from acidtest.english.values.dates import read_dates

    return len(read_dates(text)) == 1 and not _single_events().isdisjoint(re.findall(r"[a-z]+", text))


def _other_dates(claim: CheckedClaim, place: _Place) -> Iterator[str]:
    """The date with another year, month, day or weekday that the document does not have."""

    from acidtest.english.values.dates import WEEKDAYS, DateMention, days_of_month, month_names, write_date
    from acidtest.english.values.measures import number_mentions

    mention = place.mention
    assert isinstance(mention, DateMention)
    mentions, words = number_mentions(claim.document.text, claim.document.words), claim.document.words
    year, month, day = mention.year, mention.month, mention.day
    if place.kind == "weekday":
        yield from (name for name in WEEKDAYS if name.lower() not in words and f"{name.lower()}s" not in words)
    elif place.kind == "year":
        assert year
        for other in _other_years(year, mentions):
            yield write_date(mention.form, other, month, day, like=mention.text)
    elif place.kind == "month":
        for number, name in enumerate(month_names(), 1):
            if name.lower() not in words and (day or 1) <= days_of_month(number):
                yield write_date(mention.form, year, number, day, like=mention.text)
    else:
        assert month
        assert day
        for other in range(1, days_of_month(month) + 1):
            if abs(other - day) > 1 and Decimal(other) not in mentions.values:
                yield write_date(mention.form, year, month, other, like=mention.text)


def _other_years(year: int, mentions: NumberMentions) -> Iterator[int]:
    """Years that the document does not have, 3 to 40 away, and not after the last one that it has."""
    last = max((int(value) for value in mentions.values if year <= value < 2100 and value % 1 == 0), default=year)
    near = 12 if year >= 1900 else 40
    for other in range(year - near, min(last, year + near) + 1):
        if abs(other - year) >= 3 and Decimal(other) not in mentions.values:
            yield other


def _other_times(claim: CheckedClaim, mention: ClockTime) -> Iterator[str]:
    """The time of day, two to five hours earlier or later in the same half of the day."""

    from acidtest.english.values.dates import write_time
    from acidtest.english.values.measures import number_mentions

    mentions = number_mentions(claim.document.text, claim.document.words)
    for hour in range(24):
        # The clock of twelve hours calls noon 12 p.m., which is confusing.
        if not 2 <= abs(hour - mention.hour) <= 5 or hour // 12 != mention.hour // 12 or hour % 12 == 0:
            continue
        if Decimal(hour) in mentions.values or Decimal(hour % 12) in mentions.values:
            continue
        yield write_time(hour, mention.minute, half=mention.half, like=mention.text)


@cache
def _single_events() -> frozenset[str]:
    """Words for what happens to a thing once."""

    from acidtest.io.wordlists import packaged_table

    return frozenset(packaged_table("grounding/single_events.tsv")["word"])
