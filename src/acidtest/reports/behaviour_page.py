"""Behaviour under swapped words as one self-contained HTML page: tables 1 to 4 of Sanchez et al. (2018), and charts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS
from acidtest.report.examples import Examples
from acidtest.reports.behaviour_papers import (
    CONTROLS,
    SAMPLES,
    SUBSETS,
    SWAPPED,
    paper_suite,
    published_accuracies,
    published_tables,
    published_tests,
)
from acidtest.reports.behaviours import TITLES, estimates, swap_told, test_told, words_compared
from acidtest.reports.charts import Chart, Row, rate_axis
from acidtest.reports.html import explained, rendered
from acidtest.reports.numerals import p_value
from acidtest.reports.sections import Crossing
from acidtest.stats.contingency import Crosstab
from acidtest.studies.behaviour_results import (
    CONTROL_POLARITY,
    GIVEN_GOLD,
    INSENSITIVITY,
    POLARITY,
    TIE,
    UNSEEN,
    Behaviour,
    Behaviours,
    Factor,
    Sample,
)
from acidtest.studies.behaviour_verdict import DOUBTFUL

CHANCE = 1 / 3
SOURCE = "Sanchez et al. 2018, "

FACTORS = {
    INSENSITIVITY: "insensitivity",
    UNSEEN: "unseen pairs",
    POLARITY: "polarity",
    GIVEN_GOLD: "polarity, same gold",
}
"""The factors of the overview and what heads their columns."""

_TIE = "a tie"
_TALLEST, _LEAST = 130, 6
"""The height of all strips of a mosaic together, and that of the thinnest, in pixels."""

Numbers = dict[str, dict[str, float]]
"""A published system's accuracies, by control or swapped and by subset."""


@dataclass(frozen=True)
class Strip:
    """The pairs of one polarity: how many, and how many were given each answer. ``height`` is in pixels."""

    name: str
    n: int
    height: int
    answers: Mapping[str, int]


@dataclass(frozen=True)
class Mosaic:
    """Answers by polarity: strips as thick as there are pairs, divided as they were answered."""

    title: str
    strips: tuple[Strip, ...]


@dataclass(frozen=True)
class Outcome:
    """What became of a factor, for the overview: its effect, what is to be thought of it, and the test."""

    effect: str
    told: str
    test: str
    found: bool


@dataclass(frozen=True)
class Line:
    """One model on one suite in the overview."""

    suite: str
    anchor: str
    behaviour: Behaviour
    outcomes: tuple[Outcome | None, ...]


@dataclass(frozen=True)
class Tested:
    """A factor's table, its test in words, and what the paper has: tests, and tables by system."""

    title: str
    table: Crosstab | None
    told: str
    published: str
    tables: Mapping[str, Crosstab]


@dataclass(frozen=True)
class ModelPart:
    """What one model does on a suite."""

    behaviour: Behaviour
    swap: str
    mosaics: tuple[Mosaic, ...]
    tested: tuple[Tested, ...]


@dataclass(frozen=True)
class SuitePart:
    """Everything about one suite; ``samples`` are the paper's names of control and suite, empty where it has none."""

    suite: str
    anchor: str
    samples: tuple[str, ...]
    accuracies: Crossing
    chart: Chart
    mosaics: tuple[Mosaic, ...]
    models: tuple[ModelPart, ...]


def behaviour_page(found: Behaviours) -> str:
    """The page for models on swap suites."""
    suites = list(dict.fromkeys(each.suite for each in found.found))
    anchors = {suite: f"suite-{number}" for number, suite in enumerate(suites, 1)}
    return rendered(
        "behaviour.html",
        found=found,
        models=list(dict.fromkeys(each.model for each in found.found)),
        factors=FACTORS,
        lines=[_line(each, anchors[each.suite], found.alpha) for suite in suites for each in _of(found, suite)],
        parts=[_part(suite, anchors[suite], _of(found, suite)) for suite in suites],
        labels=LABELS,
        methods=explained(_methods(found)),
        words_compared=words_compared(literal=found.literal),
        examples=Examples(0, "", ()),
    )


def _of(found: Behaviours, suite: str) -> list[Behaviour]:
    return [each for each in found.found if each.suite == suite]


def _line(each: Behaviour, anchor: str, alpha: float) -> Line:
    outcomes = tuple(_outcome(each.factor(name), alpha) for name in FACTORS)
    return Line(each.suite, anchor, each, outcomes)


def _outcome(factor: Factor | None, alpha: float) -> Outcome | None:
    """None where the factor was not or could not be tested."""
    if factor is None or factor.found.p != factor.found.p:
        return None
    effect, p = factor.found.effect, f"p {p_value(factor.found.p)}"
    # A zero has no sign.
    shown = f"{effect.method} {round(effect.value, 2) + 0.0:.2f}".replace("-", "−") if effect.known else p
    found = factor.found.p < alpha
    told = "not shown" if not found else "in doubt" if factor.p_pairs >= DOUBTFUL else "found"
    return Outcome(shown, told, p, found)


def _part(suite: str, anchor: str, own: Sequence[Behaviour]) -> SuitePart:
    tables = published_tables(suite, POLARITY)
    return SuitePart(
        suite=suite,
        anchor=anchor,
        samples=SAMPLES.get(paper_suite(suite), ()),
        accuracies=_accuracies(suite, own),
        chart=_chart(suite, own),
        mosaics=tuple(mosaic(table, f"{system}, published (table 4)") for system, table in tables.items()),
        models=tuple(_model(each) for each in own),
    )


def _accuracies(suite: str, own: Sequence[Behaviour]) -> Crossing:
    """Table 1: a line for each model and published system."""
    systems = _systems(suite)
    places = [(line, name) for line, names in _columns(own, systems).items() for name in names]
    lines = {each.model: {CONTROLS: each.control, SWAPPED: each.transformed} for each in own}
    return Crossing(
        title="subset",
        columns={
            line: tuple(_numbered([held[line] for held in lines.values()], name) for name in names)
            for line, names in _columns(own, systems).items()
        },
        models={model: tuple(_column(held[line], name) for line, name in places) for model, held in lines.items()},
        people={},
        published={
            system: tuple(numbers[line].get(name) for line, name in places) for system, numbers in systems.items()
        },
        sources=(f"{SOURCE}table 1",) if systems else (),
    )


def _columns(own: Sequence[Behaviour], systems: Mapping[str, Numbers]) -> dict[str, list[str]]:
    """The subsets that hold something or that the paper has, for controls and for swapped pairs."""
    held = {CONTROLS: [each.control for each in own], SWAPPED: [each.transformed for each in own]}
    return {
        line: [
            name
            for name in SUBSETS
            if any((value := _column(sample, name)) is not None and value.n for sample in samples)
            or any(name in numbers[line] for numbers in systems.values())
        ]
        for line, samples in held.items()
    }


def _column(sample: Sample, name: str) -> Estimate | None:
    return estimates(sample)[list(SUBSETS).index(name)]


def _numbered(samples: Sequence[Sample], name: str) -> str:
    """The name of a column with the number of pairs, or the fewest and the most where models differ."""
    values = [_column(sample, name) for sample in samples]
    counts = sorted({value.n for value in values if value is not None})
    told = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    return f"{name} ({told})"


def _systems(suite: str) -> dict[str, Numbers]:
    """Published systems with their control and swapped accuracies."""
    lines = published_accuracies(suite)
    controls = lines.get(CONTROLS, {})
    return {
        system: {CONTROLS: controls.get(system, {}), SWAPPED: numbers}
        for system, numbers in lines.get(SWAPPED, {}).items()
    }


def _chart(suite: str, own: Sequence[Behaviour]) -> Chart:
    """Accuracy on the swapped pairs of each subset, joined with that on the controls where there is one."""
    systems = _systems(suite)
    rows = []
    for name in SUBSETS:
        after = {each.model: _known(_column(each.transformed, name)) for each in own}
        before = {each.model: _known(_column(each.control, name)) for each in own}
        published = {system: numbers[SWAPPED].get(name) for system, numbers in systems.items()}
        rows.append(
            Row(
                name,
                {model: value for model, value in after.items() if value},
                published={system: value for system, value in published.items() if value is not None},
                before={model: value for model, value in before.items() if value and after[model]},
            )
        )
    axis = rate_axis(CHANCE)
    return Chart(tuple(row for row in rows if row.estimates), replace(axis, title=f"{axis.title}; hollow: control"))


def _known(value: Estimate | None) -> Estimate | None:
    return value if value is not None and value.known else None


def _model(each: Behaviour) -> ModelPart:
    samples = {CONTROL_POLARITY: (CONTROLS, each.control), POLARITY: (SWAPPED, each.transformed)}
    tables = {name: factor.table for name in samples if (factor := each.factor(name))}
    return ModelPart(
        behaviour=each,
        swap=swap_told(each.swap),
        mosaics=tuple(
            mosaic(table, f"{each.model}, {samples[name][0]}{_told_of(table.n, samples[name][1].whole.n)}")
            for name, table in tables.items()
            if table and table.n
        ),
        tested=tuple(
            Tested(
                TITLES[factor.name],
                factor.table if factor.table and factor.table.n else None,
                test_told(factor),
                published_tests(each.suite, factor.name),
                published_tables(each.suite, factor.name),
            )
            for factor in each.factors
        ),
    )


def _told_of(part: int, whole: int) -> str:
    """How many pairs have an answer and a polarity, where some have not."""
    return "" if part == whole else f": {part:,} of {whole:,} pairs"


def mosaic(table: Crosstab, title: str) -> Mosaic:
    """A table of answers by polarity as a picture: ties are one strip, and polarities that no pair has are left out."""
    counts: dict[str, Counter[str]] = {}
    for name, row in zip(table.rows, table.counts.tolist(), strict=True):
        shown = _TIE if TIE in name else name
        counts.setdefault(shown, Counter()).update(dict(zip(table.columns, row, strict=True)))
    sizes = {name: answers.total() for name, answers in counts.items() if answers.total()}
    heights = {name: max(_LEAST, round(_TALLEST * size / table.n)) for name, size in sizes.items()}
    return Mosaic(title, tuple(Strip(name, size, heights[name], counts[name]) for name, size in sizes.items()))


def _methods(found: Behaviours) -> list[str]:
    named: list[str] = []
    for each in found.found:
        samples = (*estimates(each.control), *estimates(each.transformed), *each.by_polarity.values())
        named += [value.method for value in samples if value is not None]
        named += [each.swap.difference.method, each.swap.test]
    return named
