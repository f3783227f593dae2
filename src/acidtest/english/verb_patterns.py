"""Recognises the patterns of verbs from words alone or from trees, and the words that open a clause."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from acidtest.english.inflection import VerbForms
from acidtest.english.trees import Tree

TOKEN = re.compile(r"[^\W_]+(?=n['’]t\b)|n['’]t\b|[^\W_]+|['’](?:s|m|re|ve|d|ll)\b|[^\w\s]")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


BE = _set("be am is are was were been being 'm 're 's ’m ’re ’s")
GET = _set("get gets got gotten getting")
HAVE = _set("have has had having 've 'd ’ve ’d")
_MODAL = _set("will would can could may might shall should must does do did ca wo 'll ’ll n't n’t")
_FINITE = (BE | HAVE | _MODAL) - _set("be been being having 's ’s")
_DETERMINERS = _set(
    "the a an this these those some any every each all both no another many several few most half one two three four "
    "five six seven eight nine ten my your his its our their"
)
_SUBJECTS = _set("i he she we they there")
_OBJECTS = _set(
    "me him us them myself yourself himself herself itself ourselves themselves everyone everybody everything someone "
    "somebody something anyone anybody anything nobody nothing"
)
_STARTS = _DETERMINERS | _set("it you her")
_PREPOSITIONS = _set(
    "at in on by for with from of into onto over under through across around about against along among behind below "
    "beneath beside besides between beyond down during inside near off out outside past toward towards up upon within "
    "without away back together like despite per via after before since until till"
)
_CONJUNCTIONS = _set("and or but because while when as although though unless once so then than whereas")
_ADVERBS = _set("not never always often just also still only already ever even again too well here n't n’t")
_ALSO_PREPOSITIONS = _set("after before since until till as once like than")
_CLAUSE_ENDS = _CONJUNCTIONS | _set("who which that if whether")
_BEFORE_BASE_FORMS = _MODAL | _SUBJECTS | _set("you to who that which people men women children both all")
_LOOK_AHEAD = 6


def pattern_from_tokens(tokens: Sequence[str], place: int, forms: VerbForms) -> str:
    """The pattern of the verb at a place in a sentence, judged by its neighbours; empty if they are not enough."""
    word, after = tokens[place], list(tokens[place + 1 :])
    # The word before, ignoring adverbs.
    earlier = [token for token in tokens[max(place - 3, 0) : place] if not _is_adverb(token) and token not in "'’"]
    before = earlier[-1] if earlier else ""
    is_participle, is_gerund = word in forms.participles, word.endswith("ing")
    if is_participle and before in BE | GET:
        return "passive"
    if before in _DETERMINERS or before == "-" or (before in _PREPOSITIONS and not is_gerund):
        return ""
    if is_participle and after[:1] == ["by"] and before not in HAVE | _SUBJECTS | {"it", "you", "who"}:
        return "reduced"
    pattern = _complement_of_tokens(after)
    if pattern == "clause" and is_gerund and before not in BE:
        # In "the man cleaning the hall is old" the finite verb belongs to the man.
        return "object" if after[0] not in _SUBJECTS else pattern
    if pattern == "alone" and word in forms.bases and not _may_precede_base_form(before):
        # "A quiet laugh", "his first visit to": more likely a noun.
        return ""
    return pattern


def openers(tokens: Sequence[str], by_first: Mapping[str, Sequence[list[str]]]) -> Iterator[str]:
    """The openers that precede a clause; the *if* of *even if* does not count by itself."""
    place = 0
    while place < len(tokens):
        candidates = by_first.get(tokens[place], ())
        words = next((words for words in candidates if tokens[place : place + len(words)] == words), None)
        place += len(words) if words else 1
        if words and _looks_like_clause(tokens[place:], words):
            yield " ".join(words)


def _may_precede_base_form(token: str) -> bool:
    """Whether a base form after this word may be a verb: *to run*, *they run*, *dogs run*."""
    is_plural = token.endswith("s") and token[0].isalnum() and not token.endswith(("ss", "us", "is"))
    return not token or is_plural or token in _BEFORE_BASE_FORMS | _CONJUNCTIONS


def _is_adverb(token: str) -> bool:
    return token in _ADVERBS or (token.endswith("ly") and len(token) > 4)


def _complement_of_tokens(after: Sequence[str]) -> str:
    rest = list(after)
    while rest and _is_adverb(rest[0]):
        rest = rest[1:]
    first, second = (*rest, "", "")[:2]
    if first == "that":
        return "that" if second[:1].isalnum() and second not in _PREPOSITIONS else "object"
    if first in _SUBJECTS:
        return "clause"
    if first in _OBJECTS:
        return "object"
    if first in _STARTS or first.isdigit():
        return "clause" if _has_finite(rest[1:]) else "object"
    if first == "to":
        return "alone" if second in _STARTS | _OBJECTS else ""
    is_end = not first[:1].isalnum()
    return "alone" if is_end or first in _PREPOSITIONS | _CONJUNCTIONS else ""


def _has_finite(tokens: Sequence[str], *, or_past: bool = False) -> bool:
    """Whether a finite auxiliary (or a word in -ed) is among the next words, before punctuation or another clause."""
    for token in tokens[:_LOOK_AHEAD]:
        if token in _FINITE or (or_past and token.endswith("ed")):
            return True
        if token in _CLAUSE_ENDS or not token[0].isalnum():
            return False
    return False


def _looks_like_clause(after: Sequence[str], opener: Sequence[str]) -> bool:
    first = after[0] if after else "."
    if first in _SUBJECTS:
        return True
    if opener[-1] in _ALSO_PREPOSITIONS:
        return _has_finite(after[1:], or_past=True)
    return first[0].isalnum() and first not in _PREPOSITIONS and not first.endswith("ing")


@dataclass(frozen=True)
class _PhraseContext:
    """The context of a phrase in a tree: its auxiliary, and whether its object may stand before the verb (moved)."""

    voice: Literal["", "passive", "perfect", "reduced"] = ""
    moved: bool = False
    in_noun_phrase: bool = False


def patterns_from_tree(root: Tree, verbs: Collection[str]) -> Iterator[tuple[str, str]]:
    """Each occurrence in a tree of one of the verbs (lower-case forms), with its pattern there."""
    return _patterns_below(root, verbs, _PhraseContext())


def _patterns_below(node: Tree, verbs: Collection[str], place: _PhraseContext) -> Iterator[tuple[str, str]]:
    label = _plain(node)
    if label == "VP":
        yield from _phrase_patterns(node, verbs, place)
    for number, child in enumerate(node.children):
        if isinstance(child, Tree) and isinstance(child.children[0], Tree):
            inner = _PhraseContext(_voice(node, number, place), _is_moved(node, child, place), label == "NP")
            yield from _patterns_below(child, verbs, inner)


def _phrase_patterns(phrase: Tree, verbs: Collection[str], place: _PhraseContext) -> Iterator[tuple[str, str]]:
    """The patterns of the verbs directly under a verb phrase."""
    for number, child in enumerate(phrase.children):
        form = _verb(child)
        if form not in verbs:
            continue
        is_active = _plain(child) != "VBN" or place.voice == "perfect"
        pattern = _complement_of_tree(phrase.children[number + 1 :]) if is_active else place.voice
        # In "who the judge visited" the object stands before the verb, so the verb is not alone.
        if pattern and not (pattern == "alone" and place.moved):
            yield form, pattern


def _voice(parent: Tree, number: int, place: _PhraseContext) -> Literal["", "passive", "perfect", "reduced"]:
    """The voice of a child phrase's participle, by the last auxiliary or a noun phrase before it in its parent."""
    label, before = _plain(parent), parent.children[:number]
    auxiliaries = [form for form in map(_verb, before) if form]
    if auxiliaries:
        last = auxiliaries[-1]
        return "passive" if last in BE | GET else "perfect" if last in HAVE else ""
    if label == "VP":
        return place.voice
    return "reduced" if label == "NP" and any(_plain(child) == "NP" for child in before) else ""


def _is_moved(parent: Tree, child: Tree, place: _PhraseContext) -> bool:
    """Whether the object below may be missing because it stands earlier, as in relative clauses and questions."""
    label = _plain(parent)
    if label == "NP":
        return False
    if label in ("SBAR", "SBARQ") and _plain(child) in ("S", "SQ"):
        labels = [_plain(sibling) for sibling in parent.children]
        relative = "WHNP" in labels or (place.in_noun_phrase and labels[0] == "S")
        return place.moved or (relative and any(_plain(part) == "NP" for part in child.children))
    return place.moved


def _complement_of_tree(after: Sequence[Tree | str]) -> str:
    """The pattern of a verb, judged by the phrases after it."""
    joined = False
    for phrase in after:
        label = _plain(phrase)
        if label == "NP" and not (isinstance(phrase, Tree) and "TMP" in phrase.label):
            return "object"
        if label == "S":
            return "clause" if _is_finite(phrase) else ""
        if label in ("SQ", "SBARQ", "SINV") or (label == "VP" and not joined):
            return ""
        opening = _opening(phrase) if label == "SBAR" else "adjunct"
        if opening != "adjunct":
            return opening
        joined = joined or label == "CC"
    return "alone"


def _opening(clause: Tree | str) -> str:
    """The kind of an SBAR: ``that``, ``clause`` (without an opener), ``adjunct``, or empty, as for a question."""
    for part in clause.children if isinstance(clause, Tree) else ():
        label, words = _plain(part), [leaf.lower() for leaf in part.leaves] if isinstance(part, Tree) else []
        if label == "SBAR":
            return _opening(part)
        if label == "S":
            return "clause" if _is_finite(part) else ""
        if label in ("IN", "DT"):
            return "that" if words == ["that"] else "" if words in (["whether"], ["if"]) else "adjunct"
        if label.startswith("WH"):
            return "adjunct" if words == ["when"] else ""
    return ""


def _is_finite(clause: Tree | str) -> bool:
    for part in clause.children if isinstance(clause, Tree) else ():
        if _plain(part) in ("S", "VP"):
            return _is_finite(part)
        if _plain(part) in ("VBD", "VBP", "VBZ", "MD"):
            return True
        if _plain(part) in ("TO", "VB", "VBG", "VBN"):
            return False
    return False


def _plain(node: Tree | str) -> str:
    """A label without its function tags: NP for NP-TMP."""
    return node.label.partition("-")[0] if isinstance(node, Tree) else ""


def _verb(node: Tree | str) -> str:
    """The lower-case word of a node tagged as a verb; empty for other nodes."""
    if isinstance(node, Tree) and node.label.startswith("VB") and isinstance(node.children[0], str):
        return node.children[0].lower()
    return ""
