"""The finite verb of the main clause: found, negated, and freed of a negation."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.english.clauses import (
    Predicate,
    finite_form,
    insert_negation,
    main_predicate,
    past_form,
    remove_negation,
)
from acidtest.english.sentences import Sentences


def predicate_of(text: str) -> Predicate | str:
    sentences = Sentences.of(pl.Series([text]), "light")
    [(_, tokens, tags, starts, ends)] = sentences.by_text("token", "tag", "start", "end")
    return main_predicate(text, tokens, tags, starts, ends)


def predicate(text: str) -> Predicate:
    result = predicate_of(text)
    assert isinstance(result, Predicate), result
    return result


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("The ferry left the harbour at six.", "The ferry did not leave the harbour at six."),
        ("The bridge is longer than the tunnel.", "The bridge is not longer than the tunnel."),
        ("The clinic can treat forty patients.", "The clinic cannot treat forty patients."),
        ("Anna Berg has paid the fine.", "Anna Berg has not paid the fine."),
        ("The museum has two gardens.", "The museum does not have two gardens."),
        ("In 2019 the council bought the mill.", "In 2019 the council did not buy the mill."),
        (
            "Anna Berg designed the gates that the firm built.",
            "Anna Berg did not design the gates that the firm built.",
        ),
        ("The price of a lunch will rise in May.", "The price of a lunch will not rise in May."),
    ],
)
def test_a_negation_is_put_at_the_verb_of_the_main_clause(text: str, negated: str) -> None:
    assert insert_negation(predicate(text)) == negated


@pytest.mark.parametrize(
    ("text", "affirmed"),
    [
        ("The ferry did not leave at six.", "The ferry left at six."),
        ("The lamp doesn't need a battery.", "The lamp needs a battery."),
        ("The museum has not been sold.", "The museum has been sold."),
        ("The board has not yet decided.", "The board has already decided."),
        ("The valve cannot be closed.", "The valve can be closed."),
        ("The pump must not be opened.", "The pump may be opened."),
        ("The theory has never been tested.", "The theory has been tested."),
        ("The soup contains no meat.", "The soup contains some meat."),
    ],
)
def test_a_negation_is_taken_from_the_verb(text: str, affirmed: str) -> None:
    assert remove_negation(predicate(text)) == affirmed


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Some of the users paid the fee.", "quantified or indefinite subject"),
        ("A storm damaged the roof.", "quantified or indefinite subject"),
        ("No member left the club.", "quantified or indefinite subject"),
        ("Young men are sleeping in the park.", "quantified or indefinite subject"),
        ("The baker first sold bread in 1901.", "adverb before the verb"),
    ],
)
def test_a_negated_verb_is_no_opposite_after_such_a_subject(text: str, reason: str) -> None:
    assert predicate(text).subject_problem == reason


@pytest.mark.parametrize("text", ["The fund sold the mill.", "Anna Berg sang.", "She sang.", "Water expands."])
def test_a_definite_subject_has_no_problem(text: str) -> None:
    assert predicate(text).subject_problem is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Because it rained, the match was cancelled.", "no plain subject and finite verb"),
        ("A quiet evening in the park.", "no plain subject and finite verb"),
        ("The lamps is broken.", "subject and verb do not agree"),
        ("The boat sailed yesterday sank.", "several clauses"),
    ],
)
def test_sentences_with_an_uncertain_verb_are_left_alone(text: str, reason: str) -> None:
    assert predicate_of(text) == reason


def test_a_participle_in_the_subject_is_not_its_verb() -> None:
    assert predicate("The patients questioned by the doctor felt better.").word == "felt"


def test_a_second_verb_joined_by_and_is_seen() -> None:
    assert predicate("The line opened in 2008 and carried many passengers.").joins_verbs
    assert not predicate("The line carried passengers and goods.").joins_verbs


def test_forms_agree_with_their_subject() -> None:
    assert [finite_form("serve", plural=plural) for plural in (True, False)] == ["serve", "serves"]
    assert [finite_form("be", plural=plural) for plural in (True, False)] == ["are", "is"]
    assert [past_form("been", plural=plural) for plural in (True, False)] == ["were", "was"]
    assert past_form("taken", plural=False) == "took"
    assert past_form("zzz", plural=False) is None


def test_a_verb_that_may_be_past_or_present_is_not_negated() -> None:
    assert insert_negation(predicate("I put 75 dollars on the horse.")) is None
    assert insert_negation(predicate("I like the horse.")) == "I do not like the horse."
