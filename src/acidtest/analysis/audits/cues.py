"""Words, bigrams and pairs of words that are tied to a label: smoothed PMI, exact tests, corrected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import betainc

from acidtest.analysis.audits.batches import GOLD, Codes, Floats
from acidtest.analysis.audits.shares import counted_share
from acidtest.analysis.audits.vocabulary import ItemCounts
from acidtest.analysis.significance import benjamini_hochberg, holm
from acidtest.core.estimate import Estimate

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
    counts, totals = found.counts[kept][:, labels], found.totals[labels]
    ps = holm(_tails(counts, totals, effect).ravel()).reshape(counts.shape)
    pmi = smoothed_pmi(counts, totals)
    tied, best = {}, {}
    for place, code in enumerate(labels):
        rows = np.flatnonzero(ps[:, place] < ALPHA)
        tied[GOLD[code]] = len(rows)
        names = found.items[kept[rows]]
        order = pl.DataFrame({"pmi": pmi[rows, place], "name": names}).with_row_index("at")
        shown = order.sort("pmi", "name", descending=[True, False])["at"].head(top).to_numpy()
        best[GOLD[code]] = tuple(
            Cue(
                names[int(at)],
                GOLD[code],
                int(counts[rows[at]].sum()),
                int(counts[rows[at], place]),
                float(pmi[rows[at], place]),
                float(ps[rows[at], place]),
            )
            for at in shown
        )
    return Cues(len(kept), tied, best, float(ps.min()))


def polarity(found: ItemCounts, *, effect: float = 1.0) -> Polarity:
    """How pairs of words lean to labels."""
    kept, labels = _tested(found)
    if not len(kept) or len(labels) < 2:
        return Polarity(0, {}, {})
    counts = found.counts[kept][:, labels]
    most = counts == counts.max(axis=1, keepdims=True)
    single = most.sum(axis=1) == 1
    beyond = benjamini_hochberg(_tails(counts, found.totals[labels], effect).ravel()).reshape(counts.shape) < ALPHA
    told = {GOLD[code]: int((single & most[:, place]).sum()) for place, code in enumerate(labels)}
    leaning = {GOLD[code]: int(beyond[:, place].sum()) for place, code in enumerate(labels)}
    return Polarity(len(kept), told | {"tie": int((~single).sum())}, leaning)


def smoothed_pmi(counts: Codes, totals: Codes) -> Floats:
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


def _tails(counts: Codes, totals: Codes, effect: float) -> Floats:
    """The chance of at least so many, each sentence with an item having a label with that label's share."""
    worth = counts / effect
    others = worth.sum(axis=1, keepdims=True) - worth
    # The binomial tail is an incomplete beta function, which takes parts of a sentence, too.
    tails = betainc(np.maximum(worth, 1e-9), others + 1, (totals / totals.sum())[None, :])
    return np.asarray(np.where(counts > 0, tails, 1.0), dtype=np.float64)
