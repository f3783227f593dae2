"""Documents as edits see them: their sentences and words, and the sentence that decides a claim."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import polars as pl

_WORD = re.compile(r"[^\W_]+(?:['’.,:-][^\W_]+)*")
_LIST_NUMBER = re.compile(r"\(?\d{1,3}[.)]")
"""A sentence that is only the number of an item: *3.* before *Paintings include 18 works.*"""
_LEAST_SHARED = 0.75
"""A sentence decides a claim only if it has at least this share of the claim's content words."""
_AHEAD = 0.25
"""By how much the share of the best sentence must exceed that of every other."""
_MOST_RECENT = 2_000
"""How many documents are remembered."""
_RECENT: dict[str, SourceDocument] = {}


@dataclass(frozen=True)
class SourceDocument:
    """A document, split into sentences."""

    text: str
    sentences: tuple[str, ...]
    starts: tuple[int, ...]
    """Where the sentences begin in ``text``."""

    @cached_property
    def words(self) -> frozenset[str]:
        """All words and numbers, in lower case."""
        return frozenset(_words(self.text))

    @cached_property
    def stems(self) -> tuple[frozenset[str], ...]:
        """The stems of the content words of each sentence."""
        return tuple(frozenset(content_stems(sentence)) for sentence in self.sentences)

    def evidence_of(self, claim: str) -> tuple[int, ...]:
        """What ``find_evidence`` finds for a claim; every suite of a file asks for the same."""
        if claim not in self._evidence:
            self._evidence[claim] = find_evidence(claim, self)
        return self._evidence[claim]

    @cached_property
    def _evidence(self) -> dict[str, tuple[int, ...]]:
        return {}

    def numbers_of(self, evidence: str) -> tuple[int, ...]:
        """The numbers of the sentences in which the texts of the evidence, one a line, begin."""
        numbers = set[int]()
        for line in evidence.splitlines():
            start = self.text.find(line)
            if start < 0:
                return ()
            end = start + len(line)
            ends = [*self.starts[1:], len(self.text) + 1]
            numbers |= {number for number, begin in enumerate(self.starts) if begin < end and ends[number] > start}
        return tuple(sorted(numbers))

    def replace_sentence(self, number: int, sentence: str) -> str:
        """The text with another sentence in the place of one."""
        start = self.starts[number]
        return self.text[:start] + sentence + self.text[start + len(self.sentences[number]) :]


def read_documents(texts: pl.Series) -> list[SourceDocument]:
    """The document of each text; equal texts share one, also with texts read shortly before.

    Suites of one file read the same documents one after the other.
    """
    distinct = texts.unique(maintain_order=True)
    known = {text: _RECENT[text] for text in distinct if text in _RECENT}
    known |= _split_documents(distinct.filter(~distinct.is_in(list(known))))
    if len(_RECENT) + len(known) > _MOST_RECENT:
        _RECENT.clear()
    if len(known) <= _MOST_RECENT:
        _RECENT.update(known)
    return [known[text] for text in texts]


def _split_documents(texts: pl.Series) -> dict[str, SourceDocument]:
    """The documents of some texts, split into sentences; an empty one is a sentence."""
    from acidtest.english.tokens import sentences

    split = sentences(texts).group_by("text", maintain_order=True).agg("sentence", "start")
    columns = (texts.gather(split["text"]), split["sentence"], split["start"])
    documents = {text: _join_list_numbers(text, parts, starts) for text, parts, starts in zip(*columns, strict=True)}
    return {text: documents.get(text) or SourceDocument(text, (text,), (0,)) for text in texts}


def _join_list_numbers(text: str, sentences: Sequence[str], starts: Sequence[int]) -> SourceDocument:
    """The document, with the number of a list item and the sentence after it as one sentence."""
    ends = [start + len(sentence) for start, sentence in zip(starts, sentences, strict=True)]
    numbers = [number for number, sentence in enumerate(sentences[:-1]) if _LIST_NUMBER.fullmatch(sentence)]
    firsts = [number for number in range(len(sentences)) if number - 1 not in numbers]
    lasts = [number for number in range(len(sentences)) if number not in numbers]
    joined = tuple(text[starts[first] : ends[last]] for first, last in zip(firsts, lasts, strict=True))
    return SourceDocument(text, joined, tuple(starts[first] for first in firsts))


def find_evidence(claim: str, document: SourceDocument) -> tuple[int, ...]:
    """The number of the one sentence that has most content words, all names and all numbers of a claim, or nothing.

    It must have at least three quarters of the content words, and a quarter more than any other sentence.
    """
    if len(document.sentences) == 1:
        return (0,)
    stems = frozenset(content_stems(claim))
    if not stems:
        return ()
    shares = [len(stems & sentence) / len(stems) for sentence in document.stems]
    best = max(range(len(shares)), key=shares.__getitem__)
    others = max((share for number, share in enumerate(shares) if number != best), default=0.0)
    if shares[best] < _LEAST_SHARED or shares[best] - others < _AHEAD:
        return ()
    return (best,) if has_names_and_numbers(document.sentences[best], claim) else ()


def has_names_and_numbers(sentence: str, claim: str) -> bool:
    """Whether a sentence has all names and numbers of a claim."""
    given = set(_words(sentence))
    return all(word.lower() in given for word in names_and_numbers(claim))


def names_and_numbers(text: str) -> Iterator[str]:
    """The words of a sentence with a capital after the first one, and those with a digit."""
    for number, match in enumerate(_WORD.finditer(text)):
        word = match[0]
        if word[0].isdigit() or (number and word[0].isupper()):
            yield word


def content_stems(text: str) -> Iterator[str]:
    """The first five letters of every word that is not a function word; numbers are whole."""
    stop = _function_words()
    return (word if word[0].isdigit() else word[:5] for word in _words(text) if word not in stop)


def _words(text: str) -> Sequence[str]:
    return _WORD.findall(text.lower())


@cache
def _function_words() -> frozenset[str]:
    from acidtest.english.clauses import function_words

    return function_words()
