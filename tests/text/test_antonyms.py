from __future__ import annotations

import polars as pl
import pytest

from acidtest.core.draws import Draws
from acidtest.text.antonyms import turned
from acidtest.text.opposites import opposites
from acidtest.text.places import PLACES
from acidtest.text.wordnet import wordnet

DRAWS = Draws(0, "stress/antonymy")


def changes(*texts: str) -> list[str]:
    found, _ = turned(pl.Series(texts), wsd="context", tagger="light", draws=DRAWS)
    return found["changed"].to_list()


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("The soup was cold.", "The soup was hot."),
        ("My neighbor is a rich man.", "My neighbor is a poor man."),
        ("The old man slept on the porch.", "The young man slept on the porch."),
        ("She washed the dirty cups in the sink.", "She washed the clean cups in the sink."),
        ("He sat in the front row.", "He sat in the back row."),
        ("The house stands at the top of the hill.", "The house stands at the bottom of the hill."),
        ("The party was a great success.", "The party was a great failure."),
        ("It rained during the night.", "It rained during the day."),
        ("The men were on the roof.", "The women were on the roof."),
        ("It rained all day, and the street was wet.", "It rained all day, and the street was dry."),
        ("The strike ended in defeat.", "The strike ended in victory."),
        ("Goran is a short man.", "Goran is a tall man."),
        ("Her speech was short.", "Her speech was long."),
    ],
)
def test_a_word_in_a_plain_place_becomes_its_opposite(text: str, changed: str) -> None:
    assert changes(text) == [changed]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The soup was not cold.", "negation"),
        ("The soup might be cold.", "modality"),
        ("Maria thinks the soup is cold.", "belief"),
        ("If the soup is cold, the cook is angry.", "conditional"),
        ("Was the soup cold?", "question"),
        ("Every soup was cold.", "quantifier"),
        ("A man ate a cold soup.", "no plain place"),
        ("Cold soups are popular.", "no plain place"),
        ("There was a cold soup on the table.", "no plain place"),
        ("The class went to high school.", "idiom"),
        ("Yeah, the soup was cold.", "conversation"),
        ("The man lost his hat.", "sex told elsewhere"),
        ("The new ferry to Skarsund is blue.", "sense not sure"),
        ("The patient was conscious for a time.", "habit"),
    ],
)
def test_what_does_not_flip_is_left_out_and_counted(text: str, reason: str) -> None:
    found, left_out = turned(pl.Series([text]), wsd="context", tagger="light", draws=DRAWS)
    assert found.is_empty()
    assert left_out[reason] >= 1


def test_the_sense_goes_by_what_the_word_is_said_of() -> None:
    assert changes("The teacher is old.", "The car is old.") == ["The teacher is young.", "The car is new."]
    assert changes("The teacher is short.", "The rope is short.") == ["The teacher is tall.", "The rope is long."]


def test_an_article_and_capitals_follow() -> None:
    assert changes("Anna is an honest teacher.") == ["Anna is a dishonest teacher."]
    assert changes("THE SOUP WAS COLD.") == ["THE SOUP WAS HOT."]


def test_every_packaged_opposite_is_an_antonym_of_that_sense_in_wordnet_and_has_a_known_place() -> None:
    known = wordnet()
    for several in opposites().values():
        for each in several:
            sense = [s for s in known.senses(each.word, each.pos) if known.lemma(s).lower() == each.word][
                each.sense - 1
            ]
            assert each.antonym in [known.lemma(other).lower() for other in known.antonyms(sense)], each
            assert each.places <= set(PLACES), each


def test_no_word_is_turned_twice_and_none_into_itself() -> None:
    texts = pl.Series(["The steep slope is on the left and is closed."])
    found, _ = turned(texts, wsd="context", tagger="light", draws=DRAWS)
    assert found["changed"].is_unique().all()
    assert not found["changed"].is_in(texts.implode()).any()


def test_nothing_gives_nothing() -> None:
    found, left_out = turned(pl.Series([], dtype=pl.String), wsd="context", tagger="light", draws=DRAWS)
    assert found.is_empty()
    assert not left_out
