"""Reasons against replacing a word at its place, and whom they are against."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.english.sentences import Sentences, find_occurrences
from acidtest.suites.lexical.place_limits import place_limits
from acidtest.suites.lexical.substitution import surfaces


def limits(category: str, text: str) -> dict[str, str | None]:
    """The limits of the first word of the category that has the expected part of speech."""
    sentences = Sentences.of(pl.Series([text]), "light")
    places = find_occurrences(sentences, surfaces((category,)))
    frame = place_limits(sentences, places)
    kept = frame.filter(pl.col("against_all").is_null() | (pl.col("against_all") != "another part of speech"))
    return kept.row(0, named=True)


@pytest.mark.parametrize(
    ("category", "text", "reason"),
    [
        ("countries", "The return on assets in Brazil exceeded all hopes.", "under an aggregate"),
        ("countries", "The number of women who smoke rose in France.", None),
        ("countries", "The majority of shirts sold in France were white.", "under an aggregate"),
        ("countries", "He built the longest ski slope in Europe.", "superlative or comparative"),
        ("hypernyms", "She was the main doctor in the room.", "ranked"),
        ("hypernyms", "He became a doctor in June.", "in a role"),
        ("furniture", "Girls cheer as a chair falls.", None),
        ("hypernyms", "I hate dogs.", "no particular ones"),
        ("hypernyms", "Students can be lazy.", "no particular ones"),
        ("antonyms", "Careful drivers will save money.", "no particular ones"),
        ("hypernyms", "A dog and a boy are running.", "in a list"),
        ("weekdays", "The museum opens on Friday.", "no single event"),
        ("times-of-day", "Sitting up at night is jumpy.", "no single event"),
        ("weekdays", "The museum opened on Friday.", None),
        ("animals", "The word is applied to a dog.", "about words"),
        ("hypernyms", "It was the national bird.", "ranked"),
        ("animals", "It has more than nine, compared to dogs with four.", "superlative or comparative"),
        ("animals", "They are related to lizards.", "in a role"),
        # Behind a house stands something; behind a kidnapping is somebody.
        ("antonyms", "A gang was behind the kidnapping.", "of no place"),
        ("antonyms", "A bomb was thrown near the end of the war.", "of no place"),
        ("antonyms", "A gang hid behind the house.", None),
        # What is behind a lawsuit is no place, whatever comes between.
        ("antonyms", "He knew the thought behind many of those lawsuits.", "of no place"),
        ("antonyms", "She knew the reason behind the wall.", "of no place"),
        ("antonyms", "Harrison succeeded Van Buren.", "has an object"),
        ("antonyms", "He was succeeded by his sons.", "has an object"),
        ("antonyms", "The plan succeeded in May.", None),
        ("antonyms", "They run the company.", "has an object"),
    ],
)
def test_only_a_synonym_may_replace_the_word(category: str, text: str, reason: str | None) -> None:
    assert limits(category, text)["against_others"] == reason


@pytest.mark.parametrize(
    ("category", "text", "reason"),
    [
        ("flowers", "There is a flower called Wandering Jew.", "named"),
        ("rooms", "A family stands in a paved courtyard.", "described"),
        ("animals", "The dog barked at the gate.", "tied to its context"),
    ],
)
def test_only_what_is_entailed_may_replace_the_word(category: str, text: str, reason: str | None) -> None:
    assert limits(category, text)["against_changes"] == reason


@pytest.mark.parametrize(
    ("category", "text", "reason"),
    [
        ("countries", "He works in France.", "no single event"),
        ("countries", "The history of fashion in France is long.", "no single event"),
        ("countries", "He worked in France.", None),
        ("sports", "They play softball a few times a year.", "no single event"),
        ("sports", "Two boys play softball.", None),
        ("ordinals", "The second runner is tired.", "no single event"),
        ("cities", "They sang, especially in Vienna.", "not the only one"),
        # Of others the same may be true.
        ("antonyms", "Natural deposits were found in France.", "says which ones"),
        ("antonyms", "The columns behind the temple formed a porch.", "says which ones"),
        ("ordinals", "The first landing used a small camera.", "says which ones"),
        ("antonyms", "The early years were hard.", "says which ones"),
        ("antonyms", "A witness with a high level of concern is likely to help.", "no single event"),
        ("antonyms", "Young men danced in the street.", None),
        # Other evidence, other people: what some did others did not.
        ("antonyms", "Some evidence from public records was useful.", "said of some"),
        ("antonyms", "Some skeptics doubt that she knew it.", "said of some"),
        ("antonyms", "Some women are dancing.", None),
        ("antonyms", "They named the teams that had played badly.", "said of some"),
        ("antonyms", "They named the Lions, who had played badly.", None),
        ("antonyms-wordnet", "The bar on male behavior was lowered.", "says which ones"),
        ("antonyms", "The report described alternatives to the final rule.", "says which ones"),
        ("antonyms-wordnet", "A male nurse came.", None),
        ("antonyms", "The modern republic became independent.", None),
        ("ordinals", "It was used on the first landing.", None),
        # A firm has annual profits and monthly ones; other practices were honest. He built one tower, though.
        (
            "antonyms",
            "The firm in the north of the town has posted annual profits that were larger than all had expected.",
            "nothing definite",
        ),
        (
            "antonyms",
            "A number of firms in the south of Korea went bankrupt because of dishonest practices in those years.",
            "nothing definite",
        ),
        (
            "antonyms",
            "Its foreign debt was forgiven by the banks in London, which had lent the money in the years of the war.",
            "nothing definite",
        ),
        (
            "antonyms",
            "In the last year of the war the mayor of the town built a tall tower at the end of the bridge.",
            None,
        ),
        (
            "antonyms",
            "In the last year of the war the mayor of the town was an important man in the eyes of the king.",
            None,
        ),
        (
            "antonyms",
            "A woman in formal clothes is standing next to a man who is looking at one of the tall trees.",
            None,
        ),
    ],
)
def test_nothing_contradicts_what_may_be_true_of_another_too(category: str, text: str, reason: str | None) -> None:
    assert limits(category, text)["against_opposites"] == reason


def test_a_small_elephant_is_not_a_small_animal() -> None:
    assert limits("animals", "A small elephant is asleep.")["against_kinds"] == "relative adjective"
    assert limits("animals", "A grey elephant is asleep.")["against_kinds"] is None


@pytest.mark.parametrize(
    ("category", "text", "reason"),
    [
        ("countries", "Two helicopters landed in eastern Afghanistan.", "part of a place"),
        ("countries", "Two helicopters landed in Afghanistan.", None),
        ("nationalities", "He defeated the French number one in three sets.", "one of its kind"),
        ("nationalities", "He defeated a French player in three sets.", None),
        ("hypernyms", "The virus reached 40 million people.", "a total"),
        ("animals", "Nearly 90 % of them are frogs.", "a share"),
        ("hypernyms", "It exercises a person's ability to wait.", "any one"),
        ("hypernyms", "While a person is asleep, it rests.", "any one"),
        ("vehicles", "The cause of a car is rubber.", "any one"),
        ("hypernyms", "It exercised a person's ability to wait.", None),
    ],
)
def test_no_wider_word_stands_for_a_part_or_for_the_only_one(category: str, text: str, reason: str | None) -> None:
    assert limits(category, text)["against_kinds"] == reason
