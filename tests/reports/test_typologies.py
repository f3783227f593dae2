"""Errors by category as a person reads them, and as a chart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from acidtest.core.errors import FileError
from acidtest.core.estimate import Estimate
from acidtest.reports.typologies import agreement_tables, typology_chart, typology_tables, write_typology_chart
from acidtest.studies.errors.samples import Decisions
from acidtest.studies.error_typology import Typology; from acidtest.studies.errors import error_agreement, count_categories


def decisions(*rows: tuple[str, str | None]) -> Decisions:
    frame = pl.DataFrame(rows, schema={"proposed": pl.String, "category": pl.String}, orient="row")
    ids = pl.int_range(pl.len()).cast(pl.String).alias("id")
    return Decisions(Path("errors.tsv"), frame.with_columns(ids, suite=pl.lit("s")), ("s|v:1",))


def shown(parts: list[object]) -> list[str]:
    console = Console(width=110, record=True)
    for part in parts:
        console.print(part)
    return [" ".join(line.split()) for line in console.export_text().splitlines()]


def sorted_errors() -> Typology:
    return count_categories(decisions(("negation", "negation"), ("negation", "unknown"), ("unknown", None)))


def test_what_people_decided_stands_beside_proposals_and_the_paper() -> None:
    lines = shown(typology_tables(sorted_errors()))
    assert lines[0] == "errors.tsv 3 errors, 2 sorted"
    assert lines[1] == "category errors share 95 % interval proposed kept matched mismatched"
    # Wilson's interval for 1 of 2.
    assert "negation 1 50.0 % 9.5–90.5 66.7 % 1 of 2 13 % 12 %" in lines
    assert "kept: proposals that people agreed with, 1 of 2 in all" in lines
    assert lines[-1] == "s|v:1"


def test_proposals_alone_are_called_so() -> None:
    lines = shown(typology_tables(count_categories(decisions(("negation", None), ("unknown", None)))))
    assert lines[0] == "errors.tsv 2 errors, none sorted by a person yet"
    assert lines[1] == "category proposed share 95 % interval matched mismatched"
    assert "unknown 1 50.0 % 9.5–90.5 26 % 20 %" in lines


def test_agreement_is_told_with_what_was_left_out() -> None:
    first = decisions(("unknown", "negation"), ("unknown", "antonymy"), ("unknown", None))
    second = decisions(("unknown", "negation"), ("unknown", "unknown"), ("unknown", "unknown"))
    lines = shown(agreement_tables(error_agreement(first, second)))
    assert "2 errors sorted by both" in lines
    assert "agreement 50.0 % (9.5–90.5)" in lines
    # Chance: 1/2 * 1/2 for negation, nothing else in common.
    assert any(line.startswith("Cohen's kappa 0.33 (") for line in lines)
    assert "negation 1 1 1" in lines
    assert "left out: 0 sorted by the first person only, 1 by the second only" in lines


def test_the_chart_has_a_bar_and_two_marks_for_each_category() -> None:
    bars, rules, marks = typology_chart(sorted_errors())["layer"]
    assert [bar["category"] for bar in bars["data"]["values"]][:2] == ["word overlap", "negation"]
    assert bars["data"]["values"][1]["share"] == 0.5
    assert rules["data"]["values"][1]["low"] == pytest.approx(0.0945, abs=1e-4)
    assert len(marks["data"]["values"]) == 18


def test_a_chart_of_proposals_says_that_it_is() -> None:
    bars = typology_chart(count_categories(decisions(("negation", None))))["layer"][0]
    assert bars["encoding"]["x"]["axis"]["title"] == "share of errors, as proposed by rules"


def test_charts_are_written_by_ending(tmp_path: Path) -> None:
    write_typology_chart(sorted_errors(), tmp_path / "c.svg")
    assert "world knowledge" in (tmp_path / "c.svg").read_text(encoding="utf-8")
    write_typology_chart(sorted_errors(), tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(FileError, match=r"c.pdf: the ending .pdf says no picture; use .svg or .png"):
        write_typology_chart(sorted_errors(), tmp_path / "c.pdf")


def test_prefilled_categories_are_not_said_to_be_peoples() -> None:
    found = count_categories(decisions(("negation", "negation"), ("unknown", "unknown")))
    lines = shown(typology_tables(found))
    assert lines[0] == "errors.tsv 2 errors, prefilled"
    assert lines[1] == "category proposed share 95 % interval matched mismatched"
    assert "prefilled with the proposals; nobody has changed one yet" in lines
    assert not any("kept" in line or "sorted" in line for line in lines)
    assert "as proposed by rules" in str(typology_chart(found))
    assert found.to_json()["prefilled"] is True


def test_a_kappa_just_below_0_has_no_sign() -> None:
    found = error_agreement(*[decisions(("unknown", "negation"), ("unknown", "unknown"))] * 2)
    lines = shown(agreement_tables(replace(found, kappa=Estimate(0.17, -0.004, -0.25))))
    assert "Cohen's kappa 0.17 (0.00 to −0.25)" in lines


def test_errors_on_made_pairs_stand_apart_and_beside_nothing_published() -> None:
    both = decisions(("negation", None), ("unknown", None), ("word overlap", None))
    materials = pl.Series("material", ["natural", "natural", "synthetic"])
    found = count_categories(replace(both, frame=both.frame.with_columns(materials)))
    assert (found.rows, found.material) == (2, "natural")
    assert found.synthetic is not None
    assert (found.synthetic.rows, found.synthetic.published) == (1, ())
    lines = shown(typology_tables(found))
    # One of two natural errors (Wilson), one of one synthetic (Clopper–Pearson).
    assert "negation 1 50.0 % 9.5–90.5 13 % 12 %" in lines
    assert "word overlap 1 100.0 % 2.5–100.0" in lines
    assert "On pairs that rules made: 1 error" in lines
    assert "the published shares are of errors on MultiNLI's pairs as they are: none stands beside these" in lines
    assert found.to_json()["synthetic"]["rows"] == 1


def test_proposals_beside_shares_sorted_by_hand_say_so() -> None:
    told = " ".join(shown(typology_tables(count_categories(decisions(("negation", None))))))
    assert "judged by hand there, proposed by rules here" in told
    assert "judged by hand" not in " ".join(shown(typology_tables(sorted_errors())))
