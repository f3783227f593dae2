"""Sets of pairs without gold, with every pair of a set written out."""

from __future__ import annotations

import polars as pl

from acidtest import api
from acidtest.core.suite import Card, Suite, complete_columns

PAIRS = pl.DataFrame(
    {
        "premise": ["The tall man sleeps on a bench.", "The tall man sleeps on a bench.", "Girl in a park."],
        "hypothesis": ["The man is asleep.", "The man is happy.", "Where is she?"],
        "label": ["entailment", "neutral", "neutral"],
    }
)
WIDER = "not less entailment, not more contradiction"
NARROWER = "not less contradiction, not more entailment"
CONTRAPOSED = "not less entailment, not more entailment"


def suite(rows: pl.DataFrame = PAIRS, *, n: int | None = None) -> Suite:
    pairs = Suite(complete_columns(rows, "mine").lazy(), Card("mine")).sealed()
    return api.generate("consistency/sets", source=pairs, arguments={"tagger": "light"}, n=n)


def first_set(made: Suite) -> pl.DataFrame:
    frame = made.frame.collect()
    return frame.filter(pl.col("group") == frame["group"][0])


def test_a_third_sentence_gives_a_link_and_what_follows_from_it() -> None:
    rows = first_set(suite()).filter(law="transitivity", change="negation")
    link, conclusion = rows.select("premise", "hypothesis", "expectation").rows()
    third = "It is not the case that the man is asleep."
    assert link == ("The man is asleep.", third, None)
    assert conclusion == ("The tall man sleeps on a bench.", third, "transitive")
    assert rows["link"].to_list() == [None, rows["id"][0]]


def test_another_hypothesis_of_the_same_premise_is_a_third_sentence() -> None:
    rows = first_set(suite()).filter(change="other hypothesis")
    assert rows.select("premise", "hypothesis").rows() == [
        ("The man is asleep.", "The man is happy."),
        ("The tall man sleeps on a bench.", "The man is happy."),
    ]


def test_contraposition_negates_and_exchanges_both_sentences() -> None:
    assert first_set(suite()).filter(law="contraposition").select("premise", "hypothesis", "expectation").rows() == [
        (
            "It is not the case that the man is asleep.",
            "It is not the case that the tall man sleeps on a bench.",
            CONTRAPOSED,
        )
    ]


def test_a_wider_or_narrower_word_and_a_joined_sentence_are_monotone() -> None:
    rows = first_set(suite()).filter(law="monotonicity").select("change", "premise", "hypothesis", "expectation").rows()
    by_change = {change: rest for change, *rest in rows}
    assert by_change["wider word"] == ["The tall man sleeps on a bench.", "The person is asleep.", WIDER]
    assert by_change["narrower word"] == ["The tall man sleeps on a bench.", "The mailman is asleep.", NARROWER]


def test_a_premise_is_joined_to_a_sentence_of_another_pair() -> None:
    other = pl.DataFrame({"premise": ["Two dogs run."], "hypothesis": ["Two dogs move."], "label": ["entailment"]})
    rows = first_set(suite(pl.concat([PAIRS, other]))).filter(change="joined premise")
    assert rows.select("premise", "hypothesis", "expectation").rows() == [
        ("The tall man sleeps on a bench, and two dogs move.", "The man is asleep.", "not less entailment")
    ]


def test_no_pair_has_gold_and_a_set_is_a_group_that_starts_from_its_source_pair() -> None:
    made = suite()
    frame = made.frame.collect()
    assert made.control is not None
    assert set(frame["label"]) == {"any"}
    assert frame["group"].to_list() == frame["base_id"].to_list()
    assert set(frame["base_id"]) < set(made.control.frame.collect()["id"])


def test_questions_make_no_set_and_are_counted() -> None:
    assert suite().card.left_out["question"] == 1


def test_pairs_that_are_not_drawn_make_no_set() -> None:
    assert suite(PAIRS.head(2), n=1).frame.collect()["group"].n_unique() == 1
