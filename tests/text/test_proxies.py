from __future__ import annotations

import polars as pl
import pytest

from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Card, Suite
from acidtest.text.proxies import relatives, side_counts


def test_relatives_are_those_of_the_sense_that_is_opposed() -> None:
    found = dict(relatives("victory", "defeat", "n"))
    assert found["triumph"] == "synonym"
    assert found["success"] == "hypernym"
    assert "defeat" not in found


@pytest.mark.parametrize(
    ("lemma", "antonym", "pos", "proxies"),
    [
        ("man", "woman", "n", ["adult", "bachelor", "gentleman", "grownup", "guy"]),
        ("woman", "man", "n", ["adult", "girl", "grownup", "lady", "widow", "wife"]),
        ("girl", "boy", "n", ["schoolgirl"]),
        ("large", "small", "a", ["big"]),
        # "Got" for "won" or "moving" for "riding": hypernyms of verbs take other objects.
        ("win", "lose", "v", []),
        ("walk", "ride", "v", []),
    ],
)
def test_proxies_mean_what_they_stand_for(lemma: str, antonym: str, pos: str, proxies: list[str]) -> None:
    # WordNet also has a cat, a bull and a stiff for a man, a broad, a dish and an amazon for a woman.
    assert [word for word, _ in relatives(lemma, antonym, pos)] == proxies


def test_opposed_senses_that_are_hardly_used_have_no_proxies() -> None:
    # Top and bottom of an inning: "round" and "turn" are no proxies of "the top of the hill".
    assert {"round", "turn"}.isdisjoint(dict(relatives("top", "bottom", "n")))


def test_the_papers_example_has_its_proxy_where_no_sense_is_opposed() -> None:
    # Sanchez Carmona et al. (2018), examples 7 and 8: "aged" for "elderly" beside "young".
    assert ("aged", "synonym") in relatives("elderly", "young", "a")


def test_a_word_counts_on_the_side_where_it_stands_more_often() -> None:
    pairs = pl.LazyFrame({"premise": ["Old old men.", "Old."], "hypothesis": ["Men, men and men.", "Old."]})
    counts = dict(side_counts(Suite(pairs, Card("mine"))).rows())
    assert counts["old"] == 3
    assert counts["men"] == 3
    assert counts["and"] == 1


def test_an_empty_training_file_is_told() -> None:
    empty = pl.LazyFrame({"premise": [], "hypothesis": []}, schema={"premise": pl.String, "hypothesis": pl.String})
    with pytest.raises(AcidtestError, match="mine has no examples to count words in"):
        side_counts(Suite(empty, Card("mine")))
