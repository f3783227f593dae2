"""Which contradictions hold the other way round, on sentences written for the purpose."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.english.sentences import Sentences
from acidtest.suites.consistency.reversal import adds_description, contradiction_doubts, shared_words


def contradiction_doubt(premise: str, hypothesis: str) -> str | None:
    hypotheses = pl.Series([hypothesis])
    clauses = Sentences.of(hypotheses, "light").clauses()
    return contradiction_doubts(pl.Series([premise]), hypotheses, clauses, "light")[0]


@pytest.mark.parametrize(
    ("premise", "hypothesis"),
    [
        ("A woman sits in a church.", "The woman stands in a church."),
        ("The soup is hot.", "It is not hot."),
        ("Three boys shout.", "Nobody is shouting."),
        ("Three boys shout.", "No one is shouting."),
        ("Three boys shout.", "There are no boys."),
        ("The paper publishes one letter a week.", "The paper does not publish any letters."),
        ("Some of the shops are closed.", "All the shops are open."),
        ("A tall man sleeps on a bench.", "A man is running."),
        ("Two men sleep.", "Two men are running."),
        ("Kowalczyk left the party early.", "Kowalczyk stayed until the end."),
    ],
)
def test_a_firm_hypothesis_about_the_same_things_contradicts_its_premise_in_turn(premise: str, hypothesis: str) -> None:
    assert contradiction_doubt(premise, hypothesis) is None


@pytest.mark.parametrize(
    ("premise", "hypothesis", "reason"),
    [
        ("Two women sit in a church.", "People stand in a church.", "subject not definite"),
        ("The tax matters to firms.", "The tax may not matter to firms.", "modality"),
        ("The tax hardly matters.", "They can feel the tax.", "modality"),
        ("The tax might be raised.", "The tax was lowered.", "modality"),
        ("The tax is small.", "The minister thinks the tax is large.", "attitude"),
        ("The cup is blue and nothing else.", "The cup is not only blue.", "negation of a part"),
        ("All the shops are closed.", "The shops are not all closed.", "negation of a part"),
        ("A girl plays the guitar.", "A girl is not playing the guitar.", "subject not definite"),
        ("A man drinks beside a woman.", "A child is sitting there.", "subject not definite"),
        ("A man waves to a man.", "A man is asleep.", "subject not definite"),
        ("There is no dog.", "There is a dog.", "subject not definite"),
        ("The net cost of operations.", "The gross cost.", "subject not definite"),
        ("They had not heard of the misery.", "You are aware of the misery.", "subject not definite"),
        ("There is no dog.", "Someone has a dog.", "subject not definite"),
        ("The dog saw the cat and ran.", "The cat saw the dog.", "the same words"),
    ],
)
def test_a_hypothesis_that_leaves_room_does_not_rule_its_premise_out(
    premise: str, hypothesis: str, reason: str
) -> None:
    assert contradiction_doubt(premise, hypothesis) == reason


def test_shared_words_are_counted_in_any_form_and_without_function_words() -> None:
    # "dog" and "bark" are shared, "loudly" is not.
    assert shared_words("Two dogs barked at the cat.", "The dog is barking loudly.") == pytest.approx(2 / 3)
    assert shared_words("Two dogs barked.", "It is.") == 0.0


@pytest.mark.parametrize(
    ("hypothesis", "adds"),
    [
        ("The zoo is on a giant hill.", True),
        ("The zoo is on a steep hill.", False),
        ("The zoo is popular.", False),
    ],
)
def test_an_adjective_before_a_noun_may_say_more_than_the_premise(hypothesis: str, adds: bool) -> None:
    (clause,) = Sentences.of(pl.Series([hypothesis]), "light").clauses()
    assert not isinstance(clause, str)
    assert adds_description(clause, "On the slopes of the steep hill you will find the zoo.") is adds
