from __future__ import annotations

import polars as pl
import pytest

from acidtest.english.monotonicity import fits_beside, reveals_sex, suits_modifier
from acidtest.english.sentences import Sentences


def place(text: str, noun: str) -> dict[str, str | None]:
    return Sentences.of(pl.Series([text]), "light").polarity(pl.Series([text.index(noun)])).row(0, named=True)


@pytest.mark.parametrize(
    ("text", "noun", "kind"),
    [
        ("A dog is sleeping under the table.", "dog", "one"),
        ("The man is washing the dog.", "dog", "known"),
        ("A black dog is running.", "dog", "one"),
        ("A group of men are sitting outside.", "men", "plural"),
        ("The boy is grilling steak.", "steak", "bare"),
        ("Two dogs are playing.", "dogs", "plural"),
        ("Some dogs are playing.", "dogs", "plural"),
        ("Several dogs are playing.", "dogs", "plural"),
        ("Women are singing in a church.", "Women", "plural"),
        ("Women singing in a church.", "Women", "plural"),
        ("A young man is running.", "man", "one"),
        ("A Danish man is running.", "man", "one"),
        ("The man with something in his mouth is washing a dog.", "dog", "one"),
    ],
)
def test_a_plain_place_is_upward(text: str, noun: str, kind: str) -> None:
    found = place(text, noun)
    assert (found["doubt"], found["kind"], found["polarity"]) == (None, kind, "up")


@pytest.mark.parametrize(
    ("text", "noun"),
    [("There is no dog in the yard.", "dog"), ("There are no people walking.", "people"), ("No dogs.", "dogs")],
)
def test_a_place_under_one_negation_is_downward(text: str, noun: str) -> None:
    found = place(text, noun)
    assert (found["doubt"], found["polarity"]) == (None, "down")


@pytest.mark.parametrize(
    ("text", "noun", "doubt"),
    [
        ("The man is not washing the dog.", "dog", "negation"),
        ("The man who has no cat is washing a dog.", "dog", "negation"),
        ("The dog chased every cat.", "dog", "quantifier"),
        ("The author is a fan of dogs.", "dogs", "attitude"),
        ("One dog is playing while two cats sleep.", "dog", "counted"),
        ("All dogs chase the man.", "dogs", "downward"),
        ("A young women is running.", "women", "not in agreement"),
        ("The weapons in the house are handguns.", "weapons", "tied to its context"),
        ("The dog ran 5 miles.", "dog", "measure"),
        ("The dog is bigger.", "dog", "superlative or comparative"),
        ("He slept after the lunch.", "lunch", "time boundary"),
        ("A man might see the dog.", "dog", "modality"),
        ("A small dog is running.", "dog", "described"),
        ("A dog and a cat are playing.", "dog", "in a list"),
        ("A player in a baby blue uniform is running.", "baby", "part of a compound"),
        ("The airport is void of people.", "people", "negation"),
        ("The people are adults.", "people", "tied to its context"),
        ("Children are swimming in a boy of water.", "boy", "of something"),
        ("A police dog is running.", "dog", "part of a compound"),
        ("Dogs like bones.", "Dogs", "said of all"),
        ("Her dog is running.", "dog", "owned"),
        ("This is an official boxing match", "official", "part of a compound"),
        ("A dog is barking at a ball.", "dog", "tied to its context"),
        ("She visited it in person.", "person", "in person"),
    ],
)
def test_other_places_are_doubted(text: str, noun: str, doubt: str) -> None:
    found = place(text, noun)
    assert (found["doubt"], found["polarity"]) == (doubt, None)


def test_a_sex_told_elsewhere_matters_where_the_words_tell_one() -> None:
    texts = pl.Series(["A person and her dog.", "A man has a dog.", "A person sits.", "The person is male."])
    words, others = pl.Series(["person", "dog", "person", "person"]), pl.Series(["man", "animal", "man", "girl"])
    assert reveals_sex(texts, words, others).to_list() == [True, False, False, True]


def test_a_noun_must_suit_the_adjective_before_it() -> None:
    modifiers = pl.Series(["old", "old", "greek", "greek", "black", "two"])
    lemmas = pl.Series(["puppy", "man", "food", "person", "puppy", "puppy"])
    assert suits_modifier(modifiers, lemmas).to_list() == [False, True, False, True, True, True]


def test_persons_are_countable_and_other_nouns_only_where_they_were_counted() -> None:
    kinds, others = pl.Series(["one", "one", "known", "bare"]), pl.Series(["bare", "bare", "known", "bare"])
    lemmas = pl.Series(["food", "boy", "food", "food"])
    assert fits_beside(kinds, others, lemmas).to_list() == [False, True, True, True]
