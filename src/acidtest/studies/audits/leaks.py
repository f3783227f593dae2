"""Pairs of a suite that stand in a training set, word for word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from acidtest.core.digests import Gathered
from acidtest.core.draws import U64
from acidtest.core.suite import Suite
from acidtest.studies.audits.batches import Batch, Codes, Flags, labelled, visit
from acidtest.studies.audits.near import SHOWN, Near
from acidtest.studies.audits.sampling import Sample, Sampler

_COLUMNS = ("id", "premise", "hypothesis", "label")


@dataclass(frozen=True)
class Leak:
    """How much of a suite a training set holds; every number counts pairs of the suite.

    ``exact``: both sentences, whatever case and punctuation; ``same_label`` of these with the suite's own gold, too.
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

    def with_near(self, found: Near, examples: tuple[Mapping[str, str], ...]) -> Leak:
        """The same with what was found nearly, and with examples of the exact."""
        near = tuple({"match": "near", **each} for each in found.examples)
        return replace(
            self,
            near=found.near,
            near_same_label=found.same_label,
            near_of=found.of,
            examples=(*examples, *near),
        )


@dataclass(frozen=True)
class Rest:
    """The first pairs of a suite that are in the training set, and a sample of all."""

    examples: tuple[Mapping[str, str], ...]
    sample: Sample
    exact: Flags
    """Which of the sample are in the training set word for word."""


class LeakSearch:
    """Holds a suite's keys, 24 bytes a pair, and marks those it meets in a training set."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        kinds = {kind: Gathered() for kind in ("pair", "premise", "hypothesis")}

        def take(batch: Batch) -> None:
            kinds["pair"].add(labelled(batch.pair_keys, batch.labels))
            kinds["premise"].add(batch.premise_keys)
            kinds["hypothesis"].add(batch.hypothesis_keys)

        visit(suite, take)
        pairs = kinds["pair"].sorted()
        self._rows = len(pairs)
        self._pairs, self._same = _Keys(pairs, ignored=7), _Keys(pairs)
        self._premises, self._hypotheses = (_Keys(kinds[side].sorted()) for side in ("premise", "hypothesis"))

    def add(self, batch: Batch) -> None:
        """Look at some pairs of the training set."""
        keys = labelled(batch.pair_keys, batch.labels)
        self._pairs.find(keys)
        self._same.find(keys)
        self._premises.find(batch.premise_keys)
        self._hypotheses.find(batch.hypothesis_keys)

    def leak(self) -> Leak:
        """What was met word for word."""
        return Leak(
            self._suite.name,
            self._rows,
            exact=self._pairs.count,
            same_label=self._same.count,
            premise=self._premises.count,
            hypothesis=self._hypotheses.count,
        )

    def rest(self, size: int, *, seed: int) -> Rest:
        """What is to be shown, and pairs to be looked for nearly: whole premises, so many at most."""
        examples, sampler = list[Mapping[str, str]](), Sampler(seed, size)

        def look(batch: Batch) -> None:
            met = self._pairs.met(batch.pair_keys)
            shown = batch.frame.filter(pl.Series(met)).head(SHOWN - len(examples))
            examples.extend({"match": "exact", **row} for row in shown.select(_COLUMNS).iter_rows(named=True))
            sampler.add(batch, pl.DataFrame({"id": batch.frame["id"], "met": met}))

        visit(self._suite, look, columns=("id",))
        drawn = sampler.sample()
        exact = drawn.frame["met"].to_numpy() if drawn.frame.height else np.zeros(0, dtype=bool)
        return Rest(tuple(examples), drawn, exact)


class _Keys:
    """Keys in order, some more than once, and which of them were met, whatever their last bits."""

    def __init__(self, values: U64, *, ignored: int = 0) -> None:
        self._values, self._ignored = values, np.uint64(ignored)
        self._met = np.zeros(len(values), dtype=bool)

    @property
    def count(self) -> int:
        """How many rows have a key that was met."""
        first = np.flatnonzero(self._met)
        return int((np.searchsorted(self._values, self._values[first] | self._ignored, side="right") - first).sum())

    def find(self, keys: U64) -> None:
        """Mark the keys that are met, where the first of each is."""
        if len(self._values):
            places, there = self._places(keys)
            self._met[places[there]] = True

    def met(self, keys: U64) -> Flags:
        """Whether keys were met."""
        if not len(self._values):
            return np.zeros(len(keys), dtype=bool)
        places, there = self._places(keys)
        found: Flags = self._met[places] & there
        return found

    def _places(self, keys: U64) -> tuple[Codes, Flags]:
        places = np.minimum(np.searchsorted(self._values, keys & ~self._ignored), len(self._values) - 1)
        return places, (self._values[places] ^ keys) <= self._ignored
