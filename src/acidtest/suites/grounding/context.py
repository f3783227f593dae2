"""Edits of the document that change no label: a sentence that says nothing, and sentences in another place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from acidtest.suites.grounding.coherence import (
    Coherence,
    analyse_document,
    begins_turn,
    is_numbered,
    leans_on_text,
    opens_with_link,
    rearrange,
    refers_back,
)
from acidtest.suites.grounding.documents import SourceDocument, content_stems, names_and_numbers
from acidtest.suites.grounding.edits import CheckedClaim, ClaimBatch, EditedPair, Result, edit

_PLACES = ("start", "middle", "end")
_ABOUT_TEXT = re.compile(
    r"(?i)\b(?:text|documents?|articles?|reports?|passage|page|edition|entry|section|chapter|leaflet|notice|transcript"
    r"|story|author|editors?|readers?|reads?|written|publish\w*|print\w*|source|nothing|everything|anything)\b"
)
_ABOUT_ORDER = re.compile(
    r"(?i)\b(?:before|after|afterwards?|then|first|last|next|later|earlier|previous(?:ly)?|following|until|since|when"
    r"|while|finally|subsequently|prior|order|once|initially|already|second|third|begin\w*|began|end(?:s|ed)?)\b"
)
_FIFTH = 5
"""The evidence moves by at least one in so many sentences."""
_MOST_TOGETHER = 3
"""Sentences that move together with the evidence, itself included."""


@edit("filler", summary="A sentence that says nothing added to the document", rows=692, version=2)
def filler(batch: ClaimBatch) -> Iterator[Result]:
    """A sentence that says nothing, such as "More details will follow.", at the start, in the middle or at the end.

    Gold is kept. ``kind`` says where it was added, and ``change`` what. No sentence is put before one that refers back.
    """
    gaps = dict[int, list[tuple[str, int]]]()
    registers = batch.frame["register"] if "register" in batch.frame.columns else ["any"] * len(batch.claims)
    for row, (claim, register) in enumerate(zip(batch.claims, registers, strict=True)):
        if _ABOUT_TEXT.search(claim.text):
            yield row, "claim about the text"
            continue
        stems = frozenset(content_stems(claim.text))
        sentences = [text for text, words in _fillers(register) if stems.isdisjoint(words)]
        if id(claim.document) not in gaps:
            gaps[id(claim.document)] = _gaps(claim.document)
        places = gaps[id(claim.document)]
        if not sentences or not places:
            yield row, "no place for it"
            continue
        place, position = places[claim.choose(len(places))]
        sentence = sentences[claim.choose(len(sentences), 1)]
        yield row, EditedPair(document=_insert(claim.document, position, sentence), kind=place, change=sentence)


@edit(
    "position",
    summary="The evidence moved to the start, the middle or the end of the document",
    rows=118,
    version=2,
    moves_evidence=True,
)
def position(batch: ClaimBatch) -> Iterator[Result]:
    """The sentence that decides a claim moves; gold is kept, and ``kind`` says where the sentence stands now.

    It moves only where one such sentence is known and no pronoun, connective or definite loses what it refers to.
    """
    analyses = dict[int, Coherence]()
    for row, claim in enumerate(batch.claims):
        if len(claim.document.sentences) < 2:
            continue
        if len(claim.evidence) != 1:
            yield row, "no single evidence sentence"
            continue
        coherence = _analysis(claim.document, analyses)
        problem = coherence.fixed or ("refers to a text before" if leans_on_text(claim.text) else "")
        if problem:
            yield row, problem
            continue
        places = _PLACES if _names_itself(claim) else _PLACES[1:]
        moved = [
            (place, numbers)
            for place in places
            if (numbers := _moved(claim.document, claim.evidence[0], place, coherence)) is not None
        ]
        if not moved:
            yield row, "evidence tied to its place"
        for place, numbers in moved:
            yield row, EditedPair(document=rearrange(claim.document, numbers), kind=place, change=f"to the {place}")


@edit("order", summary="The sentences of the document in another order", rows=330, version=2, moves_evidence=True)
def order(batch: ClaimBatch) -> Iterator[Result]:
    """Sentences change places as far as no pronoun, connective or definite loses what it refers to; gold is kept.

    Claims about what came before or after are left out, because the order of sentences may tell that of events.
    """
    analyses = dict[int, Coherence]()
    for row, claim in enumerate(batch.claims):
        if len(claim.document.sentences) < 2:
            continue
        if _ABOUT_ORDER.search(claim.text):
            yield row, "claim about an order"
            continue
        coherence = _analysis(claim.document, analyses)
        problem = coherence.fixed or ("refers to a text before" if leans_on_text(claim.text) else "")
        if problem:
            yield row, problem
            continue
        numbers = _shuffled(claim, coherence)
        if all(after == before + 1 for before, after in pairwise(numbers)):
            yield row, "sentences tied to each other"
            continue
        change = " ".join(str(number + 1) for number in numbers)
        yield row, EditedPair(document=rearrange(claim.document, numbers), change=change)


def _analysis(document: SourceDocument, analyses: dict[int, Coherence]) -> Coherence:
    """The analysis of a document, made once for all claims of a batch about it."""
    known = analyses.get(id(document))
    if known is None:
        known = analyses[id(document)] = analyse_document(document)
    return known


def _moved(document: SourceDocument, evidence: int, place: str, coherence: Coherence) -> list[int] | None:
    """The order of sentences with the evidence at a place; None where it is there already or may not go there.

    Sentences that must stay together with it move along.
    """
    size = len(document.sentences)
    block = next(block for block in coherence.blocks if evidence in block)
    others = [other for other in coherence.blocks if other is not block]
    if len(block) > _MOST_TOGETHER or not others or _lies(evidence, size, place):
        return None
    targets = {"start": [0], "end": [len(others)], "middle": range(1, len(others))}[place]
    orders = [[number for part in (*others[:at], block, *others[at:]) for number in part] for at in targets]
    orders = [numbers for numbers in orders if abs(numbers.index(evidence) - evidence) >= max(1, size // _FIFTH)]
    if place == "middle":
        orders = [numbers for numbers in orders if _lies(numbers.index(evidence), size, place)]
        orders.sort(key=lambda numbers: abs(numbers.index(evidence) - (size - 1) / 2))
    return next((numbers for numbers in orders if coherence.permits(numbers)), None)


def _names_itself(claim: CheckedClaim) -> bool:
    """Whether the evidence names all that the claim names, so that it can be understood before anything else.

    The first word of the claim may be a name as well.
    """
    evidence = claim.document.sentences[claim.evidence[0]].lower()
    names = [word for word in names_and_numbers(claim.text) if word[0].isupper()]
    first = claim.text.split(" ", 1)[0]
    words = [*names, first] if any(content_stems(first)) else names
    return bool(names) and all(word.lower().removesuffix("'s").removesuffix("’s") in evidence for word in words)


def _lies(number: int, size: int, place: str) -> bool:
    """Whether a sentence is the first, the last or one of the middle third."""
    return {"start": number == 0, "end": number == size - 1, "middle": size / 3 <= number + 0.5 <= 2 * size / 3}[place]


def _shuffled(claim: CheckedClaim, coherence: Coherence) -> list[int]:
    """The sentences in a drawn order that the document permits."""
    blocks = coherence.blocks
    block_of = {number: place for place, block in enumerate(blocks) for number in block}
    needed: list[set[int]] = [set() for _ in blocks]
    for first, second in coherence.order:
        if block_of[first] != block_of[second]:
            needed[block_of[second]].add(block_of[first])
    # The first sentence says what the document is about.
    for needs in needed[1:]:
        needs.add(0)
    waiting, numbers, placed = list(range(len(blocks))), list[int](), set[int]()
    while waiting:
        ready = [block for block in waiting if needed[block] <= placed]
        block = ready[claim.choose(len(ready), len(waiting))]
        waiting.remove(block)
        placed.add(block)
        numbers += blocks[block]
    return numbers


def _gaps(document: SourceDocument) -> list[tuple[str, int]]:
    """Where a sentence may be added: the name of the place, and the number of the sentence that will follow."""
    sentences = document.sentences
    size = len(sentences)
    gaps = [("end", size)]
    if not opens_with_link(sentences[0]):
        gaps.insert(0, ("start", 0))
    inner = [gap for gap in range(1, size) if size / 3 <= gap <= 2 * size / 3 or size == 2]
    if is_numbered(document.text):
        inner = []
    if sum(map(begins_turn, sentences)) > 1:
        # A sentence within a turn would be said by its speaker.
        inner = [gap for gap in inner if begins_turn(sentences[gap])]
    inner.sort(key=lambda gap: (abs(gap - size / 2), gap))
    free = next((gap for gap in inner if not _is_tied(sentences, gap)), None)
    if free is not None:
        gaps.insert(len(gaps) - 1, ("middle", free))
    return gaps


def _is_tied(sentences: Sequence[str], number: int) -> bool:
    before = sentences[number - 1]
    in_quote = sum(sentence.count('"') for sentence in sentences[:number]) % 2 == 1
    return in_quote or refers_back(sentences[number]) or before.rstrip().endswith(("?", ":", ",", ";"))


def _insert(document: SourceDocument, number: int, sentence: str) -> str:
    """The text with a sentence added before the one of this number, or at the end."""
    text = document.text
    if number == len(document.sentences):
        body = text.rstrip()
        stop = "" if re.search(r"[.!?…:;][\"'”’)\]]*$", body) else "."
        return f"{body}{stop} {sentence}"
    start = document.starts[number]
    return f"{text[:start]}{sentence} {text[start:]}"


@cache
def _fillers(register: str) -> list[tuple[str, frozenset[str]]]:
    """The sentences that fit documents of a register, with their stems; many are about a page, which no talk is."""
    from acidtest.io.wordlists import packaged_table

    table = packaged_table("grounding/fillers.tsv")
    registers = [register] if register == "chat" else [register, "any"]
    sentences = table.filter(table["register"].is_in(registers))["sentence"]
    return [(sentence, frozenset(content_stems(sentence))) for sentence in sentences]
