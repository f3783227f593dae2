"""Words, bigrams and pairs of words that are tied to a label: smoothed PMI, exact tests, corrected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import betainc

from acidtest.core.estimate import Estimate
from acidtest.studies.audits.batches import GOLD, Codes, Floats
from acidtest.studies.audits.shares import counted_share
from acidtest.studies.audits.vocabulary import ItemCounts

LEAST = 10
"""What stands in fewer sentences is not tested: it could hardly pass."""
SMOOTHING = 100
"""Added to every count before PMI is taken, as Gururangan et al. (2018) do."""
TOP = 10
ALPHA = 0.05


@dataclass(frozen=True)
class Cue:
    """Something that goes with a label: in ``count`` sentences, of which ``with_label`` have it.

    ``pmi`` is in bits, ``p`` the chance of as many or more if labels were drawn for the sentences, corrected.
    """

    item: str
    label: str
    count: int
    with_label: int
    pmi: float
    p: float

    @property
    def share(self) -> float:
        """Share of the sentences with the item that have the label."""
        return self.with_label / self.count

    @property
    def estimate(self) -> Estimate:
        """The same with its interval."""
        return counted_share(self.with_label, self.count)


@dataclass(frozen=True)
class Cues:
    """What was tested of one kind, and what stands out; ``p`` is the smallest of all corrected ones.

    ``tied`` counts the items tied to each label, ``top`` has those of highest PMI; nothing is in it that is not tied.
    """

    tested: int
    tied: Mapping[str, int]
    top: Mapping[str, tuple[Cue, ...]]
    p: float


@dataclass(frozen=True)
class Polarity:
    """The label that most sentences with a pair of words have (Sanchez et al. 2018), over all pairs tested.

    ``polarity`` counts pairs by that label, ``tie`` those with several; ``leaning`` those that lean beyond chance, at
    a false discovery rate of 5 % (Benjamini and Hochberg). ``least``: pairs in fewer sentences are left out.
    """

    pairs: int
    polarity: Mapping[str, int]
    leaning: Mapping[str, int]
    least: int = LEAST


def cues(found: ItemCounts, *, top: int = TOP, effect: float = 1.0) -> Cues:
    """What is tied to a label, of the things that were counted.

    The test is the exact binomial tail: that so many of an item's sentences, or more, have the label. Holm's correction
    is over all items and labels of the kind. ``effect`` is how many sentences are worth one independent one.
    """
    kept, labels = _tested(found)
    if not len(kept) or len(labels) < 2:
        return Cues(len(kept) if len(labels) > 1 else 0, {}, {}, float("nan"))
    counts, totals = found.counts[np.ix_(kept, labels)], found.totals[labels]
    tails = _tails(counts, totals, effect)
    ps = _corrected(tails, _holm)
    tied, best = {}, {}
    for place, code in enumerate(labels):
        rows = np.flatnonzero(ps[:, place] < ALPHA)
        tied[GOLD[code]] = len(rows)
        columns = {
            "item": found.items[kept[rows]],
            "count": counts[rows].sum(axis=1),
            "with_label": counts[rows, place],
            "pmi": smoothed_pmi(counts[rows], totals)[:, place],
            "p": ps[rows, place],
        }
        shown = pl.DataFrame(columns).sort("pmi", "item", descending=[True, False]).head(top)
        best[GOLD[code]] = tuple(Cue(label=GOLD[code], **row) for row in shown.iter_rows(named=True))
    return Cues(len(kept), tied, best, min(float(tails.min()) * tails.size, 1.0))


def polarity(found: ItemCounts, *, effect: float = 1.0) -> Polarity:
    """How pairs of words lean to labels."""
    kept, labels = _tested(found)
    if not len(kept) or len(labels) < 2:
        return Polarity(0, {}, {})
    counts = found.counts[np.ix_(kept, labels)]
    most = counts == counts.max(axis=1, keepdims=True)
    single = most.sum(axis=1) == 1
    beyond = _corrected(_tails(counts, found.totals[labels], effect), _benjamini_hochberg) < ALPHA
    told = {GOLD[code]: int((single & most[:, place]).sum()) for place, code in enumerate(labels)}
    leaning = {GOLD[code]: int(beyond[:, place].sum()) for place, code in enumerate(labels)}
    return Polarity(len(kept), told | {"tie": int((~single).sum())}, leaning)


def smoothed_pmi(counts: npt.NDArray[np.integer], totals: Codes) -> Floats:
    """Pointwise mutual information of items (rows) and labels (columns) in bits, from counts with ``SMOOTHING`` added.

    Every cell gets the same, as does the cell of the sentences without the item; shares are of the smoothed table.
    """
    there = counts + SMOOTHING
    without = totals - counts + SMOOTHING
    everything = (there + without).sum(axis=1, keepdims=True)
    expected = there.sum(axis=1, keepdims=True) * (there + without) / everything
    return np.asarray(np.log2(there / expected), dtype=np.float64)


def _tested(found: ItemCounts) -> tuple[Codes, Codes]:
    """The items that stand in enough sentences, and the labels that there are."""
    return np.flatnonzero(found.counts.sum(axis=1) >= LEAST), np.flatnonzero(found.totals)


def _corrected(tails: Floats, correction: Callable[[Floats, int], Floats]) -> Floats:
    """p-values corrected for all of them: exactly where one may be below ``ALPHA``, elsewhere 1.

    There may be a million, of which the corrections of ``significance`` would make lists; few are below.
    """
    flat = tails.ravel()
    low = np.flatnonzero(flat < ALPHA)
    order = low[np.argsort(flat[low], kind="stable")]
    found = np.ones(flat.size)
    found[order] = np.minimum(correction(flat[order], flat.size), 1.0)
    return found.reshape(tails.shape)


def _holm(ordered: Floats, tests: int) -> Floats:
    """Holm's correction of the smallest of so many p-values, in order."""
    return np.asarray(np.maximum.accumulate(ordered * (tests - np.arange(ordered.size))), dtype=np.float64)


def _benjamini_hochberg(ordered: Floats, tests: int) -> Floats:
    """Benjamini and Hochberg's; exact as far as whether it is below ``ALPHA``."""
    scaled = ordered * (tests / np.arange(1, ordered.size + 1))
    return np.asarray(np.minimum.accumulate(scaled[::-1])[::-1], dtype=np.float64)


def _tails(counts: npt.NDArray[np.integer], totals: Codes, effect: float) -> Floats:
    """The chance of at least so many, each sentence with an item having a label with that label's share."""
    tails = np.ones(counts.shape)
    shares, every = totals / totals.sum(), (counts / effect).sum(axis=1)
    for place, share in enumerate(shares):
        held = np.flatnonzero(counts[:, place])
        worth = counts[held, place] / effect
        # The binomial tail is an incomplete beta function, which takes parts of a sentence, too.
        tails[held, place] = betainc(worth, every[held] - worth + 1, share)
    return tails
