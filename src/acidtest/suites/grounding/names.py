"""Edits of names: another name in the place of one, and two that exchange their roles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from acidtest.suites.grounding.documents import content_stems
from acidtest.suites.grounding.edits import CheckedClaim, ClaimBatch, EditedPair, Result, edit

if TYPE_CHECKING:
    from acidtest.english.values.names import Name
    from acidtest.suites.grounding.roles import Exchange

_CAPITAL = re.compile(r"[A-ZÀ-Þ]\w")
_EVERYBODY = re.compile(
    r"\b(?:nobody|no one|every(?:one|body|where)?|any(?:one|body|where)?|all|none|nowhere|each|whoever|wherever)\b",
    re.IGNORECASE,
)
_IDENTITY = re.compile(
    r"(?:^(?:The|\S+['’]s) (?:(?!\b(?:not|never|and|or|may|might|could)\b).)*? (?:is|was) (?:called |named )?NAME\.?$)"
    r"|^NAME (?:is|was) the \w+ of (?:(?!\b(?:and|or|who|that)\b).)+$"
)
_TITLE_SAYS_IT = re.compile(r"^(?:Mr|Mrs|Ms|Rep|Sen|Dr|Prof|Gov|Lord|Lady|Sir)\b\.? NAME (?:is|was) an? \S+\s*\.?\s*$")
"""*Mr. Goldberg is a man* follows from the title, whatever the name."""
_EXCEPTED = re.compile(
    r"\b(?:not|nor|neither|except|except for|other than|rather than|unlike|instead of) (?:the )?$", re.IGNORECASE
)
_MUTUAL = re.compile(
    r"\b(?:each other|one another|mutual\w*|both|in turn|in return|vice versa|together|also|reciprocal\w*|equal\w*)\b",
    re.IGNORECASE,
)
_COMPLEX = re.compile(r"[;:?!\"“”()]|\b(?:that|which|who|whom|whose|where|if|because|although|while|when|but|or)\b")
_SHARED_ELSEWHERE = 0.4
"""A name of the document is not used if another sentence with it has this share of the claim's content words."""


@edit("entity", summary="A name of the claim replaced by another of the same kind", rows=135, version=2)
def entity(batch: ClaimBatch, *, names: Literal["outside", "inside"] = "outside") -> Iterator[Result]:
    """One person, place or organisation of a supported claim becomes another of the same kind.

    A full name is replaced whole, a man's by a man's; a place by one of its kind (city by city). With names=outside no
    word of the new name is in the document, with names=inside it is a name of the document that has nothing to do with
    the claim. Gold is non-entailment, and contradiction where the claim says who or what something is.
    """
    from acidtest.english.values.names import find_names

    for row, claim in batch.supported():
        if not _CAPITAL.search(claim.text, 1):
            continue
        if claim.evidence_sentence is None:
            yield row, "no single evidence sentence"
            continue
        present = find_names(claim.text, claim.document.text)
        if present:
            yield row, _replace(claim, claim.evidence_sentence, present, names)


def _replace(claim: CheckedClaim, evidence: str, present: list[Name | None], where: str) -> EditedPair | str:
    from acidtest.english.values.names import has_word, other_name, replace_name

    known = [name for name in present if name]
    if not known:
        return "kind of name not known"
    known = [name for name in known if not _EXCEPTED.search(claim.text[: name.start])]
    in_evidence = [name for name in known if has_word(name.text.split(" ")[-1], evidence)]
    if not in_evidence:
        return "name not in the evidence sentence"
    if _EVERYBODY.search(evidence):
        return "evidence is about all"
    in_evidence = [name for name in in_evidence if name.kind != "other"] or in_evidence
    name = in_evidence[claim.choose(len(in_evidence))]
    other = _other_inside(claim, name) if where == "inside" else other_name(name, claim.document.text, claim.choose)
    edited = other and replace_name(claim.text, name, other)
    if not other or not edited:
        return "no other name" if not other else "part of another name"
    pattern = claim.text[: name.start] + "NAME" + claim.text[name.end :]
    if _TITLE_SAYS_IT.match(pattern):
        return "follows from a title"
    label = "contradiction" if _IDENTITY.match(pattern) else "non-entailment"
    return EditedPair(claim=edited, label=label, change=f"{name.text} → {other}", kind=name.kind)


def _other_inside(claim: CheckedClaim, name: Name) -> str | None:
    """A name of the document of the same kind and gender that no sentence connects with the claim."""
    from acidtest.english.values.names import names_of_document

    if name.kind == "other":
        return None
    stems = frozenset(content_stems(claim.text)) - frozenset(content_stems(name.text))
    candidates = list[str]()
    for other in names_of_document(claim.document.text, name.kind, name.form):
        if other.gender != name.gender or set(other.text.split()) & set(name.text.split()):
            continue
        part = other.text.split(" ")[-1]
        numbers = [number for number, sentence in enumerate(claim.document.sentences) if part in sentence]
        far = not any(abs(number - claim.evidence[0]) < 2 for number in numbers) and part not in claim.text
        shares = (len(stems & claim.document.stems[number]) / max(1, len(stems)) for number in numbers)
        if far and all(share < _SHARED_ELSEWHERE for share in shares):
            candidates.append(other.text)
    return candidates[claim.choose(len(candidates), 7)] if candidates else None


@edit("role", summary="Who did what to whom, exchanged", rows=21, needs_gold=True)
def role(batch: ClaimBatch) -> Iterator[Result]:
    """The two parties of a supported claim are exchanged: "Halden sued Orsolo" becomes "Orsolo sued Halden".

    They are names, or nouns for people and groups. Symmetric verbs (meet, marry) and all but plain clauses are left
    alone. Gold is contradiction where both cannot be true (comparisons, north of, mother of), else non-entailment.
    """
    from acidtest.english.transitive import tag_claims
    from acidtest.suites.grounding.roles import exchange_roles, may_have_roles

    rows = [row for row, claim in batch.supported() if may_have_roles(claim.text) and not _COMPLEX.search(claim.text)]
    for row, tagged in tag_claims(batch.frame["hypothesis"], rows, batch.tagger):
        claim = batch.claims[row]
        exchange = exchange_roles(tagged, claim.document.text)
        if exchange is None:
            continue
        if isinstance(exchange, str):
            yield row, exchange
        elif (reason := _doubt_exchange(claim, exchange)) is not None:
            yield row, reason
        else:
            yield (
                row,
                EditedPair(
                    claim=exchange.text,
                    label="contradiction" if exchange.excluded else "non-entailment",
                    change=f"{exchange.first} ↔ {exchange.second}",
                    kind=exchange.kind,
                ),
            )


def _doubt_exchange(claim: CheckedClaim, exchange: Exchange) -> str | None:
    """Why the document might support the exchanged claim as well."""
    if claim.evidence_sentence is None:
        return "no single evidence sentence"
    if _MUTUAL.search(claim.evidence_sentence):
        return "evidence goes both ways"
    parties = [party.split(" ")[-1] for party in (exchange.first, exchange.second)]
    if not exchange.excluded:
        stem = exchange.verb[:5]
        for number, sentence in enumerate(claim.document.sentences):
            if number not in claim.evidence and stem in sentence and all(party in sentence for party in parties):
                return "parties and verb in another sentence"
    return None
