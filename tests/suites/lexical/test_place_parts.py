"""Words that are part of something else, and so not replaced."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.english.sentences import Neighbours, Sentences, find_occurrences
from acidtest.suites.lexical.place_limits import reasons_against_all
from acidtest.suites.lexical.substitution import surfaces


def reasons(category: str, text: str) -> set[str]:
    """The reasons against replacing words of a category in a text."""
    sentences = Sentences.of(pl.Series([text]), "light")
    places = find_occurrences(sentences, surfaces((category,)))
    flags = reasons_against_all(Neighbours(sentences, places), sentences, places)
    return {reason for reason, flag in flags.items() if flag.any()} - {"another part of speech"}


@pytest.mark.parametrize(
    ("category", "text", "reason"),
    [
        ("animals", "Wolf did call after lunch.", "part of a name"),
        ("hypernyms", "Man on the Moon is a good film.", "part of a name"),
        ("cities", "He read Lucia in London last year.", "part of a name"),
        ("hypernyms", "They met in the men's room.", "part of a compound"),
        ("antonyms", "The approving official left.", "part of a compound"),
        ("animals", "She took the lion's share of the credit.", "idiom"),
        ("landscapes", "The task was a walk in the park.", "idiom"),
        ("countries", "He read A Passage to India last year.", "part of a name"),
        ("ordinals", "We first turn to sales.", "number of no things"),
        ("cardinals", "Exhibit 17 shows the results.", "number of no things"),
        ("cardinals", "They spoke of Cave 31 at lunch.", "number of no things"),
        ("cardinals", "They walked the last three miles.", "number of no things"),
    ],
)
def test_the_word_is_not_replaced_at_all(category: str, text: str, reason: str) -> None:
    assert reason in reasons(category, text)


def test_a_language_that_describes_something_else_is_no_school_subject() -> None:
    assert "no school subject" in reasons("school-subjects", "She is studying Italian soccer.")


def test_a_plain_word_is_part_of_nothing() -> None:
    assert not reasons("animals", "A girl saw a wolf in the park.")
