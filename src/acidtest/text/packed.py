"""A column of texts as one run of bytes, so that NumPy can look at all of them at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_AFTER = 4
"""Line ends after the last text: words are looked at so far beyond their end."""


@dataclass(frozen=True)
class Packed:
    """Texts one after the other, a line end before the first, between two, and some after the last.

    So a byte's neighbours always exist, and no word runs on into the next text.
    """

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


def packed(texts: pl.Series) -> Packed:
    """A column of texts as bytes; null is packed as an empty text."""
    texts = texts.fill_null("") if texts.has_nulls() else texts
    lengths = texts.str.len_bytes().to_numpy().astype(np.int64)
    joined = b"\n%b%b" % (texts.str.join("\n").cast(pl.Binary).item(), b"\n" * _AFTER)
    ends = np.cumsum(lengths + 1)
    return Packed(np.frombuffer(joined, dtype=np.uint8), ends - lengths, ends)


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
    """How many values are true before each place.

    Eight values are one byte here: a third of the time of a search among the places of all true values.
    """
    bits = np.packbits(mask, bitorder="little")
    upto = np.cumsum(np.bitwise_count(bits), dtype=np.int64)
    at = places >> 3
    counts: Places = upto[at] - np.bitwise_count(bits[at] >> (places & 7).astype(np.uint8))
    return counts


def between(starts: Places, ends: Places) -> Places:
    """All places in some stretches."""
    lengths = ends - starts
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())
