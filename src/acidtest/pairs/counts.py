"""Counts words in a training set: pairs across premise and hypothesis, or single words anywhere in an example.

The training set is read once, in batches. Words are whole tokens in lower case, split as in treebanks; an option
also counts inflected forms, so that *hotter* counts as *hot*. A form of two words counts for both.

The polarity of a pair of words is the label that a training set ties to it (Sanchez, Mitchell and Riedel 2018, section
5.5): the most frequent class of the examples that hold the ordered pair, ``none`` for a pair that no example holds;
classes that are equally frequent make a category of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.labels import LABELS
from acidtest.core.suite import Suite, visit_batches
from acidtest.english.inflection import base_form_candidate_frame
from acidtest.english.tokens import tokenise
from acidtest.english.wordnet import PLURALS, base_forms

CONTRADICTION = "contradiction"

Codes = npt.NDArray[np.int64]

# Smaller batches are combined: tokenising has a fixed cost per batch.
_ROWS = 1 << 15

UNSEEN = "none"
TIE = " = "

_BASES = ("premise_base", "hypothesis_base")
_NAMES = tuple(TIE.join(label for bit, label in enumerate(LABELS) if mask >> bit & 1) or UNSEEN for mask in range(8))

CATEGORIES = tuple(sorted(_NAMES, key=lambda name: (name == UNSEEN, name.count(TIE), _NAMES.index(name))))
"""Every possible polarity: the three labels, the four ties, none."""


@dataclass(frozen=True)
class PairCounts:
    """The number of contradictions that contain each word pair, null if a side has several words; ``rows``: of all."""

    counts: pl.Series
    rows: int


@dataclass(frozen=True)
class LabelCounts:
    """The number of examples of each label that contain each word pair, null if a side is several words; and of all."""

    counts: pl.DataFrame
    rows: Mapping[str, int]


@dataclass(frozen=True)
class WordCounts:
    """The number of examples that contain each word, null for several words; and of all examples."""

    words: pl.Series
    counts: pl.Series
    rows: int

    @property
    def mean(self) -> float:
        """Mean count of the different words; NaN without any."""
        return float(self._distinct["n"].to_numpy().mean()) if self._distinct.height else float("nan")

    @property
    def median(self) -> float:
        """Median count of the different words; NaN without any."""
        return float(np.median(self._distinct["n"].to_numpy())) if self._distinct.height else float("nan")

    @property
    def rarest(self) -> tuple[str, int] | None:
        """The word in the fewest examples, with its count; of several, the alphabetically first."""
        return self._distinct.row(0) if self._distinct.height else None

    @property
    def commonest(self) -> tuple[str, int] | None:
        """The word in most examples, with its count; of several, the alphabetically last."""
        return self._distinct.row(-1) if self._distinct.height else None

    @cached_property
    def _distinct(self) -> pl.DataFrame:
        table = pl.DataFrame({"word": self.words.str.to_lowercase(), "n": self.counts}).drop_nulls()
        return table.unique("word").sort("n", "word")


def pair_counts(pairs: pl.DataFrame, train: Suite, *, directed: bool = True, inflections: bool = False) -> PairCounts:
    """How many contradictions contain each word pair (the first two columns) across premise and hypothesis.

    ``directed``: the first word in the premise and the second in the hypothesis, as in Glockner et al. (2018), section
    5.3; otherwise in either order. An example counts once, however often it contains them.
    """
    totals = label_counts(pairs, train, labels=(CONTRADICTION,), directed=directed, inflections=inflections)
    rows = totals.rows[CONTRADICTION]
    if not rows:
        raise AcidtestError(
            f"{train.name} has no contradictions to look for pairs of words in; give a three-way training set"
        )
    return PairCounts(totals.counts[CONTRADICTION], rows)


def label_counts(
    pairs: pl.DataFrame,
    train: Suite,
    *,
    labels: Sequence[str] = LABELS,
    directed: bool = True,
    inflections: bool = False,
) -> LabelCounts:
    """How many examples of each label contain each word pair, as ``pair_counts`` does for contradictions.

    The training set is read once, whatever the number of pairs. Rows with other labels are skipped.
    """
    first, second = (pairs[name].cast(pl.String).str.to_lowercase() for name in pairs.columns[:2])
    known = _CountedWords.of(pl.concat([first, second]))
    here, there = known.numbers(first), known.numbers(second)
    counted = np.flatnonzero((here >= 0) & (there >= 0))
    codes = known.pairs(here[counted], there[counted], directed=directed)
    wanted, place = np.unique(codes, return_inverse=True)
    sides = (here[counted], there[counted]) if directed else (np.concatenate([here[counted], there[counted]]),) * 2
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
        pair_codes = known.pairs(both["word"].to_numpy(), both["word_other"].to_numpy(), directed=directed)
        is_wanted = _among_sorted(pair_codes, wanted)
        # Premise "hot and cold" with hypothesis "cold and hot" is one example of the unordered pair, not two.
        once = pl.DataFrame({"text": both["text"].to_numpy()[is_wanted], "pair": pair_codes[is_wanted]}).unique()
        which = np.searchsorted(wanted, once["pair"].to_numpy())
        cells = which * len(labels) + label[once["text"].to_numpy()]
        counts[:] += np.bincount(cells, minlength=counts.size).reshape(counts.shape)

    number = pl.col("label").cast(pl.String).replace_strict(list(labels), range(len(labels)), return_dtype=pl.Int64)
    chosen = train.frame.filter(pl.col("label").cast(pl.String).is_in(list(labels)))
    _visit_large_batches(chosen.select("premise", "hypothesis", number.alias("label")), count)
    spread = {label: _with_nulls(counts[place, i], counted, pairs.height) for i, label in enumerate(labels)}
    return LabelCounts(pl.DataFrame(spread), dict(zip(labels, map(int, rows), strict=True)))


def word_counts(words: pl.Series, train: Suite, *, inflections: bool = False) -> WordCounts:
    """How many examples contain each word, in premise or hypothesis (Glockner et al. 2018, section 3.1)."""
    lower = words.cast(pl.String).str.to_lowercase()
    known = _CountedWords.of(lower)
    counts, rows = np.zeros(len(known.words), dtype=np.int64), 0

    def count(batch: pl.DataFrame) -> None:
        nonlocal rows
        rows += batch.height
        sides = [known.mentions(batch[side], inflections=inflections) for side in ("premise", "hypothesis")]
        mentioned = pl.concat(sides).unique()["word"].to_numpy()
        counts[:] += np.bincount(mentioned, minlength=len(counts))

    _visit_large_batches(train.frame.select("premise", "hypothesis"), count)
    if not rows:
        raise AcidtestError(f"{train.name} has no examples to count words in; give another training set")
    numbers = known.numbers(lower)
    counted = np.flatnonzero(numbers >= 0)
    return WordCounts(words, _with_nulls(counts[numbers[counted]], counted, len(words)), rows)


@dataclass(frozen=True)
class _CountedWords:
    """The distinct words to count, numbered by row; expressions of several words are not counted."""

    words: pl.Series

    @classmethod
    def of(cls, words: pl.Series) -> _CountedWords:
        single = words.drop_nulls().unique()
        return cls(single.filter(single.str.contains(r"^\S+$")).sort().alias("word"))

    def numbers(self, words: pl.Series) -> Codes:
        """The number of each word, -1 for one that is not counted."""
        table = pl.DataFrame({"word": self.words, "number": np.arange(len(self.words))})
        joined = pl.DataFrame({"word": words}).join(table, on="word", how="left", maintain_order="left")
        return joined["number"].fill_null(-1).to_numpy().astype(np.int64)

    def pairs(self, first: Codes, second: Codes, *, directed: bool) -> Codes:
        """One number for each pair of numbers."""
        if not directed:
            first, second = np.minimum(first, second), np.maximum(first, second)
        return np.asarray(first * len(self.words) + second, dtype=np.int64)

    def mentions(self, texts: pl.Series, *, only: Codes | None = None, inflections: bool) -> pl.DataFrame:
        """Which words (of those in ``only``) occur in which text, each once: columns text and word, as numbers."""
        tokens = tokenise(texts)
        forms = self._forms(tokens.words.str.to_lowercase(), inflections=inflections)
        if only is not None:
            forms = forms.filter(pl.Series(np.isin(np.arange(len(self.words)), only)).gather(forms["word"]))
        places = pl.DataFrame({"text": tokens.text, "row": tokens.word}, schema={"text": pl.Int64, "row": pl.Int64})
        return places.join(forms, on="row").select("text", "word").unique()

    def _forms(self, words: pl.Series, *, inflections: bool) -> pl.DataFrame:
        """Which tokens are which words: columns row and word, as numbers."""
        frame = pl.DataFrame({"form": words}).with_row_index("row")
        if inflections:
            plurals = frame.join(PLURALS, left_on="form", right_on="word").select("row", form="base")
            frame = pl.concat([base_form_candidate_frame(words).select("row", "form"), plurals])
        table = pl.DataFrame({"form": self.words, "word": np.arange(len(self.words), dtype=np.int64)})
        return frame.join(table, on="form").select(pl.col("row").cast(pl.Int64), "word").unique()


def _among_sorted(codes: Codes, wanted: Codes) -> npt.NDArray[np.bool_]:
    """Whether each code is in ``wanted``, which is sorted; faster than ``np.isin`` where these are few."""
    if not len(wanted):
        return np.zeros(len(codes), dtype=np.bool_)
    place = np.minimum(np.searchsorted(wanted, codes), len(wanted) - 1)
    return np.asarray(wanted[place] == codes, dtype=np.bool_)


def _visit_large_batches(frame: pl.LazyFrame, count: Callable[[pl.DataFrame], None]) -> None:
    """Call ``count`` on batches of a frame, each of at least ``_ROWS`` rows but the last."""
    batches: list[pl.DataFrame] = []

    def add(batch: pl.DataFrame) -> None:
        batches.append(batch)
        if sum(part.height for part in batches) >= _ROWS:
            count(pl.concat(batches))
            batches.clear()

    visit_batches(frame, add)
    if batches:
        count(pl.concat(batches))


def _with_nulls(counts: Codes, rows: Codes, size: int) -> pl.Series:
    """A column of ``size`` rows with the counts at ``rows`` and null elsewhere."""
    return pl.repeat(None, size, dtype=pl.Int64, eager=True).scatter(rows, counts)


@dataclass(frozen=True)
class Polarities:
    """The polarities of ordered word pairs in a training set.

    ``frame`` has a row for each input pair: its two columns, the number of examples of each label that contain it,
    ``polarity`` and ``seen``. All but the pair are null where a side is not a single word.
    """

    frame: pl.DataFrame
    rows: Mapping[str, int]

    @property
    def examples(self) -> int:
        """The number of training examples with one of the three labels."""
        return sum(self.rows.values())


def polarities(pairs: pl.DataFrame, train: Suite, *, inflections: bool = False) -> Polarities:
    """The polarity of each word pair: the first column's word in the premise, the second's in the hypothesis.

    The training set is read once for all pairs. Words are compared whole and in lower case. With ``inflections`` any
    forms of the two words count, in the same part of speech; if a word has several base forms (*left*: left, leave) the
    reading with most examples counts. An example counts once, however often it contains the pair.
    """
    totals = _base_form_counts(pairs, train) if inflections else label_counts(pairs, train)
    if not any(totals.rows.values()):
        raise AcidtestError(f"{train.name} has no pairs of {', '.join(LABELS)}; give a three-way training set")
    counts = totals.counts.select(LABELS)
    known = counts[LABELS[0]].is_not_null()
    names = polarity_names(counts.fill_null(0).to_numpy())
    described = pl.DataFrame({"polarity": names, "seen": names != UNSEEN})
    described = described.select(pl.when(known).then(pl.all()).name.keep())
    return Polarities(pl.concat([pairs.select(pairs.columns[:2]), counts, described], how="horizontal"), totals.rows)


def _base_form_counts(pairs: pl.DataFrame, train: Suite) -> LabelCounts:
    """``label_counts`` of examples that contain any forms of the words of each pair."""
    lower = pairs.select(pl.col(pairs.columns[:2]).cast(pl.String).str.to_lowercase()).with_row_index("row")
    first, second = pairs.columns[:2]
    single = lower.filter(pl.all_horizontal(pl.col(first, second).str.contains(r"^\S+$")))
    forms = base_forms(pl.concat([single[first], single[second]]).unique(maintain_order=True))
    readings = single.join(forms.select(pl.col("word").alias(first), "pos", premise_base="base"), on=first).join(
        forms.select(pl.col("word").alias(second), "pos", hypothesis_base="base"), on=[second, "pos"]
    )
    bases = readings.select(*_BASES).unique(maintain_order=True)
    totals = label_counts(bases, train, inflections=True)
    counted = readings.join(pl.concat([bases, totals.counts], how="horizontal"), on=_BASES)
    most = counted.with_columns(examples=pl.sum_horizontal(LABELS)).sort("row", "examples", *_BASES)
    best = most.unique("row", keep="last").select("row", *LABELS)
    return LabelCounts(lower.join(best, on="row", how="left", maintain_order="left").select(LABELS), totals.rows)


def polarity_names(counts: npt.NDArray[np.int64]) -> pl.Series:
    """The polarity of each row of counts, whose columns are entailment, neutral and contradiction."""
    most = counts.max(axis=1, keepdims=True, initial=0)
    masks = ((counts == most) & (most > 0)) @ (1 << np.arange(len(LABELS)))
    return pl.Series(_NAMES).gather(masks)


def matches_gold(polarity: pl.Series, gold: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Whether the polarity is a single label that gold, a bit mask, accepts; ties and none never match."""
    bits = polarity.replace_strict(list(LABELS), [1, 2, 4], default=0, return_dtype=pl.UInt8).to_numpy()
    return np.asarray((bits & gold) != 0, dtype=np.bool_)
