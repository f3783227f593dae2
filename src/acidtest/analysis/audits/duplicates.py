"""Pairs that stand in a training set more than once, exactly or nearly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from acidtest.analysis.audits.batches import Batch, joined, labelled
from acidtest.analysis.audits.neighbours import neighbourhoods
from acidtest.analysis.audits.sampling import Sample
from acidtest.core.digests import Gathered, Seen
from acidtest.core.draws import U64
from acidtest.sources.heuristics import words

_ROWS = 1 << 12


@dataclass(frozen=True)
class Duplicates:
    """Repetitions. Sentences are the same when their words are, whatever case and punctuation.

    ``repeated`` pairs stand more than once (``surplus`` counts the rows beyond the first), ``conflicts`` of them with
    different labels. ``shared_hypotheses`` stand under several premises, in ``shared_pairs`` different pairs;
    ``one_label`` of them always have the same label. ``near`` pairs, of ``near_of`` looked at, have another pair with
    the same premise and a hypothesis one word apart; ``near_same_label`` one of their own label.
    """

    pairs: int
    premises: int
    hypotheses: int
    repeated: int
    surplus: int
    conflicts: int
    shared_hypotheses: int
    shared_pairs: int
    one_label: int
    near: int
    near_same_label: int
    near_of: int


class Repetitions:
    """Takes the keys of all pairs, some eight bytes each."""

    def __init__(self) -> None:
        self._pairs, self._hypotheses = Gathered(), Gathered()
        self._seen, self._premises = Seen(), Seen()
        self._premise_count = 0

    def add(self, batch: Batch) -> None:
        """Take some pairs."""
        keys = batch.pair_keys
        self._pairs.add(labelled(keys, batch.labels))
        new = self._seen.new(keys).to_numpy()
        self._hypotheses.add(labelled(batch.hypothesis_keys, batch.labels)[new])
        self._premise_count += int(self._premises.new(batch.premise_keys).sum())

    def duplicates(self, sample: Sample) -> Duplicates:
        """What was found; near ones are looked for in a sample of whole premises."""
        pairs, hypotheses = _Runs.of(self._pairs.sorted()), _Runs.of(self._hypotheses.sorted())
        several = hypotheses.sizes > 1
        near, same, of = _near(sample)
        return Duplicates(
            pairs=len(pairs.sizes),
            premises=self._premise_count,
            hypotheses=len(hypotheses.sizes),
            repeated=int((pairs.sizes > 1).sum()),
            surplus=int((pairs.sizes - 1).sum()),
            conflicts=int((pairs.kinds > 1).sum()),
            shared_hypotheses=int(several.sum()),
            shared_pairs=int(hypotheses.sizes[several].sum()),
            one_label=int((several & (hypotheses.kinds == 1)).sum()),
            near=near,
            near_same_label=same,
            near_of=of,
        )


@dataclass(frozen=True)
class _Runs:
    """How many rows each key has, and how many different labels."""

    sizes: np.ndarray[tuple[int], np.dtype[np.int64]]
    kinds: np.ndarray[tuple[int], np.dtype[np.int64]]

    @classmethod
    def of(cls, values: U64) -> _Runs:
        """From sorted keys with labels in their last bits."""
        if not len(values):
            return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        keys = values >> np.uint64(3)
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        new = np.concatenate([[True], values[1:] != values[:-1]]).astype(np.int64)
        sizes = np.diff(np.append(starts, len(values)))
        return cls(sizes, np.add.reduceat(new, starts))


def _near(sample: Sample) -> tuple[int, int, int]:
    """Different pairs of a sample that have a near one, those with one of their own label, and all of them.

    Premises are looked at some at a time: what is near shares its premise.
    """
    parts = sample.premise_keys % np.uint64(max(1, len(sample.labels) // _ROWS))
    found = np.zeros(3, dtype=np.int64)
    for part in np.unique(parts):
        rows = np.flatnonzero(parts == part)
        split = words(sample.frame["hypothesis"][rows].fill_null(""))
        keys, labels = sample.premise_keys[rows], sample.labels[rows]
        pairs = pl.DataFrame({"premise": keys, "text": split.list.join(" "), "label": labels, "words": split})
        found += _near_pairs(pairs.unique(["premise", "text"], keep="first", maintain_order=True))
    near, same, pairs_seen = found.tolist()
    return near, same, pairs_seen


def _near_pairs(pairs: pl.DataFrame) -> tuple[int, int, int]:
    rows, keys = neighbourhoods(pairs["words"])
    held = pl.DataFrame(
        {"row": rows, "key": joined(pairs["premise"].to_numpy()[rows], keys), "label": pairs["label"].to_numpy()[rows]}
    ).unique()
    near = held.filter(pl.len().over("key") > 1)
    same = near.filter(pl.len().over("key", "label") > 1)
    return near["row"].n_unique(), same["row"].n_unique(), pairs.height
