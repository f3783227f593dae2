"""The words of a column of texts, found in its bytes, and which of their letters can be edited and leave a text whole.

Only the letters a–z can, so that a text keeps its length: an é, a curly quote or a Chinese character stays in place.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import polars as pl

from acidtest.text.packed import Bytes, Mask, Packed, Places, between, counts_before, packed, runs

CASE = np.uint8(0x20)
"""The bit in which a small letter differs from its capital."""

# What a byte is, or belongs to. The first three make up words, the last two join them.
_LETTER, _FOREIGN, _MARK, _OTHER, _STOP, _GLUE, _APOSTROPHE, _HYPHEN = range(8)
_GLUES = "0123456789_@&/\\#"
"""Letters that touch one of these are part of a number, a name or an address."""
_CLITICS = (b"ll", b"re", b"ve")


@dataclass(frozen=True)
class Words:
    """The words of a column of texts that have two letters or more, and which of these may be edited."""

    texts: Packed
    editable: Mask
    starts: Places
    ends: Places
    bounds: Places
    """Which words are a text's: from its bound to the next."""

    def within(self, rows: pl.Series, starts: pl.Series, ends: pl.Series) -> Words:
        """The same words where only some spans (characters of a row, none overlapping) may be edited."""
        steps = np.zeros(len(self.texts.data), dtype=np.int8)
        steps[self.texts.bytes_of(rows, starts)] += 1
        steps[self.texts.bytes_of(rows, ends)] -= 1
        return replace(self, editable=self.editable & np.cumsum(steps, dtype=np.int8).astype(bool))


def words(texts: pl.Series) -> Words:
    """The words of a column of texts.

    What a hyphen or an apostrophe joins is one word. A clitic (n't, 'll), a lone letter, and what touches a digit or is
    part of an abbreviation or address (U.S., e.g., www.who.int) is not edited. A word of one letter is left out.
    """
    column = packed(texts)
    signs = _Signs.beside_letters(column.data)
    editable = _editable(signs)
    joints, rests = _joints(signs)
    heads, tails = _barred(signs)
    inside = signs.letters
    inside[between(joints, rests)] = True
    inside[1:-1] &= inside[:-2] | inside[2:]
    bounds = counts_before(inside[1:] > inside[:-1], column.starts - 1)
    starts, ends = runs(inside)
    # A stretch goes on until its word ends or a joint comes.
    head_ends = np.minimum(_first(ends, heads), _first(np.append(joints, len(inside)), heads))
    tail_starts = np.maximum(_last(starts, tails), _last(np.append(0, rests), tails))
    editable[between(np.append(heads, tail_starts), np.append(head_ends, tails))] = False
    return Words(column, editable, starts, ends, np.append(bounds, len(starts)))


@dataclass(frozen=True)
class _Signs:
    """The signs beside stretches of letters: few, and all that is to be known of the stretches is decided there."""

    data: Bytes
    kinds: Bytes
    letters: Mask
    before: Places
    """The last bytes of signs right before a stretch."""
    after: Places
    """The first bytes of signs right after a stretch."""

    @classmethod
    def beside_letters(cls, data: Bytes) -> _Signs:
        """The signs in the bytes of a column."""
        kinds = _kinds(data)
        letters = kinds <= _MARK
        # One more where a letter follows: a period, which is one of the signs there only, is then above the others.
        signs = np.flatnonzero(kinds[:-1] + letters[1:] > _STOP)
        return cls(data, kinds, letters, signs[letters[signs + 1]], signs[letters[signs - 1]])

    def beyond(self, signs: Places) -> Places:
        """What comes after signs; a curly apostrophe is three bytes."""
        return signs + np.where(self.data[signs] < 0x80, 1, 3)


def _joints(signs: _Signs) -> tuple[Places, Places]:
    """The apostrophes and hyphens between two stretches that are one word, and where the second stretches start."""
    joints = signs.after[signs.kinds[signs.after] >= _APOSTROPHE]
    rests = signs.beyond(joints)
    joins = signs.letters[rests]
    return joints[joins], rests[joins]


def _editable(signs: _Signs) -> Mask:
    """Which bytes are letters that may be edited, unless the stretch they are in is barred."""
    kinds, letters = signs.kinds, signs.letters
    editable: Mask = kinds == _LETTER
    # A letter and the accent that follows it are one character.
    editable[:-1] &= kinds[1:] != _MARK
    # A lone letter is not edited, nor one that is alone before "n't".
    editable[1:-1] &= letters[:-2] | letters[2:]
    negations = _negations(signs)
    editable[negations] = False
    editable[negations[~letters[negations - 2]] - 1] = False
    return editable


def _barred(signs: _Signs) -> tuple[Places, Places]:
    """Clitics and parts of abbreviations, addresses and names with digits: where some start, where others end.

    Lone letters, which are not edited anyway, are not among them.
    """
    kinds, before, after = signs.kinds, signs.before, signs.after
    # "U.S.", "a.m.", "who.int": a period with letters on both sides.
    stops = before[(kinds[before] == _STOP) & signs.letters[before - 1]]
    heads = np.concatenate([before[kinds[before] == _GLUE], stops, _clitic_apostrophes(signs)]) + 1
    tails = np.concatenate([after[kinds[after] == _GLUE], stops])
    return heads[signs.letters[heads + 1]], tails[signs.letters[tails - 2]]


def _clitic_apostrophes(signs: _Signs) -> Places:
    """The apostrophes before clitics of two letters; the others are lone letters, which are not edited anyway."""
    found = signs.before[signs.kinds[signs.before] == _APOSTROPHE]
    first, second = signs.data[found + 1] | CASE, signs.data[found + 2] | CASE
    spelt = np.logical_or.reduce([(first == one) & (second == other) for one, other in _CLITICS])
    clitics: Places = found[spelt & ~signs.letters[found + 3]]
    return clitics


def _negations(signs: _Signs) -> Places:
    """Where the n of "n't" stands."""
    data = signs.data
    found = signs.after[signs.kinds[signs.after] == _APOSTROPHE]
    rests = signs.beyond(found)
    lone_t = ((data[rests] | CASE) == ord("t")) & ~signs.letters[rests + 1]
    negations: Places = found[((data[found - 1] | CASE) == ord("n")) & lone_t] - 1
    return negations


def _first(places: Places, after: Places) -> Places:
    """The first of some ascending places that is not before each of others."""
    found: Places = places[np.searchsorted(places, after)]
    return found


def _last(places: Places, before: Places) -> Places:
    """The last of some ascending places that is before each of others."""
    found: Places = places[np.searchsorted(places, before) - 1]
    return found


def _kinds(data: Bytes) -> Bytes:
    """What each byte is, or belongs to."""
    kinds = np.frombuffer(bytearray(data).translate(_byte_kinds()), dtype=np.uint8)
    beyond = np.flatnonzero(data >= 0x80)
    found = np.frombuffer(bytes(map(_kind, data[beyond].tobytes().decode())), dtype=np.uint8)
    first = data[beyond] >= 0xC0
    kinds[beyond] = found[np.cumsum(first) - 1]
    return kinds


@cache
def _kind(character: str) -> int:
    if character in "'’":
        return _APOSTROPHE
    if character in "-‐‑":
        return _HYPHEN
    if character == ".":
        return _STOP
    category = unicodedata.category(character)
    if character in _GLUES or category[0] == "N":
        return _GLUE
    if category[0] == "L":
        return _LETTER if character < "\x80" else _FOREIGN
    return _MARK if category[0] == "M" or category == "Cf" else _OTHER


@cache
def _byte_kinds() -> bytes:
    return bytes(_kind(chr(byte)) if byte < 0x80 else _OTHER for byte in range(256))
