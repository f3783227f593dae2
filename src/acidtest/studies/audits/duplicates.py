"""Pairs that stand in a training set more than once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from acidtest.core.digests import Gathered
from acidtest.studies.audits.batches import Batch
from acidtest.studies.audits.firsts import First, Firsts, keys_only, several_labels


@dataclass(frozen=True)
class Duplicates:
    """Repetitions. Sentences are the same when their words are, whatever case and punctuation.

    ``repeated`` pairs stand more than once (``surplus`` counts the rows beyond the first), ``conflicts`` of them with
    different labels. ``shared_hypotheses`` stand under several premises, in ``shared_pairs`` different pairs;
    ``one_label`` of them always have the same label.
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


class Repetitions:
    """Takes what is not new: pairs that come again, and hypotheses that come with another premise."""

    def __init__(self) -> None:
        self._rows = 0
        self._again = Firsts()
        self._elsewhere = Gathered()

    def add(self, batch: Batch, firsts: Mapping[str, First]) -> None:
        """Take some pairs and what is new about them."""
        self._rows += batch.height
        again = ~firsts["pair"].key
        self._again.add(batch.pair_keys[again], batch.labels[again])
        elsewhere = firsts["pair"].key & ~firsts["hypothesis"].key
        self._elsewhere.add(batch.hypothesis_keys[elsewhere])

    def duplicates(self, kinds: Mapping[str, Firsts]) -> Duplicates:
        """What was found, given the keys of all pairs and sentences."""
        pairs, conflicts = several_labels(kinds["pair"].sorted())
        premises, _ = several_labels(kinds["premise"].sorted())
        hypotheses, mixed = several_labels(kinds["hypothesis"].sorted())
        elsewhere = self._elsewhere.sorted()
        shared = keys_only(elsewhere)
        return Duplicates(
            pairs=pairs,
            premises=premises,
            hypotheses=hypotheses,
            repeated=len(keys_only(self._again.sorted())),
            surplus=self._rows - pairs,
            conflicts=len(conflicts),
            shared_hypotheses=len(shared),
            shared_pairs=len(elsewhere) + len(shared),
            one_label=len(np.setdiff1d(shared, mixed, assume_unique=True)),
        )
