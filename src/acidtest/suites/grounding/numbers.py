"""Suites ``grounding/number`` and ``grounding/unit``: another number, or another unit, in a claim."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING

from acidtest.suites.grounding.edits import CheckedClaim, ClaimBatch, EditedPair, Result, edit
from acidtest.suites.grounding.mentions import (
    IN_DOCUMENT,
    candidate_measures,
    is_indefinite,
    is_part,
    is_whole,
    problem_in_claim,
    problem_in_evidence,
)

if TYPE_CHECKING:
    from acidtest.english.values.measures import Measure, NumberMentions, Unit
    from acidtest.english.values.numbers import Form, Quantity

_FEW = 12
_HIGHER, _LOWER = (Decimal("1.2"), Decimal("2.2")), (Decimal("0.4"), Decimal("0.85"))
_SOME_HIGHER = (Decimal("1.3"), Decimal("3.5"))
"""How many times the old number the new one may be."""
_DETERMINED = re.compile(r"(?i)\b(?:the|its|their|his|her|all|these|those|total of)$")
_MONEY = frozenset(("dollars", "euros", "pounds", "francs", "crowns", "yen", "rupees", "pesos"))
_OLD = re.compile(r"[- ](?:old\b|of age\b)")
_AGE = re.compile(r"[- ](?:olds?\b|of age\b)")
_OLD_OR_RATE = re.compile(r"[- ](?:olds?|of age|an?|per|each|every)\b")
_WHOLE_DAY = ("time", Decimal(86400))
"""What is open for 24 hours is always open."""
_RESTRICTION = re.compile(
    r"(?i)(?:\bafter|\b(?:in|over|during|for|throughout) (?:the|its|their|his|her)(?: [a-z]+)?|"
    r"^(?:in|over|during|for|within))$"
)
_KIND_OF_THING = re.compile(
    r"[- ](?:[a-z]+ ){0,2}(?:averages?|bonds?|forecasts?|gilts?|mortgages?|notes?|rates?|risks?|survival|yields?)\b"
)
"""Of a ten-year bond, a five-year one tells nothing."""
_LASTING = re.compile(r"(?i)\b(?:for|throughout) (?:(?:the|its|their|his|her) )?$")
"""What lasts for ten years lasts for ten months, too."""
_EVENT_TIME = re.compile(r" (?:ago|earlier|later|before|after|previously|from now|into)\b")
_OTHER_SCALES = {
    "thousand": ("million",),
    "million": ("billion", "thousand"),
    "billion": ("million", "trillion"),
    "m": ("bn",),
    "bn": ("m",),
}


@edit(
    "number",
    summary="A number of a supported claim replaced by another that the document does not have",
    rows=61,
    version=2,
)
def number(batch: ClaimBatch) -> Iterator[Result]:
    """One number of a supported claim becomes another, written the same way: 22 million crowns, 31 million crowns.

    The number must stand in the one sentence that decides the claim, in any form, and the other one nowhere in the
    document, in no form. Numbers that are approximate, bounded, negated, possible or part of a name, range or
    restriction stay as they are. Gold is contradiction, or non-entailment of claims about one of several things (*a bet
    of $75 was placed*). ``kind`` is count, percent, money, age or measure.
    """
    for row, claim in batch.supported():
        measures = [measure for measure in candidate_measures(claim.text) if _is_number(claim.text, measure)]
        chosen = choose_measure(claim, measures)
        if isinstance(chosen, str):
            if chosen:
                yield row, chosen
            continue
        yield row, change_number(claim, chosen, _number_kind(claim.text, chosen), _gold(claim.text, chosen))


@edit("unit", summary="A unit or scale of a supported claim replaced by another", rows=50, version=3)
def unit(batch: ClaimBatch) -> Iterator[Result]:
    """One unit of a supported claim becomes another: 167 metres, 167 feet; 60 million, 60 billion; 5 euros, 5 dollars.

    The amount must stand in the one sentence that decides the claim, and the new one nowhere in the document, in no
    unit. Units that are almost equal are never exchanged. ``kind`` is scale, money, or what the unit measures. Gold is
    contradiction, or non-entailment where the claim is about something else after that time or about one of several
    things (*a bet of $75 was placed*).
    """
    for row, claim in batch.supported():
        measures = [measure for measure in candidate_measures(claim.text) if _has_other_unit(claim, measure)]
        chosen = choose_measure(claim, measures)
        if isinstance(chosen, str):
            if chosen:
                yield row, chosen
            continue
        yield row, _change_unit(claim, chosen)


def choose_measure(claim: CheckedClaim, measures: list[Measure]) -> Measure | str:
    """One of the numbers that may be changed, or the reason why none may; empty without numbers."""
    problems = [problem_in_claim(claim.text, measure) or problem_in_evidence(claim, measure) for measure in measures]
    changeable = [measure for measure, problem in zip(measures, problems, strict=True) if not problem]
    if changeable:
        return changeable[claim.choose(len(changeable))]
    return problems[0] if problems else ""


def _is_number(text: str, measure: Measure) -> bool:
    return measure.dimension != "time" or bool(_OLD.match(text, measure.end))


def is_duration(text: str, measure: Measure) -> bool:
    """Whether a number measures time and is not an age."""
    return measure.dimension == "time" and measure.amount != _WHOLE_DAY and not _AGE.match(text, measure.end)


def duration_gold(text: str, measure: Measure) -> str:
    """Gold after a change of a duration: it may have been the time in which something else was true."""
    restricts = _RESTRICTION.search(text[: measure.start].rstrip()) or _EVENT_TIME.match(text, measure.end)
    return "non-entailment" if restricts or _KIND_OF_THING.match(text, measure.end) else _gold(text, measure)


def _gold(text: str, measure: Measure) -> str:
    """Gold after a change of a number; *a sailor owns the 8-year-old dog* is about a certain dog."""
    is_open = is_indefinite(text) and not _DETERMINED.search(text[: measure.start].rstrip())
    return "non-entailment" if is_open else "contradiction"


def change_number(claim: CheckedClaim, measure: Measure, kind: str, label: str) -> EditedPair | str:
    """The claim with another number, or the reason why there is none."""

    from acidtest.english.values.measures import number_mentions
    from acidtest.english.values.numbers import write_like

    mentions = number_mentions(claim.document.text, claim.document.words)
    value = next(
        (value for value in _other_values(claim, measure) if not _is_mentioned(value, measure, mentions)), None
    )
    if value is None:
        return IN_DOCUMENT
    other = write_like(_quantity(measure), value)
    return EditedPair(
        claim=replace_span(claim.text, measure.number_start, measure.number_end, other),
        label=label,
        change=f"{measure.number} → {other}",
        kind=kind,
    )


def replace_span(text: str, start: int, end: int, replacement: str) -> str:
    """The text with another stretch, and with the article before it that the stretch needs: an 8, a 12."""
    before = text[:start]
    article = re.search(r"\b([Aa])n? ([$£€¥]?)$", before)
    if article:
        before = before[: article.start()] + article[1] + ("n " if _needs_an(replacement) else " ") + article[2]
    return before + replacement + text[end:]


def _needs_an(text: str) -> bool:
    return bool(re.match(r"(?i)[$£€¥]?(?:8|11(?!\d)|18(?!\d)|eight|eleven)", text))


def _is_mentioned(value: Decimal, measure: Measure, mentions: NumberMentions) -> bool:
    """Whether the document has a number, or another with which it is the sum or difference of the old one.

    That may be true of something: five of the 12 members left, so seven stayed.
    """
    bare, values = measure.bare, mentions.values
    if value - bare in values or bare - value in values or value + bare in values:
        return True
    return mentions.has(value, measure.scale, measure.unit)


def _other_values(claim: CheckedClaim, measure: Measure) -> Iterator[Decimal]:
    """Numbers that look like the old one and cannot be true if it is, in an order drawn for the claim.

    A lower count may be true with a higher one: who scored eleven goals scored nine, and what lasts for ten days lasts
    for six. So counts and durations become higher, unless they are definite ("the 41 employees") or parts of a whole.
    """

    from acidtest.english.values.numbers import looks_alike

    text, quantity, whole = claim.text, _quantity(measure), is_part(claim.text, measure)
    lower = measure.dimension not in ("", "time") or bool(_DETERMINED.search(text[: measure.start].rstrip()))
    lower = (lower or whole is not None) and not is_whole(text, measure)
    ranges = [_HIGHER, _LOWER] if lower else [_HIGHER]
    if lower and claim.choose(2, 3):
        ranges.reverse()
    if measure.bare <= _FEW and measure.bare % 1 == 0:
        ranges = [_SOME_HIGHER, *ranges]
    for limits in ranges:
        for value in _values_between(claim, quantity, limits):
            if (whole is None or value < whole) and looks_alike(quantity, value):
                yield value


def _values_between(claim: CheckedClaim, quantity: Quantity, limits: tuple[Decimal, Decimal]) -> Iterator[Decimal]:
    """Up to fifty numbers, as round as the old one, between two multiples of it."""
    first, last = (limit * quantity.value / quantity.step for limit in limits)
    size = math.floor(last) - math.ceil(first) + 1
    if size > 0:
        start, stride = claim.choose(size, 1), max(1, size // 50)
        for number in range(0, size, stride):
            yield quantity.step * (math.ceil(first) + (start + number) % size)


def _quantity(measure: Measure) -> Quantity:
    from acidtest.english.values.numbers import Quantity

    form: Form = "percent" if measure.dimension == "percent" else "words" if measure.is_words else "digits"
    limit = Decimal(100) if form == "percent" else None
    return Quantity(measure.number_start, measure.number_end, measure.number, measure.bare, form, limit)


def _number_kind(text: str, measure: Measure) -> str:
    if measure.dimension == "time":
        return "age"
    if measure.dimension in _MONEY:
        return "money"
    return {"": "count", "percent": "percent"}.get(measure.dimension, "measure")


def _has_other_unit(claim: CheckedClaim, measure: Measure) -> bool:
    if measure.dimension == "time" and (_OLD_OR_RATE.match(claim.text, measure.end) or measure.amount == _WHOLE_DAY):
        return False
    if measure.unit_text.lower() in ("pound", "pounds"):
        return pounds_are_money(claim)
    return bool(measure.scale in _OTHER_SCALES or (measure.unit and measure.unit.others))


def pounds_are_money(claim: CheckedClaim) -> bool:
    """Whether the pounds of a document are a currency and not a weight."""

    from acidtest.english.values.numbers import role_words

    words = claim.document.words
    return not words.isdisjoint(role_words("price")) and words.isdisjoint(role_words("weight"))


def _change_unit(claim: CheckedClaim, measure: Measure) -> EditedPair | str:
    from acidtest.english.values.measures import SCALES, number_mentions

    mentions = number_mentions(claim.document.text, claim.document.words)
    changes = list[tuple[str, str, str]]()
    for scale in _OTHER_SCALES.get(measure.scale, ()):
        # "1.3 thousand" is hardly ever written.
        odd = scale == "thousand" and measure.bare % 1
        if not odd and not mentions.has_amount(measure.bare * SCALES[scale], measure.unit):
            start = claim.text.index(measure.scale, measure.number_end)
            changes.append((claim.text[:start] + scale + claim.text[start + len(measure.scale) :], scale, "scale"))
    lasting = measure.dimension == "time" and _LASTING.search(claim.text[: measure.start])
    for other in _other_units(measure):
        written = _write_unit(measure, other)
        if lasting and measure.unit and other.factor < measure.unit.factor:
            continue
        if written and not mentions.has_amount(measure.value, other):
            changes.append((_replace_unit(claim.text, measure, written), written, _unit_kind(other)))
    if not changes:
        return IN_DOCUMENT
    text, written, kind = changes[claim.choose(len(changes), 1)]
    old = measure.scale if kind == "scale" else measure.sign or measure.unit_text
    label = duration_gold(claim.text, measure) if measure.dimension == "time" else _gold(claim.text, measure)
    return EditedPair(claim=text, label=label, change=f"{old} → {written}", kind=kind)


def _other_units(measure: Measure) -> Iterator[Unit]:
    from acidtest.english.values.measures import find_unit

    if measure.unit:
        for name in measure.unit.others:
            yield find_unit(name, spelling=measure.unit.spelling)


def _write_unit(measure: Measure, other: Unit) -> str:
    from acidtest.english.values.measures import SIGNS

    if measure.sign:
        return next((sign for sign, name in SIGNS.items() if name == other.name), "")
    assert measure.unit
    return other.written_like(measure.unit_text, measure.unit)


def _replace_unit(text: str, measure: Measure, written: str) -> str:
    if measure.sign:
        return text[: measure.start] + written + text[measure.start + len(measure.sign) :]
    start = measure.end - len(measure.unit_text)
    return text[:start] + written + text[measure.end :]


def _unit_kind(unit: Unit) -> str:
    if unit.dimension in _MONEY:
        return "money"
    return "temperature" if unit.dimension in ("Celsius", "Fahrenheit") else unit.dimension
