"""What is measured of a pair, on pairs written by hand."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.pairs.cues import amounts_in, cues, disagreements, negations, unequal


def amounts(sentence: str) -> list[str]:
    return amounts_in(pl.Series([sentence])).to_list()[0]


def measured(premise: str, hypothesis: str) -> dict[str, object]:
    return cues(pl.Series([premise]), pl.Series([hypothesis])).text.row(0, named=True)


def test_a_pair_is_measured_as_a_person_would() -> None:
    assert measured("The two old dogs never slept.", "The dog sleeps in three young beds.") == {
        # dog and sleep, of dog, sleep, three, young and bed.
        "overlap": 0.4,
        "length_ratio": 0.9,
        "negations": "never / –",
        "antonyms": "old/young",
        "numbers": "2 / 3",
        "slips": None,
    }


def test_a_pair_without_cues_has_none() -> None:
    assert measured("A dog sleeps.", "A dog sleeps.") == {
        "overlap": 1.0,
        "length_ratio": 1.0,
        "negations": None,
        "antonyms": None,
        "numbers": None,
        "slips": None,
    }


def test_overlap_without_content_words_and_length_without_words_are_not_known() -> None:
    found = cues(pl.Series(["A dog sleeps.", "A dog sleeps.", None]), pl.Series(["They were.", "", None]))
    assert found.overlap.to_list() == [None, None, None]
    assert found.length_ratio.to_list() == [1.5, None, None]


def test_no_pairs_have_no_cues() -> None:
    empty = pl.Series([], dtype=pl.String)
    assert cues(empty, empty).text.height == 0


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("No one isn't there.", ["no", "isn't"]),
        ("He can’t and cannot.", ["can’t", "cannot"]),
        ("He NEVER slept, never!", ["never"]),
        ("Not only cats, no doubt, but nothing else.", ["nothing"]),
        ("The knot is a note.", []),
    ],
)
def test_negation_words(sentence: str, found: list[str]) -> None:
    assert negations(pl.Series([sentence])).to_list()[0] == found


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("Twenty-one men paid $1,200.50 and $3.00.", ["21", "1200.5", "3"]),
        ("A hundred and five people in 1999", ["105", "1999"]),
        ("Several came, a few left.", ["some"]),
        ("Someone saw everyone, no one saw most.", ["some", "all", "none", "many"]),
        ("More than 12, less than 20", ["more", "12", "less", "20"]),
        ("Everyone helped each other, the one who knew one another, not at all.", ["all"]),
        ("The summer was tense.", []),
    ],
)
def test_amounts(sentence: str, found: list[str]) -> None:
    assert amounts(sentence) == found


@pytest.mark.parametrize(
    ("premise", "hypothesis", "differ"),
    [
        ("Two dogs.", "Three dogs.", True),
        ("Two dogs.", "2 dogs.", False),
        ("Two dogs and five cats.", "Two dogs.", False),
        ("All dogs.", "Some dogs.", True),
        ("Each dog.", "Every dog.", False),
        ("Two dogs.", "Some dogs.", False),
        ("It costs $20.", "It costs more than $20.", True),
        ("More than happy.", "Happy.", False),
        ("Dogs.", "Three dogs.", False),
    ],
)
def test_amounts_differ_only_where_they_can_be_compared(premise: str, hypothesis: str, differ: bool) -> None:
    assert unequal(amounts_in(pl.Series([premise])), amounts_in(pl.Series([hypothesis]))).to_list() == [differ]


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("They was late.", ["they was"]),
        ("We know that she don’t care", ["she don’t"]),
        ("So if there are something wrong, call.", ["there are something"]),
        ("A women runs.", ["a women"]),
        ("A women's shelter, a men-only club.", []),
        ("The parts of it are red; what they was.", []),
        ("If he were late, they were too.", []),
    ],
)
def test_what_does_not_agree_is_found_at_the_beginning_of_a_clause(sentence: str, found: list[str]) -> None:
    assert disagreements(pl.Series([sentence])).to_list()[0] == found


def test_slips_of_both_sentences_are_told() -> None:
    assert measured("He recieved it.", "they was late")["slips"] == "recieved (received), they was"
