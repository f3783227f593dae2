"""A column of texts as one array of bytes: its words, the letters that may be edited, and the leaves of its trees.

Only the letters a–z may be edited, so that a text keeps its length: an é, a curly quote or a Chinese character stays in
place. The same letters are found in the leaves of a text's tree, so that the tree can follow the change.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt
import polars as pl

CASE = np.uint8(0x20)
"""The bit in which a small letter differs from its capital."""

# What a byte is, or belongs to. The first three make up words, the last two join them.
_LETTER, _FOREIGN, _MARK, _OTHER, _STOP, _GLUE, _APOSTROPHE, _HYPHEN = range(8)
_GLUES = "0123456789_@&/\\#"
"""Letters that touch one of these are part of a number, a name or an address."""
_CLITICS = (b"ll", b"re", b"ve")

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_APART = np.isin(np.arange(256), np.frombuffer(b" \t\r\n()", dtype=np.uint8))
_IS_LETTER = np.array([chr(byte).isalpha() and byte < 128 for byte in range(256)])


@dataclass(frozen=True)
class WordSpans:
    """The words of a column of texts that have two letters or more, and which of these may be edited."""

    texts: PackedTexts
    editable: Mask
    starts: Places
    ends: Places
    bounds: Places
    """Which words are a text's: from its bound to the next."""

    def within(self, rows: pl.Series, starts: pl.Series, ends: pl.Series) -> WordSpans:
        """The same words where only some spans (characters of a row, none overlapping) may be edited."""
        steps = np.zeros(len(self.texts.data), dtype=np.int8)
        steps[self.texts.bytes_of(rows, starts)] += 1
        steps[self.texts.bytes_of(rows, ends)] -= 1
        return replace(self, editable=self.editable & np.cumsum(steps, dtype=np.int8).astype(bool))


def find_words(texts: pl.Series) -> WordSpans:
    """The words of a column of texts.

    What a hyphen or an apostrophe joins is one word. A clitic (n't, 'll), a lone letter, and what touches a digit or is
    part of an abbreviation or address (U.S., e.g., www.who.int) is not edited. A word of one letter is left out.
    """
    column = pack_texts(texts)
    signs = _Signs(column.data)
    editable = signs.editable()
    joints, rests = signs.joints()
    heads, tails = signs.uneditable_stretches()
    inside = signs.letters
    inside[positions_between(joints, rests)] = True
    inside[1:-1] &= inside[:-2] | inside[2:]
    bounds = counts_before(inside[1:] > inside[:-1], column.starts - 1)
    starts, ends = runs(inside)
    # A stretch goes on until its word ends or a joint comes.
    stops, begins = np.append(joints, len(inside)), np.append(0, rests)
    head_ends = np.minimum(ends[np.searchsorted(ends, heads)], stops[np.searchsorted(stops, heads)])
    tail_starts = np.maximum(starts[np.searchsorted(starts, tails) - 1], begins[np.searchsorted(begins, tails) - 1])
    editable[positions_between(np.append(heads, tail_starts), np.append(head_ends, tails))] = False
    return WordSpans(column, editable, starts, ends, np.append(bounds, len(starts)))


class _Signs:
    """The signs beside stretches of letters: few, and all that is to be known of the stretches is decided there."""

    def __init__(self, data: Bytes) -> None:
        self.data, self.kinds = data, _kinds(data)
        self.letters: Mask = self.kinds <= _MARK
        # One more where a letter follows: a period, which is one of the signs there only, is then above the others.
        signs = np.flatnonzero(self.kinds[:-1] + self.letters[1:] > _STOP)
        self.before = signs[self.letters[signs + 1]]
        """The last bytes of signs right before a stretch."""
        self.after = signs[self.letters[signs - 1]]
        """The first bytes of signs right after a stretch."""

    def _beyond(self, signs: Places) -> Places:
        """What comes after signs; a curly apostrophe is three bytes."""
        return signs + np.where(self.data[signs] < 0x80, 1, 3)

    def joints(self) -> tuple[Places, Places]:
        """The apostrophes and hyphens between two stretches that are one word, and where the second stretches start."""
        joints = self.after[self.kinds[self.after] >= _APOSTROPHE]
        rests = self._beyond(joints)
        joins = self.letters[rests]
        return joints[joins], rests[joins]

    def editable(self) -> Mask:
        """Which bytes are letters that may be edited, unless the stretch they are in is barred."""
        kinds, letters = self.kinds, self.letters
        editable: Mask = kinds == _LETTER
        # A letter and the accent that follows it are one character.
        editable[:-1] &= kinds[1:] != _MARK
        # A lone letter is not edited, nor one that is alone before "n't".
        editable[1:-1] &= letters[:-2] | letters[2:]
        apostrophes = self.after[kinds[self.after] == _APOSTROPHE]
        rests = self._beyond(apostrophes)
        lone_t = ((self.data[rests] | CASE) == ord("t")) & ~letters[rests + 1]
        negations = apostrophes[((self.data[apostrophes - 1] | CASE) == ord("n")) & lone_t] - 1
        editable[negations] = False
        editable[negations[~letters[negations - 2]] - 1] = False
        return editable

    def uneditable_stretches(self) -> tuple[Places, Places]:
        """Clitics and parts of abbreviations, addresses and names with digits: where some start, where others end."""
        kinds, before, after, letters = self.kinds, self.before, self.after, self.letters
        # "U.S.", "a.m.", "who.int": a period with letters on both sides.
        stops = before[(kinds[before] == _STOP) & letters[before - 1]]
        apostrophes = before[kinds[before] == _APOSTROPHE]
        first, second = self.data[apostrophes + 1] | CASE, self.data[apostrophes + 2] | CASE
        spelt = np.logical_or.reduce([(first == one) & (second == other) for one, other in _CLITICS])
        clitics = apostrophes[spelt & ~letters[apostrophes + 3]]
        heads = np.concatenate([before[kinds[before] == _GLUE], stops, clitics]) + 1
        tails = np.concatenate([after[kinds[after] == _GLUE], stops])
        return heads[letters[heads + 1]], tails[letters[tails - 2]]


def _kinds(data: Bytes) -> Bytes:
    """What each byte is, or belongs to."""
    table = bytes(_kind(chr(byte)) if byte < 0x80 else _OTHER for byte in range(256))
    kinds = np.frombuffer(bytearray(data).translate(table), dtype=np.uint8)
    beyond = np.flatnonzero(data >= 0x80)
    kinds_beyond = np.frombuffer(bytes(map(_kind, data[beyond].tobytes().decode())), dtype=np.uint8)
    kinds[beyond] = kinds_beyond[np.cumsum(data[beyond] >= 0xC0) - 1]
    return kinds


@cache
def _kind(character: str) -> int:
    for kind, characters in ((_APOSTROPHE, "'’"), (_HYPHEN, "-‐‑"), (_STOP, "."), (_GLUE, _GLUES)):
        if character in characters:
            return kind
    category = unicodedata.category(character)
    if category[0] == "L":
        return _LETTER if character < "\x80" else _FOREIGN
    return {"N": _GLUE, "M": _MARK}.get(category[0], _MARK if category == "Cf" else _OTHER)


@dataclass(frozen=True)
class PackedTexts:
    """Texts one after the other, line ends around each: every byte has neighbours, and no word runs into the next."""

    data: Bytes
    starts: Places
    ends: Places

    def texts(self, rows: Places, data: Bytes | None = None) -> pl.Series:
        """The texts of some rows; ``data`` is that of this column after a change that kept every length."""
        return slices(self.data if data is None else data, self.starts[rows], self.ends[rows])

    def bytes_of(self, rows: pl.Series, characters: pl.Series) -> Places:
        """Where a character, counted from the start of its text, stands among the bytes."""
        begins = np.flatnonzero((self.data & 0xC0) != 0x80)
        first = np.searchsorted(begins, self.starts)
        places: Places = begins[first[rows.to_numpy()] + characters.to_numpy()]
        return places


def pack_texts(texts: pl.Series) -> PackedTexts:
    """A column of texts as bytes; null is packed as an empty text."""
    texts = texts.fill_null("") if texts.has_nulls() else texts
    lengths = texts.str.len_bytes().to_numpy().astype(np.int64)
    # Code that reads words looks four bytes beyond their end.
    joined = b"\n%b%b" % (texts.str.join("\n").cast(pl.Binary).item(), b"\n" * 4)
    ends = np.cumsum(lengths + 1)
    return PackedTexts(np.frombuffer(joined, dtype=np.uint8), ends - lengths, ends)


def slices(data: Bytes, starts: Places, ends: Places) -> pl.Series:
    """The pieces of a text between pairs of places."""
    whole = pl.lit(pl.Series([data.tobytes()]))
    pieces = pl.DataFrame({"start": starts, "length": ends - starts})
    return pieces.select(whole.bin.slice("start", "length").cast(pl.String).alias("")).to_series()


def runs(mask: Mask) -> tuple[Places, Places]:
    """Where stretches of true values start and end; the first and the last value are false."""
    edges = np.flatnonzero(mask[1:] != mask[:-1])
    edges += 1
    return edges[::2], edges[1::2]


def counts_before(mask: Mask, places: Places) -> Places:
    """How many values are true before each place."""
    # Eight values are one byte: a third of the time of a search among the places of all true values.
    bits = np.packbits(mask, bitorder="little")
    upto = np.cumsum(np.bitwise_count(bits), dtype=np.int64)
    at = places >> 3
    counts: Places = upto[at] - np.bitwise_count(bits[at] >> (places & 7).astype(np.uint8))
    return counts


def positions_between(starts: Places, ends: Places) -> Places:
    """All places in some stretches."""
    lengths = ends - starts
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())


@dataclass(frozen=True)
class AlignedLeaves:
    """The trees of a column of texts, and where each letter of a text stands in its tree."""

    trees: PackedTexts
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


def align_leaves(trees: pl.Series, texts: PackedTexts) -> AlignedLeaves:
    """A column of trees beside that of their texts: treebanks part and quote (do n't, ``), but letters are the same."""
    # "(" is written -LRB- in a tree: letters that are not in the text. What stands for them here is as long.
    bare = pack_texts(trees.str.replace_all(r"-[LR][CRS]B-", "-000-"))
    tree_letters, text_letters = _leaf_letters(bare.data), _IS_LETTER[texts.data]
    in_tree, in_text = np.flatnonzero(tree_letters), np.flatnonzero(text_letters)
    tree_bounds = np.searchsorted(in_tree, np.append(bare.starts, len(bare.data)))
    text_bounds = np.searchsorted(in_text, np.append(texts.starts, len(texts.data)))
    as_many = np.diff(tree_bounds) == np.diff(text_bounds)
    in_tree = in_tree[np.repeat(as_many, np.diff(tree_bounds))]
    in_text = in_text[np.repeat(as_many, np.diff(text_bounds))]
    rows = np.repeat(np.flatnonzero(as_many), np.diff(text_bounds)[as_many])
    known = as_many & trees.is_not_null().to_numpy()
    known[rows[bare.data[in_tree] != texts.data[in_text]]] = False
    return AlignedLeaves(pack_texts(trees), known, in_text[known[rows]], in_tree[known[rows]])


def _leaf_letters(data: Bytes) -> Mask:
    """Which bytes are letters of leaves: a label follows its bracket at once, a leaf does not."""
    inside = ~_APART[data]
    starts, ends = runs(inside)
    letters: Mask = _IS_LETTER[data]
    letters[inside] &= np.repeat(data[starts - 1] != ord("("), ends - starts)
    return letters
