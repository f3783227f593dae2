"""Constituency trees in Penn brackets: reading, writing, clauses, and the binary form that tree models need."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from acidtest.io.wordlists import packaged_table

_PIECES = re.compile(r"\(|\)|[^\s()]+")
_CLAUSES = ("S", "SBAR", "SBARQ", "SINV", "SQ")
_NOUNS = ("NN", "NNP", "NNPS", "NNS", "NX", "POS", "JJR")
_NOUN_PHRASE_HEADS = (("$", "ADJP", "PRN"), ("CD",), ("JJ", "JJS", "RB", "QP"))
_DEEPEST = 300
_PUNCTUATION = frozenset({",", ".", ":", "``", "''", "-LRB-", "-RRB-", "#", "$", "HYPH", "NFP"})


@dataclass(frozen=True)
class Tree:
    """A label over other trees, or over words where it is a part of speech."""

    label: str
    children: tuple[Tree | str, ...]

    def __str__(self) -> str:
        """The tree in Penn brackets, on one line."""
        return f"({' '.join([self.label, *map(str, self.children)])})"

    @property
    def leaves(self) -> list[str]:
        """The words from left to right."""
        return [word for child in self.children for word in ([child] if isinstance(child, str) else child.leaves)]

    @property
    def parts(self) -> Iterator[Tree]:
        """This tree and every tree inside it, parents before children."""
        yield self
        for child in self.children:
            if isinstance(child, Tree):
                yield from child.parts

    @property
    def clauses(self) -> list[Tree]:
        """The clauses among this tree and the trees inside it."""
        return [part for part in self.parts if is_clause(part.label)]


def is_clause(label: str) -> bool:
    """Whether a label such as ``S`` or ``SBAR-TMP`` names a clause."""
    return re.split(r"[-=]", label, maxsplit=1)[0] in _CLAUSES


def tree(brackets: str) -> Tree:
    """The tree of a string in brackets; raises ValueError with the problem if it is not one valid tree."""
    parsed = trees(brackets)
    if len(parsed) != 1 or isinstance(parsed[0], str):
        raise ValueError(f"{len(parsed)} trees stand side by side where there should be one" if parsed else "no tree")
    return parsed[0]


def trees(brackets: str) -> list[Tree | str]:
    """The trees and words at the top level of a string in brackets; raises ValueError if it is invalid."""
    pieces = _PIECES.findall(brackets)
    stack: list[list[Tree | str]] = [[]]
    for number, piece in enumerate(pieces):
        if piece == "(":
            if len(stack) > _DEEPEST:
                raise ValueError(f"brackets nested more than {_DEEPEST} deep")
            stack.append([])
        elif piece != ")":
            stack[-1].append(piece)
        elif len(stack) == 1:
            raise ValueError("a bracket closes that never opened")
        else:
            inside = stack.pop()
            if not inside:
                raise ValueError(f"brackets with nothing between them (piece {number})")
            label, *rest = inside
            if isinstance(label, str) and not rest:
                raise ValueError(f"the label {label!r} stands over nothing (piece {number})")
            stack[-1].append(Tree(label, tuple(rest)) if isinstance(label, str) else Tree("", tuple(inside)))
    if len(stack) > 1:
        raise ValueError(f"brackets never closed: {len(stack) - 1}")
    return stack[0]


def phrases(root: Tree) -> list[tuple[str, str]]:
    """Label and text of every part of a tree, the whole tree last; text is letters and digits only, in lower case.

    Treebanks split "don't" into two words and texts do not: only the letters are the same in both.
    """
    parts = list[tuple[str, str]]()

    def letters_of(part: Tree) -> str:
        inside = (alphanumerics(child) if isinstance(child, str) else letters_of(child) for child in part.children)
        text = "" if part.label in _PUNCTUATION else "".join(inside)
        parts.append((part.label, text))
        return text

    letters_of(root)
    return parts


def alphanumerics(text: str) -> str:
    """The letters and digits of a text, lower-cased."""
    return "".join(filter(str.isalnum, text.lower()))


def binary(root: Tree) -> str:
    """A tree as SNLI and MultiNLI write binary parses: no labels, at most two parts to a bracket.

    The head is joined first with the parts to its right, then with those to its left. Heads are found by the rules of
    Collins (1999), which reproduce 99.5 % of SNLI's binary parses exactly.
    """
    # Some files have no label at the top: its parts are then joined like any others.
    parts = [child if isinstance(child, str) else binary(child) for child in root.children]
    if len(parts) == 1:
        return parts[0]
    head = head_index(root)
    joined = parts[head]
    for part in parts[head + 1 :]:
        joined = f"( {joined} {part} )"
    for part in reversed(parts[:head]):
        joined = f"( {part} {joined} )"
    return joined


def head_index(root: Tree) -> int:
    """The place of the child that is the head of a phrase, by the rules of Collins (1999)."""
    labels = [child if isinstance(child, str) else child.label for child in root.children]
    if root.label in ("NP", "NX"):
        head = _noun_phrase_head(labels)
    else:
        from_left, heads = _rules().get(root.label, (True, ()))
        order = list(range(len(labels)) if from_left else reversed(range(len(labels))))
        head = next((place for name in heads for place in order if labels[place] == name), order[0])
    if head >= 2 and labels[head - 1] in ("CC", "CONJP"):
        # In a coordination the conjunct before the conjunction is the head.
        before = [place for place in range(head - 1) if labels[place] not in _PUNCTUATION]
        return before[-1] if before else head
    return head


def _noun_phrase_head(labels: Sequence[str]) -> int:
    """The last noun, else the first noun phrase, else the last other possible head, else the last part."""
    for group in (_NOUNS, ("NP",), *_NOUN_PHRASE_HEADS):
        matches = [place for place, label in enumerate(labels) if label in group]
        if matches:
            return matches[0 if group == ("NP",) else -1]
    return len(labels) - 1


@cache
def _rules() -> dict[str, tuple[bool, tuple[str, ...]]]:
    rows = packaged_table("head_rules.tsv").iter_rows()
    return {phrase: (start == "left", tuple(heads.split())) for phrase, start, heads in rows}
