from __future__ import annotations

import polars as pl
import pytest

from acidtest.text.monotonicity import reveals_sex
from acidtest.text.sentences import Sentences


def place(text: str, noun: str) -> tuple[str | None, str]:
    doubt, kind = Sentences.of(pl.Series([text]), "light").polarity(pl.Series([text.index(noun)])).row(0)
    return doubt, kind


@pytest.mark.parametrize(
    ("text", "noun", "kind"),
    [
        ("A dog is sleeping under the table.", "dog", "one"),
        ("The man is washing the dog.", "dog", "known"),
        ("A black dog is running.", "dog", "one"),
        ("A group of men are sitting outside.", "men", "plural"),
        ("The boy is grilling steak.", "steak", "bare"),
    ],
)
def test_a_plain_place_is_upward(text: str, noun: str, kind: str) -> None:
    assert place(text, noun) == (None, kind)


@pytest.mark.parametrize(
    ("text", "noun", "doubt"),
    [
        ("There is no dog in the yard.", "dog", "negation"),
        ("The dog chased every cat.", "dog", "quantifier"),
        ("Two dogs are playing.", "dogs", "counted"),
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
    assert place(text, noun)[0] == doubt


def test_a_sex_told_elsewhere_matters_where_the_words_tell_one() -> None:
    texts = pl.Series(["A person and her dog.", "A man has a dog.", "A person sits."])
    found = reveals_sex(texts, pl.Series(["person", "dog", "person"]), pl.Series(["man", "animal", "man"]))
    assert found.to_list() == [True, False, False]
