"""Trees that follow a change of their text: letters of a text and letters of the leaves of its tree, side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from acidtest.text.packed import Bytes, Mask, Packed, Places, packed, runs

_APART = np.isin(np.arange(256), np.frombuffer(b" \t\r\n()", dtype=np.uint8))
_LETTER = np.array([chr(byte).isalpha() and byte < 128 for byte in range(256)])
# "(" is written -LRB- in a tree: letters that are not in the text. What stands for them here is as long.
_BRACKETS, _WITHOUT_LETTERS = r"-[LR][CRS]B-", "-000-"


@dataclass(frozen=True)
class Leaves:
    """The trees of a column of texts, and where each letter of a text stands in its tree."""

    trees: Packed
    known: Mask
    """Whether the leaves of a tree have the letters of its text, no more, no fewer and none respelt."""
    in_text: Places
    in_tree: Places

    def rewritten(self, changed: Bytes, rows: Places) -> pl.Series:
        """The trees of some rows after letters of the texts were changed; null where the letters were not the same."""
        data = self.trees.data.copy()
        data[self.in_tree] = changed[self.in_text]
        known = pl.Series(self.known[rows])
        return self.trees.texts(rows, data).set(~known, None)


def leaves(trees: pl.Series, texts: Packed) -> Leaves:
    """A column of trees, Penn or binary, beside the column of their texts.

    Treebanks part and quote what a text joins (do n't, ``), but letters alone are the same in both.
    """
    bare = packed(trees.str.replace_all(_BRACKETS, _WITHOUT_LETTERS))
    tree_letters, text_letters = _leaf_letters(bare.data), _LETTER[texts.data]
    in_tree, in_text = np.flatnonzero(tree_letters), np.flatnonzero(text_letters)
    tree_bounds = np.searchsorted(in_tree, np.append(bare.starts, len(bare.data)))
    text_bounds = np.searchsorted(in_text, np.append(texts.starts, len(texts.data)))
    as_many = np.diff(tree_bounds) == np.diff(text_bounds)
    in_tree = in_tree[np.repeat(as_many, np.diff(tree_bounds))]
    in_text = in_text[np.repeat(as_many, np.diff(text_bounds))]
    rows = np.repeat(np.flatnonzero(as_many), np.diff(text_bounds)[as_many])
    known = as_many & trees.is_not_null().to_numpy()
    known[rows[bare.data[in_tree] != texts.data[in_text]]] = False
    return Leaves(packed(trees), known, in_text[known[rows]], in_tree[known[rows]])


def _leaf_letters(data: Bytes) -> Mask:
    """Which bytes are letters of leaves: a label follows its bracket at once, a leaf does not."""
    inside = ~_APART[data]
    starts, ends = runs(inside)
    letters = _LETTER[data]
    letters[inside] &= np.repeat(data[starts - 1] != ord("("), ends - starts)
    return letters
