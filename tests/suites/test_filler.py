"""The packaged filler sentences, and which of them a pair rules out."""

from __future__ import annotations

import re

import numpy as np

from acidtest.core.draws import Draws
from acidtest.english.clauses import clause_doubts
from acidtest.io.wordlists import packaged_table
from acidtest.suites.length_ladder import content_words, filler

SENTENCES = packaged_table("ladder/filler.tsv")
DENIES_OR_GENERALISES = re.compile(
    r"\b(?:no|not|never|none|nothing|nobody|neither|nor|without|only|hardly|all|every|each|any|both|few|fewer|less|"
    r"everything|people|person|man|men|woman|women|child|children|who)\b|n't",
    re.IGNORECASE,
)
POINTS = re.compile(r"^(?:it|its|they|their|this|that|these|those|he|she|his|her)\b|\bthis\b|\bthese\b", re.IGNORECASE)


def sentences_of(places: np.ndarray) -> set[str]:
    return {filler().sentences[place] for place in places}


def topics_of(places: np.ndarray) -> set[str]:
    return set(SENTENCES["topic"].gather(places))


def test_there_are_twenty_sentences_on_each_of_thirty_two_topics_and_none_twice() -> None:
    assert SENTENCES["topic"].value_counts()["count"].to_list() == [20] * 32
    assert SENTENCES["sentence"].n_unique() == 640
    assert SENTENCES["topic"].unique(maintain_order=True).equals(packaged_table("ladder/topics.tsv")["topic"])


def test_no_sentence_denies_generalises_or_points_at_another() -> None:
    assert [text for text in SENTENCES["sentence"] if DENIES_OR_GENERALISES.search(text)] == []
    assert [text for text in SENTENCES["sentence"] if POINTS.search(text)] == []


def test_every_sentence_is_one_plain_statement() -> None:
    assert [text for text in SENTENCES["sentence"] if not re.fullmatch(r"[A-Z][\w ,'-]+[a-z0-9A-Z]\.", text)] == []
    assert clause_doubts(SENTENCES["sentence"], "any").drop_nulls().to_list() == []


def test_content_words_come_in_their_base_forms_too_and_without_function_words() -> None:
    assert content_words("The geese were larger than Anna's.") == {"geese", "goose", "larger", "large", "anna"}


def test_a_pair_rules_out_sentences_with_one_of_its_words_in_any_form() -> None:
    left = sentences_of(filler().unrelated("A cork floats on the pond.", "The cork is small."))
    assert "Manila rope floated better than hemp." not in left
    assert "Pumice from the vent floated for months." not in left
    assert "Sisal from the plantations was stiff and pale." in left


def test_a_pair_rules_out_topics_it_touches() -> None:
    # "boat" stands in no sentence on tides or canals.
    left = topics_of(filler().unrelated("Two boats race.", "Nobody is asleep."))
    assert {"tides", "canals"} & left == set()
    assert {"caves", "minerals"} <= left


def test_a_hypothesis_rules_out_sentences_that_name_something_of_its_kind() -> None:
    # In WordNet pewter is an alloy, and an alloy is a mixture.
    sentence = "Pewter of the better grade held two percent of lead."
    assert sentence in sentences_of(filler().unrelated("A girl sleeps.", "A girl rests."))
    assert sentence not in sentences_of(filler().unrelated("A girl sleeps.", "There is an alloy."))
    assert sentence in sentences_of(filler().unrelated("There is a mixture.", "A girl rests."))
    assert sentence not in sentences_of(filler().unrelated("A girl rests.", "There is a mixture."))


def order(premise: str = "", *, words: int = 1, key: int = 7) -> list[int]:
    return filler().passage(premise, "", words, key=np.uint64(key), draws=Draws(0, "ladder")).tolist()


def test_an_order_keeps_topics_together_and_depends_on_key_and_lap() -> None:
    once, twice = order(), order(words=int(filler().lengths.sum()) + 1)
    assert sorted(once) == list(range(640))
    assert len(SENTENCES["topic"].gather(once).rle()) == 32
    assert once == order()
    assert once != order(key=8)
    assert twice[:640] == once
    assert sorted(twice[640:]) == sorted(once)
    assert twice[640:] != once


def test_what_is_left_keeps_its_order_when_other_sentences_are_ruled_out() -> None:
    left = set(filler().unrelated("Two boats race.", ""))
    assert order("Two boats race.") == [place for place in order() if place in left]
