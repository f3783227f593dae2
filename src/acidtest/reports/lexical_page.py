"""Lexical inference as the page shows it: table 4 of Glockner et al. (2018), charts of sections 5.2 and 5.3, memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from acidtest.core.estimate import Estimate
from acidtest.reports.charts import Chart, Row, rate_axis
from acidtest.reports.lexical import SIMILARITY, TRAINING, part_names, shown, systems, trend_told
from acidtest.reports.sections import WHOLE, Entry, Line, Table, examples_link
from acidtest.studies.lexical import COSINES, FREQUENCIES, Binned, Knowledge, Lexical, Scale, holds_lexical, lexical
from acidtest.studies.lexical_memory import Memory
from acidtest.studies.lexical_rows import FRESH, PUBLISHED, published_names

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
    memory: tuple[Memory, ...]
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
    asked = {_column(model, each, found): each for model, own in found.items() for each in own.found}
    return LexicalPage(
        columns=tuple(asked),
        categories=_categories(list(asked.values())),
        along=(*_along(asked, COSINES), *_along(asked, FREQUENCIES)),
        memory=tuple(each for own in found.values() for each in own.memory),
        others=len({name for each in asked.values() for name in each.categories if name not in _printed()}),
    )


def _column(model: str, each: Knowledge, found: Mapping[str, Lexical]) -> str:
    """What heads a column: the model, the suite, or both, as far as they tell columns apart."""
    suites = {own.suite for held in found.values() for own in held.found}
    if len(found) == 1:
        return each.suite
    return f"{model}, {each.suite}" if len(suites) > 1 else model


def _printed() -> dict[str, str]:
    """The paper's name of each category, by ours and by that of the published file."""
    rows = published_names().iter_rows(named=True)
    return {name: row["printed"] for row in rows for name in (row["category"], row["published"])}


def _categories(asked: Sequence[Knowledge]) -> Table:
    """The paper's categories in its order, below them the whole sets."""
    whole, parts = systems(PUBLISHED), systems(PUBLISHED, "category")
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


def _along(asked: Mapping[str, Knowledge], scale: Scale) -> tuple[Along, ...]:
    """One chart for the sets of pairs whose words have the measure, none where they have not."""
    cosine = scale is COSINES
    each_binned = {name: each.by_cosine if cosine else each.by_frequency for name, each in asked.items()}
    held = {name: binned for name, binned in each_binned.items() if binned}
    if not held:
        return ()
    papers, names = systems(PUBLISHED, scale.column), part_names(held.values())
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
            title=SIMILARITY if cosine else TRAINING,
            chart=Chart(tuple(rows), rate_axis(CHANCE)),
            columns=tuple(held),
            table=Table(scale.column, tuple(lines), tuple(papers), sources=(source,)),
            word_pairs={shown(name): max(_word_pairs(held, name)) for name in names},
            trends={model: trend_told(binned) for model, binned in held.items()},
        ),
    )


def _accuracies(held: Mapping[str, Binned], name: str) -> tuple[Estimate | None, ...]:
    return tuple(each.parts[name].accuracy if name in each.parts else None for each in held.values())


def _word_pairs(held: Mapping[str, Binned], name: str) -> list[int]:
    return [each.parts[name].pairs for each in held.values() if name in each.parts]
