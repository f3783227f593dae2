"""The results of some models side by side, suite by suite, as the page and the exported tables show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.run import Run
from acidtest.core.streams import compacted
from acidtest.core.suite import CATEGORY, CROSS, Card
from acidtest.report.examples import YES
from acidtest.reports.charts import MOST_ROWS, Chart, Row, rate_axis
from acidtest.reports.papers import (
    PEOPLE,
    Papers,
    Score,
    accuracies,
    beside,
    other_conditions,
    papers,
    person,
    scores,
)
from acidtest.reports.selections import Mistakes, mistakes
from acidtest.studies.rows import model_names

WHOLE = "whole suite"


@dataclass(frozen=True)
class Entry:
    """A run and its parsed results.json."""

    run: Run
    results: Mapping[str, Any]


@dataclass(frozen=True)
class Line:
    """A line of a table: a slice with each model's estimate and each published system's number."""

    value: str
    estimates: tuple[Estimate | None, ...]
    published: tuple[float | None, ...] = ()
    people: tuple[float | None, ...] = ()
    examples: str = ""

    @property
    def n(self) -> int | None:
        """The number of pairs, when it is the same for all models that were asked."""
        found = {one.n for one in self.estimates if one}
        return found.pop() if len(found) == 1 else None


@dataclass(frozen=True)
class Table:
    """The values of one factor; ``sources`` say where the published numbers stand, ``notes`` how they differ."""

    title: str
    lines: tuple[Line, ...]
    systems: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def alike(self) -> bool:
        """Whether on every line all models were asked as many pairs."""
        return all(line.n is not None for line in self.lines)


@dataclass(frozen=True)
class Crossing:
    """Two factors crossed, a line per system, as papers print them: the second factor heads groups of columns.

    ``notes`` say how published numbers differ from those beside them; those that begin with a sign are about the
    columns that ``signs`` gives it to. ``differences`` has the notes of each column.
    """

    title: str
    columns: Mapping[str, tuple[str, ...]]
    models: Mapping[str, tuple[Estimate | None, ...]]
    people: Mapping[str, tuple[float | None, ...]]
    published: Mapping[str, tuple[float | None, ...]]
    sources: tuple[str, ...]
    notes: tuple[str, ...] = ()
    signs: Mapping[str, str] = field(default_factory=dict)
    differences: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Breakdown:
    """Accuracy by one factor or by several crossed: a table, and a chart where the values are few enough."""

    table: Table
    chart: Chart | None
    crossing: Crossing | None = None


@dataclass(frozen=True)
class Condition:
    """What was published under other conditions than the main results, a table for each factor."""

    name: str
    tables: tuple[Table, ...]


@dataclass(frozen=True)
class Section:
    """Everything about one suite; ``results`` are by model, for the models that were asked this suite."""

    name: str
    anchor: str
    card: Card
    results: Mapping[str, Mapping[str, Any]]
    overall: Table
    metrics: Table
    main: Breakdown | None
    others: tuple[Breakdown, ...]
    conditions: tuple[Condition, ...]
    mistakes: Mapping[str, Mistakes]
    published: tuple[Score, ...]
    chance: float

    @property
    def breakdowns(self) -> tuple[Breakdown, ...]:
        """All factors and crossings, the main one first."""
        return (self.main, *self.others) if self.main else self.others


def named(entries: Sequence[Entry]) -> dict[str, Entry]:
    """The entries by the names of their models, numbered where two share one."""
    return dict(zip(model_names([entry.run for entry in entries]), entries, strict=True))


def runs_of(models: Mapping[str, Entry]) -> dict[str, Run]:
    """The runs by the names of their models."""
    return {model: entry.run for model, entry in models.items()}


def sections(models: Mapping[str, Entry]) -> list[Section]:
    """A section for each suite that any model was asked."""
    names = dict.fromkeys(suite for entry in models.values() for suite in entry.results["suites"])
    return [_section(name, number, models) for number, name in enumerate(names, 1)]


def examples_link(suite: str, by: Mapping[str, str], **state: object) -> str:
    """Where the example browser shows a slice, in the state given."""
    chosen = {name if name == "label" else f"f.{name}": value for name, value in by.items()}
    return "#examples?" + urlencode({"suite": suite, **chosen, **state})


def estimate(fields: Mapping[str, Any]) -> Estimate:
    """The estimate in a part of results.json."""
    return Estimate.from_json(dict(fields))


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


def _different(run: Run, rows: pl.LazyFrame) -> pl.DataFrame:
    """Rows without null, each once, in order of first appearance."""
    found = [rows.collect_schema().to_frame()]
    run.visit(rows, lambda batch: found.append(compacted(batch.drop_nulls().unique(maintain_order=True))))
    return pl.concat(found).unique(maintain_order=True)


def row_names(values: Sequence[str], under: Mapping[str, str]) -> dict[str, str]:
    """What to call each value in a chart: without the code of its heading, as in ``ln_passive``, where all have one."""
    codes: dict[str, set[str]] = {}
    for value in values:
        codes.setdefault(under.get(value, ""), set()).add(value.partition("_")[0] if "_" in value else "")
    coded = bool(under) and all(len(found) == 1 and 0 < len(max(found)) <= 3 for found in codes.values())
    return {value: readable(value.partition("_")[2] if coded else value) for value in values}


def readable(value: str) -> str:
    """A value with spaces for underscores."""
    return value.replace("_", " ")


def _section(name: str, number: int, models: Mapping[str, Entry]) -> Section:
    asked = {model: entry for model, entry in models.items() if name in entry.results["suites"]}
    results = {model: entry.results["suites"][name] for model, entry in asked.items()}
    first = next(iter(asked.values())).run
    card = first.header.suites[name]
    published = accuracies(beside(scores(results.values()), str(card.arguments.get("from", ""))))
    factors = list(dict.fromkeys(factor for result in results.values() for factor in result["by"]))
    tables = {factor: _table(card, factor, results, published) for factor in factors}
    main = main_factor(card, {factor: len(table.lines) for factor, table in tables.items()})
    two_way = all(entry.run.header.model.resolution == "two-way" for entry in asked.values())
    chance = _chance(card, two_way)
    found = {
        factor: Breakdown(
            table=table,
            chart=_chart(table, headings(first, name, factor), list(asked), chance),
            crossing=_crossing(factor, results, published),
        )
        for factor, table in tables.items()
        if table.lines
    }
    return Section(
        name=name,
        anchor=f"suite-{number}",
        card=card,
        results=results,
        overall=_overall(results, published),
        metrics=_metrics(results),
        main=found.get(main) if main else None,
        others=tuple(breakdown for factor, breakdown in found.items() if factor != main),
        conditions=_conditions(name, results, published),
        mistakes={
            model: mistakes(entry.run, name, None if main == CATEGORY and card.categories else main)
            for model, entry in asked.items()
        },
        published=tuple(published),
        chance=chance,
    )


def main_factor(card: Card, sizes: Mapping[str, int]) -> str | None:
    """What a suite is stratified by, else its categories, the label, or the factor with most values."""
    grouped = (CATEGORY,) if card.categories else ()
    strata = [name for name in (*card.strata, *grouped, "label") if sizes.get(name, 0) > 1]
    factors = [name for name in card.factors if sizes.get(name)]
    if strata or factors:
        return strata[0] if strata else max(factors, key=lambda name: sizes[name])
    return None


def _chance(card: Card, two_way: bool) -> float:
    """What guessing gets: a half where gold is two-way (McCoy et al. 2019), else by how many of three gold accepts."""
    if two_way or set(card.labels) == {"entailment", "non-entailment"}:
        return 1 / 2
    accepted = sum(GOLD_MASKS[label].bit_count() / 3 * count for label, count in card.labels.items())
    return accepted / sum(card.labels.values()) if card.labels else 1 / 3


def _table(card: Card, factor: str, results: Mapping[str, Mapping[str, Any]], published: Sequence[Score]) -> Table:
    names = factor.split(CROSS)
    values = dict.fromkeys(value for result in results.values() for value in result["by"].get(factor, {}))
    systems, people = papers(published, names), papers(published, names, PEOPLE)
    lines = (
        Line(
            value=value,
            estimates=_estimates([result["by"].get(factor, {}).get(value) for result in results.values()]),
            published=systems.numbers(value),
            people=people.numbers(value),
            examples=examples_link(card.name, slice_columns(card, names, value)),
        )
        for value in values
    )
    sources, notes = (*systems.sources, *people.sources), _notes(systems, people)
    return Table(factor, tuple(lines), tuple(systems.systems), _persons(people), sources, notes)


def slice_columns(card: Card, names: Sequence[str], value: str) -> dict[str, str]:
    """The columns that tell the rows of a value: those of a category are told by its own, those of a list by none."""
    if set(names) & set(card.lists):
        return {}
    if list(names) == [CATEGORY] and value in card.categories:
        return {value: YES}
    return dict(zip(names, value.split(CROSS), strict=False))


def _overall(results: Mapping[str, Mapping[str, Any]], published: Sequence[Score]) -> Table:
    systems, people = papers(published, ()), papers(published, (), PEOPLE)
    line = Line(WHOLE, _estimates([r["overall"] for r in results.values()]), systems.numbers(""), people.numbers(""))
    sources, notes = (*systems.sources, *people.sources), _notes(systems, people)
    return Table(WHOLE, (line,), tuple(systems.systems), _persons(people), sources, notes)


def _metrics(results: Mapping[str, Mapping[str, Any]]) -> Table:
    names = dict.fromkeys(name for result in results.values() for name in result["metrics"])
    parts = [result["metrics"] for result in results.values()]
    lines = tuple(Line(name, _estimates([part.get(name) for part in parts])) for name in names)
    return Table("metric", lines)


def _conditions(
    suite: str, results: Mapping[str, Mapping[str, Any]], published: Sequence[Score]
) -> tuple[Condition, ...]:
    """Published numbers under every other condition, beside what the models got on the same slices."""
    known = {frozenset(factor.split(CROSS)): factor for result in results.values() for factor in result["by"]}
    found = []
    for name in other_conditions(published):
        own = [score for score in published if score.get("condition") == name]
        keys = {frozenset(score["by"]): CROSS.join(score["by"]) for score in own}
        tables = [_condition_table(suite, known.get(key, given), name, results, own) for key, given in keys.items()]
        found.append(Condition(name, tuple(tables)))
    return tuple(found)


def _condition_table(
    suite: str, factor: str, condition: str, results: Mapping[str, Mapping[str, Any]], published: Sequence[Score]
) -> Table:
    names = factor.split(CROSS) if factor else []
    systems = papers(published, names, condition)
    values = dict.fromkeys(value for numbers in systems.systems.values() for value in numbers)
    lines = tuple(
        Line(
            value=value or WHOLE,
            estimates=_estimates(
                [r["by"].get(factor, {}).get(value) if factor else r["overall"] for r in results.values()]
            ),
            published=systems.numbers(value),
            examples=examples_link(suite, dict(zip(names, value.split(CROSS), strict=False))) if factor else "",
        )
        for value in values
    )
    return Table(factor or WHOLE, lines, tuple(systems.systems), (), systems.sources, systems.notes)


def _crossing(factor: str, results: Mapping[str, Mapping[str, Any]], published: Sequence[Score]) -> Crossing | None:
    """None for one factor or three, and when a value cannot be taken apart, because it holds the sign that joins."""
    names = factor.split(CROSS)
    keys = dict.fromkeys(key for result in results.values() for key in result["by"].get(factor, {}))
    pairs = [key.split(CROSS) for key in keys]
    if len(names) != 2 or not pairs or any(len(pair) != 2 for pair in pairs):
        return None
    groups: dict[str, tuple[str, ...]] = {}
    for inner, outer in pairs:
        groups[outer] = (*groups.get(outer, ()), inner)
    if names[1] == "label":
        groups = {label: groups[label] for label in GOLD_MASKS if label in groups}
    order = [f"{inner}{CROSS}{outer}" for outer, inners in groups.items() for inner in inners]
    systems, people = papers(published, names), papers(published, names, PEOPLE)
    parts = {model: result["by"].get(factor, {}) for model, result in results.items()}
    return Crossing(
        title=factor,
        columns={f"gold {outer}" if names[1] == "label" else outer: inners for outer, inners in groups.items()},
        models={model: _estimates([part.get(key) for key in order]) for model, part in parts.items()},
        people={person(system): tuple(map(numbers.get, order)) for system, numbers in people.systems.items()},
        published={system: tuple(map(numbers.get, order)) for system, numbers in systems.systems.items()},
        sources=(*systems.sources, *people.sources),
        notes=_notes(systems, people),
    )


def _chart(table: Table, under: Mapping[str, str], models: Sequence[str], chance: float) -> Chart | None:
    if len(table.lines) > MOST_ROWS:
        return None
    names = row_names([line.value for line in table.lines], under)
    rows = (
        Row(
            name=names[line.value],
            estimates={model: one for model, one in zip(models, line.estimates, strict=True) if one},
            heading=under.get(line.value, ""),
            published=_given(table.systems, line.published),
            people=_given(table.people, line.people),
        )
        for line in table.lines
    )
    return Chart(tuple(rows), rate_axis(chance))


def _given(systems: Sequence[str], numbers: Sequence[float | None]) -> dict[str, float]:
    return {system: number for system, number in zip(systems, numbers, strict=True) if number is not None}


def _persons(people: Papers) -> tuple[str, ...]:
    return tuple(map(person, people.systems))


def _notes(*found: Papers) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for each in found for note in each.notes))


def _heading(parts: Sequence[object]) -> str:
    text = " · ".join(readable(str(part)) for part in parts)
    return text[:1].upper() + text[1:]


def _estimates(parts: Iterable[Mapping[str, Any] | None]) -> tuple[Estimate | None, ...]:
    return tuple(None if part is None else estimate(part) for part in parts)
