"""Pairs of a suite that stand in a training set, exactly or nearly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from acidtest.analysis.audits.batches import GOLD, Batch, Flags, batch_of, joined
from acidtest.analysis.audits.neighbours import neighbourhoods
from acidtest.core.draws import U64
from acidtest.core.suite import Suite

_SHOWN = 5


@dataclass(frozen=True)
class Leak:
    """How much of a suite a training set holds; every number counts pairs of the suite.

    ``exact``: both sentences, whatever case and punctuation; ``same_label`` of these with the suite's own gold, too.
    ``near``: one sentence, and the other but for one word (in at least five); without the exact ones. ``premise`` and
    ``hypothesis``: that sentence, in whatever pair.
    """

    suite: str
    rows: int
    exact: int
    same_label: int
    near: int
    premise: int
    hypothesis: int
    examples: tuple[Mapping[str, str], ...] = ()


class LeakSearch:
    """Holds a suite's keys, and marks those it meets in a training set."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        frame = suite.frame.select("id", "premise", "hypothesis", "label").collect()
        batch = batch_of(frame)
        self._labels = batch.labels
        self._keys = {
            "pair": _Keys(batch.pair_keys),
            "premise": _Keys(batch.premise_keys),
            "hypothesis": _Keys(batch.hypothesis_keys),
        }
        self._pair_labels = np.zeros((self._keys["pair"].size, len(GOLD)), dtype=bool)
        self._owners, near = _near_keys(batch)
        self._near = _Keys(near)
        self._ids = frame["id"]

    def add(self, batch: Batch) -> None:
        """Look at some pairs of the training set."""
        pairs = self._keys["pair"]
        hits = pairs.find(batch.pair_keys)
        self._pair_labels[hits.places, batch.labels[hits.rows]] = True
        sides = {"premise": batch.premise_keys, "hypothesis": batch.hypothesis_keys}
        may_be_near = np.zeros(batch.height, dtype=bool)
        for side, keys in sides.items():
            may_be_near[self._keys[side].find(keys).rows] = True
        if may_be_near.any():
            kept = batch_of(batch.frame.filter(pl.Series(may_be_near)))
            self._near.find(_near_keys(kept)[1])

    def leak(self) -> Leak:
        """What was met."""
        rows = {name: keys.found_rows for name, keys in self._keys.items()}
        same = self._pair_labels[self._keys["pair"].place_of_row, self._labels] & rows["pair"]
        near = np.zeros(len(self._labels), dtype=bool)
        near[self._owners[self._near.found_rows]] = True
        near &= ~rows["pair"]
        return Leak(
            self._suite.name,
            len(self._labels),
            int(rows["pair"].sum()),
            int(same.sum()),
            int(near.sum()),
            int(rows["premise"].sum()),
            int(rows["hypothesis"].sum()),
            (*self._examples(rows["pair"], "exact"), *self._examples(near, "near")),
        )

    def _examples(self, flags: Flags, kind: str) -> list[Mapping[str, str]]:
        ids = self._ids.filter(pl.Series(flags)).head(_SHOWN)
        columns = ("id", "premise", "hypothesis", "label")
        rows = self._suite.frame.filter(pl.col("id").is_in(ids.implode())).select(columns).head(_SHOWN).collect()
        return [{"match": kind, **row} for row in rows.iter_rows(named=True)]


@dataclass(frozen=True)
class _Hits:
    rows: np.ndarray[tuple[int, ...], np.dtype[np.intp]]
    """Numbers of what was looked for and is there."""
    places: np.ndarray[tuple[int, ...], np.dtype[np.intp]]
    """Where, among the different keys."""


class _Keys:
    """Different keys in order, which of them were met, and where each row's key is."""

    def __init__(self, keys: U64) -> None:
        self._values, self.place_of_row = np.unique(keys, return_inverse=True)
        self._met = np.zeros(len(self._values), dtype=bool)

    @property
    def size(self) -> int:
        """How many different keys there are."""
        return len(self._values)

    @property
    def found_rows(self) -> Flags:
        """Whether the key of each row was met."""
        found: Flags = self._met[self.place_of_row]
        return found

    def find(self, keys: U64) -> _Hits:
        """Mark the keys that are met, and say where they are."""
        if not self.size:
            none = np.zeros(0, dtype=np.intp)
            return _Hits(none, none)
        places = np.minimum(np.searchsorted(self._values, keys), self.size - 1)
        rows = np.flatnonzero(self._values[places] == keys)
        self._met[places[rows]] = True
        return _Hits(rows, places[rows])


def _near_keys(batch: Batch) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.int64]], U64]:
    """Keys of a sentence with the neighbourhood of the other, both ways round, and the rows they belong to."""
    owners, keys = [], []
    sides = ((batch.premise_keys, batch.hypothesis_words), (batch.hypothesis_keys, batch.premise_words))
    for number, (fixed, varied) in enumerate(sides):
        rows, around = neighbourhoods(varied)
        owners.append(rows)
        keys.append(joined(fixed[rows] + np.uint64(number), around))
    return np.concatenate(owners), np.concatenate(keys)
