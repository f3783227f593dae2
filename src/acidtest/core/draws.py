"""Random choices computed from keys, not from a stream, and division of a total in given proportions.

Every choice is a hash of (seed, suite, key, slot), so what is drawn for a row does not depend on
chunking, on order, on the engine that runs it or on the version of any library.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

U64 = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]

_MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ROUNDS = 4


def key(*parts: str | int) -> int:
    """A 64-bit number that identifies these parts, the same on every machine and in every version."""
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in parts)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def mix_bits(values: U64) -> U64:
    """The SplitMix64 finaliser: a bijection on 64-bit numbers that looks random."""
    values = (values ^ (values >> np.uint64(30))) * _MULTIPLIERS[0]
    values = (values ^ (values >> np.uint64(27))) * _MULTIPLIERS[1]
    return values ^ (values >> np.uint64(31))


class Draws:
    """The choices of one suite under one seed."""

    def __init__(self, seed: int, suite: str) -> None:
        self._names = (seed, suite)

    def key(self, *parts: str | int) -> int:
        """A 64-bit key of these parts under this seed and suite."""
        return key(*self._names, *parts)

    def bits(self, rows: U64, *slot: str | int) -> U64:
        """64 random bits for each row key."""
        return mix_bits(mix_bits(rows + np.uint64(self.key(*slot))) + _GOLDEN)

    def choices(self, rows: U64, size: int, *slot: str | int) -> Integers:
        """For each row key a number in ``range(size)``, all equally likely; size below 2**32."""
        high = self.bits(rows, *slot) >> np.uint64(32)
        return ((high * np.uint64(size)) >> np.uint64(32)).astype(np.int64)


def permute_ranks(ranks: U64, sizes: U64, keys: U64) -> U64:
    """Each rank permuted within ``range(size)`` by a key; every rank has a size, below 2**53, and a key.

    Ranks 0, 1, 2 … give every number once: sampling without replacement, with no record of earlier draws.
    """
    last = np.maximum(sizes, np.uint64(1)) - np.uint64(1)
    bits = np.frexp(last.astype(np.float64))[1].astype(np.uint64)
    mask = (np.uint64(1) << bits) - np.uint64(1)
    result = _scramble(ranks, mask, bits, keys)
    # _scramble permutes the next power of two: results beyond the size are permuted again until they are inside.
    outside = np.flatnonzero(result > last)
    while outside.size:
        result[outside] = _scramble(result[outside], mask[outside], bits[outside], keys[outside])
        outside = outside[result[outside] > last[outside]]
    return result


def _scramble(values: U64, mask: U64, bits: U64, keys: U64) -> U64:
    shift = bits // np.uint64(2) + np.uint64(1)
    for round_number in range(_ROUNDS):
        salt = mix_bits(keys + np.uint64(key("round", round_number)))
        values = (values + salt) & mask
        values = values ^ (values >> shift)
        values = (values * (salt | np.uint64(1))) & mask
    return values ^ (values >> shift)


def apportion(total: int, shares: npt.ArrayLike, *, most: npt.ArrayLike | None = None) -> Integers:
    """Divide ``total`` things in proportion to ``shares``, by largest remainder; ties go to the first.

    No part exceeds its ``most``: the excess goes to the other parts in proportion. When all are full, the parts
    add up to less than ``total``.
    """
    share = np.asarray(shares, dtype=np.float64)
    limit = np.full(share.shape, total) if most is None else np.asarray(most, dtype=np.int64)
    parts = np.zeros(share.shape, dtype=np.int64)
    free = (share > 0) & (limit > 0)
    left = min(total, int(limit[share > 0].sum()))
    while left and free.any():
        fair = np.where(free, share, 0) / share[free].sum() * left
        step = np.minimum(_round_to_total(fair, left), limit - parts)
        parts += step
        left -= int(step.sum())
        free &= parts < limit
    return parts


def _round_to_total(fair: npt.NDArray[np.float64], total: int) -> Integers:
    whole = np.floor(fair + 1e-9).astype(np.int64)
    order = np.argsort(-(fair - whole), kind="stable")
    whole[order[: max(total - int(whole.sum()), 0)]] += 1
    return whole
