"""Where the numbers of a claim stand in its evidence sentence, and whether one of them may be changed."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from acidtest.suites.grounding.documents import content_stems
from acidtest.suites.grounding.edits import CheckedClaim

if TYPE_CHECKING:
    from acidtest.english.values.measures import Measure

NO_EVIDENCE = "no single evidence sentence"
IN_DOCUMENT = "other value in the document"

_SERIES = "range, list or ratio"
_LISTED_BEFORE = re.compile(r"\d,? (?:and |or )?$|\d, (?:and |or )?$|\bor $")
_LISTED_AFTER = re.compile(r",? (?:and |or )?[$£€]?\d")

_DIGIT = re.compile(r"\d")

_YEAR = re.compile(r"1[0-9]\d\d|20\d\d")
_HOUR = re.compile(r" (?:last|this|tomorrow|yesterday|in|on|sharp|o['’]clock|and)\b|[.,]|$")
_ERA = re.compile(r" ?(?i:b\.?c|a\.?d|bce|ce)\b")
_NO_NOUN = re.compile(r"[,.;]|$| [A-Z]| (?:the|he|she|it|they|an?)\b")
_WORD_AFTER = re.compile(r"[ -]?([A-Za-z]\w*)")
_LAST_WORD = re.compile(r"(\S+)\s$")
_RELATIVE = re.compile(r"(\S+) (?:who|whom|whose|which|that|where)\b(?!.*, )")
_WITH_SUBJECT = re.compile(r"^(?!(?:The|A|An|This|That|His|Her|Its|Their) )\S*s (?:with|aged|over|under)\b[^,]*$")
_THRESHOLD = re.compile(r"(?i)\bafter(?: \w+ing)?(?: an?)? $")
"""What happens after a gain of ten pounds happens after a higher one, too."""
_AMOUNT_OF = re.compile(r"\S+ (?:minutes|hours|days|weeks|months|years) of\b")
"""Ten hours of work that earn a reward earn one for 13 hours, too."""
_ITEM = re.compile(r"(?:^|[.!?:;][\"”’)]*\s+|\n\s*)(\d{1,3})[.)]\s+(?=[^\W\d_])|\((\d{1,3})\)|#(\d+)")
"""The number of a list item, which counts nothing: *3. Paintings*, *(3) paintings*, *#3*."""
_SPACED_ORDINAL = re.compile(r" (?:st|nd|rd|th)\b")
"""*The 17 th green*, as some corpora write it."""
_FIRST_IN = re.compile(
    r"(?i)\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d+(?:st|nd|rd|th)|latest|only|record"
    r"|last(?! (?:night|week|month|year|summer|winter|spring|autumn))|most|least|best|worst"
    r"|(?!(?:for|inter|requ|prot|cont|harv|arr|pri|w|g|t|r|n)est)\w+est)\b[^;:]*"
    r"\b(?:in|for|within) (?:(?:the|its|their|his|her|more|less|than|over|about|almost|nearly|at|least|last|past"
    r"|previous|only|just) )*$"
)
"""What is the first, second or largest one in seven years is so in seven weeks, too."""
_EXTREME = re.compile(r"[- ](?:high|low|peak|record|best|worst)s?\b")
"""A seven-year high is a five-year one, too."""
_TITLE = re.compile(r" \(| (?:is|was|has)\b")
"""Shows that a number that begins a sentence is a title: *3096 is a film*."""
_INDEFINITE = re.compile(
    r"(?i)there (?:is|was|has been|will be) (?:an?|another|one) (?!total of\b)"
    r"|(?:an?|another|one) (?!total of\b).*\b(?:was|were|had|been|\w\w+ed|won|lost|sold|spent|paid|made|took"
    r"|gave|went|came|said|found|cost|met|held|ran|rose|fell|grew|hit|cut|left|built|bought|brought|began|sent|saw|drew|drove)\b"
)
"""*A bet of $75 was placed*; *a spider has eight legs* is about all spiders."""
_NEAR = 50
"""How many characters before and after a number are looked at."""
_MOST_COMMON = 12
"""Numbers up to this one are too common to be taken for the same number unless they count the same thing."""


@lru_cache(1 << 10)
def candidate_measures(text: str) -> tuple[Measure, ...]:
    """The numbers above one that count or measure: not dates, times of day, years, or those in names."""

    from acidtest.english.values.dates import read_dates, read_times
    from acidtest.english.values.measures import read_measures

    if not _DIGIT.search(text) and not _has_number_stem(text.lower()):
        return ()
    measures = read_measures(text)
    if not measures:
        return ()
    spans = [(date.start, date.end) for date in read_dates(text)] + [
        (time.start, time.end) for time in read_times(text)
    ]
    spans += [item.span(item.lastindex or 0) for item in _ITEM.finditer(text)]
    return tuple(
        measure
        for measure in measures
        if not any(start < measure.end and measure.start < end for start, end in spans)
        and measure.value > 1
        and not _SPACED_ORDINAL.match(text, measure.end)
        and not _is_year_or_hour(text, measure)
        and not _is_compound(text, measure, measures)
        and not _in_name(text, measure)
    )


def _has_number_stem(text: str) -> bool:
    """Whether a text in lower case may have a number above one in words; quicker than reading it."""

    from acidtest.english.values.numbers import NUMBER_WORDS

    return any(word in text for word in NUMBER_WORDS)


def _is_year_or_hour(text: str, measure: Measure) -> bool:
    if measure.unit or measure.scale or "," in measure.number:
        return False
    if _YEAR.fullmatch(measure.number):
        return True
    before = text[: measure.start].lower()
    early = before.endswith("in ") and len(measure.number) == 3 and _NO_NOUN.match(text, measure.end)
    early = early or _ERA.match(text, measure.end)
    return bool(early or (before.endswith("at ") and _HOUR.match(text, measure.end)))


def _is_compound(text: str, measure: Measure, others: list[Measure]) -> bool:
    """Whether a number is measured in two units: 5 feet 9 inches, 2 hours and 30 minutes."""
    same = [other for other in others if measure.unit and other.dimension == measure.dimension]
    gaps = [text[measure.end : other.start] for other in same] + [text[other.end : measure.start] for other in same]
    return " " in gaps or " and " in gaps


def problem_in_claim(text: str, measure: Measure) -> str:
    """Why a number of a claim cannot be changed so that gold is certain; empty if it can."""
    before = text[: measure.start]
    if measure.is_words and measure.number[:2].lower() in ("a ", "an"):
        return "vague number"
    if measure.dimension != "time" and _THRESHOLD.search(before):
        return "part of a restriction"
    if is_first_in(before) or (measure.dimension == "time" and _EXTREME.match(text, measure.end)):
        return "first, last or only ones"
    problem = change_problem(before) or context_problem(text, measure.start, measure.end)
    return problem or claim_problem(text) or restriction_problem(text, before)


def is_indefinite(text: str) -> bool:
    """Whether a claim tells of one of several things; another may have another value: *a bet of $75 was placed*."""
    return _INDEFINITE.match(text) is not None


def is_first_in(before: str) -> bool:
    """Whether a number after these words says among how many, or for how long, something is the first or largest."""
    return _FIRST_IN.search(before) is not None


def context_problem(text: str, start: int, end: int, *, kind: str = "") -> str:
    """Why the words around a number make it inexact, or part of a range or a list; empty if they do not.

    Of a date, with ``kind="date_"``.
    """
    before, after = text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
    for reason, pattern in _patterns(f"{kind}before"):
        if pattern.search(before):
            return reason
    return next((reason for reason, pattern in _patterns(f"{kind}after") if pattern.match(after)), "")


def claim_problem(text: str) -> str:
    """Why no number, unit or date of a claim can be changed; empty if one can."""
    return next((reason for reason, pattern in _patterns("claim") if pattern.search(text)), "")


def rewriting_problem(text: str, measure: Measure) -> str:
    """Why a number of a claim should not be written otherwise, whatever the claim says; empty if it may be."""
    before, after = text[: measure.start], text[measure.end :]
    if is_part(text, measure) is not None or _part_of(text, measure) or change_problem(before):
        return _SERIES
    if _LISTED_BEFORE.search(before) or _LISTED_AFTER.match(after):
        return _SERIES
    reasons = {reason for reason, pattern in _patterns("before") if pattern.search(before)}
    reasons |= {reason for reason, pattern in _patterns("after") if pattern.match(after)}
    return next((reason for reason in (_SERIES, "vague number") if reason in reasons), "")


def change_problem(before: str, *, kind: str = "") -> str:
    """A problem if a claim tells a change from one value or date to another, of which this may be the second."""
    return next((reason for reason, pattern in _patterns(f"claim_{kind}before") if pattern.search(before)), "")


def _part_of(text: str, measure: Measure) -> bool:
    """Whether a number tells of how many another one is a part."""

    from acidtest.english.values.measures import read_measures

    return is_whole(text, measure) and any(is_part(text, other) == measure.value for other in read_measures(text))


def problem_in_evidence(claim: CheckedClaim, measure: Measure) -> str:
    """Why the number of a claim cannot be taken for one of the evidence sentence; empty if it can."""
    sentence = claim.evidence_sentence
    if sentence is None:
        return NO_EVIDENCE
    same = [other for other in candidate_measures(sentence) if _is_same(measure, other, sentence)]
    if not same:
        return "number not in the evidence sentence"
    if len(same) > 1:
        return "number twice in the evidence sentence"
    if (
        not measure.unit
        and measure.value <= _MOST_COMMON
        and not _count_the_same(claim.text, measure, sentence, same[0])
    ):
        return "number counts something else in the evidence"
    return context_problem(sentence, same[0].start, same[0].end) or _problem_elsewhere(claim, measure)


def _problem_elsewhere(claim: CheckedClaim, measure: Measure) -> str:
    """Why a number is inexact in another sentence of the document: *200 territories* may be *more than 200*."""
    if measure.value <= _MOST_COMMON:
        return ""
    for number, sentence in enumerate(claim.document.sentences):
        if number in claim.evidence or measure.number not in sentence:
            continue
        for other in candidate_measures(sentence):
            if _is_same(measure, other, sentence) and (reason := context_problem(sentence, other.start, other.end)):
                return reason
    return ""


def _is_same(measure: Measure, other: Measure, sentence: str) -> bool:
    """Whether two numbers are the same amount; the unit may be left out: "186 million crowns, 22 million more"."""
    left_out = not other.unit and other.value == measure.value and measure.unit_text in sentence
    return other.amount == measure.amount or (left_out and bool(measure.unit_text))


def is_part(text: str, measure: Measure) -> Decimal | None:
    """The whole of which a number is a part, in "16 of 40 sites" and "16 of the 40 sites"; None without one."""

    from acidtest.english.values.measures import read_measures

    match = re.match(
        r"(?: [a-z]+)? of (?:the |its |their |his |her |these |those |all )?(?:top |first |last )?", text[measure.end :]
    )
    if not match:
        return None
    position = measure.end + match.end()
    return next((other.value for other in read_measures(text) if other.start == position), None)


def is_whole(text: str, measure: Measure) -> bool:
    """Whether a number says of how many others are a part: 40 in "16 of the 40 sites"."""
    return bool(
        re.search(
            r"\bof (?:the |its |their |his |her |these |those |all )?(?:top |first |last )?$", text[: measure.start]
        )
    )


def _in_name(text: str, measure: Measure) -> bool:
    """Whether a number may be part of a name: Apollo 11, row nine, 12 Angry Men."""

    from acidtest.english.values.numbers import role_words

    before = text[: measure.start]
    if measure.is_words and measure.number[0].isupper() and before.strip():
        return True
    if measure.unit or measure.scale or measure.sign:
        # "60 Minutes" is a programme, but abbreviations such as MW have capitals too.
        titled = (
            measure.unit_text[:1].isupper() and measure.unit is not None and measure.unit_text != measure.unit.short
        )
        return titled or bool(re.search(r'["“\'‘]$', before))
    if not measure.is_words and not before.strip() and _TITLE.match(text, measure.end):
        return True
    following = _WORD_AFTER.match(text[measure.end :])
    if following and following[1][0].isupper() and not measure.is_words:
        return True
    match = _LAST_WORD.search(before)
    if not match:
        return bool(before)
    word = match[1].lower().rstrip(".")
    # In quotation marks, too: the film "Apollo 13".
    is_name = match[1].lstrip("\"“‘'")[:1].isupper()
    if role_words("before").get(word) == "name" or match[1].lower() in ("no.", "nos."):
        return True
    opens = " " not in before.strip() and word in role_words("end")
    return is_name and not measure.is_words and not opens


def restriction_problem(text: str, before: str) -> str:
    """A problem if a number or date, with these words before it, restricts whom or what the claim is about."""

    from acidtest.english.values.numbers import role_words

    match = _RELATIVE.search(before)
    introduced = not match or match[1].endswith(",") or match[1].lower() in role_words("report")
    restricted = not introduced and not text.startswith("It ")
    restricted = restricted or bool(_WITH_SUBJECT.search(before)) or (not before and bool(_AMOUNT_OF.match(text)))
    return "part of a restriction" if restricted else ""


def _count_the_same(claim: str, measure: Measure, sentence: str, other: Measure) -> bool:
    """Whether a content word among the two after a number of the claim is one of three after that of the evidence."""
    return not set(_stems_after(claim, measure.end, 2)).isdisjoint(_stems_after(sentence, other.end, 3))


def _stems_after(text: str, end: int, words: int) -> list[str]:
    return list(islice(content_stems(text[end : end + 60]), words))


@cache
def _patterns(side: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    from acidtest.io.wordlists import packaged_table

    rows = packaged_table("grounding/number_contexts.tsv").filter(side=side)
    return tuple(
        (reason, re.compile(pattern, re.IGNORECASE)) for reason, pattern in rows.select("reason", "pattern").iter_rows()
    )
