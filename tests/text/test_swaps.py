from __future__ import annotations

import polars as pl
import pytest

from acidtest.text.swap_pairs import Relation, wordnet_pairs
from acidtest.text.swaps import Swaps, inflected, swaps


def found(premise: str, hypothesis: str, relation: Relation = "antonym") -> Swaps:
    return swaps(pl.Series([premise]), pl.Series([hypothesis]), wordnet_pairs(relation), tagger="light")


def swapped(premise: str, hypothesis: str, relation: Relation = "antonym") -> list[tuple[str, str]]:
    return found(premise, hypothesis, relation).frame.select("swapped_premise", "swapped_hypothesis").rows()


def test_the_papers_examples_are_swapped() -> None:
    # Sanchez Carmona et al. (2018), examples 1 to 4.
    assert swapped("A soccer game occurring at sunset.", "A basketball game is occurring at sunrise.") == [
        ("A soccer game occurring at sunrise.", "A basketball game is occurring at sunset.")
    ]
    premise = "A little girl hugs her brother on a footbridge in a forest."
    assert swapped(premise, "A pair of siblings are on a bridge.", "hypernym") == [
        ("A little girl hugs her brother on a bridge in a forest.", "A pair of siblings are on a footbridge.")
    ]


def test_all_occurrences_change_and_each_keeps_its_form_its_capitals_and_its_article() -> None:
    premise = "Dogs bark at an old dog, and the DOG sleeps."
    assert swapped(premise, "There is an animal.", "hypernym") == [
        ("Animals bark at an old animal, and the ANIMAL sleeps.", "There is a dog.")
    ]
    assert swapped("Two dogs love it.", "A boy hated it.") == [("Two dogs hate it.", "A boy loved it.")]
    assert swapped("The man is taller.", "The man is the shortest.") == [
        ("The man is shorter.", "The man is the tallest.")
    ]


def test_people_are_persons() -> None:
    assert swapped("Two men sleep.", "The people are asleep.", "hypernym") == [
        ("Two people sleep.", "The men are asleep.")
    ]


def test_a_participle_may_be_an_adjective() -> None:
    assert swapped("The door is open.", "The door is closed.") == [("The door is closed.", "The door is open.")]


def test_a_row_tells_the_words_as_they_stand_before_and_after() -> None:
    row = found("Two dogs sleep.", "An animal sleeps.", "hypernym").frame.row(0, named=True)
    words = ("premise_word", "hypothesis_word", "swapped_premise_word", "swapped_hypothesis_word", "relation")
    assert [row[name] for name in words] == ["dogs", "animal", "animals", "dog", "hyponym"]


def test_pairs_with_both_words_on_one_side_or_in_two_parts_of_speech_are_left_out_and_counted() -> None:
    both = found("A hot soup and a cold one.", "The soup is cold.")
    assert both.frame.is_empty()
    assert both.left_out == {"both words on one side": 1}
    light = found("A light box under the lights.", "The box is heavy.")
    assert light.frame.is_empty()
    assert light.left_out == {"another part of speech": 1}


def test_nothing_gives_nothing() -> None:
    assert found("", "").frame.is_empty()
    empty = pl.Series([], dtype=pl.String)
    assert swaps(empty, empty, wordnet_pairs("antonym")).frame.is_empty()


@pytest.mark.parametrize(
    ("lemma", "pos", "tag", "form"),
    [
        ("person", "n", "NNS", "people"),
        ("sit", "v", "VBG", "sitting"),
        ("stand", "v", "VBD", "stood"),
        ("big", "a", "JJS", "biggest"),
        ("closed", "a", "VBN", "closed"),
        ("badly", "r", "RB", "badly"),
    ],
)
def test_a_word_takes_the_form_of_a_tag(lemma: str, pos: str, tag: str, form: str) -> None:
    assert inflected(lemma, pos, tag) == form
