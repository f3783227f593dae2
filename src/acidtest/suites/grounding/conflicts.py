"""Suite ``grounding/conflicts``: two passages that disagree about a claim."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import polars as pl

from acidtest.core.draws import Draws
from acidtest.core.suite import PARSES, Kind, Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import LABEL_COLUMNS, derive_suite, transform_rows
from acidtest.suites.grounding import CITATION, grounding_pairs
from acidtest.suites.grounding.edits import CheckedClaim, ClaimBatch, draw_claims
from acidtest.suites.grounding.mentions import candidate_measures, context_problem, is_first_in

_NAME = "grounding/conflicts"
_COLUMNS: dict[str, Kind] = {"kind": "factor", "first": "factor", "last": "factor", "value": "factor", "change": "text"}
_OF_DOCUMENT = ("register", "facts", "document")

_CASES = {
    "both agree": (True, True, "entailment"),
    "the first agrees": (True, False, "any"),
    "the last agrees": (False, True, "any"),
    "neither agrees": (False, False, "contradiction"),
}
"""By kind: whether the first and the last passage agree with the claim, and gold."""
_GOLD_OF_DATES = {"contradiction": "non-entailment"}

_NOTE = (
    "Where the passages disagree, gold is any: some call such a claim supported, because a source says it, and some do "
    "not, because another denies it. Compare the scores of the two orders; the rows in which both or neither agree are "
    "the ends of the scale. Another date makes a claim unsupported, but not always false: something may happen twice."
)

_YEAR = re.compile(r"(?<=\b[Ii]n )(?:1[5-9]\d\d|20\d\d)\b(?![-–/’'])")
_LOOSE = re.compile(
    r"(?i)\b(?:may|might|can|could|would|should|if|unless|some|several|many|most|few|often|usually|about|around|nearly"
    r"|almost|roughly|approximately|least|more than|less than|up to|over|under)\b"
)
"""Words with which a claim may be true beside another value: "can carry 16 people", "some of the schools"."""
_COMPARES = re.compile(r"(?i)\b(?:than|from|since|until|between|compared|before|after|by)\b")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_LONG_MONTHS = ("January", "March", "July", "August", "October", "December")
"""Months with 31 days, so that the day of another month fits; "may" is not always a month."""
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_YEARS_APART = (3, 4, 6, 7, 8, 9, 11, 12, 13, 14)


@generator(
    _NAME,
    summary="A claim and two passages, one of which says otherwise in a number or date, in both orders",
    rows=232,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
    needs_gold=False,
)
def conflicts(request: Request) -> Suite:
    """The document of a supported claim twice, with a blank line between: as it is, or with another number or date.

    ``first`` and ``last`` say whether a passage agrees with the claim; ``kind`` names the four cases. The changed value
    stands in the one sentence that decides the claim, in the claim and nowhere else in the document. Where the passages
    disagree there is no gold: the suite shows whether the verdict follows the first, the last or neither.
    """
    pairs = grounding_pairs(replace(request, n=None), columns=(*_COLUMNS, "variant"))
    maker = _Maker(Draws(request.seed, _NAME), Counter(pairs.card.left_out))
    rows = transform_rows(pairs.frame.drop(*PARSES, strict=False), maker.make)
    kept = {column: kind for column, kind in pairs.card.columns.items() if column in _OF_DOCUMENT}
    pairs, crossed = draw_claims(request, pairs, rows.lazy())
    return derive_suite(
        _NAME,
        pairs,
        crossed,
        request=request,
        version=2,
        columns={**kept, **_COLUMNS},
        crossings=(("first", "last"),),
        sample_by="base_id",
        left_out=maker.left_out,
        note=_NOTE,
    )


@dataclass(frozen=True)
class OtherValue:
    """A value of the evidence and what it becomes."""

    kind: str
    old: str
    new: str
    sentence: str
    """The evidence sentence with the new value."""


@dataclass
class _Maker:
    """Makes the four cases of each claim that fits."""

    draws: Draws
    left_out: Counter[str] = field(default_factory=Counter)

    def make(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """Four rows for every claim with a value that can be changed."""
        batch = ClaimBatch(pairs, self.draws)
        rows, passages, values = list[int](), list[tuple[str, str]](), list[OtherValue]()
        for row, claim in batch.supported():
            result = _change_value(claim)
            if isinstance(result, OtherValue):
                document = claim.document
                rows.append(row)
                passages.append((document.text, document.replace_sentence(claim.evidence[0], result.sentence)))
                values.append(result)
            elif result:
                self.left_out[result] += 1
        old = pairs[rows].drop("premise", *LABEL_COLUMNS[1:], strict=False)
        return pl.concat([_case_rows(kind, old, passages, values) for kind in _CASES])


def _case_rows(kind: str, old: pl.DataFrame, passages: list[tuple[str, str]], values: list[OtherValue]) -> pl.DataFrame:
    first, last, label = _CASES[kind]
    texts = [f"{passage[not first].strip()}\n\n{passage[not last].strip()}" for passage in passages]
    labels = [_GOLD_OF_DATES.get(label, label) if value.kind == "date" else label for value in values]
    return old.with_columns(
        premise=pl.Series(texts, dtype=pl.String),
        label=pl.when(pl.col("label") == "any").then("label").otherwise(pl.Series(labels, dtype=pl.String)),
        certainty=pl.lit("logical"),
        kind=pl.lit(kind),
        first=pl.lit("agrees" if first else "disagrees"),
        last=pl.lit("agrees" if last else "disagrees"),
        value=pl.Series([value.kind for value in values], dtype=pl.String),
        change=pl.Series([f"{value.old} → {value.new}" for value in values], dtype=pl.String),
        variant=pl.lit(kind.replace(" ", "-")),
    )


def _change_value(claim: CheckedClaim) -> OtherValue | str:
    """The evidence with another value that the claim has, too; or a reason why not, empty where there is no value."""
    sentence = claim.evidence_sentence
    if sentence is None:
        return "no single evidence sentence" if any(letter.isdigit() for letter in claim.text) else ""
    candidates = [*_other_numbers(claim, sentence), *_other_dates(claim, sentence)]
    if not candidates:
        return ""
    if _LOOSE.search(claim.text):
        return "approximate or bounded number"
    unique = [value for value in candidates if _occurrences(value.old, claim.document.text) == 1]
    if not unique:
        return "other value in the document"
    return unique[claim.choose(len(unique))]


def _other_numbers(claim: CheckedClaim, sentence: str) -> Iterator[OtherValue]:
    from acidtest.english.values.numbers import alternatives, quantities, replace_number, write_like

    claimed = {(quantity.value, quantity.form) for quantity in quantities(claim.text) if not quantity.problem}
    for quantity in quantities(sentence) if claimed else ():
        if quantity.problem or (quantity.value, quantity.form) not in claimed:
            continue
        measures = (one for one in candidate_measures(sentence) if one.number_start == quantity.start)
        end = next((measure.end for measure in measures), quantity.end)
        if context_problem(sentence, quantity.start, end) or is_first_in(sentence[: quantity.start]):
            # "More than 300 territories" does not deny "200 territories".
            continue
        choices = [value for higher in (True, False) for value in alternatives(quantity, higher=higher)]
        texts = [write_like(quantity, value) for value in choices]
        texts = [text for text in texts if text.lower() not in claim.document.words]
        if texts:
            new = texts[claim.choose(len(texts), 1)]
            yield OtherValue("number", quantity.text, new, replace_number(sentence, quantity, new))


def _other_dates(claim: CheckedClaim, sentence: str) -> Iterator[OtherValue]:
    if _COMPARES.search(claim.text):
        return
    for match in _YEAR.finditer(sentence):
        step = _YEARS_APART[claim.choose(len(_YEARS_APART), 2)]
        new = str(int(match[0]) - step)
        if re.search(rf"\b{match[0]}\b", claim.text) and new not in claim.document.words:
            yield OtherValue("date", match[0], new, sentence[: match.start()] + new + sentence[match.end() :])
    for names, choices in ((_MONTHS, _LONG_MONTHS), (_WEEKDAYS, _WEEKDAYS)):
        for name in names:
            if name not in claim.text or name not in sentence:
                continue
            match_name = re.search(rf"(?<=[Oo]n |[Ii]n ){name}\b|(?<=\d ){name}\b|\b{name}(?= \d)", sentence)
            others = [other for other in choices if other.lower() not in claim.document.words]
            if match_name and others:
                new = others[claim.choose(len(others), 3)]
                text = sentence[: match_name.start()] + new + sentence[match_name.end() :]
                yield OtherValue("date", name, new, text)


def _occurrences(value: str, text: str) -> int:
    return len(re.findall(rf"(?i)(?<![\w.,]){re.escape(value)}(?![\w]|[.,]\d)", text))
