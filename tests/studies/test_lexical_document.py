"""Lexical inference as a document: categories, bins, drops and memory, the paper's numbers beside them."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from acidtest.core.document import Chart, Document, Note, Published, Section, Table, tables, walk
from acidtest.core.estimate import Estimate
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import Card, Kind
from acidtest.render.html import render_page
from acidtest.studies.lexical import describe_training, document, lexical, published_accuracies
from acidtest.studies.lexical.knowledge import TrainingCounts, VectorCoverage

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
            "p_entailment": [0.0 if answer else 1.0 for answer in correct],
            "p_neutral": [0.0] * n,
            "p_contradiction": [1.0 if answer else 0.0 for answer in correct],
            "answer": ["contradiction" if answer else "entailment" for answer in correct],
            "correct": correct,
        }
    )


def run(model: str, *frames: pl.DataFrame, columns: dict[str, Kind] | None = None) -> Run:
    cards = {frame["suite"][0]: Card(frame["suite"][0], columns=columns or COLUMNS) for frame in frames}
    return Run(Header(ModelFacts(model, model), cards, {"limit": None}), pl.concat(frames))


@pytest.fixture(scope="module")
def shown() -> Document:
    return document(lexical([run("m", rows("lexical", "colours", 5), rows("breaking-nli", "colors", 19))]))


def cells(table: Table, name: str) -> list[object]:
    """The cells of a row as plain numbers."""
    row = next(row for row in table.rows if row.name == name)
    return [
        getattr(cell, "value", cell) if not isinstance(cell, Estimate) or cell.known else None for cell in row.cells
    ]


def test_categories_stand_beside_the_papers_numbers(shown: Document) -> None:
    fresh, published = (tables(shown)[f"{suite} categories"] for suite in ("lexical", "breaking-nli"))
    systems = ["Decomposable Attention", "ESIM", "Residual-Stacked-Encoder", "WordNet baseline", "KIM"]
    assert [column.name for column in fresh.columns] == ["pairs", "m", *systems]
    # 5 of 20; the paper's five systems on colors (table 4).
    assert cells(fresh, "colours") == [20, 0.25, 0.85, 0.961, 0.87, 0.987, 0.983]
    assert cells(published, "colors") == [20, 0.95, 0.85, 0.961, 0.87, 0.987, 0.983]
    assert cells(fresh, "rooms") == [12, 1.0, 0.592, 0.694, 0.634, 0.899, 0.776]
    assert fresh.sources[0] == "Glockner et al. 2018, table 4"
    assert fresh.rows[1].slice == {"suite": "lexical", "category": "colours"}
    assert shown.headline == "m is right in 53% of lexical, least on colours (25%)."


def test_bins_have_their_sizes_word_pairs_and_published_numbers(shown: Document) -> None:
    by_id = tables(shown)
    # Cosines from 0.5 in steps of 0.0153: seven below 0.6, as many pairs of words; Decomposable Attention's 46.2.
    assert cells(by_id["lexical cosine"], "0.5–0.6") == [7, 7, pytest.approx(5 / 7), 0.462]
    assert cells(by_id["lexical contradictions"], "1–4")[:2] == [21, 21]
    assert cells(by_id["lexical contradictions"], "1–4")[-1] == 0.706
    assert sum(name.endswith(" trend") for name in by_id) == 4
    assert not any(row.name == "unknown" for table in by_id.values() for row in table.rows)
    charts = [part.table for part in walk(shown.parts) if isinstance(part, Chart)]
    assert {"lexical categories", "lexical cosine", "lexical contradictions"} < set(charts)


def test_published_and_fresh_pairs_are_compared(shown: Document) -> None:
    (section,) = [
        part for part in shown.parts if isinstance(part, Section) and part.title == "m: published and fresh pairs"
    ]
    table = tables(shown)["m breaking-nli lexical"]
    alike = cells(table, "all categories alike")
    assert alike[:3] == [pytest.approx(0.975), pytest.approx(0.625), pytest.approx(0.35)]
    notes = [part.text for part in walk(section.parts) if isinstance(part, Note)]
    assert "better on the published pairs" in notes[0]
    assert any("runs of a model known to be clean (--reference)" in text for text in notes)


def test_a_reference_adds_its_excess(shown: Document) -> None:
    frames = rows("lexical", "colours", 5), rows("breaking-nli", "colors", 19)
    clean = run("clean", rows("lexical", "colours", 15), rows("breaking-nli", "colors", 19))
    result = lexical([run("m", *frames)], reference=[clean])
    table = tables(document(result))["m breaking-nli lexical"]
    assert [column.name for column in table.columns][-2:] == ["excess", "adjusted p of the excess"]
    # The reference is 20 points better on published colours, the model 70; rooms are alike: half of 50 points.
    assert cells(table, "all categories alike")[4] == pytest.approx(0.25)
    assert "the same difference of clean" in table.notes[0]


def test_drops_stand_beside_those_of_table_3() -> None:
    other = rows("snli", "", 20).drop("category", "premise_word", "hypothesis_word")
    original = Run(Header(ModelFacts("m", "m"), {"snli": Card("snli")}, {}), other)
    result = lexical([run("m", rows("lexical", "colours", 5)), original], original="snli")
    table = tables(document(result))["lexical drop"]
    # 17 of 32 here, 32 of 32 there.
    assert cells(table, "m")[:3] == [1.0, 17 / 32, 17 / 32 - 1]
    assert cells(table, "Decomposable Attention, SNLI")[:3] == [0.847, 0.519, pytest.approx(-0.328)]
    assert cells(table, "KIM, SNLI")[:3] == [0.886, 0.835, pytest.approx(-0.051)]
    assert "WordNet baseline, SNLI" not in [row.name for row in table.rows]


def test_training_set_and_vectors_are_described() -> None:
    train = TrainingCounts("train", 10, 30, 4, 1, ("lilac", 0), ("red", 20), 7.5, 5.0)
    assert describe_training(train) == (
        "Training set: train, 10 contradictions among 30 examples. Its 4 single replacement words stand in 0 (lilac) "
        "to 20 (red) examples, mean 7.5, median 5.0, 1 in none (published: 1 to 248,051, mean 3,663.1, median 149.5)."
    )
    result = lexical([run("m", rows("lexical", "colours", 5))])
    shown = document(replace(result, vectors=VectorCoverage("v.txt", 400_000, 9, 7)))
    assert shown.parts[-1] == Note("Vectors: v.txt, 400,000 words; 7 of 9 words have one.", quiet=True)


def test_a_trend_that_cannot_be_computed_says_why() -> None:
    table = tables(document(lexical([run("m", rows("lexical", "colours", 20))])))["lexical cosine trend"]
    assert table.notes == ("m: all rows agree",)


def test_published_accuracies_are_those_of_the_suite() -> None:
    assert published_accuracies("lexical/*", "category")["KIM"]["colours"] == Published(0.983)
    assert published_accuracies("lexical:each=2")["KIM"] == {"": Published(0.835)}
    assert published_accuracies("mine") == {}


def test_models_stand_side_by_side_and_their_names_are_escaped_on_the_page() -> None:
    hostile = "<script>alert(1)</script>"
    shown = document(lexical([run(hostile, rows("lexical", "colours", 5)), run("two", rows("lexical", "colours", 9))]))
    assert shown.headline == f"Accuracy on lexical is from 53% ({hostile}) to 66% (two)."
    assert [column.model for column in tables(shown)["lexical categories"].columns if column.model] == [hostile, "two"]
    assert hostile not in render_page(shown)


def test_without_measures_there_are_no_bins() -> None:
    plain = rows("lexical", "fruits", 5).drop("cosine", "contradictions")
    columns: dict[str, Kind] = {"category": "factor", "premise_word": "text", "hypothesis_word": "text"}
    shown = document(lexical([run("m", plain, columns=columns)]))
    assert list(tables(shown)) == ["lexical categories"]
