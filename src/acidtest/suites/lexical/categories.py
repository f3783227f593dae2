"""Suites ``lexical`` and ``lexical/<category>``: one word of a premise replaced by another of its word list."""

from __future__ import annotations

from collections.abc import Callable

from acidtest.core.suite import Suite
from acidtest.io.wordlists import packaged_table
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.lexical.replacements import CITATION, Wishes, suite
from acidtest.text.bigrams import LEAST
from acidtest.text.categories import names


def _maker(name: str, categories: list[str]) -> Callable[..., Suite]:
    def lexical(
        request: Request,
        *,
        each: int = 1,
        most: int = 100,
        bigrams: str = "",
        least: int = LEAST,
        train: str = "",
        embeddings: str = "",
        cosine: float = 0.5,
        tagger: str = "auto",
    ) -> Suite:
        """Every premise that has an item of a word list in a plain place, with another item of the list instead.

        Synonyms and hypernyms are entailed, hyponyms neutral, antonyms and items that exclude each other contradict.
        ``each`` is how many new words a place gets in each relation, ``most`` how often a word is replaced in each
        (half the premises of SNLI have a man; 0 is any number). ``bigrams`` is a list of bigrams with counts
        (``red car⇥120``), plain text or a corpus in which the new word must stand ``least`` times beside its
        neighbours; without one, parts of speech decide. ``train`` and ``embeddings`` are files the new word must be
        known in; they add how often the two words stand in contradictions, and their cosine, which must be ``cosine``
        for antonyms from WordNet.
        """
        return suite(name, categories, request, Wishes(each, most, bigrams, least, train, embeddings, cosine, tagger))

    return lexical


def _register(name: str, categories: list[str], *, summary: str, rows: int) -> None:
    register = generator(name, summary=summary, rows=rows, source="pairs", citation=CITATION, licence="Apache-2.0")
    register(_maker(name, categories))


for told in packaged_table("lexical/categories.tsv").iter_rows(named=True):
    _register(f"lexical/{told['category']}", [told["category"]], summary=told["summary"], rows=int(told["rows"]))

_register(
    "lexical",
    names(),
    summary="A premise and itself with one word replaced, in every category of word lists",
    rows=3_833,
)
