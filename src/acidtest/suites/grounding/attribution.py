"""The edit that gives a statement to another speaker of its document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from acidtest.suites.grounding.assertions import NO_EVIDENCE, NOT_MARKED
from acidtest.suites.grounding.documents import SourceDocument, content_stems
from acidtest.suites.grounding.edits import CheckedClaim, ClaimBatch, EditedPair, Result, edit

_TITLE = r"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.|Mayor|Judge|Professor|Detective) "
_NAME = rf"(?:{_TITLE})?[A-Z][\w'’]*[a-z](?:[- ][A-Z][\w]*[a-z]){{0,2}}"
_OPINION = re.compile(rf"\b(?i:according to|in the opinion of|in the view of) (?P<name>{_NAME})")
_LINE = re.compile(r"(?:^|(?<=[.?!] ))([A-Z][a-z]+): ")
"""The name of a speaker at the beginning of what he or she says in a chat."""

_PERSONAL = re.compile(r"\b(?:he|she|his|her|him|hers|himself|herself)\b", re.IGNORECASE)
_MOST_SHARED = 0.5
"""Another speaker must not have this share of the statement's content words in any sentence that names him or her."""
_PER_CLAIM = 2
"""How many other speakers a statement is given to, at most."""


@cache
def _speech() -> str:
    from acidtest.io.wordlists import packaged_table

    return "|".join(packaged_table("grounding/speech.tsv")["word"])


@cache
def _claim_pattern() -> re.Pattern[str]:
    """A claim that begins with a speaker and a verb of speech."""
    return re.compile(rf"(?P<name>{_NAME}) (?:has |had |later |also )?(?:{_speech()})\b")


@cache
def _speaker_pattern() -> re.Pattern[str]:
    """A speaker in a document: *Danter said*, *said Ingrid Mollen*, *Rainsford, who leads the board, said*."""
    verbs = _speech()
    return re.compile(
        rf"(?P<before>{_NAME})(?:, [^,.]{{3,60}},)? (?:{verbs})\b|"
        rf"[,”\"] (?:{verbs})(?: the [a-z ]{{3,40}},)? (?P<after>{_NAME})"
    )


@edit("quotation", summary="A statement given to another speaker of the document", rows=44)
def quotation(batch: ClaimBatch) -> Iterator[Result]:
    """In *Danter said that the roof had collapsed* another speaker takes the place of Danter.

    The other one says something else in the document. Only where the corpus marks its evidence; claims with *he* or
    *she* are left alone, because the pronoun would show the change.
    """
    for row, claim in batch.supported():
        match = _claim_pattern().match(claim.text) or _OPINION.search(claim.text)
        if match is None:
            continue
        problem = _problem(claim)
        if problem:
            yield row, problem
            continue
        name = match["name"]
        others = _other_speakers(claim, name)
        if not others:
            yield row, "no other speaker"
        chosen = sorted(range(len(others)), key=lambda place: claim.choose(1 << 30, place))[:_PER_CLAIM]
        for place in sorted(chosen):
            other = others[place]
            text = claim.text[: match.start("name")] + other + claim.text[match.end("name") :]
            yield row, EditedPair(claim=text, label="non-entailment", change=f"{name} → {other}")


def _problem(claim: CheckedClaim) -> str | None:
    from acidtest.english.cautions import first_caution

    if not claim.marked:
        return NOT_MARKED
    if claim.evidence_sentence is None:
        return NO_EVIDENCE
    return "pronoun of the speaker" if _PERSONAL.search(claim.text) else first_caution(claim.text, "assertion")


def _other_speakers(claim: CheckedClaim, name: str) -> list[str]:
    """The speakers of a document who do not say what the claim says, in the order of the document."""
    document, parts = claim.document, set(re.findall(r"[\w-]+", name))
    stated = frozenset(content_stems(claim.text)) - frozenset(content_stems(name))
    evidence = claim.evidence_sentence or ""
    others = list[str]()
    for speaker in _speakers(document):
        words = set(re.findall(r"[\w-]+", speaker))
        last = speaker.rsplit(" ", 1)[-1]
        if words & parts or last in evidence or last in claim.text or any(last in other for other in others):
            continue
        if not _says(document, last, stated):
            others.append(speaker)
    return others


def _says(document: SourceDocument, last: str, stated: frozenset[str]) -> bool:
    """Whether a sentence that names a speaker has half of the words of a statement."""
    return any(
        len(stems & stated) >= _MOST_SHARED * len(stated)
        for sentence, stems in zip(document.sentences, document.stems, strict=True)
        if last in sentence
    )


def _speakers(document: SourceDocument) -> tuple[str, ...]:
    """The names of those who say something in a document; the fullest form of each."""
    from acidtest.english.clauses import function_words

    pattern = _speaker_pattern()
    names = [match["before"] or match["after"] for match in pattern.finditer(document.text)]
    names = [name for name in names if name.split(" ")[0].lower() not in function_words()]
    names += _LINE.findall(document.text)
    return tuple(dict.fromkeys(names))
