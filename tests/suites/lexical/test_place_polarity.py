"""The polarity of a place where nothing speaks against it."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.english.sentences import Sentences, find_occurrences
from acidtest.suites.lexical.place_limits import polarities
from acidtest.suites.lexical.substitution import surfaces


def polarity(text: str, category: str = "hypernyms", word: str = "dog") -> tuple[str, bool, str | None]:
    """Polarity, asserted and reason of a word in a text."""
    sentences = Sentences.of(pl.Series([text]), "light")
    places = find_occurrences(sentences, surfaces((category,))).filter(item=word).unique("first")
    row: tuple[str, bool, str | None] = polarities(sentences, places).row(0)
    return row


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A girl saw a dog.", ("up", True, None)),
        ("There is no dog in the yard.", ("down", True, None)),
        ("A girl is not holding a dog.", ("down", True, None)),
        ("Every dog is asleep.", ("down", True, None)),
        ("Little boy holding a dog.", ("up", True, None)),
        # The same dog, whatever it is called.
        ("A girl is not holding the dog.", ("none", False, None)),
        ("All of the girls have a dog.", ("up", True, None)),
        ("She has a hard time finding a dog that fits.", ("none", False, None)),
        ("They banned every big dog.", ("none", False, None)),
        ("Well, a girl saw a dog.", ("none", False, None)),
        ("A girl might see a dog.", ("up", False, None)),
        ("When they saw a dog, the girls left.", ("up", False, None)),
    ],
)
def test_the_polarity_of_a_place_and_whether_it_is_asserted(text: str, expected: tuple[str, bool, str | None]) -> None:
    assert polarity(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Did a girl see a dog?", "question"),
        ("Do I have the nerve to hold a dog and a cat?", "question"),
        ('She said "a dog is asleep" and left.', "quotation"),
        ("He wrote `all that has a dog is good'.", "quotation"),
    ],
)
def test_questions_and_quotations_are_left_alone(text: str, reason: str) -> None:
    assert polarity(text)[2] == reason


def test_names_of_places_and_fixed_expressions_are_replaced_whole() -> None:
    assert polarity("They met in France.", "countries", "France") == ("up", True, None)
    assert polarity("They met in front of a house.", "antonyms", "in front of") == ("up", True, None)
