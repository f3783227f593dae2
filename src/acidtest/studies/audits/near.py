"""Pairs that are nearly the same: both sentences share two thirds of their words with those of another pair.

Two thirds of the words that either sentence has (the Jaccard index): so much is left when one word in five is replaced.
Candidates share a key of ``word_sets`` and are then compared word by word, so what is called near is near. Some are
missed: of those right at the threshold in both sentences about two in a hundred, where one is the same hardly any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from acidtest.core.draws import U64
from acidtest.studies.audits.batches import GOLD, Batch, Codes, Flags, batch_of
from acidtest.studies.audits.firsts import Firsts
from acidtest.studies.audits.sampling import Sample
from acidtest.studies.audits.word_sets import BANDS, Described, Small, WordSets

SHARED = (2, 3)
"""The share of the words of either sentence that both have, at least: two thirds."""
SHOWN = 5
_ROWS = 1 << 12
_MOST = 32
"""How many pairs that share a key are compared with one, at most, which bounds the time."""
_CANDIDATES = 1 << 16
"""How many candidates are compared at once, which bounds the memory."""


@dataclass(frozen=True)
class Near:
    """How many pairs have a near one, how many one of their own label, and of how many this was asked.

    An example has the columns of a pair, and those of the near one as ``train_premise`` and so on; those of the same
    label come first.
    """

    near: int
    same_label: int
    of: int
    examples: tuple[Mapping[str, str], ...] = ()


class NearSearch:
    """Holds some pairs, about 200 bytes each and their text, and looks for near ones in a training set.

    A pair is not near itself: what has the same words in both sentences does not count.
    """

    def __init__(self, sample: Sample, *, left_out: Flags | None = None) -> None:
        self._frame = sample.frame
        kept = np.arange(len(sample.labels)) if left_out is None else np.flatnonzero(~left_out)
        rows, keys, parts, seen = list[Codes](), list[U64](), list[Described](), Firsts()
        for start in range(0, len(kept), _ROWS):
            some = kept[start : start + _ROWS]
            batch = _batch(sample, some)
            new = np.flatnonzero(seen.add(batch.pair_keys, np.zeros(len(some), dtype=np.int64)).key)
            batch = batch if len(new) == len(some) else _batch(sample, some[new])
            rows.append(some[new])
            keys.append(batch.pair_keys)
            parts.append(Described.of(batch))
        self._rows = np.concatenate([np.zeros(0, dtype=np.int64), *rows])
        self._keys = np.concatenate([np.zeros(0, dtype=np.uint64), *keys])
        self._labels = sample.labels[self._rows]
        self._premises = WordSets.joined([part.premise for part in parts])
        self._hypotheses = WordSets.joined([part.hypothesis for part in parts])
        self._bands = [_Band.of([part.bands[number] for part in parts]) for number in range(BANDS)]
        self._near, self._same = (np.zeros(len(self._rows), dtype=bool) for _ in range(2))
        self._examples: dict[str, list[Mapping[str, str]]] = {"same": [], "other": []}
        self._shown = set[int]()

    def look(self, batch: Batch, described: Described) -> None:
        """Look at some pairs of the training set."""
        pair_keys = batch.pair_keys
        # The shorter sentences go first: most candidates end there.
        sides = ((self._hypotheses, described.hypothesis), (self._premises, described.premise))
        for band, keys in zip(self._bands, described.bands, strict=True):
            for own, other in band.candidates(keys, pair_keys):
                alike = self._labels[own] == batch.labels[other]
                useful = ~self._near[own] | (alike & ~self._same[own])
                useful &= self._keys[own] != pair_keys[other]
                own, other = own[useful], other[useful]
                for mine, theirs in sides:
                    shared = _share_enough(mine, own, theirs, other)
                    own, other = own[shared], other[shared]
                self._mark(batch, own, other)

    def found(self) -> Near:
        """What was met."""
        examples = (*self._examples["same"], *self._examples["other"])[:SHOWN]
        return Near(int(self._near.sum()), int(self._same.sum()), len(self._rows), examples)

    def _mark(self, batch: Batch, own: Codes, other: Codes) -> None:
        alike = self._labels[own] == batch.labels[other]
        for kind, flags in (("same", alike), ("other", ~alike)):
            room = SHOWN - len(self._examples[kind])
            for mine, theirs in zip(own[flags][: 2 * room].tolist(), other[flags][: 2 * room].tolist(), strict=True):
                self._show(kind, mine, batch, theirs)
        self._near[own] = True
        self._same[own[alike]] = True

    def _show(self, kind: str, own: int, batch: Batch, other: int) -> None:
        """Keep an example, unless one of its pairs is in another."""
        keys = {int(self._keys[own]), int(batch.pair_keys[other])}
        if len(self._examples[kind]) < SHOWN and not keys & self._shown:
            self._shown |= keys
            self._examples[kind].append(self._example(own, batch, other))

    def _example(self, own: int, batch: Batch, other: int) -> Mapping[str, str]:
        names = [name for name in ("id", "premise", "hypothesis") if name in self._frame.columns]
        here = self._frame.row(int(self._rows[own]), named=True)
        there = batch.frame.select("premise", "hypothesis", "label").row(other, named=True)
        told = {name: here[name] for name in names} | {"label": GOLD[self._labels[own]]}
        return told | {f"train_{name}": value for name, value in there.items()}


@dataclass(frozen=True)
class _Band:
    """The keys of a band in order, and the number of the pair each belongs to."""

    keys: Small
    owners: np.ndarray[tuple[int, ...], np.dtype[np.int32]]

    @classmethod
    def of(cls, parts: list[Small]) -> _Band:
        keys = np.concatenate([np.zeros(0, dtype=np.uint32), *parts])
        owners = np.argsort(keys, kind="stable").astype(np.int32)
        return cls(keys[owners], owners)

    def candidates(self, keys: Small, pair_keys: U64) -> Iterator[tuple[Codes, Codes]]:
        """Pairs that share a key, some at a time: numbers of own ones and of those that were given.

        Where very many share one, as in sets made from a template, each of those given is compared with some of them,
        by its own key with others than the next: what is near to many is found all the same.
        """
        first = np.searchsorted(self.keys, keys)
        there = np.searchsorted(self.keys, keys, side="right") - first
        count = np.minimum(there, _MOST)
        first += (pair_keys % (there - count + 1).astype(np.uint64)).astype(np.int64)
        rows = np.flatnonzero(count)
        cuts = np.flatnonzero(np.diff(np.cumsum(count[rows]) // _CANDIDATES)) + 1
        for some in np.split(rows, cuts):
            other = np.repeat(some, count[some])
            within = np.arange(len(other)) - np.repeat(np.cumsum(count[some]) - count[some], count[some])
            yield self.owners[first[other] + within].astype(np.int64), other


def _share_enough(mine: WordSets, own: Codes, theirs: WordSets, other: Codes) -> Flags:
    """Whether sentences share enough of the words that either has; without words they are taken to be the same."""
    part, whole = SHARED
    sizes, others = mine.sizes[own], theirs.sizes[other]
    enough = np.minimum(sizes, others) * whole >= np.maximum(sizes, others) * part
    rows = np.flatnonzero(enough)
    words = np.concatenate([mine.spread(own[rows]), theirs.spread(other[rows])])
    words.sort()
    twice = (words[1:][words[1:] == words[:-1]] >> np.uint64(32)).astype(np.int64)
    shared = np.bincount(twice, minlength=len(rows))
    enough[rows] = shared * whole >= (sizes[rows] + others[rows] - shared) * part
    return enough


def _batch(sample: Sample, rows: Codes) -> Batch:
    labels = np.array(GOLD)[sample.labels[rows]]
    return batch_of(sample.frame[rows].select("premise", "hypothesis").with_columns(label=labels))
