"""Slices of suites as documents show them: which factor matters most, headings, names of rows, chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from acidtest.core.labels import GOLD_MASKS
from acidtest.core.run import Run
from acidtest.core.streams import compact_frame
from acidtest.core.suite import CATEGORY, CROSS, Card

CATEGORY_HOLDS = "yes"
"""What the example browser calls a category that holds."""

MOST_CHART_ROWS = 100
"""A factor of more values than this has a table and no chart."""


def main_factor(card: Card, sizes: Mapping[str, int]) -> str | None:
    """What a suite is stratified by, else its categories, the label, or the factor with most values."""
    grouped = (CATEGORY,) if card.categories else ()
    strata = [name for name in (*card.strata, *grouped, "label") if sizes.get(name, 0) > 1]
    factors = [name for name in card.factors if sizes.get(name)]
    if strata or factors:
        return strata[0] if strata else max(factors, key=lambda name: sizes[name])
    return None


def chance(card: Card, *, two_way: bool) -> float:
    """What guessing gets: a half where gold is two-way (McCoy et al. 2019), else by how many of three gold accepts."""
    if two_way or set(card.labels) == {"entailment", "non-entailment"}:
        return 1 / 2
    accepted = sum(GOLD_MASKS[label].bit_count() / 3 * count for label, count in card.labels.items())
    return accepted / sum(card.labels.values()) if card.labels else 1 / 3


def slice_of(card: Card, factor: str, value: str) -> dict[str, str]:
    """The suite and the columns that tell the rows of a value; of a category its column, of a list none."""
    names = factor.split(CROSS)
    if not factor:
        return {"suite": card.name}
    if set(names) & set(card.lists):
        return {}
    if names == [CATEGORY] and value in card.categories:
        return {"suite": card.name, value: CATEGORY_HOLDS}
    return {"suite": card.name, **dict(zip(names, value.split(CROSS), strict=False))}


def headings(run: Run, suite: str, factor: str) -> dict[str, str]:
    """A heading for each value of a factor, where every value lies within one cell of a crossing."""
    rows = run.lazy(suite)
    known = rows.collect_schema().names()
    for names in (*run.header.suites[suite].crossings, ("label",)):
        if factor in names or any(name not in known for name in (factor, *names)):
            continue
        cells = _different(run, rows.select(factor, *names))
        if cells.height and not cells[factor].is_duplicated().any():
            return {str(value): _heading(parts) for value, *parts in cells.iter_rows()}
    return {}


def row_names(values: Sequence[str], under: Mapping[str, str]) -> dict[str, str]:
    """What to call each value: without the code of its heading, as in ``ln_passive``, where all have one."""
    codes: dict[str, set[str]] = {}
    for value in values:
        codes.setdefault(under.get(value, ""), set()).add(value.partition("_")[0] if "_" in value else "")
    coded = bool(under) and all(len(members) == 1 and 0 < len(max(members)) <= 3 for members in codes.values())
    return {value: readable(value.partition("_")[2] if coded else value) for value in values}


def readable(value: str) -> str:
    """A value with spaces for underscores."""
    return value.replace("_", " ")


def _different(run: Run, rows: pl.LazyFrame) -> pl.DataFrame:
    """Rows without null, each once, in order of first appearance."""
    batches = [rows.collect_schema().to_frame()]
    run.visit(rows, lambda batch: batches.append(compact_frame(batch.drop_nulls().unique(maintain_order=True))))
    return pl.concat(batches).unique(maintain_order=True)


def _heading(parts: Sequence[object]) -> str:
    text = " · ".join(readable(str(part)) for part in parts)
    return text[:1].upper() + text[1:]
