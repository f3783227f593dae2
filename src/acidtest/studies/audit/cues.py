"""Words, bigrams and word pairs associated with a label: smoothed PMI and exact tests, corrected.

Counts are of sentences, by label, that contain a word, a bigram, or a word pair (one word in the premise and one in the
hypothesis). Bigrams and word pairs are counted for the most common words of each side only, so that the counts fit in a
table of fixed size; word pairs leave out function words, which occur with everything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.core.suite import compact_frame
from acidtest.english.misspelling import function_words
from acidtest.stats.significance import adjusted
from acidtest.studies.audit.measures import counted_share
from acidtest.studies.scoring.pair_batches import GOLD, Codes, Flags, Floats, PairBatch

LEAST = 10
"""Items in fewer sentences are not tested, as they could hardly become significant."""
SMOOTHING = 100
"""Added to every count before PMI is computed, as in Gururangan et al. (2018)."""
ALPHA = 0.05
CORRECTION = "holm"
USUAL_SHARE, POWER = 0.01, 0.8
"""The share of other sentences with an item, and the chance to find it, for which ``detectable`` is computed."""

CellCounter = Callable[[Flags], tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]]
"""Takes flags of rows; returns the table cells that these rows fall in, and the number of rows in each."""

_TOP = 10
_CELLS = 8_000_000
"""Largest number of counts in a table of two words; limits how many words are counted."""
_MOST_COMMON = 2_000
_PENDING = 1 << 16
_MOST_WORDS = 1 << 20
"""Beyond this number of different words with labels, those seen once are dropped."""


@dataclass(frozen=True)
class Cue:
    """An item associated with a label: it is in ``count`` sentences, of which ``with_label`` have the label.

    ``pmi`` is in bits; ``p`` is the corrected chance of as many or more if labels were assigned at random.
    """

    item: str
    label: str
    count: int
    with_label: int
    pmi: float
    p: float

    json_properties = ("share",)

    @property
    def share(self) -> float:
        """Share of the sentences with the item that have the label."""
        return self.with_label / self.count

    @property
    def estimate(self) -> Estimate:
        """The share with its interval."""
        return counted_share(self.with_label, self.count)


@dataclass(frozen=True)
class CueResult:
    """Cues of one kind; ``tested`` counts the items tested, ``p`` is the smallest corrected p-value.

    ``tied`` counts the items significantly associated with each label; ``top`` has those of them with highest PMI.
    ``detectable`` is the smallest share of the most frequent label's sentences that an item must be in to be found in
    80 % of such sets, if it is in 1 % of the other sentences; NaN if nothing is tested or no share suffices.
    """

    tested: int
    tied: Mapping[str, int]
    top: Mapping[str, tuple[Cue, ...]]
    detectable: float = float("nan")
    p: float = field(default=float("nan"), metadata={"json": None})
    least: int = LEAST
    smoothing: int = SMOOTHING
    correction: str = CORRECTION


@dataclass(frozen=True)
class Polarity:
    """Counts of word pairs by polarity, the most frequent label of the sentences with the pair (Sanchez et al. 2018).

    ``polarity`` counts pairs by that label, under ``tie`` those with several; ``leaning`` counts the pairs associated
    with a label at a false discovery rate of 5 % (Benjamini and Hochberg). Pairs in fewer than ``least`` sentences are
    left out.
    """

    pairs: int
    polarity: Mapping[str, int]
    leaning: Mapping[str, int]
    least: int = LEAST


@dataclass(frozen=True)
class ItemCounts:
    """Items counted by label: ``counts`` has a row for each item and a column for each of ``GOLD``.

    ``names`` returns the names of given rows; they are not stored, as there may be a million. ``totals`` are the
    numbers of all sentences, or pairs, by label.
    """

    names: Callable[[Codes], pl.Series]
    counts: npt.NDArray[np.integer]
    totals: Codes

    def commonest(self, *, without: tuple[str, ...] = ()) -> pl.Series:
        """The most frequent words, as many as a table of two words has room for; ties in alphabetical order."""
        size = min(_MOST_COMMON, int((_CELLS / max(int(np.count_nonzero(self.totals)), 1)) ** 0.5))
        frame = pl.DataFrame({"word": self.names(np.arange(len(self.counts))), "n": self.counts.sum(axis=1)})
        frame = frame.filter(~pl.col("word").is_in(without)) if without else frame
        return frame.sort("n", "word", descending=[True, False])["word"].head(size)


class WordCounter:
    """Counts the words of one side (premise or hypothesis) by label."""

    def __init__(self, side: str) -> None:
        self.side = side
        self._totals = np.zeros(len(GOLD), dtype=np.int64)
        self._parts, self._pending = list[pl.DataFrame](), 0

    def add(self, batch: PairBatch, new: Flags) -> None:
        """Count the rows flagged as new, so that a sentence counts once for each label it has."""
        labels = batch.labels[new]
        self._totals += np.bincount(labels, minlength=len(GOLD))
        frame = pl.DataFrame({"word": batch.words[self.side].filter(pl.Series(new)).list.unique(), "label": labels})
        words = frame.explode("word", empty_as_null=False, keep_nulls=False)
        self._parts.append(words.group_by("word", "label").agg(n=pl.len().cast(pl.Int64)))
        self._pending += self._parts[-1].height
        if self._pending > _PENDING:
            self._merge()

    def counts(self) -> ItemCounts:
        """The counts, with words in alphabetical order."""
        self._merge()
        (frame,) = self._parts
        words = frame["word"].unique().sort()
        counts = np.zeros((len(words), len(GOLD)), dtype=np.int64)
        placed = frame.join(pl.DataFrame({"word": words}).with_row_index("place"), on="word")
        counts[placed["place"].to_numpy(), placed["label"].to_numpy()] = placed["n"].to_numpy()
        return ItemCounts(lambda rows: words[rows], counts, self._totals)

    def _merge(self) -> None:
        merged = pl.concat(self._parts).group_by("word", "label").agg(pl.col("n").sum())
        if merged.height > _MOST_WORDS:
            merged = merged.filter(pl.col("n") > 1)
        # Without compacting, long words would keep the texts of their batches in memory.
        self._parts, self._pending = [compact_frame(merged)], 0


class TwoWordCounter:
    """Counts word pairs (one word in the premise, one in the hypothesis) or bigrams of the hypothesis, by label.

    A pair may have the same word twice. Counts take two bytes each until one of a label overflows, then four.
    """

    def __init__(self, hypothesis: ItemCounts, premise: ItemCounts | None = None) -> None:
        """Counts word pairs if ``premise`` is given, bigrams of the hypothesis otherwise."""
        self._across = premise is not None
        function = tuple(function_words()["word"]) if premise else ()
        self._second = hypothesis.commonest(without=function)
        self._first = premise.commonest(without=function) if premise else self._second
        self._table: dict[int, npt.NDArray[np.integer]] = {
            int(label): np.zeros(len(self._first) * len(self._second), dtype=np.uint16)
            for label in np.flatnonzero(hypothesis.totals)
        }
        self._totals = np.zeros(len(GOLD), dtype=np.int64)

    def add(self, batch: PairBatch, new: Flags) -> None:
        """Count the rows flagged as new, so that a hypothesis, or a pair, counts once for each label it has."""
        count = self._pairs(batch) if self._across else self._bigrams(batch)
        self._totals += np.bincount(batch.labels[new], minlength=len(GOLD))
        for label, table in self._table.items():
            cells, numbers = count(new & (batch.labels == label))
            total = table[cells] + numbers.astype(np.int32)
            if total.max(initial=0) > np.iinfo(table.dtype).max:
                table = self._table[label] = table.astype(np.int32)
            table[cells] = total

    def counts(self, least: int = LEAST) -> ItemCounts:
        """Items in at least ``least`` rows, named ``word → word`` for word pairs and ``word word`` for bigrams."""
        first, second, separator = self._first, self._second, " → " if self._across else " "
        size = len(first) * len(second)
        cells = np.flatnonzero(sum(self._table.values(), np.zeros(size, dtype=np.int32)) >= least)
        counts = np.zeros((len(cells), len(GOLD)), dtype=np.int32)
        for label, table in self._table.items():
            counts[:, label] = table[cells]

        def names(rows: Codes) -> pl.Series:
            lefts, rights = np.divmod(cells[rows], max(len(second), 1))
            words = pl.DataFrame({"first": first[lefts], "second": second[rights]})
            return words.select(pl.concat_str("first", "second", separator=separator)).to_series()

        return ItemCounts(names, counts, self._totals)

    def _bigrams(self, batch: PairBatch) -> CellCounter:
        numbers = _word_numbers(batch.words["hypothesis"], self._second)
        row, word = numbers["row"].to_numpy(), numbers["number"].to_numpy()
        known = np.flatnonzero((row[:-1] == row[1:]) & (word[:-1] >= 0) & (word[1:] >= 0))
        cells = word[known] * len(self._second) + word[known + 1]
        once = pl.DataFrame({"row": row[known], "cell": cells}).unique()
        row, cells = once["row"].to_numpy(), once["cell"].to_numpy()
        return lambda chosen: np.unique(cells[chosen[row]], return_counts=True)

    def _pairs(self, batch: PairBatch) -> CellCounter:
        from scipy.sparse import csr_array

        tables = []
        for split, words in ((batch.words["premise"], self._first), (batch.words["hypothesis"], self._second)):
            once = _word_numbers(split, words).filter(pl.col("number") >= 0).unique()
            places = once["row"].to_numpy(), once["number"].to_numpy()
            shape = len(split), len(words)
            tables.append(csr_array((np.ones(once.height, dtype=np.int32), places), shape=shape))

        def count(chosen: Flags) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]:
            rows = np.flatnonzero(chosen)
            both = (tables[0][rows].T @ tables[1][rows]).tocoo()
            return both.row.astype(np.int64) * both.shape[1] + both.col, both.data

        return count


def find_cues(items: ItemCounts, *, effect: float = 1.0, alpha: float = ALPHA) -> CueResult:
    """Find the items that are associated with a label.

    The test is the exact binomial tail: the chance that so many of an item's sentences, or more, have the label. Holm's
    correction is over all items and labels of the kind. ``effect`` is the design effect of labels. ``alpha`` is the
    level for the whole kind at which ``detectable`` is computed.
    """
    kept, labels, counts, tails = _test_items(items, effect)
    if not tails.size:
        return CueResult(len(kept), {}, {})
    detectable = detectable_share(items.totals[labels] / effect, alpha=alpha / tails.size)
    totals, ps = items.totals[labels], adjusted(tails.ravel(), CORRECTION).reshape(tails.shape)
    tied, best = {}, {}
    for column, label in enumerate(GOLD[code] for code in labels):
        rows = np.flatnonzero(ps[:, column] < ALPHA)
        tied[label] = len(rows)
        columns = {
            "item": items.names(kept[rows]),
            "count": counts[rows].sum(axis=1),
            "with_label": counts[rows, column],
            "pmi": smoothed_pmi(counts[rows], totals)[:, column],
            "p": ps[rows, column],
        }
        shown = pl.DataFrame(columns).sort("pmi", "item", descending=[True, False]).head(_TOP)
        best[label] = tuple(Cue(label=label, **row) for row in shown.iter_rows(named=True))
    return CueResult(len(kept), tied, best, detectable, min(float(tails.min()) * tails.size, 1.0))


def detectable_share(totals: npt.ArrayLike, *, alpha: float) -> float:
    """The share of the most frequent label's sentences that an item must be in to be found; see ``CueResult``.

    ``totals`` are the numbers of sentences by label, ``alpha`` the level of one test. NaN if no share suffices.
    """
    from scipy.special import bdtrc, betainc

    sizes = np.asarray(totals, dtype=np.float64)
    n, others = sizes.max(), sizes.sum() - sizes.max()
    shares = np.concatenate([np.arange(USUAL_SHARE, 0.2, 0.001), np.arange(0.2, 1.001, 0.01)])
    elsewhere = USUAL_SHARE * others
    for share in shares:
        sentences = round(share * n + elsewhere)
        # How many of the item's sentences have the label is binomial, with a larger share than that of the label.
        counts = np.arange(1, sentences + 1)
        tails = betainc(counts, sentences - counts + 1, n / sizes.sum())
        needed = np.flatnonzero(tails < alpha)
        if needed.size and bdtrc(needed[0], sentences, share * n / (share * n + elsewhere)) >= POWER:
            return round(float(share), 3)
    return float("nan")


def measure_polarity(items: ItemCounts, *, effect: float = 1.0) -> Polarity:
    """Count word pairs by their most frequent label, and those significantly associated with one."""
    kept, labels, counts, tails = _test_items(items, effect)
    if not tails.size:
        return Polarity(0, {}, {})
    most = counts == counts.max(axis=1, keepdims=True)
    single = most.sum(axis=1) == 1
    beyond = adjusted(tails.ravel(), "bh").reshape(tails.shape) < ALPHA
    polarity = {GOLD[code]: int((single & most[:, column]).sum()) for column, code in enumerate(labels)}
    leaning = {GOLD[code]: int(beyond[:, column].sum()) for column, code in enumerate(labels)}
    return Polarity(len(kept), polarity | {"tie": int((~single).sum())}, leaning)


def smoothed_pmi(counts: npt.NDArray[np.integer], totals: Codes) -> Floats:
    """Pointwise mutual information of items (rows) and labels (columns) in bits, from counts with ``SMOOTHING`` added.

    Counts of the sentences without the item are smoothed too; shares are taken from the smoothed table.
    """
    present = counts + SMOOTHING
    absent = totals - counts + SMOOTHING
    everything = (present + absent).sum(axis=1, keepdims=True)
    expected = present.sum(axis=1, keepdims=True) * (present + absent) / everything
    return np.asarray(np.log2(present / expected), dtype=np.float64)


def _test_items(items: ItemCounts, effect: float) -> tuple[Codes, Codes, npt.NDArray[np.integer], Floats]:
    """The items in enough sentences, the labels that occur, and the count and binomial tail of each combination.

    The tail is the chance of at least that count if each sentence had the label with its overall share. Nothing is
    tested if there are fewer than two labels.
    """
    from scipy.special import betainc

    kept, labels = np.flatnonzero(items.counts.sum(axis=1) >= LEAST), np.flatnonzero(items.totals)
    if len(labels) < 2:
        kept, labels = kept[:0], labels[:0]
    counts = items.counts[np.ix_(kept, labels)]
    tails = np.ones(counts.shape)
    shares, sentences = items.totals[labels] / items.totals.sum(), (counts / effect).sum(axis=1)
    for column, share in enumerate(shares):
        rows = np.flatnonzero(counts[:, column])
        worth = counts[rows, column] / effect
        # The incomplete beta function gives the binomial tail for fractional counts, too.
        tails[rows, column] = betainc(worth, sentences[rows] - worth + 1, share)
    return kept, labels, counts, tails


def _word_numbers(split: pl.Series, words: pl.Series) -> pl.DataFrame:
    """All words in order, as columns row and number: the word's index in ``words``, -1 if it is not there."""
    frame = pl.DataFrame({"row": np.arange(len(split)), "word": split})
    known = pl.DataFrame({"word": words}).with_row_index("number").cast({"number": pl.Int64})
    tokens = frame.explode("word", empty_as_null=False, keep_nulls=False)
    tokens = tokens.join(known, on="word", how="left", maintain_order="left")
    return tokens.select("row", pl.col("number").fill_null(-1))
