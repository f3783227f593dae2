"""One word replaced by another: whole sentences, and what is left as it is."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.core.draws import Draws
from acidtest.text.substitution import Substitutions


def rows(category: str, *texts: str, each: int = 99) -> pl.DataFrame:
    work = Substitutions((category,), Draws(0, "test"), per_relation=each, tagger="light")
    return work.of(pl.Series(texts, dtype=pl.String))[0]


def reasons(category: str, text: str) -> set[str]:
    return set(Substitutions((category,), Draws(0, "test"), tagger="light").of(pl.Series([text]))[1])


@pytest.mark.parametrize(
    ("category", "text", "changed", "relation"),
    [
        ("drinks", "A man is drinking coffee at a table.", "A man is drinking tea at a table.", "co-hyponym"),
        ("instruments", "A man is playing a trumpet.", "A man is playing an accordion.", "co-hyponym"),
        ("instruments", "She holds an accordion.", "She holds a violin.", "co-hyponym"),
        ("animals", "Two dogs are running on grass.", "Two animals are running on grass.", "hypernym"),
        ("animals", "Dogs sleep near the gate.", "Cats sleep near the gate.", "co-hyponym"),
        ("furniture", "A girl is sitting on a couch.", "A girl is sitting on a sofa.", "synonym"),
        ("rooms", "A man is sleeping in the garden.", "A man is sleeping on the balcony.", "co-hyponym"),
        ("countries", "They spent a week in Belgium.", "They spent a week in the Netherlands.", "co-hyponym"),
        ("countries", "They spent a week in the Netherlands.", "They spent a week in Belgium.", "co-hyponym"),
        ("weekdays", "The museum opened on Tuesday.", "The museum opened on Friday.", "co-hyponym"),
        ("colours", "A woman in a red dress is dancing.", "A woman in a blue dress is dancing.", "co-hyponym"),
        ("animals", "A Chihuahua is asleep.", "A dog is asleep.", "hypernym"),
        ("nationalities", "A Greek woman is asleep.", "An Italian woman is asleep.", "co-hyponym"),
        ("cardinals", "Three boys are on a bench.", "Five boys are on a bench.", "co-hyponym"),
        ("cardinals", "There are 3 boats on the lake.", "There are 5 boats on the lake.", "co-hyponym"),
        ("antonyms", "A man is sitting on a rock.", "A man is standing on a rock.", "antonym"),
        ("antonyms", "A woman walks outside the church.", "A woman walks inside the church.", "antonym"),
    ],
)
def test_a_word_is_replaced_and_the_rest_follows(category: str, text: str, changed: str, relation: str) -> None:
    found = rows(category, text)
    assert (changed, relation) in found.select("changed", "relation").rows()


@pytest.mark.parametrize(
    ("category", "text", "reason"),
    [
        ("drinks", "A man is drinking coffee at a tea stall.", "another item of the list"),
        ("animals", "A hot dog stand is closed.", "part of a compound"),
        ("animals", "A dog trainer is smiling.", "part of a compound"),
        ("colours", "Mr. Brown is asleep.", "part of a name"),
        ("drinks", "A man is not drinking coffee.", "negation"),
        ("drinks", "Few men are drinking coffee.", "downward"),
        ("drinks", "The man only drinks coffee.", "focus"),
        ("drinks", "If it rains, she drinks coffee.", "conditional"),
        ("drinks", "Is she drinking coffee?", "question"),
        ("drinks", "She is drinking coffee at home or at work.", "coordination"),
        ("animals", "A dog and a boy are playing.", "in a list"),
        ("animals", "The boy has the biggest dog.", "superlative or comparative"),
        ("antonyms", "A tall man and a tall woman talk.", "twice in the text"),
        ("instruments", "A boy plays guitar.", "without an article"),
        ("rooms", "A family stands in a paved courtyard.", "described"),
    ],
)
def test_a_context_that_might_turn_the_label_is_left_alone(category: str, text: str, reason: str) -> None:
    assert rows(category, text).is_empty()
    assert reason in reasons(category, text)


def test_a_place_gets_as_many_words_as_asked_whatever_else_there_is() -> None:
    text = "A man is drinking coffee at a table."
    one = rows("drinks", text, each=1)
    assert one["relation"].is_unique().all()
    beside = rows("drinks", "A woman sips tea.", text, "A dog sleeps.", each=1)
    assert set(one["changed"]) <= set(beside["changed"])
    assert set(one["changed"]) <= set(rows("drinks", text, each=2)["changed"])


def test_the_longest_item_is_replaced() -> None:
    found = rows("instruments", "A man is playing an electric guitar.")
    assert set(found["premise_word"]) == {"electric guitar"}
    assert "A man is playing a guitar." in set(found["changed"])


def test_no_texts_give_nothing() -> None:
    assert rows("drinks").is_empty()
    assert rows("drinks", "").is_empty()
