"""How labels are shared out: over genres, and over the pairs that each heuristic of McCoy et al. (2019) applies to."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.special import chdtrc

from acidtest.core.estimate import Estimate
from acidtest.core.labels import GOLD_MASKS
from acidtest.stats.intervals import clopper_pearson, wilson
from acidtest.studies.audit.batches import GOLD, Flags, PairBatch
from acidtest.text.heuristics import HEURISTICS, heuristics

MOST_GENRES = 100
"""With more different values than this, a column names no genres."""


@dataclass(frozen=True)
class Balance:
    """Pairs by label, and by genre and label; ``p`` is Pearson's chi-square test of genre by label."""

    labels: Mapping[str, int]
    genres: Mapping[str, Mapping[str, int]]
    genre_column: str | None
    cramers_v: float
    p: float = field(default=math.nan, metadata={"json": None})

    @property
    def majority(self) -> tuple[str, float]:
        """The label of most pairs, the first of several, and its share."""
        total = sum(self.labels.values())
        label = max(self.labels, key=lambda name: self.labels[name])
        return label, self.labels[label] / total


@dataclass(frozen=True)
class Support:
    """Pairs a heuristic applies to: where gold is entailment it is supported, where gold rules that out contradicted.

    ``unknown`` are pairs that might be cases of it, which only a parse could tell.
    """

    support: int
    contradict: int
    unknown: int = 0

    @property
    def share(self) -> Estimate:
        """Share of the pairs that decide it which support it."""
        return counted_share(self.support, self.support + self.contradict)


MNLI = {
    "lexical_overlap": Support(2158, 261),
    "subsequence": Support(1274, 72),
    "constituent": Support(1004, 58),
}
"""MultiNLI's training set, as McCoy et al. (2019), section 2, count it."""


def counted_share(count: int, n: int) -> Estimate:
    """So many of ``n`` with Wilson's interval, or Clopper and Pearson's for none and all; NaN for none of nothing."""
    if not n:
        return Estimate(math.nan, note="no pairs")
    interval = (clopper_pearson if count in (0, n) else wilson)(count, n)
    return Estimate(count / n, interval.low, interval.high, n, n, interval.method)


class LabelCounter:
    """Counts labels, and genres where there is a column of them."""

    def __init__(self, genre_column: str | None) -> None:
        self._column = genre_column
        self._counts = Counter[tuple[str, str]]()

    def add(self, batch: PairBatch) -> None:
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
        names = sorted({genre for genre, _ in self._counts})
        several = self._column is not None and 1 < len(names) <= MOST_GENRES
        genres = {genre: {name: self._counts[genre, name] for name in labels} for genre in names} if several else {}
        strength, p = _association([list(row.values()) for row in genres.values()])
        return Balance(labels, genres, self._column if several else None, strength, p)


class HeuristicCounter:
    """Counts the pairs each heuristic applies to, by label.

    Counts are cumulative: a constituent is a subsequence, and that is lexical overlap. ``faithful`` splits words as
    the released scripts do.
    """

    def __init__(self, parses: tuple[str, ...], *, faithful: bool) -> None:
        self._parses, self._faithful = parses, faithful
        self._counts = np.zeros((len(HEURISTICS), len(GOLD)), dtype=np.int64)
        self._unknown = dict.fromkeys(HEURISTICS, 0)
        self._rows = np.zeros(len(GOLD), dtype=np.int64)

    def add(self, batch: PairBatch) -> Mapping[str, Flags]:
        """Count some pairs, and say to which each heuristic applies."""
        verdicts = heuristics(
            batch.frame["premise"],
            batch.frame["hypothesis"],
            batch.frame["premise_parse"] if "premise_parse" in self._parses else None,
            hypothesis_parses=batch.frame["hypothesis_parse"] if "hypothesis_parse" in self._parses else None,
            faithful=self._faithful,
        )
        applies = {name: verdicts[name].fill_null(False).to_numpy() for name in HEURISTICS}
        for number, name in enumerate(HEURISTICS):
            self._counts[number] += np.bincount(batch.labels[applies[name]], minlength=len(GOLD))
            self._unknown[name] += verdicts[name].null_count()
        self._rows += np.bincount(batch.labels, minlength=len(GOLD))
        return applies

    def support(self) -> dict[str, Support | None]:
        """Support and contradiction; None for a heuristic that is not known for any pair.

        Gold that allows entailment and something else counts for neither.
        """
        entailed = np.array([mask == GOLD_MASKS["entailment"] for mask in GOLD_MASKS.values()])
        excluded = np.array([not mask & GOLD_MASKS["entailment"] for mask in GOLD_MASKS.values()])
        possible = int(self._counts[HEURISTICS.index("subsequence")].sum())
        supports: dict[str, Support | None] = {}
        for name, counts in zip(HEURISTICS, self._counts, strict=True):
            unknown = self._unknown[name]
            known = Support(int(counts[entailed].sum()), int(counts[excluded].sum()), unknown)
            supports[name] = None if unknown and unknown == possible else known
        return supports

    def by_label(self) -> dict[str, Mapping[str, int] | None]:
        """The pairs each heuristic applies to, for every label that occurs."""
        present, support = np.flatnonzero(self._rows), self.support()
        return {
            name: None if support[name] is None else {GOLD[code]: int(counts[code]) for code in present}
            for name, counts in zip(HEURISTICS, self._counts, strict=True)
        }


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
