"""Building blocks of studies: scored rows, rates of slices, and the matching of rows between two runs."""

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
from acidtest.core.suite import CATEGORY, CROSS, EXPECTATION, PARSES, Card, compact_frame, list_values
from acidtest.stats.intervals import rate
from acidtest.stats.resampling import Codes, numbered, taken

Flags = npt.NDArray[np.bool_]

QUESTION = ("id", "premise", "hypothesis", "label")
"""The columns in which rows of two runs must be equal to count as the same row: id, pair and gold."""

WORDS = ("premise_word", "hypothesis_word")
"""The columns with the two words that a pair differs in, one of the premise and one of the hypothesis."""

SAME_ROWS = 0.9
"""Two runs are compared row by row if they share at least this fraction of the smaller run's rows."""

_IDS = ("id", "base_id", "group")
_TEXTS = ("suite", "premise", "hypothesis", "source_id", "certainty", *PARSES)
_CODE = "_code"
_PROBABILITIES = ("p_entailment", "p_neutral", "p_contradiction")


@dataclass(frozen=True)
class ScoredRows:
    """The rows of one suite that can be scored, with what was answered and whether it was right.

    Only a few bytes per row are stored, since millions of rows must fit into memory; the run has all other columns.
    """

    card: Card
    run: Run
    rows: pl.LazyFrame
    gold: npt.NDArray[np.uint8]
    answer: npt.NDArray[np.int8]
    correct: Flags
    ties: int = 0
    """Rows in which several labels share the highest probability."""
    collapse_differs: int | None = None
    """Rows whose verdict would change under another collapse: ``sum``, or ``argmax`` if the run used ``sum``.

    Counts only rows whose gold is a set of two labels that occurs in the suite, or the third label that such a set
    leaves out. None if no gold is a set of two labels.
    """
    left_out: int = 0
    labels: tuple[str, ...] = LABELS
    texts: bool = False

    @property
    def height(self) -> int:
        """How many rows there are."""
        return len(self.gold)

    @property
    def judged(self) -> Flags | None:
        """The rows that are judged by gold, in a suite that compares verdicts with each other; None if all are."""
        compares = EXPECTATION in self.card.factors or self.card.about_claims
        return self.gold != GOLD_MASKS["any"] if compares else None

    @property
    def unanswered(self) -> int:
        """Rows without an answer; they count as wrong."""
        return int((self.answer < 0).sum())

    @cached_property
    def frame(self) -> pl.DataFrame:
        """All rows; without ``texts``, columns of text are dropped and ids are replaced by their digests."""
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
        """The code of each row's group; all 0 if the suite has no groups."""
        if "group" not in self.rows.collect_schema():
            return np.zeros(self.height, dtype=np.int8)
        return numbered(self.digests("group"))

    @cached_property
    def strata(self) -> Codes:
        """The code of each row's stratum; all 0 without strata. Null counts as a value."""
        schema = self.rows.collect_schema()
        names = [name for name in self.card.strata if name in schema]
        if not names:
            return np.zeros(self.height, dtype=np.int8)
        codes, values = self.coded(*names)
        ranks = values.select(pl.struct(names).rank("dense")).to_series()
        return numbered(taken(ranks.to_numpy().astype(np.int32), codes))

    def column(self, values: pl.Expr) -> pl.Series:
        """The value of an expression over the suite's columns for every row."""
        return self.run.collected(self.rows.select(values), streaming=True).to_series()

    def digests(self, *names: str) -> U64:
        """One digest per row: of one column of ids, or of several columns of text taken together."""
        row_digests, offset = np.empty(self.height, dtype=np.uint64), 0

        def visit(batch: pl.DataFrame) -> None:
            nonlocal offset
            row_digests[offset : offset + batch.height] = digests(*(batch[name] for name in names))
            offset += batch.height

        self.run.visit(self.rows.select(names), visit)
        return row_digests

    def coded(self, *columns: str | pl.Expr) -> tuple[Codes, pl.DataFrame]:
        """The index of each row's combination of column values, and a frame whose rows the codes index.

        For columns with few distinct values. Null counts as a value; combinations are in order of first appearance.
        """
        rows = self.rows.select(columns)
        combinations, codes = rows.collect_schema().to_frame(), [np.zeros(0, dtype=np.int32)]
        names = combinations.columns

        def visit(batch: pl.DataFrame) -> None:
            nonlocal combinations
            distinct = batch.unique(maintain_order=True)
            new = distinct.join(combinations, on=names, how="anti", nulls_equal=True, maintain_order="left")
            combinations = pl.concat([combinations, compact_frame(new)])
            indexed = combinations.with_row_index(_CODE)
            matched = batch.join(indexed, on=names, how="left", nulls_equal=True, maintain_order="left")
            codes.append(matched[_CODE].to_numpy().astype(np.int32))

        self.run.visit(rows, visit)
        return np.concatenate(codes), combinations

    def rate(self, values: npt.NDArray[np.generic], rows: Flags | None = None, *, empty: str = "no rows") -> Estimate:
        """The mean of a column with its interval, over some of the rows or all; ``empty`` is the note for no rows."""
        chosen = slice(None) if rows is None else rows
        return rate(values[chosen], groups=self.groups[chosen], strata=self.strata[chosen], empty=empty)


def score_rows(run: Run, suite: str, *, two_way: bool = False, texts: bool = False) -> ScoredRows:
    """The scored rows of a suite, two-way if asked for, if the model has two labels or if it is about claims.

    Two-way scoring merges neutral and contradiction, and leaves out rows whose gold then accepts both labels (gold that
    accepts any label stays). ``texts`` says whether ``ScoredRows.frame`` keeps texts and ids.
    """
    collapse, rows, left_out = run.header.collapse, run.lazy(suite), 0
    other_collapse = Collapse("argmax" if collapse.mode == "sum" else "sum")
    two_way = two_way or run.header.is_two_way(suite)
    accepted = np.array(list(GOLD_MASKS.values()), dtype=np.uint8)
    if two_way:
        coarse = coarsen_gold(accepted)
        kept = (coarse != 0b111) | (accepted == 0b111)
        scorable, accepted = pl.col("label").is_in([*compress(GOLD_MASKS, kept)]), coarse
        left_out = int(run.collected(rows.select((~scorable).sum())).item())
        rows = rows.filter(scorable)
    gold, answer, correct = [np.zeros(0, np.uint8)], [np.zeros(0, np.int8)], [np.zeros(0, np.bool_)]
    ties, differing = 0, np.zeros(1 << len(LABELS), dtype=np.int64)

    def visit(batch: pl.DataFrame) -> None:
        nonlocal ties
        probabilities = batch.select(_PROBABILITIES).to_numpy().astype(np.float32, copy=False)
        golds, given = batch["gold"].to_numpy(), answers(probabilities, collapse)
        right = verdicts(probabilities, golds, collapse=collapse)
        ordered = np.sort(probabilities, axis=1)
        ties += int((ordered[:, -1] == ordered[:, -2]).sum())
        differing[:] += np.bincount(
            golds[verdicts(probabilities, golds, collapse=other_collapse) != right], minlength=len(differing)
        )
        gold.append(golds)
        answer.append(np.minimum(given, 1) if two_way else given)
        correct.append(right)

    gold_mask = pl.col("label").replace_strict([*GOLD_MASKS], accepted, return_dtype=pl.UInt8).alias("gold")
    run.visit(rows.select(gold_mask, *_PROBABILITIES), visit)
    masks = np.concatenate(gold)
    return ScoredRows(
        card=run.header.suites[suite],
        run=run,
        rows=rows,
        gold=masks,
        answer=np.concatenate(answer),
        correct=np.concatenate(correct),
        ties=ties,
        collapse_differs=_count_differing(masks, differing),
        left_out=left_out,
        labels=TWO_WAY_LABELS if two_way else LABELS,
        texts=texts,
    )


def _count_differing(gold: npt.NDArray[np.uint8], differing: npt.NDArray[np.int64]) -> int | None:
    """``ScoredRows.collapse_differs``, given the number of verdicts that differ for each gold mask.

    Suites of single gold labels are not counted: with these, ``sum`` merely requires gold to have more than half of
    the probability.
    """
    everything = (1 << len(LABELS)) - 1
    pairs = [int(mask) for mask in np.unique(gold) if int(mask).bit_count() == len(LABELS) - 1]
    return sum(int(differing[mask]) for mask in {*pairs, *(everything - mask for mask in pairs)}) if pairs else None


def with_texts(rows: pl.DataFrame, run: Run, suite: str) -> pl.DataFrame:
    """Some rows of ``ScoredRows.frame``, their digests of ids replaced by the run's ids, premises and hypotheses."""
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


def select_rows(rows: ScoredRows, places: npt.NDArray[np.integer[Any]]) -> ScoredRows:
    """Some of the rows, in the order given."""
    columns = {name: getattr(rows, name)[places] for name in ("gold", "answer", "correct")}
    return replace(rows, rows=rows.rows.select(pl.all().gather(places)), **columns)


def accuracy(rows: ScoredRows) -> Estimate:
    """Share of rows answered correctly, of those that are judged by gold."""
    if rows.judged is not None and not rows.judged.any():
        return Estimate(nan, n=rows.height, note="no row has gold: every answer would be right")
    return rows.rate(rows.correct, rows.judged)


def groups_right(rows: ScoredRows) -> Flags:
    """For each group, whether all its rows are answered correctly."""
    right = np.ones(int(rows.groups.max(initial=-1)) + 1, dtype=np.bool_)
    wrong = ~rows.correct if rows.judged is None else ~rows.correct & rows.judged
    right[rows.groups[wrong]] = False
    return right


def group_consistency(rows: ScoredRows) -> Estimate:
    """Share of groups whose rows are all answered correctly, of those with rows that are judged by gold."""
    groups = rows.groups if rows.judged is None else rows.groups[rows.judged]
    judged = np.unique(groups)
    if len(judged) == len(groups):
        note = "every row is its own group" if len(groups) else "no row has gold"
        return Estimate(nan, n=len(groups), groups=len(groups), note=note)
    return rate(groups_right(rows)[judged])


def spread(rows: ScoredRows, factor: str) -> Estimate:
    """Standard deviation of accuracy over the values of a factor."""
    codes, values = rows.coded(factor)
    judged = slice(None) if rows.judged is None else rows.judged
    counts, right = (np.bincount(codes[judged], weights, values.height) for weights in (None, rows.correct[judged]))
    means = values.with_columns(count=counts, mean=right / np.maximum(counts, 1)).filter(pl.col("count") > 0)
    # Sorted, since the last digit of a sum of floats depends on their order.
    rates = means.drop_nulls(factor).sort(factor)["mean"].to_numpy()
    if len(rates) < 2:
        return Estimate(nan, n=rows.height, groups=len(rates), note=f"fewer than two values of {factor}")
    note = f"over {len(rates)} values of {factor}, lowest {rates.min():.3f}, highest {rates.max():.3f}"
    value = float(rates.std(ddof=1))
    return Estimate(value, n=rows.height, groups=len(rates), method="standard deviation", note=note)


def metrics(rows: ScoredRows, overall: Estimate, by_label: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Accuracy, recall of every gold label, how often each label is answered, group consistency, spread.

    ``overall`` is the accuracy on all rows, ``by_label`` that on the rows of each gold label.
    """
    values = {"accuracy": overall} | {f"recall {label}": value for label, value in by_label.items()}
    values |= {f"answers {label}": rows.rate(rows.answer == number) for number, label in enumerate(rows.labels)}
    values["group consistency"] = group_consistency(rows)
    if "template" in rows.card.factors:
        values["spread over template"] = spread(rows, "template")
    return values


def breakdown(
    rows: ScoredRows, factors: Sequence[str], values: npt.NDArray[np.generic] | None = None
) -> dict[str, Estimate]:
    """The mean of ``values`` (by default accuracy) for each combination of factor values.

    Rows where a factor is null belong to no combination. Combinations are in order of first appearance.
    """
    column = rows.correct if values is None else values
    judged = True if values is not None or rows.judged is None else rows.judged
    codes, keys = rows.coded(pl.concat_str(pl.col(factors).cast(pl.String), separator=CROSS).alias("key"))
    known = ((number, key) for number, key in enumerate(keys["key"]) if key is not None)
    return {key: rows.rate(column, (codes == number) & judged) for number, key in known}


def chances(rows: ScoredRows, factor: str) -> dict[str, float]:
    """The accuracy of guessing evenly among the labels on the rows of each value of a factor."""
    codes, keys = rows.coded(pl.col(factor).cast(pl.String).alias("key"))
    # Gold of a two-way run accepts one of its two labels, though as a mask of three it may have two bits.
    is_two_way = len(rows.labels) < len(LABELS)
    chance = np.array([1 / 2 if is_two_way else mask.bit_count() / len(LABELS) for mask in range(1 << len(LABELS))])
    means = np.bincount(codes, chance[rows.gold], len(keys)) / np.maximum(np.bincount(codes, minlength=len(keys)), 1)
    known = zip(keys["key"], means, strict=True)
    return {key: float(chance) for key, chance in known if key is not None}


def breakdowns(rows: ScoredRows) -> dict[str, dict[str, Estimate]]:
    """Accuracy by label, by category, by every factor and list, and by the crossings the card asks for.

    A row of several categories (Joshi et al. 2020, figure 5) or of several values in a list counts for each.
    """
    judged = True if rows.judged is None else rows.judged
    single = [("label",), *((name,) for name in rows.card.factors)]
    rates = {CROSS.join(names): breakdown(rows, names) for names in (*single, *rows.card.crossings)}
    for name in rows.card.lists:
        listed = listed_flags(rows.column(pl.col(name)))
        rates[name] = {value: rows.rate(rows.correct, flags & judged) for value, flags in listed.items()}
    if not rows.card.categories:
        return rates
    members = {name: rows.column(pl.col(name).fill_null(False)).to_numpy() for name in rows.card.categories}
    return {CATEGORY: {name: rows.rate(rows.correct, flags & judged) for name, flags in members.items()}, **rates}


def listed_flags(cells: pl.Series) -> dict[str, Flags]:
    """Flags of the rows that contain each value of a list column; values are in order of first appearance."""
    values = list_values(cells)
    names = values.explode().drop_nulls().unique(maintain_order=True)
    return {name: values.list.contains(name).to_numpy() for name in names}


def model_names(runs: Sequence[Run]) -> list[str]:
    """The name of each run or, if it has none, that of its model; equal names are numbered."""
    names = [run.header.name or run.header.model.name for run in runs]
    counts, distinct = Counter[str](), list[str]()
    for name in names:
        counts[name] += 1
        distinct.append(name if counts[name] == 1 else f"{name} ({counts[name]})")
    return distinct


def runs_by_model(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """The runs of each model by its name: that of its runs if they all have one, else that of the model.

    Models that would share a name get their signatures.
    """
    by_signature: dict[str, list[Run]] = {}
    for run in runs:
        by_signature.setdefault(run.header.model.signature, []).append(run)
    names = {}
    for signature, members in by_signature.items():
        given = {run.header.name for run in members}
        names[signature] = given.pop() if len(given) == 1 and "" not in given else members[0].header.model.name
    counts = Counter(names.values())
    return {
        signature if counts[names[signature]] > 1 else names[signature]: members
        for signature, members in by_signature.items()
    }


def require_one_collapse(runs: Sequence[Run]) -> None:
    """Raise an error unless all runs turn probabilities into verdicts by the same collapse."""
    collapses = sorted({str(run.header.collapse) for run in runs})
    if len(collapses) > 1:
        raise AcidtestError(f"the runs were scored with different --collapse: {', '.join(collapses)}; score them alike")


def is_two_way(runs: Iterable[Run]) -> bool:
    """Whether one of the models has two labels, so that all must be scored two-way."""
    return any(run.header.model.resolution == "two-way" for run in runs)


def score_alike(runs: Mapping[str, Run], suite: str, *, two_way: bool = False) -> dict[str, ScoredRows]:
    """The scored rows of several models on a suite, all two-way if asked for or if one of the models has two labels."""
    two_way = two_way or is_two_way(runs.values())
    return {model: score_rows(run, suite, two_way=two_way) for model, run in runs.items()}


def shared_places(rows: Sequence[ScoredRows]) -> list[Codes]:
    """For each run, the positions of the rows that all runs share, in the order of the first."""
    first, *others = (
        pl.DataFrame({"row": side.digests(*QUESTION)}).with_row_index(str(number)) for number, side in enumerate(rows)
    )
    for other in others:
        first = first.join(other, on="row", maintain_order="left")
    return [first[str(number)].to_numpy().astype(np.int64) for number in range(len(rows))]


def common_rows(rows: tuple[ScoredRows, ScoredRows]) -> tuple[pl.DataFrame, int]:
    """Positions ``i`` and ``j`` of the rows that two runs share, and how many others have only their id in common.

    Suites with equal fingerprints hold the same rows, so comparing ids is enough.
    """
    first, second = (side.card.fingerprint for side in rows)
    if first and first == second:
        return _matches(rows, ("id",)), 0
    common = _matches(rows, QUESTION)
    return common, _matches(rows, ("id",)).height - common.height


def _matches(rows: tuple[ScoredRows, ScoredRows], columns: Sequence[str]) -> pl.DataFrame:
    """Positions ``i`` and ``j`` of the rows that are equal in these columns, in the order of the first run."""
    first, second = (pl.DataFrame({"row": side.digests(*columns)}) for side in rows)
    return first.with_row_index("i").join(second.with_row_index("j"), on="row").sort("i")
