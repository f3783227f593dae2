"""What else words may be, told from their relatives."""

from __future__ import annotations

import numpy as np
import polars as pl

from acidtest.text.context import NUMBER, TAGS
from acidtest.text.relatives import related

LEXICON = {
    "light": "NN",
    "lighting": "NN",
    "lighter": "JJR",
    "cold": "JJ",
    "colds": "NNS",
    "tree": "NN",
    "stop": "VB",
    "stopping": "VBG",
    "stops": "NNS",
    "carry": "NN",
    "carried": "VBD",
    "watches": "NNS",
    "watch": "VB",
    "of": "IN",
}


def others(word: str) -> set[str]:
    words, tags = pl.Series(list(LEXICON)), [NUMBER[tag] for tag in LEXICON.values()]
    may = related(words, np.array(tags, dtype=np.uint8))[list(LEXICON).index(word)]
    return {tag for tag, number in NUMBER.items() if int(may) >> number & 1} - {LEXICON[word]}


def test_a_word_with_inflected_relatives_may_be_what_they_are_forms_of() -> None:
    assert others("light") == {"VB", "VBP", "JJ"}
    assert others("cold") == {"NN"}
    assert others("carry") == {"VB", "VBP"}
    assert others("tree") == set()
    assert others("stop") == {"VBP", "NN"}


def test_inflected_forms_are_ambiguous_where_their_stems_are() -> None:
    assert others("watches") == {"VBZ"}
    assert others("stops") == {"VBZ"}
    assert others("carried") == {"VBN", "JJ"}
    assert others("stopping") == {"NN", "JJ"}


def test_function_words_are_what_they_are() -> None:
    assert others("of") == set()
    assert "START" in TAGS
