"""Binary parses as columns of nodes, for networks that join words along them.

A parse is written as SNLI and MultiNLI write it, ``( ( The cat ) ( sat . ) )``, and read as what a parser does: it
shifts a word, or reduces the two parts before to one. A pair without a parse is refused, or read from its text as a
tree that branches to the right.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.text.tokens import numbered, placed
from acidtest.zoo.pairs import PairError

Unparsed = Literal["refuse", "right"]
"""What becomes of pairs without a parse."""

ADVICE = "parse it, or train with --unparsed right to read such pairs as trees that branch to the right"

PHRASE = -1
"""The word of a node that joins two others."""

# Treebanks write these so that brackets are brackets; texts do not.
_WRITTEN = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}", "``": '"', "''": '"'}

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Trees:
    """Trees end to end; the nodes of each as a parser makes them, parts before what they make up, the top last."""

    words: Ints
    """The number of each node's word among ``forms``, or ``PHRASE``."""
    rows: Ints
    """The tree of each node, in ascending order; every tree has nodes."""
    forms: list[str]
    """The different words, in lower case."""
    unparsed: int
    """How many trees were made up for want of a parse."""

    @cached_property
    def starts(self) -> Ints:
        """Where each tree begins, and at last where all end."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(self.rows))])

    @cached_property
    def left(self) -> Ints:
        """The node that is the left part of each phrase; the right part is the node before."""
        # The left part of a phrase stood last at the same height of the stack: nothing below it was touched since.
        height = np.cumsum(np.where(self.words == PHRASE, -1, 1)) - self.rows
        order = np.lexsort((height, self.rows))
        before = np.full(len(order), PHRASE)
        before[order[1:]] = order[:-1]
        return np.where(self.words == PHRASE, before, PHRASE)

    @cached_property
    def heights(self) -> Ints:
        """How many phrases stand above one another at most, down to a word."""
        heights = np.where(self.words == PHRASE, PHRASE, 0)
        waiting = np.flatnonzero(heights == PHRASE)
        while len(waiting):
            parts = np.minimum(heights[self.left[waiting]], heights[waiting - 1])
            ready = waiting[parts != PHRASE]
            heights[ready] = np.maximum(heights[self.left[ready]], heights[ready - 1]) + 1
            waiting = waiting[parts == PHRASE]
        return heights

    @cached_property
    def above(self) -> Ints:
        """The height of the phrase that each node is a part of; 0 for the top."""
        above = np.zeros(len(self.words), dtype=np.int64)
        phrases = np.flatnonzero(self.words == PHRASE)
        above[phrases - 1] = above[self.left[phrases]] = self.heights[phrases]
        return above

    @cached_property
    def tallest(self) -> Ints:
        """The height of each tree."""
        return self.heights[self.starts[1:] - 1]

    def __len__(self) -> int:
        return len(self.starts) - 1


def trees(parses: pl.Series, texts: pl.Series, *, unparsed: Unparsed = "refuse") -> Trees:
    """The trees of a column of parses; those of ``texts`` that have no parse are refused, or branch to the right.

    An empty text is a tree of one word that nobody knows. Raises ``PairError`` for the first row that has no tree.
    """
    bare = parses.fill_null("").str.strip_chars() == ""
    lacking = bare & (texts.fill_null("").str.strip_chars() != "")
    if unparsed == "refuse":
        for row in lacking.arg_true().head(1):
            raise PairError(row, f"{texts[row]!r} has no {parses.name}; {ADVICE}")
    rows, words, forms = _parsed(parses.set(bare, None) if bare.any() else parses)
    without = bare.arg_true().to_numpy().astype(np.int64)
    made_rows, made_words, made_forms = _right_branching(texts.gather(without))
    rows = np.concatenate([rows, without[made_rows]])
    words = np.concatenate([words, np.where(made_words == PHRASE, PHRASE, made_words + len(forms))])
    order = np.argsort(rows, kind="stable")
    known = pl.concat([forms, made_forms]).str.to_lowercase().replace(_WRITTEN).to_list()
    return Trees(words[order], rows[order], known, int(lacking.sum()))


def joined(first: Trees, second: Trees) -> Trees:
    """The trees of two columns, one column after the other."""
    shifted = np.where(second.words == PHRASE, PHRASE, second.words + len(first.forms))
    return Trees(
        np.concatenate([first.words, shifted]),
        np.concatenate([first.rows, second.rows + len(first)]),
        first.forms + second.forms,
        first.unparsed + second.unparsed,
    )


def _parsed(parses: pl.Series) -> tuple[Ints, Ints, pl.Series]:
    """The row and the word of each node, and the different words; null has no nodes."""
    pieces = parses.str.extract_all(r"[()]|[^\s()]+")
    rows = np.repeat(np.arange(len(parses)), pieces.list.len().fill_null(0).to_numpy())
    forms, words = numbered(pieces.explode(empty_as_null=False, keep_nulls=False))
    opens, closes = (forms == "(").to_numpy()[words], (forms == ")").to_numpy()[words]
    _check(parses, rows, opens, closes)
    words[closes] = PHRASE
    return rows[~opens], words[~opens], forms


def _check(parses: pl.Series, rows: Ints, opens: npt.NDArray[np.bool_], closes: npt.NDArray[np.bool_]) -> None:
    """Raise for the first parse that is no tree with two parts to a bracket."""
    steps = 1 - opens.astype(np.int64) - 2 * closes
    depth, parts = _within(opens.astype(np.int64) - closes, rows), _within(steps, rows)
    last = np.flatnonzero(np.diff(rows, append=-1))
    _refuse(parses, rows[depth < 0], "a bracket closes that never opened")
    _refuse(parses, rows[last[depth[last] > 0]], "a bracket never closes")
    brackets = np.flatnonzero(opens | closes)
    # Brackets of one depth open and close in turn.
    order = brackets[np.lexsort((depth[brackets] + closes[brackets], rows[brackets]))]
    opening, closing = order[::2], order[1::2]
    _refuse(parses, rows[closing[parts[closing] != parts[opening] + 1]], "a bracket holds more or fewer than two parts")
    _refuse(parses, rows[last[parts[last] != 1]], "it is more than one tree, or none")


def _within(steps: Ints, rows: Ints) -> Ints:
    """The sum of the steps of a row up to each."""
    total = np.cumsum(steps)
    first = np.flatnonzero(np.diff(rows, prepend=-1))
    return total - np.repeat((total - steps)[first], np.diff(np.append(first, len(rows))))


def _refuse(parses: pl.Series, rows: Ints, problem: str) -> None:
    for row in rows[:1]:
        raise PairError(int(row), f"{parses.name} {parses[int(row)]!r} is no binary tree: {problem}")


def _right_branching(texts: pl.Series) -> tuple[Ints, Ints, pl.Series]:
    """The row and the word of each node of trees over the tokens of texts, and the different words."""
    found = placed(texts)
    counts = np.bincount(found.text, minlength=len(texts))
    empty = np.flatnonzero(counts == 0)
    leaves = np.concatenate([found.text, empty])
    words = np.concatenate([found.word, np.full(len(empty), len(found.words))])
    phrases = np.repeat(np.arange(len(texts)), np.maximum(counts - 1, 0))
    rows = np.concatenate([leaves, phrases])
    words = np.concatenate([words, np.full(len(phrases), PHRASE)])
    order = np.argsort(rows, kind="stable")
    return rows[order], words[order], pl.concat([found.words.cast(pl.String), pl.Series([""], dtype=pl.String)])
