"""Rules that change tags by what stands beside a word."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from acidtest.text.context import FARTHEST, NUMBER, TAGS, Condition, Line, Rule, brill_rule, changed, mask, rule

ANY = mask(TAGS[1:])


def line(*sentences: str, may: int = ANY) -> Line:
    """Sentences such as ``the/DT play/VB`` in a row."""
    cells: list[tuple[str, str]] = [("", "START")] * FARTHEST
    for sentence in sentences:
        cells += [(word, tag) for word, _, tag in (token.partition("/") for token in sentence.split(" "))]
        cells += [("", "START")] * FARTHEST
    words = pl.Series(sorted({word for word, _ in cells if word}))
    number = {word: place for place, word in enumerate(words)}
    return Line(
        np.array([NUMBER[tag] for _, tag in cells], dtype=np.uint8),
        np.array([number.get(word, len(words)) for word, _ in cells]),
        np.array([may if word else 0 for word, _ in cells], dtype=np.uint64),
        words,
    )


def after(rules: list[Rule], *sentences: str, may: int = ANY) -> str:
    tags = changed(line(*sentences, may=may), rules)
    return " ".join(TAGS[tag] for tag in tags if TAGS[tag] != "START")


def test_a_rule_is_written_as_old_tag_new_tag_and_conditions() -> None:
    assert rule("NN|VB", "JJ", "t-1,-2=DT|PRP$ w+1!=of") == Rule(
        ("NN", "VB"),
        "JJ",
        (
            Condition((-1, -2), ("DT", "PRP$"), words=False, negated=False),
            Condition((1,), ("of",), words=True, negated=True),
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
        rule(*cells)


def test_brills_rules_are_read() -> None:
    assert brill_rule("NN VB PREVTAG TO") == rule("NN", "VB", "t-1=TO")
    assert brill_rule("NNP NN SURROUNDTAG STAART NNS") == rule("NNP", "NN", "t-1=START t+1=NNS")
    # A line of textblob's file that has one word too many.
    assert brill_rule("NN PRP PREVWD are mine") is None
    assert brill_rule("NN VB SOMETIMES TO") is None


def test_a_tag_changes_where_all_conditions_hold() -> None:
    to_play = [rule("NN", "VB", "t-1=TO w+1!=of")]
    assert after(to_play, "to/TO play/NN", "the/DT play/NN", "to/TO play/NN of/IN") == "TO VB DT NN TO NN IN"


def test_beyond_a_sentence_lies_nothing_but_its_start() -> None:
    first = [rule("NN", "VB", "t-1=START")]
    assert after(first, "play/NN ball/NN", "play/NN") == "VB NN VB"
    assert after([rule("NN", "VB", "t-1,-2,-3=TO")], "a/DT to/TO", "play/NN") == "DT TO NN"


def test_a_rule_sees_what_the_rule_before_it_did() -> None:
    two = [rule("NN", "VB", "t-1=TO"), rule("RB", "RP", "t-1=VB")]
    assert after(two, "to/TO sit/NN down/RB") == "TO VB RP"


def test_a_word_only_gets_a_tag_it_may_have() -> None:
    assert after([rule("NN", "VB", "t-1=TO")], "to/TO school/NN", may=mask(["NN", "TO"])) == "TO NN"
