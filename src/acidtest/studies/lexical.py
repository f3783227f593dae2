"""What a model knows of words: accuracy by category, by how similar two words are, by how often training opposed them.

After Glockner et al. (2018): table 3 (the drop from the original test set), table 4 (categories), sections 5.2 and 5.3.
As there, similarity and frequency are looked at on contradictions in which one word stands for one word. An interval
on these is the wider of two, over premises and over pairs of words; trends are tested robustly to both (``clusters``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.estimate import Estimate
from acidtest.core.run import Run
from acidtest.core.suite import Suite
from acidtest.stats.clusters import Clusterings, Effect, trend
from acidtest.stats.intervals import rate, unpaired_difference
from acidtest.stats.resampling import generator
from acidtest.stats.significance import adjusted, unpaired_permutation
from acidtest.studies.lexical_memory import Memory, memories
from acidtest.studies.lexical_rows import (
    COSINE,
    FREQUENCY,
    WORDS,
    LexicalRows,
    Training,
    Vectors,
    is_lexical,
    is_single,
    lexical_sets,
    measured,
    pair_key,
)
from acidtest.studies.rows import runs_by_model, score_rows
from acidtest.text.breaking_nli import CATEGORY

SCHEMA = 1

UNKNOWN, SEVERAL = "unknown", "several words"
"""Contradictions without a number: a word has none, or more than a word was replaced."""

CLUSTERS = "premises and word pairs"
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Scale:
    """Bins along a measure: the lower end of each but the first, whose rows lie outside unless they are 0."""

    column: str
    names: tuple[str, ...]
    starts: tuple[float, ...]
    outside: str = ""
    """What is below the first bin."""


COSINES = Scale(COSINE, ("0.5-0.6", "0.6-0.7", "0.7-0.8", "0.8-0.9", "0.9-1.0"), (0.5, 0.6, 0.7, 0.8, 0.9), "below 0.5")
FREQUENCIES = Scale(FREQUENCY, ("0", "1-4", "5-9", "10-49", "50-99", "100+"), (0, 1, 5, 10, 50, 100))
"""The bins of sections 5.3 and 5.2; a bin has its lower end, the last cosine both."""


@dataclass(frozen=True)
class Bin:
    """Accuracy on the rows of a bin, and how many different pairs of words they turn on."""

    accuracy: Estimate
    pairs: int

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        return {"accuracy": self.accuracy.to_json(), "pairs": self.pairs}


@dataclass(frozen=True)
class Binned:
    """Accuracy on contradictions of single words along a measure, what the measure does not reach, and the trend."""

    bins: Mapping[str, Bin]
    outside: Mapping[str, Bin]
    trend: Effect
    p_adjusted: float = math.nan

    @property
    def parts(self) -> dict[str, Bin]:
        """All bins, and below them what lies outside, where there is anything."""
        return {**self.bins, **{name: each for name, each in self.outside.items() if each.accuracy.n}}

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        return {
            "bins": {name: each.to_json() for name, each in self.bins.items()},
            "outside": {name: each.to_json() for name, each in self.outside.items()},
            "trend": _effect_json(self.trend, self.p_adjusted),
        }


@dataclass(frozen=True)
class Drop:
    """Accuracy on an original test set, and what that on the lexical pairs differs by."""

    original: str
    accuracy: Estimate
    difference: Estimate
    test: str
    p: float
    p_adjusted: float = math.nan
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        effect = Effect(self.difference, self.test, self.p)
        told = _effect_json(effect, self.p_adjusted) | {"note": self.note}
        return {"original": self.original, "accuracy": self.accuracy.to_json(), **told}


@dataclass(frozen=True)
class Knowledge:
    """One model on one set of pairs."""

    model: str
    suite: str
    overall: Estimate
    categories: Mapping[str, Estimate]
    by_cosine: Binned | None = None
    by_frequency: Binned | None = None
    drop: Drop | None = None

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        return {
            "model": self.model,
            "suite": self.suite,
            "overall": self.overall.to_json(),
            "categories": {name: value.to_json() for name, value in self.categories.items()},
            "by_cosine": self.by_cosine and self.by_cosine.to_json(),
            "by_frequency": self.by_frequency and self.by_frequency.to_json(),
            "drop": self.drop and self.drop.to_json(),
        }


@dataclass(frozen=True)
class Lexical:
    """What some models know of words; ``pairs`` has a row for each pair of words of each set."""

    found: tuple[Knowledge, ...]
    pairs: pl.DataFrame
    memory: tuple[Memory, ...] = ()
    train: Training | None = None
    vectors: Vectors | None = None
    notes: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it; NaN is null."""
        return {
            "schema": SCHEMA,
            "results": [each.to_json() for each in self.found],
            "memory": [each.to_json() for each in self.memory],
            "train": self.train and {k: _null(v) for k, v in asdict(self.train).items()},
            "vectors": self.vectors and asdict(self.vectors),
            "notes": list(self.notes),
        }


def lexical(
    runs: Sequence[Run],
    *,
    train: Suite | None = None,
    embeddings: str | Path | None = None,
    original: str | None = None,
    reference: Sequence[Run] = (),
    correction: str = "holm",
    seed: int = 0,
) -> Lexical:
    """What the models of some runs know of words, on every lexical suite that they were asked.

    ``train`` counts how often two words stand in contradictions of a training set, ``embeddings`` is a file of word
    vectors; without them, what the suites themselves tell is used. ``original`` names the suite of a run that the
    accuracy is compared with, such as SNLI's test set. ``reference`` are runs of a model known not to have seen the
    published pairs. All trends are one family of tests, all drops another.
    """
    _refuse_mixed_collapse([*runs, *reference])
    models = runs_by_model(runs)
    held = [each for model, own in models.items() for each in lexical_sets(model, own)]
    if not held:
        held_by = "; ".join(f"{model}: {', '.join(_suites(own))}" for model, own in models.items())
        raise AcidtestError(f"none of the runs has a suite lexical, lexical/… or breaking-nli ({held_by or 'no runs'})")
    sets = measured(held, train, embeddings)
    found = [_knowledge(each, _drop(each, models, original, seed) if original else None) for each in sets.sets]
    return Lexical(
        found=_corrected(found, correction),
        pairs=_pairs(sets.sets),
        memory=memories(sets.sets, reference=_clean(reference, models), correction=correction),
        train=sets.train,
        vectors=sets.vectors,
        notes=_notes(sets.sets),
    )


def _clean(reference: Sequence[Run], models: Mapping[str, Sequence[Run]]) -> list[LexicalRows]:
    """What the one model of the reference answered."""
    own = runs_by_model(reference)
    if len(own) > 1:
        raise AcidtestError(f"the reference is of several models: {', '.join(own)}; pass runs of one")
    for model, held in own.items():
        if {run.header.model.signature for run in held} & {
            r.header.model.signature for m in models.values() for r in m
        }:
            raise AcidtestError(f"the reference is {model!r} itself; pass runs of another model, known to be clean")
    return [each for model, held in own.items() for each in lexical_sets(model, held)]


def holds_lexical(run: Run) -> bool:
    """Whether a run has any lexical suite."""
    return any(is_lexical(name, card) for name, card in run.header.suites.items())


def _suites(runs: Sequence[Run]) -> list[str]:
    return list(dict.fromkeys(name for run in runs for name in run.header.suites))


def _refuse_mixed_collapse(runs: Sequence[Run]) -> None:
    collapses = sorted({str(run.header.collapse) for run in runs})
    if len(collapses) > 1:
        raise AcidtestError(f"the runs were scored with different --collapse: {', '.join(collapses)}; score them alike")


def _knowledge(rows: LexicalRows, drop: Drop | None) -> Knowledge:
    frame = rows.frame
    names = frame[CATEGORY].drop_nulls().unique(maintain_order=True).to_list()
    return Knowledge(
        model=rows.model,
        suite=rows.name,
        overall=_by_premise(frame),
        categories={name: _by_premise(frame.filter(pl.col(CATEGORY) == name)) for name in names},
        by_cosine=_binned(rows, COSINES),
        by_frequency=_binned(rows, FREQUENCIES),
        drop=drop,
    )


def _by_premise(frame: pl.DataFrame) -> Estimate:
    return rate(frame["correct"].to_numpy(), groups=_codes(frame["group"]), strata=_codes(frame[CATEGORY]))


def _binned(rows: LexicalRows, scale: Scale) -> Binned | None:
    """None where the measure is not known of any row."""
    if scale.column not in rows.frame.columns or not rows.frame[scale.column].count():
        return None
    single, every = rows.of_single_words, rows.frame.filter(pl.col("label") == "contradiction")
    value = pl.col(scale.column)
    numbers = single[scale.column].fill_null(math.nan).to_numpy()
    step = np.searchsorted(np.array(scale.starts), numbers, side="right") - 1
    step[np.isnan(numbers)] = -1
    parts = single.with_columns(step=step)
    outside = {scale.outside: parts.filter(value < scale.starts[0])} if scale.outside else {}
    outside |= {UNKNOWN: parts.filter(value.is_null()), SEVERAL: every.drop_nulls(list(WORDS)).filter(~is_single())}
    inside = parts.filter(pl.col("step") >= 0)
    clusterings = Clusterings.of(_codes(inside["group"]), _codes(inside.select(pair_key()).to_series()))
    return Binned(
        bins={name: _bin(parts.filter(pl.col("step") == number)) for number, name in enumerate(scale.names)},
        outside={name: _bin(part) for name, part in outside.items()},
        trend=trend(inside["correct"].to_numpy(), inside["step"].to_numpy(), clusterings, unit=CLUSTERS),
    )


def _bin(frame: pl.DataFrame) -> Bin:
    """Accuracy with the wider of the intervals over premises and over pairs of words."""
    keys = frame.select(pair_key().fill_null("")).to_series()
    over_premises = _by_premise(frame)
    over_pairs = rate(frame["correct"].to_numpy(), groups=_codes(keys), strata=_codes(frame[CATEGORY]))
    method, note = over_pairs.method.replace("groups", "word pairs"), over_pairs.note.replace("group", "word pair")
    return Bin(max(over_premises, replace(over_pairs, method=method, note=note), key=_width), keys.n_unique())


def _width(estimate: Estimate) -> float:
    width = estimate.high - estimate.low
    return math.inf if math.isnan(width) else width


def _codes(labels: pl.Series) -> npt.NDArray[np.int64]:
    return labels.fill_null("").rank("dense").to_numpy().astype(np.int64)


def _drop(rows: LexicalRows, models: Mapping[str, Sequence[Run]], original: str, seed: int) -> Drop:
    run, note = _original_run(rows.model, models, original)
    other = score_rows(run, original)
    first, second = rows.frame["correct"].to_numpy().astype(np.float64), other.correct.astype(np.float64)
    groups: dict[str, Any] = {"groups_first": _codes(rows.frame["group"]), "groups_second": other.groups}
    test = unpaired_permutation(first, second, **groups, rng=generator(seed))
    change = unpaired_difference(first, second, **groups)
    return Drop(original, rate(second, groups=other.groups), change, test.name, test.p, note=note)


def _original_run(model: str, models: Mapping[str, Sequence[Run]], original: str) -> tuple[Run, str]:
    """The run that has the original test set: the model's own, or the only one there is."""
    every = [run for held in models.values() for run in held]
    if not any(original in run.header.suites for run in every):
        raise UnknownNameError("suite of these runs", original, _suites(every))
    own = [run for run in models[model] if original in run.header.suites]
    if len(own) > 1:
        raise AcidtestError(f"two runs of {model} hold {original!r}; pass one of them")
    if own:
        return own[0], ""
    # Predictions that were scored from two files go by the names of the files.
    others = [run for run in every if original in run.header.suites]
    told = [name for name, held in models.items() if any(map(holds_lexical, held))]
    if len(others) > 1 or len(told) > 1:
        raise AcidtestError(
            f"no run of {model} has the suite {original!r}; run it on that too, or leave --original out"
        )
    return others[0], f"{original} was answered by {others[0].header.model.name}, taken to be the same model"


def _corrected(found: Sequence[Knowledge], correction: str) -> tuple[Knowledge, ...]:
    """With p-values corrected: all trends together, all drops together."""
    measures = ("by_cosine", "by_frequency")
    trends = [(n, name) for n, each in enumerate(found) for name in measures if getattr(each, name)]
    ps = adjusted([getattr(found[n], name).trend.p for n, name in trends], correction)
    changed = list(found)
    for (n, name), p in zip(trends, ps, strict=True):
        changed[n] = replace(changed[n], **{name: replace(getattr(changed[n], name), p_adjusted=float(p))})
    drops = [(n, each.drop) for n, each in enumerate(found) if each.drop]
    for (n, drop), p in zip(drops, adjusted([drop.p for _, drop in drops], correction), strict=True):
        changed[n] = replace(changed[n], drop=replace(drop, p_adjusted=float(p)))
    return tuple(changed)


def _pairs(sets: Sequence[LexicalRows]) -> pl.DataFrame:
    """A row for each pair of words, label and category of each set: how many rows, how many each model gets right."""
    keys = ["suite", CATEGORY, "label", *WORDS]
    measures = [m for m in (COSINE, FREQUENCY) if any(m in each.frame.columns for each in sets)]
    found: pl.DataFrame | None = None
    for each in sets:
        own = each.frame.with_columns(suite=pl.lit(each.name)).drop_nulls(list(WORDS))
        own = own.with_columns(pl.lit(None, pl.Float64).alias(name) for name in measures if name not in own.columns)
        counted = own.group_by(keys, maintain_order=True).agg(
            pl.col(measures).first(),
            pl.len().cast(pl.Int64).alias("rows"),
            pl.col("correct").sum().cast(pl.Int64).alias(f"right: {each.model}"),
        )
        found = counted if found is None else _merged(found, counted, keys, measures)
    table = pl.DataFrame() if found is None else found
    table = table.with_columns(pl.col(name).cast(pl.Int64) for name in measures if name == FREQUENCY)
    return table.sort("suite", "rows", *WORDS, descending=[False, True, False, False], nulls_last=True)


def _merged(table: pl.DataFrame, counted: pl.DataFrame, keys: list[str], measures: list[str]) -> pl.DataFrame:
    """Two tables of pairs of words as one; models on the same set were asked the same rows, as far as they go."""
    shared = ["rows", *measures]
    both = table.join(counted, on=keys, how="full", coalesce=True, nulls_equal=True, suffix=" too")
    largest = [pl.max_horizontal(name, f"{name} too").alias(name) for name in shared]
    again = [name for name in both.columns if name.endswith(" too") and name.removesuffix(" too") not in shared]
    right = [pl.coalesce(name.removesuffix(" too"), name).alias(name.removesuffix(" too")) for name in again]
    return both.with_columns(*largest, *right).drop(pl.selectors.ends_with(" too"))


def _notes(sets: Sequence[LexicalRows]) -> tuple[str, ...]:
    unclear = {each.name: each.frame[WORDS[0]].null_count() for each in sets}
    return tuple(
        f"{name}: in {count:,} pairs no one word or expression is replaced by another"
        for name, count in unclear.items()
        if count
    )


def _effect_json(effect: Effect, p_adjusted: float) -> dict[str, Any]:
    told = {"test": effect.test, "p": _null(effect.p), "p_adjusted": _null(p_adjusted)}
    return {"estimate": effect.estimate.to_json(), **told}


def _null(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
