"""What comes for the first time in a training set: sentences, pairs of them, and either with a label."""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from acidtest.core.draws import U64
from acidtest.studies.audits.batches import Batch, Codes, Flags, labelled

_LABEL = np.uint64(7)
"""The bits of a key that hold its label."""
_BLOCK = 1 << 18


@dataclass(frozen=True)
class First:
    """Whether the key of each row is new, and whether it is new with the row's label."""

    key: Flags
    label: Flags


class Firsts:
    """Keys with every label they have, eight bytes each, however often they come."""

    def __init__(self) -> None:
        self._runs = list[U64]()

    def add(self, keys: U64, labels: Codes) -> First:
        """Take some rows and say what is new among them; of several that share it, the first."""
        values = labelled(keys, labels)
        key, label = _first(values & ~_LABEL), _first(values)
        for run in self._runs:
            place = np.minimum(np.searchsorted(run, values & ~_LABEL), len(run) - 1)
            key &= (run[place] ^ values) > _LABEL
            label &= run[np.minimum(np.searchsorted(run, values), len(run) - 1)] != values
        if label.any():
            self._keep(np.sort(values[label]))
        return First(key, label)

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
    """Tells what is new about pairs and their sentences, and remembers it for when the set is gone through again."""

    def __init__(self) -> None:
        self.kinds = {"pair": Firsts(), "premise": Firsts(), "hypothesis": Firsts()}
        self._marks = bytearray()

    def add(self, batch: Batch) -> Mapping[str, First]:
        """Take some pairs."""
        keys = {"pair": batch.pair_keys, "premise": batch.premise_keys, "hypothesis": batch.hypothesis_keys}
        found = {kind: self.kinds[kind].add(each, batch.labels) for kind, each in keys.items()}
        self._marks += (found["pair"].label | found["hypothesis"].label.astype(np.uint8) << 1).tobytes()
        return found

    @property
    def memory(self) -> Memory:
        """What was new, one byte a pair."""
        return Memory(np.frombuffer(bytes(self._marks), dtype=np.uint8))


@dataclass(frozen=True)
class Memory:
    """Which rows were the first pair, or the first hypothesis, with their label, by the number of the row."""

    marks: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]

    def rows(self, start: int, height: int) -> Mapping[str, Flags]:
        """What is known of some rows."""
        marks = self.marks[start : start + height]
        return {"pair": (marks & 1) > 0, "hypothesis": (marks & 2) > 0}


def several_labels(values: U64) -> tuple[int, U64]:
    """How many different keys there are among sorted ones with labels, and, without labels, those with several."""
    count, several = min(len(values), 1), list[U64]()
    for start in range(1, len(values), _BLOCK):
        here = values[start : start + _BLOCK]
        alike = (here ^ values[start - 1 : start - 1 + len(here)]) <= _LABEL
        count += int((~alike).sum())
        several.append(here[alike] & ~_LABEL)
    return count, np.unique(np.concatenate(several)) if several else np.zeros(0, dtype=np.uint64)


def keys_only(values: U64) -> U64:
    """Different keys in order, without their labels."""
    return np.unique(values & ~_LABEL)


def _first(values: U64) -> Flags:
    flags = np.zeros(len(values), dtype=bool)
    flags[np.unique(values, return_index=True)[1]] = True
    return flags
