"""How many pairs each label and each genre has."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from acidtest.studies.audits.batches import GOLD, Batch

MOST_GENRES = 100
"""With more different values than this, a column names no genres."""


@dataclass(frozen=True)
class Balance:
    """Pairs by label, and by genre and label; ``p`` is Pearson's chi-square test of genre by label."""

    labels: Mapping[str, int]
    genres: Mapping[str, Mapping[str, int]]
    genre_column: str | None
    cramers_v: float
    p: float

    @property
    def majority(self) -> tuple[str, float]:
        """The label of most pairs, the first of several, and its share."""
        total = sum(self.labels.values())
        label = max(self.labels, key=lambda name: self.labels[name])
        return label, self.labels[label] / total


class Counts:
    """Counts labels, and genres where there is a column of them."""

    def __init__(self, genre_column: str | None) -> None:
        self._column = genre_column
        self._counts = Counter[tuple[str, str]]()

    def add(self, batch: Batch) -> None:
        """Count some pairs."""
        if self._column is None:
            for label, number in batch.frame["label"].value_counts().iter_rows():
                self._counts["", label] += number
            return
        pairs = batch.frame.group_by(self._column, "label").len()
        for genre, label, number in pairs.iter_rows():
            self._counts[str(genre if genre is not None else ""), label] += number

    def balance(self) -> Balance:
        """What was counted."""
        labels = {name: sum(n for (_, label), n in self._counts.items() if label == name) for name in GOLD}
        labels = {name: n for name, n in labels.items() if n}
        kinds = sorted({genre for genre, _ in self._counts})
        several = self._column is not None and 1 < len(kinds) <= MOST_GENRES
        genres = {kind: {name: self._counts[kind, name] for name in labels} for kind in kinds} if several else {}
        strength, p = _association([list(row.values()) for row in genres.values()])
        return Balance(labels, genres, self._column if several else None, strength, p)


def _association(table: list[list[int]]) -> tuple[float, float]:
    """Cramér's V and the p of Pearson's chi-square; NaN for a table of one row or column."""
    counts = np.array(table, dtype=np.float64)
    if counts.ndim != 2 or min(counts.shape) < 2:
        return math.nan, math.nan
    expected = np.outer(counts.sum(1), counts.sum(0)) / counts.sum()
    statistic = float(((counts - expected) ** 2 / expected).sum())
    rows, columns = counts.shape
    smaller = min(rows, columns) - 1
    return math.sqrt(statistic / counts.sum() / smaller), float(chdtrc((rows - 1) * (columns - 1), statistic))
