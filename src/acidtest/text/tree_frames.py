"""The frames verbs are in, told from trees."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from acidtest.text.token_frames import BE, GET, HAVE
from acidtest.text.trees import Tree


@dataclass(frozen=True)
class _Place:
    """Where in a tree a phrase stands: under what auxiliary, and whether its object may have been moved away."""

    voice: Literal["", "passive", "perfect", "reduced"] = ""
    moved: bool = False
    in_noun_phrase: bool = False


def tree_frames(root: Tree, verbs: Collection[str]) -> Iterator[tuple[str, str]]:
    """Each of the verbs (in any form, lower-cased) that a tree has, with the frame it is in there."""
    return _frames_below(root, verbs, _Place())


def _frames_below(node: Tree, verbs: Collection[str], place: _Place) -> Iterator[tuple[str, str]]:
    label = _plain(node)
    if label == "VP":
        yield from _own_frames(node, verbs, place)
    for number, child in enumerate(node.children):
        if isinstance(child, Tree) and isinstance(child.children[0], Tree):
            inner = _Place(_voice(node, number, place), _is_moved(node, child, place), label == "NP")
            yield from _frames_below(child, verbs, inner)


def _own_frames(phrase: Tree, verbs: Collection[str], place: _Place) -> Iterator[tuple[str, str]]:
    """The frames of the verbs right under a verb phrase."""
    for number, child in enumerate(phrase.children):
        form = _verb(child)
        if form not in verbs:
            continue
        is_active = _plain(child) != "VBN" or place.voice == "perfect"
        frame = _complement_of_tree(phrase.children[number + 1 :]) if is_active else place.voice
        # In "who the judge visited" the object stands before the verb, so it is not alone.
        if frame and not (frame == "alone" and place.moved):
            yield form, frame


def _voice(parent: Tree, number: int, place: _Place) -> Literal["", "passive", "perfect", "reduced"]:
    """What a phrase's participle is, by the last verb before it in the phrase around it, or by a noun phrase."""
    label, before = _plain(parent), parent.children[:number]
    auxiliaries = [form for form in map(_verb, before) if form]
    if auxiliaries:
        last = auxiliaries[-1]
        return "passive" if last in BE | GET else "perfect" if last in HAVE else ""
    if label == "VP":
        return place.voice
    return "reduced" if label == "NP" and any(_plain(child) == "NP" for child in before) else ""


def _is_moved(parent: Tree, child: Tree, place: _Place) -> bool:
    """Whether an object may be missing below because it stands before: in relative clauses and questions."""
    label = _plain(parent)
    if label == "NP":
        return False
    if label in ("SBAR", "SBARQ") and _plain(child) in ("S", "SQ"):
        labels = [_plain(each) for each in parent.children]
        relative = "WHNP" in labels or (place.in_noun_phrase and labels[0] == "S")
        return place.moved or (relative and any(_plain(part) == "NP" for part in child.children))
    return place.moved


def _complement_of_tree(after: Sequence[Tree | str]) -> str:
    """The frame that the phrases after a verb make."""
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
    """What kind of clause an SBAR is: ``that``, ``clause`` with nothing to open it, ``adjunct``, or a question."""
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
    """A label without what is tied to it: NP of NP-TMP."""
    return node.label.partition("-")[0] if isinstance(node, Tree) else ""


def _verb(node: Tree | str) -> str:
    """The word under a verb's part of speech, lower-cased; empty elsewhere."""
    if isinstance(node, Tree) and node.label.startswith("VB") and isinstance(node.children[0], str):
        return node.children[0].lower()
    return ""
