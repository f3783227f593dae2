from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from acidtest.english.sentences import Sentences

MARKED = Path(__file__).parents[1] / "data" / "polarity.tsv"


def context(marked: str) -> dict[str, Any]:
    """The context of the word after ``*``."""
    return contexts(marked)[0]


def contexts(*marked: str) -> list[dict[str, Any]]:
    sentences = Sentences.of(pl.Series([text.replace("*", "") for text in marked]), "light")
    starts = pl.DataFrame({"text": range(len(marked)), "start": [text.index("*") for text in marked]})
    places = sentences.frame.select("text", "start").cast(pl.Int64).with_row_index("place")
    rows = starts.join(places, on=["text", "start"], maintain_order="left")["place"].to_numpy().astype(np.int64)
    return sentences.contexts(rows).rows(named=True)


def polarity(marked: str) -> tuple[str, str]:
    row = context(marked)
    return row["polarity"], row["by"]


UPWARD = [
    "A *poodle barked.",
    "Every dog *barked loudly.",
    "Most dogs *barked.",
    "At least three *dogs barked.",
    "More than ten *dogs barked.",
    "More than one *dog barked.",
    "Three *dogs barked.",
    "A number of *dogs barked.",
    "A *man did not see the dog.",
    "The tallest man *slept.",
    "He does not know that a *dog barked.",
    "He managed to find a *dog.",
    "A man who owns a *dog is happy.",
    "He does not eat and sleeps on a *bed.",
    "When he saw a *dog, he ran.",
    "He leaned against a *wall.",
    "A little *dog barked.",
    "It is not only a *dog.",
]


@pytest.mark.parametrize("marked", UPWARD)
def test_a_place_is_upward_where_nothing_turns_it(marked: str) -> None:
    assert polarity(marked)[0] == "up"


@pytest.mark.parametrize(
    ("marked", "by"),
    [
        ("No *dog barked.", "no"),
        ("No dog *barked.", "no"),
        ("Every *dog barked.", "every"),
        ("All the *dogs barked.", "all"),
        ("None of the *dogs barked.", "none"),
        ("Any *dog can swim.", "any"),
        ("Few *dogs barked.", "few"),
        ("Few people own a *dog.", "few"),
        ("At most three *dogs barked.", "at most"),
        ("Fewer than ten *dogs barked.", "fewer than"),
        ("Hardly any *dog barked.", "hardly any"),
        ("Not every dog *barked.", "not every"),
        ("Nobody saw a *dog.", "nobody"),
        ("No one likes a *dog.", "no"),
        ("He did not see any *dog.", "not"),
        ("He never feeds a *dog.", "never"),
        ("The soup isn't *hot.", "n't"),
        ("There is no *dog in the yard.", "no"),
        ("He is taller than a *dog.", "than"),
        ("If a *dog barks, he runs.", "if"),
        ("When a *dog barks, a man runs.", "when"),
        ("He left before a *dog could bark.", "before"),
        ("He left without a *coat.", "without"),
        ("He doubts that a *dog barked.", "doubts"),
        ("He failed to find a *dog.", "failed"),
        ("He forgot to feed a *dog.", "forgot"),
        ("He lacks a *dog.", "lacks"),
        ("He is too tired to feed a *dog.", "tired"),
        ("I don't think that a *dog barked.", "n't"),
        ("Every man who owns a *dog is happy.", "every"),
        ("Everyone who saw a *dog ran.", "everyone"),
        ("He sleeps and does not eat *meat.", "not"),
    ],
)
def test_a_place_is_downward_within_the_scope_of_the_word_that_turns_it(marked: str, by: str) -> None:
    assert polarity(marked) == ("down", by)


@pytest.mark.parametrize(
    ("marked", "by"),
    [
        ("Most *dogs barked.", "most"),
        ("Most of the *dogs barked.", "most"),
        ("Exactly three *dogs barked.", "exactly"),
        ("Only *dogs barked.", "only"),
        ("The tallest *man slept.", "tallest"),
        ("The first *dog barked.", "the first"),
        ("She lost her most important *papers.", "most"),
        ("He was clad only in a *diaper.", "only"),
        ("Did a *dog bark?", "?"),
        ("He asked whether a *dog barked.", "asked"),
        ("Unless a *dog barks, he sleeps.", "unless"),
        ("He left before a *dog barked.", "before"),
        ("He bought a bike instead of a *car.", "instead"),
        ("The number of *dogs rose.", "number"),
        ('He said, "A *dog barked."', '"'),
    ],
)
def test_a_place_is_not_monotone_where_neither_direction_is_safe(marked: str, by: str) -> None:
    assert polarity(marked) == ("none", by)


def test_a_definite_phrase_is_not_turned_but_destroyed() -> None:
    assert polarity("He did not see the *dog.") == ("none", "not")
    assert polarity("He saw the *dog.") == ("up", "")
    assert polarity("All members of the *club left.") == ("none", "all")
    assert polarity("It costs more than the value of the *dog.") == ("none", "than")


def test_two_negations_cancel() -> None:
    assert polarity("Not every *dog barked.") == ("up", "")
    assert polarity("Nobody left without a *coat.")[0] == "up"


@pytest.mark.parametrize(
    ("marked", "clause", "governor", "asserted"),
    [
        ("The soup is *cold.", "main", "", True),
        ("The soup might be *cold.", "main", "", False),
        ("Perhaps the soup is *cold.", "main", "", False),
        ("I think the soup is *cold.", "complement", "think", False),
        ("Bill said that the soup was *cold.", "complement", "say", False),
        ("She knows that the soup is *cold.", "complement", "know", True),
        ("She did not know that the soup was *cold.", "complement", "know", True),
        ("The claim that the soup is *cold is old.", "complement", "claim", False),
        ("He wants to eat *cold soup.", "complement", "want", False),
        ("The man who ate *cold soup left.", "relative", "", True),
        ("A man wearing a *cold hat left.", "relative", "", True),
        ("If the soup is *cold, we leave.", "conditional", "", False),
        ("If it rains, the soup is *cold.", "main", "", False),
        ("We left because the soup was *cold.", "adverbial", "", True),
        ("Is the soup *cold?", "question", "", False),
        ("Eat the *cold soup.", "command", "", False),
        ('He said, "The soup is *cold."', "quotation", "say", False),
        ("A man with a *cold soup.", "fragment", "", True),
        ("The soup was *cold as well.", "main", "", True),
        ("Because the soup is *cold, you can leave.", "adverbial", "", True),
        ("It may be because the soup is *cold.", "adverbial", "", False),
        ("There is evidence that many people ate *cold soup.", "complement", "evidence", False),
        ("There was a *cold soup made.", "main", "", True),
    ],
)
def test_the_clause_its_governor_and_whether_it_is_asserted(
    marked: str, clause: str, governor: str, asserted: bool
) -> None:
    row = context(marked)
    assert (row["clause"], row["governor"], row["asserted"]) == (clause, governor, asserted)


@pytest.mark.parametrize(
    ("marked", "phrase"),
    [
        ("He likes it as *well.", "fixed"),
        ("At *least he came.", "fixed"),
        ("A man stands in *front of a house.", "fixed"),
        ("He ate a hot *dog.", "idiom"),
        ("They *gave up.", "idiom"),
        ("He ran five *miles.", "measure"),
        ("She is ten years *old.", "measure"),
        ("He lives in *London.", "name"),
        ("The soup *kettle was cold.", "compound"),
        ("How to Eat Cold *Soup", "title"),
        ("The *soup was cold.", ""),
        ("An old *man slept.", ""),
    ],
)
def test_the_kind_of_phrase_a_word_is_part_of(marked: str, phrase: str) -> None:
    assert context(marked)["phrase"] == phrase


@pytest.mark.parametrize(
    ("marked", "head"),
    [
        ("The *old man slept.", "man"),
        ("The old *man slept.", "slept"),
        ("He sat on a *chair.", "on"),
        ("He sat *on a chair.", "sat"),
        ("The man who ate *soup left.", "ate"),
        ("The *man who ate soup left.", "left"),
        ("Does the *man sleep?", "sleep"),
        ("The man and the *boy left.", "man"),
        ("The *boy's hat fell.", "hat"),
    ],
)
def test_the_head_of_a_word(marked: str, head: str) -> None:
    sentences = Sentences.of(pl.Series([marked.replace("*", "")]), "light")
    assert sentences.frame["token"][context(marked)["head"]] == head


def test_the_root_has_no_head() -> None:
    assert context("The man *slept.")["head"] == -1


def test_a_row_does_not_depend_on_the_texts_and_places_beside_it() -> None:
    marked = ["No *dog barked.", "He *slept. Every cat slept.", "He slept. Every *cat slept.", "Did a *dog bark?"]
    rows = [{name: value for name, value in row.items() if name != "head"} for row in contexts(*marked)]
    alone = [{name: value for name, value in context(text).items() if name != "head"} for text in marked]
    assert rows == alone
    assert [row["polarity"] for row in rows] == ["down", "up", "down", "none"]


def test_places_may_be_none_repeated_or_unsorted() -> None:
    sentences = Sentences.of(pl.Series(["No dog barked.", "A cat slept."]), "light")
    assert sentences.contexts(np.array([], dtype=np.int64)).height == 0
    rows = sentences.contexts(np.array([5, 1, 1], dtype=np.int64))
    assert rows["polarity"].to_list() == ["up", "down", "down"]


def test_texts_without_words_do_not_fail() -> None:
    sentences = Sentences.of(pl.Series(["?", "and", "...", "( )", "if", '"', None, "to to to"]), "light")
    places = np.arange(sentences.frame.height, dtype=np.int64)
    assert sentences.contexts(places).height == len(places)


@pytest.mark.parametrize(
    ("marked", "polarity_and_by"),
    [
        ("*Beavers build dams.", ("none", "build")),
        ("*Dogs run through a field.", ("up", "")),
        ("*Dogs are running.", ("up", "")),
        ("*Crafts are being made.", ("up", "")),
        ("*Whales are hunted.", ("none", "hunted")),
        ("My uncle hates *vegetables.", ("none", "hates")),
        ("My uncle eats *vegetables.", ("up", "")),
    ],
)
def test_a_noun_that_stands_for_its_kind_is_not_monotone(marked: str, polarity_and_by: tuple[str, str]) -> None:
    assert polarity(marked) == polarity_and_by


@pytest.mark.parametrize(
    "marked", ["He has neither a *dog nor a cat.", "He has neither a dog nor a *cat.", "There was hardly any *traffic."]
)
def test_a_negation_of_two_words_counts_once(marked: str) -> None:
    assert polarity(marked)[0] == "down"


def test_what_follows_a_comma_is_said_of_everything_the_noun_names() -> None:
    row = context("No river, which flows through a *gorge, is popular.")
    assert (row["polarity"], row["asserted"]) == ("up", True)


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("He did not see a dog, a *cat or a bird.", "down"),
        ("He did not meet Ann, a *baker from Leeds.", "up"),
        ("Despite *protests, there was little choice.", "up"),
        ("The drink gave them all good *cheer.", "up"),
        ("It is used in case *studies.", "up"),
        ("Output has not risen, suggesting that a *rule hurts.", "up"),
        ("It rained all the way to a *town.", "up"),
        ("He wears a *shirt with no tie.", "up"),
        ("He wears a shirt with no *tie.", "down"),
        ("He was a *pilot, not a baker.", "up"),
        ("He was a pilot, not a *baker.", "down"),
        ("He has more *sons than daughters.", "none"),
    ],
)
def test_words_outside_the_scope_of_a_quantifier_or_negation_are_upward(marked: str, expected: str) -> None:
    assert polarity(marked)[0] == expected


def test_an_auxiliary_before_its_subject_asks() -> None:
    row = context("have you seen a *dog lately")
    assert (row["clause"], row["polarity"], row["asserted"]) == ("question", "none", False)
    assert context("Never had she seen a *lion.")["polarity"] == "down"
    assert context("Here is a *picture of a dog.")["clause"] == "main"
    assert context("Around the corner is a *church.")["clause"] == "main"


def test_a_quantifier_after_its_subject_restricts_no_other_noun() -> None:
    assert polarity("The owners have all made large *profits.") == ("up", "")


@pytest.mark.parametrize("marked", ["A former *baker left.", "The average *salary is low."])
def test_an_adjective_may_destroy_the_polarity_of_its_noun(marked: str) -> None:
    assert polarity(marked)[0] == "none"


def test_the_marked_sentences_to_develop_with_come_out_as_both_readings_say() -> None:
    rows = pl.read_csv(MARKED, separator="\t", quote_char=None).filter(part="develop")
    rows = rows.filter(pl.col("first") == pl.col("second"))
    answers = [row["polarity"] for row in contexts(*rows["sentence"])]
    wrong = rows.with_columns(answer=pl.Series(answers)).filter(pl.col("answer") != pl.col("first"))
    assert wrong.select("sentence", "first", "answer").rows() == []
