"""Words, bigrams and pairs of words that are tied to a label: smoothed PMI, exact tests, corrected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import betainc

from acidtest.core.estimate import Estimate
from acidtest.studies.audit.batches import GOLD, Codes, Floats
from acidtest.studies.audit.labels import counted_share
from acidtest.studies.audit.words import ItemCounts

LEAST = 10
"""What stands in fewer sentences is not tested: it could hardly pass."""
SMOOTHING = 100
"""Added to every count before PMI is taken, as Gururangan et al. (2018) do."""
TOP = 10
ALPHA = 0.05
CORRECTION = "holm"


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

    json_properties = ("share",)

    @property
    def share(self) -> float:
        """Share of the sentences with the item that have the label."""
        return self.with_label / self.count

    @property
    def estimate(self) -> Estimate:
        """The same with its interval."""
        return counted_share(self.with_label, self.count)


@dataclass(frozen=True)
class CueResult:
    """What was tested of one kind, and what stands out; ``p`` is the smallest of all corrected ones.

    ``tied`` counts the items tied to each label, ``top`` has those of highest PMI; nothing is in it that is not tied.
    """

    tested: int
    tied: Mapping[str, int]
    top: Mapping[str, tuple[Cue, ...]]
    p: float = field(default=float("nan"), metadata={"json": None})
    least: int = LEAST
    smoothing: int = SMOOTHING
    correction: str = CORRECTION


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


def find_cues(items: ItemCounts, *, top: int = TOP, effect: float = 1.0) -> CueResult:
    """What is tied to a label, of the things that were counted.

    The test is the exact binomial tail: that so many of an item's sentences, or more, have the label. Holm's correction
    is over all items and labels of the kind. ``effect`` is how many sentences are worth one independent one.
    """
    kept, labels = _tested(items)
    if not len(kept) or len(labels) < 2:
        return CueResult(len(kept) if len(labels) > 1 else 0, {}, {})
    counts, totals = items.counts[np.ix_(kept, labels)], items.totals[labels]
    tails = _binomial_tails(counts, totals, effect)
    ps = _corrected(tails, _holm)
    tied, best = {}, {}
    for column, code in enumerate(labels):
        rows = np.flatnonzero(ps[:, column] < ALPHA)
        tied[GOLD[code]] = len(rows)
        columns = {
            "item": items.items[kept[rows]],
            "count": counts[rows].sum(axis=1),
            "with_label": counts[rows, column],
            "pmi": smoothed_pmi(counts[rows], totals)[:, column],
            "p": ps[rows, column],
        }
        shown = pl.DataFrame(columns).sort("pmi", "item", descending=[True, False]).head(top)
        best[GOLD[code]] = tuple(Cue(label=GOLD[code], **row) for row in shown.iter_rows(named=True))
    return CueResult(len(kept), tied, best, min(float(tails.min()) * tails.size, 1.0))


def measure_polarity(items: ItemCounts, *, effect: float = 1.0) -> Polarity:
    """How pairs of words lean to labels."""
    kept, labels = _tested(items)
    if not len(kept) or len(labels) < 2:
        return Polarity(0, {}, {})
    counts = items.counts[np.ix_(kept, labels)]
    most = counts == counts.max(axis=1, keepdims=True)
    single = most.sum(axis=1) == 1
    beyond = _corrected(_binomial_tails(counts, items.totals[labels], effect), _benjamini_hochberg) < ALPHA
    polarity = {GOLD[code]: int((single & most[:, column]).sum()) for column, code in enumerate(labels)}
    leaning = {GOLD[code]: int(beyond[:, column].sum()) for column, code in enumerate(labels)}
    return Polarity(len(kept), polarity | {"tie": int((~single).sum())}, leaning)


def smoothed_pmi(counts: npt.NDArray[np.integer], totals: Codes) -> Floats:
    """Pointwise mutual information of items (rows) and labels (columns) in bits, from counts with ``SMOOTHING`` added.

    Every cell gets the same, as does the cell of the sentences without the item; shares are of the smoothed table.
    """
    present = counts + SMOOTHING
    absent = totals - counts + SMOOTHING
    everything = (present + absent).sum(axis=1, keepdims=True)
    expected = present.sum(axis=1, keepdims=True) * (present + absent) / everything
    return np.asarray(np.log2(present / expected), dtype=np.float64)


def _tested(items: ItemCounts) -> tuple[Codes, Codes]:
    """The items that stand in enough sentences, and the labels that there are."""
    return np.flatnonzero(items.counts.sum(axis=1) >= LEAST), np.flatnonzero(items.totals)


def _corrected(tails: Floats, correction: Callable[[Floats, int], Floats]) -> Floats:
    """p-values corrected for all of them: exactly where one may be below ``ALPHA``, elsewhere 1.

    There may be a million, of which the corrections of ``significance`` would make lists; few are below.
    """
    flat = tails.ravel()
    low = np.flatnonzero(flat < ALPHA)
    order = low[np.argsort(flat[low], kind="stable")]
    corrected = np.ones(flat.size)
    corrected[order] = np.minimum(correction(flat[order], flat.size), 1.0)
    return corrected.reshape(tails.shape)


def _holm(ordered: Floats, tests: int) -> Floats:
    """Holm's correction of the smallest of so many p-values, in order."""
    return np.asarray(np.maximum.accumulate(ordered * (tests - np.arange(ordered.size))), dtype=np.float64)


def _benjamini_hochberg(ordered: Floats, tests: int) -> Floats:
    """Benjamini and Hochberg's; exact as far as whether it is below ``ALPHA``."""
    scaled = ordered * (tests / np.arange(1, ordered.size + 1))
    return np.asarray(np.minimum.accumulate(scaled[::-1])[::-1], dtype=np.float64)


def _binomial_tails(counts: npt.NDArray[np.integer], totals: Codes, effect: float) -> Floats:
    """The chance of at least so many, each sentence with an item having a label with that label's share."""
    tails = np.ones(counts.shape)
    shares, sentences = totals / totals.sum(), (counts / effect).sum(axis=1)
    for column, share in enumerate(shares):
        rows = np.flatnonzero(counts[:, column])
        worth = counts[rows, column] / effect
        # The binomial tail is an incomplete beta function, which takes parts of a sentence, too.
        tails[rows, column] = betainc(worth, sentences[rows] - worth + 1, share)
    return tails
