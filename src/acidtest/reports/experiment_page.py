"""An experiment in training as one self-contained HTML page: the paper's table with ours beside it, and pictures."""

from __future__ import annotations

from dataclasses import dataclass

from acidtest.report.examples import Examples
from acidtest.reports.charts import Chart, Row, difference_axis, rate_axis
from acidtest.reports.experiments import PUBLISHED, agreement_told, change_told, deviation, footnotes
from acidtest.reports.html import explained, rendered
from acidtest.studies.experiments_results import Block, Cell, Change, Column, Experiment

TWO_LABELS = frozenset({"heuristic", "subcase"})
"""Columns that HANS has, of whose labels there are two."""


@dataclass(frozen=True)
class Line:
    """A line of a table: a network in an arm, its cells, and whether the paper has any of them."""

    network: str
    arm: str
    cells: tuple[Cell | None, ...]
    published: bool


@dataclass(frozen=True)
class Difference:
    """A line of the table of differences."""

    network: str
    arm: str
    changes: tuple[Change | None, ...]
    published: bool


@dataclass(frozen=True)
class Part:
    """One of the paper's tables: a picture and a table of rates, and of differences where there are any."""

    block: Block
    anchor: str
    rates: Chart
    lines: tuple[Line, ...]
    gains: Chart | None
    paired: tuple[Column, ...]
    """The columns in which arms are compared."""
    differences: tuple[Difference, ...]


def experiment_page(found: Experiment) -> str:
    """The page of an experiment."""
    methods = [cell.value.method for cell in found.cells]
    methods += [name for change in found.changes for name in (change.value.method, change.test)]
    return rendered(
        "experiment.html",
        found=found,
        parts=[_part(found, block, f"table-{number}") for number, block in enumerate(found.blocks, 1)],
        agreements=[agreement_told(each) for each in found.agreements],
        footnotes=list(footnotes(found)),
        methods=explained(methods),
        examples=Examples(0, "", ()),
        deviation=deviation,
        change_told=change_told,
    )


def _part(found: Experiment, block: Block, anchor: str) -> Part:
    lines, differences = list[Line](), list[Difference]()
    paired = tuple(column for column in block.columns if column.less is None)
    for network in found.networks:
        for arm in block.arms:
            cells = tuple(found.cell(block.title, column.name, network, arm) for column in block.columns)
            lines.append(Line(network, arm, cells, any(cell and cell.published is not None for cell in cells)))
        for arm in block.others:
            changes = tuple(found.change(block.title, column.name, network, arm) for column in paired)
            told = any(change and change.published is not None for change in changes)
            if any(changes):
                differences.append(Difference(network, arm, changes, told))
    gains = _gains(found, block) if differences else None
    return Part(block, anchor, _rates(found, block), tuple(lines), gains, paired, tuple(differences))


def _rates(found: Experiment, block: Block) -> Chart:
    rows = []
    for network in found.networks:
        for column in block.columns:
            cells = {arm: found.cell(block.title, column.name, network, arm) for arm in block.arms}
            known = {arm: cell for arm, cell in cells.items() if cell}
            if column.less is None and known:
                theirs = {
                    f"{arm}, {PUBLISHED}": cell.published for arm, cell in known.items() if cell.published is not None
                }
                estimates = {arm: cell.value for arm, cell in known.items()}
                rows.append(Row(column.name, estimates, heading=network, published=theirs))
    chances = {_chance(found, column) for column in block.columns if column.less is None}
    return Chart(tuple(rows), rate_axis(chances.pop() if len(chances) == 1 else None))


def _chance(found: Experiment, column: Column) -> float:
    """How often guessing is right: HANS has two labels, and where they are merged everything has."""
    return 1 / 2 if TWO_LABELS & set(column.by) or found.paper.name == "merged-labels" else 1 / 3


def _gains(found: Experiment, block: Block) -> Chart:
    rows = []
    for network in found.networks:
        for column in block.columns:
            changes = {arm: found.change(block.title, column.name, network, arm) for arm in block.others}
            known = {arm: change for arm, change in changes.items() if change}
            if known:
                theirs = {
                    f"{arm}, {PUBLISHED}": each.published for arm, each in known.items() if each.published is not None
                }
                estimates = {arm: change.value for arm, change in known.items()}
                rows.append(Row(column.name, estimates, heading=network, published=theirs))
    values = [one for row in rows for one in row.estimates.values()]
    axis = difference_axis(values, [told for row in rows for told in row.published.values()])
    return Chart(tuple(rows), axis, first=len(block.arms) - len(block.others))
