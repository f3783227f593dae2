"""Sentences that are one word apart, told by digests.

The digest of a sentence is a polynomial over its words; leaving one word out changes it in a way prefix sums give for
all words at once. Two sentences that share such a digest differ by one word inserted, left out, replaced or moved.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from acidtest.analysis.audits.batches import Codes
from acidtest.core.digests import digests
from acidtest.core.draws import U64, mixed

LEAST_WORDS = 5
"""Shorter sentences have no neighbours: one word would be too much of them."""

_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 2**64)


def neighbourhoods(split: pl.Series) -> tuple[Codes, U64]:
    """For each sentence, given its words, digests of itself and of itself without each one word: rows and digests."""
    rows = np.arange(len(split), dtype=np.int64)
    lengths = split.list.len().to_numpy().astype(np.int64)
    values = digests(split.explode(empty_as_null=False, keep_nulls=False).cast(pl.String))
    starts = np.cumsum(lengths) - lengths
    places = np.arange(len(values)) - np.repeat(starts, lengths)
    terms = values * _powers(int(lengths.max(initial=0)))[places]
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms, dtype=np.uint64)])
    whole = sums[starts + lengths] - sums[starts]
    long = lengths >= LEAST_WORDS
    owners = np.repeat(rows, lengths)
    kept = np.flatnonzero(np.repeat(long, lengths))
    owner = owners[kept]
    before = sums[kept] - sums[starts[owner]]
    after = (sums[starts[owner] + lengths[owner]] - sums[kept + 1]) * np.uint64(_INVERSE)
    # The length keeps a sentence apart from a longer one that begins with it.
    own = mixed(whole + lengths.astype(np.uint64) * np.uint64(_BASE))
    less = mixed(before + after + (lengths[owner] - 1).astype(np.uint64) * np.uint64(_BASE))
    return np.concatenate([rows[long], owner]), np.concatenate([own[long], less])


def _powers(size: int) -> U64:
    powers = np.full(max(size, 1), _BASE, dtype=np.uint64)
    powers[0] = 1
    return np.multiply.accumulate(powers)
