import polars as pl
import pytest

from acidtest.sources.heuristics import lexical_overlap, subsequence, words


@pytest.mark.parametrize(
    ("premise", "hypothesis", "overlap", "run"),
    [
        ("The doctor was paid by the actor.", "The doctor paid the actor.", True, False),
        ("The doctor near the actor danced.", "The actor danced.", True, True),
        ("If the artist slept, the actor ran.", "The artist slept.", True, True),
        ("The artist slept.", "The artists slept.", False, False),
        ("He can't swim.", "He can swim.", False, False),
        ("He ran.", "", False, False),
        ("He ran.", "?!", False, False),
        ("Well-known men ran.", "Known men ran.", False, False),
        ("A cat. A DOG ran", "a dog", True, True),
    ],
)
def test_heuristics_are_told_from_words(premise: str, hypothesis: str, overlap: bool, run: bool) -> None:
    pair = pl.Series([premise]), pl.Series([hypothesis])
    assert lexical_overlap(*pair).to_list() == [overlap]
    assert subsequence(*pair).to_list() == [run]


def test_words_are_lower_cased_and_without_punctuation() -> None:
    assert words(pl.Series(["\"Can't,\" said O'Neil (42)."])).to_list() == [["can't", "said", "o'neil", "42"]]
