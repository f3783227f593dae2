"""Experiments in training as tables for the terminal: the paper's table, ours beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from acidtest.reports.numerals import NONE, counted, interval, p_value, percent, share, signed
from acidtest.studies.experiments_results import Agreement, Block, Cell, Change, Column, Experiment

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

PUBLISHED = "published"

_HEADING = 14
"""How many letters of a heading stand on one line."""


def experiment_tables(found: Experiment) -> list[RenderableType]:
    """What was trained, the tables of rates, what the arms differ in, and how near that is to the paper."""
    from rich.markup import escape
    from rich.text import Text

    paper = found.paper
    parts: list[RenderableType] = [
        Text.from_markup(f"[bold]{escape(paper.title)}[/]", emoji=False),
        Text(f"  {paper.told}", style="dim"),
        *(Text(f"  {arm.name}: {arm.told}", style="dim") for arm in found.arms.values()),
        Text(""),
    ]
    for block in found.blocks:
        parts.append(Text(block.title))
        for network in found.networks:
            parts += [Text.from_markup(f" [bold]{escape(network)}[/]", emoji=False), _rates(found, block, network)]
            if any(change.block == block.title and change.network == network for change in found.changes):
                heading = Text(f"  difference from {block.against}, in points", style="dim")
                parts += [heading, _changes(found, block, network)]
        parts.append(Text(""))
    parts += [Text(f"  • {agreement_told(each)}") for each in found.agreements]
    return [*parts, *(Text(f"  {line}", style="dim") for line in footnotes(found))]


def agreement_told(found: Agreement) -> str:
    """How near a network is to the paper, in a sentence."""
    told = (
        f"{found.network}: {share(found.distance)} points from the paper on average of {counted(found.cells, 'rate')}"
    )
    if not found.changes:
        return told
    return (
        f"{told}; {found.same} of {counted(found.changes, 'published difference')} of two points or more "
        f"{'has' if found.changes == 1 else 'have'} the same sign here"
    )


def footnotes(found: Experiment) -> Iterator[str]:
    """What has to be known to read the numbers."""
    seeds = found.settings["seeds"]
    several = f"means of {len(seeds)} seeds ± their standard deviation; " if len(seeds) > 1 else ""
    yield f"Per cent right: {several}below, the 95 % interval over rows; another seed is another network."
    tests = " or ".join(dict.fromkeys(change.test for change in found.changes))
    if tests:
        family = counted(len(found.changes), "difference")
        alike = ", and the same sign with every seed" if len(seeds) > 1 else ""
        yield f"Differences on the same rows; * p below 0.05 ({tests}), corrected over {family} by Holm{alike}."
    if any(cell.published is not None for cell in found.cells):
        yield f"Published: {found.paper.paper}, {found.paper.tables}; trained on other data unless these are the same."
    yield from found.notes


def _rates(found: Experiment, block: Block, network: str) -> Table:
    table = _grid(block.columns)
    for arm in block.arms:
        cells = [found.cell(block.title, column.name, network, arm) for column in block.columns]
        table.add_row(f"  {arm}", *map(_rate, cells))
        if any(cell and cell.published is not None for cell in cells):
            table.add_row(f"    {PUBLISHED}", *map(theirs_told, cells), style="dim")
    return table


def _changes(found: Experiment, block: Block, network: str) -> Table:
    columns = [column for column in block.columns if column.less is None]
    table = _grid(columns)
    for arm in block.others:
        changes = [found.change(block.title, column.name, network, arm) for column in columns]
        table.add_row(f"  {arm}", *map(_change, changes))
        if any(change and change.published is not None for change in changes):
            theirs = (signed(change.published) if change and change.published is not None else "" for change in changes)
            table.add_row(f"    {PUBLISHED}", *theirs, style="dim")
    return table


def _grid(columns: Sequence[Column]) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True)
    for column in columns:
        table.add_column(escape(_broken(column.name)), justify="right", overflow="fold")
    return table


def _broken(name: str) -> str:
    """A heading of several lines where it is long, broken after what joins its words."""
    lines = [""]
    for part in re.findall(r"[^_/ ]*[_/ ]?", name):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > _HEADING:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def _rate(cell: Cell | None) -> str:
    if cell is None or not cell.value.known:
        return NONE
    if _is_difference(cell):
        return f"{signed(cell.value.value)}\n{signed(cell.value.low)}…{signed(cell.value.high)}"
    return f"{percent(cell.value)}{deviation(cell)}\n{interval(cell.value)}"


def theirs_told(cell: Cell | None) -> str:
    """The paper's number of a cell, with a sign where it is a difference."""
    if cell is None or cell.published is None:
        return ""
    return signed(cell.published) if _is_difference(cell) else f"{round(cell.published * 100, 1):g}"


def deviation(found: Cell | Change) -> str:
    """`` ±0.8``: the standard deviation over seeds, where there are several."""
    return f" ±{found.spread * 100:.1f}" if found.spread == found.spread else ""


def change_told(change: Change) -> str:
    """The test of a difference on one line."""
    return f"{change.test}, p {p_value(change.p)}, corrected {p_value(change.p_adjusted)}"


def _is_difference(cell: Cell) -> bool:
    return cell.value.known and "Newcombe" in cell.value.method


def _change(change: Change | None) -> str:
    if change is None or not change.value.known:
        return NONE
    mark = "*" if change.found else ""
    value = change.value
    within = f"{signed(value.low)}…{signed(value.high)}" if value.low == value.low else ""
    lines = (f"{signed(value.value)}{mark}", within, deviation(change).strip())
    return "\n".join(line for line in lines if line)
