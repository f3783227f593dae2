"""Which antonyms models know, and whether those are the ones their training set taught (Naik et al. 2018, section 4.3).

Antonyms are unordered: *hot, cold* is *cold, hot*. A model knows a pair of antonyms when it is right on more than half
of the rows that turn on it; half is not enough. As the paper does, rows are counted too: the antonyms in rows that
every model gets right, and in rows that none does. These may overlap, as a pair may be in rows of both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

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

SCHEMA = 1
EASY, MIXED, HARD = STATUSES = ("easy", "mixed", "hard")
"""All models are right, some are, none is."""

PAIR = ("word", "antonym")
FREQUENCY = "contradictions"
"""The column that says in how many contradictions of the training set a pair stands."""


@dataclass(frozen=True)
class Part:
    """Some pairs of antonyms and the rows they were counted in; the training set's part is None without one."""

    rows: int
    pairs: int
    seen: Estimate | None = None
    frequency: Estimate | None = None

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        seen, frequency = (each and each.to_json() for each in (self.seen, self.frequency))
        return {"rows": self.rows, "pairs": self.pairs, "seen": seen, "frequency": frequency}


@dataclass(frozen=True)
class Rivalry:
    """Two models, the stronger first: whose antonyms are more frequent in the training set.

    ``difference`` and ``p`` compare the antonyms that the weaker knows with those that only the stronger does.
    """

    stronger: str
    weaker: str
    parts: Mapping[str, Part]
    difference: Estimate | None = None
    test: str = ""
    p: float | None = None

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        return {
            "stronger": self.stronger,
            "weaker": self.weaker,
            "parts": {name: part.to_json() for name, part in self.parts.items()},
            "difference": self.difference and self.difference.to_json(),
            "test": self.test,
            "p": self.p,
        }


@dataclass(frozen=True)
class Antonyms:
    """Easy, mixed and hard antonyms over some runs.

    ``pairs`` has a row for each pair: how many rows turn on it, how many of them each model gets right, its status.
    """

    models: Mapping[str, Estimate]
    pairs: pl.DataFrame
    by_row: Mapping[str, Part]
    by_pair: Mapping[str, Part]
    rivalry: Rivalry | None = None
    train: str = ""
    train_contradictions: int = 0
    notes: tuple[str, ...] = ()
    card: Card = field(default_factory=lambda: Card("stress/antonymy"))
    """That of the suite the first run was asked."""

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        return {
            "schema": SCHEMA,
            "models": {name: accuracy.to_json() for name, accuracy in self.models.items()},
            "train": self.train or None,
            "train_contradictions": self.train_contradictions if self.train else None,
            "by_row": {status: part.to_json() for status, part in self.by_row.items()},
            "by_pair": {status: part.to_json() for status, part in self.by_pair.items()},
            "rivalry": self.rivalry and self.rivalry.to_json(),
            "notes": list(self.notes),
        }


def antonyms(runs: Sequence[Run], train: Suite | None = None, *, seed: int = 0) -> Antonyms:
    """The antonyms of the rows that all runs were asked, by who gets them right.

    With a training set also how many of them stand in a contradiction of it, one word in the premise and the other in
    the hypothesis, in any inflection, and in how many contradictions. ``seed`` is the permutation test's.
    """
    names = model_names(runs)
    rows, notes = _rows(runs, names)
    pairs = _pairs(rows, names)
    contradictions = 0
    if train is not None:
        counted = pair_counts(pairs.select(PAIR), train, directed=False, inflections=True)
        pairs, contradictions = pairs.with_columns(counted.counts.fill_null(0).alias(FREQUENCY)), counted.rows
    accuracies = {name: rate(rows[name], groups=rows["group"].rank("dense")) for name in names}
    return Antonyms(
        models=accuracies,
        pairs=pairs,
        by_row={status: _by_row(rows, pairs, status) for status in STATUSES},
        by_pair={status: _part(pairs.filter(pl.col("status") == status)) for status in STATUSES},
        rivalry=_rivalry(pairs, accuracies, seed=seed) if len(names) == 2 else None,
        train=train.name if train is not None else "",
        train_contradictions=contradictions,
        notes=notes,
        card=runs[0].header.suites[_suite(runs[0])],
    )


def _rows(runs: Sequence[Run], names: Sequence[str]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows that every run was asked: their antonyms in order, and whether each model is right."""
    found: pl.DataFrame | None = None
    sizes = []
    for run, name in zip(runs, names, strict=True):
        side = score_rows(run, _suite(run))
        sizes.append(side.height)
        asked = pl.Series("_row", side.digests(*QUESTION))
        own = side.frame.select("id", "group", *PAIR).with_columns(asked, pl.Series(name, side.correct))
        found = own if found is None else found.join(own.select("_row", name), on="_row", maintain_order="left")
    if found is None:
        raise AcidtestError("antonyms needs a run on stress/antonymy")
    if not found.height:
        raise AcidtestError(
            "the runs have no row of stress/antonymy in common; make them with the same corpus and seed"
        )
    notes = (f"on the {found.height:,} rows that all have, of {max(sizes):,}",) if found.height < max(sizes) else ()
    right = pl.sum_horizontal(pl.col(list(names)))
    status = pl.when(right == len(names)).then(pl.lit(EASY)).when(right == 0).then(pl.lit(HARD))
    low, high = (pl.col(name).str.to_lowercase() for name in PAIR)
    return found.with_columns(
        pl.min_horizontal(low, high).alias(PAIR[0]),
        pl.max_horizontal(low, high).alias(PAIR[1]),
        status.otherwise(pl.lit(MIXED)).alias("status"),
    ), notes


def _suite(run: Run) -> str:
    own = [
        name
        for name, card in run.header.suites.items()
        if not name.endswith(CONTROL) and set(PAIR) <= set(card.columns)
    ]
    if len(own) != 1:
        held = ", ".join(own or run.header.suites)
        raise AcidtestError(f"a run of {run.header.model.name} holds {held}; one suite stress/antonymy was expected")
    return own[0]


def _pairs(rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """A row for each pair of antonyms, the most frequent first."""
    known = pl.sum_horizontal(pl.col(_right(name)) * 2 > pl.col("rows") for name in names)
    status = (
        pl.when(known == len(names)).then(pl.lit(EASY)).when(known == 0).then(pl.lit(HARD)).otherwise(pl.lit(MIXED))
    )
    return (
        rows.group_by(PAIR, maintain_order=True)
        .agg(
            pl.len().cast(pl.Int64).alias("rows"),
            *(pl.col(name).sum().cast(pl.Int64).alias(_right(name)) for name in names),
        )
        .with_columns(status.alias("status"))
        .sort("rows", *PAIR, descending=[True, False, False])
    )


def _right(model: str) -> str:
    return f"right: {model}"


def _by_row(rows: pl.DataFrame, pairs: pl.DataFrame, status: str) -> Part:
    """The antonyms in rows of one status, as the paper counts them."""
    own = rows.filter(pl.col("status") == status)
    return _part(pairs.join(own.select(PAIR).unique(), on=list(PAIR), how="semi"), rows=own.height)


def _part(pairs: pl.DataFrame, rows: int | None = None) -> Part:
    total = int(pairs["rows"].sum()) if rows is None else rows
    if FREQUENCY not in pairs.columns:
        return Part(total, pairs.height)
    counts = pairs[FREQUENCY].to_numpy().astype(np.float64)
    return Part(total, pairs.height, rate(counts > 0), _mean_count(counts))


def _mean_count(counts: npt.NDArray[np.float64]) -> Estimate:
    """The mean with an interval that does not fall below 0; none where no count is above 1, so that nothing spreads."""
    found = rate(counts)
    if counts.max(initial=0) > 1:
        return replace(found, low=max(found.low, 0.0))
    note = found.note or "no pair stands in more than one contradiction: no interval"
    return Estimate(found.value, n=found.n, groups=found.groups, note=note)


def _rivalry(pairs: pl.DataFrame, accuracies: Mapping[str, Estimate], *, seed: int) -> Rivalry | None:
    """None where neither of the two is the stronger."""
    weaker, stronger = sorted(accuracies, key=lambda name: accuracies[name].value)
    if accuracies[weaker].value == accuracies[stronger].value:
        return None
    by_stronger, by_weaker = (pl.col(_right(name)) * 2 > pl.col("rows") for name in (stronger, weaker))
    chosen = {
        "both": by_stronger & by_weaker,
        "only the stronger": by_stronger & ~by_weaker,
        "only the weaker": by_weaker & ~by_stronger,
        "the stronger": by_stronger,
        "the weaker": by_weaker,
    }
    parts = {name: _part(pairs.filter(condition)) for name, condition in chosen.items()}
    if FREQUENCY not in pairs.columns:
        return Rivalry(stronger, weaker, parts)
    first, second = (
        pairs.filter(chosen[name])[FREQUENCY].to_numpy().astype(np.float64)
        for name in ("the weaker", "only the stronger")
    )
    test = unpaired_permutation(first, second, rng=generator(seed))
    p = None if np.isnan(test.p) else test.p
    return Rivalry(stronger, weaker, parts, unpaired_difference(first, second), test.name, p)
