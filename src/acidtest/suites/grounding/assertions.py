"""Edits that turn what a claim asserts into its opposite: a negation inserted or removed, a trend turned round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acidtest.suites.grounding.documents import content_stems, names_and_numbers
from acidtest.suites.grounding.edits import CheckedClaim, ClaimBatch, EditedPair, Result, edit
from acidtest.suites.grounding.mentions import is_indefinite

if TYPE_CHECKING:
    from acidtest.english.clauses import Predicate

NO_EVIDENCE = "no single evidence sentence"
NOT_MARKED = "evidence not marked"
LITTLE_SHARED = "other words in the evidence"
_LEAST_SHARED = 0.75
_LEAST_SHARED_OF_TRENDS = 0.5
_LEAST_WORDS = 0.7
"""The shares of a claim's content words, and of those without a capital, that evidence not marked must have."""


@edit("negation", summary="A negation inserted into the claim or removed from it", rows=165, version=2, needs_gold=True)
def negation(batch: ClaimBatch) -> Iterator[Result]:
    """The main clause of a supported claim is negated (``kind`` inserted), or no longer (removed).

    Only definite subjects (*the fund*, a name, *she*), because *some users did not pay* is no opposite of *some users
    paid*; no claim with a second negation or with an adverb that *not* could apply to alone (*often*, *only*).
    """
    claims, problems = split_by_problem(batch)
    yield from problems.items()
    for tagged in tag_claims(claims, batch.tagger):
        claim = claims[tagged.row]
        predicate = predicate_of(claim, tagged)
        yield tagged.row, predicate if isinstance(predicate, str) else _negated(claim, predicate)


def evidence_problem(claim: CheckedClaim, least_shared: float = _LEAST_SHARED) -> str | None:
    """Why it is not certain enough that one sentence of the document decides the claim, or None.

    A claim worded otherwise than a short document may follow from it only loosely, and its denial be no contradiction.
    """
    sentence = claim.evidence_sentence
    if sentence is None:
        return NO_EVIDENCE
    if claim.marked:
        return None
    known = claim.document.stems[claim.evidence[0]]
    stems = set(content_stems(claim.text))
    # A claim of many names may have all of them and yet say something else: "Ann and Tom are politicians". The first
    # word of a sentence is no name to names_and_numbers; "a" takes that place.
    words = stems - set(content_stems(" ".join(names_and_numbers(f"a {claim.text}"))))
    is_shared = len(stems & known) >= least_shared * len(stems) and len(words & known) >= _LEAST_WORDS * len(words)
    return None if is_shared else LITTLE_SHARED


@dataclass(frozen=True)
class TaggedClaim:
    """The words of a claim with their tags, places and kinds of names."""

    row: int
    words: list[str]
    tags: list[str]
    starts: list[int]
    ends: list[int]
    entities: list[str | None]


def tag_claims(claims: Mapping[int, CheckedClaim], tagger: str) -> Iterator[TaggedClaim]:
    """The claims that have words, tagged, with their numbers in the batch; others of the batch cost no time."""
    from acidtest.english.sentences import tokens_by_text

    rows = list(claims)
    for number, tagged in tokens_by_text([claims[row].text for row in rows], tagger):
        yield TaggedClaim(rows[number], tagged.tokens, tagged.tags, tagged.starts, tagged.ends, tagged.entities)


def split_by_problem(batch: ClaimBatch, *, shared_words: bool = True) -> tuple[dict[int, CheckedClaim], dict[int, str]]:
    """The supported claims that an edit of the main clause can rest on, and the reasons why others are not among them.

    Without ``shared_words``, it does not matter how many of its words the evidence has.
    """
    from acidtest.english.cautions import first_caution

    claims, problems = dict[int, CheckedClaim](), dict[int, str]()
    for row, claim in batch.supported():
        problem = evidence_problem(claim) if shared_words or claim.evidence_sentence is None else None
        problem = problem or first_caution(claim.text, "assertion")
        if problem:
            problems[row] = problem
        else:
            claims[row] = claim
    return claims, problems


def predicate_of(claim: CheckedClaim, tagged: TaggedClaim) -> Predicate | str:
    """The finite verb of the main clause of a claim, or the reason why it is not certain."""
    from acidtest.english.clauses import main_predicate

    return main_predicate(claim.text, tagged.words, tagged.tags, tagged.starts, tagged.ends)


def _negated(claim: CheckedClaim, predicate: Predicate) -> EditedPair | str:
    from acidtest.english.cautions import caution_pattern, first_caution
    from acidtest.english.clauses import insert_negation, remove_negation

    reason = predicate.subject_problem
    if reason:
        return reason
    rest = claim.text[predicate.end :]
    negations = caution_pattern("negation").findall(claim.text)
    if len(negations) > 1:
        return "several negations"
    if negations:
        edited = remove_negation(predicate)
        if edited is None or first_caution(rest.replace("not yet", ""), "affirm"):
            return "negation not at the verb or of a part"
        return _pair(claim, edited, "removed")
    problem = "several clauses" if predicate.joins_verbs else first_caution(claim.text, "negate")
    problem = problem or first_caution(rest, "scope")
    if problem:
        return problem
    edited = insert_negation(predicate)
    return "verb form not sure" if edited is None else _pair(claim, edited, "inserted")


def _pair(claim: CheckedClaim, edited: str, kind: str) -> EditedPair:
    old, new = _difference(claim.text, edited)
    return EditedPair(claim=edited, label="contradiction", change=f"{old} → {new}", kind=kind)


def _difference(old: str, new: str) -> tuple[str, str]:
    """The words in which two texts differ, with the word before them."""
    first, second = old.split(), new.split()
    begin = next((place for place, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), 0)
    begin = max(0, begin - 1)
    same = 0
    while same < min(len(first), len(second)) - begin - 1 and first[-1 - same] == second[-1 - same]:
        same += 1
    return " ".join(first[begin : len(first) - same]), " ".join(second[begin : len(second) - same])


@edit("trend", summary="A comparison or a trend of the claim turned round", rows=52, version=2, needs_gold=True)
def trend(batch: ClaimBatch) -> Iterator[Result]:
    """One word of comparison or change in a supported claim becomes its opposite: *rose* fell, *larger* smaller.

    ``kind`` is change (*rose*), comparative (*larger than*), bound (*more than 40*), order (*before*), place (*above*).
    Gold is contradiction, or non-entailment of an order and of claims about one of several things (*a firm grew*).
    """
    from acidtest.english.cautions import first_caution
    from acidtest.suites.grounding.trends import reverse_trend

    for row, claim in batch.supported():
        reversal = reverse_trend(claim.text, claim.evidence_sentence or "")
        if reversal is None:
            continue
        problem = evidence_problem(claim, _LEAST_SHARED_OF_TRENDS) or first_caution(claim.text, "assertion")
        if problem or isinstance(reversal, str):
            yield row, problem or str(reversal)
        else:
            change = f"{reversal.old} → {reversal.new}"
            # What happened before something may have gone on, or happened again, after it.
            is_open = reversal.kind == "order" or is_indefinite(claim.text)
            label = "non-entailment" if is_open else "contradiction"
            yield row, EditedPair(claim=reversal.text, label=label, change=change, kind=reversal.kind)
