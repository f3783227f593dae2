"""Audits of training sets as tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acidtest.analysis.audit import MNLI, Audit, Support

if TYPE_CHECKING:
    from rich.console import RenderableType


def audit_table(found: Audit) -> list[RenderableType]:
    """The pairs that support and that contradict each heuristic, MultiNLI's training set beside them."""
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2), header_style="dim")
    table.add_column("heuristic")
    for column in ("supporting", "contradicting", "supporting share", "not known", "MultiNLI"):
        table.add_column(column, justify="right")
    for name, support in found.heuristics.items():
        paper = f"{MNLI[name].support:,} : {MNLI[name].contradict:,}"
        table.add_row(name.replace("_", " "), *_cells(support), paper)
    words = "words split at white space" if found.faithful else "words without punctuation"
    parts: list[RenderableType] = [
        Text.from_markup(f"[bold]{escape(found.name)}[/]  {found.rows:,} pairs, {words}", emoji=False),
        table,
    ]
    paper = "  MultiNLI: its training set, as McCoy et al. (2019) count it, words split at white space (--faithful)."
    parts.append(Text(paper, style="dim"))
    if any(support is None or support.unknown for support in found.heuristics.values()):
        parts.append(Text("  Constituents are told by parses (columns such as sentence1_parse).", style="dim"))
    return parts


def _cells(support: Support | None) -> tuple[str, str, str, str]:
    if support is None:
        return "–", "–", "–", "all"
    total = support.support + support.contradict
    share = f"{support.support / total:.1%}".replace("%", " %") if total else "–"
    return f"{support.support:,}", f"{support.contradict:,}", share, f"{support.unknown:,}"
