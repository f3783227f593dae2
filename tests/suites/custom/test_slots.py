"""Slots in sentences: forms, articles, agreement, and the words of our lists."""

from __future__ import annotations

import numpy as np
import pytest

from acidtest.suites.custom.slots import (
    DrawnWords,
    ListedWord,
    SlotError,
    SlottedSentence,
    fitting_words,
    packaged_words,
)

NOUNS = ("apple", "dog", "hour", "university", "child")


def drawn(*texts: str) -> DrawnWords:
    return DrawnWords([ListedWord(text) for text in texts], np.arange(len(texts)))


def render(sentence: str, **words: DrawnWords) -> list[str]:
    rows = max((len(column.numbers) for column in words.values()), default=1)
    return SlottedSentence.parse(sentence).render(words, rows).to_list()


def test_an_article_follows_the_sound_of_the_word_that_fills_the_slot() -> None:
    assert render("He saw a {noun}. An {noun} saw him.", noun=drawn(*NOUNS)) == [
        "He saw an apple. An apple saw him.",
        "He saw a dog. A dog saw him.",
        "He saw an hour. An hour saw him.",
        "He saw a university. A university saw him.",
        "He saw a child. A child saw him.",
    ]


def test_an_article_is_the_one_that_a_word_gives() -> None:
    words = DrawnWords([ListedWord("HUD", article="an"), ListedWord("HUD")], np.arange(2))
    assert render("An {noun}.", noun=words) == ["An HUD.", "A HUD."]


@pytest.mark.parametrize(
    ("forms", "name", "expected"),
    [
        ({"base": "oversee", "past": "oversaw"}, "participle", "overseen"),
        ({"base": "dive", "past": "dove"}, "participle", "dived"),
        ({"base": "travel", "past": "travelled"}, "participle", "travelled"),
        ({"base": "travel", "past": "travelled"}, "gerund", "travelling"),
        ({"past": "visited", "base": "visit"}, "third", "visits"),
    ],
)
def test_forms_that_are_not_given_follow_those_that_are(forms: dict[str, str], name: str, expected: str) -> None:
    assert ListedWord(next(iter(forms.values())), forms).form(name) == expected


def test_a_participle_that_does_not_follow_from_the_past_is_asked_for() -> None:
    with pytest.raises(SlotError, match="'yeet' has the past 'yote', but no participle; give it: participle"):
        ListedWord("yeet", {"base": "yeet", "past": "yote"}).form("participle")


def test_verbs_nouns_and_adjectives_take_the_forms_that_slots_ask_for() -> None:
    sentence = "{verb.base} {verb.third} {verb.past} {verb.participle} {verb.gerund} {noun.plural} {old.comparative}"
    words = {"verb": drawn("see", "admit"), "noun": drawn("child", "fox"), "old": drawn("happy", "good")}
    assert render(sentence, **words) == [
        "See sees saw seen seeing children happier",
        "Admit admits admitted admitted admitting foxes better",
    ]


def test_a_counted_noun_and_the_verbs_after_it_agree_with_the_number() -> None:
    words = {"number": drawn("one", "two"), "animal": drawn("goose", "dog"), "verb": drawn("carry", "see")}
    assert render("{number} {animal.counted} {is} here, and {verb.present} it.", **words) == [
        "One goose is here, and carries it.",
        "Two dogs are here, and see it.",
    ]


def test_a_verb_agrees_with_the_slot_that_it_names_and_not_with_the_nearest() -> None:
    words = {"person": drawn("nurse"), "city": drawn("Oslo")}
    assert render("The {person.plural} from {city} {was} late, and {has person} left.", **words) == [
        "The nurses from Oslo was late, and have left."
    ]
    assert render("The {person.plural} from {city} {was person} late.", **words) == ["The nurses from Oslo were late."]


def test_a_word_that_is_always_plural_takes_a_plural_verb() -> None:
    words = DrawnWords([ListedWord("scissors", {"plural": "scissors"}, is_plural=True)], np.array([0]))
    assert render("The {tool} {is} sharp.", tool=words) == ["The scissors are sharp."]


def test_the_same_slot_is_the_same_word_and_doubled_braces_are_braces() -> None:
    assert render("{{x}} {a}, {a}.", a=drawn("no")) == ["{x} no, no."]


@pytest.mark.parametrize(
    ("sentence", "problem"),
    [
        ("The {noun sleeps.", "a brace stands alone"),
        ("The {noun.pural} sleep.", "no form called 'pural'; did you mean 'plural'?"),
        ("They said {is} so.", "has no noun slot before it to agree with"),
        ("The {noun} {verb.past noun}.", "only is, was, has, does and a form 'present' agree"),
        ("The {2}.", "{2} is no slot"),
    ],
)
def test_a_sentence_that_cannot_be_read_says_why(sentence: str, problem: str) -> None:
    with pytest.raises(SlotError) as caught:
        SlottedSentence.parse(sentence)
    assert problem in str(caught.value)


def test_given_forms_go_before_rules_and_an_empty_one_does_not_exist() -> None:
    assert ListedWord("dive", {"past": "dove"}).form("past") == "dove"
    furniture, chair = ListedWord("furniture", {"plural": ""}), ListedWord("chair")
    assert fitting_words([furniture, chair], ["", "plural"]) == [chair]


def test_items_of_a_list_of_ours_exclude_each_other() -> None:
    texts = {word.text for word in packaged_words("animals")}
    assert "dog" in texts
    # A poodle is a dog, and everything in the list is an animal.
    assert not texts & {"poodle", "animal", "mammal"}
    assert [word.text for word in packaged_words("seasons")] == ["spring", "summer", "autumn", "winter"]


def test_given_names_can_be_had_by_gender() -> None:
    every, female, male = (
        {word.text for word in packaged_words(f"given-names{part}")} for part in ("", "/female", "/male")
    )
    assert {"Mary", "Ruth"} <= female
    assert {"Duane", "John"} <= male
    assert "Leslie" in every - female - male, "a name of both"
    assert not female & male
    assert female | male <= every
