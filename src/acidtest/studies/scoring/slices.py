"""Names of slices and example rows for documents.

Examples are a model's most confident mistakes, or rows that only one of two models gets right. Ten rows of one template
show less than one row of each of ten templates, so examples are spread over as many slices as possible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.document import Pair
from acidtest.core.labels import GOLD_MASKS, LABELS, TWO_WAY_LABELS
from acidtest.core.run import ANSWER_COLUMNS, Run
from acidtest.core.suite import CATEGORY, CROSS, EXPECTATION, Card, compact_frame
from acidtest.studies.scoring.rows import ScoredRows, common_rows, with_texts

CATEGORY_HOLDS = "yes"
"""The value of a category in the example browser if a pair belongs to it."""

MOST_CHART_ROWS = 100
"""A factor with more values than this gets a table but no chart."""

MOST_FACTS = 3
"""The most factors shown beside an example; the browser shows all."""

Floats = npt.NDArray[np.float64]

_SURE = "_sure"


@dataclass(frozen=True)
class Disagreement:
    """How many of the rows asked of two models each gets right, with examples that only one gets right."""

    both: int
    neither: int
    only_first: int
    only_second: int
    first_examples: tuple[Pair, ...]
    second_examples: tuple[Pair, ...]


def main_factor(card: Card, sizes: Mapping[str, int]) -> str | None:
    """The factor a suite is stratified by, else its categories, the label, or the factor with most values."""
    grouped = (CATEGORY,) if card.categories else ()
    strata = [name for name in (*card.strata, *grouped, "label") if sizes.get(name, 0) > 1]
    factors = [name for name in card.factors if sizes.get(name)]
    if strata or factors:
        return strata[0] if strata else max(factors, key=lambda name: sizes[name])
    return None


def chance(card: Card, *, two_way: bool) -> float:
    """Accuracy of guessing: 1/2 for two-way labels (McCoy et al. 2019), else the mean share of labels accepted."""
    if two_way or card.about_claims or set(card.labels) == {"entailment", "non-entailment"}:
        return 1 / 2
    counts = {label: count for label, count in card.labels.items() if label != "any" or EXPECTATION not in card.factors}
    accepted = sum(GOLD_MASKS[label].bit_count() / 3 * count for label, count in counts.items())
    return accepted / sum(counts.values()) if counts else 1 / 3


def slice_of(card: Card, factor: str, value: str) -> dict[str, str]:
    """The suite and the column values that select the rows of a slice; empty if a factor holds lists."""
    names = factor.split(CROSS)
    if not factor:
        return {"suite": card.name}
    if set(names) & set(card.lists):
        return {}
    if names == [CATEGORY] and value in card.categories:
        return {"suite": card.name, value: CATEGORY_HOLDS}
    return {"suite": card.name, **dict(zip(names, value.split(CROSS), strict=False))}


def headings(run: Run, suite: str, factor: str) -> dict[str, str]:
    """A heading for each value of a factor, if each occurs in only one cell of a crossing; else empty."""
    rows = run.lazy(suite)
    known = rows.collect_schema().names()
    for names in (*run.header.suites[suite].crossings, ("label",)):
        if factor in names or any(name not in known for name in (factor, *names)):
            continue
        different = _different(run, rows.select(factor, *names))
        if different.height and not different[factor].is_duplicated().any():
            texts = {str(value): " · ".join(map(readable, parts)) for value, *parts in different.iter_rows()}
            return {value: text[:1].upper() + text[1:] for value, text in texts.items()}
    return {}


def _different(run: Run, rows: pl.LazyFrame) -> pl.DataFrame:
    """The distinct rows without nulls, in order of first appearance."""
    batches = [rows.collect_schema().to_frame()]
    run.visit(rows, lambda batch: batches.append(compact_frame(batch.drop_nulls().unique(maintain_order=True))))
    return pl.concat(batches).unique(maintain_order=True)


def row_names(values: Sequence[str], under: Mapping[str, str]) -> dict[str, str]:
    """The name shown for each value; a code for its heading, as in ``ln_passive``, is dropped if all have one."""
    codes: dict[str, set[str]] = {}
    for value in values:
        codes.setdefault(under.get(value, ""), set()).add(value.partition("_")[0] if "_" in value else "")
    coded = bool(under) and all(len(members) == 1 and 0 < len(max(members)) <= 3 for members in codes.values())
    return {value: readable(value.partition("_")[2] if coded else value) for value in values}


def readable(value: object) -> str:
    """A value with spaces for underscores."""
    return str(value).replace("_", " ")


def mistakes(run: Run, suite: str, main: str | None, *, count: int = 10) -> tuple[int, tuple[Pair, ...]]:
    """The number of mistakes of a run on a suite, and the most confident ones, spread over the values of ``main``.

    Without probabilities all mistakes count as equally confident.
    """
    factors = _factors(run, suite, main)
    names = {"id", "group", "label", *factors, *ANSWER_COLUMNS}
    rows = run.lazy(suite)
    rows = rows.select(name for name in rows.collect_schema().names() if name in names)
    is_judged = pl.col("label") != "any" if EXPECTATION in run.header.suites[suite].factors else pl.lit(True)
    total, kept = 0, pl.DataFrame(schema={**rows.collect_schema(), _SURE: pl.Float64})

    def visit(batch: pl.DataFrame) -> None:
        nonlocal total, kept
        # Filtered here, since Polars would read far ahead to do it.
        wrong = batch.filter(~pl.col("correct") & is_judged)
        total += wrong.height
        sure = pl.Series(_SURE, confidence(wrong, run).round(2))
        known = _eligible(pl.concat([kept, wrong.with_columns(sure)]), factors, count)
        # Rows that were eligible remain so, and come first.
        kept = pl.concat([kept, compact_frame(known[kept.height :])])

    run.visit(rows, visit)
    chosen = kept[spread(kept, factors, kept[_SURE].to_numpy(), count=count)]
    texts = run.lazy(suite).filter(pl.col("id").is_in(chosen["id"].to_list())).select("id", "premise", "hypothesis")
    known = run.collected(texts, streaming=True).unique("id", keep="first", maintain_order=True)
    shown = chosen.join(known, on="id", how="left", maintain_order="left")
    name = run.header.model.name
    return total, tuple(_pair(row, factors, {name: describe_answer(row, run)}) for row in shown.iter_rows(named=True))


def disagreement(
    names: tuple[str, str], rows: tuple[ScoredRows, ScoredRows], main: str | None, *, count: int = 5
) -> Disagreement:
    """Compare two models on the rows both were asked; examples are the most confident mistakes that only one makes."""
    runs = tuple(side.run for side in rows)
    suite = rows[0].card.name
    first, second = (side.frame.with_columns(right=pl.Series(side.correct)) for side in rows)
    common, _ = common_rows(rows)
    answers = second[common["j"]].select(pl.col("right", *ANSWER_COLUMNS[:-1]).name.prefix("other_"))
    asked = first[common["i"]].hstack(answers)
    if rows[0].judged is not None:
        asked = asked.filter(pl.col("label") != "any")
    factors = _factors(runs[0], suite, main)

    def examples(chosen_rows: pl.Expr, wrong: Run, prefix: str) -> tuple[Pair, ...]:
        only = asked.filter(chosen_rows)
        chosen = spread(only, factors, confidence(only, wrong, prefix), count=count)
        return tuple(
            _pair(
                row,
                factors,
                {names[0]: describe_answer(row, runs[0]), names[1]: describe_answer(row, runs[1], "other_")},
            )
            for row in with_texts(only[chosen], runs[0], suite).iter_rows(named=True)
        )

    one, two = pl.col("right"), pl.col("other_right")
    counts = asked.select(both=one & two, neither=~one & ~two, only_first=one & ~two, only_second=~one & two).sum()
    return Disagreement(
        **counts.row(0, named=True),
        first_examples=examples(one & ~two, runs[1], "other_"),
        second_examples=examples(~one & two, runs[0], ""),
    )


def confidence(rows: pl.DataFrame, run: Run, prefix: str = "") -> Floats:
    """The probability of the answer given; 0 without probabilities, -1 without an answer."""
    if not run.header.model.probabilities:
        return np.where(rows[f"{prefix}answer"].is_null().to_numpy(), -1.0, 0.0)
    answered = pl.coalesce(
        pl.when(pl.col(f"{prefix}answer") == label).then(pl.col(f"{prefix}{column}").fill_nan(None))
        for label, column in _columns(run).items()
    )
    return rows.select(answered.fill_null(-1).cast(pl.Float64)).to_series().to_numpy()


def spread(rows: pl.DataFrame, factors: Sequence[str], sure: Floats, *, count: int) -> list[int]:
    """The indices of at most ``count`` rows, spread over the slices and as confident as possible.

    Each step takes a row whose value of the first factor was taken least often; ties go to the higher confidence, to a
    hundredth, then to the values of the other factors taken least often, then to the earlier row. A second row of a
    group is taken only when every group has one.
    """
    first, *rest = [_codes(rows, name) for name in factors] or [np.zeros(rows.height, dtype=np.int64)]
    groups = _codes(rows, "group") if "group" in rows else np.arange(rows.height)
    sure = sure.round(2)
    used = [np.zeros(codes.max(initial=-1) + 1, dtype=np.int64) for codes in (first, *rest)]
    free, chosen = np.ones(rows.height, dtype=np.bool_), list[int]()
    while len(chosen) < min(count, rows.height):
        if not free.any():
            free[:] = True
            free[chosen] = False
        left = np.flatnonzero(free)
        left = _least(left, used[0][first[left]])
        left = _least(left, -sure[left])
        others = [counts[codes[left]] for counts, codes in zip(used[1:], rest, strict=True)]
        row = int(_least(left, np.sum(others, axis=0) if others else left)[0])
        chosen.append(row)
        for counts, codes in zip(used, (first, *rest), strict=True):
            counts[codes[row]] += 1
        free &= groups != groups[row]
    return chosen


def _eligible(rows: pl.DataFrame, factors: Sequence[str], count: int) -> pl.DataFrame:
    """The rows that ``spread`` may choose, whatever rows follow.

    Among rows with equal factors and confidence it takes the first of an unused group or, if all are used, the first
    unused row: one of the first ``count`` groups, and of the first ``count`` rows of its group.
    """
    if "group" not in rows.columns:
        return rows.filter(pl.int_range(pl.len()).over(*factors, _SURE) < count)
    alike, turn, order = [*factors, _SURE], pl.col("_turn"), pl.col("_order")
    few = rows.with_columns(_turn=pl.int_range(pl.len()).over(*alike, "group")).filter(turn < count)
    orders = few.with_columns(_order=(turn == 0).cum_sum().over(alike))
    return orders.filter(order.first().over(*alike, "group") <= count).drop("_turn", "_order")


def _least(rows: npt.NDArray[np.int64], keys: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    return np.asarray(rows[keys == keys.min()], dtype=np.int64)


def _codes(rows: pl.DataFrame, name: str) -> npt.NDArray[np.int64]:
    """A number for each value; null is a value."""
    return rows[name].cast(pl.String).fill_null("").rank("dense").to_numpy().astype(np.int64) - 1


def _columns(run: Run) -> dict[str, str]:
    """The column with the probability of each answer; a two-way model's non-entailment is in the neutral column."""
    labels = TWO_WAY_LABELS if run.header.model.resolution == "two-way" else LABELS
    return {label: f"p_{column}" for label, column in zip(labels, LABELS, strict=False)}


def _factors(run: Run, suite: str, main: str | None) -> list[str]:
    card, known = run.header.suites[suite], run.columns
    return [name for name in dict.fromkeys([main, *card.factors, "label"]) if name in known]


def describe_answer(row: Mapping[str, Any], run: Run, prefix: str = "") -> str:
    """What a model answered, with its probability where it gives any: ``neutral 0.93``."""
    label = row[f"{prefix}answer"]
    if label is None:
        return "no answer"
    return f"{label} {row[f'{prefix}{_columns(run)[label]}']:.2f}" if run.header.model.probabilities else str(label)


def _pair(row: Mapping[str, Any], factors: Sequence[str], answers: Mapping[str, str]) -> Pair:
    known = {name: str(row[name]) for name in factors if row[name] is not None and name != "label"}
    facts = dict(list(known.items())[:MOST_FACTS])
    return Pair(row["premise"], row["hypothesis"], row["label"], answers, facts, row["id"])
