"""None"""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.english.sentences import doubts

DOUBTFUL = {
    "The soup was not cold.": "negation",
    "The soup isn't cold.": "negation",
    "He left without the old dog.": "negation",
    "The soup might be cold.": "modality",
    "They can change the tone of people's voices.": "modality",
    "Maria thinks the soup is cold.": "belief",
    "The waiter said the soup was cold.": "belief",
    "If it rains, the street is wet.": "conditional",
    "Was the soup cold?": "question",
    "The soup was hot or cold.": "coordination",
    "Some soups were cold.": "quantifier",
    "The soup was colder than the tea.": "comparison",
    "The soup was often cold.": "habit",
    "Only the soup was cold.": "focus",
    "Yeah, the soup was cold.": "conversation",
    '"The soup is cold."': "quotation",
    "The soup (I had it) was cold.": "plurality",
}


@pytest.mark.parametrize(("text", "reason"), DOUBTFUL.items())
def test_a_sentence_that_is_no_plain_assertion_is_told_by_its_words(text: str, reason: str) -> None:
    assert doubts(pl.Series([text]), [reason]).to_list() == [reason]
    assert doubts(pl.Series([text])).item() is not None


def test_a_plain_assertion_raises_no_doubt() -> None:
    texts = ["The soup was cold.", "In 1998 the old mill burned down.", "Her canal boat is red.", "Mayor Orlow won."]
    assert doubts(pl.Series(texts)).to_list() == [None] * 4


def test_only_the_reasons_asked_for_are_looked_for() -> None:
    assert doubts(pl.Series(["The soup was not cold."]), ["modality"]).to_list() == [None]


def test_nothing_gives_nothing() -> None:
    assert doubts(pl.Series([], dtype=pl.String)).len() == 0
