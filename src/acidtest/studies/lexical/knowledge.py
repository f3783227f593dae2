"""Accuracy of one model on one set of pairs: by category, along a measure of the two words, and beside another set.

An interval along a measure is the wider of two, over premises and over pairs of words; trends are tested robustly to
both (``clusters``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.estimate import Estimate
from acidtest.core.run import Run
from acidtest.stats.clusters import Clusterings, trend
from acidtest.stats.intervals import rate, unpaired_difference
from acidtest.stats.resampling import generator
from acidtest.stats.significance import adjusted, unpaired_permutation
from acidtest.studies.lexical.rows import (
    CONTRADICTION,
    COSINE,
    FREQUENCY,
    LexicalRows,
    holds_lexical,
    is_single,
    pair_key,
    suite_names,
)
from acidtest.studies.rows import WORDS, score_rows
from acidtest.text.categories import CATEGORY

UNKNOWN, SEVERAL = "unknown", "several words"
"""Contradictions without a number: a word has none, or more than a word was replaced."""

CLUSTERS = "premises and word pairs"


@dataclass(frozen=True)
class BinScale:
    """Bins along a measure: their names and lower ends; ``outside`` names what is below the first bin."""

    column: str
    names: tuple[str, ...]
    starts: tuple[float, ...]
    outside: str = ""


COSINES = BinScale(
    COSINE, ("0.5-0.6", "0.6-0.7", "0.7-0.8", "0.8-0.9", "0.9-1.0"), (0.5, 0.6, 0.7, 0.8, 0.9), "below 0.5"
)
FREQUENCIES = BinScale(FREQUENCY, ("0", "1-4", "5-9", "10-49", "50-99", "100+"), (0, 1, 5, 10, 50, 100))
"""The bins of sections 5.2 and 5.3; a bin has its lower end, the last cosine both."""


@dataclass(frozen=True)
class AccuracyBin:
    """Accuracy on the rows of a bin, and how many different pairs of words they turn on."""

    accuracy: Estimate
    pairs: int


@dataclass(frozen=True)
class BinTrend:
    """How accuracy changes from a bin to the next; NaN: no test."""

    estimate: Estimate
    test: str
    p: float
    p_adjusted: float = math.nan


@dataclass(frozen=True)
class BinnedAccuracy:
    """Accuracy on contradictions of single words along a measure, what the measure does not reach, and the trend."""

    bins: Mapping[str, AccuracyBin]
    outside: Mapping[str, AccuracyBin]
    trend: BinTrend

    @property
    def parts(self) -> dict[str, AccuracyBin]:
        """All bins, and after them what lies outside, where there is anything."""
        return {**self.bins, **{name: part for name, part in self.outside.items() if part.accuracy.n}}


@dataclass(frozen=True)
class AccuracyDrop:
    """Accuracy on an original test set, and what that on the lexical pairs differs by."""

    original: str
    accuracy: Estimate
    difference: Estimate = field(metadata={"json": "estimate"})
    test: str
    p: float
    p_adjusted: float = math.nan
    note: str = ""


@dataclass(frozen=True)
class WordKnowledge:
    """One model on one set of pairs."""

    model: str
    suite: str
    overall: Estimate
    categories: Mapping[str, Estimate]
    by_cosine: BinnedAccuracy | None = None
    by_frequency: BinnedAccuracy | None = None
    drop: AccuracyDrop | None = None


def word_knowledge(rows: LexicalRows, drop: AccuracyDrop | None) -> WordKnowledge:
    """Accuracy of a model on a set of pairs, whole and in parts."""
    frame = rows.frame
    names = frame[CATEGORY].drop_nulls().unique(maintain_order=True).to_list()
    return WordKnowledge(
        model=rows.model,
        suite=rows.name,
        overall=_accuracy_by_premise(frame),
        categories={name: _accuracy_by_premise(frame.filter(pl.col(CATEGORY) == name)) for name in names},
        by_cosine=_binned_accuracy(rows, COSINES),
        by_frequency=_binned_accuracy(rows, FREQUENCIES),
        drop=drop,
    )


def _accuracy_by_premise(frame: pl.DataFrame) -> Estimate:
    return rate(frame["correct"].to_numpy(), groups=_codes(frame["group"]), strata=_codes(frame[CATEGORY]))


def _binned_accuracy(rows: LexicalRows, scale: BinScale) -> BinnedAccuracy | None:
    """None where the measure is not known of any row."""
    if scale.column not in rows.frame.columns or not rows.frame[scale.column].count():
        return None
    single, every = rows.of_single_words, rows.frame.filter(pl.col("label") == CONTRADICTION)
    value = pl.col(scale.column)
    numbers = single[scale.column].fill_null(math.nan).to_numpy()
    step = np.searchsorted(np.array(scale.starts), numbers, side="right") - 1
    step[np.isnan(numbers)] = -1
    parts = single.with_columns(step=step)
    outside = {scale.outside: parts.filter(value < scale.starts[0])} if scale.outside else {}
    outside |= {UNKNOWN: parts.filter(value.is_null()), SEVERAL: every.drop_nulls(list(WORDS)).filter(~is_single())}
    inside = parts.filter(pl.col("step") >= 0)
    clusterings = Clusterings.of(_codes(inside["group"]), _codes(inside.select(pair_key()).to_series()))
    effect = trend(inside["correct"].to_numpy(), inside["step"].to_numpy(), clusterings, unit=CLUSTERS)
    return BinnedAccuracy(
        bins={name: _accuracy_bin(parts.filter(pl.col("step") == number)) for number, name in enumerate(scale.names)},
        outside={name: _accuracy_bin(part) for name, part in outside.items()},
        trend=BinTrend(effect.estimate, effect.test, effect.p),
    )


def _accuracy_bin(frame: pl.DataFrame) -> AccuracyBin:
    """Accuracy with the wider of the intervals over premises and over pairs of words."""
    keys = frame.select(pair_key().fill_null("")).to_series()
    over_premises = _accuracy_by_premise(frame)
    over_pairs = rate(frame["correct"].to_numpy(), groups=_codes(keys), strata=_codes(frame[CATEGORY]))
    method, note = over_pairs.method.replace("groups", "word pairs"), over_pairs.note.replace("group", "word pair")
    return AccuracyBin(max(over_premises, replace(over_pairs, method=method, note=note), key=_width), keys.n_unique())


def _width(estimate: Estimate) -> float:
    width = estimate.high - estimate.low
    return math.inf if math.isnan(width) else width


def _codes(labels: pl.Series) -> npt.NDArray[np.int64]:
    return labels.fill_null("").rank("dense").to_numpy().astype(np.int64)


def accuracy_drop(rows: LexicalRows, models: Mapping[str, Sequence[Run]], original: str, seed: int) -> AccuracyDrop:
    """Table 3: accuracy on the suite of a run that is called ``original``, and what that on these rows differs by."""
    run, note = _original_run(rows.model, models, original)
    other = score_rows(run, original)
    first, second = rows.frame["correct"].to_numpy().astype(np.float64), other.correct.astype(np.float64)
    groups: dict[str, Any] = {"groups_first": _codes(rows.frame["group"]), "groups_second": other.groups}
    test = unpaired_permutation(first, second, **groups, rng=generator(seed))
    change = unpaired_difference(first, second, **groups)
    return AccuracyDrop(original, rate(second, groups=other.groups), change, test.name, test.p, note=note)


def _original_run(model: str, models: Mapping[str, Sequence[Run]], original: str) -> tuple[Run, str]:
    """The run that has the original test set: the model's own, or the only one there is."""
    runs = [run for members in models.values() for run in members]
    holders = [run for run in runs if original in run.header.suites]
    if not holders:
        raise UnknownNameError("suite of these runs", original, suite_names(runs))
    same_model = [run for run in models[model] if original in run.header.suites]
    if len(same_model) > 1:
        raise AcidtestError(f"two runs of {model} hold {original!r}; pass one of them")
    if same_model:
        return same_model[0], ""
    # Predictions that were scored from two files go by the names of the files.
    lexical_models = [name for name, members in models.items() if any(map(holds_lexical, members))]
    if len(holders) > 1 or len(lexical_models) > 1:
        raise AcidtestError(
            f"no run of {model} has the suite {original!r}; run it on that too, or leave --original out"
        )
    return holders[0], f"{original} was answered by {holders[0].header.model.name}, taken to be the same model"


def adjust_tests(knowledge: Sequence[WordKnowledge], correction: str) -> tuple[WordKnowledge, ...]:
    """The same with p-values corrected: all trends together, all drops together."""
    binned = [part for one in knowledge for part in (one.by_cosine, one.by_frequency) if part]
    trends = iter(adjusted([part.trend.p for part in binned], correction).tolist())
    drops = iter(adjusted([one.drop.p for one in knowledge if one.drop], correction).tolist())
    return tuple(
        replace(
            one,
            by_cosine=_with_adjusted(one.by_cosine, next(trends)) if one.by_cosine else None,
            by_frequency=_with_adjusted(one.by_frequency, next(trends)) if one.by_frequency else None,
            drop=replace(one.drop, p_adjusted=next(drops)) if one.drop else None,
        )
        for one in knowledge
    )


def _with_adjusted(binned: BinnedAccuracy, p: float) -> BinnedAccuracy:
    return replace(binned, trend=replace(binned.trend, p_adjusted=p))
