"""A column of texts as one array of bytes: its words, the letters that may be edited, and the leaves of its trees.

Only the letters a–z may be edited, so that a text keeps its length in bytes: an é, a curly quote or a Chinese character
stays as it is. Letters are aligned with the leaves of a text's tree, so that the tree can be edited in the same way.
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

# Kinds of the character that a byte belongs to. The first three make up words, the last two join them.
_LETTER, _FOREIGN, _MARK, _OTHER, _STOP, _GLUE, _APOSTROPHE, _HYPHEN = range(8)
_GLUES = "0123456789_@&/\\#"
"""Letters next to one of these are part of a number, a name or an address."""
_CLITICS = (b"ll", b"re", b"ve")

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_APART = np.isin(np.arange(256), np.frombuffer(b" \t\r\n()", dtype=np.uint8))
_IS_LETTER = np.array([chr(byte).isalpha() and byte < 128 for byte in range(256)])


@dataclass(frozen=True)
class WordSpans:
    """The words of two or more letters in a column of texts, and which of their letters may be edited."""

    texts: PackedTexts
    editable: Mask
    starts: Places
    ends: Places
    bounds: Places
    """The words of text ``i`` have the numbers ``bounds[i]`` to ``bounds[i + 1]``, end excluded."""

    def within(self, rows: pl.Series, starts: pl.Series, ends: pl.Series) -> WordSpans:
        """The same words, but only some spans may be edited (character offsets in a row, not overlapping)."""
        steps = np.zeros(len(self.texts.data), dtype=np.int8)
        steps[self.texts.bytes_of(rows, starts)] += 1
        steps[self.texts.bytes_of(rows, ends)] -= 1
        return replace(self, editable=self.editable & np.cumsum(steps, dtype=np.int8).astype(bool))


def find_words(texts: pl.Series) -> WordSpans:
    """The words of a column of texts.

    Parts joined by a hyphen or apostrophe are one word. Clitics (n't, 'll), lone letters, letters next to a digit and
    parts of abbreviations or addresses (U.S., e.g., www.who.int) are not editable. Words of one letter are left out.
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
    # A stretch ends where its word ends or at the next joint.
    stops, begins = np.append(joints, len(inside)), np.append(0, rests)
    head_ends = np.minimum(ends[np.searchsorted(ends, heads)], stops[np.searchsorted(stops, heads)])
    tail_starts = np.maximum(starts[np.searchsorted(starts, tails) - 1], begins[np.searchsorted(begins, tails) - 1])
    editable[positions_between(np.append(heads, tail_starts), np.append(head_ends, tails))] = False
    return WordSpans(column, editable, starts, ends, np.append(bounds, len(starts)))


class _Signs:
    """The signs (digits, periods, apostrophes, hyphens …) beside stretches of letters: they decide what is editable."""

    def __init__(self, data: Bytes) -> None:
        self.data, self.kinds = data, _kinds(data)
        self.letters: Mask = self.kinds <= _MARK
        # Adding 1 where a letter follows lifts a period above _STOP there only: elsewhere it is not a sign.
        signs = np.flatnonzero(self.kinds[:-1] + self.letters[1:] > _STOP)
        self.before = signs[self.letters[signs + 1]]
        """The last bytes of signs right before a stretch."""
        self.after = signs[self.letters[signs - 1]]
        """The first bytes of signs right after a stretch."""

    def _beyond(self, signs: Places) -> Places:
        """The first byte after each sign; a curly apostrophe has three bytes."""
        return signs + np.where(self.data[signs] < 0x80, 1, 3)

    def joints(self) -> tuple[Places, Places]:
        """The apostrophes and hyphens that join two stretches into one word, and the starts of the second stretches."""
        joints = self.after[self.kinds[self.after] >= _APOSTROPHE]
        rests = self._beyond(joints)
        joins = self.letters[rests]
        return joints[joins], rests[joins]

    def editable(self) -> Mask:
        """Which bytes are letters that may be edited, before ``uneditable_stretches`` are excluded."""
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
        """Clitics, parts of abbreviations and addresses, names with digits: the starts of some, the ends of others."""
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
    """The kind of the character that each byte belongs to."""
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
    """Texts concatenated with line ends around each, so that no word runs into the next text."""

    data: Bytes
    starts: Places
    ends: Places

    def texts(self, rows: Places, data: Bytes | None = None) -> pl.Series:
        """The texts of some rows, from ``data`` if given: this column after edits that kept every length."""
        return slices(self.data if data is None else data, self.starts[rows], self.ends[rows])

    def bytes_of(self, rows: pl.Series, characters: pl.Series) -> Places:
        """The byte position of each character, given by its row and its offset in that text."""
        begins = np.flatnonzero((self.data & 0xC0) != 0x80)
        first = np.searchsorted(begins, self.starts)
        places: Places = begins[first[rows.to_numpy()] + characters.to_numpy()]
        return places


def pack_texts(texts: pl.Series) -> PackedTexts:
    """A column of texts as bytes; null is packed as an empty text."""
    texts = texts.fill_null("") if texts.has_nulls() else texts
    lengths = texts.str.len_bytes().to_numpy().astype(np.int64)
    # ``_Signs`` looks up to four bytes beyond the end of a word.
    joined = b"\n%b%b" % (texts.str.join("\n").cast(pl.Binary).item(), b"\n" * 4)
    ends = np.cumsum(lengths + 1)
    return PackedTexts(np.frombuffer(joined, dtype=np.uint8), ends - lengths, ends)


def slices(data: Bytes, starts: Places, ends: Places) -> pl.Series:
    """The pieces of ``data`` from each start to its end, as strings."""
    whole = pl.lit(pl.Series([data.tobytes()]))
    pieces = pl.DataFrame({"start": starts, "length": ends - starts})
    return pieces.select(whole.bin.slice("start", "length").cast(pl.String).alias("")).to_series()


def runs(mask: Mask) -> tuple[Places, Places]:
    """Starts and ends of the stretches of true values; the first and last value must be false."""
    edges = np.flatnonzero(mask[1:] != mask[:-1])
    edges += 1
    return edges[::2], edges[1::2]


def counts_before(mask: Mask, places: Places) -> Places:
    """How many values are true before each place."""
    # With eight values packed in a byte this takes a third of the time of a binary search among the true values.
    bits = np.packbits(mask, bitorder="little")
    upto = np.cumsum(np.bitwise_count(bits), dtype=np.int64)
    at = places >> 3
    counts: Places = upto[at] - np.bitwise_count(bits[at] >> (places & 7).astype(np.uint8))
    return counts


def positions_between(starts: Places, ends: Places) -> Places:
    """All positions from each start to its end (excluded), one stretch after another."""
    lengths = ends - starts
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())


@dataclass(frozen=True)
class AlignedLeaves:
    """The trees of a column of texts, and where each letter of a text stands in its tree."""

    trees: PackedTexts
    known: Mask
    """Whether the leaves of each tree have exactly the letters of its text."""
    in_text: Places
    in_tree: Places

    def rewritten(self, changed: Bytes, rows: Places) -> pl.Series:
        """The trees of some rows with the changed letters of their texts; null where tree and text did not match."""
        data = self.trees.data.copy()
        data[self.in_tree] = changed[self.in_text]
        known = pl.Series(self.known[rows])
        return self.trees.texts(rows, data).set(~known, None)


def align_leaves(trees: pl.Series, texts: PackedTexts) -> AlignedLeaves:
    """Align trees with their texts by letters, which are the same even where treebanks split or quote (do n't, ``)."""
    # Trees write "(" as -LRB-, letters that the text does not have: replace them by as many digits.
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
    """Which bytes are letters of leaves; a label, unlike a leaf, directly follows an opening bracket."""
    inside = ~_APART[data]
    starts, ends = runs(inside)
    letters: Mask = _IS_LETTER[data]
    letters[inside] &= np.repeat(data[starts - 1] != ord("("), ends - starts)
    return letters
