"""What words are by themselves."""

from __future__ import annotations

import importlib.util

import polars as pl
import pytest

from acidtest.core.errors import AcidtestError
from acidtest.english.lexicon import CONTEXT, NUMBER, TAGS, parse_brill_rule, readings, related_tags, textblob_lines
from acidtest.english.tagging import packaged_rules
from acidtest.io.wordlists import packaged_table

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


def tag(word: str, *, initial: bool = False) -> str:
    return TAGS[readings(pl.Series([word]))[initial].tag[0]]


def may(word: str) -> set[str]:
    bits = int(readings(pl.Series([word]))[0].may[0])
    return {name for name, number in NUMBER.items() if bits >> number & 1}


def test_a_capital_says_little_at_the_start_of_a_sentence() -> None:
    assert tag("Light") == "NNP"
    assert tag("Light", initial=True) == "NN"
    assert tag("Tim", initial=True) == "NNP"
    assert tag("The", initial=True) == "DT"


def test_words_in_no_list_are_told_by_their_shape() -> None:
    expected = {
        "3,000.50": "CD",
        "1990s": "NNS",
        "21st": "JJ",
        "blickets": "NNS",
        "blicketing": "VBG",
        "blicketed": "VBN",
        "blicketly": "RB",
        "zorpish": "JJ",
        "two-headed": "JJ",
        "blicket": "NN",
        "Blicket": "NNP",
        "2": "CD",
        "(": "-LRB-",
        "?!": ".",
        "€": "$",
        "☃": "SYM",
    }
    assert {word: tag(word) for word in expected} == expected


def test_what_is_written_in_capitals_is_read_as_if_it_were_not() -> None:
    assert tag("SLEEPING") == "VBG"
    assert tag("US", initial=True) == "NNP"


def test_ambiguous_words_keep_all_they_may_be() -> None:
    assert may("left") == {"VBD", "VBN", "JJ", "NN", "RB"}
    assert may("her") == {"PRP$", "PRP"}
    assert may("blicket") == {"NN", "VB", "VBP", "JJ"}
    assert may("Light") == {"NN", "JJ", "VB", "VBP", "NNP", "NNPS"}


def test_our_words_and_rules_can_be_read() -> None:
    table = packaged_table("tagging/words.tsv")
    assert table["word"].is_unique().all()
    assert {name for tags in table["tags"] for name in tags.split(" ")} <= set(TAGS)
    # Each rule comes with an example.
    assert len(packaged_rules()) == packaged_table("tagging/rules.tsv")["example"].str.len_chars().gt(5).sum()


def test_textblob_carries_the_rules_we_know() -> None:
    read = [parse_brill_rule(line) for line in textblob_lines(CONTEXT)]
    # One of its 290 lines has a word too many and is left out.
    assert (len(read), read.count(None)) == (290, 1)


def test_without_textblob_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acidtest.english.lexicon.find_spec", lambda name: None)
    with pytest.raises(AcidtestError, match="the light tagger needs textblob; install it with: pip install textblob"):
        textblob_lines(CONTEXT)
    assert importlib.util.find_spec("textblob") is not None


def others(word: str) -> set[str]:
    lexicon = pl.DataFrame({"word": list(LEXICON), "tag": [NUMBER[tag] for tag in LEXICON.values()]})
    may = related_tags(lexicon, lexicon)[list(LEXICON).index(word)]
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
