"""Behaviour under swapped words as tables for the terminal, the numbers of Sanchez et al. (2018) beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from acidtest.core.estimate import Estimate
from acidtest.reports.behaviour_papers import CONTROLS, SUBSETS, SWAPPED, published_accuracies, published_tests
from acidtest.reports.numerals import NONE, interval, p_value, percent, published
from acidtest.studies.behaviour_results import (
    CONTROL_POLARITY,
    GIVEN_GOLD,
    INSENSITIVITY,
    POLARITY,
    UNSEEN,
    Behaviour,
    Behaviours,
    Factor,
    Sample,
    Swap,
)

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

TITLES = {
    INSENSITIVITY: "Insensitivity (table 2): pairs whose gold changed, answered otherwise than before or not",
    UNSEEN: "Unseen word pairs (table 3): answers by whether training has the words in this order",
    POLARITY: "Polarity (table 4): answers by the label that training ties to the word pair",
    CONTROL_POLARITY: "Polarity on the control",
    GIVEN_GOLD: "Polarity among pairs of the same gold",
}


def behaviour_tables(found: Behaviours) -> list[RenderableType]:
    """For each suite table 1 with all models, then for each model what was found and the tables it rests on."""
    from rich.markup import escape
    from rich.text import Text

    parts: list[RenderableType] = []
    for suite in dict.fromkeys(each.suite for each in found.found):
        own = [each for each in found.found if each.suite == suite]
        parts += [Text.from_markup(f"[bold]{escape(suite)}[/]", emoji=False), _accuracies(suite, own), Text("")]
        for each in own:
            parts += [*_details(each), Text("")]
    return [*parts, *_footnotes(found)]


def _accuracies(suite: str, own: Sequence[Behaviour]) -> Table:
    """Table 1, under the sizes of samples and subsets."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 1), header_style="dim")
    table.add_column("accuracy, % (95 %)")
    table.add_column("")
    for name in SUBSETS:
        table.add_column(name, justify="right", no_wrap=True)
    sizes: list[list[str]] = []
    for each in own:
        # Models asked different rows, as by another version of the suite, have sizes of their own.
        if sizes != [_sizes(each.control), _sizes(each.transformed)]:
            sizes = [_sizes(each.control), _sizes(each.transformed)]
            table.add_row("number of pairs", CONTROLS, *sizes[0], style="dim")
            table.add_row("", SWAPPED, *sizes[1], style="dim")
        table.add_row(f"[bold]{escape(each.model)}[/]", CONTROLS, *_line(each.control))
        table.add_row("", SWAPPED, *_line(each.transformed))
    for system, lines in _published(suite).items():
        for number, (which, cells) in enumerate(lines.items()):
            table.add_row("" if number else f"{system}, published", which, *cells, style="dim")
    return table


def estimates(sample: Sample) -> tuple[Estimate | None, ...]:
    """A line of table 1, by ``SUBSETS``."""
    return sample.whole, sample.changed, sample.unseen, sample.against


def _sizes(sample: Sample) -> list[str]:
    return ["" if value is None else f"{value.n:,}" for value in estimates(sample)]


def _line(sample: Sample) -> list[str]:
    return [_cell(value) for value in estimates(sample)]


def _cell(value: Estimate | None) -> str:
    if value is None or not value.known:
        return "" if value is None else NONE
    within = interval(value)
    return f"{percent(value)} ({within})" if within else percent(value)


def _published(suite: str) -> dict[str, dict[str, list[str]]]:
    """The paper's systems: their accuracies on control and suite, a cell for each column."""
    found: dict[str, dict[str, list[str]]] = {}
    for line, systems in published_accuracies(suite).items():
        for system, numbers in systems.items():
            cells = [published(numbers[name]) if name in numbers else "" for name in SUBSETS]
            found.setdefault(system, {})[line] = cells
    return found


def _details(each: Behaviour) -> Iterator[RenderableType]:
    from rich.markup import escape
    from rich.text import Text

    yield Text.from_markup(f"[bold]{escape(each.model)}[/] on {escape(each.suite)}", emoji=False)
    yield from (Text(f"  • {line}") for line in each.findings)
    yield Text(f"    {swap_told(each.swap)}", style="dim")
    for factor in each.factors:
        yield Text("")
        yield Text(f"  {TITLES[factor.name]}")
        if factor.table is not None and factor.table.n:
            yield _crosstab(factor)
        yield Text(f"    {test_told(factor)}", style="dim")
        theirs = published_tests(each.suite, factor.name)
        if theirs:
            yield Text(f"    published: {theirs}", style="dim")
    yield Text("")
    yield Text("  Accuracy by polarity: pairs, % (95 %); those that share a letter are not told apart")
    yield _by_polarity(each)
    yield from (Text(f"  {note}", style="dim") for note in each.notes)


def _crosstab(factor: Factor) -> Table:
    from rich.table import Table

    assert factor.table is not None
    table = Table(box=None, padding=(0, 1), header_style="dim", show_edge=False)
    table.add_column("   ")
    for name in factor.table.columns:
        table.add_column(name, justify="right")
    for name, counts in zip(factor.table.rows, factor.table.counts.tolist(), strict=True):
        table.add_row(f"   {name}", *(f"{count:,}" for count in counts))
    return table


def _by_polarity(each: Behaviour) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 1), show_header=False, show_edge=False)
    letters = each.ties.letters
    for name, value in each.by_polarity.items():
        table.add_row(f"   {name}", f"{value.n:,}", _cell(value), letters.get(name, ""))
    return table


def swap_told(swap: Swap) -> str:
    """The paired test of swapped pairs and their controls on one line."""
    parts = [f"swapped against control: {swap.test}", f"p {p_value(swap.p)}", f"corrected {p_value(swap.p_adjusted)}"]
    parts += [f"whole groups changing places: p {p_value(swap.p_groups)}"] if swap.p_groups == swap.p_groups else []
    return ", ".join(parts)


def test_told(factor: Factor) -> str:
    """The test, its effect and p-values on one line."""
    found = factor.found
    if found.p != found.p:
        return f"{found.test}: {found.note}"
    parts = [found.told, f"p {p_value(found.p)}", f"corrected {p_value(factor.p_adjusted)}"]
    odds = found.odds_ratio
    parts += [f"odds ratio {odds.value:.2f} ({odds.low:.2f} to {odds.high:.2f})"] if odds and odds.known else []
    parts += [f"whole word pairs shuffled: p {p_value(factor.p_pairs)}"] if factor.p_pairs == factor.p_pairs else []
    return ", ".join(parts) + (f" ({found.note})" if found.note else "")


def words_compared(*, literal: bool) -> str:
    """How words are looked up in the training set, in one sentence."""
    if literal:
        return "Words are looked up in the training set as they stand."
    return "Words are looked up in the training set in any of their forms (--literal: as they stand)."


def _footnotes(found: Behaviours) -> Iterator[RenderableType]:
    from rich.text import Text

    labels = ", ".join(f"{count:,} {label}" for label, count in found.training.items())
    yield Text(f"  Training set: {found.train}, {labels}.", style="dim")
    yield Text(
        f"  Shown: p of the test below {found.alpha:g}, whatever else is tested; corrected: by Bonferroni over all "
        f"{found.tests} tests. Tests of tables take rows for independent; word pairs shuffled as wholes do not. "
        f"{words_compared(literal=found.literal)}",
        style="dim",
    )
    yield Text("  Published: Sanchez, Mitchell and Riedel 2018, table 1 and sections 6.1 to 6.4.", style="dim")
