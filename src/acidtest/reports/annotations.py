"""How far annotators have come, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from acidtest.reports.numerals import NONE

if TYPE_CHECKING:
    from rich.console import RenderableType


def progress_tables(found: Mapping[str, Any]) -> list[RenderableType]:
    """What there is to judge, and a row for each annotator."""
    from rich.table import Table
    from rich.text import Text

    controls = f", {found['controls']:,} controls" if found["controls"] else ""
    noun = "item" if found["items"] == 1 else "items"
    wanted = f" of {found['wanted']:,}" if found["wanted"] else ""
    excluded = f", and {found['excluded']:,} of excluded people" if found["excluded"] else ""
    shown: list[RenderableType] = [
        Text(f"{found['items']:,} {noun}{controls}; {found['judgements']:,}{wanted} judgements{excluded}")
    ]
    if not found["annotators"]:
        return shown
    table = Table(box=None, padding=(0, 4, 0, 0), header_style="", pad_edge=False)
    table.add_column("  annotator")
    for name in ("answered", "of", "controls", "failed", "seconds each"):
        table.add_column(name, justify="right")
    table.add_column("excluded")
    for each in found["annotators"]:
        seconds = NONE if each["mean_seconds"] is None else f"{each['mean_seconds']:.1f}"
        numbers = (each["done"], each["total"], each["controls"], len(each["failed_controls"]))
        cells = [f"{number:,}" for number in numbers]
        table.add_row(Text(f"  {each['annotator']}"), *cells, seconds, Text(each["reason"] or ""))
    return [*shown, table]
