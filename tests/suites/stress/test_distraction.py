from __future__ import annotations

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Card, Suite, complete_columns

PAIRS = pl.DataFrame(
    {
        "premise": ["The chef cooked soup in the kitchen.", "Two dogs ran."],
        "hypothesis": ["Somebody cooked.", "The dogs slept."],
        "label": ["entailment", "contradiction"],
        "genre": ["food", "animals"],
        "side": ["a", "b"],
    }
)


def corpus() -> Suite:
    card = Card("mine", columns={"genre": "factor", "side": "factor"})
    return Suite(complete_columns(PAIRS, "mine").lazy(), card).sealed()


def rows(name: str, **arguments: str) -> pl.DataFrame:
    return api.generate(name, source=corpus(), arguments=arguments).frame.collect()


def test_word_overlap_adds_a_tautology_to_the_hypothesis_and_keeps_all_else() -> None:
    frame = rows("stress/word-overlap")
    assert frame["premise"].to_list() == PAIRS["premise"].to_list()
    assert frame["hypothesis"].to_list() == ["Somebody cooked and true is true.", "The dogs slept and true is true."]
    assert frame["label"].to_list() == ["entailment", "contradiction"]
    assert frame["genre"].to_list() == ["food", "animals"]


def test_negation_adds_a_tautology_with_a_strong_negation_word() -> None:
    assert rows("stress/negation")["hypothesis"][0] == "Somebody cooked and false is not true."


def test_length_mismatch_adds_five_tautologies_to_the_premise() -> None:
    frame = rows("stress/length-mismatch")
    assert frame["premise"][1] == "Two dogs ran" + " and true is true" * 5 + "."
    assert frame["hypothesis"].to_list() == PAIRS["hypothesis"].to_list()


def test_the_control_holds_the_untouched_pairs_that_base_ids_point_to() -> None:
    suite = api.generate("stress/negation", source=corpus())
    assert suite.control is not None
    control = suite.control.frame.collect()
    assert suite.control.name == "stress/negation#control"
    assert control.select("premise", "hypothesis", "label").equals(PAIRS.select("premise", "hypothesis", "label"))
    frame = suite.frame.collect()
    assert frame["base_id"].to_list() == control["id"].to_list()
    assert frame["id"].to_list() == [f"{base}-false-1-end-hypothesis" for base in control["id"]]


def test_another_tautology_place_side_and_number_can_be_asked_for() -> None:
    frame = rows("stress/negation", tautology="green", place="start", side="both", repetitions="2")
    assert frame["premise"][1] == "Green is not red and green is not red and two dogs ran."
    assert frame["hypothesis"][1] == "Green is not red and green is not red and the dogs slept."


def test_more_than_twenty_repetitions_are_refused() -> None:
    with pytest.raises(AcidtestError, match="--repetitions is a number from 1 to 20, not 21"):
        rows("stress/length-mismatch", repetitions="21")


def test_faithful_is_refused_elsewhere_than_at_the_end() -> None:
    with pytest.raises(AcidtestError, match="--faithful does as the released script did, at the end"):
        rows("stress/negation", faithful="true", place="start")


def test_the_ladder_has_twenty_rungs_and_every_place_and_side() -> None:
    frame = rows("stress/ladder")
    # 28 rungs for the first pair; the second has no middle in either sentence, and no hypothesis has one.
    assert frame.filter(pl.col("base_id") == frame["base_id"][0]).height == 28 - 2
    assert frame.filter(pl.col("base_id") == frame["base_id"][1]).height == 28 - 3
    assert frame["repetitions"].cast(pl.Int32).unique().sort().to_list() == list(range(1, 21))
    assert set(frame["place"]) == {"start", "middle", "end"}


def test_a_column_of_the_corpus_that_a_suite_needs_for_itself_is_renamed() -> None:
    frame = api.generate("stress/ladder", source=corpus(), reading=api.Reading(keep=("side",))).frame.collect()
    assert set(frame["source_side"]) == {"a", "b"}
    assert set(frame["side"]) == {"premise", "hypothesis", "both"}


def test_a_union_has_the_untouched_and_the_changed_pairs() -> None:
    made = api.generate("stress/negation", source=corpus(), union=True)
    frame = made.frame.collect()
    assert made.control is None
    assert made.card.arguments["union"] is True
    assert frame["hypothesis"].to_list() == [
        "Somebody cooked.",
        "The dogs slept.",
        "Somebody cooked and false is not true.",
        "The dogs slept and false is not true.",
    ]
    assert frame["changed"].to_list() == ["no", "no", "yes", "yes"]


def test_there_is_no_union_without_untouched_pairs() -> None:
    with pytest.raises(AcidtestError, match="suite 'hans' has no untouched pairs"):
        api.generate("hans", n=1, union=True)
