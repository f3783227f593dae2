"""Behaviour under swapped words as tables for the terminal, the numbers of Sanchez et al. (2018) beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from acidtest.analysis.behaviour import (
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
from acidtest.analysis.published import published_scores
from acidtest.core.estimate import Estimate
from acidtest.core.suite import CONTROL
from acidtest.reports.numerals import NONE, interval, p_value, percent, published

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

SUBSETS = {
    "whole sample": "",
    "gold changed": "gold changed",
    "unseen pairs": "unseen pairs",
    "polarity ≠ gold": "polarity is not gold",
}
"""The columns of table 1 and what the published numbers call them."""

IN_SITU, PROXY = "swaps/antonyms-in-situ", "swaps/antonyms-proxy"

SAMPLES = {
    IN_SITU: ("I_A", "I_TA1"),
    PROXY: ("I_A", "I_TA2"),
    "swaps/antonyms-ex-situ": ("E_A", "E_TA"),
    "swaps/hypernyms-in-situ": ("I_H", "I_TH"),
    "swaps/hypernyms-ex-situ": ("E_H", "E_TH"),
}
"""What the paper calls a suite's control and the suite."""

SHORT = {"Decomposable Attention": "DAM", "Conditional Encoder": "CE"}
"""The paper's names of its models."""

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
            table.add_row("number of pairs", "control", *sizes[0], style="dim")
            table.add_row("", "swapped", *sizes[1], style="dim")
        table.add_row(f"[bold]{escape(each.model)}[/]", "control", *_line(each.control))
        table.add_row("", "swapped", *_line(each.transformed))
    for system, lines in _published(suite).items():
        for number, (which, cells) in enumerate(lines.items()):
            table.add_row("" if number else f"{SHORT.get(system, system)}, published", which, *cells, style="dim")
    return table


def _estimates(sample: Sample) -> tuple[Estimate | None, ...]:
    return sample.whole, sample.changed, sample.unseen, sample.against


def _sizes(sample: Sample) -> list[str]:
    return ["" if value is None else f"{value.n:,}" for value in _estimates(sample)]


def _line(sample: Sample) -> list[str]:
    return [_cell(value) for value in _estimates(sample)]


def _cell(value: Estimate | None) -> str:
    if value is None or not value.known:
        return "" if value is None else NONE
    within = interval(value)
    return f"{percent(value)} ({within})" if within else percent(value)


def _published(suite: str) -> dict[str, dict[str, list[str]]]:
    """The paper's systems: their accuracies on control and suite, a cell for each column."""
    base = suite.partition(":")[0]
    found: dict[str, dict[str, list[str]]] = {}
    for which, scores in _table_1(base).items():
        for system in dict.fromkeys(system for system, _ in scores):
            numbers = [scores.get((system, subset)) for subset in SUBSETS.values()]
            found.setdefault(system, {})[which] = [published(value) if value is not None else "" for value in numbers]
    return found


def _table_1(base: str) -> dict[str, dict[tuple[str, str], float]]:
    """The published accuracies by line, system and subset. The two proxy samples have a line each."""
    names = {"control": IN_SITU + CONTROL if base == PROXY else base + CONTROL, "swapped": base}
    lines = {
        which: {(s.system, s.by.get("subset", "")): s.value for s in published_scores(name) if _of_table_1(s.by)}
        for which, name in names.items()
    }
    samples = ("I_TA2", "I_TA3") if base == PROXY else ()
    proxies = {
        sample: {
            (s.system, s.by.get("subset", "")): s.value
            for s in published_scores("behaviour")
            if s.by.get("sample") == sample and _of_table_1({k: v for k, v in s.by.items() if k != "sample"})
        }
        for sample in samples
    }
    return lines | proxies


def _of_table_1(by: dict[str, str]) -> bool:
    return set(by) <= {"subset"}


def _details(each: Behaviour) -> Iterator[RenderableType]:
    from rich.markup import escape
    from rich.text import Text

    yield Text.from_markup(f"[bold]{escape(each.model)}[/] on {escape(each.suite)}", emoji=False)
    yield from (Text(f"  • {line}") for line in each.findings)
    yield Text(f"    {_swap_told(each.swap)}", style="dim")
    for factor in each.factors:
        yield Text("")
        yield Text(f"  {TITLES[factor.name]}")
        if factor.table is not None and factor.table.n:
            yield _crosstab(factor)
        yield Text(f"    {_test_told(factor)}", style="dim")
        theirs = _published_tests(each.suite, factor.name)
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


def _swap_told(swap: Swap) -> str:
    """The paired test of swapped pairs and their controls on one line."""
    parts = [f"swapped against control: {swap.test}", f"p {p_value(swap.p)}", f"corrected {p_value(swap.p_adjusted)}"]
    parts += [f"whole groups changing places: p {p_value(swap.p_groups)}"] if swap.p_groups == swap.p_groups else []
    return ", ".join(parts)


def _test_told(factor: Factor) -> str:
    """The test, its effect and p-values on one line."""
    found = factor.found
    if found.p != found.p:
        return f"{found.test}: {found.note}"
    parts = [found.told, f"p {p_value(found.p)}", f"corrected {p_value(factor.p_adjusted)}"]
    odds = found.odds_ratio
    parts += [f"odds ratio {odds.value:.2f} ({odds.low:.2f} to {odds.high:.2f})"] if odds and odds.known else []
    parts += [f"whole word pairs shuffled: p {p_value(factor.p_pairs)}"] if factor.p_pairs == factor.p_pairs else []
    return ", ".join(parts) + (f" ({found.note})" if found.note else "")


def _published_tests(suite: str, factor: str) -> str:
    """``ESIM G(1) = 39.33, …`` for the paper's sample of a suite."""
    control, sample = SAMPLES.get(suite.partition(":")[0], ("", ""))
    named = {CONTROL_POLARITY: (control, POLARITY)}.get(factor, (sample, factor))
    numbers: dict[str, dict[str, float]] = {}
    for score in published_scores("behaviour"):
        if (score.by.get("sample"), score.by.get("factor")) == named and "statistic" in score.by:
            numbers.setdefault(score.system, {})[score.by["statistic"]] = score.value
    return ", ".join(
        f"{SHORT.get(system, system)} G({own['degrees of freedom']:.0f}) = {own['G']:g}"
        + (f", p {own['p']:g}" if "p" in own else "")
        for system, own in numbers.items()
    )


def _footnotes(found: Behaviours) -> Iterator[RenderableType]:
    from rich.text import Text

    labels = ", ".join(f"{count:,} {label}" for label, count in found.training.items())
    yield Text(f"  Training set: {found.train}, {labels}.", style="dim")
    yield Text(
        f"  {found.tests} tests are one family, corrected by Bonferroni; found: corrected p below {found.alpha:g}. "
        "Tests of tables take rows for independent; word pairs shuffled as wholes do not.",
        style="dim",
    )
    yield Text("  Published: Sanchez, Mitchell and Riedel 2018, table 1 and sections 6.1 to 6.4.", style="dim")
