"""How many words two sentences share in the same order, for many pairs at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from acidtest.text.taxonomy_tags_tokens import PairTokens
from acidtest.text.tokens import Numbers

_BITS = 63
"""So many words of a hypothesis are looked at; what follows counts as not shared."""

_ONE = np.uint64(1)


def likeness(pairs: PairTokens) -> NDArray[np.float64]:
    """Twice the words shared in order over the words of both sentences, from 0 to 1; 0 where neither has any."""
    premise, hypothesis = pairs.counted(pairs.is_word)
    found: NDArray[np.float64] = 2 * shared_in_order(pairs) / np.maximum(premise + hypothesis, 1)
    return found


def shared_in_order(pairs: PairTokens) -> Numbers:
    """The length of the longest common subsequence of words, in any form, of each premise and hypothesis.

    Bit-parallel after Hyyrö (2004), Bit-parallel LCS-length computation revisited: a bit for each word of a hypothesis,
    and a step for each word of the premise, taken for all pairs together.
    """
    masks, row, step = _matches(pairs)
    state = np.full(pairs.rows, ~np.uint64(0))
    order = np.argsort(step, kind="stable")
    for places in np.split(order, np.cumsum(np.bincount(step))[:-1]) if len(step) else ():
        here = state[row[places]]
        met = here & masks[places]
        state[row[places]] = (here + met) | (here - met)
    size = np.minimum(pairs.counted(pairs.is_word)[1], _BITS).astype(np.uint64)
    return np.bitwise_count(~state & ((_ONE << size) - _ONE)).astype(np.int64)


def _matches(pairs: PairTokens) -> tuple[NDArray[np.uint64], Numbers, Numbers]:
    """For each word of a premise that its hypothesis has: where there, as bits; of which pair; the how-manieth."""
    there = np.flatnonzero(pairs.is_word & pairs.in_hypothesis)
    place = _places(pairs.row[there])
    early = place < _BITS
    bits = np.zeros(pairs.entries, np.uint64)
    np.bitwise_or.at(bits, pairs.entry[there[early]], _ONE << place[early].astype(np.uint64))
    masks = np.where(pairs.is_word & ~pairs.in_hypothesis, bits[pairs.entry], np.uint64(0))
    row = pairs.row[masks > 0]
    return masks[masks > 0], row, _places(row)


def _places(row: Numbers) -> Numbers:
    """The how-manieth of its row each is, in a column where the rows come one after another."""
    new = np.flatnonzero(np.diff(row, prepend=-1))
    return np.arange(len(row)) - np.repeat(new, np.diff(np.append(new, len(row))))
