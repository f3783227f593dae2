"""What the terminal shows."""

from __future__ import annotations

import io
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from rich.console import Console

from acidtest.core.estimate import Estimate
from acidtest.reports.tables import comparison_tables, contamination_tables, scorecard
from acidtest.studies.comparison import Contrast


def printed(parts: list[Any]) -> str:
    console = Console(file=io.StringIO(), width=110, highlight=False)
    for part in parts:
        console.print(part)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return text


def contamination(toy: SimpleNamespace, **fields: Any) -> dict[str, Any]:
    cells = [
        {"words": words, "templates": "published", "suite": "hans", "slices": {"[all] pairs": toy.estimate(value)}}
        for words, value in (("published", 0.91), ("fresh", 0.87))
    ]
    contrast = {"slice": "[all] pairs", "name": "words", "question": "Does it?"}
    contrast |= {"difference": toy.estimate(0.04, 0.02, 0.06), "p": 0.01, "p_adjusted": 0.03}
    contrast |= {"reference": None, "excess": None, "excess_p": None, "excess_p_adjusted": None}
    found = {"model": "a-model", "reference": None, "cells": cells, "contrasts": [contrast], "verdict": "knows words"}
    return found | {"can": ["show [this]"], "cannot": ["show that"]} | fields


def test_contamination_on_a_terminal_has_corners_contrasts_verdict_and_limits(toy: SimpleNamespace) -> None:
    text = printed(contamination_tables(contamination(toy)))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[:2] == ["a-model contamination", "knows words"]
    assert "[all] pairs published 91.0 % –" in lines
    assert "fresh 87.0 % –" in lines
    assert "words [all] pairs +4.0 (+2.0 to +6.0) 0.0300" in lines
    assert "words: Does it?" in lines
    assert "✓ show [this]" in lines
    assert "✗ show that" in lines
    assert "excess" not in text


def test_a_reference_adds_its_difference_and_the_excess(toy: SimpleNamespace) -> None:
    (contrast,) = contamination(toy)["contrasts"]
    beside = {"reference": toy.estimate(0.01, 0.0, 0.02), "excess": toy.estimate(0.03, 0.01, 0.05)}
    found = contamination(toy, reference="clean", contrasts=[contrast | beside | {"excess_p_adjusted": 0.5}])
    lines = [" ".join(line.split()) for line in printed(contamination_tables(found)).splitlines()]
    assert "words [all] pairs +4.0 (+2.0 to +6.0) 0.0300 +1.0 +3.0 (+1.0 to +5.0) 0.5000" in lines
    assert "reference: clean" in lines


def test_values_that_look_like_markup_are_printed_as_they_are(toy: SimpleNamespace) -> None:
    half = toy.estimate(0.5, 0.4, 0.6)
    by = {"label": {"[/]": half, "[bold]b": half}, "[v] × label": {"[/x] × neutral": half}}
    results = {"model": {"name": "m"}, "suites": {"toy": toy.suite_result(by=by)}, "diagnosis": []}
    text = printed(scorecard(results))
    assert "[/] " in text
    assert "[bold]b" in text
    assert "[/x]" in text
    change = Estimate(0.1, 0.0, 0.2, 9, 9)
    one = Contrast("toy", "[/a]", "b", "", "", (0.5, 0.6), change, True, "McNemar", 0.5, 0.5, 0.1)
    shown = printed(comparison_tables([one, replace(one, factor="voice", value="[/y]")], by=["voice"]))
    assert "b − [/a]" in shown
    assert "[/y]" in shown
