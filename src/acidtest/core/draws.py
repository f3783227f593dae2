"""Random choices that are keyed, not streamed.

Every choice is a hash of (seed, suite, key, slot), so what is drawn for a row does not depend on
chunking, on order, on the engine that runs it or on the version of any library.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

U64 = npt.NDArray[np.uint64]

_MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ROUNDS = 4


def key(*parts: str | int) -> int:
    """A 64-bit number that stands for these parts, the same everywhere and for ever."""
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in parts)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def mixed(values: U64) -> U64:
    """The SplitMix64 finaliser: a bijection on 64-bit numbers that looks random."""
    values = (values ^ (values >> np.uint64(30))) * _MULTIPLIERS[0]
    values = (values ^ (values >> np.uint64(27))) * _MULTIPLIERS[1]
    return values ^ (values >> np.uint64(31))


class Draws:
    """The choices of one suite under one seed."""

    def __init__(self, seed: int, suite: str) -> None:
        self._names = (seed, suite)

    def key(self, *parts: str | int) -> int:
        """The key of something that is drawn once, such as a template."""
        return key(*self._names, *parts)

    def bits(self, rows: U64, *slot: str | int) -> U64:
        """64 random bits for each row key."""
        return mixed(mixed(rows + np.uint64(self.key(*slot))) + _GOLDEN)

    def choices(self, rows: U64, size: int, *slot: str | int) -> npt.NDArray[np.int64]:
        """For each row key a number in ``range(size)``, all equally likely; size below 2**32."""
        high = self.bits(rows, *slot) >> np.uint64(32)
        return ((high * np.uint64(size)) >> np.uint64(32)).astype(np.int64)


def shuffled(ranks: U64, sizes: U64, keys: U64) -> U64:
    """Where each rank lands in a keyed permutation of ``range(size)``; all three are columns, sizes below 2**53.

    Walking ranks 0, 1, 2 … visits every number once: sampling without replacement that needs no
    memory of what was drawn, and knows exactly when everything has been.
    """
    last = np.maximum(sizes, np.uint64(1)) - np.uint64(1)
    bits = np.frexp(last.astype(np.float64))[1].astype(np.uint64)
    mask = (np.uint64(1) << bits) - np.uint64(1)
    result = _scrambled(ranks, mask, bits, keys)
    # A permutation of the next power of two: numbers past the end are sent on until they come back.
    outside = np.flatnonzero(result > last)
    while outside.size:
        result[outside] = _scrambled(result[outside], mask[outside], bits[outside], keys[outside])
        outside = outside[result[outside] > last[outside]]
    return result


def _scrambled(values: U64, mask: U64, bits: U64, keys: U64) -> U64:
    shift = bits // np.uint64(2) + np.uint64(1)
    for round_number in range(_ROUNDS):
        salt = mixed(keys + np.uint64(key("round", round_number)))
        values = (values + salt) & mask
        values = values ^ (values >> shift)
        values = (values * (salt | np.uint64(1))) & mask
    return values ^ (values >> shift)
