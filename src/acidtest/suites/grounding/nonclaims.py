"""Sentences of an answer that claim nothing: refusals, greetings, offers of help, questions, announcements.

``data/grounding/nonclaims.tsv`` has a pattern a row for a whole sentence. *The text does not say when* is a claim about
the text, so a sentence about the document is a refusal only where it speaks of answering.
"""

from __future__ import annotations

import re
from functools import cache

import polars as pl

_SORRY = r"(?:I am|We are|We're)? ?(?:very |so |really )?(?:sorry|afraid)(?: about that| for (?:that|the \w+))?"
_APOLOGY = rf"(?:{_SORRY}|(?:I|We|My) apologi[sz]e?s?(?: for (?:that|the \w+))?|Apologies|Unfortunately)"
# After one of these words a refusal may go on to claim something: "I don't know when, but it closed".
_TAIL = r"(?:(?!\b(?:but|however|although|though|while|whereas|because|since|except|only that)\b)[^;:—–])*"
_DOCUMENT = r"(?:texts?|documents?|passages?|contexts?|articles?|sources?|excerpts?|questions?|information)"
_SHORT = r"(?: (?:you|that|this|it|so|here|with|about|of|for|from|the|your|any|such|answers?|questions?|request))*"
# "I don't know when the mill closed" may be what a document says; it refuses if it speaks of the text or the question.
_ABOUT = (
    rf"(?:{_SHORT}|\b{_TAIL}\b(?:the|this|these|that|those|your|given|provided) (?:\w+ ){{0,2}}{_DOCUMENT}\b{_TAIL})"
)
_PARTS = {"{sorry}": _APOLOGY, "{tail}": _TAIL, "{about}": _ABOUT}
_PART = re.compile("|".join(map(re.escape, _PARTS)))
_MARKS = " *_#>\"'“”‘’"
_ENDS = ".!…:,"


def nonclaim_kind(sentence: str) -> str | None:
    """What a sentence is instead of a claim, such as ``refusal``; None for a claim."""
    match = _pattern().fullmatch(_plain(_plain(sentence).rstrip(_ENDS)))
    return _kinds()[match.lastgroup] if match and match.lastgroup else None


def answer_kinds(texts: pl.Series) -> pl.Series:
    """What each answer is instead of claims: refusal if a sentence is one, else the kind of the first.

    Null where any sentence claims something.
    """
    from acidtest.english.tokens import sentences

    # Most texts begin with a claim, which is seen before they are split.
    openings = pl.Series(
        [bool(text) and _pattern().match(_plain(text)) is not None for text in texts], dtype=pl.Boolean
    )
    rows = openings.arg_true()
    answers = dict[int, list[str | None]]()
    for number, sentence in sentences(texts.gather(rows)).select("text", "sentence").iter_rows():
        answers.setdefault(rows[number], []).append(nonclaim_kind(sentence))
    kinds: list[str | None] = [None] * len(texts)
    for row, parts in answers.items():
        if None not in parts:
            kinds[row] = "refusal" if "refusal" in parts else parts[0]
    return pl.Series(texts.name, kinds, dtype=pl.String)


def _plain(text: str) -> str:
    return text.replace("’", "'").replace("I'm ", "I am ").strip(_MARKS)


@cache
def _rows() -> pl.DataFrame:
    from acidtest.io.wordlists import packaged_table

    return packaged_table("grounding/nonclaims.tsv")


@cache
def _kinds() -> dict[str, str]:
    """The kind of each named group of the pattern."""
    return {f"row{number}": kind for number, kind in enumerate(_rows()["kind"])}


@cache
def _pattern() -> re.Pattern[str]:
    parts = [
        f"(?P<row{number}>{_PART.sub(lambda match: _PARTS[match[0]], pattern)})"
        for number, pattern in enumerate(_rows()["pattern"])
    ]
    return re.compile("|".join(parts), re.IGNORECASE)
