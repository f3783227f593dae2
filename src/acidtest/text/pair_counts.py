"""How often words stand in a training set: two across premise and hypothesis, or one anywhere in an example.

The training set is gone through once, in pieces. Words are whole, in lower case and as treebanks part them; an option
counts their inflections too, so that *hotter* counts as *hot*. A word that might be a form of two counts for both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.labels import LABELS
from acidtest.core.streams import visit_batches
from acidtest.core.suite import Suite
from acidtest.text.morphology import candidate_frame
from acidtest.text.swaps import PLURALS
from acidtest.text.tokens import placed

CONTRADICTION = "contradiction"

Codes = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int64]

# Pieces smaller than this are put together: taking texts apart costs a little for each piece.
_ROWS = 1 << 15


@dataclass(frozen=True)
class PairCounts:
    """For each pair of words the contradictions it stands in, null for several words, and how many there are."""

    counts: pl.Series
    rows: int


@dataclass(frozen=True)
class LabelCounts:
    """For each pair of words the examples of each label it stands in, null for several words, and their number."""

    counts: pl.DataFrame
    rows: Mapping[str, int]


@dataclass(frozen=True)
class WordCounts:
    """For each word the examples that hold it, null for several words, and how many there are."""

    words: pl.Series
    counts: pl.Series
    rows: int

    @property
    def mean(self) -> float:
        """Mean count of the different words; NaN without any."""
        return float(self._distinct.mean()) if len(self._distinct) else float("nan")

    @property
    def median(self) -> float:
        """Median count of the different words; NaN without any."""
        return float(np.median(self._distinct)) if len(self._distinct) else float("nan")

    @property
    def rarest(self) -> tuple[str, int] | None:
        """The word in the fewest examples, the first of several in the alphabet, with its count."""
        return self._at(0)

    @property
    def commonest(self) -> tuple[str, int] | None:
        """The word in most examples, with its count."""
        return self._at(-1)

    @property
    def _table(self) -> pl.DataFrame:
        table = pl.DataFrame({"word": self.words.str.to_lowercase(), "n": self.counts}).drop_nulls()
        return table.unique("word").sort("n", "word")

    @property
    def _distinct(self) -> Counts:
        return self._table["n"].to_numpy()

    def _at(self, row: int) -> tuple[str, int] | None:
        table = self._table
        return (table["word"][row], int(table["n"][row])) if table.height else None


def pair_counts(pairs: pl.DataFrame, train: Suite, *, directed: bool = True, inflections: bool = False) -> PairCounts:
    """How many contradictions hold the words of each pair, the first two columns, across premise and hypothesis.

    ``directed``: the first word in the premise and the second in the hypothesis, as in Glockner et al. (2018), section
    5.3; else either in either. An example counts once, however often it holds them.
    """
    found = label_counts(pairs, train, labels=(CONTRADICTION,), directed=directed, inflections=inflections)
    rows = found.rows[CONTRADICTION]
    if not rows:
        raise AcidtestError(
            f"{train.name} has no contradictions to look for pairs of words in; give a three-way training set"
        )
    return PairCounts(found.counts[CONTRADICTION], rows)


def label_counts(
    pairs: pl.DataFrame,
    train: Suite,
    *,
    labels: Sequence[str] = LABELS,
    directed: bool = True,
    inflections: bool = False,
) -> LabelCounts:
    """How many examples of each label hold the words of each pair, as ``pair_counts`` does for contradictions.

    The training set is gone through once, whatever the number of pairs. Rows with other labels are left aside.
    """
    first, second = (pairs[name].cast(pl.String).str.to_lowercase() for name in pairs.columns[:2])
    known = _Known.of(pl.concat([first, second]))
    here, there = known.numbers(first), known.numbers(second)
    asked = np.flatnonzero((here >= 0) & (there >= 0))
    codes = known.pairs(here[asked], there[asked], directed=directed)
    wanted, place = np.unique(codes, return_inverse=True)
    sides = (here[asked], there[asked]) if directed else (np.concatenate([here[asked], there[asked]]),) * 2
    counts = np.zeros((len(wanted), len(labels)), dtype=np.int64)
    rows = np.zeros(len(labels), dtype=np.int64)

    def count(batch: pl.DataFrame) -> None:
        label = batch["label"].to_numpy()
        rows[:] += np.bincount(label, minlength=len(labels))
        premise, hypothesis = (
            known.mentions(batch[name], only=side, inflections=inflections)
            for name, side in zip(("premise", "hypothesis"), sides, strict=True)
        )
        both = premise.join(hypothesis, on="text", suffix="_other")
        found = known.pairs(both["word"].to_numpy(), both["word_other"].to_numpy(), directed=directed)
        held = _held(found, wanted)
        # "Hot and cold" before "cold and hot" is one example of the unordered pair, not two.
        once = pl.DataFrame({"text": both["text"].to_numpy()[held], "pair": found[held]}).unique()
        which = np.searchsorted(wanted, once["pair"].to_numpy())
        cells = which * len(labels) + label[once["text"].to_numpy()]
        counts[:] += np.bincount(cells, minlength=counts.size).reshape(counts.shape)

    number = pl.col("label").cast(pl.String).replace_strict(list(labels), range(len(labels)), return_dtype=pl.Int64)
    chosen = train.frame.filter(pl.col("label").cast(pl.String).is_in(list(labels)))
    _visit(chosen.select("premise", "hypothesis", number.alias("label")), count)
    spread = {label: _spread(counts[place, i], asked, pairs.height) for i, label in enumerate(labels)}
    return LabelCounts(pl.DataFrame(spread), dict(zip(labels, map(int, rows), strict=True)))


def word_counts(words: pl.Series, train: Suite, *, inflections: bool = False) -> WordCounts:
    """How many examples hold each word, in the premise or in the hypothesis (Glockner et al. 2018, section 3.1)."""
    lower = words.cast(pl.String).str.to_lowercase()
    known = _Known.of(lower)
    counts, rows = np.zeros(len(known.words), dtype=np.int64), 0

    def count(batch: pl.DataFrame) -> None:
        nonlocal rows
        rows += batch.height
        sides = [known.mentions(batch[side], inflections=inflections) for side in ("premise", "hypothesis")]
        held = pl.concat(sides).unique()["word"].to_numpy()
        counts[:] += np.bincount(held, minlength=len(counts))

    _visit(train.frame.select("premise", "hypothesis"), count)
    if not rows:
        raise AcidtestError(f"{train.name} has no examples to count words in; give another training set")
    numbers = known.numbers(lower)
    asked = np.flatnonzero(numbers >= 0)
    return WordCounts(words, _spread(counts[numbers[asked]], asked, len(words)), rows)


@dataclass(frozen=True)
class _Known:
    """The different words to look for, by number; what holds white space is not looked for."""

    words: pl.Series

    @classmethod
    def of(cls, words: pl.Series) -> _Known:
        single = words.drop_nulls().unique()
        return cls(single.filter(single.str.contains(r"^\S+$")).sort().alias("word"))

    def numbers(self, words: pl.Series) -> Codes:
        """The number of each word, -1 for one that is not looked for."""
        table = pl.DataFrame({"word": self.words, "number": np.arange(len(self.words))})
        found = pl.DataFrame({"word": words}).join(table, on="word", how="left", maintain_order="left")
        return found["number"].fill_null(-1).to_numpy().astype(np.int64)

    def pairs(self, first: Codes, second: Codes, *, directed: bool) -> Codes:
        """One number for each pair of numbers."""
        if not directed:
            first, second = np.minimum(first, second), np.maximum(first, second)
        return np.asarray(first * len(self.words) + second, dtype=np.int64)

    def mentions(self, texts: pl.Series, *, only: Codes | None = None, inflections: bool) -> pl.DataFrame:
        """Which words (of those in ``only``) stand in which text, each once: columns text and word, as numbers."""
        found = placed(texts)
        forms = self._forms(found.words.str.to_lowercase(), inflections=inflections)
        if only is not None:
            forms = forms.filter(pl.Series(np.isin(np.arange(len(self.words)), only)).gather(forms["word"]))
        places = pl.DataFrame({"text": found.text, "row": found.word}, schema={"text": pl.Int64, "row": pl.Int64})
        return places.join(forms, on="row").select("text", "word").unique()

    def _forms(self, words: pl.Series, *, inflections: bool) -> pl.DataFrame:
        """Which tokens are which words: columns row and word, as numbers."""
        if inflections:
            frame = candidate_frame(words).select(pl.col("row").cast(pl.Int64), pl.col("form"))
            known = pl.DataFrame({"word": words}).with_row_index("row").join(PLURALS, on="word")
            frame = pl.concat([frame, known.select(pl.col("row").cast(pl.Int64), form="base")])
        else:
            frame = pl.DataFrame({"form": words}).with_row_index("row").cast({"row": pl.Int64})
        table = pl.DataFrame({"form": self.words, "word": np.arange(len(self.words), dtype=np.int64)})
        return frame.join(table, on="form").select("row", "word").unique()


def _held(found: Codes, wanted: Codes) -> npt.NDArray[np.bool_]:
    """Which codes are among the wanted, which are in order; quicker than ``np.isin`` where these are few."""
    if not len(wanted):
        return np.zeros(len(found), dtype=np.bool_)
    place = np.minimum(np.searchsorted(wanted, found), len(wanted) - 1)
    return np.asarray(wanted[place] == found, dtype=np.bool_)


def _visit(frame: pl.LazyFrame, count: Callable[[pl.DataFrame], None]) -> None:
    """Show a frame to a function in pieces of a good size."""
    held: list[pl.DataFrame] = []

    def add(batch: pl.DataFrame) -> None:
        held.append(batch)
        if sum(each.height for each in held) >= _ROWS:
            count(pl.concat(held))
            held.clear()

    visit_batches(frame, add)
    if held:
        count(pl.concat(held))


def _spread(counts: Counts, rows: Codes, size: int) -> pl.Series:
    """The counts of some rows among all, null elsewhere."""
    values = np.zeros(size, dtype=np.int64)
    values[rows] = counts
    missing = np.ones(size, dtype=np.bool_)
    missing[rows] = False
    return pl.DataFrame({"n": values, "missing": missing}).select(pl.when(~pl.col("missing")).then("n")).to_series()
