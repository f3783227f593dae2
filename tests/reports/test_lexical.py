"""Lexical inference on the terminal and on the page."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import Card, Kind
from acidtest.reports.html import Entry, page
from acidtest.reports.lexical import lexical_tables, systems, training_told, trend_told, vectors_told
from acidtest.reports.lexical_page import lexical_page
from acidtest.studies.lexical import Lexical, lexical
from acidtest.studies.lexical_rows import Training, Vectors

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


@pytest.fixture(scope="module")
def found() -> Lexical:
    return lexical([run("m", rows("lexical", "colours", 5), rows("breaking-nli", "colors", 19))])


def printed(found: Lexical) -> str:
    from rich.console import Console

    console = Console(width=130, highlight=False, emoji=False)
    with console.capture() as captured:
        for part in lexical_tables(found):
            console.print(part)
    return captured.get()


def test_categories_stand_beside_the_papers_numbers(found: Lexical) -> None:
    text = printed(found)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "lexical 32 pairs" in lines
    # 5 of 20; the paper's five systems on colors (table 4).
    assert any(re.fullmatch(r"colours 20 25\.0 \([\d.–]+\) 85 96\.1 87 98\.7 98\.3", line) for line in lines)
    assert any(re.fullmatch(r"colors 20 95\.0 \([\d.–]+\) 85 96\.1 87 98\.7 98\.3", line) for line in lines)
    assert any(re.fullmatch(r"rooms 12 100\.0 \([\d.–]+\) 59\.2 69\.4 63\.4 89\.9 77\.6", line) for line in lines)


def test_bins_have_their_sizes_word_pairs_and_published_numbers(found: Lexical) -> None:
    lines = [" ".join(line.split()) for line in printed(found).splitlines()]
    # Cosines from 0.5 in steps of 0.0153: seven below 0.6, as many pairs of words; Decomposable Attention's 46.2.
    assert any(re.fullmatch(r"0\.5–0\.6 7 7 71\.4 \([\d.–]+\) 46\.2", line) for line in lines)
    assert any(re.fullmatch(r"1–4 21 21 [\d.]+ \([\d.–]+\) 70\.6", line) for line in lines)
    assert sum(line.startswith("trend: ") for line in lines) == 4
    assert not any(line.startswith("unknown") for line in lines)


def test_published_and_fresh_pairs_are_compared(found: Lexical) -> None:
    text = " ".join(printed(found).split())
    assert "m published and fresh pairs" in text
    assert "all categories alike 97.5 62.5 +35.0" in text
    assert "runs of a model known to be clean (--reference)" in text


def test_drops_stand_beside_those_of_table_3() -> None:
    other = rows("snli", "", 20).drop("category", "premise_word", "hypothesis_word")
    held = run("m", rows("lexical", "colours", 5))
    original = Run(Header(ModelFacts("m", "m"), {"snli": Card("snli")}, {}), other)
    text = " ".join(printed(lexical([held, original], original="snli")).split())
    # 17 of 32 here, 32 of 32 there.
    assert re.search(r"m 100\.0 \([\d.–]+\) 53\.1 \([\d.–]+\) −46\.9 \(", text)
    assert "Decomposable Attention, SNLI 84.7 51.9 −32.8" in text
    assert "KIM, SNLI 88.6 83.5 −5.1" in text
    assert "WordNet baseline, SNLI" not in text


def test_training_and_vectors_are_told() -> None:
    train = Training("train", 10, 30, 4, 1, ("lilac", 0), ("red", 20), 7.5, 5.0)
    assert training_told(train) == (
        "Training set: train, 10 contradictions among 30 examples. Its 4 single replacement words stand in 0 (lilac) "
        "to 20 (red) examples, mean 7.5, median 5.0, 1 in none (published: 1 to 248,051, mean 3,663.1, median 149.5)."
    )
    assert vectors_told(Vectors("v.txt", 400_000, 9, 7)) == "Vectors: v.txt, 400,000 words; 7 of 9 words have one."


def test_a_trend_that_cannot_be_told_says_why() -> None:
    whole = lexical([run("m", rows("lexical", "colours", 20))]).found[0]
    assert whole.by_cosine
    assert trend_told(whole.by_cosine) == "no trend can be told: all rows agree"


def test_systems_are_those_of_the_suite() -> None:
    assert systems("lexical/*", "category")["KIM"]["colours"] == 0.983
    assert systems("lexical:each=2")["KIM"] == {"": 0.835}
    assert systems("mine") == {}


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
