"""Pairs that stand more than once: in a training set itself, and in a training set and a suite, word for word.

What comes for the first time is known by keys of sentences and pairs, eight bytes each, so that memory grows by some
twenty bytes a pair.
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
from acidtest.studies.audit.batches import (
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
"""Marks of the first row with a pair, or with a hypothesis, and a label."""

_LABEL = np.uint64(7)
"""The bits of a key that hold its label."""
_BLOCK = 1 << 18


@dataclass(frozen=True)
class Duplicates:
    """Repetitions. Sentences are the same when their words are, whatever case and punctuation.

    ``repeated`` pairs stand more than once (``surplus`` counts the rows beyond the first), ``conflicts`` of them with
    different labels. ``shared_hypotheses`` stand under several premises, in ``shared_pairs`` different pairs;
    ``one_label`` of them always have the same label. ``near`` pairs are nearly the same as another, of ``near_of`` that
    were looked at.
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
    """How much of a suite a training set holds; every number counts pairs of the suite.

    ``exact``: both sentences, whatever case and punctuation; ``same_label`` of these with the suite's gold, too.
    ``premise`` and ``hypothesis``: that sentence, in whatever pair. ``near`` are nearly the same and not exact, of
    ``near_of`` that were looked at.
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
    """Whether the key of each row is new, and whether it is new with the row's label."""

    key: Flags
    label: Flags


class SeenKeys:
    """Keys with every label they have, eight bytes each, however often they come."""

    def __init__(self) -> None:
        self._runs = list[U64]()

    def add(self, keys: U64, labels: Codes) -> FirstTime:
        """Take some rows and say what is new among them; of several that share it, the first."""
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
            # Runs of about the same length are merged, so that there are never many.
            while len(self._runs) > 1 and len(self._runs[-2]) < 2 * len(self._runs[-1]):
                self._merge()
        return first

    def sorted(self) -> U64:
        """All keys in order, those with several labels more than once; labels are in the last three bits."""
        while len(self._runs) > 1:
            self._merge()
        return self._runs[0] if self._runs else np.zeros(0, dtype=np.uint64)

    def _merge(self) -> None:
        last, longer = self._runs.pop(), self._runs.pop()
        # From the operating system and back to it: malloc would keep what growing arrays leave behind.
        merged = np.frombuffer(mmap.mmap(-1, 8 * (len(longer) + len(last))), dtype=np.uint64)
        np.concatenate([longer, last], out=merged)
        merged.sort()
        self._runs.append(merged)


class Repetitions:
    """Says what is new about pairs and their sentences, marks it for when the set is read again, and counts the rest.

    What is not new are pairs that come again, and hypotheses that come with another premise.
    """

    def __init__(self) -> None:
        self._seen = {"pair": SeenKeys(), "premise": SeenKeys(), "hypothesis": SeenKeys()}
        self._marks = bytearray()
        self._again, self._elsewhere = SeenKeys(), DigestList()

    def add(self, batch: PairBatch) -> Mapping[str, FirstTime]:
        """Take some pairs and say what is new about each pair, premise and hypothesis."""
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
        """What was new in each row, one byte: ``NEW_PAIR``, ``NEW_HYPOTHESIS``, both or 0."""
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
    """Holds a suite's keys, 24 bytes a pair, and marks those it meets in a training set."""

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
        """Look at some pairs of the training set."""
        for kind, keys in _keys_with_pair_labels(batch).items():
            self._met[kind].mark(keys)
        self._exact.mark(batch.keys["pair"])

    def leak(self) -> Leak:
        """What was met word for word."""
        same_label, premise, hypothesis = (met.count for met in self._met.values())
        return Leak(self._suite.name, len(self._exact.values), self._exact.count, same_label, premise, hypothesis)

    def sample(self, size: int, *, seed: int) -> tuple[tuple[Mapping[str, str], ...], PremiseSample]:
        """The first pairs that were met, and others to be looked for nearly: of whole premises, so many at most."""
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
    """Keys in order, some more than once, and which of them were met, whatever their ``ignored`` bits."""

    def __init__(self, values: U64, *, ignored: int = 0) -> None:
        self.values, self._ignored = values, np.uint64(ignored)
        self._met = np.zeros(len(values), dtype=bool)

    @property
    def count(self) -> int:
        """How many rows have a key that was met."""
        first = np.flatnonzero(self._met)
        return int((np.searchsorted(self.values, self.values[first] | self._ignored, side="right") - first).sum())

    def mark(self, keys: U64) -> None:
        """Mark the keys that are met, where the first of each is."""
        places, present = self._places(keys)
        self._met[places[present]] = True

    def are_met(self, keys: U64) -> Flags:
        places, present = self._places(keys)
        present[present] = self._met[places[present]]
        return present

    def _places(self, keys: U64) -> tuple[Codes, Flags]:
        """Where keys would stand, and whether they stand there."""
        if not len(self.values):
            return np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=bool)
        places = np.minimum(np.searchsorted(self.values, keys & ~self._ignored), len(self.values) - 1)
        return places, (self.values[places] ^ keys) <= self._ignored


def _keys_with_pair_labels(batch: PairBatch) -> dict[str, U64]:
    return {**batch.keys, "pair": with_labels(batch.keys["pair"], batch.labels)}


def _keys_with_several_labels(values: U64) -> tuple[int, U64]:
    """How many different keys there are among sorted ones with labels, and, without labels, those with several."""
    count, several = min(len(values), 1), [np.zeros(0, dtype=np.uint64)]
    for start in range(1, len(values), _BLOCK):
        block = values[start : start + _BLOCK]
        alike = (block ^ values[start - 1 : start - 1 + len(block)]) <= _LABEL
        count += int((~alike).sum())
        several.append(block[alike] & ~_LABEL)
    return count, np.unique(np.concatenate(several))
