"""Lexical inference on the page of a run."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import polars as pl
from acidtest.reports.lexical_page import describe_trend, lexical_page

from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import Card, Kind
from acidtest.reports.html import Entry, page
from acidtest.studies.lexical import lexical

COLUMNS: dict[str, Kind] = {
    "category": "factor",
    "premise_word": "text",
    "hypothesis_word": "text",
    "cosine": "covariate",
    "contradictions": "covariate",
}


def rows(suite: str, colours: str, right: int, rooms: int = 12) -> pl.DataFrame:
    """Twenty pairs of colours, of which some are right, and rooms, all right; every pair has words of its own."""
    categories = [colours] * 20 + ["rooms"] * rooms
    n = len(categories)
    correct = [number < right or category == "rooms" for number, category in enumerate(categories)]
    return pl.DataFrame(
        {
            "suite": suite,
            "id": [f"{suite}-{number}" for number in range(n)],
            "premise": [f"{suite} {number}" for number in range(n)],
            "hypothesis": ["h"] * n,
            "label": ["contradiction"] * n,
            "group": [f"{suite}-{number}" for number in range(n)],
            "category": categories,
            "premise_word": [f"a{suite}{number}" for number in range(n)],
            "hypothesis_word": [f"b{suite}{number}" for number in range(n)],
            "cosine": [0.5 + 0.49 * number / n for number in range(n)],
            "contradictions": [float(number % 3) for number in range(n)],
            "p_entailment": [0.0 if each else 1.0 for each in correct],
            "p_neutral": [0.0] * n,
            "p_contradiction": [1.0 if each else 0.0 for each in correct],
            "answer": ["contradiction" if each else "entailment" for each in correct],
            "correct": correct,
        }
    )


def run(model: str, *frames: pl.DataFrame, columns: dict[str, Kind] | None = None) -> Run:
    cards = {frame["suite"][0]: Card(frame["suite"][0], columns=columns or COLUMNS) for frame in frames}
    return Run(Header(ModelFacts(model, model), cards, {"limit": None}), pl.concat(frames))


def test_a_trend_that_cannot_be_told_says_why() -> None:
    whole = lexical([run("m", rows("lexical", "colours", 20))]).knowledge[0]
    assert whole.by_cosine
    assert describe_trend(whole.by_cosine) == "no trend can be told: all rows agree"


def entry(made: Run, toy: SimpleNamespace) -> Entry:
    results: dict[str, Any] = {name: toy.suite_result(by={"label": {}}) for name in made.header.suites}
    return Entry(made, {"suites": results, "diagnosis": []})


def test_the_page_has_a_section_with_table_and_charts(toy: SimpleNamespace) -> None:
    made = run("m", rows("lexical", "colours", 5), rows("breaking-nli", "colors", 19))
    text = page([entry(made, toy)])
    section = toy.section(text, "lexical")
    assert '<a href="#lexical">Lexical inference</a>' in text
    assert section.count('<figure class="chart"') == 2
    words = " ".join(re.sub(r"<[^>]+>", " ", section).split())
    assert "colors 25.0" in words
    assert "Glockner et al. 2018, table 4" in words
    assert "better on the published pairs" in words
    assert 'href="#examples?suite=lexical&amp;f.category=colours"' in section


def test_columns_are_told_apart_by_model_and_suite(toy: SimpleNamespace) -> None:
    one, two = (run(name, rows("lexical", "colours", 5)) for name in ("one", "two"))
    both = run("three", rows("lexical", "colours", 5), rows("breaking-nli", "colors", 5))
    alone, same, mixed = (
        lexical_page({made.header.model.name: entry(made, toy) for made in runs})
        for runs in ([one], [one, two], [one, both])
    )
    assert alone
    assert same
    assert mixed
    assert alone.columns == ("lexical",)
    assert same.columns == ("one", "two")
    assert mixed.columns == ("one, lexical", "three, lexical", "three, breaking-nli")
    # The paper's order; one line for ours and theirs.
    assert [line.value for line in mixed.categories.lines] == ["colors", "rooms", "whole suite"]


def test_without_measures_there_are_no_charts_and_without_lexical_suites_no_section(toy: SimpleNamespace) -> None:
    plain = rows("lexical", "fruits", 5).drop("cosine", "contradictions")
    columns: dict[str, Kind] = {"category": "factor", "premise_word": "text", "hypothesis_word": "text"}
    found = lexical_page({"m": entry(run("m", plain, columns=columns), toy)})
    assert found
    assert found.along == ()
    assert found.caption.endswith("the suites' own sections have 1 further category.")
    assert lexical_page({"m": toy.entry()}) is None
    assert 'id="lexical"' not in page([toy.entry()])
