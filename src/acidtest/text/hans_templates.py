"""The templates of HANS, published and our own, ready to be filled from a vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.io.wordlists import packaged_table
from acidtest.text.templates import Grammar, Index, Lexicon, Phrase, Template, Variant
from acidtest.text.vocabulary import Vocabulary, vocabulary

Templates = Literal["published", "novel"]
_FILES = {"published": "hans/templates.tsv", "novel": "hans/templates_novel.tsv"}


@dataclass(frozen=True)
class Plan:
    """Templates with the grammar that fills them; ``facts`` has one row per template."""

    facts: pl.DataFrame
    grammar: Grammar
    subcases: tuple[str, ...]
    subcase: Index

    def variants(self, number: int) -> Index:
        """The variants of one subcase."""
        return np.flatnonzero(self.subcase == number)


def plan(templates: Templates, words: Vocabulary | str, *, faithful: bool = False) -> Plan:
    """The templates compiled against a vocabulary; ``faithful`` keeps the quirks of the published file."""
    chosen = vocabulary(words, faithful=faithful) if isinstance(words, str) else words
    return _compiled(templates, _Key(chosen), faithful)


@dataclass(frozen=True)
class _Key:
    """A vocabulary, known again by its name and the fingerprint of its file."""

    words: Vocabulary

    def __hash__(self) -> int:
        return hash((self.words.name, self.words.source))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and (self.words.name, self.words.source) == (
            other.words.name,
            other.words.source,
        )


@lru_cache(maxsize=8)
def _compiled(templates: Templates, key: _Key, faithful: bool) -> Plan:
    facts = packaged_table(_FILES[templates])
    lexicon = _lexicon(key.words, faithful)
    hypothesis = "faithful_hypothesis" if faithful else "hypothesis"
    read = [
        Template(
            premise=row["premise"],
            hypothesis=row[hypothesis] or row["hypothesis"],
            weight=_weight(row["weight"], lexicon),
            trigger=row["trigger"],
            unless_excluded=(*row["unless_excluded"].split(), "", "")[:2],
        )
        for row in facts.iter_rows(named=True)
    ]
    grammar = Grammar(read, _phrases(), lexicon, spaced=faithful)
    for variant in grammar.variants:
        _require(facts["heuristic"][variant.template], variant, facts["template"][variant.template])
    subcases = tuple(facts["subcase"].unique(maintain_order=True))
    subcase = np.array([subcases.index(name) for name in facts["subcase"]])[grammar.template]
    return Plan(facts, grammar, subcases, subcase)


def _require(heuristic: str, variant: Variant, name: str) -> None:
    """Raise when a variant, and so every pair made from it, is not of the heuristic it stands for.

    A hypothesis is made of premise words because there is no other way to write one.
    """
    premise, hypothesis = (_unpunctuated(side) for side in (variant.premise, variant.hypothesis))
    width = len(hypothesis)
    is_run = any(premise[start : start + width] == hypothesis for start in range(len(premise)))
    is_clause = any(_unpunctuated(part.leaves) == hypothesis for part in variant.premise_tree.clauses)
    found = "constituent" if is_clause else "subsequence" if is_run else "lexical_overlap"
    if found != heuristic:
        raise AcidtestError(f"template {name!r} stands for {heuristic}, but its hypothesis is a case of {found}")


def _unpunctuated(names: Sequence[str]) -> list[str]:
    return [name.partition("/")[0] for name in names if name not in (",", ".")]


def _weight(text: str, lexicon: Lexicon) -> float:
    """A number, or the name of a slot: then every word of it weighs one."""
    return float(len(lexicon.words[text])) if text in lexicon.words else float(text)


def _phrases() -> dict[str, list[Phrase]]:
    phrases: dict[str, list[Phrase]] = {}
    for name, weight, expansion in packaged_table("hans/phrases.tsv").iter_rows():
        phrases.setdefault(name, []).append(Phrase(expansion, float(weight)))
    return phrases


def _lexicon(words: Vocabulary, faithful: bool) -> Lexicon:
    slots = packaged_table("hans/slots.tsv").iter_rows()
    lists = words.lists
    if faithful:
        # The published file has pairs whose gold is doubtful because one verb may imply the other.
        lists = {name: tuple(replace(word, excludes=frozenset()) for word in lists[name]) for name in lists}
    return Lexicon(
        words={slot: [word for name in names.split() for word in lists[name]] for slot, names in slots},
        fixed=dict(packaged_table("hans/fixed_words.tsv").iter_rows()),
    )
