"""Categories and being right as one self-contained HTML page: figures 5, 6, 8 and 9 of Joshi et al. (2020)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

from acidtest.core.estimate import Estimate
from acidtest.reports.charts import Axis, Chart, Row, difference_axis, rate_axis
from acidtest.reports.examples import Examples
from acidtest.reports.factors import OVERALL, UNMARKED, accuracy_of, model_told, network_told, rows_told
from acidtest.reports.factors import number as shown
from acidtest.reports.factors_papers import (
    agreements,
    has_published,
    mnli_accuracies,
    published_directions,
    published_stars,
    remarks,
    star_sources,
)
from acidtest.reports.html import explained, rendered
from acidtest.studies.factors_results import Factor, Factors, ModelFactors

CHANCE = 1 / 3
LOGISTIC, DISCRIMINANT = "logistic regression", "linear discriminant"
FREQUENCY, NETWORK = "frequency", "Bayesian network"

_STEPS = (0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
_MOST_TICKS = 9


@dataclass(frozen=True)
class PlainAxis(Axis):
    """An axis of plain numbers."""

    def label(self, tick: float) -> str:
        """A tick as it is written: ``−0.5``."""
        return f"{tick:g}".replace("-", "−")


@dataclass(frozen=True)
class Line:
    """A factor in the table of coefficients; ``stars`` and ``sign`` are what was published."""

    factor: Factor
    stars: tuple[str, ...]
    sign: str


@dataclass(frozen=True)
class ModelPart:
    """One model: its coefficients as a chart and a table, what is told of them, and its network's estimates."""

    model: ModelFactors
    told: str
    agreements: tuple[str, ...]
    coefficients: Chart
    lines: tuple[Line, ...]
    network: Chart
    network_told: str


@dataclass(frozen=True)
class SuitePart:
    """Everything about one suite."""

    suite: str
    anchor: str
    categories: tuple[str, ...]
    accuracies: Chart
    gains: Chart | None
    first: str
    rows: str
    caution: str
    published: bool
    models: tuple[ModelPart, ...]


def factors_page(found: Factors) -> str:
    """The page for models on suites with categories."""
    suites = list(dict.fromkeys(each.suite for each in found.found))
    parts = [
        _part(suite, f"suite-{number}", [each for each in found.found if each.suite == suite])
        for number, suite in enumerate(suites, 1)
    ]
    return rendered(
        "factors.html",
        found=found,
        models=list(dict.fromkeys(each.model for each in found.found)),
        parts=parts,
        systems=star_sources(),
        table3=mnli_accuracies(),
        remarks=remarks(),
        of=accuracy_of,
        shown=shown,
        methods=explained(_methods(found)),
        examples=Examples(0, "", ()),
    )


def _part(suite: str, anchor: str, own: Sequence[ModelFactors]) -> SuitePart:
    categories = (OVERALL, *own[0].accuracy, UNMARKED)
    rows = (
        Row(name, {each.model: value for each in own if (value := accuracy_of(each, name)) is not None})
        for name in categories
    )
    return SuitePart(
        suite=suite,
        anchor=anchor,
        categories=categories,
        accuracies=Chart(tuple(rows), rate_axis(CHANCE)),
        gains=_gains(own),
        first=own[0].model,
        rows=rows_told(own),
        caution=own[0].caution,
        published=has_published(own),
        models=tuple(_model(each) for each in own),
    )


def _gains(own: Sequence[ModelFactors]) -> Chart | None:
    """How much more often models are right than the first one; None where nothing is compared."""
    compared = [each for each in own if each.gains]
    if not compared:
        return None
    names = dict.fromkeys(name for each in compared for name in each.gains)
    rows = tuple(
        Row(name or OVERALL, {each.model: each.gains[name] for each in compared if name in each.gains})
        for name in names
    )
    return Chart(rows, difference_axis([value for each in compared for value in each.gains.values()]))


def _model(each: ModelFactors) -> ModelPart:
    stars, directions = published_stars(), published_directions()
    rows = tuple(
        Row(_title(factor), {LOGISTIC: _per_spread(factor, LOGISTIC), DISCRIMINANT: _per_spread(factor, DISCRIMINANT)})
        for factor in each.factors
    )
    chances = each.network.chances
    network = tuple(
        Row(name, {FREQUENCY: value, NETWORK: chances[name].network}) for name, value in each.accuracy.items()
    )
    return ModelPart(
        model=each,
        told=model_told(each),
        agreements=tuple(agreements(each)),
        coefficients=Chart(rows, _axis([value for row in rows for value in row.estimates.values()])),
        lines=tuple(
            Line(
                factor,
                tuple("*" * theirs.get(factor.name, 0) for theirs in stars.values()),
                {1: "+", -1: "−"}.get(directions.get(factor.name, 0), ""),
            )
            for factor in each.factors
        ),
        network=Chart(network, rate_axis(CHANCE)),
        network_told=network_told(each),
    )


def _title(factor: Factor) -> str:
    unit = "" if factor.spread == 1 else f", per {factor.spread:.2g}"
    return f"{factor.name}{unit} {factor.logistic.stars}".strip()


def _per_spread(factor: Factor, analysis: str) -> Estimate:
    """The coefficient per standard deviation, so that lengths can be seen beside what is 0 or 1."""
    term = factor.logistic if analysis == LOGISTIC else factor.discriminant
    value, by = term.value, factor.spread
    return Estimate(value.value * by, value.low * by, value.high * by, value.n, value.groups, value.method, value.note)


def _axis(values: Sequence[Estimate]) -> Axis:
    """Around 0, as far as coefficients and their intervals reach."""
    reached = [number for value in values if value.known for number in (value.low, value.high)]
    low, high = min([-0.1, *reached]), max([0.1, *reached])
    step = next((step for step in _STEPS if (high - low) / step <= _MOST_TICKS - 2), (high - low) / 4)
    ticks = tuple(round(number * step, 6) for number in range(floor(low / step), ceil(high / step) + 1))
    title = (
        "change of the log odds of being right, with 95 % intervals; lengths and other numbers per standard deviation"
    )
    return PlainAxis(title, ticks, 0.0)


def _methods(found: Factors) -> list[str]:
    named = []
    for each in found.found:
        named += [value.method for value in (each.overall, each.unmarked, *each.accuracy.values())]
        named += [value.method for value in each.gains.values()]
    return named
