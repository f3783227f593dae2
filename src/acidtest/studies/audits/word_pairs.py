"""How many sentences of each label hold two words: side by side, or one in the premise and one in the hypothesis.

Only words that are common on their side are looked at, so that all their pairs fit in a table of fixed size; in pairs
across the two sentences no function words, which go with everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.studies.audits.batches import GOLD, Batch, Codes, Flags
from acidtest.studies.audits.vocabulary import ItemCounts
from acidtest.text.misspelling import function_words

if TYPE_CHECKING:
    from scipy.sparse import csr_array

CELLS = 8_000_000
"""How many counts a table holds, at most, which sets how many words are looked at."""
MOST_WORDS = 2_000
ARROW = " → "


def vocabulary_size(found: ItemCounts) -> int:
    """How many words are looked at on each side, given the labels of sentences."""
    return min(MOST_WORDS, int((CELLS / max(int(np.count_nonzero(found.totals)), 1)) ** 0.5))


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


class PairCounter:
    """Counts pairs of common words across premise and hypothesis; a word with itself is a pair, too.

    Which words are common is told by how many sentences hold them.
    """

    def __init__(self, premise: ItemCounts, hypothesis: ItemCounts) -> None:
        functional = function_words()["word"]
        size = vocabulary_size(hypothesis)
        self._words = tuple(side.commonest(size, without=functional) for side in (premise, hypothesis))
        self._table = _Cells(*self._words, labels=np.flatnonzero(hypothesis.totals))

    def add(self, batch: Batch, new: Flags) -> None:
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
        self._table = _Cells(self._words, self._words, labels=np.flatnonzero(hypothesis.totals))

    def add(self, batch: Batch, new: Flags) -> None:
        """Count the hypotheses that are new: each should count once for each label it has."""
        numbers = _numbers(batch.hypothesis_words, self._words)
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


class _Cells:
    """Counts of all pairs of some words, by label; ``totals`` are the sentences, or pairs of them, of each label.

    A label's counts take two bytes each as long as all fit.
    """

    def __init__(self, first: pl.Series, second: pl.Series, *, labels: Codes) -> None:
        self._first, self._second, self.labels = first, second, labels
        size = len(first) * len(second)
        self._table: dict[int, npt.NDArray[np.integer]] = {
            int(each): np.zeros(size, dtype=np.uint16) for each in labels
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
        found = np.flatnonzero(sum(self._table.values(), np.zeros(size, dtype=np.int32)) >= least)
        counts = np.zeros((len(found), len(GOLD)), dtype=np.int32)
        for label, table in self._table.items():
            counts[:, label] = table[found]
        return ItemCounts(TwoWords(self._first, self._second, found, between), counts, self.totals)


def _numbers(split: pl.Series, words: pl.Series) -> pl.DataFrame:
    """Every word of every sentence in order: columns row and number, -1 for a word that is not looked at."""
    frame = pl.DataFrame({"row": np.arange(len(split)), "word": split})
    known = pl.DataFrame({"word": words}).with_row_index("number").cast({"number": pl.Int64})
    found = frame.explode("word", empty_as_null=False, keep_nulls=False)
    found = found.join(known, on="word", how="left", maintain_order="left")
    return found.select("row", pl.col("number").fill_null(-1))


def _incidence(split: pl.Series, words: pl.Series) -> csr_array[np.int32, tuple[int, int]]:
    """Which words stand in which sentence."""
    from scipy.sparse import csr_array

    once = _numbers(split, words).filter(pl.col("number") >= 0).unique()
    places = (once["row"].to_numpy(), once["number"].to_numpy())
    return csr_array((np.ones(once.height, dtype=np.int32), places), shape=(len(split), len(words)))
