"""One word replaced by another: whole sentences, and what is left as it is."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.core.draws import Draws
from acidtest.suites.lexical.substitution import Substitutions


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
        ("drinks", "Few men are drinking coffee.", "place that turns the label"),
        ("drinks", "The man only drinks coffee.", "place that turns the label"),
        ("drinks", "Is she drinking coffee?", "question"),
        ("hypernyms", "Exactly three dogs are asleep.", "place that turns the label"),
        ("hypernyms", "Most dogs are asleep.", "superlative or comparative"),
        ("hypernyms", "The participation of women led to more female candidates.", "under an aggregate"),
        ("cardinals", "He walked the final two kilometres.", "number of no things"),
        ("ordinals", "When you first get the idea, it is cold.", "number of no things"),
        ("animals", "A dog and a boy are playing.", "in a list"),
        ("animals", "The boy has the biggest dog.", "superlative or comparative"),
        ("antonyms", "A tall man and a tall woman talk.", "twice in the text"),
        ("instruments", "A boy plays guitar.", "without an article"),
        ("rooms", "A family stands in a paved courtyard.", "described"),
        ("countries", "Exports in 2004 reached US$10,530.", "part of a compound"),
        ("antonyms", "The animals were covered by a common ancestor.", "no such frame"),
        ("antonyms", "He took the job effective August 1969.", "no such frame"),
        ("hypernyms", "The Defense University (ADU) houses various small schools.", "another part of speech"),
    ],
)
def test_a_context_that_might_turn_the_label_is_left_alone(category: str, text: str, reason: str) -> None:
    assert rows(category, text).is_empty()
    assert reason in reasons(category, text)


@pytest.mark.parametrize(
    ("category", "text", "changed", "relation", "polarity", "label"),
    [
        ("drinks", "A man drinks champagne.", "A man drinks wine.", "hypernym", "up", "entailment"),
        ("drinks", "A man is drinking wine.", "A man is drinking champagne.", "hyponym", "up", "neutral"),
        ("drinks", "Nobody is drinking champagne.", "Nobody is drinking wine.", "hypernym", "down", "neutral"),
        ("drinks", "A man is not drinking wine.", "A man is not drinking champagne.", "hyponym", "down", "entailment"),
        ("hypernyms", "Every dog is barking.", "Every animal is barking.", "hypernym", "down", "neutral"),
        ("hypernyms", "Every dog is barking.", "Every poodle is barking.", "hyponym", "down", "entailment"),
        ("drinks", "She might be drinking champagne.", "She might be drinking wine.", "hypernym", "up", "entailment"),
        ("synonyms", "She does not own a sofa.", "She does not own a couch.", "synonym", "down", "entailment"),
        ("drinks", "A man drinks tea.", "A man drinks coffee.", "co-hyponym", "up", "contradiction"),
    ],
)
def test_the_label_follows_from_relation_and_polarity(
    category: str, text: str, changed: str, relation: str, polarity: str, label: str
) -> None:
    columns = ("changed", "relation", "polarity", "label")
    assert (changed, relation, polarity, label) in rows(category, text).select(columns).rows()


@pytest.mark.parametrize(
    ("category", "text"),
    [
        ("drinks", "A man is not drinking coffee."),
        ("drinks", "She might be drinking coffee."),
        ("drinks", "If it rains, she drinks coffee."),
        ("antonyms", "Nobody is happy."),
    ],
)
def test_nothing_contradicts_what_is_denied_or_not_asserted(category: str, text: str) -> None:
    assert set(rows(category, text)["label"]) <= {"entailment", "neutral"}


@pytest.mark.parametrize(
    ("category", "text", "unfit"),
    [
        ("hypernyms", "Two horses of age three are running.", "foals"),
        ("hypernyms", "The author is reading a book about a novel.", "hymn book"),
        ("hypernyms", "The man with the hat is a lawyer.", "policeman"),
    ],
)
def test_a_new_word_fits_the_rest_of_the_text(category: str, text: str, unfit: str) -> None:
    new = set(rows(category, text)["hypothesis_word"])
    assert new
    assert unfit not in new


@pytest.mark.parametrize(
    ("category", "text", "near"),
    [
        ("vehicles", "A boy is riding a bike.", "bicycle"),
        ("hypernyms", "A boy has a new ball.", "brand-new"),
        ("hypernyms", "Nobody has a brand-new ball.", "new"),
    ],
)
def test_a_near_synonym_is_never_neutral(category: str, text: str, near: str) -> None:
    assert near not in set(rows(category, text).filter(label="neutral")["hypothesis_word"])


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


def test_rock_music_is_no_boulder() -> None:
    assert "boulder" not in rows("hypernyms", "The band plays the rock of the sixties.")["hypothesis_word"]
    assert "boulder" in rows("hypernyms", "A boy is sitting on a rock.")["hypothesis_word"]


def test_wales_is_in_great_britain() -> None:
    found = rows("countries", "The novel was published in Wales.")
    assert ("Great Britain", "hypernym") in found.select("hypothesis_word", "relation").rows()


def test_a_noun_that_refers_back_gets_no_narrower_word() -> None:
    found = rows("animals", "Corals have no bones. These animals need light.")
    assert "hyponym" not in found["relation"]


def test_the_plural_of_a_piece_is_pieces() -> None:
    assert "pieces of jewelry" in rows("hypernyms", "They make bracelets from shells.")["hypothesis_word"]


@pytest.mark.parametrize(
    ("category", "text", "new"),
    [
        ("hypernyms", "They have delighted voters.", "happy"),
        ("synonyms", "The software fetches a page and stores it.", "shops"),
        ("antonyms", "The winner of the race was chosen by vote.", "loser"),
        ("antonyms", "He fathered several children.", "adults"),
        ("antonyms", "Parents relate to children at home.", "adults"),
    ],
)
def test_a_word_in_another_sense_is_left_alone(category: str, text: str, new: str) -> None:
    found = rows(category, text)
    assert new not in found["hypothesis_word"].to_list()


@pytest.mark.parametrize(
    ("category", "text", "word"),
    [
        ("antonyms-wordnet", "The court agreed Monday to hear the case.", "disagreed"),
        ("antonyms-wordnet", "The brunt of the unemployment was felt in the east.", "employment"),
        ("antonyms", "Their faces were hidden behind masks.", "in front of"),
        ("ordinals", "Its theme is the collision of cultures soon after first contact.", "second"),
        ("synonyms", "He studied law in his teens.", "teenagers"),
        ("synonyms", "The cuts come amid competition from online advertising.", "among"),
        ("synonyms", "The members happen not to like it.", "occur"),
    ],
)
def test_words_in_fixed_expressions_stay(category: str, text: str, word: str) -> None:
    assert word not in rows(category, text)["hypothesis_word"]
