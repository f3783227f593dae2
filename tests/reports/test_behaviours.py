"""Behaviour as a terminal shows it."""

from __future__ import annotations

from io import StringIO

import polars as pl
import pytest
from rich.console import Console

from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import CONTROL, Card, Kind, Suite
from acidtest.reports.behaviours import behaviour_tables
from acidtest.studies.behaviour import behaviours

COLUMNS: dict[str, Kind] = {"premise_word": "text", "hypothesis_word": "text"}


def shown(suite: str, answers: list[str]) -> str:
    """What is printed of a model that is right on the controls: a dog is an animal, and the other way round."""
    rows = []
    for name, one, two, gold in ((suite + CONTROL, "dog", "animal", "entailment"), (suite, "animal", "dog", "neutral")):
        own = name.endswith(CONTROL)
        for number, answer in enumerate(answers):
            given = gold if own else answer
            rows.append(
                {
                    "suite": name,
                    "id": f"{number}" if own else f"{number}-swapped",
                    "base_id": None if own else f"{number}",
                    "group": f"{number}",
                    "premise": f"A {one}.",
                    "hypothesis": f"A {two}.",
                    "label": gold,
                    "premise_word": one,
                    "hypothesis_word": two,
                    **{f"p_{label}": float(given == label) for label in ("entailment", "neutral", "contradiction")},
                }
            )
    frame = pl.DataFrame(rows, schema_overrides={"base_id": pl.String})
    cards = {name: Card(name, columns=COLUMNS) for name in (suite, suite + CONTROL)}
    train = pl.DataFrame({"premise": ["A dog."], "hypothesis": ["An animal."], "label": ["entailment"]})
    found = behaviours([Run(Header(ModelFacts("[m]", "[m]"), cards, {}), frame)], Suite(train.lazy(), Card("train")))
    console = Console(width=120, record=True, file=StringIO())
    for part in behaviour_tables(found):
        console.print(part)
    return console.export_text()


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_table_1_has_sizes_models_and_the_papers_numbers() -> None:
    told = lines(shown("swaps/hypernyms-ex-situ", ["neutral"] * 6 + ["entailment"] * 6))
    # No control goes against its polarity; every swapped pair is new to the training set.
    assert "number of pairs control 12 0" in told
    assert "swapped 12 12 12 12" in told
    assert "[m] control 100.0 (73.5–100.0) –" in told
    # Wilson for 6 of 12: 0.254 to 0.746.
    assert "swapped 50.0 (25.4–74.6) 50.0 (25.4–74.6) 50.0 (25.4–74.6) 50.0 (25.4–74.6)" in told
    # Table 1, row E_H and E_TH of the conditional encoder.
    assert "CE, published control 74.2 46.1" in told
    assert "swapped 53.4 51.6 47.2 50.7" in told


def test_contingency_tables_stand_under_their_factor() -> None:
    told = lines(shown("swaps/hypernyms-ex-situ", ["neutral"] * 6 + ["entailment"] * 6))
    start = told.index("Insensitivity (table 2): pairs whose gold changed, answered otherwise than before or not")
    assert told[start + 1 : start + 4] == ["correct incorrect", "change 6 0", "no change 0 6"]
    assert "published: CE G(1) = 175.19, DAM G(1) = 158.62, ESIM G(1) = 252.27" in told
    assert "Training set: train, 1 entailment, 0 neutral, 0 contradiction." in told


def test_a_suite_the_paper_has_not_stands_alone() -> None:
    told = shown("swaps/mine", ["neutral"] * 4)
    assert "published" not in told.replace("Published: ", "")
    assert "every one is neutral" in told


@pytest.mark.parametrize(("side", "numbers"), [("premise", "72.1 55.4"), ("hypothesis", "72.2 56.8")])
def test_proxies_of_each_side_stand_beside_their_sample(side: str, numbers: str) -> None:
    told = lines(shown(f"swaps/antonyms-proxy ({side})", ["neutral"] * 3 + ["entailment"] * 3))
    # Table 1, rows I_A, I_TA2 and I_TA3 of ESIM; section 6.1 tests one of the two samples, that of table 2.
    assert "ESIM, published control 97 90" in told
    assert f"swapped {numbers}" in told
    tested = "published: CE G(1) = 73.33, DAM G(1) = 108.3, ESIM G(1) = 175.34"
    assert (tested in told) == (side == "premise")
