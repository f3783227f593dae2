"""Proposed categories as tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acidtest.core.estimate import Estimate
from acidtest.reports.numerals import NONE, counted, interval, percent
from acidtest.studies.tags import Tags

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table


def tag_tables(found: Tags) -> list[RenderableType]:
    """How often each category is proposed and how often that is right, by TaxiNLI and by the file's own marks."""
    from rich.markup import escape
    from rich.text import Text

    head = f"[bold]{escape(found.name)}[/]  {counted(found.rows, 'pair')}, {found.untagged:,} without a proposal"
    told = "  Proposed by rules; precision, recall and lift as measured on held-out pairs of TaxiNLI, in per cent:"
    parts: list[RenderableType] = [Text.from_markup(head, emoji=False), Text(told), _proposals(found)]
    if found.against:
        parts += [Text(""), Text("  Against the categories the file itself marks:"), _against(found)]
    return [*parts, *(Text(f"  {note}", style="dim") for note in found.notes)]


def _proposals(found: Tags) -> Table:
    table = _table("proposed", "share", "95 % interval", "precision", "recall", "lift")
    for name, share in found.shares.items():
        measured = found.measured[name]
        cells = [_reach(measured[measure]) for measure in ("precision", "recall")]
        lift = "chance" if name in found.by_chance else _number(measured["lift"])
        table.add_row(name, f"{found.counts[name]:,}", f"{percent(share)} %", interval(share), *cells, lift)
    return table


def _against(found: Tags) -> Table:
    table = _table("marked", "precision", "recall", "F1", "lift")
    for name, quality in found.against.items():
        shares = (quality.precision, quality.recall, quality.f1)
        table.add_row(name, f"{quality.recall.n:,}", *map(_reach, shares), _number(quality.lift))
    return table


def _table(*titles: str) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 1), header_style="dim")
    table.add_column("category")
    for title in titles:
        table.add_column(title, justify="right")
    return table


def _reach(value: Estimate) -> str:
    """``67.2 (63.8–70.5)``."""
    within = interval(value)
    return f"{percent(value)} ({within})" if within else percent(value)


def _number(value: Estimate) -> str:
    """``4.9 (4.6–5.2)``."""
    if not value.known:
        return NONE
    return f"{value.value:.1f} ({value.low:.1f}–{value.high:.1f})" if value.low == value.low else f"{value.value:.1f}"
