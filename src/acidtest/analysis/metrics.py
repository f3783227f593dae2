"""From a run's rows to estimates: overall, per label, per factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.analysis.intervals import rate
from acidtest.core.digests import digests
from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS, TWO_WAY_LABELS, coarsened, masks
from acidtest.core.run import Run
from acidtest.core.suite import CROSS, PARSES, Card
from acidtest.core.verdicts import Collapse, Probabilities, answers, verdicts

Flags = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]

_IDS = ("id", "base_id", "group")
_TEXTS = ("suite", "premise", "hypothesis", "source_id", "certainty", *PARSES)


@dataclass(frozen=True)
class Scored:
    """The rows of one suite that can be scored, with what was answered and whether it was right.

    Where nobody asks for them, the frame has no texts, and digests in place of ids: millions of rows have to fit into
    memory.
    """

    card: Card
    frame: pl.DataFrame
    probabilities: Probabilities
    gold: npt.NDArray[np.uint8]
    answer: npt.NDArray[np.int8]
    correct: Flags
    groups: Codes
    strata: Codes
    left_out: int = 0
    labels: tuple[str, ...] = LABELS

    @property
    def unanswered(self) -> int:
        """Rows without an answer; they count as wrong."""
        return int((self.answer < 0).sum())

    @property
    def ties(self) -> int:
        """Rows in which the likeliest labels are equally likely."""
        ordered = np.sort(self.probabilities, axis=1)
        return int((ordered[:, -1] == ordered[:, -2]).sum())

    def rate(self, values: npt.NDArray[np.generic], rows: Flags | None = None) -> Estimate:
        """The mean of a column with its interval, over some of the rows or all."""
        chosen = slice(None) if rows is None else rows
        return rate(values[chosen], groups=self.groups[chosen], strata=self.strata[chosen])


def scored(run: Run, suite: str, *, two_way: bool = False, texts: bool = False) -> Scored:
    """The scored rows of a suite, as two-way if asked or if the model is; with ``texts`` and ids only where asked.

    Then neutral and contradiction are one label, and rows whose gold would accept both labels are left out.
    """
    card, frame = run.header.suites[suite], run.rows(suite) if texts else without_texts(run, suite)
    gold = masks(frame["label"].to_numpy())
    left_out = 0
    two_way = two_way or run.header.model.resolution == "two-way"
    if two_way:
        coarse = coarsened(gold)
        telling = (coarse != 0b111) | (gold == 0b111)
        frame, gold, left_out = frame.filter(telling), coarse[telling], int((~telling).sum())
    probabilities = frame.select("p_entailment", "p_neutral", "p_contradiction").to_numpy().astype(np.float32)
    answer = answers(probabilities, run.header.collapse)
    collapse = run.header.collapse
    return Scored(
        card=card,
        frame=frame,
        probabilities=probabilities,
        gold=gold,
        answer=np.minimum(answer, 1) if two_way else answer,
        correct=verdicts(probabilities, gold, collapse=collapse),
        groups=_codes(frame, ["group"]),
        strata=_codes(frame, card.strata),
        left_out=left_out,
        labels=TWO_WAY_LABELS if two_way else LABELS,
    )


def without_texts(run: Run, suite: str, *conditions: pl.Expr) -> pl.DataFrame:
    """The rows of a suite, or those that meet some conditions, with digests in place of ids and without texts."""
    rows = run.lazy(suite).filter(*conditions).drop(*_TEXTS, strict=False)
    schema: dict[str, Any] = dict(rows.collect_schema())
    names = [name for name in _IDS if name in schema]

    def digested(batch: pl.DataFrame) -> pl.DataFrame:
        return batch.with_columns(_digested(batch[name]) for name in names)

    schema |= dict.fromkeys(names, pl.UInt64)
    return run.collected(rows.map_batches(digested, schema=schema, streamable=True), streaming=True)


def with_texts(rows: pl.DataFrame, run: Run, suite: str) -> pl.DataFrame:
    """Some rows of a scored suite, with their ids, premises and hypotheses as the run has them."""
    wanted = rows["id"].implode()

    def found(batch: pl.DataFrame) -> pl.DataFrame:
        keyed = batch.with_columns(key=_digested(batch["id"]))
        return keyed.filter(pl.col("key").is_in(wanted))

    texts = run.lazy(suite).select("id", "premise", "hypothesis")
    schema: dict[str, Any] = {**texts.collect_schema(), "key": pl.UInt64}
    known = run.collected(texts.map_batches(found, schema=schema, streamable=True), streaming=True)
    return rows.rename({"id": "key"}).join(known.unique("key"), on="key", how="left", maintain_order="left")


def _digested(ids: pl.Series) -> pl.Series:
    return pl.select(pl.when(ids.is_not_null()).then(pl.Series(digests(ids)))).to_series().alias(ids.name)


def accuracy(rows: Scored) -> Estimate:
    """Share of rows answered rightly."""
    return rows.rate(rows.correct)


def group_consistency(rows: Scored) -> Estimate:
    """Share of groups whose rows are all answered rightly."""
    count = int(rows.groups.max(initial=-1)) + 1
    if count == len(rows.correct):
        return Estimate(nan, n=len(rows.correct), groups=count, note="every row is its own group")
    whole = np.ones(count, dtype=np.bool_)
    np.logical_and.at(whole, rows.groups, rows.correct)
    return rate(whole)


def spread(rows: Scored, factor: str) -> Estimate:
    """Standard deviation of accuracy over the values of a factor; how uneven a score is."""
    means = rows.frame.select(factor).with_columns(correct=rows.correct).group_by(factor).agg(pl.col("correct").mean())
    # In one order: sums of fractions depend on it in the last digit.
    values = means.drop_nulls(factor).sort(factor)["correct"].to_numpy()
    if len(values) < 2:
        return Estimate(nan, n=len(rows.correct), groups=len(values), note=f"fewer than two values of {factor}")
    note = f"over {len(values)} values of {factor}, lowest {values.min():.3f}, highest {values.max():.3f}"
    value = float(values.std(ddof=1))
    return Estimate(value, n=len(rows.correct), groups=len(values), method="standard deviation", note=note)


def metrics(rows: Scored) -> dict[str, Estimate]:
    """Accuracy, recall of every gold label, how often each label is answered, group consistency, spread."""
    found = {"accuracy": accuracy(rows)}
    found |= {f"recall {label}": value for label, value in breakdown(rows, ["label"]).items()}
    found |= {f"answers {label}": rows.rate(rows.answer == number) for number, label in enumerate(rows.labels)}
    found["group consistency"] = group_consistency(rows)
    if "template" in rows.card.factors:
        found["spread over template"] = spread(rows, "template")
    return found


def breakdown(
    rows: Scored, factors: Sequence[str], values: npt.NDArray[np.generic] | None = None
) -> dict[str, Estimate]:
    """The rate of ``values`` (whether rows are right, when none are given) for each combination of factor values.

    Rows where a factor is null belong to no combination. Order is that of first appearance.
    """
    column = rows.correct if values is None else values
    keys = rows.frame.select(
        pl.when(pl.all_horizontal(pl.col(list(factors)).is_not_null()))
        .then(pl.concat_str([pl.col(name).cast(pl.String) for name in factors], separator=CROSS))
        .alias("key")
    ).with_row_index("row")
    parts = keys.drop_nulls().group_by("key", maintain_order=True).agg("row")
    everything = {}
    for key, index in parts.iter_rows():
        chosen = np.zeros(len(column), dtype=np.bool_)
        chosen[index] = True
        everything[key] = rows.rate(column, chosen)
    return everything


def breakdowns(rows: Scored) -> dict[str, dict[str, Estimate]]:
    """Accuracy by label, by every factor, and by the crossings the card asks for."""
    single = [("label",), *((name,) for name in rows.card.factors)]
    return {CROSS.join(names): breakdown(rows, names) for names in (*single, *rows.card.crossings)}


def collapse_differs(rows: Scored, collapse: Collapse) -> int:
    """How many verdicts would be another under ``sum`` (under ``argmax`` when ``sum`` is what was used)."""
    other = Collapse("argmax") if collapse.mode == "sum" else Collapse("sum")
    return int((verdicts(rows.probabilities, rows.gold, collapse=other) != rows.correct).sum())


def _codes(frame: pl.DataFrame, columns: Sequence[str]) -> Codes:
    """A number for each combination of values; null is a value."""
    present = [name for name in columns if name in frame.columns]
    if not present or not frame.height:
        return np.zeros(frame.height, dtype=np.int64)
    return frame.select(pl.struct(present).rank("dense") - 1).to_series().to_numpy().astype(np.int64)
