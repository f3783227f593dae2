"""Pairs that stand more than once: in a training set itself, and in a training set and a suite, word for word.

What comes for the first time is known by keys of sentences and pairs, eight bytes each, so that memory grows by some
twenty bytes a pair.
"""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
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

_LABEL = np.uint64(7)
"""The bits of a key that hold its label."""
_BLOCK = 1 << 18
_EXAMPLE_COLUMNS = ("id", "premise", "hypothesis", "label")


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
        key, label = _first_occurrences(values & ~_LABEL), _first_occurrences(values)
        for run in self._runs:
            place = np.minimum(np.searchsorted(run, values & ~_LABEL), len(run) - 1)
            key &= (run[place] ^ values) > _LABEL
            label &= run[np.minimum(np.searchsorted(run, values), len(run) - 1)] != values
        if label.any():
            self._keep(np.sort(values[label]))
        return FirstTime(key, label)

    def sorted(self) -> U64:
        """All keys in order, those with several labels more than once; labels are in the last three bits."""
        while len(self._runs) > 1:
            self._merge()
        return self._runs[0] if self._runs else np.zeros(0, dtype=np.uint64)

    def _keep(self, run: U64) -> None:
        self._runs.append(run)
        # Runs of about the same length are merged, so that there are never many.
        while len(self._runs) > 1 and len(self._runs[-2]) < 2 * len(self._runs[-1]):
            self._merge()

    def _merge(self) -> None:
        last, longer = self._runs.pop(), self._runs.pop()
        # From the operating system and back to it: malloc would keep what growing arrays leave behind.
        merged = np.frombuffer(mmap.mmap(-1, 8 * (len(longer) + len(last))), dtype=np.uint64)
        np.concatenate([longer, last], out=merged)
        merged.sort()
        self._runs.append(merged)


class Novelty:
    """Says what is new about pairs and their sentences, and marks it for when the set is read again."""

    def __init__(self) -> None:
        self.seen = {"pair": SeenKeys(), "premise": SeenKeys(), "hypothesis": SeenKeys()}
        self._marks = bytearray()

    def add(self, batch: PairBatch) -> Mapping[str, FirstTime]:
        """Take some pairs."""
        keys = {"pair": batch.pair_keys, "premise": batch.premise_keys, "hypothesis": batch.hypothesis_keys}
        firsts = {kind: self.seen[kind].add(values, batch.labels) for kind, values in keys.items()}
        self._marks += (firsts["pair"].label | firsts["hypothesis"].label.astype(np.uint8) << 1).tobytes()
        return firsts

    @property
    def marks(self) -> NoveltyMarks:
        """What was new, one byte a pair."""
        return NoveltyMarks(np.frombuffer(bytes(self._marks), dtype=np.uint8))


@dataclass(frozen=True)
class NoveltyMarks:
    """Which rows were the first pair, or the first hypothesis, with their label, by the number of the row."""

    marks: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]

    def rows(self, start: int, height: int) -> Mapping[str, Flags]:
        """What is known of some rows."""
        marks = self.marks[start : start + height]
        return {"pair": (marks & 1) > 0, "hypothesis": (marks & 2) > 0}


class Repetitions:
    """Takes what is not new: pairs that come again, and hypotheses that come with another premise."""

    def __init__(self) -> None:
        self._rows = 0
        self._again = SeenKeys()
        self._elsewhere = DigestList()

    def add(self, batch: PairBatch, firsts: Mapping[str, FirstTime]) -> None:
        """Take some pairs and what is new about them."""
        self._rows += batch.height
        again = ~firsts["pair"].key
        self._again.add(batch.pair_keys[again], batch.labels[again])
        elsewhere = firsts["pair"].key & ~firsts["hypothesis"].key
        self._elsewhere.add(batch.hypothesis_keys[elsewhere])

    def duplicates(self, seen: Mapping[str, SeenKeys]) -> Duplicates:
        """What is repeated, given the keys of all pairs and sentences."""
        pairs, conflicts = _keys_with_several_labels(seen["pair"].sorted())
        premises, _ = _keys_with_several_labels(seen["premise"].sorted())
        hypotheses, several_labels = _keys_with_several_labels(seen["hypothesis"].sorted())
        elsewhere = self._elsewhere.sorted()
        shared = _without_labels(elsewhere)
        return Duplicates(
            pairs=pairs,
            premises=premises,
            hypotheses=hypotheses,
            repeated=len(_without_labels(self._again.sorted())),
            surplus=self._rows - pairs,
            conflicts=len(conflicts),
            shared_hypotheses=len(shared),
            shared_pairs=len(elsewhere) + len(shared),
            one_label=len(np.setdiff1d(shared, several_labels, assume_unique=True)),
        )


@dataclass(frozen=True)
class SuiteSample:
    """The first pairs of a suite that are in the training set, and a sample of all.

    ``exact`` says which of the sample are in the training set word for word.
    """

    examples: tuple[Mapping[str, str], ...]
    sample: PremiseSample
    exact: Flags


class LeakSearch:
    """Holds a suite's keys, 24 bytes a pair, and marks those it meets in a training set."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        kinds = {kind: DigestList() for kind in ("pair", "premise", "hypothesis")}

        def take(batch: PairBatch) -> None:
            kinds["pair"].add(with_labels(batch.pair_keys, batch.labels))
            kinds["premise"].add(batch.premise_keys)
            kinds["hypothesis"].add(batch.hypothesis_keys)

        visit_pairs(suite, take)
        pairs = kinds["pair"].sorted()
        self._rows = len(pairs)
        self._pairs, self._labelled_pairs = _MetKeys(pairs, ignored=7), _MetKeys(pairs)
        self._premises, self._hypotheses = (_MetKeys(kinds[side].sorted()) for side in ("premise", "hypothesis"))

    def add(self, batch: PairBatch) -> None:
        """Look at some pairs of the training set."""
        keys = with_labels(batch.pair_keys, batch.labels)
        self._pairs.mark(keys)
        self._labelled_pairs.mark(keys)
        self._premises.mark(batch.premise_keys)
        self._hypotheses.mark(batch.hypothesis_keys)

    def leak(self) -> Leak:
        """What was met word for word."""
        return Leak(
            self._suite.name,
            self._rows,
            exact=self._pairs.count,
            same_label=self._labelled_pairs.count,
            premise=self._premises.count,
            hypothesis=self._hypotheses.count,
        )

    def sample(self, size: int, *, seed: int) -> SuiteSample:
        """What is to be shown, and pairs to be looked for nearly: whole premises, so many pairs at most."""
        examples, sampler = list[Mapping[str, str]](), PremiseSampler(seed, size)

        def take(batch: PairBatch) -> None:
            met = self._pairs.are_met(batch.pair_keys)
            shown = batch.frame.filter(pl.Series(met)).head(EXAMPLES_SHOWN - len(examples))
            examples.extend({"match": "exact", **row} for row in shown.select(_EXAMPLE_COLUMNS).iter_rows(named=True))
            sampler.add(batch, pl.DataFrame({"id": batch.frame["id"], "met": met}))

        visit_pairs(self._suite, take, columns=("id",))
        drawn = sampler.sample()
        exact = drawn.frame["met"].to_numpy() if drawn.frame.height else np.zeros(0, dtype=bool)
        return SuiteSample(tuple(examples), drawn, exact)


class _MetKeys:
    """Keys in order, some more than once, and which of them were met, whatever their ``ignored`` bits."""

    def __init__(self, values: U64, *, ignored: int = 0) -> None:
        self._values, self._ignored = values, np.uint64(ignored)
        self._met = np.zeros(len(values), dtype=bool)

    @property
    def count(self) -> int:
        """How many rows have a key that was met."""
        first = np.flatnonzero(self._met)
        return int((np.searchsorted(self._values, self._values[first] | self._ignored, side="right") - first).sum())

    def mark(self, keys: U64) -> None:
        """Mark the keys that are met, where the first of each is."""
        if len(self._values):
            places, present = self._places(keys)
            self._met[places[present]] = True

    def are_met(self, keys: U64) -> Flags:
        """Whether keys were met."""
        if not len(self._values):
            return np.zeros(len(keys), dtype=bool)
        places, present = self._places(keys)
        met: Flags = self._met[places] & present
        return met

    def _places(self, keys: U64) -> tuple[Codes, Flags]:
        places = np.minimum(np.searchsorted(self._values, keys & ~self._ignored), len(self._values) - 1)
        return places, (self._values[places] ^ keys) <= self._ignored


def _keys_with_several_labels(values: U64) -> tuple[int, U64]:
    """How many different keys there are among sorted ones with labels, and, without labels, those with several."""
    count, several = min(len(values), 1), list[U64]()
    for start in range(1, len(values), _BLOCK):
        block = values[start : start + _BLOCK]
        alike = (block ^ values[start - 1 : start - 1 + len(block)]) <= _LABEL
        count += int((~alike).sum())
        several.append(block[alike] & ~_LABEL)
    return count, np.unique(np.concatenate(several)) if several else np.zeros(0, dtype=np.uint64)


def _without_labels(values: U64) -> U64:
    """Different keys in order, without their labels."""
    return np.unique(values & ~_LABEL)


def _first_occurrences(values: U64) -> Flags:
    flags = np.zeros(len(values), dtype=bool)
    flags[np.unique(values, return_index=True)[1]] = True
    return flags
