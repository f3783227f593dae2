"""A word replaced by its antonym, and antonyms across two sentences."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.core.draws import Draws
from acidtest.english.opposites import Caution, opposites, place_patterns, replace_by_antonyms
from acidtest.english.wordnet import wordnet
from acidtest.pairs.word_relations import antonym_pairs, opposed_words

DRAWS = Draws(0, "stress/antonymy")

COLUMNS = ["row", "premise_word", "hypothesis_word", "premise_lemma", "hypothesis_lemma", "pos", "opposed"]


def changes(*texts: str, caution: Caution = "medium") -> list[str]:
    found, _ = replace_by_antonyms(pl.Series(texts), wsd="context", caution=caution, tagger="light", draws=DRAWS)
    return found["changed"].to_list()


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("The soup was cold.", "The soup was hot."),
        ("My neighbor is a rich man.", "My neighbor is a poor man."),
        ("The old man slept on the porch.", "The young man slept on the porch."),
        ("She washed the dirty cups in the sink.", "She washed the clean cups in the sink."),
        ("He waited in the front row.", "He waited in the back row."),
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
    ("text", "changed"),
    [
        ("That's convenient.", "That's inconvenient."),
        ("The Meadows Mall is very popular and beautiful.", "The Meadows Mall is very popular and ugly."),
        ("He did well as a farmer, and his house was large as well.", "and his house was small as well."),
        ("They stayed because it was cheap.", "They stayed because it was expensive."),
        ("Yeah, it's easy to do.", "Yeah, it's difficult to do."),
        ("All of the guests were happy.", "All of the guests were unhappy."),
        ("The tower was built in the early 18th century.", "The tower was built in the late 18th century."),
        ("The majority of the members agreed with him.", "The minority of the members agreed with him."),
    ],
)
def test_the_rest_of_the_sentence_does_not_matter_where_the_clause_is_asserted(text: str, changed: str) -> None:
    assert any(row.endswith(changed) for row in changes(text))
    assert not any(row.endswith(changed) for row in changes(text, caution="high"))


def test_a_question_without_its_mark_has_no_opposite() -> None:
    assert changes("How is it known that he did it badly.") == []


@pytest.mark.parametrize(
    ("text", "changed", "pos", "place"),
    [
        ("She loved the film.", "She hated the film.", "verb", "attitude"),
        ("The prices rose in March.", "The prices fell in March.", "verb", "change"),
        ("They rejected the plan.", "They accepted the plan.", "verb", "effect"),
        ("The offer was accepted by the board.", "The offer was rejected by the board.", "verb", "passive"),
        ("She is sitting on a chair.", "She is standing on a chair.", "verb", "result"),
        ("He always sings.", "He never sings.", "adverb", "frequency"),
        ("My uncle never drank coffee.", "My uncle always drank coffee.", "adverb", "absence"),
        ("She walked quickly.", "She walked slowly.", "adverb", "manner"),
        ("The barn was completely destroyed.", "The barn was partially destroyed.", "adverb", "degree"),
        ("They are outside.", "They are inside.", "adverb", "place"),
    ],
)
def test_verbs_and_adverbs_become_their_opposites(text: str, changed: str, pos: str, place: str) -> None:
    for caution in ("high", "medium"):
        rows, _ = replace_by_antonyms(pl.Series([text]), wsd="context", caution=caution, tagger="light", draws=DRAWS)
        assert rows.select("changed", "pos", "place").rows() == [(changed, pos, place)]


@pytest.mark.parametrize(
    "text",
    [
        "The soup was not cold.",
        "The soup might be cold.",
        "Maria thinks the soup is cold.",
        "If the soup is cold, the cook is angry.",
        "Was the soup cold?",
        "Some of the soups were cold.",
        "The soup is cold or salty.",
        "They lost the keys.",
        "There was one thing that I had been worried about.",
        "The man standing on the chair is singing.",
        "He has never met anybody.",
        "It is well.",
        "Her eyes are right behind the mask.",
        "I want the soup to be cold.",
        '"The soup is cold," she said.',
    ],
)
def test_what_need_not_contradict_is_left_out_at_medium_caution(text: str) -> None:
    assert changes(text) == []


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("Maria thinks the soup is cold.", "Maria thinks the soup is hot."),
        ("Passwords are unnecessary.", "Passwords are necessary."),
        ("They live in a large house.", "They live in a small house."),
        ("The soup seemed cold.", "The soup seemed hot."),
    ],
)
def test_low_caution_takes_beliefs_generic_statements_and_indefinite_things(text: str, changed: str) -> None:
    assert changes(text, caution="low") == [changed]
    assert changes(text) == []


def test_a_row_tells_the_highest_caution_that_gives_it() -> None:
    texts = pl.Series(["The soup was cold.", "That's convenient.", "The soup seemed cold."])
    rows, _ = replace_by_antonyms(texts, wsd="context", caution="low", tagger="light", draws=DRAWS)
    assert rows["caution"].to_list() == ["high", "medium", "low"]


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
        ("The new ferry to Skarsund is blue.", "no plain place"),
        ("The patient was conscious for a time.", "habit"),
    ],
)
def test_what_does_not_flip_in_a_plain_clause_is_left_out_and_counted(text: str, reason: str) -> None:
    found, left_out = replace_by_antonyms(pl.Series([text]), wsd="context", caution="high", tagger="light", draws=DRAWS)
    assert found.is_empty()
    assert left_out[reason] >= 1


def test_the_sense_goes_by_what_the_word_is_said_of() -> None:
    assert changes("The teacher is old.", "The car is old.") == ["The teacher is young.", "The car is new."]
    assert changes("The teacher is short.", "The rope is short.") == ["The teacher is tall.", "The rope is long."]


def test_an_article_and_capitals_follow() -> None:
    assert changes("Anna is an honest teacher.") == ["Anna is a dishonest teacher."]
    assert changes("THE SOUP WAS COLD.") == ["THE SOUP WAS HOT."]


def test_every_packaged_opposite_with_a_sense_is_an_antonym_of_it_in_wordnet() -> None:
    known = wordnet()
    for opposite in (opposite for several in opposites().values() for opposite in several):
        senses = [s for s in known.senses(opposite.word, opposite.pos) if known.lemma(s).lower() == opposite.word]
        listed = {known.lemma(other).lower() for sense in senses for other in known.antonyms(sense)}
        if opposite.sense:
            sense = senses[opposite.sense - 1]
            assert opposite.antonym in [known.lemma(other).lower() for other in known.antonyms(sense)], opposite
        else:
            assert opposite.antonym not in listed, opposite


def test_every_packaged_opposite_has_known_places_and_is_there_once() -> None:
    names = {name for places in place_patterns().values() for name, _ in places}
    rows = [opposite for several in opposites().values() for opposite in several]
    assert all(opposite.places <= names for opposite in rows)
    keys = [(row.word, row.antonym, row.pos, row.of, place) for row in rows for place in row.places]
    assert len(set(keys)) == len(keys)


def test_no_word_is_turned_twice_and_none_into_itself() -> None:
    texts = pl.Series(["The steep slope is on the left and is closed."])
    found, _ = replace_by_antonyms(texts, wsd="context", tagger="light", draws=DRAWS)
    assert found["changed"].is_unique().all()
    assert not found["changed"].is_in(texts.implode()).any()


def test_nothing_gives_nothing() -> None:
    found, left_out = replace_by_antonyms(pl.Series([], dtype=pl.String), wsd="context", tagger="light", draws=DRAWS)
    assert found.is_empty()
    assert not left_out


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


def test_pairs_that_seldom_oppose_anything_are_left_out() -> None:
    premises, hypotheses = pl.Series(["The cat is on all mats."]), pl.Series(["The cat fell off some mats."])
    assert antonym_pairs(premises, hypotheses).height == 0


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


@pytest.mark.parametrize(
    "text",
    [
        # Names and titles.
        "We Have Always Lived in the Castle is a film.",
        "The Ghost Inside was an American band.",
        "Slow Burn is the fourth episode.",
        "Great Barrington is a town.",
        # Other senses, shown by the noun or the word after.
        "It became a great commercial hit.",
        "It was a great power.",
        "The critics were cold.",
        "Squealer is employed to alter the rules.",
        "The alphabet is limited to 128 characters.",
        "They are clothed in hair.",
        # Rivers rise, plants grow and houses stand.
        "It rises at an elevation of 820 feet.",
        "The shrub grows in damp woods.",
        "It grows in damp woods.",
        "The Museum of Early Flight stands on a hill.",
        # Another area has another fate, and what holds since the early 1990s holds since the late ones.
        "They came to rule the area to the south of the Aras.",
        "It has seen a rise in numbers since the early 1990s.",
    ],
)
def test_names_titles_and_other_senses_are_left_alone(text: str) -> None:
    assert changes(text) == []
