"""Whole premises drawn from a training set, few enough to be held in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from acidtest.core.draws import U64, Draws
from acidtest.studies.audits.batches import Batch, Codes

SAMPLE = 50_000
"""How many pairs are held, at most."""


@dataclass(frozen=True)
class Sample:
    """Pairs with all others of their premise: the frame has columns premise, hypothesis and whatever was measured."""

    frame: pl.DataFrame
    labels: Codes
    premise_keys: U64
    whole: bool
    """Whether it is the whole set."""

    @property
    def bare(self) -> Sample:
        """Without what was measured."""
        return replace(self, frame=self.frame.select("premise", "hypothesis"))

    @property
    def groups(self) -> Codes:
        """The number of each pair's premise."""
        return np.unique(self.premise_keys, return_inverse=True)[1].astype(np.int64)

    @property
    def label_effect(self) -> float:
        """How many pairs are worth one independent one, as far as pairs of a premise share their label; at least 1.

        The design effect 1 + (m - 1) r of Kish (1965), r being how much more often two pairs of a premise have the
        same label than any two, as a share of what is possible.
        """
        if not len(self.labels):
            return 1.0
        kinds = np.unique(self.labels, return_inverse=True)[1]
        table = np.zeros((int(self.groups.max()) + 1, int(kinds.max()) + 1))
        np.add.at(table, (self.groups, kinds), 1)
        sizes = table.sum(axis=1)
        couples = float((sizes * (sizes - 1)).sum())
        expected = float(((table.sum(axis=0) / sizes.sum()) ** 2).sum())
        if not couples or expected == 1:
            return 1.0
        alike = (float((table * (table - 1)).sum()) / couples - expected) / (1 - expected)
        return 1 + (float((sizes**2).sum() / sizes.sum()) - 1) * max(alike, 0.0)


class Sampler:
    """Keeps the premises whose draw is lowest, so that which are kept does not depend on the order they come in."""

    def __init__(self, seed: int, size: int = SAMPLE) -> None:
        self._draws, self._size = Draws(seed, "audit"), size
        self._held = list[pl.DataFrame]()
        self._rows, self._limit = 0, np.uint64(2**64 - 1)
        self._whole = True

    def add(self, batch: Batch, measured: pl.DataFrame) -> None:
        """Take what may be kept of some pairs; ``measured`` has their measures as columns."""
        drawn = self._draws.bits(batch.premise_keys, "premise")
        rows = np.flatnonzero(drawn <= self._limit)
        keys = {"_label": batch.labels, "_premise": batch.premise_keys, "_draw": drawn}
        # Rows chosen from a frame keep the text of the whole of it alive; a new column has only its own.
        columns = [*batch.frame.select("premise", "hypothesis"), *measured]
        held = {
            column.name: pl.Series(column[rows].to_list(), dtype=pl.String)
            if column.dtype == pl.String
            else column[rows]
            for column in columns
        }
        self._held.append(pl.DataFrame(held | {name: values[rows] for name, values in keys.items()}))
        self._rows += self._held[-1].height
        self._whole &= self._held[-1].height == batch.height
        if self._rows > self._size + self._size // 4:
            self._shrink()

    def sample(self) -> Sample:
        """What was drawn; of the last premise all or nothing, so it may be a few pairs short."""
        self._shrink()
        frame = pl.concat(self._held) if self._held else pl.DataFrame(schema=_EMPTY)
        return Sample(
            frame.drop("_label", "_premise", "_draw"),
            frame["_label"].to_numpy(),
            frame["_premise"].to_numpy(),
            self._whole,
        )

    def _shrink(self) -> None:
        if self._rows <= self._size:
            return
        frame = pl.concat(self._held)
        # The draw of the first pair that is one too many: its premise goes, whole.
        limit = int(np.partition(frame["_draw"].to_numpy(), self._size)[self._size])
        self._limit, self._whole = np.uint64(max(limit - 1, 0)), False
        self._held = [frame.filter(pl.col("_draw") < limit).rechunk()]
        self._rows = self._held[0].height


_EMPTY = {
    "premise": pl.String,
    "hypothesis": pl.String,
    "_label": pl.Int64,
    "_premise": pl.UInt64,
    "_draw": pl.UInt64,
}
