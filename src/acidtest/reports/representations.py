"""What layers hold, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from acidtest.reports.numerals import NONE, counted
from acidtest.studies.representation_results import PROBE, SILHOUETTE, Contrast, Representations, Trace

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

HEADINGS = {PROBE: "Linear probes", SILHOUETTE: "Silhouettes"}

TITLES = {
    PROBE: "of couples of pairs, one with and one without, the share told apart, in %; chance is 50",
    SILHOUETTE: "times 100; above 0, pairs that have it and pairs that have not lie nearer to their own kind",
}

DIGITS = {PROBE: 1, SILHOUETTE: 2}
"""Decimals of hundredths."""


def representation_tables(found: Representations) -> list[RenderableType]:
    """For each measure a line for each target and a column for each layer."""
    from rich.markup import escape
    from rich.text import Text

    title = f"[bold]{escape(found.model)}[/] on {escape(found.suite)}: {counted(found.rows.height, 'pair')}, "
    title += f"{counted(found.groups, 'group')}, {counted(len(found.layers), 'layer')}"
    parts: list[RenderableType] = [Text.from_markup(title, emoji=False)]
    for measure, told in TITLES.items():
        parts += [Text(""), Text(f"{HEADINGS[measure]}: {told}"), _table(found, measure)]
    return [*parts, Text(""), *_footnotes(found)]


def value_told(value: float, measure: str) -> str:
    """A measure in hundredths, or a dash."""
    return f"{value * 100:.{DIGITS[measure]}f}".replace("-", "−") if value == value else NONE


def cell_told(found: Contrast, measure: str, *, alpha: float) -> str:
    """A measure, starred where it exceeds its baseline."""
    return value_told(found.estimate.value, measure) + ("*" if found.above(alpha) else " ")


def layer_told(found: Representations, place: int | None) -> str:
    """The name of a layer, a dash for none."""
    return NONE if place is None else found.layers[place]


def indented(trace: Trace) -> str:
    """The name of a target, categories below their groups."""
    return f"  {trace.name}" if trace.kind == "category" else trace.name


def _table(found: Representations, measure: str) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 1), header_style="dim")
    table.add_column("", no_wrap=True)
    table.add_column("pairs", justify="right")
    for name in _short(found.layers):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("baseline", justify="right", no_wrap=True)
    table.add_column("first above", no_wrap=True)
    for trace in found.traces:
        contrasts = trace.measures[measure]
        highs = [one.baseline.high for one in contrasts if one.baseline.known]
        cells = [cell_told(one, measure, alpha=found.alpha) for one in contrasts]
        first = layer_told(found, trace.first(measure, found.alpha))
        most = f"≤ {value_told(max(highs), measure)}" if highs else NONE
        style = "bold" if trace.kind in ("label", "group") else None
        table.add_row(indented(trace), f"{trace.n:,}", *cells, most, first, style=style)
    return table


def _short(layers: tuple[str, ...]) -> Iterator[str]:
    """Names of layers that leave room for many: ``emb``, ``1``, ``2`` …"""
    for name in layers:
        first, _, rest = name.partition(" ")
        yield rest if first == "layer" and rest else name[:3] if name == "embeddings" else name


def _footnotes(found: Representations) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text(
        f"  * above labels dealt anew {found.permutations} times among whole groups, p < {found.alpha:g} after "
        "correction for all targets and layers of a table (maxT). Baseline: 97.5 % of deals are below it on any layer.",
        style="dim",
    )
    yield Text(
        f"  Probes: ridge regression, {found.folds} folds, pairs of one premise in one fold. Intervals: --json and -o.",
        style="dim",
    )
    for line in found.notes:
        yield Text(f"  {line}", style="dim")
