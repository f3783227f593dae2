"""Counterparts of a hypothesis's words in the premise."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from acidtest.core.errors import AcidtestError
from acidtest.pairs import alignment
from acidtest.pairs.alignment import aligned_words


def aligned(premise: str | None, hypothesis: str | None, **options: Any) -> list[tuple[str, str, str]]:
    here, there = (pl.Series([text], dtype=pl.String) for text in (premise, hypothesis))
    return aligned_words(here, there, **options).select("word", "premise_word", "relation").rows()


def test_forms_of_one_word_are_the_same() -> None:
    assert aligned("Two dogs were running home.", "A dog ran.") == [
        ("dog", "dogs", "same"),
        ("ran", "running", "same"),
    ]


def test_a_word_is_aligned_with_a_synonym_or_something_more_special() -> None:
    assert aligned("A kid eats an apple.", "A child eats fruit.") == [
        ("child", "kid", "synonym"),
        ("eats", "eats", "same"),
        ("fruit", "apple", "hyponym"),
    ]


def test_what_is_more_special_or_new_has_no_counterpart() -> None:
    assert aligned("An animal eats.", "A sad dog eats.") == [
        ("sad", "", "none"),
        ("dog", "", "none"),
        ("eats", "eats", "same"),
    ]


def test_a_word_of_both_sentences_opposes_nothing() -> None:
    assert aligned("A man and a woman dance.", "A woman dances.") == [
        ("woman", "woman", "same"),
        ("dances", "dance", "same"),
    ]
    # "Men" is in both sentences, so it does not oppose "women".
    assert aligned("Men dance.", "Men and women dance.") == [
        ("men", "men", "same"),
        ("women", "", "none"),
        ("dance", "dance", "same"),
    ]


def test_antonyms_are_aligned_wherever_they_stand() -> None:
    assert aligned("The tall man who sang is inside.", "A short woman is outside.") == [
        ("short", "tall", "antonym"),
        ("woman", "man", "antonym"),
        ("outside", "inside", "antonym"),
    ]
    assert aligned("A small dog.", "A huge dog.", antonyms="direct") == [("huge", "", "none"), ("dog", "dog", "same")]


def test_co_hyponyms_between_the_same_words_exclude_one_another() -> None:
    assert aligned("A man plays a guitar.", "A man plays the violin.") == [
        ("man", "man", "same"),
        ("plays", "plays", "same"),
        ("violin", "guitar", "co-hyponym"),
    ]
    assert aligned("A man plays a guitar.", "A man plays the violin.", edges=1)[2] == ("violin", "", "none")


def test_co_hyponyms_elsewhere_exclude_one_another_in_one_field_only() -> None:
    # Both are artifacts first of all; a nurse and a runner are persons, who may be one.
    assert aligned("She sold a guitar to him.", "He bought a violin.")[-1] == ("violin", "guitar", "co-hyponym")
    assert aligned("A tall runner rests.", "A nurse rests today.")[0] == ("nurse", "", "none")


def test_expressions_of_two_words_are_looked_up_too() -> None:
    assert aligned("He is in the kitchen.", "He is in the dining room.") == [
        ("dining", "kitchen", "co-hyponym"),
        ("room", "kitchen", "hyponym"),
    ]
    assert aligned("She eats hot dogs.", "She eats a sandwich.") == [
        ("eats", "eats", "same"),
        ("sandwich", "hot dog", "hyponym"),
    ]


def test_function_words_clitics_and_repeated_words_are_left_out() -> None:
    assert aligned("The man's dog isn't here.", "It isn't his. That dog is the dog of a man's.") == [
        ("dog", "dog", "same"),
        ("man", "man", "same"),
    ]


def test_rows_stand_in_the_order_of_the_pairs_and_do_not_depend_on_one_another() -> None:
    premises = pl.Series(["A dog.", "A cat.", None, "", "A red car."])
    hypotheses = pl.Series(["A sweet cat.", "", "A cat.", "He is.", "A blue car."])
    assert aligned_words(premises, hypotheses).rows() == [
        (0, "sweet", "", "none"),
        (0, "cat", "dog", "co-hyponym"),
        (2, "cat", "", "none"),
        (4, "blue", "red", "co-hyponym"),
        (4, "car", "car", "same"),
    ]


def test_sentences_are_aligned_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    premises = pl.Series(["A dog ran.", "A kid eats an apple.", "", "He loves it.", "A small dog."])
    hypotheses = pl.Series(["A cat ran.", "A child eats fruit.", "A cat.", "He hates it.", "A huge dog."])
    whole = aligned_words(premises, hypotheses)
    monkeypatch.setattr(alignment, "_BLOCK", 1)
    assert aligned_words(premises, hypotheses).rows() == whole.rows()
    assert whole["row"].to_list() == [0, 0, 1, 1, 1, 2, 3, 4, 4]


def test_no_pairs_give_an_empty_frame_and_columns_of_different_length_are_refused() -> None:
    nothing = pl.Series([], dtype=pl.String)
    assert aligned_words(nothing, nothing).columns == ["row", "word", "premise_word", "relation"]
    with pytest.raises(AcidtestError, match="1 premises and 0 hypotheses are no pairs"):
        aligned_words(pl.Series(["a"]), nothing)
