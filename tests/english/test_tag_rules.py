"""Rules that change tags by what stands beside a word."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from acidtest.english.lexicon import (
    FARTHEST,
    NUMBER,
    TAGS,
    RuleCondition,
    TagLine,
    TagRule,
    apply_rules,
    parse_brill_rule,
    parse_rule,
    tag_mask,
)

ANY = tag_mask(TAGS[1:])


def line(*sentences: str, may: int = ANY) -> TagLine:
    """Sentences such as ``the/DT play/VB`` in a row."""
    cells: list[tuple[str, str]] = [("", "START")] * FARTHEST
    for sentence in sentences:
        cells += [(word, tag) for word, _, tag in (token.partition("/") for token in sentence.split(" "))]
        cells += [("", "START")] * FARTHEST
    words = pl.Series(sorted({word for word, _ in cells if word}))
    number = {word: place for place, word in enumerate(words)}
    return TagLine(
        np.array([NUMBER[tag] for _, tag in cells], dtype=np.uint8),
        np.array([number.get(word, len(words)) for word, _ in cells]),
        np.array([may if word else 0 for word, _ in cells], dtype=np.uint64),
        words,
    )


def after(rules: list[TagRule], *sentences: str, may: int = ANY) -> str:
    tags = apply_rules(line(*sentences, may=may), rules)
    return " ".join(TAGS[tag] for tag in tags if TAGS[tag] != "START")


def test_a_rule_is_written_as_old_tag_new_tag_and_conditions() -> None:
    assert parse_rule("NN|VB", "JJ", "t-1,-2=DT|PRP$ w+1!=of") == TagRule(
        ("NN", "VB"),
        "JJ",
        (
            RuleCondition((-1, -2), ("DT", "PRP$"), words=False, negated=False),
            RuleCondition((1,), ("of",), words=True, negated=True),
        ),
    )


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        (("NN", "XX", "t-1=DT"), "'XX' is no tag of the Penn Treebank"),
        (("NN", "VB", "t-1=TOO"), "'TOO' is no tag of the Penn Treebank"),
        (("NN", "VB", "PREVTAG TO"), "'PREVTAG' is no condition such as t-1=DT"),
        (("NN", "VB", "t-4=TO"), "'t-4=TO' looks farther than 3 places"),
    ],
)
def test_a_rule_that_cannot_be_read_is_told(cells: tuple[str, str, str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem.replace("+", r"\+")):
        parse_rule(*cells)


def test_brills_rules_are_read() -> None:
    assert parse_brill_rule("NN VB PREVTAG TO") == parse_rule("NN", "VB", "t-1=TO")
    assert parse_brill_rule("NNP NN SURROUNDTAG STAART NNS") == parse_rule("NNP", "NN", "t-1=START t+1=NNS")
    # A line of textblob's file that has one word too many.
    assert parse_brill_rule("NN PRP PREVWD are mine") is None
    assert parse_brill_rule("NN VB SOMETIMES TO") is None


def test_a_tag_changes_where_all_conditions_hold() -> None:
    to_play = [parse_rule("NN", "VB", "t-1=TO w+1!=of")]
    assert after(to_play, "to/TO play/NN", "the/DT play/NN", "to/TO play/NN of/IN") == "TO VB DT NN TO NN IN"


def test_beyond_a_sentence_lies_nothing_but_its_start() -> None:
    first = [parse_rule("NN", "VB", "t-1=START")]
    assert after(first, "play/NN ball/NN", "play/NN") == "VB NN VB"
    assert after([parse_rule("NN", "VB", "t-1,-2,-3=TO")], "a/DT to/TO", "play/NN") == "DT TO NN"


def test_a_rule_sees_what_the_rule_before_it_did() -> None:
    two = [parse_rule("NN", "VB", "t-1=TO"), parse_rule("RB", "RP", "t-1=VB")]
    assert after(two, "to/TO sit/NN down/RB") == "TO VB RP"


def test_a_word_only_gets_a_tag_it_may_have() -> None:
    assert after([parse_rule("NN", "VB", "t-1=TO")], "to/TO school/NN", may=tag_mask(["NN", "TO"])) == "TO NN"
