"""How many sentences of each label hold each word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.streams import compacted
from acidtest.studies.audits.batches import GOLD, Batch, Codes, Flags

_PENDING = 1 << 16
_MOST = 1 << 20
"""How many words with their labels are kept; beyond, those seen once are forgotten."""


class Items(Protocol):
    """Things by number; a column of strings is one."""

    def __getitem__(self, rows: Codes, /) -> pl.Series:
        """Their names."""


@dataclass(frozen=True)
class ItemCounts:
    """Things counted by label: ``counts`` has a row for each of ``items`` and a column for each of ``GOLD``.

    ``totals`` are all sentences, or pairs of them, by label.
    """

    items: Items
    counts: npt.NDArray[np.integer]
    totals: Codes

    def commonest(self, size: int, *, without: pl.Series | None = None) -> pl.Series:
        """The items in most sentences, ties in the order of the alphabet; some may be left out."""
        every = np.arange(len(self.counts))
        frame = pl.DataFrame({"item": self.items[every], "n": self.counts.sum(axis=1)})
        frame = frame if without is None else frame.filter(~pl.col("item").is_in(without.implode()))
        return frame.sort("n", "item", descending=[True, False])["item"].head(size)


class WordCounter:
    """Counts words on one side of the rows it is shown."""

    def __init__(self, side: str) -> None:
        self.side = side
        self._totals = np.zeros(len(GOLD), dtype=np.int64)
        self._parts, self._pending = list[pl.DataFrame](), 0
        self.forgotten = False
        """Whether rare words had to be forgotten."""

    def add(self, batch: Batch, new: Flags) -> None:
        """Count the pairs that are new: a sentence should count once for each label it has."""
        split = batch.premise_words if self.side == "premise" else batch.hypothesis_words
        labels = batch.labels[new]
        self._totals += np.bincount(labels, minlength=len(GOLD))
        frame = pl.DataFrame({"word": split.filter(pl.Series(new)).list.unique(), "label": labels})
        words = frame.explode("word", empty_as_null=False, keep_nulls=False)
        self._parts.append(words.group_by("word", "label").agg(n=pl.len().cast(pl.Int64)))
        self._pending += self._parts[-1].height
        if self._pending > _PENDING:
            self._merge()

    def counts(self) -> ItemCounts:
        """What was counted, in the order of the alphabet."""
        self._merge()
        frame = self._parts[0] if self._parts else pl.DataFrame(schema=_SCHEMA)
        items = frame["word"].unique().sort()
        counts = np.zeros((len(items), len(GOLD)), dtype=np.int64)
        places = pl.DataFrame({"word": items}).with_row_index("place")
        placed = frame.join(places, on="word")
        counts[placed["place"].to_numpy(), placed["label"].to_numpy()] = placed["n"].to_numpy()
        return ItemCounts(items, counts, self._totals)

    def _merge(self) -> None:
        if not self._parts:
            return
        merged = pl.concat(self._parts).group_by("word", "label").agg(pl.col("n").sum())
        if merged.height > _MOST:
            merged, self.forgotten = merged.filter(pl.col("n") > 1), True
        # A frame of long words keeps the texts of every batch alive that they came from.
        self._parts, self._pending = [compacted(merged)], 0


_SCHEMA = {"word": pl.String, "label": pl.Int64, "n": pl.Int64}
