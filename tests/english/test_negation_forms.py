"""Negations, double negations and conjunctions, each written by hand."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.english.clauses import (
    Clause,
    clauses,
    conjoin,
    deny_truth,
    lower_first_word,
    negate_noun,
    negate_twice,
    negate_verb,
    negation,
)


def clause(text: str) -> Clause:
    found = clauses(pl.Series([text]), "light")[0]
    assert isinstance(found, Clause), found
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The man is asleep.", "The man is not asleep."),
        ("The boys were in the garden", "The boys were not in the garden"),
        ("He's sleeping.", "He's not sleeping."),
        ("I'm tired of it.", "I'm not tired of it."),
        ("They've eaten the bread.", "They have not eaten the bread."),
        ("She'll win the race.", "She will not win the race."),
        ("The dog can swim.", "The dog cannot swim."),
        ("Anna will win the race.", "Anna will not win the race."),
        ("He had eaten the bread.", "He had not eaten the bread."),
        ("The dog has a red collar.", "The dog does not have a red collar."),
        ("Two boys run outside.", "Two boys do not run outside."),
        ("The boy goes home.", "The boy does not go home."),
        ("The girl watches a film.", "The girl does not watch a film."),
        ("The boy carries a box.", "The boy does not carry a box."),
        ("The girl quickly left the room.", "The girl did not quickly leave the room."),
        ("The boy tried to sleep.", "The boy did not try to sleep."),
        ("The king chose a new sword.", "The king did not choose a new sword."),
        ("The man stopped the car.", "The man did not stop the car."),
        ("The man set the table.", "The man did not set the table."),
        ("He did his homework.", "He did not do his homework."),
    ],
)
def test_not_stands_at_the_verb_with_do_where_there_is_no_auxiliary(text: str, expected: str) -> None:
    assert negate_verb(clause(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A man is asleep.", "No man is asleep."),
        ("an old man in a hat sings", "no old man in a hat sings"),
        ("Someone is outside.", "No one is outside."),
        ("There is a dog on the beach.", "There is no dog on the beach."),
        ("There are dogs on the beach.", "There are no dogs on the beach."),
        ("There are two dogs.", None),
        ("The man is asleep.", None),
        ("Two men are asleep.", None),
    ],
)
def test_no_denies_indefinite_and_existential_sentences(text: str, expected: str | None) -> None:
    assert negate_noun(clause(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The man is asleep.", "It is not true that the man is not asleep."),
        ("Anna sings a song.", "It is not true that Anna does not sing a song."),
        ("I am tired.", "It is not true that I am not tired."),
        ("There is a dog.", "It is not false that there is a dog."),
        ("A man is asleep.", "It is not false that a man is asleep."),
        ("Two men are asleep", "It is not false that two men are asleep"),
    ],
)
def test_a_double_negation_says_what_the_sentence_says(text: str, expected: str) -> None:
    formed = negate_twice(clause(text))
    assert formed is not None
    assert formed.text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The man is asleep.", "the man is asleep"),
        ("Men are asleep.", "men are asleep"),
        ("Berlin is a large city.", "Berlin is a large city"),
        ("I am tired.", "I am tired"),
        ("American soldiers are in the camp.", "American soldiers are in the camp"),
        ("Bill is a large man.", "Bill is a large man"),
        ("Star Wars can be seen in theaters.", None),
    ],
)
def test_a_first_word_turns_small_unless_it_may_be_a_name(text: str, expected: str | None) -> None:
    assert lower_first_word(clause(text)) == expected


def test_two_sentences_are_joined_by_a_comma_and_and() -> None:
    assert conjoin(clause("a man is asleep"), clause("Two dogs are eating.")) == (
        "A man is asleep, and two dogs are eating."
    )


def test_a_denial_with_the_whole_sentence_in_its_scope() -> None:
    assert deny_truth(clause("Two dogs are eating.")) == "It is not true that two dogs are eating."


@pytest.mark.parametrize(
    ("premise", "text", "expected", "form"),
    [
        ("A man sleeps on a bench.", "A man is asleep.", "A man is not asleep.", "not"),
        ("A man sleeps while a woman sings.", "A man is asleep.", "No man is asleep.", "no"),
        ("Two men sleep.", "Two men are asleep.", "Two men are not asleep.", "not"),
        ("Three men sleep.", "Two men are asleep.", "It is not true that two men are asleep.", "not true"),
        ("A man sleeps.", "There is a man.", "There is no man.", "no"),
        ("A baby sleeps while a nurse reads.", "The child is asleep.", "The child is not asleep.", "not"),
    ],
)
def test_not_is_taken_where_the_subject_can_only_be_what_the_premise_tells_of(
    premise: str, text: str, expected: str, form: str
) -> None:
    formed = negation(clause(text), premise)
    assert formed is not None
    assert (formed.text, formed.form) == (expected, form)


@pytest.mark.parametrize(
    ("premise", "text", "expected"),
    [
        # New of the subject, so that denying the verb would deny what the premise says.
        ("A man sings.", "The sad man sings.", "It is not true that the sad man sings."),
        # New beside the verb.
        ("The man runs.", "The man runs to the bus.", "It is not true that the man runs to the bus."),
        ("The man runs.", "The man is tired.", "The man is not tired."),
        ("The man runs.", "A tall man is tired.", "No tall man is tired."),
    ],
)
def test_of_a_neutral_sentence_not_denies_only_what_is_new(premise: str, text: str, expected: str) -> None:
    formed = negation(clause(text), premise, focused=True)
    assert formed is not None
    assert formed.text == expected
