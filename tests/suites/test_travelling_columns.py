"""Which columns of a corpus travel onto the pairs that a suite makes from it."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Suite

HEADER = [
    *("context", "statement", "reason", "adversary_pred", "gold_label", "uid", "round", "genre", "A1Notes", "tags"),
    *("preds-roberta-from-r2", "preds-roberta-from-r2PredLabel", "annotator_labels"),
]
TEXTS = [
    ("The old baker sold 14 loaves on Friday. The hot soup is on the stove.", "The old baker sold a few loaves."),
    ("A tall man in a red hat is waving at the bus.", "A short man is waving at the bus."),
    ("Priya Nair bought 12 hot pies in London.", "Priya Nair bought 12 cold pies in London."),
    ("The young teacher opened the door of the kitchen.", "The teacher is a woman who likes music."),
]
SUITES = (
    "stress/negation",
    "stress/ladder",
    "stress/spelling",
    "stress/antonymy",
    "stress/numerical",
    "lexical",
    "consistency",
    "length-ladder",
    "swaps/antonyms-in-situ",
)
OF_THE_OLD_PAIR = {
    "reason",
    "adversary_pred",
    "A1Notes",
    "tags",
    "preds-roberta-from-r2",
    "preds-roberta-from-r2PredLabel",
    "annotator_labels",
}


@pytest.fixture(name="anli")
def fixture_anli(tmp_path: Path) -> Suite:
    """Pairs of our own in the layout of ANLI's annotated development sets."""
    path = tmp_path / "annotated.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for number, (context, statement) in enumerate(TEXTS * 3):
            gold = "nccee"[number % 4]
            guess = ("[0.7, 0.2, 0.1]", "e") if number % 2 else ("[0.1, 0.2, 0.7]", "c")
            tags = "['Tricky', 'Reasoning']" if number % 3 else "['Basic']"
            row = [f"{context} {number} times." if number > 3 else context, statement, f"because {number}", "e", gold]
            row += [f"uid-{number}", f"r{number % 3}", "wiki" if number % 2 else "news", "", tags, *guess, '["c", "n"]']
            writer.writerow(row)
    return api.load(path)


@pytest.mark.parametrize("name", SUITES)
def test_what_was_said_of_a_pair_stays_with_the_pair(anli: Suite, name: str) -> None:
    made = api.generate(name, source=anli, arguments={"assume": "paper"} if name.startswith("swaps") else {})
    names = set(made.frame.collect_schema().names())
    assert not OF_THE_OLD_PAIR & names
    assert not OF_THE_OLD_PAIR & set(made.card.columns)
    assert {"round", "genre", "source_id"} <= names
    assert made.card.columns["genre"] == made.card.columns["round"] == "factor"
    assert made.frame.select(pl.col("round").null_count()).collect().item() == 0


@pytest.mark.parametrize("name", ["stress/negation", "swaps/antonyms-in-situ"])
def test_the_untouched_pairs_keep_every_column(anli: Suite, name: str) -> None:
    made = api.generate(name, source=anli, arguments={"assume": "paper"} if name.startswith("swaps") else {})
    assert made.control is not None
    assert set(made.control.card.columns) >= OF_THE_OLD_PAIR
    assert set(made.control.frame.collect_schema().names()) >= OF_THE_OLD_PAIR


def test_a_user_names_further_columns_that_still_hold(anli: Suite) -> None:
    made = api.generate("stress/negation", source=anli, reading=api.Reading(keep=("adversary_pred",)))
    assert "adversary_pred" in made.card.columns
    assert "reason" not in made.card.columns


def test_a_column_to_keep_that_the_corpus_does_not_have_is_refused(anli: Suite) -> None:
    with pytest.raises(AcidtestError, match=r"no column called 'reasons'; did you mean 'reason'\? \(--keep-"):
        api.generate("stress/negation", source=anli, reading=api.Reading(keep=("reasons",)))


def test_strata_and_crossings_go_with_their_columns() -> None:
    hans = api.generate("hans", n=2)
    made = api.generate("stress/negation", source=hans)
    assert made.card.strata == ()
    assert made.card.crossings == ()
    assert made.control is not None
    assert made.control.card.strata == ("subcase", "template")
    kept = api.generate("stress/negation", source=hans, reading=api.Reading(keep=("subcase",)))
    assert kept.card.strata == ("subcase",)
