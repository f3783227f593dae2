"""A sentence as a tree of words: for each word its head and its relation to it, as a dependency parser gives them.

Relations have the names that spaCy's English pipelines use (``nsubj``, ``dobj``, ``prep``, ``advcl``, …), so that a
tree may come from one of them or from the light parser.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

from acidtest.english.chunks import BE
from acidtest.english.wordnet import wordnet

SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"})
CLAUSAL = frozenset({"ROOT", "ccomp", "xcomp", "advcl", "relcl", "acl", "csubj", "csubjpass", "pcomp", "parataxis"})
"""Relations of the heads of clauses."""
COMPLEMENTS = frozenset({"ccomp", "xcomp", "csubj", "csubjpass"})


@dataclass(frozen=True)
class DependencyTree:
    """The words of a sentence in lower case, their tags, heads (-1 for the root) and relations."""

    words: list[str]
    tags: list[str]
    heads: list[int]
    relations: list[str]

    @cached_property
    def children(self) -> list[list[int]]:
        """For each word the words whose head it is, from left to right."""
        children: list[list[int]] = [[] for _ in self.words]
        for place, head in enumerate(self.heads):
            if head >= 0:
                children[head].append(place)
        return children

    def related(self, place: int, *relations: str) -> list[int]:
        """The children of a word that have one of the relations."""
        return [child for child in self.children[place] if self.relations[child] in relations]

    def path(self, place: int) -> Iterator[int]:
        """The word, its head, the head of that, and so on up to the root."""
        for _ in range(len(self.words)):
            yield place
            place = self.heads[place]
            if place < 0:
                return

    def left_edge(self, place: int) -> int:
        """The first word of the phrase with this head, without clauses and prepositional phrases before it."""
        left = place
        for child in self.children[place]:
            if child < left and self.relations[child] not in ("prep", "advcl", "punct", "cc", "conj", "relcl"):
                left = min(left, self.left_edge(child))
        return left

    def first_conjunct(self, place: int) -> int:
        """The first of the words joined by *and* or *or* that this one belongs to."""
        while self.relations[place] == "conj" and self.heads[place] >= 0:
            place = self.heads[place]
        return place

    def clause_head(self, place: int) -> int:
        """The head of the smallest clause that contains a word."""
        for node in self.path(place):
            if self.is_clause_head(node):
                return node
        return place

    def is_clause_head(self, place: int) -> bool:
        """Whether a word is the head of a clause; a conjunct is one if its first conjunct is, or it has a subject."""
        relation = self.relations[place]
        if relation == "conj":
            return self.is_clause_head(self.heads[place]) or bool(self.related(place, *SUBJECTS))
        return relation in CLAUSAL and not (relation == "pcomp" and not self.tags[place].startswith("V"))

    def lemma(self, place: int) -> str:
        """The base form of the word as a verb, adjective or noun, by its tag."""
        return base_form(self.words[place], self.tags[place])


@cache
def base_form(word: str, tag: str) -> str:
    """The base form of a word in lower case with that tag; the word itself where WordNet has none."""
    if tag[:1] == "V" and word in BE:
        return "be"
    pos = {"V": "v", "N": "n", "J": "a"}.get(tag[:1])
    forms = wordnet().base_forms(word, pos) if pos else []
    return forms[0] if forms else word
