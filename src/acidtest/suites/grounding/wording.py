"""Edits of wording that keep what a claim says: voice, order of conjuncts, and a restriction left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from acidtest.suites.grounding.edits import ClaimBatch, EditedPair, Result, edit

_COMPLEX = re.compile(
    r"^[^,]*,[^,]*,|[;:?!\"“”()]|\b(?:that|which|who|whom|whose|where|if|because|although|while|when|or|but)\b"
)
"""Words and marks of sentences with a second clause; one comma may be that after *In 2021*."""

_JOINT = re.compile(r"\w (?:and|or) \w")


@edit("voice", summary="An active claim in the passive, or a passive one in the active", rows=24, version=2)
def voice(batch: ClaimBatch) -> Iterator[Result]:
    """A plain clause is put into the other voice: the claim says the same.

    Left alone are clauses with a negation or quantifier, with two clauses, and those whose parts are not certain.
    """
    from acidtest.english.transitive import has_listed_verb, tag_claims, transitive_clause
    from acidtest.suites.grounding.voice import turn_voice

    rows = [
        row
        for row, claim in enumerate(batch.claims)
        if has_listed_verb(claim.text) and not _COMPLEX.search(claim.text.strip())
    ]
    for row, tagged in tag_claims(batch.frame["hypothesis"], rows, batch.tagger):
        clause = transitive_clause(tagged)
        if isinstance(clause, str):
            continue
        try:
            text = turn_voice(clause, batch.claims[row].document.text)
        except ValueError as error:
            yield row, str(error)
            continue
        kind = "active to passive" if not clause.passive else "passive to active"
        yield row, EditedPair(claim=text, change=kind, kind=kind)


@edit("conjuncts", summary="What and or or joins, in the other order", rows=16)
def conjuncts(batch: ClaimBatch) -> Iterator[Result]:
    """Two names, nouns or adjectives that *and* or *or* joins change places: the claim says the same.

    Left alone are clauses and verbs ("came and saw"), firms, fixed pairs and claims in which the order counts.
    """
    from acidtest.english.transitive import tag_claims
    from acidtest.suites.grounding.conjuncts import exchange_conjuncts

    rows = [row for row, claim in enumerate(batch.claims) if _JOINT.search(claim.text)]
    for row, tagged in tag_claims(batch.frame["hypothesis"], rows, batch.tagger):
        result = exchange_conjuncts(tagged, batch.claims[row].document.text)
        if isinstance(result, str):
            yield row, result
        elif result is not None:
            text, first, second = result
            yield row, EditedPair(claim=text, change=f"{first} ↔ {second}")


@edit("restriction", summary="A restriction left out of the claim", rows=26)
def restriction(batch: ClaimBatch) -> Iterator[Result]:
    """A time, a place, an added clause or an adjective of a supported claim is left out: the rest is still supported.

    Left alone are claims with a negation, number, comparison, superlative or word for all, habits and plans: there a
    restriction does more than narrow.
    """
    from acidtest.english.transitive import tag_claims
    from acidtest.suites.grounding.restrictions import drop_restriction, may_restrict

    rows = [row for row, claim in batch.supported() if may_restrict(claim.text)]
    for row, tagged in tag_claims(batch.frame["hypothesis"], rows, batch.tagger):
        result = drop_restriction(tagged)
        if isinstance(result, str):
            yield row, result
        elif result is not None:
            yield row, EditedPair(claim=result.text, change=f"{result.dropped} → –", kind=result.kind)
