"""Experiments on the terminal and as a page: ours and the paper's numbers, and nothing taken for markup."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from acidtest.core.estimate import Estimate
from acidtest.reports.experiment_page import experiment_page
from acidtest.reports.experiments import experiment_tables
from acidtest.studies.experiments_results import Arm, Block, Cell, Change, Column, Experiment, papers

HOSTILE = "<script>alert(1)</script>"
PLAIN, CHANGED = f"plain {HOSTILE}", "changed"


def cell(column: str, arm: str, value: float, published: float | None = None) -> Cell:
    seeds = {0: Estimate(value - 0.1, n=9), 1: Estimate(value + 0.1, n=9)}
    found = Estimate(value, value - 0.05, value + 0.05, 9, 9, "Wilson")
    return Cell("A table", column, "esim", arm, found, seeds, published, "McCoy et al. 2019, table 4")


@pytest.fixture
def found() -> Experiment:
    columns = (Column("first", "hans"), Column("[bold]second", "hans"))
    change = Change(
        block="A table",
        column="first",
        network="esim",
        arm=CHANGED,
        against=PLAIN,
        value=Estimate(0.421, 0.3, 0.5, 9, 9, "t"),
        seeds={0: Estimate(0.4, n=9), 1: Estimate(0.442, n=9)},
        test="McNemar, exact",
        p=0.001,
        p_adjusted=0.002,
        published=0.97,
    )
    return Experiment(
        paper=papers()["augmentation"],
        blocks=(Block("A table", columns, (PLAIN, CHANGED), PLAIN),),
        arms={name: Arm(name, HOSTILE, 1) for name in (PLAIN, CHANGED)},
        cells=(
            cell("first", PLAIN, 0.153, 0.02),
            cell("first", CHANGED, 0.574, 0.99),
            cell("[bold]second", PLAIN, 0.35),
            replace(cell("[bold]second", CHANGED, 0.4), value=Estimate(float("nan"), note="no rows")),
        ),
        changes=(change,),
        trainings=(
            {"network": "esim", "arm": PLAIN, "seed": 0, "epochs": 3, "best_epoch": 2.0, "dev_accuracy": 0.812}
            | {"seconds": 1234.5, "folder": "x"},
            {"network": "esim", "arm": PLAIN, "seed": 1, "epochs": 3, "best_epoch": 2.0, "dev_accuracy": None}
            | {"seconds": 1.0, "folder": "y"},
        ),
        signatures=(f"hans|{HOSTILE}",),
        notes=(f"a note of {HOSTILE}",),
        settings={"seeds": [0, 1]},
    )


def shown(found: Experiment) -> str:
    console = Console(file=io.StringIO(), width=110, highlight=False, emoji=False)
    for part in experiment_tables(found):
        console.print(part)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_the_papers_numbers_stand_below_ours(found: Experiment) -> None:
    lines = shown(found).splitlines()
    start = next(number for number, line in enumerate(lines) if CHANGED in line and "57.4" in line)
    assert lines[start].split() == [CHANGED, "57.4", "±14.1", "–"]
    assert lines[start + 1].split() == ["52.4–62.4"]
    assert lines[start + 2].split() == ["published", "99"]
    assert any("[bold]second" in line for line in lines)


def test_differences_have_their_interval_their_spread_and_a_mark_where_they_are_found(found: Experiment) -> None:
    lines = shown(found).splitlines()
    start = next(number for number, line in enumerate(lines) if "+42.1*" in line)
    assert [line.split() for line in lines[start + 1 : start + 4]] == [
        ["+30.0…+50.0"],
        ["±3.0"],
        ["published", "+97.0"],
    ]
    unsure = replace(found, changes=(replace(found.changes[0], p_adjusted=0.2),))
    assert "+42.1*" not in shown(unsure)
    assert "1 of 1 published difference of two" in " ".join(shown(found).split())


def test_the_page_holds_the_same_and_escapes_what_users_wrote(found: Experiment) -> None:
    page = experiment_page(found)
    assert HOSTILE not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert re.search(r"57\.4 ±14\.1<small>52\.4–62\.4</small>", page)
    assert re.search(r'<td class="number" title="McCoy et al. 2019, table 4">99</td>', page)
    assert re.search(r'title="McNemar, exact, p 0.0010, corrected 0.0020">\+42\.1\* ±3\.0<small>', page)
    assert "+97.0" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "81.2" in page  # the development set's accuracy


def test_without_an_arm_to_stand_against_there_are_no_differences(found: Experiment) -> None:
    alone = replace(found, changes=(), blocks=(replace(found.blocks[0], against=""),))
    assert "in points" not in shown(alone)
    assert "Differences in percentage points" not in experiment_page(alone)


def test_an_arm_has_the_same_mark_in_the_picture_of_differences(found: Experiment) -> None:
    rates, differences = experiment_page(found).split('<figure class="chart"')[1:3]
    assert {"c0", "c1"} <= set(re.findall(r'class="(c\d)"', rates))
    assert set(re.findall(r'class="(c\d)"', differences)) == {"c1"}


def test_chance_is_drawn_where_it_is_the_same_in_all_columns(found: Experiment) -> None:
    hans, own = Column("first", "hans", {"heuristic": "constituent"}), Column("[bold]second", "mine")
    for columns, paper, told in (
        ((hans,), "augmentation", "chance (50 %)"),
        ((own,), "distraction", "chance (33 %)"),
        ((hans, own), "merged-labels", "chance (50 %)"),
        ((hans, own), "augmentation", ""),
    ):
        block = replace(found.blocks[0], columns=columns)
        page = experiment_page(replace(found, blocks=(block,), paper=papers()[paper]))
        assert told in page
        assert ("chance (" in page) == bool(told)


def test_where_nothing_published_stands_in_the_tables_no_paper_is_cited(found: Experiment) -> None:
    cited = "Published: McCoy et al. 2019"
    assert cited in shown(found)
    alone = replace(found, cells=tuple(replace(cell, published=None) for cell in found.cells))
    assert cited not in shown(alone)


def test_long_headings_are_broken_after_what_joins_their_words(found: Experiment) -> None:
    column = Column("ln_subject/object_swap", "hans")
    cells = tuple(replace(cell, column=column.name) for cell in found.cells[:2])
    lines = shown(replace(found, blocks=(replace(found.blocks[0], columns=(column,)),), cells=cells)).splitlines()
    start = next(number for number, line in enumerate(lines) if "ln_subject/" in line)
    assert [line.strip() for line in lines[start : start + 2]] == ["ln_subject/", "object_swap"]
