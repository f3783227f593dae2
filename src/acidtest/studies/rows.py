"""What studies of runs share: scored rows, rates of slices, and which rows of two runs are the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import U64
from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.labels import GOLD_MASKS, LABELS, TWO_WAY_LABELS, Collapse, answers, coarsen_gold, verdicts
from acidtest.core.run import Run
from acidtest.core.streams import compact_frame
from acidtest.core.suite import CATEGORY, CROSS, PARSES, Card, list_values
from acidtest.stats.intervals import rate
from acidtest.stats.resampling import Codes, numbered, taken
from acidtest.stats.significance import adjusted

Flags = npt.NDArray[np.bool_]

QUESTION = ("id", "premise", "hypothesis", "label")
"""The columns by which a row of one run is known to be the row of another: what was asked, and what is right."""

WORDS = ("premise_word", "hypothesis_word")
"""The columns with the word of the premise and that of the hypothesis that a row turns on."""

SAME_ROWS = 0.9
"""Share of the smaller run's rows that must be in the other for the rows to count as the same."""

_IDS = ("id", "base_id", "group")
_TEXTS = ("suite", "premise", "hypothesis", "source_id", "certainty", *PARSES)
_CODE = "_code"
_PROBABILITIES = ("p_entailment", "p_neutral", "p_contradiction")


@dataclass(frozen=True)
class ScoredRows:
    """The rows of one suite that can be scored, with what was answered and whether it was right.

    A few bytes of each row are held, since millions have to fit into memory; whatever else is known of them is read
    when it is asked for.
    """

    card: Card
    run: Run
    rows: pl.LazyFrame
    gold: npt.NDArray[np.uint8]
    answer: npt.NDArray[np.int8]
    correct: Flags
    ties: int = 0
    """Rows in which the likeliest labels are equally likely."""
    collapse_differs: int | None = None
    """Verdicts that would be another under ``sum`` (under ``argmax`` when ``sum`` is what was used).

    Counted where gold is two labels of three, or the label that such a gold leaves out; None without such gold.
    """
    left_out: int = 0
    labels: tuple[str, ...] = LABELS
    texts: bool = False

    @property
    def height(self) -> int:
        """How many rows there are."""
        return len(self.gold)

    @property
    def unanswered(self) -> int:
        """Rows without an answer; they count as wrong."""
        return int((self.answer < 0).sum())

    @cached_property
    def frame(self) -> pl.DataFrame:
        """All rows; where nobody asked for texts there are none, and digests in place of ids."""
        if self.texts:
            return self.run.collected(self.rows)
        rows = self.rows.drop(*_TEXTS, strict=False)
        schema: dict[str, Any] = dict(rows.collect_schema())
        names = [name for name in _IDS if name in schema]

        def digested(batch: pl.DataFrame) -> pl.DataFrame:
            return batch.with_columns(_digested(batch[name]) for name in names)

        schema |= dict.fromkeys(names, pl.UInt64)
        return self.run.collected(rows.map_batches(digested, schema=schema, streamable=True), streaming=True)

    @cached_property
    def groups(self) -> Codes:
        """The number of each row's group."""
        if "group" not in self.rows.collect_schema():
            return np.zeros(self.height, dtype=np.int8)
        return numbered(self.digests("group"))

    @cached_property
    def strata(self) -> Codes:
        """The number of each row's stratum; null is a value."""
        known = self.rows.collect_schema()
        names = [name for name in self.card.strata if name in known]
        if not names:
            return np.zeros(self.height, dtype=np.int8)
        codes, values = self.coded(*names)
        ranks = values.select(pl.struct(names).rank("dense")).to_series()
        return numbered(taken(ranks.to_numpy().astype(np.int32), codes))

    def column(self, values: pl.Expr) -> pl.Series:
        """An expression of the suite's columns, for every row."""
        return self.run.collected(self.rows.select(values), streaming=True).to_series()

    def digests(self, *names: str) -> U64:
        """One digest for each row of a column of ids, or of several columns of texts together."""
        row_digests, place = np.empty(self.height, dtype=np.uint64), 0

        def visit(batch: pl.DataFrame) -> None:
            nonlocal place
            row_digests[place : place + batch.height] = digests(*(batch[name] for name in names))
            place += batch.height

        self.run.visit(self.rows.select(names), visit)
        return row_digests

    def coded(self, *columns: str | pl.Expr) -> tuple[Codes, pl.DataFrame]:
        """Columns of few values, null being one, as numbers of rows of a frame that is in order of first appearance."""
        rows = self.rows.select(columns)
        known, codes = rows.collect_schema().to_frame(), [np.zeros(0, dtype=np.int32)]
        names = known.columns

        def visit(batch: pl.DataFrame) -> None:
            nonlocal known
            different = batch.unique(maintain_order=True)
            new = different.join(known, on=names, how="anti", nulls_equal=True, maintain_order="left")
            known = pl.concat([known, compact_frame(new)])
            code = known.with_row_index(_CODE)
            numbers = batch.join(code, on=names, how="left", nulls_equal=True, maintain_order="left")
            codes.append(numbers[_CODE].to_numpy().astype(np.int32))

        self.run.visit(rows, visit)
        return np.concatenate(codes), known

    def rate(self, values: npt.NDArray[np.generic], rows: Flags | None = None) -> Estimate:
        """The mean of a column with its interval, over some of the rows or all."""
        chosen = slice(None) if rows is None else rows
        return rate(values[chosen], groups=self.groups[chosen], strata=self.strata[chosen])


def score_rows(run: Run, suite: str, *, two_way: bool = False, texts: bool = False) -> ScoredRows:
    """The scored rows of a suite, as two-way if asked or if the model is; with ``texts`` and ids only where asked.

    Then neutral and contradiction are one label, and rows whose gold would accept both labels are left out.
    """
    collapse, rows, left_out = run.header.collapse, run.lazy(suite), 0
    other = Collapse("argmax" if collapse.mode == "sum" else "sum")
    two_way = two_way or run.header.model.resolution == "two-way"
    accepted = np.array(list(GOLD_MASKS.values()), dtype=np.uint8)
    if two_way:
        coarse = coarsen_gold(accepted)
        kept = (coarse != 0b111) | (accepted == 0b111)
        telling, accepted = pl.col("label").is_in([*compress(GOLD_MASKS, kept)]), coarse
        left_out = int(run.collected(rows.select((~telling).sum())).item())
        rows = rows.filter(telling)
    gold, answer, correct = [np.zeros(0, np.uint8)], [np.zeros(0, np.int8)], [np.zeros(0, np.bool_)]
    ties, differs = 0, np.zeros(1 << len(LABELS), dtype=np.int64)

    def visit(batch: pl.DataFrame) -> None:
        nonlocal ties
        probabilities = batch.select(_PROBABILITIES).to_numpy().astype(np.float32, copy=False)
        golds, given = batch["gold"].to_numpy(), answers(probabilities, collapse)
        right = verdicts(probabilities, golds, collapse=collapse)
        ordered = np.sort(probabilities, axis=1)
        ties += int((ordered[:, -1] == ordered[:, -2]).sum())
        differs[:] += np.bincount(
            golds[verdicts(probabilities, golds, collapse=other) != right], minlength=len(differs)
        )
        gold.append(golds)
        answer.append(np.minimum(given, 1) if two_way else given)
        correct.append(right)

    masked = pl.col("label").replace_strict([*GOLD_MASKS], accepted, return_dtype=pl.UInt8).alias("gold")
    run.visit(rows.select(masked, *_PROBABILITIES), visit)
    masks = np.concatenate(gold)
    return ScoredRows(
        card=run.header.suites[suite],
        run=run,
        rows=rows,
        gold=masks,
        answer=np.concatenate(answer),
        correct=np.concatenate(correct),
        ties=ties,
        collapse_differs=_differing_over_sets(masks, differs),
        left_out=left_out,
        labels=TWO_WAY_LABELS if two_way else LABELS,
        texts=texts,
    )


def _differing_over_sets(gold: npt.NDArray[np.uint8], differs: npt.NDArray[np.int64]) -> int | None:
    """How many verdicts differ, given by gold, where gold is two labels of three or what such a gold leaves out.

    A suite of single gold labels says nothing: ``sum`` then only asks that the answer has more than one half.
    """
    everything = (1 << len(LABELS)) - 1
    pairs = [int(mask) for mask in np.unique(gold) if int(mask).bit_count() == len(LABELS) - 1]
    return sum(int(differs[mask]) for mask in {*pairs, *(everything - mask for mask in pairs)}) if pairs else None


def with_texts(rows: pl.DataFrame, run: Run, suite: str) -> pl.DataFrame:
    """Some rows of a scored suite, with their ids, premises and hypotheses as the run has them."""
    wanted = rows["id"].implode()

    def select_rows(batch: pl.DataFrame) -> pl.DataFrame:
        keyed = batch.with_columns(key=_digested(batch["id"]))
        return keyed.filter(pl.col("key").is_in(wanted))

    texts = run.lazy(suite).select("id", "premise", "hypothesis")
    schema: dict[str, Any] = {**texts.collect_schema(), "key": pl.UInt64}
    known = run.collected(texts.map_batches(select_rows, schema=schema, streamable=True), streaming=True)
    return rows.rename({"id": "key"}).join(known.unique("key"), on="key", how="left", maintain_order="left")


def _digested(ids: pl.Series) -> pl.Series:
    return pl.select(pl.when(ids.is_not_null()).then(pl.Series(digests(ids)))).to_series().alias(ids.name)


def accuracy(rows: ScoredRows) -> Estimate:
    """Share of rows answered rightly."""
    return rows.rate(rows.correct)


def groups_right(rows: ScoredRows) -> Flags:
    """For each group whether all its rows are answered rightly."""
    right = np.ones(int(rows.groups.max(initial=-1)) + 1, dtype=np.bool_)
    right[rows.groups[~rows.correct]] = False
    return right


def group_consistency(rows: ScoredRows) -> Estimate:
    """Share of groups whose rows are all answered rightly."""
    right = groups_right(rows)
    if len(right) == rows.height:
        return Estimate(nan, n=rows.height, groups=rows.height, note="every row is its own group")
    return rate(right)


def spread(rows: ScoredRows, factor: str) -> Estimate:
    """Standard deviation of accuracy over the values of a factor; how uneven a score is."""
    codes, values = rows.coded(factor)
    means = values.with_columns(mean=np.bincount(codes, rows.correct) / np.bincount(codes))
    # In one order: sums of fractions depend on it in the last digit.
    rates = means.drop_nulls(factor).sort(factor)["mean"].to_numpy()
    if len(rates) < 2:
        return Estimate(nan, n=rows.height, groups=len(rates), note=f"fewer than two values of {factor}")
    note = f"over {len(rates)} values of {factor}, lowest {rates.min():.3f}, highest {rates.max():.3f}"
    value = float(rates.std(ddof=1))
    return Estimate(value, n=rows.height, groups=len(rates), method="standard deviation", note=note)


def metrics(rows: ScoredRows) -> dict[str, Estimate]:
    """Accuracy, recall of every gold label, how often each label is answered, group consistency, spread."""
    values = {"accuracy": accuracy(rows)}
    values |= {f"recall {label}": value for label, value in breakdown(rows, ["label"]).items()}
    values |= {f"answers {label}": rows.rate(rows.answer == number) for number, label in enumerate(rows.labels)}
    values["group consistency"] = group_consistency(rows)
    if "template" in rows.card.factors:
        values["spread over template"] = spread(rows, "template")
    return values


def breakdown(
    rows: ScoredRows, factors: Sequence[str], values: npt.NDArray[np.generic] | None = None
) -> dict[str, Estimate]:
    """The rate of ``values`` (whether rows are right, when none are given) for each combination of factor values.

    Rows where a factor is null belong to no combination. Order is that of first appearance.
    """
    column = rows.correct if values is None else values
    codes, keys = rows.coded(pl.concat_str(pl.col(factors).cast(pl.String), separator=CROSS).alias("key"))
    return {key: rows.rate(column, codes == number) for number, key in enumerate(keys["key"]) if key is not None}


def breakdowns(rows: ScoredRows) -> dict[str, dict[str, Estimate]]:
    """Accuracy by label, by category, by every factor and list, and by the crossings the card asks for.

    A row of several categories (Joshi et al. 2020, figure 5) or of several values in a list counts for each.
    """
    single = [("label",), *((name,) for name in rows.card.factors)]
    rates = {CROSS.join(names): breakdown(rows, names) for names in (*single, *rows.card.crossings)}
    for name in rows.card.lists:
        listed = listed_flags(rows.column(pl.col(name)))
        rates[name] = {value: rows.rate(rows.correct, flags) for value, flags in listed.items()}
    if not rows.card.categories:
        return rates
    marks = {name: rows.column(pl.col(name).fill_null(False)).to_numpy() for name in rows.card.categories}
    return {CATEGORY: {name: rows.rate(rows.correct, flags) for name, flags in marks.items()}, **rates}


def listed_flags(cells: pl.Series) -> dict[str, Flags]:
    """For each value of a list column which rows have it, in order of first appearance."""
    values = list_values(cells)
    names = values.explode().drop_nulls().unique(maintain_order=True)
    return {name: values.list.contains(name).to_numpy() for name in names}


def model_names(runs: Sequence[Run]) -> list[str]:
    """The models' names, numbered where two runs share one."""
    given = [run.header.model.name for run in runs]
    turns = [given[:number].count(name) + 1 for number, name in enumerate(given)]
    return [name if turn == 1 else f"{name} ({turn})" for name, turn in zip(given, turns, strict=True)]


def runs_by_model(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """The runs of each model; models that share a name go by their signatures."""
    models = {run.header.model.signature: run.header.model.name for run in runs}
    names = Counter(models.values())
    by_model: dict[str, list[Run]] = {}
    for run in runs:
        model = run.header.model
        by_model.setdefault(model.signature if names[model.name] > 1 else model.name, []).append(run)
    return by_model


def require_one_collapse(runs: Sequence[Run]) -> None:
    """Refuse runs whose probabilities became verdicts in different ways."""
    collapses = sorted({str(run.header.collapse) for run in runs})
    if len(collapses) > 1:
        raise AcidtestError(f"the runs were scored with different --collapse: {', '.join(collapses)}; score them alike")


def is_two_way(runs: Iterable[Run]) -> bool:
    """Whether one of the models has two labels, so that all are to be scored two-way."""
    return any(run.header.model.resolution == "two-way" for run in runs)


def score_alike(runs: Mapping[str, Run], suite: str) -> dict[str, ScoredRows]:
    """The scored rows of several models on a suite, as two-way where one of the models is."""
    two_way = is_two_way(runs.values())
    return {model: score_rows(run, suite, two_way=two_way) for model, run in runs.items()}


def correct_with_excess(contrasts: Sequence[Any], correction: str) -> tuple[Any, ...]:
    """Contrasts with p-values corrected as one family, those of their excess over a reference included."""
    ps = adjusted([p for contrast in contrasts for p in (contrast.p, contrast.excess_p)], correction)
    return tuple(
        replace(contrast, p_adjusted=float(p), excess_p_adjusted=float(excess_p))
        for contrast, p, excess_p in zip(contrasts, ps[::2], ps[1::2], strict=True)
    )


def common_rows(rows: tuple[ScoredRows, ScoredRows]) -> tuple[pl.DataFrame, int]:
    """The places ``i`` and ``j`` of the rows that ask the same in two runs, and how many rows share nothing but an id.

    Suites of one fingerprint hold the same rows, so their ids are enough.
    """
    first, second = (side.card.fingerprint for side in rows)
    if first and first == second:
        return _matches(rows, ("id",)), 0
    common = _matches(rows, QUESTION)
    return common, _matches(rows, ("id",)).height - common.height


def _matches(rows: tuple[ScoredRows, ScoredRows], columns: Sequence[str]) -> pl.DataFrame:
    """The places ``i`` and ``j`` of the rows that are equal in these columns, in the order of the first run."""
    first, second = (pl.DataFrame({"row": side.digests(*columns)}) for side in rows)
    return first.with_row_index("i").join(second.with_row_index("j"), on="row").sort("i")
