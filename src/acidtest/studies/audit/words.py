"""How many sentences of each label hold a word, or two: side by side, or one in the premise and one in the hypothesis.

Of pairs of words only those are counted that are common on their side, so that all of them fit in a table of fixed
size; in pairs across the two sentences no function words, which go with everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.streams import compact_frame
from acidtest.studies.audit.batches import GOLD, Codes, Flags, PairBatch
from acidtest.text.misspelling import function_words

if TYPE_CHECKING:
    from scipy.sparse import csr_array

CELLS = 8_000_000
"""How many counts a table holds, at most, which sets how many words are counted."""
MOST_WORDS = 2_000
ARROW = " → "

_PENDING = 1 << 16
_MOST = 1 << 20
"""How many words with their labels are kept; beyond, those seen once are forgotten."""
_SCHEMA = {"word": pl.String, "label": pl.Int64, "n": pl.Int64}


class ItemNames(Protocol):
    """Names of things by number; a column of strings is one."""

    def __getitem__(self, rows: Codes, /) -> pl.Series:
        """The names of some of them."""


@dataclass(frozen=True)
class ItemCounts:
    """Things counted by label: ``counts`` has a row for each of ``items`` and a column for each of ``GOLD``.

    ``totals`` are all sentences, or pairs of them, by label.
    """

    items: ItemNames
    counts: npt.NDArray[np.integer]
    totals: Codes

    def commonest(self, size: int, *, without: pl.Series | None = None) -> pl.Series:
        """The items in most sentences, ties in the order of the alphabet; some may be left out."""
        frame = pl.DataFrame({"item": self.items[np.arange(len(self.counts))], "n": self.counts.sum(axis=1)})
        frame = frame if without is None else frame.filter(~pl.col("item").is_in(without.implode()))
        return frame.sort("n", "item", descending=[True, False])["item"].head(size)


@dataclass(frozen=True)
class TwoWords:
    """Pairs of words by number, named when they are asked for: there may be a million."""

    first: pl.Series
    second: pl.Series
    cells: Codes
    between: str

    def __getitem__(self, rows: Codes, /) -> pl.Series:
        """Their names, such as ``word → word``."""
        left, right = np.divmod(self.cells[rows], max(len(self.second), 1))
        names = pl.DataFrame({"left": self.first[left], "right": self.second[right]})
        return names.select(pl.concat_str("left", "right", separator=self.between)).to_series()


class WordCounter:
    """Counts words on one side of the rows it is shown."""

    def __init__(self, side: str) -> None:
        self.side = side
        self._totals = np.zeros(len(GOLD), dtype=np.int64)
        self._parts, self._pending = list[pl.DataFrame](), 0
        self.forgotten = False
        """Whether rare words had to be forgotten."""

    def add(self, batch: PairBatch, new: Flags) -> None:
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
        self._parts, self._pending = [compact_frame(merged)], 0


class PairCounter:
    """Counts pairs of common words across premise and hypothesis; a word with itself is a pair, too.

    Which words are common is decided by how many sentences hold them.
    """

    def __init__(self, premise: ItemCounts, hypothesis: ItemCounts) -> None:
        size = vocabulary_size(hypothesis)
        self._words = tuple(side.commonest(size, without=function_words()["word"]) for side in (premise, hypothesis))
        self._table = _CellCounts(*self._words, labels=np.flatnonzero(hypothesis.totals))

    def add(self, batch: PairBatch, new: Flags) -> None:
        """Count the pairs of sentences that are new: each should count once for each label it has."""
        split = (batch.premise_words, batch.hypothesis_words)
        premise, hypothesis = (_incidence(side, words) for side, words in zip(split, self._words, strict=True))
        self._table.totals += np.bincount(batch.labels[new], minlength=len(GOLD))
        for label in self._table.labels:
            rows = np.flatnonzero(new & (batch.labels == label))
            both = (premise[rows].T @ hypothesis[rows]).tocoo()
            self._table.add(int(label), both.row.astype(np.int64) * both.shape[1] + both.col, both.data)

    def counts(self, least: int) -> ItemCounts:
        """Pairs of words in at least so many pairs of sentences: ``word → word``."""
        return self._table.counts(least, ARROW)


class BigramCounter:
    """Counts bigrams of common words in the hypothesis."""

    def __init__(self, hypothesis: ItemCounts) -> None:
        self._words = hypothesis.commonest(vocabulary_size(hypothesis))
        self._table = _CellCounts(self._words, self._words, labels=np.flatnonzero(hypothesis.totals))

    def add(self, batch: PairBatch, new: Flags) -> None:
        """Count the hypotheses that are new: each should count once for each label it has."""
        numbers = _word_numbers(batch.hypothesis_words, self._words)
        row, number = numbers["row"].to_numpy(), numbers["number"].to_numpy()
        first, second = number[:-1], number[1:]
        kept = np.flatnonzero((row[:-1] == row[1:]) & (first >= 0) & (second >= 0) & new[row[:-1]])
        codes = pl.DataFrame({"row": row[kept], "cell": first[kept] * len(self._words) + second[kept]}).unique()
        labels = batch.labels[codes["row"].to_numpy()]
        self._table.totals += np.bincount(batch.labels[new], minlength=len(GOLD))
        for label in self._table.labels:
            cells, number = np.unique(codes["cell"].to_numpy()[labels == label], return_counts=True)
            self._table.add(int(label), cells, number)

    def counts(self, least: int) -> ItemCounts:
        """Bigrams in at least so many hypotheses: ``word word``."""
        return self._table.counts(least, " ")


class _CellCounts:
    """Counts of all pairs of some words, by label; ``totals`` are the sentences, or pairs of them, of each label.

    A label's counts take two bytes each as long as all fit.
    """

    def __init__(self, first: pl.Series, second: pl.Series, *, labels: Codes) -> None:
        self._first, self._second, self.labels = first, second, labels
        size = len(first) * len(second)
        self._table: dict[int, npt.NDArray[np.integer]] = {
            int(label): np.zeros(size, dtype=np.uint16) for label in labels
        }
        self.totals = np.zeros(len(GOLD), dtype=np.int64)

    def add(self, label: int, cells: Codes, numbers: npt.NDArray[np.integer]) -> None:
        """Add to different cells."""
        table = self._table[label]
        total = table[cells] + numbers.astype(np.int32)
        if total.max(initial=0) > np.iinfo(table.dtype).max:
            table = self._table[label] = table.astype(np.int32)
        table[cells] = total

    def counts(self, least: int, between: str) -> ItemCounts:
        """What was counted at least so often."""
        size = len(self._first) * len(self._second)
        cells = np.flatnonzero(sum(self._table.values(), np.zeros(size, dtype=np.int32)) >= least)
        counts = np.zeros((len(cells), len(GOLD)), dtype=np.int32)
        for label, table in self._table.items():
            counts[:, label] = table[cells]
        return ItemCounts(TwoWords(self._first, self._second, cells, between), counts, self.totals)


def vocabulary_size(counts: ItemCounts) -> int:
    """How many words are counted on each side, given the labels of sentences."""
    return min(MOST_WORDS, int((CELLS / max(int(np.count_nonzero(counts.totals)), 1)) ** 0.5))


def _word_numbers(split: pl.Series, words: pl.Series) -> pl.DataFrame:
    """Every word of every sentence in order: columns row and number, -1 for a word that is not counted."""
    frame = pl.DataFrame({"row": np.arange(len(split)), "word": split})
    known = pl.DataFrame({"word": words}).with_row_index("number").cast({"number": pl.Int64})
    tokens = frame.explode("word", empty_as_null=False, keep_nulls=False)
    tokens = tokens.join(known, on="word", how="left", maintain_order="left")
    return tokens.select("row", pl.col("number").fill_null(-1))


def _incidence(split: pl.Series, words: pl.Series) -> csr_array[np.int32, tuple[int, int]]:
    """Which words stand in which sentence."""
    from scipy.sparse import csr_array

    once = _word_numbers(split, words).filter(pl.col("number") >= 0).unique()
    places = (once["row"].to_numpy(), once["number"].to_numpy())
    return csr_array((np.ones(once.height, dtype=np.int32), places), shape=(len(split), len(words)))
