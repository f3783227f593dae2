"""How many sentences of each label hold two words: side by side, or one in the premise and one in the hypothesis.

Only words that are common on their side are looked at, so that all their pairs fit in a table of fixed size; in pairs
across the two sentences no function words, which go with everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.analysis.audits.batches import GOLD, Batch, Codes, Flags, labelled
from acidtest.analysis.audits.vocabulary import ItemCounts
from acidtest.core.digests import Seen
from acidtest.sources.misspelling import function_words

if TYPE_CHECKING:
    from scipy.sparse import csr_array

CELLS = 8_000_000
"""How many counts a table holds, at most, which sets how many words are looked at."""
MOST_WORDS = 2_000
ARROW = " → "
_ACROSS = ("premise", "hypothesis")
_BESIDE = ("bigrams", "bigrams")


def vocabulary_size(labels: int) -> int:
    """How many words are looked at on each side, given the number of labels."""
    return min(MOST_WORDS, int((CELLS / max(labels, 1)) ** 0.5))


class PairCounter:
    """Counts pairs of common words across premise and hypothesis, and bigrams of common words in the hypothesis.

    Each different pair of sentences counts once for a label, and each different hypothesis. A word of the premise with
    itself in the hypothesis is a pair, too. Which words are common is told by how many sentences hold them.
    """

    def __init__(self, premise: ItemCounts, hypothesis: ItemCounts) -> None:
        labels = np.flatnonzero(hypothesis.totals)
        size = vocabulary_size(len(labels))
        functional = function_words()["word"]
        self._words = {
            "premise": premise.commonest(size, without=functional),
            "hypothesis": hypothesis.commonest(size, without=functional),
            "bigrams": hypothesis.commonest(size),
        }
        self._labels = labels
        self._place = np.full(len(GOLD), -1)
        self._place[labels] = np.arange(len(labels))
        self._pairs, self._bigrams = (
            np.zeros((len(labels), len(self._words[first]) * len(self._words[second])), dtype=np.int32)
            for first, second in (_ACROSS, _BESIDE)
        )
        self._seen_pairs, self._seen_hypotheses = Seen(), Seen()
        self._totals = np.zeros((2, len(GOLD)), dtype=np.int64)

    def add(self, batch: Batch) -> None:
        """Count some pairs."""
        new = self._seen_pairs.new(labelled(batch.pair_keys, batch.labels)).to_numpy()
        self._count_pairs(
            self._table(batch.premise_words, "premise"),
            self._table(batch.hypothesis_words, "hypothesis"),
            batch.labels,
            new,
        )
        fresh = self._seen_hypotheses.new(labelled(batch.hypothesis_keys, batch.labels)).to_numpy()
        self._count_bigrams(self._numbers(batch.hypothesis_words, "bigrams"), batch.labels, fresh)
        self._totals += [np.bincount(batch.labels[rows], minlength=len(GOLD)) for rows in (new, fresh)]

    def pairs(self, least: int) -> ItemCounts:
        """Pairs of words in at least so many pairs of sentences: ``word → word``."""
        return self._items(self._pairs, _ACROSS, ARROW, least=least, totals=self._totals[0])

    def bigrams(self, least: int) -> ItemCounts:
        """Bigrams in at least so many hypotheses: ``word word``."""
        return self._items(self._bigrams, _BESIDE, " ", least=least, totals=self._totals[1])

    def _numbers(self, split: pl.Series, side: str) -> pl.DataFrame:
        """Every word of every sentence in order: columns row and number, -1 for a word that is not looked at."""
        frame = pl.DataFrame({"row": np.arange(len(split)), "word": split})
        known = pl.DataFrame({"word": self._words[side]}).with_row_index("number").cast({"number": pl.Int64})
        words = frame.explode("word", empty_as_null=False, keep_nulls=False)
        found = words.join(known, on="word", how="left", maintain_order="left")
        return found.select("row", pl.col("number").fill_null(-1))

    def _table(self, split: pl.Series, side: str) -> csr_array[np.int32, tuple[int, int]]:
        from scipy.sparse import csr_array

        once = self._numbers(split, side).filter(pl.col("number") >= 0).unique()
        ones = np.ones(once.height, dtype=np.int32)
        places = (once["row"].to_numpy(), once["number"].to_numpy())
        return csr_array((ones, places), shape=(len(split), len(self._words[side])))

    def _count_pairs(
        self,
        premise: csr_array[np.int32, tuple[int, int]],
        hypothesis: csr_array[np.int32, tuple[int, int]],
        labels: Codes,
        new: Flags,
    ) -> None:
        for place, label in enumerate(self._labels):
            rows = np.flatnonzero(new & (labels == label))
            both = (premise[rows].T @ hypothesis[rows]).tocoo()
            flat = both.row.astype(np.int64) * both.shape[1] + both.col
            self._pairs[place, flat] += both.data

    def _count_bigrams(self, numbers: pl.DataFrame, labels: Codes, new: Flags) -> None:
        row, number = numbers["row"].to_numpy(), numbers["number"].to_numpy()
        first, second = number[:-1], number[1:]
        kept = np.flatnonzero((row[:-1] == row[1:]) & (first >= 0) & (second >= 0) & new[row[:-1]])
        width = len(self._words["bigrams"])
        codes = pl.DataFrame({"row": row[kept], "bigram": first[kept] * width + second[kept]}).unique()
        places = self._place[labels[codes["row"].to_numpy()]]
        np.add.at(self._bigrams, (places, codes["bigram"].to_numpy()), 1)

    def _items(
        self, table: npt.NDArray[np.int32], sides: tuple[str, str], between: str, *, least: int, totals: Codes
    ) -> ItemCounts:
        found = np.flatnonzero(table.sum(axis=0) >= least)
        first, second = (self._words[side] for side in sides)
        left, right = np.divmod(found, max(len(second), 1))
        items = pl.DataFrame({"left": first[left], "right": second[right]})
        counts = np.zeros((len(found), len(GOLD)), dtype=np.int64)
        counts[:, self._labels] = table[:, found].T
        return ItemCounts(items.select(pl.concat_str("left", "right", separator=between)).to_series(), counts, totals)
