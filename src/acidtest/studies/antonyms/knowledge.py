"""Pairs of antonyms by which models get them right, and how often a training set has them in contradictions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.run import Run
from acidtest.core.suite import CONTROL, Card, Suite
from acidtest.stats.intervals import rate, unpaired_difference
from acidtest.stats.resampling import generator
from acidtest.stats.significance import unpaired_permutation
from acidtest.studies.rows import QUESTION, model_names, score_rows
from acidtest.text.pair_counts import pair_counts

EASY, MIXED, HARD = STATUSES = ("easy", "mixed", "hard")
"""All models are right, some are, none is."""

PAIR = ("word", "antonym")
FREQUENCY = "contradictions"
"""The column with the number of training contradictions that have a pair across premise and hypothesis."""

SUITE = "stress/antonymy"


@dataclass(frozen=True)
class AntonymSet:
    """Some pairs of antonyms and the rows they were counted in.

    ``seen`` is the share of pairs that a training contradiction has, ``frequency`` the mean number of contradictions
    that have a pair; both are None without a training set.
    """

    rows: int
    pairs: int
    seen: Estimate | None = None
    frequency: Estimate | None = None


@dataclass(frozen=True)
class Rivalry:
    """Two models: how frequent in the training set the antonyms are that both know, or only one of them.

    ``difference`` and ``p`` compare the antonyms that the weaker knows with those that only the stronger does.
    """

    stronger: str
    weaker: str
    parts: Mapping[str, AntonymSet]
    difference: Estimate | None = None
    test: str = ""
    p: float = math.nan


@dataclass(frozen=True)
class AntonymKnowledge:
    """Easy, mixed and hard antonyms over some runs.

    ``by_row`` counts rows of each status and the pairs in them, ``by_pair`` pairs of each status. ``pairs`` has a row
    for each pair: how many rows turn on it, how many of them each model gets right, its status.
    """

    models: Mapping[str, Estimate]
    by_row: Mapping[str, AntonymSet]
    by_pair: Mapping[str, AntonymSet]
    rivalry: Rivalry | None = None
    train: str | None = None
    train_contradictions: int | None = None
    notes: tuple[str, ...] = ()
    pairs: pl.DataFrame = field(default_factory=pl.DataFrame, metadata={"json": None})
    card: Card = field(default_factory=lambda: Card(SUITE), metadata={"json": None})
    """That of the suite in the first run."""


def antonym_knowledge(runs: Sequence[Run], train: Suite | None = None, *, seed: int = 0) -> AntonymKnowledge:
    """The antonyms of the rows that all runs have, by which models get them right.

    With a training set also how many of them are in a contradiction of it, one word in the premise and the other in
    the hypothesis, in any inflection, and in how many contradictions. ``seed`` is the permutation test's.
    """
    names = model_names(runs)
    rows, notes = _common_rows(runs, names)
    pairs = _count_pairs(rows, names)
    contradictions = None
    if train is not None:
        counted = pair_counts(pairs.select(PAIR), train, directed=False, inflections=True)
        pairs, contradictions = pairs.with_columns(counted.counts.fill_null(0).alias(FREQUENCY)), counted.rows
    accuracies = {name: rate(rows[name], groups=rows["group"].rank("dense")) for name in names}
    return AntonymKnowledge(
        models=accuracies,
        by_row={status: _set_by_row(rows, pairs, status) for status in STATUSES},
        by_pair={status: _antonym_set(pairs.filter(pl.col("status") == status)) for status in STATUSES},
        rivalry=_rivalry(pairs, accuracies, seed=seed) if len(names) == 2 else None,
        train=train.name if train is not None else None,
        train_contradictions=contradictions,
        notes=notes,
        pairs=pairs,
        card=runs[0].header.suites[_antonymy_suite(runs[0])],
    )


def _common_rows(runs: Sequence[Run], names: Sequence[str]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows that every run has: their antonyms in alphabetical order, and whether each model is right."""
    common: pl.DataFrame | None = None
    sizes = []
    for run, name in zip(runs, names, strict=True):
        scored = score_rows(run, _antonymy_suite(run))
        sizes.append(scored.height)
        key = pl.Series("_row", scored.digests(*QUESTION))
        rows = scored.frame.select("id", "group", *PAIR).with_columns(key, pl.Series(name, scored.correct))
        common = rows if common is None else common.join(rows.select("_row", name), on="_row", maintain_order="left")
    if common is None:
        raise AcidtestError("antonyms needs a run on stress/antonymy")
    if not common.height:
        raise AcidtestError(
            "the runs have no row of stress/antonymy in common; make them with the same corpus and seed"
        )
    notes = (f"on the {common.height:,} rows that all have, of {max(sizes):,}",) if common.height < max(sizes) else ()
    low, high = (pl.col(name).str.to_lowercase() for name in PAIR)
    return common.with_columns(
        pl.min_horizontal(low, high).alias(PAIR[0]),
        pl.max_horizontal(low, high).alias(PAIR[1]),
        _status(pl.sum_horizontal(pl.col(list(names))), len(names)),
    ), notes


def _status(right: pl.Expr, models: int) -> pl.Expr:
    """Easy where all models are right, hard where none is."""
    status = pl.when(right == models).then(pl.lit(EASY)).when(right == 0).then(pl.lit(HARD)).otherwise(pl.lit(MIXED))
    return status.alias("status")


def _antonymy_suite(run: Run) -> str:
    suites = [
        name
        for name, card in run.header.suites.items()
        if not name.endswith(CONTROL) and set(PAIR) <= set(card.columns)
    ]
    if len(suites) != 1:
        names = ", ".join(suites or run.header.suites)
        raise AcidtestError(f"a run of {run.header.model.name} holds {names}; one suite stress/antonymy was expected")
    return suites[0]


def _count_pairs(rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """A row for each pair of antonyms, the most frequent first."""
    return (
        rows.group_by(PAIR, maintain_order=True)
        .agg(
            pl.len().cast(pl.Int64).alias("rows"),
            *(pl.col(name).sum().cast(pl.Int64).alias(_right(name)) for name in names),
        )
        .with_columns(_status(pl.sum_horizontal(_is_known(name) for name in names), len(names)))
        .sort("rows", *PAIR, descending=[True, False, False])
    )


def _right(model: str) -> str:
    """The column with the number of rows that a model gets right."""
    return f"right: {model}"


def _is_known(model: str) -> pl.Expr:
    return pl.col(_right(model)) * 2 > pl.col("rows")


def _set_by_row(rows: pl.DataFrame, pairs: pl.DataFrame, status: str) -> AntonymSet:
    """The antonyms in rows of one status, as the paper counts them."""
    chosen = rows.filter(pl.col("status") == status)
    return _antonym_set(pairs.join(chosen.select(PAIR).unique(), on=list(PAIR), how="semi"), rows=chosen.height)


def _antonym_set(pairs: pl.DataFrame, rows: int | None = None) -> AntonymSet:
    total = int(pairs["rows"].sum()) if rows is None else rows
    if FREQUENCY not in pairs.columns:
        return AntonymSet(total, pairs.height)
    counts = pairs[FREQUENCY].to_numpy().astype(np.float64)
    return AntonymSet(total, pairs.height, rate(counts > 0), _mean_count(counts))


def _mean_count(counts: npt.NDArray[np.float64]) -> Estimate:
    """The mean with an interval that does not fall below 0; no interval where no count is above 1."""
    mean = rate(counts)
    if counts.max(initial=0) > 1:
        return replace(mean, low=max(mean.low, 0.0))
    note = mean.note or "no pair stands in more than one contradiction: no interval"
    return Estimate(mean.value, n=mean.n, groups=mean.groups, note=note)


def _rivalry(pairs: pl.DataFrame, accuracies: Mapping[str, Estimate], *, seed: int) -> Rivalry | None:
    """None where neither of the two is the stronger."""
    weaker, stronger = sorted(accuracies, key=lambda name: accuracies[name].value)
    if accuracies[weaker].value == accuracies[stronger].value:
        return None
    by_stronger, by_weaker = _is_known(stronger), _is_known(weaker)
    conditions = {
        "both": by_stronger & by_weaker,
        "only the stronger": by_stronger & ~by_weaker,
        "only the weaker": by_weaker & ~by_stronger,
        "the stronger": by_stronger,
        "the weaker": by_weaker,
    }
    parts = {name: _antonym_set(pairs.filter(condition)) for name, condition in conditions.items()}
    if FREQUENCY not in pairs.columns:
        return Rivalry(stronger, weaker, parts)
    first, second = (
        pairs.filter(conditions[name])[FREQUENCY].to_numpy().astype(np.float64)
        for name in ("the weaker", "only the stronger")
    )
    test = unpaired_permutation(first, second, rng=generator(seed))
    return Rivalry(stronger, weaker, parts, unpaired_difference(first, second), test.name, test.p)
