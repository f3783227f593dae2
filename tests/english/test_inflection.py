"""Morphy's attempts, before a lexicon is asked; the examples are those of morphy(7WN) and of its exception lists."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.english.inflection import (
    base_form_candidate_frame,
    base_form_candidates,
    compare_adjective,
    forms_by_slot,
    indefinite_article,
    match_case,
    plural,
    replace_span,
)


@pytest.mark.parametrize(
    ("word", "pos", "expected"),
    [
        ("dogs", "n", ["dogs", "dog"]),
        ("churches", "n", ["churches", "churche", "church"]),
        ("women", "n", ["women", "woman"]),
        ("wolves", "n", ["wolves", "wolf"]),
        ("axes", "n", ["axes", "ax", "axis"]),
        ("tried", "v", ["tried", "try"]),
        ("hiking", "v", ["hiking", "hike", "hik"]),
        ("finer", "a", ["finer", "fin", "fine"]),
        ("best", "r", ["best", "well"]),
        ("quickly", "r", ["quickly"]),
        ("s", "n", ["s", ""]),
    ],
)
def test_a_word_may_be_a_form_of(word: str, pos: str, expected: list[str]) -> None:
    assert base_form_candidates(word, pos) == expected


def test_a_column_gets_the_attempts_of_its_words() -> None:
    words = ["axes", "churches", "best", "tried", "s", ""]
    frame = base_form_candidate_frame(pl.Series(words))
    for row, word in enumerate(words):
        for pos in "nvar":
            mine = frame.filter((pl.col("row") == row) & (pl.col("pos").is_null() | (pl.col("pos") == pos)))
            assert mine.sort("attempt")["form"].to_list() == base_form_candidates(word, pos)


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("He is an old man.", "old", "young", "He is a young man."),
        ("A young man sat.", "young", "old", "An old man sat."),
        ("Cold soup is the cold one.", "Cold", "hot", "Hot soup is the cold one."),
        ("THE OLD HOUSE", "OLD", "new", "THE NEW HOUSE"),
        ("She has a big, old car.", "old", "new", "She has a big, new car."),
        ("It was an honest answer.", "honest", "dishonest", "It was a dishonest answer."),
        ("Das ist café old.", "old", "new", "Das ist café new."),
    ],
)
def test_a_word_takes_the_shape_of_the_one_it_replaces_and_the_article_follows(
    text: str, old: str, new: str, expected: str
) -> None:
    start = text.index(old)
    assert replace_span(text, start, start + len(old), word=new) == expected


def test_an_article_further_away_is_left_alone() -> None:
    assert replace_span("a very old man", 7, 10, word="young") == "a very young man"


@pytest.mark.parametrize(
    ("word", "article"),
    [
        ("apple", "an"), ("hour", "an"), ("honest", "an"), ("heir", "an"), ("unkind", "an"), ("unimportant", "an"),
        ("university", "a"), ("useful", "a"), ("unique", "a"), ("one", "a"), ("European", "a"), ("hotel", "a"),
        ("8", "an"), ("18", "an"), ("180", "a"), ("11", "an"), ("80", "an"), ("uninteresting", "an"), ("young", "a"),
    ],
)  # fmt: skip
def test_a_or_an_goes_by_sound(word: str, article: str) -> None:
    assert indefinite_article(word) == article


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        ("girl", "girls"), ("woman", "women"), ("child", "children"), ("loss", "losses"), ("city", "cities"),
        ("boy", "boys"), ("wife", "wives"), ("human", "humans"), ("church", "churches"), ("foot", "feet"),
        ("sheep", "sheep"), ("series", "series"),
    ],
)  # fmt: skip
def test_plurals_are_regular_or_looked_up(noun: str, expected: str) -> None:
    assert plural(noun) == expected


@pytest.mark.parametrize(
    ("adjective", "comparative", "superlative"),
    [
        ("old", "older", "oldest"), ("large", "larger", "largest"), ("happy", "happier", "happiest"),
        ("big", "bigger", "biggest"), ("good", "better", "best"), ("worst", "worst", "worst"),
        ("expensive", "more expensive", "most expensive"),
        ("narrow", "narrower", "narrowest"), ("thin", "thinner", "thinnest"),
        ("unhappy", "more unhappy", "most unhappy"),
    ],
)  # fmt: skip
def test_degrees_are_formed_with_endings_or_with_more_and_most(
    adjective: str, comparative: str, superlative: str
) -> None:
    assert (compare_adjective(adjective, "er"), compare_adjective(adjective, "est")) == (comparative, superlative)


def test_one_capital_letter_is_no_shouting() -> None:
    assert match_case("I", "you") == "You"


@pytest.mark.parametrize(
    "phrase",
    [
        *("an X-ray", "an x-ray", "an MRI", "an HIV test", "a US doctor", "an FBI agent", "an NHS nurse"),
        *("an MD", "an SOS call", "an LP", "a UFO", "a NASA base", "a NATO base", "a SWAT team", "an NAACP member"),
        *("an EU law", "a UK law", "a UNESCO site", "an mRNA vaccine", "an MSc", "a PhD", "an LED", "a RAM chip"),
        *(
            "a SIM card",
            "an NSAID",
            "an SSRI",
            "an HTML page",
            "an MP3 file",
            "a T-shirt",
            "a U-turn",
            "an L-shaped room",
        ),
        *("a McDonald", "an O'Brien", "a European", "an Apple phone", "a DVD", "an HIV-positive man", "an I", "a one"),
    ],
)
def test_letters_and_acronyms_take_the_article_of_their_sound(phrase: str) -> None:
    article, word = phrase.split(" ", 1)
    assert indefinite_article(word) == article


@pytest.mark.parametrize(
    ("verb", "gerund", "past", "participle"),
    [
        ("transfer", "transferring", "transferred", "transferred"),
        ("emit", "emitting", "emitted", "emitted"),
        ("infer", "inferring", "inferred", "inferred"),
        ("retransmit", "retransmitting", "retransmitted", "retransmitted"),
        ("overhear", "overhearing", "overheard", "overheard"),
        ("oversee", "overseeing", "oversaw", "overseen"),
        ("withstand", "withstanding", "withstood", "withstood"),
        ("mistake", "mistaking", "mistook", "mistaken"),
        ("foretell", "foretelling", "foretold", "foretold"),
        ("offset", "offsetting", "offset", "offset"),
        ("upset", "upsetting", "upset", "upset"),
        ("quiz", "quizzing", "quizzed", "quizzed"),
        # Stressed on the first syllable, or only like a prefix and a verb.
        ("offer", "offering", "offered", "offered"),
        ("edit", "editing", "edited", "edited"),
        ("render", "rendering", "rendered", "rendered"),
        ("wither", "withering", "withered", "withered"),
        ("relay", "relaying", "relayed", "relayed"),
    ],
)
def test_verbs_double_their_last_consonant_after_stress_and_prefixes_keep_irregular_forms(
    verb: str, gerund: str, past: str, participle: str
) -> None:
    forms = forms_by_slot(verb, "verb")
    assert (forms["gerund"], forms["past"], forms["participle"]) == (gerund, past, participle)
