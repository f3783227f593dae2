"""Documents as edits see them: their sentences and words, and the sentence that decides a claim."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import polars as pl

_WORD = re.compile(r"[^\W_]+(?:['’.,:-][^\W_]+)*")
_LEAST_SHARED = 0.75
"""A sentence decides a claim only if it has at least this share of the claim's content words."""
_AHEAD = 0.25
"""By how much the share of the best sentence must exceed that of every other."""


@dataclass(frozen=True)
class Document:
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

    @cached_property
    def _stem_places(self) -> dict[str, list[int]]:
        """The numbers of the sentences that have each stem."""
        places = dict[str, list[int]]()
        for number, stems in enumerate(self.stems):
            for stem in stems:
                places.setdefault(stem, []).append(number)
        return places

    def shared_stems(self, stems: Iterable[str]) -> list[int]:
        """How many of some stems each sentence has."""
        counts = [0] * len(self.sentences)
        for stem in stems:
            for number in self._stem_places.get(stem, ()):
                counts[number] += 1
        return counts

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


def read_documents(texts: pl.Series) -> list[Document]:
    """The document of each text; equal texts share one."""
    from acidtest.text.tokens import sentences

    distinct = texts.unique(maintain_order=True)
    split = sentences(distinct).group_by("text", maintain_order=True).agg("sentence", "start")
    known = {
        text: Document(text, tuple(parts), tuple(starts))
        for text, parts, starts in zip(distinct.gather(split["text"]), split["sentence"], split["start"], strict=True)
    }
    return [known.get(text) or Document(text, (text,), (0,)) for text in texts]


def find_evidence(claim: str, document: Document) -> tuple[int, ...]:
    """The number of the one sentence that has most content words, all names and all numbers of a claim, or nothing.

    It must have at least three quarters of the content words, and a quarter more than any other sentence.
    """
    if len(document.sentences) == 1:
        return (0,)
    stems = frozenset(content_stems(claim))
    if not stems:
        return ()
    counts = document.shared_stems(stems)
    second, first = sorted(counts)[-2:]
    if first / len(stems) < _LEAST_SHARED or first / len(stems) - second / len(stems) < _AHEAD:
        return ()
    best = counts.index(first)
    given = set(_words(document.sentences[best]))
    return (best,) if all(word.lower() in given for word in names_and_numbers(claim)) else ()


def names_and_numbers(text: str) -> Iterator[str]:
    """The words of a sentence with a capital after the first one, and those with a digit."""
    for number, match in enumerate(_WORD.finditer(text)):
        word = match[0]
        if word[0].isdigit() or (number and word[0].isupper()):
            yield word


def content_stems(text: str) -> Iterator[str]:
    """The first five letters of every word that is not a function word; numbers are whole."""
    return filter(None, map(_stem, _words(text)))


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    """The stem of a word; empty for a function word."""
    if word in _function_words():
        return ""
    return word if word[0].isdigit() else word[:5]


def _words(text: str) -> Sequence[str]:
    return _WORD.findall(text.lower())


@cache
def _function_words() -> frozenset[str]:
    from acidtest.text.clauses import function_words

    return function_words()
