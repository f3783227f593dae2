"""Ranges of numbers that lie end to end: how lists of unequal length are kept in one array."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.integer]


@dataclass(frozen=True)
class Ranges:
    """A range of numbers for each of many things: that of one ends where that of the next begins."""

    starts: NDArray[np.int64]
    """The start of each, and the end of the last."""

    @classmethod
    def of_sorted(cls, keys: Numbers, things: int) -> Ranges:
        """The ranges of equal keys in a sorted array of keys below ``things``."""
        return cls.of_lengths(np.bincount(keys, minlength=things))

    @classmethod
    def of_lengths(cls, lengths: Numbers) -> Ranges:
        """Ranges of these lengths from 0 on."""
        starts = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=starts[1:])
        return cls(starts)

    def __getitem__(self, thing: int) -> range:
        return range(int(self.starts[thing]), int(self.starts[thing + 1]))

    def lengths(self, things: Numbers) -> NDArray[np.int64]:
        """How long the range of each thing is."""
        return self.starts[things + 1] - self.starts[things]

    def joined(self, things: Numbers) -> NDArray[np.int64]:
        """The numbers in the ranges of some things, one range after the other."""
        lengths = self.lengths(things)
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if len(ends) else 0
        return np.repeat(self.starts[things] - (ends - lengths), lengths) + np.arange(total)
