"""The forms in which an item of a word list stands in a sentence, and the tags such a form may have."""

from __future__ import annotations

import re
from functools import cache

from acidtest.io.wordlists import packaged_table
from acidtest.text.replacement import plural

TAGS: dict[str, frozenset[str]] = {
    "singular": frozenset({"NN"}),
    "mass": frozenset({"NN", "VBG"}),
    "plural": frozenset({"NNS"}),
    "only plural": frozenset({"NNS", "NN"}),
    "name": frozenset({"NNP", "NNPS", "NN", "NNS", "JJ", "PRP", "MD", "VB"}),
    "adjective": frozenset({"JJ", "NN", "VBN", "NNP", "NNS"}),
    "number": frozenset({"CD"}),
    "digits": frozenset({"CD"}),
    "ordinal": frozenset({"JJ", "NN", "RB", "CD", "LS"}),
    "base": frozenset({"VB", "VBP"}),
    "third": frozenset({"VBZ"}),
    "gerund": frozenset({"VBG"}),
    "past": frozenset({"VBD"}),
    "participle": frozenset({"VBN"}),
    "adverb": frozenset({"RB", "RP", "IN", "JJ", "NN", "RBR"}),
    "preposition": frozenset({"IN", "RB", "RP", "TO", "JJ"}),
}
"""The Penn tags of the last word of a form; tags of a preposition of several words are not asked."""

_ONE_FORM = {"mass": "mass", "plural": "only plural", "name": "name", "the": "name", "adverb": "adverb"}
_SHORT_VERB = re.compile(r"[^aeiou]*(?:qu)?[aeiou][^aeiouwxy]")


def slots(item: str, form: str, *, irregular: str = "") -> dict[str, str]:
    """The forms of an item by the slot each fills, where ``form`` is what a word list calls it.

    ``irregular`` is its plural, ``-`` where it has none.
    """
    if form in ("count", "noun"):
        several = {} if irregular == "-" else {"plural": irregular or _plural(item)}
        return {"singular": item} | several
    if form == "verb":
        return _verb(item)
    if form == "number":
        return {"digits" if item[0].isdigit() else "number": item}
    if form == "ordinal":
        return {"ordinal digits" if item[0].isdigit() else "ordinal": item}
    return {_ONE_FORM.get(form, form): item}


def tags(slot: str) -> frozenset[str]:
    """The tags a form in this slot may have."""
    return TAGS[slot.removesuffix(" digits")]


def _plural(item: str) -> str:
    before, space, last = item.rpartition(" ")
    return before + space + plural(last)


def _verb(item: str) -> dict[str, str]:
    """Five forms of a verb, which is the first of several words."""
    verb, space, rest = item.partition(" ")
    forms = _irregular_verbs().get(verb) or _regular(verb)
    return {
        slot: form + space + rest
        for slot, form in zip(("base", "third", "gerund", "past", "participle"), forms, strict=True)
    }


def _regular(verb: str) -> tuple[str, ...]:
    stem = verb + verb[-1] if _SHORT_VERB.fullmatch(verb) else verb
    past = verb + "d" if verb.endswith("e") else stem + "ed"
    gerund = stem + "ing"
    if re.search(r"[^aeiou]y$", verb):
        past = verb[:-1] + "ied"
    elif verb.endswith("ie"):
        gerund = verb[:-2] + "ying"
    elif verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        gerund = verb[:-1] + "ing"
    return verb, plural(verb), gerund, past, past


@cache
def _irregular_verbs() -> dict[str, tuple[str, ...]]:
    return {row[0]: row for row in packaged_table("lexical/verbs.tsv").iter_rows()}
