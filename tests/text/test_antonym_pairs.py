"""Antonyms across two sentences."""

from __future__ import annotations

import polars as pl

from acidtest.text.antonym_pairs import antonym_pairs, opposed_words

COLUMNS = ["row", "premise_word", "hypothesis_word", "premise_lemma", "hypothesis_lemma", "pos", "opposed"]


def opposed(premise: str, hypothesis: str) -> list[str]:
    return opposed_words(pl.Series([premise]), pl.Series([hypothesis])).to_list()[0]


def test_a_pair_is_told_with_its_lemmas_and_part_of_speech() -> None:
    found = antonym_pairs(pl.Series(["Nothing.", "She Hated the film."]), pl.Series(["Nothing.", "She loves it."]))
    assert found.columns == COLUMNS
    assert found.rows() == [(1, "hated", "loves", "hate", "love", "v", True)]


def test_every_part_of_speech_is_looked_at() -> None:
    assert opposed("The tall boy sold it slowly.", "The short girl bought it quickly.") == [
        "tall/short",
        "boy/girl",
        "sold/bought",
        "slowly/quickly",
    ]


def test_words_of_one_meaning_that_are_no_antonyms_in_wordnet_are_none() -> None:
    # WordNet's antonyms hold between words: large and small, big and little, but not large and little.
    assert opposed("A large dog.", "A small dog.") == ["large/small"]
    assert opposed("A large dog.", "A little dog.") == []


def test_antonyms_within_one_sentence_do_not_count() -> None:
    assert opposed("A man and a woman dance.", "Two people dance.") == []


def test_a_word_that_both_sentences_have_opposes_nothing() -> None:
    premise, hypothesis = "The men met a woman.", "The women left."
    assert opposed(premise, hypothesis) == []
    found = antonym_pairs(pl.Series([premise]), pl.Series([hypothesis]))
    assert found.select("premise_word", "hypothesis_word", "opposed").rows() == [("men", "women", False)]


def test_a_part_of_a_hyphenated_word_counts_as_had() -> None:
    assert opposed("The open-air market is close by.", "The open market is far.") == []
    assert opposed("The market is close by.", "The open market is far.") == ["close/open"]


def test_pairs_that_seldom_oppose_anything_are_left_out_unless_asked_for() -> None:
    premises, hypotheses = pl.Series(["The cat is on all mats."]), pl.Series(["The cat fell off some mats."])
    assert antonym_pairs(premises, hypotheses).height == 0
    every = antonym_pairs(premises, hypotheses, every_pair=True)
    assert set(every.select("premise_word", "hypothesis_word").rows()) == {("on", "off"), ("all", "some")}


def test_missing_and_empty_texts_have_no_antonyms() -> None:
    assert opposed_words(pl.Series([None, "", "old"]), pl.Series(["new", "new", None])).to_list() == [[], [], []]
    none = antonym_pairs(pl.Series([], dtype=pl.String), pl.Series([], dtype=pl.String))
    assert none.columns == COLUMNS
    assert none.height == 0


def test_rows_do_not_depend_on_the_blocks_they_are_read_in() -> None:
    premises = pl.Series(["Hot.", "Old.", "Plain."] * 30_000)
    hypotheses = pl.Series(["Cold.", "Young.", "Plain."] * 30_000)
    found = antonym_pairs(premises, hypotheses)
    assert found["row"].is_sorted()
    assert found.select("row", "premise_word").unique().height == 60_000
    assert found.filter(pl.col("row") >= 89_997).select("premise_word", "hypothesis_word").unique().sort(
        "premise_word"
    ).rows() == [("hot", "cold"), ("old", "young")]
