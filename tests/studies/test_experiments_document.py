"""Experiments as documents: our numbers and the paper's, differences with their tests, and what is left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from acidtest.core.document import Chart, Document, Note, Published, PValue, Row, Table, tables, walk
from acidtest.core.estimate import Estimate
from acidtest.render.html import render_page
from acidtest.studies.experiments import (
    Arm,
    ArmDifference,
    ArmScore,
    ExperimentResult,
    ResultColumn,
    ResultTable,
    TrainingRecord,
    document,
)

HOSTILE = "<script>alert(1)</script>"
PLAIN, CHANGED = f"plain {HOSTILE}", "changed"


def score(column: str, arm: str, value: float, published: float | None = None) -> ArmScore:
    seeds = {0: Estimate(value - 0.1, n=9), 1: Estimate(value + 0.1, n=9)}
    estimate = Estimate(value, value - 0.05, value + 0.05, 9, 9, "Wilson")
    return ArmScore("A table", column, "esim", arm, estimate, seeds, published, "McCoy et al. 2019, table 4")


@pytest.fixture
def result() -> ExperimentResult:
    difference = ArmDifference(
        table="A table",
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
        differs=True,
    )
    return ExperimentResult(
        experiment="augmentation",
        title="Training with HANS-like pairs",
        published="McCoy et al. 2019, tables 3 and 4",
        tables=(
            ResultTable(
                "A table", (ResultColumn("first", "hans"), ResultColumn("second", "hans")), (PLAIN, CHANGED), PLAIN
            ),
        ),
        arms=tuple(Arm(name, HOSTILE, 1) for name in (PLAIN, CHANGED)),
        scores=(
            score("first", PLAIN, 0.153, 0.02),
            score("first", CHANGED, 0.574, 0.99),
            score("second", PLAIN, 0.35),
            replace(score("second", CHANGED, 0.4), value=Estimate(float("nan"), note="no rows")),
        ),
        differences=(difference,),
        trainings=(
            TrainingRecord("esim", PLAIN, 0, "x", 3, 2, 0.812, 1234.5),
            TrainingRecord("esim", PLAIN, 1, "y", 3, 2, None, 1.0),
        ),
        signatures=(f"hans|{HOSTILE}",),
        notes=(f"a note of {HOSTILE}",),
        settings={"seeds": [0, 1]},
    )


def cells(table: Table, row: str) -> dict[str, object]:
    (values,) = [one.cells for one in table.rows if one.name == row]
    return dict(zip([column.name for column in table.columns], values, strict=True))


def chart_of(shown: Document, table: str) -> Chart:
    return next(part for part in walk(shown.parts) if isinstance(part, Chart) and part.table == table)


def test_the_papers_numbers_and_the_spread_over_seeds_stand_beside_ours(result: ExperimentResult) -> None:
    first = cells(tables(document(result))["table 1"], "first")
    assert first[CHANGED] == result.scores[1].value
    assert first[f"{CHANGED}, ± over seeds"] == pytest.approx(0.1414, abs=1e-4)
    assert first[f"{CHANGED}, published"] == Published(0.99, note="McCoy et al. 2019, table 4")
    assert tables(document(result))["table 1"].sources == ("McCoy et al. 2019, table 4",)


def test_differences_have_their_test_and_a_mark_where_arms_differ(result: ExperimentResult) -> None:
    first = cells(tables(document(result))["differences 1"], "first")
    assert first[CHANGED] == result.differences[0].value
    assert (first[f"{CHANGED}, p"], first[f"{CHANGED}, corrected p"]) == (PValue(0.001), PValue(0.002))
    assert first[f"{CHANGED}, differs"] == "*"
    assert first[f"{CHANGED}, published"] == Published(0.97)
    assert "1 of 1 difference between arms holds" in document(result).headline
    unsure = replace(result, differences=(replace(result.differences[0], differs=False),))
    assert cells(tables(document(unsure))["differences 1"], "first")[f"{CHANGED}, differs"] == ""


def test_how_near_the_paper_is_is_said(result: ExperimentResult) -> None:
    notes = [part.text for part in walk(document(result).parts) if isinstance(part, Note)]
    assert any("1 of 1 published difference of two points or more has the same sign here" in note for note in notes)
    assert f"a note of {HOSTILE}." in notes


def test_a_column_that_has_no_rows_keeps_its_reason(result: ExperimentResult) -> None:
    value = cells(tables(document(result))["table 1"], "second")[CHANGED]
    assert isinstance(value, Estimate)
    assert value.note == "no rows"


def test_a_drop_between_test_sets_stands_apart_in_points(result: ExperimentResult) -> None:
    old, new = result.tables[0].columns
    drop = replace(new, name="∆", less=old)
    table = replace(result.tables[0], columns=(old, new, drop))
    shown = document(replace(result, tables=(table,), scores=(*result.scores, score("∆", PLAIN, -0.2, -0.223))))
    assert [row.name for row in tables(shown)["drops 1"].rows] == ["∆"]
    assert tables(shown)["drops 1"].columns[0].unit == "points"
    assert "∆" not in [row.name for row in tables(shown)["table 1"].rows]


def test_without_an_arm_to_stand_against_there_are_no_differences(result: ExperimentResult) -> None:
    alone = replace(result, differences=(), tables=(replace(result.tables[0], against=""),))
    assert "differences 1" not in tables(document(alone))
    assert "nothing to compare" in document(alone).headline


def test_chance_is_drawn_where_it_is_the_same_in_all_columns(result: ExperimentResult) -> None:
    hans, other = ResultColumn("first", "hans", {"heuristic": "constituent"}), ResultColumn("second", "mine")
    for columns, experiment, label in (
        ((hans,), "augmentation", "chance (50 %)"),
        ((other,), "distraction", "chance (33 %)"),
        ((hans, other), "merged-labels", "chance (50 %)"),
        ((hans, other), "augmentation", ""),
    ):
        table = replace(result.tables[0], columns=columns)
        chart = chart_of(document(replace(result, tables=(table,), experiment=experiment)), "table 1")
        assert (chart.reference.label if chart.reference else "") == label


def test_where_nothing_published_stands_in_the_tables_no_paper_is_cited(result: ExperimentResult) -> None:
    cited = "Published: McCoy et al. 2019"
    assert any(line.startswith(cited) for line in document(result).methods)
    alone = replace(result, scores=tuple(replace(one, published=None) for one in result.scores))
    assert not any(line.startswith(cited) for line in document(alone).methods)


def test_every_training_is_listed_with_the_epoch_that_was_kept(result: ExperimentResult) -> None:
    rows = tables(document(result))["every training"].rows
    assert rows[0] == Row("esim", (PLAIN, 0, 3, 2, 0.812, 1234.5))
    assert rows[1].cells[4] is None


def test_what_users_wrote_is_escaped_on_the_page(result: ExperimentResult) -> None:
    page = render_page(document(result))
    assert HOSTILE not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
