"""Tables of the words that decide polarity: quantifiers, negations, connectives, and governors of complements.

*He knows that it is cold* asserts that it is cold, *he thinks* does not; *he failed to find a dog* turns *dog* round.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from acidtest.io.wordlists import packaged_table


@dataclass(frozen=True)
class ScopeEffect:
    """What a word does to a part of its sentence: ``polarity`` up, down or none; whether that part is asserted.

    ``presupposed`` parts stay asserted and upward when the governor is negated or questioned: *he did not know that*.
    """

    polarity: str
    asserted: bool
    presupposed: bool = False


@dataclass(frozen=True)
class Quantifier:
    """What a determiner does to its noun phrase and to the rest of its clause."""

    words: str
    restrictor: str
    scope: str


_DEFAULTS = {
    "clause": ScopeEffect("up", asserted=False),
    "infinitive": ScopeEffect("up", asserted=False),
    "gerund": ScopeEffect("up", asserted=True),
    "object": ScopeEffect("up", asserted=True),
    "kind": ScopeEffect("up", asserted=True),
}
"""What verbs without a row in the table do."""


@cache
def _table() -> dict[tuple[str, str], ScopeEffect]:
    rows = packaged_table("contexts/governors.tsv").select("governor", "complement", "polarity", "asserted").iter_rows()
    return {
        (word, complement): ScopeEffect(polarity, asserted in ("yes", "always"), asserted == "always")
        for word, complement, polarity, asserted in rows
    }


def governor_effect(lemma: str, complement: str) -> ScopeEffect:
    """The effect of a governor on its complement: ``clause``, ``infinitive``, ``gerund``, ``object`` or ``kind``."""
    return _table().get((lemma, complement), _DEFAULTS[complement])


def takes_clause(lemma: str) -> bool:
    """Whether a word is listed with a clause as its complement."""
    return (lemma, "clause") in _table()


def takes_infinitive(lemma: str, pos: str) -> bool:
    """Whether a word is listed with an infinitive as its complement."""
    return (lemma, "infinitive") in _table() and (pos == "verb" or (lemma, "clause") not in _table() or lemma in _NOUNS)


_NOUNS = frozenset({"plan", "decision", "attempt", "desire", "promise", "effort", "ability", "right", "need", "chance"})


@cache
def quantifiers() -> dict[str, Quantifier]:
    """The quantifiers by their words."""
    rows = packaged_table("contexts/quantifiers.tsv").select("words", "restrictor", "scope").iter_rows()
    return {words: Quantifier(words, restrictor, scope) for words, restrictor, scope in rows}


@cache
def operators(kind: str) -> dict[str, ScopeEffect]:
    """The words of a kind, adverb, adjective, focus, modal, mark, preposition or noun, with what they do."""
    rows = packaged_table("contexts/operators.tsv").filter(kind=kind).select("word", "polarity", "asserted").iter_rows()
    return {word: ScopeEffect(polarity, asserted == "yes") for word, polarity, asserted in rows}
