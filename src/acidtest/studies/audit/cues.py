"""Words, bigrams and pairs of words that are tied to a label: smoothed PMI, exact tests, corrected.

Counted are the sentences of each label that hold a word, or two: side by side, or one in the premise and one in the
hypothesis. Of two words only those are counted that are common on their side, so that all of them fit in a table of
fixed size; in pairs across the two sentences no function words, which go with everything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import betainc

from acidtest.core.estimate import Estimate
from acidtest.core.streams import compact_frame
from acidtest.studies.audit.batches import GOLD, Codes, Flags, Floats, PairBatch
from acidtest.studies.audit.measures import counted_share
from acidtest.text.misspelling import function_words

LEAST = 10
"""What is in fewer sentences is not tested: it could hardly pass."""
SMOOTHING = 100
"""Added to every count before PMI is taken, as Gururangan et al. (2018) do."""
ALPHA = 0.05
CORRECTION = "holm"

CellCounter = Callable[[Flags], tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]]
"""Gives the cells of a table that some rows fall in, and how many do."""

_TOP = 10
_CELLS = 8_000_000
"""How many counts a table of two words holds, at most, which sets how many words are counted."""
_MOST_COMMON = 2_000
_PENDING = 1 << 16
_MOST_WORDS = 1 << 20
"""How many words with their labels are kept; beyond, those seen once are forgotten."""


@dataclass(frozen=True)
class Cue:
    """Something that goes with a label: in ``count`` sentences, of which ``with_label`` have it.

    ``pmi`` is in bits, ``p`` the chance of as many or more if labels were drawn for the sentences, corrected.
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
    """What was tested of one kind, and what stands out; ``p`` is the smallest of all corrected ones.

    ``tied`` counts the items tied to each label, ``top`` has those of highest PMI; nothing is in it that is not tied.
    """

    tested: int
    tied: Mapping[str, int]
    top: Mapping[str, tuple[Cue, ...]]
    p: float = field(default=float("nan"), metadata={"json": None})
    least: int = LEAST
    smoothing: int = SMOOTHING
    correction: str = CORRECTION


@dataclass(frozen=True)
class Polarity:
    """The label that most sentences with a pair of words have (Sanchez et al. 2018), over all pairs tested.

    ``polarity`` counts pairs by that label, ``tie`` those with several; ``leaning`` those that lean beyond chance, at
    a false discovery rate of 5 % (Benjamini and Hochberg). ``least``: pairs in fewer sentences are left out.
    """

    pairs: int
    polarity: Mapping[str, int]
    leaning: Mapping[str, int]
    least: int = LEAST


@dataclass(frozen=True)
class ItemCounts:
    """Things counted by label: ``counts`` has a row for each thing and a column for each of ``GOLD``.

    ``names`` gives the names of some rows when they are asked for: there may be a million. ``totals`` are all
    sentences, or pairs of them, by label.
    """

    names: Callable[[Codes], pl.Series]
    counts: npt.NDArray[np.integer]
    totals: Codes

    def commonest(self, *, without: tuple[str, ...] = ()) -> pl.Series:
        """The words in most sentences, as many as a table of two words has room for; ties by the alphabet."""
        size = min(_MOST_COMMON, int((_CELLS / max(int(np.count_nonzero(self.totals)), 1)) ** 0.5))
        frame = pl.DataFrame({"word": self.names(np.arange(len(self.counts))), "n": self.counts.sum(axis=1)})
        frame = frame.filter(~pl.col("word").is_in(without)) if without else frame
        return frame.sort("n", "word", descending=[True, False])["word"].head(size)


class WordCounter:
    """Counts words on one side of the rows it is shown."""

    def __init__(self, side: str) -> None:
        self.side = side
        self._totals = np.zeros(len(GOLD), dtype=np.int64)
        self._parts, self._pending = list[pl.DataFrame](), 0

    def add(self, batch: PairBatch, new: Flags) -> None:
        """Count the pairs that are new: a sentence should count once for each label it has."""
        labels = batch.labels[new]
        self._totals += np.bincount(labels, minlength=len(GOLD))
        frame = pl.DataFrame({"word": batch.words[self.side].filter(pl.Series(new)).list.unique(), "label": labels})
        words = frame.explode("word", empty_as_null=False, keep_nulls=False)
        self._parts.append(words.group_by("word", "label").agg(n=pl.len().cast(pl.Int64)))
        self._pending += self._parts[-1].height
        if self._pending > _PENDING:
            self._merge()

    def counts(self) -> ItemCounts:
        """What was counted, in the order of the alphabet."""
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
        # A frame of long words keeps the texts of every batch alive that they came from.
        self._parts, self._pending = [compact_frame(merged)], 0


class TwoWordCounter:
    """Counts common words together: one in the premise and one in the hypothesis, or bigrams of the hypothesis.

    A word with itself is a pair, too. A label's counts take two bytes each as long as all fit.
    """

    def __init__(self, hypothesis: ItemCounts, premise: ItemCounts | None = None) -> None:
        """With the words of the premise, pairs across both sentences are counted; without, bigrams."""
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
        """Count the rows that are new: a hypothesis, or a pair, should count once for each label it has."""
        count = self._pairs(batch) if self._across else self._bigrams(batch)
        self._totals += np.bincount(batch.labels[new], minlength=len(GOLD))
        for label, table in self._table.items():
            cells, numbers = count(new & (batch.labels == label))
            total = table[cells] + numbers.astype(np.int32)
            if total.max(initial=0) > np.iinfo(table.dtype).max:
                table = self._table[label] = table.astype(np.int32)
            table[cells] = total

    def counts(self, least: int = LEAST) -> ItemCounts:
        """What stands together in at least so many rows: ``word → word`` across sentences, ``word word`` in one."""
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


def find_cues(items: ItemCounts, *, effect: float = 1.0) -> CueResult:
    """What is tied to a label, of the things that were counted.

    The test is the exact binomial tail: that so many of an item's sentences, or more, have the label. Holm's correction
    is over all items and labels of the kind. ``effect`` is how many sentences are worth one independent one.
    """
    kept, labels, counts, tails = _test_items(items, effect)
    if not tails.size:
        return CueResult(len(kept), {}, {})
    totals, ps = items.totals[labels], _corrected(tails)
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
    return CueResult(len(kept), tied, best, min(float(tails.min()) * tails.size, 1.0))


def measure_polarity(items: ItemCounts, *, effect: float = 1.0) -> Polarity:
    """How pairs of words lean to labels."""
    kept, labels, counts, tails = _test_items(items, effect)
    if not tails.size:
        return Polarity(0, {}, {})
    most = counts == counts.max(axis=1, keepdims=True)
    single = most.sum(axis=1) == 1
    beyond = _corrected(tails, false_discovery=True) < ALPHA
    polarity = {GOLD[code]: int((single & most[:, column]).sum()) for column, code in enumerate(labels)}
    leaning = {GOLD[code]: int(beyond[:, column].sum()) for column, code in enumerate(labels)}
    return Polarity(len(kept), polarity | {"tie": int((~single).sum())}, leaning)


def smoothed_pmi(counts: npt.NDArray[np.integer], totals: Codes) -> Floats:
    """Pointwise mutual information of items (rows) and labels (columns) in bits, from counts with ``SMOOTHING`` added.

    Every cell gets the same, as does the cell of the sentences without the item; shares are of the smoothed table.
    """
    present = counts + SMOOTHING
    absent = totals - counts + SMOOTHING
    everything = (present + absent).sum(axis=1, keepdims=True)
    expected = present.sum(axis=1, keepdims=True) * (present + absent) / everything
    return np.asarray(np.log2(present / expected), dtype=np.float64)


def _test_items(items: ItemCounts, effect: float) -> tuple[Codes, Codes, npt.NDArray[np.integer], Floats]:
    """The items in enough sentences, the labels that there are, and for each two the count and its binomial tail.

    That is the chance of at least so many, each sentence with an item having a label with that label's share. Nothing
    is tested where there is one label.
    """
    kept, labels = np.flatnonzero(items.counts.sum(axis=1) >= LEAST), np.flatnonzero(items.totals)
    if len(labels) < 2:
        kept, labels = kept[:0], labels[:0]
    counts = items.counts[np.ix_(kept, labels)]
    tails = np.ones(counts.shape)
    shares, sentences = items.totals[labels] / items.totals.sum(), (counts / effect).sum(axis=1)
    for column, share in enumerate(shares):
        rows = np.flatnonzero(counts[:, column])
        worth = counts[rows, column] / effect
        # The binomial tail is an incomplete beta function, which takes parts of a sentence, too.
        tails[rows, column] = betainc(worth, sentences[rows] - worth + 1, share)
    return kept, labels, counts, tails


def _corrected(tails: Floats, *, false_discovery: bool = False) -> Floats:
    """p-values corrected by Holm, or by Benjamini and Hochberg: exactly if below ``ALPHA``, 1 if they were not before.

    There may be millions, of which ``significance`` would make lists; few are below.
    """
    flat = tails.ravel()
    low = np.flatnonzero(flat < ALPHA)
    order = low[np.argsort(flat[low], kind="stable")]
    ordered, ranks, corrected = flat[order], np.arange(len(order)), np.ones(flat.size)
    if false_discovery:
        ordered = np.minimum.accumulate((ordered * (flat.size / (ranks + 1)))[::-1])[::-1]
    else:
        ordered = np.maximum.accumulate(ordered * (flat.size - ranks))
    corrected[order] = np.minimum(ordered, 1.0)
    return corrected.reshape(tails.shape)


def _word_numbers(split: pl.Series, words: pl.Series) -> pl.DataFrame:
    """Every word of every sentence in order: columns row and number, -1 for a word that is not counted."""
    frame = pl.DataFrame({"row": np.arange(len(split)), "word": split})
    known = pl.DataFrame({"word": words}).with_row_index("number").cast({"number": pl.Int64})
    tokens = frame.explode("word", empty_as_null=False, keep_nulls=False)
    tokens = tokens.join(known, on="word", how="left", maintain_order="left")
    return tokens.select("row", pl.col("number").fill_null(-1))
