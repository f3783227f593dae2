"""Renders filled templates as text and parses, with one column operation per open position.

The fixed text of a variant (brackets, articles, full stops) is assembled once. A variant then is a row of *pieces*: an
open position with the fixed text around it, written out in advance for every word that may fill it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.english.trees import Tree, binary, trees

if TYPE_CHECKING:
    from acidtest.english.templates import Tokens, Word

Form = Literal["text", "parse", "binary_parse"]
Index = npt.NDArray[np.int64]

HOLE = "*"
"""Marks, in the parse of a word, the place of what follows it in its phrase: ``(IN across) (PP (IN from) *)``."""

# Marks in a piece: the place of the word, and the place where brackets close that an earlier word left open.
_WORD, _LATE = "\0", "\1"
_MOST_LEFT_OPEN = 4


@dataclass(frozen=True)
class Leaf:
    """A position of a tree: its name, the part of speech the template requires (or none), and its brackets.

    ``opens`` has the labels of the brackets that open before it, ``closes`` counts those that close after it; the same
    for binary brackets. ``within`` is the label of the phrase around it, ``follows`` that of the next part of this
    phrase and ``followed_until`` the last leaf of that part; "" and -1 if there is none.
    """

    name: str
    required_tag: str
    opens: tuple[str, ...]
    closes: int
    binary_opens: int
    binary_closes: int
    within: str = ""
    follows: str = ""
    followed_until: int = -1


Side = Sequence[Leaf]
_NOWHERE = Leaf("", "", (), 0, 0, 0)


@dataclass(frozen=True)
class _Piece:
    """Text around the open position ``place``; ``source`` is the leaf whose brackets close in it, or -1."""

    text: str
    place: int
    source: int = -1


@dataclass(frozen=True)
class _Spelling:
    """A word rendered in one form, and how many brackets it leaves open for what follows."""

    text: str
    left_open: int = 0


class Rendering:
    """Renders the premises, or the hypotheses, of all variants in one form."""

    def __init__(
        self,
        sides: Sequence[Side],
        columns: Sequence[Sequence[int]],
        *,
        tokens: Tokens,
        form: Form,
        blank: int,
        spaced: bool = False,
    ) -> None:
        """``columns``: for each variant, the column of a token row for each leaf; column ``blank`` is always empty."""
        self._tokens, self._form, self._spaced = tokens, form, spaced
        self._pieces = [""]
        self._begins: dict[tuple[str, int, tuple[str, str, str], int], int] = {}
        rows = [self._row(side) for side in sides]
        # A word may leave more brackets open in one phrase than in another.
        self._phrases = dict[tuple[str, str], int]()
        shape = (len(rows), max(map(len, rows)))
        # Variants with fewer pieces than others are padded with the blank token and piece 0, which is empty.
        self._place, self._source = np.full(shape, blank), np.full(shape, blank)
        self._offset, self._stride = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        self._phrase = np.zeros(shape, dtype=np.int64)
        for number, (side, row) in enumerate(zip(sides, rows, strict=True)):
            for column, piece in enumerate(row):
                at = number, column
                leaf = side[piece.place] if piece.place >= 0 else _NOWHERE
                self._place[at] = columns[number][piece.place] if piece.place >= 0 else blank
                self._offset[at] = self._begin(piece, leaf) - tokens.start(leaf.name)
                if piece.source >= 0:
                    source = side[piece.source]
                    self._phrase[at] = self._phrases.setdefault((source.within, source.follows), len(self._phrases))
                    self._source[at], self._stride[at] = columns[number][piece.source], len(tokens.choices(leaf.name))
        self._left_open = np.array(
            [
                [_spelling(word, form, "", within, follows).left_open for word in tokens.words]
                for within, follows in self._phrases
            ],
            dtype=np.int64,
        )

    def of(self, variant: Index, rows: Index) -> pl.Series:
        """The rendered sentences of rows of token numbers."""
        pieces, every = pl.Series(self._pieces), np.arange(len(rows))
        columns = []
        for column in range(self._place.shape[1]):
            number = rows[every, self._place[variant, column]] + self._offset[variant, column]
            stride = self._stride[variant, column]
            if stride.any():
                tokens = rows[every, self._source[variant, column]]
                number += stride * self._left_open[self._phrase[variant, column], tokens]
            columns.append(pieces.gather(number).alias(str(column)))
        return pl.DataFrame(columns).select(pl.concat_str(pl.all())).to_series()

    def _row(self, side: Side) -> list[_Piece]:
        """The pieces of a variant: fixed words join the open position after them, the last ones the position before."""
        pieces, text, source = list[_Piece](), "", -1
        sources = self._sources(side)
        for place, leaf in enumerate(side):
            before, after = self._around(leaf, place)
            if place in sources:
                if source >= 0:
                    raise ValueError(f"two words left brackets open before {leaf.name!r}")
                source, after = sources[place], _LATE + after
            words = self._tokens.choices(leaf.name)
            if len(words) == 1:
                text += before + self._spelt(words[0], leaf, is_first=place == 0) + after
            else:
                pieces.append(_Piece(text + before + _WORD + after, place, source))
                text, source = "", -1
        if not pieces:
            return [_Piece(text, -1, source)]
        last = pieces.pop()
        return [*pieces, _Piece(last.text + text, last.place, max(last.source, source))]

    def _sources(self, side: Side) -> Mapping[int, int]:
        """For brackets that a word leaves open: the leaf after which they close → the leaf of that word."""
        if self._form == "text":
            return {}
        sources = dict[int, int]()
        for place, leaf in enumerate(side):
            words = self._tokens.choices(leaf.name)
            holding = [word.text for word in words if HOLE in word.parse and not leaf.required_tag]
            if holding and leaf.followed_until < 0:
                raise AcidtestError(
                    f"the parse of {holding[0]!r} has a {HOLE}, but in some templates nothing follows it in its phrase"
                )
            phrases = (word for word in words if "(" in word.parse)
            spelt = (_spelling(word, self._form, leaf.required_tag, leaf.within, leaf.follows) for word in phrases)
            if any(spelling.left_open for spelling in spelt):
                sources[leaf.followed_until] = place
        return sources

    def _around(self, leaf: Leaf, place: int) -> tuple[str, str]:
        space = " " if place else ""
        if self._form == "parse":
            return space + "".join(f"({label} " for label in leaf.opens), ")" * leaf.closes
        if self._form == "binary_parse":
            return space + "( " * leaf.binary_opens, " )" * leaf.binary_closes
        return space if self._spaced or leaf.name not in (".", ",") else "", ""

    def _spelt(self, word: Word, leaf: Leaf, *, is_first: bool) -> str:
        return _spelling(word, self._form, leaf.required_tag, leaf.within, leaf.follows, is_first).text

    def _begin(self, piece: _Piece, leaf: Leaf) -> int:
        """The index of a piece's first text; it has one text per word and possible number of brackets left open."""
        most = _MOST_LEFT_OPEN if piece.source >= 0 else 0
        # A slot needs separate pieces in other phrases, and at the beginning, where the word is capitalised.
        where = (leaf.required_tag, leaf.within, leaf.follows)
        key = (piece.text, self._tokens.start(leaf.name), where, most if piece.place else -1)
        if key not in self._begins:
            self._begins[key] = len(self._pieces)
            closing = " )" if self._form == "binary_parse" else ")"
            spelt = [self._spelt(word, leaf, is_first=piece.place == 0) for word in self._tokens.choices(leaf.name)]
            for late in range(most + 1):
                text = piece.text.replace(_LATE, closing * late)
                self._pieces += [text.replace(_WORD, word) for word in spelt]
        return self._begins[key]


def leaves(root: Tree, fixed: frozenset[int] = frozenset()) -> list[Leaf]:
    """The leaves of a tree whose words all have a part of speech; at ``fixed`` positions the template requires it."""
    positions = list[Leaf]()
    words = re.finditer(r"((?:\( )*)[^\s()]+((?: \))*)", binary(root))
    brackets = [(word[1].count("("), word[2].count(")")) for word in words]

    def visit(part: Tree, opens: tuple[str, ...], closes: int, place_in: tuple[str, str, int]) -> None:
        word = part.children[0]
        if isinstance(word, str):
            place = len(positions)
            tag = part.label if place in fixed else ""
            within, follows, until = place_in
            positions.append(Leaf(word, tag, opens, closes, *brackets[place], within, follows, until))
            return
        children = [child for child in part.children if isinstance(child, Tree)]
        ends = np.cumsum([len(child.leaves) for child in children]) + len(positions) - 1
        for number, child in enumerate(children):
            is_last = number == len(children) - 1
            visit(
                child,
                (*opens, part.label) if number == 0 else (),
                closes + 1 if is_last else 0,
                (part.label, "" if is_last else children[number + 1].label, -1 if is_last else int(ends[number + 1])),
            )

    visit(root, (), 0, ("", "", -1))
    return positions


@cache
def _spelling(
    word: Word, form: Form, tag: str = "", within: str = "", follows: str = "", is_first: bool = False
) -> _Spelling:
    """A word in one form; ``tag`` overrides its own part of speech.

    Several words become parts of the phrase ``within``: their brackets depend on the label that ``follows``.
    """
    if form == "text":
        return _Spelling(_capital(word.text) if is_first else word.text)
    parts = _parts(word, tag, follows)
    if is_first:
        parts = _capital_first(parts)
    if form == "parse":
        whole, outer = " ".join(map(str, parts)).replace(f"({follows} {HOLE})", HOLE), 0
    else:
        # The outermost binary brackets of a parse with a hole are those of the phrase around the word.
        whole, outer = binary(Tree(within, tuple(parts))), 1
    if HOLE not in whole:
        return _Spelling(whole)
    before, after = whole.split(HOLE)
    left_open = after.count(")") - outer
    if left_open > _MOST_LEFT_OPEN:
        raise AcidtestError(f"the parse of {word.text!r} holds what follows it too deep: {word.parse}")
    return _Spelling(before.removeprefix("( " * outer).rstrip(), left_open)


def _parts(word: Word, tag: str, follows: str) -> list[Tree]:
    """The trees of a word; if there are several, with a hole for what follows."""
    if "(" not in word.parse:
        return [Tree(tag or word.parse, (word.text,))]
    parts = [part if isinstance(part, Tree) else Tree(follows, (part,)) for part in trees(word.parse)]
    if tag:
        # In an expression the first word is inflected: looked after.
        parts[0] = Tree(tag, parts[0].children)
    return [*parts, Tree(follows, (HOLE,))] if follows and len(parts) > 1 and HOLE not in word.parse else parts


def _capital_first(parts: Sequence[Tree]) -> list[Tree]:
    first, *rest = parts
    inner, *others = first.children
    new = _capital(inner) if isinstance(inner, str) else _capital_first([inner])[0]
    return [Tree(first.label, (new, *others)), *rest]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
