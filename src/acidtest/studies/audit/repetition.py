"""Exact duplicates: pairs that a training set repeats, and pairs of a suite that a training set contains.

Sentences and pairs seen before are recognised by keys of eight bytes, so memory grows by about twenty bytes per pair.
"""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import DigestList
from acidtest.core.draws import U64
from acidtest.core.suite import Suite
from acidtest.studies.scoring.pair_batches import (
    Codes,
    Flags,
    PairBatch,
    PremiseSample,
    PremiseSampler,
    visit_pairs,
    with_labels,
)

EXAMPLES_SHOWN = 5

NEW_PAIR, NEW_HYPOTHESIS = 1, 2
"""Bit flags of the first row with a given pair and label, and with a given hypothesis and label."""

_LABEL = np.uint64(7)
"""Mask of the bits of a key that hold its label."""
_BLOCK = 1 << 18


@dataclass(frozen=True)
class Duplicates:
    """Counts of duplicates in a training set; sentences are compared by their words, without case and punctuation.

    ``repeated`` pairs occur more than once (``surplus`` counts the rows beyond the first), ``conflicts`` of them with
    different labels. ``shared_hypotheses`` occur with several premises, in ``shared_pairs`` different pairs;
    ``one_label`` of them always have the same label. ``near`` of the ``near_of`` pairs searched for have a near
    duplicate.
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
    near: int = 0
    near_same_label: int = 0
    near_of: int = 0
    near_examples: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True)
class Leak:
    """How much of a suite a training set contains; every number counts pairs of the suite.

    ``exact`` pairs are in it with both sentences, ignoring case and punctuation; ``same_label`` of them with the
    suite's gold. ``premise`` and ``hypothesis`` count pairs whose premise, or hypothesis, is in any pair of it.
    ``near`` of the ``near_of`` pairs searched for are near duplicates and not exact.
    """

    suite: str
    rows: int
    exact: int
    same_label: int
    premise: int
    hypothesis: int
    near: int = 0
    near_same_label: int = 0
    near_of: int = 0
    examples: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True)
class FirstTime:
    """Whether the key of each row is seen for the first time, and whether it is with the row's label."""

    key: Flags
    label: Flags


class SeenKeys:
    """The set of keys seen so far, each with its labels; eight bytes per key and label."""

    def __init__(self) -> None:
        self._runs = list[U64]()

    def add(self, keys: U64, labels: Codes) -> FirstTime:
        """Add rows and flag the new ones; of equal rows, the first is new."""
        values = with_labels(keys, labels)
        first = FirstTime(np.zeros(len(values), dtype=bool), np.zeros(len(values), dtype=bool))
        first.key[np.unique(values & ~_LABEL, return_index=True)[1]] = True
        first.label[np.unique(values, return_index=True)[1]] = True
        for run in self._runs:
            place = np.minimum(np.searchsorted(run, values & ~_LABEL), len(run) - 1)
            first.key[(run[place] ^ values) <= _LABEL] = False
            first.label[run[np.minimum(np.searchsorted(run, values), len(run) - 1)] == values] = False
        if first.label.any():
            self._runs.append(np.sort(values[first.label]))
            # Sorted runs of similar length are merged, so that there are never many.
            while len(self._runs) > 1 and len(self._runs[-2]) < 2 * len(self._runs[-1]):
                self._merge()
        return first

    def sorted(self) -> U64:
        """All keys, sorted, once for each of their labels; the label is in the last three bits."""
        while len(self._runs) > 1:
            self._merge()
        return self._runs[0] if self._runs else np.zeros(0, dtype=np.uint64)

    def _merge(self) -> None:
        last, longer = self._runs.pop(), self._runs.pop()
        # Anonymous mmap goes back to the operating system; malloc would keep the memory of the arrays merged.
        merged = np.frombuffer(mmap.mmap(-1, 8 * (len(longer) + len(last))), dtype=np.uint64)
        np.concatenate([longer, last], out=merged)
        merged.sort()
        self._runs.append(merged)


class Repetitions:
    """Flags new pairs and sentences, keeps the flags for the second reading of the set, and counts duplicates.

    Duplicates are repeated pairs, and hypotheses that occur with another premise.
    """

    def __init__(self) -> None:
        self._seen = {"pair": SeenKeys(), "premise": SeenKeys(), "hypothesis": SeenKeys()}
        self._marks = bytearray()
        self._again, self._elsewhere = SeenKeys(), DigestList()

    def add(self, batch: PairBatch) -> Mapping[str, FirstTime]:
        """Add a batch; return which of its pairs, premises and hypotheses are new."""
        new = {kind: seen.add(batch.keys[kind], batch.labels) for kind, seen in self._seen.items()}
        marks = NEW_PAIR * new["pair"].label.astype(np.uint8) | NEW_HYPOTHESIS * new["hypothesis"].label.astype(
            np.uint8
        )
        self._marks += marks.tobytes()
        again = ~new["pair"].key
        self._again.add(batch.keys["pair"][again], batch.labels[again])
        self._elsewhere.add(batch.keys["hypothesis"][new["pair"].key & ~new["hypothesis"].key])
        return new

    def marks(self) -> npt.NDArray[np.uint8]:
        """One byte per row: ``NEW_PAIR``, ``NEW_HYPOTHESIS``, both or 0."""
        return np.frombuffer(bytes(self._marks), dtype=np.uint8)

    def duplicates(self) -> Duplicates:
        (pairs, conflicts), (premises, _), (hypotheses, several_labels) = (
            _keys_with_several_labels(self._seen[kind].sorted()) for kind in ("pair", "premise", "hypothesis")
        )
        elsewhere = self._elsewhere.sorted()
        shared = np.unique(elsewhere & ~_LABEL)
        return Duplicates(
            pairs=pairs,
            premises=premises,
            hypotheses=hypotheses,
            repeated=len(np.unique(self._again.sorted() & ~_LABEL)),
            surplus=len(self._marks) - pairs,
            conflicts=len(conflicts),
            shared_hypotheses=len(shared),
            shared_pairs=len(elsewhere) + len(shared),
            one_label=len(np.setdiff1d(shared, several_labels, assume_unique=True)),
        )


class LeakSearch:
    """Holds the keys of a suite, 24 bytes per pair, and marks those found in a training set."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        lists = {kind: DigestList() for kind in ("pair", "premise", "hypothesis")}

        def take(batch: PairBatch) -> None:
            for kind, keys in _keys_with_pair_labels(batch).items():
                lists[kind].add(keys)

        visit_pairs(suite, take)
        self._met = {kind: _MetKeys(digests.sorted()) for kind, digests in lists.items()}
        self._exact = _MetKeys(self._met["pair"].values, ignored=7)

    def add(self, batch: PairBatch) -> None:
        """Mark the keys of the suite that occur in a batch of the training set."""
        for kind, keys in _keys_with_pair_labels(batch).items():
            self._met[kind].mark(keys)
        self._exact.mark(batch.keys["pair"])

    def leak(self) -> Leak:
        """Counts of the exact matches."""
        same_label, premise, hypothesis = (met.count for met in self._met.values())
        return Leak(self._suite.name, len(self._exact.values), self._exact.count, same_label, premise, hypothesis)

    def sample(self, size: int, *, seed: int) -> tuple[tuple[Mapping[str, str], ...], PremiseSample]:
        """Examples of exact matches, and a sample of other pairs to search for near duplicates, of at most ``size``."""
        examples, sampler = list[Mapping[str, str]](), PremiseSampler(seed, size)

        def take(batch: PairBatch) -> None:
            met = self._exact.are_met(batch.keys["pair"])
            shown = batch.frame.filter(pl.Series(met)).head(EXAMPLES_SHOWN - len(examples))
            columns = shown.select("id", "premise", "hypothesis", "label")
            examples.extend({"match": "exact", **row} for row in columns.iter_rows(named=True))
            sampler.add(batch, pl.DataFrame({"id": batch.frame["id"], "met": met}))

        visit_pairs(self._suite, take, columns=("id",))
        drawn = sampler.sample()
        others = ~drawn.frame["met"].to_numpy()
        keys = {kind: values[others] for kind, values in drawn.keys.items()}
        return tuple(examples), PremiseSample(drawn.frame.filter(pl.Series(others)), drawn.labels[others], keys)


class _MetKeys:
    """Sorted keys, possibly repeated, and which of them were found; ``ignored`` bits do not count."""

    def __init__(self, values: U64, *, ignored: int = 0) -> None:
        self.values, self._ignored = values, np.uint64(ignored)
        self._met = np.zeros(len(values), dtype=bool)

    @property
    def count(self) -> int:
        """Number of keys that were found, repeated ones included."""
        first = np.flatnonzero(self._met)
        return int((np.searchsorted(self.values, self.values[first] | self._ignored, side="right") - first).sum())

    def mark(self, keys: U64) -> None:
        """Mark the given keys as found, at the first of equal ones."""
        places, present = self._places(keys)
        self._met[places[present]] = True

    def are_met(self, keys: U64) -> Flags:
        places, present = self._places(keys)
        present[present] = self._met[places[present]]
        return present

    def _places(self, keys: U64) -> tuple[Codes, Flags]:
        """The index of the first of each key, and whether the key is there at all."""
        if not len(self.values):
            return np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=bool)
        places = np.minimum(np.searchsorted(self.values, keys & ~self._ignored), len(self.values) - 1)
        return places, (self.values[places] ^ keys) <= self._ignored


def _keys_with_pair_labels(batch: PairBatch) -> dict[str, U64]:
    return {**batch.keys, "pair": with_labels(batch.keys["pair"], batch.labels)}


def _keys_with_several_labels(values: U64) -> tuple[int, U64]:
    """Number of different keys among sorted keys with labels, and the keys that have several labels."""
    count, several = min(len(values), 1), [np.zeros(0, dtype=np.uint64)]
    for start in range(1, len(values), _BLOCK):
        block = values[start : start + _BLOCK]
        alike = (block ^ values[start - 1 : start - 1 + len(block)]) <= _LABEL
        count += int((~alike).sum())
        several.append(block[alike] & ~_LABEL)
    return count, np.unique(np.concatenate(several))
