"""Digests of text columns, computed a column at a time.

The digest of a string is a polynomial over its UTF-8 bytes (each byte stands for a fixed random
number) modulo 2**64, passed through ``mix_bits``. Prefix sums give the digests of a whole column in a
handful of NumPy calls. It distinguishes rows; it does not protect against forgery.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from functools import cache

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.draws import U64, key, mix_bits

_BASE = 0x5851F42D4C957F2D
_INVERSE = pow(_BASE, -1, 2**64)
_CHUNK = 1 << 18
_HEX = np.frombuffer(b"".join(b"%02x" % byte for byte in range(256)), dtype="S2")


def digests(*columns: pl.Series, salt: str = "") -> U64:
    """One 64-bit digest for each row of these string columns; null differs from the empty string."""
    total = np.full(len(columns[0]), key(salt), dtype=np.uint64)
    for column in columns:
        missing = np.uint64(key("null"))
        values = np.where(column.is_null().to_numpy(), missing, _column_digests(column.fill_null("")))
        total = mix_bits(total * np.uint64(_BASE) + values)
    return total


def hexadecimal(values: U64) -> pl.Series:
    """The numbers as sixteen hexadecimal digits."""
    pairs = _HEX[values.astype(">u8").view(np.uint8)]
    return pl.Series(pairs.view("S16").astype("U16"), dtype=pl.String)


def combine_digests(values: U64) -> str:
    """The sum of the digests of rows as hexadecimal text; the order of the rows does not matter."""
    return f"{int(values.sum(dtype=np.uint64)):016x}"


class DigestList:
    """A growing list of digests, in eight bytes a digest."""

    def __init__(self) -> None:
        self._values = _allocate(1 << 12)
        self._count = 0

    def add(self, values: U64) -> None:
        """Append digests."""
        end = self._count + len(values)
        if end > len(self._values):
            grown = _allocate(max(end, 2 * len(self._values)))
            grown[: self._count] = self._values[: self._count]
            self._values = grown
        self._values[self._count : end] = values
        self._count = end

    def sorted(self) -> U64:
        """All digests in ascending order, sorted in place; nothing can be added afterwards."""
        values = self._values[: self._count]
        values.sort()
        return values


class SeenDigests:
    """Remembers the digests of earlier pieces, in about eight bytes each, to find first occurrences."""

    def __init__(self) -> None:
        self._runs = list[U64]()

    def new(self, values: U64) -> pl.Series:
        """Which digests are neither in an earlier piece nor earlier in this one."""
        fresh = np.zeros(len(values), dtype=bool)
        fresh[np.unique(values, return_index=True)[1]] = True
        for run in self._runs:
            places = np.minimum(np.searchsorted(run, values), len(run) - 1)
            fresh &= run[places] != values
        if fresh.any():
            self._runs.append(np.sort(values[fresh]))
        # Runs of about the same length are merged, so that there are never many.
        while len(self._runs) > 1 and len(self._runs[-2]) < 2 * len(self._runs[-1]):
            self._runs.append(np.sort(np.concatenate([self._runs.pop(), self._runs.pop()])))
        return pl.Series(fresh)

    def sorted(self) -> U64:
        """All distinct digests in ascending order."""
        return np.sort(np.concatenate([np.empty(0, dtype=np.uint64), *self._runs]))


def _allocate(size: int) -> U64:
    # Mapped memory returns to the operating system when an array is outgrown; malloc would keep it.
    return np.frombuffer(mmap.mmap(-1, 8 * size), dtype=np.uint64)


def repeated_values(values: U64) -> U64:
    """The values that occur more than once in a sorted array, without repetitions."""
    return np.unique(values[1:][values[1:] == values[:-1]])


def _column_digests(column: pl.Series) -> U64:
    result = np.empty(len(column), dtype=np.uint64)
    lengths = column.str.len_bytes().to_numpy().astype(np.int64)
    for start, stop in _chunks(lengths):
        text = column.slice(start, stop - start).str.join("").item().encode()
        result[start:stop] = _text_digests(np.frombuffer(text, dtype=np.uint8), lengths[start:stop])
    return result


def _chunks(lengths: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of rows with about a quarter of a megabyte of text, so that memory does not grow with the column."""
    ends = np.cumsum(lengths)
    start = 0
    while start < len(lengths):
        before = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, before + _CHUNK, side="right")), start + 1)
        yield start, stop
        start = stop


def _text_digests(text: npt.NDArray[np.uint8], lengths: npt.NDArray[np.int64]) -> U64:
    size = 1 << max(len(text), _CHUNK).bit_length()
    powers, inverses = _powers(size)
    prefix = np.zeros(len(text) + 1, dtype=np.uint64)
    np.cumsum(_byte_values()[text] * powers[: len(text)], out=prefix[1:])
    ends = np.cumsum(lengths)
    starts = ends - lengths
    return mix_bits((prefix[ends] - prefix[starts]) * inverses[starts] + lengths.astype(np.uint64))


@cache
def _byte_values() -> U64:
    return mix_bits(np.arange(1, 257, dtype=np.uint64) * np.uint64(key("bytes")))


@cache
def _powers(size: int) -> tuple[U64, U64]:
    """The powers of the base and of its inverse; all chunks of ordinary size share ``_powers(1 << 19)``."""
    return _geometric(_BASE, size), _geometric(_INVERSE, size)


def _geometric(base: int, size: int) -> U64:
    powers = np.ones(size, dtype=np.uint64)
    filled = 1
    while filled < size:
        step = np.uint64(pow(base, filled, 2**64))
        powers[filled : 2 * filled] = powers[:filled] * step
        filled *= 2
    return powers
