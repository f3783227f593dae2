"""Suite ``grounding/rewritten``: a number, unit or date of a claim written in another way that means the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from acidtest.suites.grounding.edits import CheckedClaim, ClaimBatch, EditedPair, Result, edit
from acidtest.suites.grounding.mentions import candidate_measures, rewriting_problem
from acidtest.suites.grounding.numbers import pounds_are_money, replace_span

if TYPE_CHECKING:
    from acidtest.english.values.dates import ClockTime, DateForm, DateMention
    from acidtest.english.values.measures import Measure, Unit

_NO_NOUN = re.compile(
    r"[.,;:)]|$| (?:in|on|for|to|from|an?|per|of|and|by|at|as|with|was|were|is|are|will|would|that|which|each|less|"
    r"than|because|when|if|but|while|last|this|every)\b"
)
_FRACTIONS = {"half": "50", "a quarter": "25", "one quarter": "25", "three quarters": "75"}
_FRACTION = re.compile(
    r"(?<!first )(?<!second )(?<!other )(?<!top )(?<!one )(?<!and )(?<!and a )(?<!latter )(?<!last )(?<!the )(?<!a )"
    r"\b(?P<part>[Hh]alf|[Aa] quarter|[Oo]ne quarter|[Tt]hree quarters) of (?=(?:the|all|its|their|his|her)\b)"
)
_CENTURY = re.compile(r"\b(?:(?P<digits>\d\d?)(?:st|nd|rd|th)|(?P<words>[a-z-]+)) century\b")
_NO_SHORT = ("time", "data", "dollars", "euros", "pounds", "yen", "percent", "angle", "frequency")
_SMALL_UNITS = (Decimal("1500"), Decimal("2100"))
"""Between these, a number without a comma looks like a year."""
_RATE_OR_AGE = re.compile(r" (?:an?|per|each|every|ago|old|of age|later|earlier|of experience)\b")
_PERIOD = re.compile(r"\b(?:preceding|previous|last|past|next|first|coming|following|another) $")
_DATED_BEFORE = re.compile(r"(?:\d|\b(?:the|of the|[A-Z][a-z]+day,?)|[-–]) ?$")


@dataclass(frozen=True)
class Rewriting:
    """A claim with one expression written otherwise."""

    text: str
    old: str
    new: str


@edit("rewritten", summary="A number, unit or date of a claim written otherwise", rows=266, version=2)
def rewritten(batch: ClaimBatch) -> Iterator[Result]:
    """A number, unit or date of a claim is written otherwise and means the same; gold stays.

    Numbers in digits, in words, with a comma or a scale (1,200, 1200, twelve hundred; 1.5 million, 1,500,000; half of,
    50 percent of); units by exact conversions and abbreviations (3 km, 3,000 m, 3 kilometres; two weeks, 14 days; $5,
    5 dollars); dates (3 May 2021, May 3, 2021, 2021-05-03; 5 pm, 17:00). A claim has a row for each ``kind``: number,
    unit, date.
    """
    for row, claim in enumerate(batch.claims):
        measures = [measure for measure in candidate_measures(claim.text) if not rewriting_problem(claim.text, measure)]
        kinds = {
            "number": [*(other for measure in measures for other in _rewrite_number(claim.text, measure))],
            "unit": [*(other for measure in measures for other in _rewrite_unit(claim, measure))],
            "date": [*_rewrite_dates(claim.text), *_rewrite_time(claim.text), *_rewrite_century(claim.text)],
        }
        kinds["number"] += _rewrite_fraction(claim.text)
        for slot, (kind, rewritings) in enumerate(kinds.items()):
            if rewritings:
                chosen = rewritings[claim.choose(len(rewritings), slot)]
                yield row, EditedPair(claim=chosen.text, change=f"{chosen.old} → {chosen.new}", kind=kind)
        if measures and not any(kinds.values()):
            yield row, "no other way to write it"


def _rewrite_number(text: str, measure: Measure) -> Iterator[Rewriting]:
    for number, scale in _other_numbers(text, measure):
        end = measure.number_end + (len(measure.scale) + 1 if measure.scale else 0)
        written = f"{number} {scale}" if scale else number
        start = measure.number_start
        if start == 0:
            written = written[0].upper() + written[1:]
        yield Rewriting(replace_span(text, start, end, written), text[start:end], written)
    if measure.dimension == "percent" and not measure.is_words:
        written = measure.number + (" percent" if measure.unit_text == "%" else "%")
        yield Rewriting(
            replace_span(text, measure.start, measure.end, written), text[measure.start : measure.end], written
        )


def _other_numbers(text: str, measure: Measure) -> Iterator[tuple[str, str]]:
    """Other forms of a number, each with its scale."""

    from acidtest.english.values.measures import SHORT_SCALES
    from acidtest.english.values.numbers import in_words

    if measure.scale in SHORT_SCALES:
        return
    value, bare = measure.value, measure.bare
    if measure.is_words:
        if measure.start and (measure.unit or measure.value > 12 or _counts_noun(text, measure)):
            yield _in_digits(measure)
        return
    abbreviated = measure.unit is not None and measure.unit_text in ("", measure.unit.short)
    if not abbreviated and bare % 1 == 0 and (bare <= 100 or (bare < 1000 and bare % 100 == 0)):
        yield in_words(int(bare)), measure.scale
    if not measure.scale and bare % 1 == 0 and 1000 <= bare < 10000 and not measure.number.startswith("0"):
        if "," not in measure.number:
            yield f"{bare:,}", ""
        elif not _SMALL_UNITS[0] <= bare < _SMALL_UNITS[1]:
            yield str(bare), ""
        if not abbreviated and 1100 <= bare <= 2900 and bare % 100 == 0 and bare % 1000:
            yield f"{in_words(int(bare) // 100)} hundred", ""
    if measure.scale == "million" and value % 1 == 0:
        yield f"{value:,.0f}", ""
    if not measure.scale and bare >= 1_000_000 and (bare / 1_000_000 * 100) % 1 == 0:
        yield f"{(bare / 1_000_000).normalize():f}", "million"


def _counts_noun(text: str, measure: Measure) -> bool:
    """Whether a noun or adjective follows: digits look odd in "the three were present"."""

    from acidtest.english.values.numbers import role_words

    word = re.match(r"[- ]([a-z]+)", text[measure.end :])
    return word is not None and word[1] not in role_words("end")


def _in_digits(measure: Measure) -> tuple[str, str]:
    from acidtest.english.values.numbers import number_from_words

    value = Decimal(number_from_words(measure.number) or 0)
    if value >= 1_000_000 and value % 1_000_000 == 0:
        return f"{value / 1_000_000:.0f}", "million"
    return f"{value:,}", measure.scale


def _rewrite_fraction(text: str) -> Iterator[Rewriting]:
    from acidtest.english.values.numbers import in_words

    for match in _FRACTION.finditer(text):
        number = _FRACTIONS[match["part"].lower()]
        written = f"{number} percent" if match.start() else f"{in_words(int(number)).capitalize()} percent"
        yield Rewriting(text[: match.start()] + written + text[match.end("part") :], match["part"], written)


def _rewrite_unit(claim: CheckedClaim, measure: Measure) -> Iterator[Rewriting]:
    if measure.unit is None or measure.dimension == "percent":
        return
    text, old = claim.text, claim.text[measure.start : measure.end]
    for written in _other_units(claim, measure, measure.unit):
        start = written if measure.start else written[0].upper() + written[1:]
        yield Rewriting(replace_span(text, measure.start, measure.end, start), old, start)


def _other_units(claim: CheckedClaim, measure: Measure, unit: Unit) -> Iterator[str]:
    from acidtest.english.values.measures import SIGNS, find_unit

    if measure.link == "-" or (measure.unit_text == unit.singular != unit.plural):
        return
    text, digits = claim.text, _digits(measure)
    if measure.sign:
        if unit.plural and not measure.number.endswith(".00") and measure.start and _NO_NOUN.match(text, measure.end):
            yield f"{digits}{_scale(measure)} {unit.plural}"
        return
    sign = next((sign for sign, name in SIGNS.items() if name == unit.name), "")
    if sign and (sign != "£" or pounds_are_money(claim)):
        yield f"{sign}{digits}{_scale(measure)}"
    if measure.scale:
        return
    yield from _converted(text, measure, unit)
    if unit.dimension in _NO_SHORT or measure.end == len(text):
        return
    if measure.unit_text == unit.short:
        yield f"{digits} {find_unit(unit.name, spelling=_spelling(claim)).plural}"
    elif unit.short and not measure.is_words:
        yield f"{digits} {unit.short}"


def _converted(text: str, measure: Measure, unit: Unit) -> Iterator[str]:
    """The same amount in other units, where the conversion is exact and natural."""

    from acidtest.english.values.measures import conversions, find_unit
    from acidtest.english.values.numbers import in_words

    if _RATE_OR_AGE.match(text, measure.end) or (unit.dimension == "time" and _PERIOD.search(text[: measure.start])):
        return
    for conversion in conversions().get(unit.name, ()):
        number = conversion.converted(measure.value)
        if number is None:
            continue
        other = find_unit(conversion.target, spelling=unit.spelling)
        form = other.written_like(measure.unit_text, unit)
        if not form:
            continue
        wordy = measure.is_words and number % 1 == 0 and number <= 12
        written = in_words(int(number)) if wordy else f"{number.normalize():,f}"
        if measure.start or wordy:
            yield f"{written} {form}"


def _digits(measure: Measure) -> str:
    return _in_digits(measure)[0] if measure.is_words else measure.number


def _scale(measure: Measure) -> str:
    from acidtest.english.values.measures import SHORT_SCALES

    scale = _in_digits(measure)[1] if measure.is_words else SHORT_SCALES.get(measure.scale, measure.scale)
    return f" {scale}" if scale else ""


def _spelling(claim: CheckedClaim) -> str:
    american = ("meters", "kilometers", "centimeters", "liters", "color", "center", "gray", "labor", "program")
    return "gb" if claim.document.words.isdisjoint(american) else "us"


def _rewrite_dates(text: str) -> Iterator[Rewriting]:
    """The claim with all its days of one form in another."""

    from acidtest.english.values.dates import read_dates

    mentions = [mention for mention in read_dates(text) if mention.day and mention.month]
    if not mentions or len({mention.form for mention in mentions}) > 1:
        return
    if any(_DATED_BEFORE.search(text[: mention.start]) or " of " in mention.text for mention in mentions):
        return
    if any(re.match(r" ?[-–]| (?:and|or) \d", text[mention.end :]) for mention in mentions):
        return
    forms: list[DateForm] = ["day first", "month first"]
    if all(mention.year for mention in mentions):
        forms.append("iso")
    for form in forms:
        if form != mentions[0].form:
            yield _with_dates(text, mentions, form)


def _with_dates(text: str, mentions: list[DateMention], form: DateForm) -> Rewriting:
    from acidtest.english.values.dates import write_date

    pieces, position = list[str](), 0
    for mention in mentions:
        written = write_date(form, mention.year, mention.month, mention.day)
        rest = text[mention.end :]
        # American usage puts a comma after the year, too.
        if form == "month first" and mention.year and re.match(r" \w", rest):
            written += ","
        end = mention.end
        if (
            mention.form == "month first"
            and mention.year
            and re.match(r", (?:and|he|she|it|the|they|in|at|for)\b", rest)
        ):
            end += 1 if mention.start > len("On ") else 0
        pieces += [text[position : mention.start], written]
        position = end
    first = mentions[0]
    new = write_date(form, first.year, first.month, first.day)
    return Rewriting("".join(pieces) + text[position:], first.text, new)


def _rewrite_time(text: str) -> Iterator[Rewriting]:
    from acidtest.english.values.dates import read_times, write_time

    times = read_times(text)
    if len(times) != 1 or not _is_plain_time(text, times[0]):
        return
    time = times[0]
    if time.half:
        written = write_time(time.hour, time.minute)
        # The stop of "p.m." is also that of the sentence.
        stop = "." if time.text.endswith(".") and time.end == len(text) else ""
    else:
        written, stop = write_time(time.hour, time.minute, half="pm"), ""
    yield Rewriting(text[: time.start] + written + stop + text[time.end :], time.text, written)


def _is_plain_time(text: str, time: ClockTime) -> bool:
    in_range = re.search(r"(?:\b(?:to|and|or|till)|[-–]) ?$", text[: time.start]) or re.match(
        r" ?[-–]| to ", text[time.end :]
    )
    # Without *a.m.* or *p.m.*, 10:00 may be in the evening.
    clear = bool(time.half) or time.hour > 12 or time.text.startswith("0")
    return clear and time.hour % 12 != 0 and not in_range and bool(time.start)


def _rewrite_century(text: str) -> Iterator[Rewriting]:
    from acidtest.english.values.measures import ordinal
    from acidtest.english.values.numbers import in_words

    for match in _CENTURY.finditer(text):
        if match["digits"]:
            number = int(match["digits"])
            written = ordinal(in_words(number))
        else:
            number = next((n for n in range(1, 22) if ordinal(in_words(n)) == match["words"]), 0)
            written = f"{number}{'st' if number == 21 else 'th'}"
        if number >= 4 and match.start():
            old = match[0].removesuffix(" century")
            yield Rewriting(text[: match.start()] + written + text[match.start() + len(old) :], old, written)
