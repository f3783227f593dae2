"""Which pairs go through a network together, decided from their lengths alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """The pairs from ``start`` up to ``stop``, the longest of ``longest`` tokens; of one length when ``even``."""

    start: int
    stop: int
    longest: int
    even: bool

    @property
    def padded(self) -> int:
        """How many tokens it takes when every pair is filled up to the longest."""
        return (self.stop - self.start) * self.longest


def padded_batches(lengths: Ints, budget: int, *, mixed: bool = True) -> list[TokenBatch]:
    """Batches of pairs that come shortest first, longest batch first, each of at most ``budget`` tokens with padding.

    A batch that is a quarter full takes no shorter pairs: most batches are then of one length and need no padding.
    Unless they may be ``mixed``, all are.
    """
    batches = []
    stop = len(lengths)
    while stop:
        longest = int(lengths[stop - 1])
        start = max(stop - max(budget // longest, 1), 0)
        same = int(np.searchsorted(lengths[start:stop], longest)) + start
        enough = stop - max(budget // (4 * longest), 1)
        # Where the pairs of the greatest length alone are enough, they are all; else shorter ones fill the quarter.
        start = max(start, min(same, enough) if mixed else same)
        batches.append(TokenBatch(start, stop, longest, even=int(lengths[start]) == longest))
        stop = start
    return batches


def flat_batches(lengths: Ints, budget: int) -> list[TokenBatch]:
    """Batches of at most ``budget`` tokens without padding, or of one pair, of pairs that come shortest first."""
    ends = np.cumsum(lengths)
    batches = []
    start = 0
    while start < len(lengths):
        before = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, before + budget, side="right")), start + 1)
        batches.append(TokenBatch(start, stop, int(lengths[stop - 1]), even=lengths[start] == lengths[stop - 1]))
        start = stop
    return batches


def runs(lengths: Ints) -> Iterator[tuple[int, int]]:
    """The different lengths of pairs that come shortest first, and how many there are of each."""
    values, counts = np.unique(lengths, return_counts=True)
    yield from zip(values.tolist(), counts.tolist(), strict=True)
