"""Which pairs go through a network together, decided from their lengths alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """The pairs from ``start`` up to ``stop``, at most ``longest`` tokens each; ``even`` if all have that length."""

    start: int
    stop: int
    longest: int
    even: bool

    @property
    def padded(self) -> int:
        """The number of tokens once every pair is padded to the longest."""
        return (self.stop - self.start) * self.longest


def padded_batches(lengths: Ints, budget: int, *, mixed: bool = True) -> list[TokenBatch]:
    """Batches of at most ``budget`` tokens with padding, the longest first; ``lengths`` ascend.

    A batch that is a quarter full takes no shorter pairs, so most batches are of one length and need no padding. All
    are of one length unless ``mixed``.
    """
    batches = []
    stop = len(lengths)
    while stop:
        longest = int(lengths[stop - 1])
        start = max(stop - max(budget // longest, 1), 0)
        same = int(np.searchsorted(lengths[start:stop], longest)) + start
        quarter = stop - max(budget // (4 * longest), 1)
        # Pairs of the greatest length, if they fill a quarter; otherwise shorter ones fill it up.
        start = max(start, min(same, quarter) if mixed else same)
        batches.append(TokenBatch(start, stop, longest, even=int(lengths[start]) == longest))
        stop = start
    return batches


def flat_batches(lengths: Ints, budget: int) -> list[TokenBatch]:
    """Batches of at most ``budget`` tokens without padding, or of one pair; ``lengths`` ascend."""
    ends = np.cumsum(lengths)
    batches = []
    start = 0
    while start < len(lengths):
        before = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, before + budget, side="right")), start + 1)
        batches.append(TokenBatch(start, stop, int(lengths[stop - 1]), even=lengths[start] == lengths[stop - 1]))
        start = stop
    return batches


@dataclass(frozen=True, slots=True)
class LengthRun:
    """Consecutive pairs of one length: the slice of the pairs and that of their tokens."""

    pairs: slice
    tokens: slice
    count: int
    length: int


def length_runs(lengths: Ints) -> Iterator[LengthRun]:
    """The runs of pairs of one length; ``lengths`` ascend."""
    pair = token = 0
    for length, count in zip(*(values.tolist() for values in np.unique(lengths, return_counts=True)), strict=True):
        yield LengthRun(slice(pair, pair + count), slice(token, token + count * length), count, length)
        pair, token = pair + count, token + count * length
