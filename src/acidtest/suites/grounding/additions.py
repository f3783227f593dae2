"""Edits that add to a claim what its document does not say: a detail, or a cause between two facts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from acidtest.suites.grounding.assertions import NOT_MARKED, TaggedClaim, predicate_of, split_by_problem, tag_claims
from acidtest.suites.grounding.coherence import leans_on_text
from acidtest.suites.grounding.documents import content_stems, names_and_numbers
from acidtest.suites.grounding.edits import CheckedClaim, ClaimBatch, EditedPair, Result, edit

if TYPE_CHECKING:
    from acidtest.english.clauses import Predicate

_END = re.compile(r"[\s.]*$")
_OTHER_VERBS = frozenset({"VBD", "VBZ", "VBP", "MD", "WDT", "WP", ","})
_FULL_NAME = re.compile(r"[A-Z][\w-]+ ([A-Z][\w-]+) [a-z]")
_TITLED = re.compile(r"(?!The |A |An |Its |His |Her |Their |This |That )[A-Z][\w-]+ [A-Z][a-z]")
"""*Mount Terevaka*, which a tagger may take for a noun with a name."""
_MOST_SHARED = 0.5
"""Two claims that share this part of their content words may be about one fact."""
_YEAR = re.compile(r"\b((?:1\d|20)\d\d)s?\b")


@dataclass(frozen=True)
class Detail:
    """A detail that may be added to many claims, with what it needs: a kind of subject and a tense."""

    kind: str
    subject: str
    tense: str
    detail: str
    stems: frozenset[str]

    def fits(self, subject: str, tense: str) -> bool:
        """Whether it may be added to a claim with this kind of subject and this tense."""
        return self.subject in ("any", subject) and self.tense in ("any", tense)


@cache
def details() -> tuple[Detail, ...]:
    """The packaged details."""
    from acidtest.io.wordlists import packaged_table

    rows = packaged_table("grounding/details.tsv").iter_rows(named=True)
    return tuple(Detail(**row, stems=frozenset(content_stems(row["detail"]))) for row in rows)


@edit("partial", summary="A detail added to the claim that the document does not support", rows=397)
def partial(batch: ClaimBatch) -> Iterator[Result]:
    """A supported claim gets a detail of which the document has no word, so that it is true only in part.

    ``kind`` is relative (*which surprised several experts*), adverbial, source (*as a retired lawyer confirmed*),
    apposition (*a keen chess player*) or conjunct (*and was discussed in a podcast*).
    """
    from acidtest.english.cautions import first_caution

    claims, problems = split_by_problem(batch, shared_words=False)
    for row, claim in list(claims.items()):
        problem = first_caution(claim.text, "addition")
        if problem:
            problems[row] = problem
            del claims[row]
    yield from problems.items()
    stems = dict[int, frozenset[str]]()
    for tagged in tag_claims(claims, batch.tagger):
        claim = claims[tagged.row]
        if id(claim.document) not in stems:
            stems[id(claim.document)] = frozenset().union(*claim.document.stems)
        is_person = tagged.entities[0] == "PERSON" or _is_described_as_person(claim.text, claim.document.text)
        predicate = predicate_of(claim, tagged)
        subject, tense = _subject_and_tense(predicate, is_person=is_person)
        said = stems[id(claim.document)]
        fitting = [detail for detail in details() if detail.fits(subject, tense) and said.isdisjoint(detail.stems)]
        yield tagged.row, _with_detail(claim, predicate, fitting)


def _is_described_as_person(claim: str, document: str) -> bool:
    """Whether a claim begins with a full name that speaks, is *who*, or has a title or role in the document."""
    from acidtest.english.wordnet import noun_kind

    name = _FULL_NAME.match(claim)
    if name is None:
        return False
    full, last = re.escape(name[0][:-2]), re.escape(name[1])
    verbs = rf"{last},? who\b|{last} (?:said|wrote|told|says)\b|\b(?:Mrs?|Ms|Dr)\. {last}\b"
    role = re.search(rf"(\w+),? {full}\b", document)
    return re.search(verbs, document) is not None or (role is not None and noun_kind(role[1].lower()) == "person")


def _with_detail(claim: CheckedClaim, predicate: Predicate | str, fitting: Sequence[Detail]) -> EditedPair | str:
    if not fitting:
        return "no detail without a word of the document"
    # Kinds are drawn first, because they have different numbers of details.
    kinds = sorted({detail.kind for detail in fitting})
    kind = kinds[claim.choose(len(kinds))]
    fitting = [detail for detail in fitting if detail.kind == kind]
    chosen = fitting[claim.choose(len(fitting), 1)]
    added = _agree(chosen.detail, predicate)
    edited = _add(claim.text, added, kind, predicate)
    return EditedPair(claim=edited, label="neutral", change=f"+ {added}", kind=kind)


def _subject_and_tense(predicate: Predicate | str, *, is_person: bool) -> tuple[str, str]:
    """The kind of subject and the tense for which details are sought; empty where they are not certain."""
    from acidtest.english.cautions import first_caution

    if isinstance(predicate, str):
        return "", ""
    tense = "past" if predicate.is_past else "present" if predicate.tag in ("VBZ", "VBP") else ""
    is_simple = predicate.subject_problem is None and _OTHER_VERBS.isdisjoint(predicate.next_tags)
    # "It has risen and was discussed" mixes tenses; "it" may stand for nothing, as in "it took nine hours to leave".
    is_simple = is_simple and predicate.subject[0] != "it" and not (tense == "past" and predicate.tag != "VBD")
    is_simple = is_simple and first_caution(predicate.text, "negation") is None
    if not is_simple:
        return "", tense
    is_full_name = is_person and set(predicate.subject_tags) == {"NNP"} and len(predicate.subject) > 1
    return "person" if is_full_name else "other" if not is_person else "", tense


def _agree(detail: str, predicate: Predicate | str) -> str:
    is_plural = not isinstance(predicate, str) and predicate.plural
    return detail.replace("{was}", "were" if is_plural else "was").replace("{is}", "are" if is_plural else "is")


def _add(text: str, detail: str, kind: str, predicate: Predicate | str = "") -> str:
    if kind == "apposition" and not isinstance(predicate, str):
        return f"{text[: predicate.start].rstrip()}, {detail}, {text[predicate.start :]}"
    end = _END.search(text)
    body, stop = (text[: end.start()], text[end.start() :]) if end else (text, "")
    return f"{body}{' ' if kind == 'conjunct' else ', '}{detail}{stop}"


@edit("cause", summary="A cause invented between two facts of the document", rows=49, version=2, whole_documents=True)
def cause(batch: ClaimBatch) -> Iterator[Result]:
    """Two supported claims of a document, each with an evidence sentence of its own, are joined by *because* or *so*.

    The claims of a document must follow each other in the file. Only where the corpus marks its evidence, and where no
    sentence that speaks of a cause has words of both. ``kind`` is because (*A because B*), therefore (*B, and therefore
    A*) or fronted (*Because B, A*).
    """
    claims, problems = split_by_problem(batch)
    for row, claim in list(claims.items()):
        problem = _sentence_problem(claim)
        if problem:
            problems[row] = problem
            del claims[row]
    yield from problems.items()
    facts = {tagged.row: _fact(claims[tagged.row], tagged) for tagged in tag_claims(claims, batch.tagger)}
    by_document = dict[str, list[_Fact]]()
    for fact in facts.values():
        if isinstance(fact, _Fact):
            by_document.setdefault(fact.claim.document.text, []).append(fact)
    kinds = batch.frame["facts"] if "facts" in batch.frame.columns else None
    for row, fact in facts.items():
        if isinstance(fact, str):
            yield row, fact
            continue
        if kinds is not None and kinds[row] == "real":
            yield row, "causes may be known from the world"
            continue
        causes = [other for other in by_document[fact.claim.document.text] if _may_be_joined(fact, other)]
        if causes:
            yield row, _joined(fact, causes[fact.claim.choose(len(causes))])
        else:
            yield row, "no other fact without a stated link"


@edit(
    "lengthened",
    summary="A claim lengthened by as many words as details and causes are, without becoming less supported",
    rows=695,
    whole_documents=True,
)
def lengthened(batch: ClaimBatch) -> Iterator[Result]:
    """The control of ``partial`` and ``cause``, which lengthen the claim: as many words more, and gold stays.

    ``kind`` is aside (a phrase that says nothing, such as *to put it in plain words*, as long as a drawn detail of
    ``partial``) or fact (*A, and B*, where B is another supported claim of the document, as in ``cause``). Unsupported
    claims are lengthened, too: they show how often any claim of this length is called supported.
    """
    from acidtest.english.cautions import first_caution

    claims = dict[int, CheckedClaim]()
    for row, claim in enumerate(batch.claims):
        problem = first_caution(claim.text, "addition")
        if problem:
            yield row, problem
        else:
            claims[row] = claim
    facts = dict[str, list[_Fact]]()
    for tagged in tag_claims(claims, batch.tagger):
        claim = claims[tagged.row]
        if claim.label == "entailment" and not (first_caution(claim.text, "fact") or leans_on_text(claim.text)):
            fact = _fact(claim, tagged)
            if isinstance(fact, _Fact):
                facts.setdefault(claim.document.text, []).append(fact)
    for row, claim in claims.items():
        others = [fact for fact in facts.get(claim.document.text, ()) if _may_follow(claim, fact)]
        if others and claim.choose(2):
            added = f"and {others[claim.choose(len(others), 1)].clause}"
            yield row, EditedPair(claim=_add(claim.text, added, "fact"), change=f"+ {added}", kind="fact")
        else:
            kinds = sorted({detail.kind for detail in details()})
            kind = kinds[claim.choose(len(kinds), 2)]
            drawn = [detail for detail in details() if detail.kind == kind]
            added = _aside(claim, len(drawn[claim.choose(len(drawn), 3)].detail.split(" ")))
            yield row, EditedPair(claim=_add(claim.text, added, "aside"), change=f"+ {added}", kind="aside")


def _may_follow(claim: CheckedClaim, fact: _Fact) -> bool:
    """Whether a fact may be added to a claim: it is not the claim itself, nor one that the claim was made from."""
    first, second = frozenset(content_stems(claim.text)), fact.stems
    return len(first & second) < _MOST_SHARED * min(len(first), len(second))


def _aside(claim: CheckedClaim, words: int) -> str:
    """A phrase of as many words that says nothing."""
    from acidtest.io.wordlists import packaged_table

    asides = packaged_table("grounding/asides.tsv")["aside"].to_list()
    fitting: list[str] = [aside for aside in asides if len(aside.split(" ")) == words]
    return fitting[claim.choose(len(fitting), 4)]


@dataclass(frozen=True)
class _Fact:
    """A claim that can be a clause of a longer sentence."""

    claim: CheckedClaim
    clause: str
    """The claim without its full stop, beginning as inside a sentence."""
    is_past: bool
    years: tuple[int, ...]
    stems: frozenset[str]
    names: frozenset[str]
    """The stems of words with a capital."""


def _sentence_problem(claim: CheckedClaim) -> str | None:
    """Why a claim cannot be a cause or effect, as far as its words and those of its evidence show."""
    from acidtest.english.cautions import first_caution

    if not claim.marked:
        return NOT_MARKED
    return first_caution(claim.text, "fact") or first_caution(claim.evidence_sentence or "", "cause")


def _fact(claim: CheckedClaim, tagged: TaggedClaim) -> _Fact | str:
    predicate = predicate_of(claim, tagged)
    if isinstance(predicate, str):
        return predicate
    if predicate.tag == "MD":
        return "possibility or attitude"
    text = _END.sub("", claim.text)
    is_name = text.lower().startswith(predicate.subject[0]) and (
        predicate.subject_tags[0] in ("NNP", "NNPS") or _TITLED.match(text) is not None
    )
    clause = text if is_name else text[0].lower() + text[1:]
    years = tuple(int(year) for year in _YEAR.findall(claim.text))
    stems, names = content_stems(claim.text), content_stems(" ".join(names_and_numbers(claim.text)))
    return _Fact(claim, clause, predicate.is_past, years, frozenset(stems), frozenset(names))


def _may_be_joined(effect: _Fact, other: _Fact) -> bool:
    """Whether one fact may be called the cause of another though the document does not link the two."""
    from acidtest.english.cautions import first_caution

    [first], [second] = effect.claim.evidence, other.claim.evidence
    if abs(first - second) < 2 or effect.is_past != other.is_past:
        return False
    if effect.years and other.years and max(other.years) > min(effect.years):
        return False
    # Two facts about the same thing may explain each other without a word.
    if len((effect.stems & other.stems) - effect.names) > 1:
        return False
    only_effect, only_cause = effect.stems - other.stems, other.stems - effect.stems
    document = effect.claim.document
    sentences = zip(document.sentences, document.stems, strict=True)
    shared = (sentence for sentence, stems in sentences if stems & only_effect and stems & only_cause)
    return not any(first_caution(sentence, "link") for sentence in shared)


def _joined(effect: _Fact, other: _Fact) -> EditedPair:
    reason = other.clause[0].upper() + other.clause[1:]
    result = effect.clause[0].upper() + effect.clause[1:]
    kind, text = (
        ("because", f"{result} because {other.clause}."),
        ("therefore", f"{reason}, and therefore {effect.clause}."),
        ("fronted", f"Because {other.clause}, {effect.clause}."),
    )[effect.claim.choose(3, 1)]
    return EditedPair(claim=text, label="non-entailment", change=f"{kind}: {other.claim.text}", kind=kind)
