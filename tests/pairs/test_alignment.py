"""What a hypothesis replaces in its premise."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from acidtest.core.errors import AcidtestError
from acidtest.pairs.alignment import replaced_words

PAIRS: list[tuple[str | None, str | None, tuple[str, str, str]]] = [
    ("A man is sad.", "A man is unhappy.", ("sad", "unhappy", "replaced")),
    ("A MAN sleeps.", "a woman sleeps", ("MAN", "woman", "replaced")),
    ("a man's hat", "a woman's hat", ("man", "woman", "replaced")),
    (
        "The man is holding a saxophone",
        "The man is holding an electric guitar",
        ("saxophone", "electric guitar", "replaced"),
    ),
    # What merely adapts.
    ("He saw an old dog.", "He saw a young dog.", ("old", "young", "replaced")),
    ("A man drinks a beer.", "A man drinks some wine.", ("beer", "wine", "replaced")),
    ("One dog runs home.", "Two dogs run home.", ("One", "Two", "replaced")),
    ("The rooms are blue.", "The room is red.", ("blue", "red", "replaced")),
    ("A man near a house", "A man far away from a house", ("near", "far away", "replaced")),
    ("A man close to a house", "A man far from a house", ("close", "far", "replaced")),
    ("He is at home.", "He is in Paris.", ("at home", "Paris", "replaced")),
    ("A dog runs.", "Dogs run.", ("dog", "Dogs", "replaced")),
    # Parts of what hyphens join are words, a stretch keeps its hyphens.
    ("a four-wheeled car", "a 10-wheeled car", ("four", "10", "replaced")),
    ("a dark-haired man", "a blond man", ("dark-haired", "blond", "replaced")),
    ("It left at 11:27.", "It left at 3:27.", ("11", "3", "replaced")),
    # The same word replaced by the same other throughout.
    ("A red, white and red flag.", "A blue, white and blue flag.", ("red", "blue", "replaced")),
    ("A red, white and red flag.", "A blue, white and green flag.", ("", "", "other")),
    # No difference but articles, case and punctuation.
    ("A man sleeps.", "The man, sleeps", ("", "", "same")),
    ("", "", ("", "", "same")),
    # More or less than one replacement.
    ("A man sleeps.", "A tall man sleeps.", ("", "", "other")),
    ("A tall man sleeps.", "A man sleeps.", ("", "", "other")),
    ("A tall man sleeps.", "Men sleep.", ("", "", "other")),
    ("The dog bit the cat.", "The cat bit the dog.", ("", "", "other")),
    ("The boy can swim.", "The boy cannot swim.", ("", "", "other")),
    ("Two men stand near a big red car.", "Nobody here has seen anything at all.", ("", "", "other")),
    (None, "A man sleeps.", ("", "", "other")),
]


def test_the_replaced_stretch_is_found_on_both_sides() -> None:
    premises, hypotheses, expected = zip(*PAIRS, strict=True)
    found = replaced_words(pl.Series(premises), pl.Series(hypotheses))
    assert found.columns == ["premise_words", "hypothesis_words", "difference"]
    assert found.rows() == list(expected)


def test_a_pair_is_aligned_the_same_alone() -> None:
    for premise, hypothesis, expected in PAIRS:
        columns = (pl.Series([text], dtype=pl.String) for text in (premise, hypothesis))
        assert replaced_words(*columns).row(0) == expected


def test_compounds_take_a_neighbour_along_where_the_words_alone_are_not_related() -> None:
    premises = pl.Series(["In a living room.", "A young man.", "In a living room.", "The living.", "A tall tree."])
    hypotheses = pl.Series(["In a dining room.", "An old man.", "In a kitchen.", "The dining.", "A sweet tree."])
    assert replaced_words(premises, hypotheses).rows() == [
        ("living room", "dining room", "replaced"),
        ("young", "old", "replaced"),
        ("living room", "kitchen", "replaced"),
        ("living", "dining", "replaced"),
        ("tall", "sweet", "replaced"),
    ]
    one = replaced_words(pl.Series(["Men in living rooms."]), pl.Series(["Men in the dining room."]))
    assert one.row(0) == ("living rooms", "dining room", "replaced")
    before = replaced_words(pl.Series(["He likes ice cream."]), pl.Series(["He likes ice hockey."]))
    assert before.row(0) == ("ice cream", "ice hockey", "replaced")


def test_no_pairs_give_an_empty_frame() -> None:
    nothing = pl.Series([], dtype=pl.String)
    found = replaced_words(nothing, nothing)
    assert found.columns == ["premise_words", "hypothesis_words", "difference"]
    assert found.is_empty()


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(AcidtestError, match="2 premises and 1 hypotheses are no pairs"):
        replaced_words(pl.Series(["a", "b"]), pl.Series(["a"]))


def test_nearly_every_pair_of_breaking_nli_is_one_replacement(shared: Path) -> None:
    pairs = pl.read_ndjson(shared / "breaking_nli" / "breaking_nli_quarter.jsonl")
    found = pairs.hstack(replaced_words(pairs["sentence1"], pairs["sentence2"]))
    # Counted in the file: six premises have "cannot" where the hypothesis has "can", which leaves a word out.
    other = found.filter(pl.col("difference") != "replaced")
    assert other["difference"].to_list() == ["other"] * 6
    assert other["sentence1"].str.contains(" cannot ").all()
    planets = found.filter(pl.col("category") == "planets")
    assert set(planets["premise_words"]) == {"Earth", "Mars", "Saturn", "Venus"}
    assert set(planets["hypothesis_words"]) == {
        *("Earth", "Jupiter", "Mercury", "Neptune", "Pluto", "Saturn", "Uranus", "Venus")
    }
    rooms = found.filter(pl.col("category") == "rooms").select("premise_words", "hypothesis_words")
    assert rooms.rows().count(("living room", "dining room")) == 3
