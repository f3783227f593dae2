"""The report as one self-contained HTML page for one or several runs; opens from disk, without a network."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from acidtest.analysis.comparison import model_names
from acidtest.core.estimate import Estimate
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.run import Run
from acidtest.core.suite import CROSS, Card
from acidtest.reports.examples import columns, packed
from acidtest.reports.plots import Row, as_svg, interval_chart
from acidtest.reports.tables import p_value, points

if TYPE_CHECKING:
    from markupsafe import Markup

GENERATOR = '<meta name="generator" content="acidtest'
"""What marks a page as ours, near its top."""

MOST_CHARTED = 100
"""A factor with more values than this gets a table only."""

METHODS = {
    "newcombe": "The difference of two shares over different rows; its ends combine the ends of their two intervals.",
    "since all agree": "All groups agree, so nothing varies: an exact bound on the share that could disagree unseen.",
    "clopper": "The exact (Clopper–Pearson) interval of a share, used where no row or every row is right.",
    "wilson": "The Wilson score interval of a share: the rows count as independent draws.",
    "bootstrap": "A bootstrap that draws whole groups (rows made from one source sentence) with replacement within "
    "each stratum, widened where groups are few or uneven; BCa corrects it for skew.",
    "degrees of freedom": "A t interval on the mean, with the jackknife's variance over groups, used where there are "
    "few groups or few of them carry the variance.",
    "standard deviation": "The standard deviation over the values of a factor: how uneven a score is, in points.",
    "mcnemar": "McNemar's test on the rows where the two sides differ; the others say nothing about which is better.",
    "permutation": "A permutation test: the share of random swaps of the two sides that give at least this "
    "difference, counting the one observed, so that it is never 0.",
}
"""What a ``method`` or ``test`` field means, by the first of these words it contains."""


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
    examples: str = ""


@dataclass(frozen=True)
class Table:
    """The values of one factor; ``sources`` say where the published numbers stand."""

    title: str
    lines: tuple[Line, ...]
    systems: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Crossing:
    """Two factors crossed, a line per system, as papers print them: the second factor heads groups of columns."""

    title: str
    columns: Mapping[str, tuple[str, ...]]
    models: Mapping[str, tuple[Estimate | None, ...]]
    published: Mapping[str, tuple[float | None, ...]]
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """Everything about one suite; ``results`` are by model, for the models that were asked this suite."""

    name: str
    anchor: str
    card: Card
    results: Mapping[str, Mapping[str, Any]]
    metrics: Table
    crossings: tuple[Crossing, ...]
    main: Table | None
    charts: Mapping[str, Markup]
    others: tuple[Table, ...]
    chance: float


def page(entries: Sequence[Entry]) -> str:
    """The page for one or several runs, models side by side."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("acidtest.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "interval": interval, "published": published, "points": points}
    environment.filters |= {"p_value": probability, "estimate": estimate, "verdict": verdict, "sentence": sentence}
    environment.filters["breakable"] = breakable
    environment.globals["examples_of"] = _link
    models = dict(zip(model_names([entry.run for entry in entries]), entries, strict=True))
    script = resources.files("acidtest.reports").joinpath("templates/report.js").read_text(encoding="utf-8")
    style = resources.files("acidtest.reports").joinpath("templates/report.css").read_text(encoding="utf-8")
    return environment.get_template("report.html").render(
        models=models,
        sections=_sections(models),
        methods=_methods(entries),
        rows=sum(entry.run.predictions.height for entry in entries),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        style=Markup(style),
        examples=packed(columns({model: entry.run for model, entry in models.items()})),
    )


def is_report(path: Path) -> bool:
    """Whether a file is a page of ours."""
    with path.open("rb") as file:
        return GENERATOR.encode() in file.read(4096)


def percent(value: Estimate | None) -> str:
    """``97.8``, or a dash where there is no value."""
    return f"{value.value * 100:.1f}" if value and value.known else "–"


def interval(value: Estimate | None) -> str:
    """``97.1–98.3``, or nothing where there is no interval."""
    return f"{value.low * 100:.1f}–{value.high * 100:.1f}" if value and value.low == value.low else ""


def published(value: float | None) -> str:
    """A paper's number in per cent, with no more digits than the paper gives."""
    return "–" if value is None else f"{round(value * 100, 1):g}"


def probability(p: float | None) -> str:
    """A p-value, or a dash where the test could not be computed."""
    return p_value(nan if p is None else p)


def estimate(fields: Mapping[str, Any]) -> Estimate:
    """The estimate in a part of results.json."""
    return Estimate.from_json(dict(fields))


def sentence(text: str) -> str:
    """The text with a capital letter and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def breakable(text: str) -> Markup:
    """The text, escaped, with leave to break a line after ``_``, ``/`` and ``:``."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(part) for part in re.split(r"(?<=[_/:])", text))


def verdict(diagnosis: Sequence[Mapping[str, Any]]) -> str:
    """The diagnosis in one line."""
    counts = Counter(finding["severity"] for finding in diagnosis)
    severe, warnings = _number(counts["severe"], "severe finding"), _number(counts["warning"], "warning")
    if counts["severe"]:
        return f"Grounds for distrust: {severe}{f' and {warnings}' if counts['warning'] else ''}."
    if counts["warning"]:
        return f"Some doubt: {warnings}, nothing severe."
    return "These suites found no shortcut." if diagnosis else "These suites gave no finding."


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _sections(models: Mapping[str, Entry]) -> list[Section]:
    names = dict.fromkeys(suite for entry in models.values() for suite in entry.results["suites"])
    return [_section(name, number, models) for number, name in enumerate(names, 1)]


def _section(name: str, number: int, models: Mapping[str, Entry]) -> Section:
    asked = {model: entry for model, entry in models.items() if name in entry.results["suites"]}
    results = {model: entry.results["suites"][name] for model, entry in asked.items()}
    first = next(iter(asked.values())).run
    card = first.header.suites[name]
    factors = list(dict.fromkeys(factor for result in results.values() for factor in result["by"]))
    tables = {factor: _table(name, factor, results) for factor in factors}
    crossings = {factor: _crossing(factor, results) for factor in factors if factor.count(CROSS) == 1}
    main = _main_factor(card, tables)
    two_way = all(entry.run.header.model.resolution == "two-way" for entry in asked.values())
    chance = _chance(card, two_way)
    return Section(
        name=name,
        anchor=f"suite-{number}",
        card=card,
        results=results,
        metrics=_metrics(results),
        crossings=tuple(crossing for crossing in crossings.values() if crossing),
        main=tables[main] if main else None,
        charts=_charts(tables[main], _nesting(first, name, main), list(asked), chance) if main else {},
        others=tuple(table for factor, table in tables.items() if factor != main and not crossings.get(factor)),
        chance=chance,
    )


def _main_factor(card: Card, tables: Mapping[str, Table]) -> str | None:
    """What a suite is stratified by, else the label, else the factor with most values."""
    strata = [name for name in (*card.strata, "label") if name in tables and len(tables[name].lines) > 1]
    factors = [name for name in card.factors if name in tables and tables[name].lines]
    if strata or factors:
        return strata[0] if strata else max(factors, key=lambda name: len(tables[name].lines))
    return None


def _chance(card: Card, two_way: bool) -> float:
    """What guessing gets: a half where gold lumps two labels together (McCoy et al. 2019), else a third."""
    lumped = any(GOLD_MASKS[label].bit_count() > 1 for label in card.labels)
    return 1 / 2 if two_way or lumped else 1 / 3


def _table(suite: str, factor: str, results: Mapping[str, Mapping[str, Any]]) -> Table:
    names = factor.split(CROSS)
    values = dict.fromkeys(value for result in results.values() for value in result["by"].get(factor, {}))
    papers, sources = _published(names, results)
    return Table(
        title=factor,
        lines=tuple(
            Line(
                value=value,
                estimates=_estimates([result["by"].get(factor, {}).get(value) for result in results.values()]),
                published=tuple(numbers.get(value) for numbers in papers.values()),
                examples=_link(suite, dict(zip(names, value.split(CROSS), strict=False))),
            )
            for value in values
        ),
        systems=tuple(papers),
        sources=sources,
    )


def _metrics(results: Mapping[str, Mapping[str, Any]]) -> Table:
    names = dict.fromkeys(name for result in results.values() for name in result["metrics"])
    parts = [result["metrics"] for result in results.values()]
    lines = tuple(Line(name, _estimates([part.get(name) for part in parts])) for name in names)
    return Table("metrics", lines)


def _crossing(factor: str, results: Mapping[str, Mapping[str, Any]]) -> Crossing | None:
    """None when a value cannot be taken apart, because it holds the sign that joins values."""
    names = factor.split(CROSS)
    keys = dict.fromkeys(key for result in results.values() for key in result["by"].get(factor, {}))
    pairs = [key.split(CROSS) for key in keys]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        return None
    groups: dict[str, tuple[str, ...]] = {}
    for inner, outer in pairs:
        groups[outer] = (*groups.get(outer, ()), inner)
    if names[1] == "label":
        groups = {label: groups[label] for label in GOLD_MASKS if label in groups}
    order = [f"{inner}{CROSS}{outer}" for outer, inners in groups.items() for inner in inners]
    papers, sources = _published(names, results)
    parts = {model: result["by"].get(factor, {}) for model, result in results.items()}
    return Crossing(
        title=factor,
        columns={f"gold {outer}" if names[1] == "label" else outer: inners for outer, inners in groups.items()},
        models={model: _estimates([part.get(key) for key in order]) for model, part in parts.items()},
        published={system: tuple(numbers.get(key) for key in order) for system, numbers in papers.items()},
        sources=sources,
    )


def _published(
    names: Sequence[str], results: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, dict[str, float]], tuple[str, ...]]:
    """Published numbers by system and slice, and their sources; a system reported twice goes by its source too."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    sources: dict[str, None] = {}
    for score in next(iter(results.values()))["published"]:
        if set(score["by"]) != set(names):
            continue
        key = CROSS.join(score["by"][name] for name in names)
        system = (score["system"], "")
        if key in found.get(system, {}):
            system = (score["system"], f" ({score['source']})")
        found.setdefault(system, {})[key] = score["value"]
        sources[score["source"]] = None
    return {"".join(system): numbers for system, numbers in found.items()}, tuple(sources)


def _estimates(parts: Iterable[Mapping[str, Any] | None]) -> tuple[Estimate | None, ...]:
    return tuple(None if part is None else estimate(part) for part in parts)


def _link(suite: str, by: Mapping[str, str], **state: object) -> str:
    """Where the example browser shows a slice, in the state given."""
    chosen = {name if name == "label" else f"f.{name}": value for name, value in by.items()}
    return "#examples?" + urlencode({"suite": suite, **chosen, **state})


def _nesting(run: Run, suite: str, factor: str | None) -> dict[str, str]:
    """A heading for each value of a factor, where every value lies within one cell of a crossing."""
    rows = run.rows(suite)
    for names in (*run.header.suites[suite].crossings, ("label",)):
        if factor is None or factor in names or any(name not in rows for name in (factor, *names)):
            continue
        cells = rows.select(factor, *names).drop_nulls().unique(maintain_order=True)
        if cells.height and not cells[factor].is_duplicated().any():
            return {str(value): _heading(parts) for value, *parts in cells.iter_rows()}
    return {}


def _charts(table: Table, headings: Mapping[str, str], models: Sequence[str], chance: float) -> dict[str, Markup]:
    from markupsafe import Markup

    if len(table.lines) > MOST_CHARTED:
        return {}
    prefixed = _prefixed([line.value for line in table.lines], headings)
    rows = [
        Row(
            name=_readable(line.value.partition("_")[2] if prefixed else line.value),
            estimates={model: one for model, one in zip(models, line.estimates, strict=True) if one},
            heading=headings.get(line.value, ""),
            published={
                system: number
                for system, number in zip(table.systems, line.published, strict=True)
                if number is not None
            },
        )
        for line in table.lines
    ]
    forms = {"wide": False, "narrow": True}
    # The drawing escapes every text in it; tests/reports/test_html.py holds it to that.
    return {form: Markup(as_svg(interval_chart(rows, chance=chance, narrow=narrow))) for form, narrow in forms.items()}


def _prefixed(values: Sequence[str], headings: Mapping[str, str]) -> bool:
    """Whether every heading's values begin with a code of its own, as in ``ln_passive``."""
    codes: dict[str, set[str]] = {}
    for value in values:
        codes.setdefault(headings.get(value, ""), set()).add(value.partition("_")[0] if "_" in value else "")
    return bool(headings) and all(len(found) == 1 and 0 < len(max(found)) <= 3 for found in codes.values())


def _heading(parts: Sequence[object]) -> str:
    text = " · ".join(_readable(str(part)) for part in parts)
    return text[:1].upper() + text[1:]


def _readable(value: str) -> str:
    return value.replace("_", " ")


def _methods(entries: Sequence[Entry]) -> dict[str, str]:
    """Every method and test named in the results, explained."""
    named: dict[str, None] = {}
    for entry in entries:
        for suite in entry.results["suites"].values():
            parts = [suite["overall"], *suite["metrics"].values()]
            parts += [part for values in suite["by"].values() for part in values.values()]
            control = suite["vs_control"]
            named |= dict.fromkeys(part["method"] for part in parts if part["method"])
            named |= dict.fromkeys([control["difference"]["method"], control["test"]] if control else [])
    # The degrees of freedom differ from slice to slice; the method does not.
    names = dict.fromkeys(re.sub(r"\bt\([\d.]+\)", "t", name) for name in named if name)
    return {name: next((text for word, text in METHODS.items() if word in name.lower()), "") for name in names}
