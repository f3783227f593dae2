"""Lexical inference as the page shows it: table 4 of Glockner et al. (2018), charts of sections 5.2 and 5.3, memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from acidtest.core.estimate import Estimate
from acidtest.reports.charts import Chart, Row, rate_axis
from acidtest.reports.numerals import p_value, points, signed
from acidtest.reports.sections import WHOLE, Entry, Line, Table, examples_link
from acidtest.studies.lexical import LexicalResult, lexical
from acidtest.studies.lexical.document import SCALES, published_accuracies
from acidtest.studies.lexical.knowledge import COSINES, FREQUENCIES, BinnedAccuracy, BinScale, WordKnowledge
from acidtest.studies.lexical.memory import MemoryComparison
from acidtest.studies.lexical.rows import FRESH, PUBLISHED, holds_lexical, published_names

CHANCE = 1 / 3
SOURCE = "Glockner et al. 2018, "


@dataclass(frozen=True)
class Along:
    """Accuracy along a measure: a chart, a table with how many pairs of words there are, and each model's trend."""

    title: str
    chart: Chart
    columns: tuple[str, ...]
    table: Table
    word_pairs: Mapping[str, int]
    trends: Mapping[str, str]


@dataclass(frozen=True)
class LexicalPage:
    """Everything in the section; ``columns`` head the models' columns of the table of categories."""

    columns: tuple[str, ...]
    categories: Table
    along: tuple[Along, ...]
    memory: tuple[MemoryComparison, ...]
    others: int
    """How many categories of ours the paper does not have; the suites' own sections tell of them."""

    @property
    def caption(self) -> str:
        """What the table of categories holds."""
        further = f"{self.others} further {'category' if self.others == 1 else 'categories'}"
        more = f"; the suites' own sections have {further}" if self.others else ""
        return f"Accuracy in per cent by category, with 95 % intervals{more}."


def lexical_page(models: Mapping[str, Entry]) -> LexicalPage | None:
    """The section on lexical inference; None where no model was asked any lexical suite."""
    found = {model: lexical([entry.run]) for model, entry in models.items() if holds_lexical(entry.run)}
    if not found:
        return None
    asked = {_column(model, each, found): each for model, own in found.items() for each in own.knowledge}
    return LexicalPage(
        columns=tuple(asked),
        categories=_categories(list(asked.values())),
        along=(*_along(asked, COSINES), *_along(asked, FREQUENCIES)),
        memory=tuple(comparison for result in found.values() for comparison in result.memory),
        others=len({name for each in asked.values() for name in each.categories if name not in _printed()}),
    )


def _column(model: str, each: WordKnowledge, found: Mapping[str, LexicalResult]) -> str:
    """What heads a column: the model, the suite, or both, as far as they tell columns apart."""
    suites = {own.suite for held in found.values() for own in held.knowledge}
    if len(found) == 1:
        return each.suite
    return f"{model}, {each.suite}" if len(suites) > 1 else model


def _printed() -> dict[str, str]:
    """The paper's name of each category, by ours and by that of the published file."""
    rows = published_names().iter_rows(named=True)
    return {name: row["printed"] for row in rows for name in (row["category"], row["published"])}


def _categories(asked: Sequence[WordKnowledge]) -> Table:
    """The paper's categories in its order, below them the whole sets."""
    whole, parts = published_accuracies(PUBLISHED), published_accuracies(PUBLISHED, "category")
    lines = []
    for row in published_names().iter_rows(named=True):
        own = [each.categories.get(row["category"]) or each.categories.get(row["published"]) for each in asked]
        if any(own):
            first = next(each for each, estimate in zip(asked, own, strict=True) if estimate)
            name = row["category"] if row["category"] in first.categories else row["published"]
            numbers = tuple(parts[system].get(row["published"]) for system in whole)
            lines.append(Line(row["printed"], tuple(own), numbers, examples=_examples(first.suite, name)))
    everything = Line(WHOLE, tuple(each.overall for each in asked), tuple(numbers[""] for numbers in whole.values()))
    return Table("category", (*lines, everything), tuple(whole), sources=(f"{SOURCE}table 4",))


def _examples(suite: str, category: str) -> str:
    if suite == f"{FRESH}/*":
        return examples_link(f"{FRESH}/{category}", {})
    return examples_link(suite, {"category": category})


def _along(asked: Mapping[str, WordKnowledge], scale: BinScale) -> tuple[Along, ...]:
    """One chart for the sets of pairs whose words have the measure, none where they have not."""
    cosine = scale is COSINES
    each_binned = {name: each.by_cosine if cosine else each.by_frequency for name, each in asked.items()}
    held = {name: binned for name, binned in each_binned.items() if binned}
    if not held:
        return ()
    papers, names = published_accuracies(PUBLISHED, scale.column), part_names(held.values())
    rows = (
        Row(
            shown(name),
            {model: binned.bins[name].accuracy for model, binned in held.items() if binned.bins[name].accuracy.n},
            published={system: numbers[name] for system, numbers in papers.items()},
        )
        for name in scale.names
    )
    lines = (
        Line(shown(name), _accuracies(held, name), tuple(numbers.get(name) for numbers in papers.values()))
        for name in names
    )
    source = f"{SOURCE}section {'5.2' if cosine else '5.3'}"
    return (
        Along(
            title=SCALES[scale][1],
            chart=Chart(tuple(rows), rate_axis(CHANCE)),
            columns=tuple(held),
            table=Table(scale.column, tuple(lines), tuple(papers), sources=(source,)),
            word_pairs={shown(name): max(_word_pairs(held, name)) for name in names},
            trends={model: describe_trend(binned) for model, binned in held.items()},
        ),
    )


def _accuracies(held: Mapping[str, BinnedAccuracy], name: str) -> tuple[Estimate | None, ...]:
    return tuple(each.parts[name].accuracy if name in each.parts else None for each in held.values())


def _word_pairs(held: Mapping[str, BinnedAccuracy], name: str) -> list[int]:
    return [each.parts[name].pairs for each in held.values() if name in each.parts]


def shown(name: str) -> str:
    """The name of a bin as people write it: ``0.5–0.6``."""
    return name.replace("-", "–")


def part_names(binned: Iterable[BinnedAccuracy]) -> list[str]:
    """The bins that any has, and what lies outside them."""
    return list(dict.fromkeys(name for one in binned for name in one.parts))


def describe_trend(binned: BinnedAccuracy) -> str:
    """A trend in words."""
    trend = binned.trend
    slope = trend.estimate
    if not slope.known:
        return f"no trend can be told: {slope.note}"
    within = points(slope) if slope.low == slope.low else f"{signed(slope.value)} ({slope.note})"
    return f"{within} points from a bin to the next, p {p_value(trend.p)}, adjusted {p_value(trend.p_adjusted)}"
