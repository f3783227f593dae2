"""The suite ``stress/spelling``: a misspelt word in the hypothesis."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.english.trees import tree
from acidtest.suites.stress import spelling

LIGHT = {"tagger": "light"}
PAIRS = pl.DataFrame(
    {
        "premise": ["Nobody came.", "He paints.", "It is on."],
        "hypothesis": ["An ox is by it.", "Go on!", "5 — é"],
        "label": ["entailment", "neutral", "contradiction"],
        "genre": ["farm", "home", "home"],
        "target": ["x", "y", "z"],
        "hypothesis_parse": [
            "(ROOT (S (NP (DT An) (NN ox)) (VP (VBZ is) (PP (IN by) (NP (PRP it)))) (. .)))",
            "(ROOT (S (VP (VB Go) (PRT (RP on))) (. !)))",
            None,
        ],
    }
)


def suite_of(pairs: pl.DataFrame) -> Suite:
    card = Card("mine", columns={name: "factor" for name in ("genre", "target") if name in pairs.columns})
    return Suite(complete_columns(pairs, "mine").lazy(), card).sealed()


def generated(pairs: Suite, *, seed: int = 0, **arguments: str) -> Suite:
    return api.generate("stress/spelling", source=pairs, seed=seed, arguments=LIGHT | arguments)


def test_a_content_word_is_a_noun_or_adjective_and_a_function_word_an_article_conjunction_or_pronoun() -> None:
    # Words of two letters have one swap: the whole output is known without the draw.
    content = generated(suite_of(PAIRS), edit="adjacent", target="content").frame.collect()
    assert content.select("hypothesis", "word", "misspelling").rows() == [("An xo is by it.", "ox", "xo")]
    function = generated(suite_of(PAIRS), edit="adjacent", target="function", edits="2").frame.collect()
    assert function.select("hypothesis", "word", "misspelling").rows() == [("Na ox is by ti.", "An it", "Na ti")]


def test_everything_else_about_a_pair_stays() -> None:
    pairs = suite_of(PAIRS)
    arguments = LIGHT | {"edit": "adjacent", "target": "content"}
    made = api.generate("stress/spelling", source=pairs, arguments=arguments, reading=api.Reading(keep=("target",)))
    base = pairs.frame.collect().row(0, named=True)
    assert made.frame.collect().rows(named=True) == [
        base
        | {
            "id": f"{base['id']}-adjacent-content-1",
            "base_id": base["id"],
            "hypothesis": "An xo is by it.",
            "hypothesis_parse": "(ROOT (S (NP (DT An) (NN xo)) (VP (VBZ is) (PP (IN by) (NP (PRP it)))) (. .)))",
            "source_target": "x",
            "edit": "adjacent",
            "target": "content",
            "word": "ox",
            "misspelling": "xo",
        }
    ]
    assert made.card.crossings == (("edit", "target"),)
    assert made.card.columns == {
        "genre": "factor",
        "source_target": "factor",
        "edit": "factor",
        "target": "factor",
        "word": "text",
        "misspelling": "text",
    }


def test_published_has_the_four_variants_of_the_paper_where_there_are_words_for_them() -> None:
    made = generated(suite_of(PAIRS)).frame.collect()
    rows = made.select(pl.col("base_id").rle_id().alias("pair"), "edit", "target").rows()
    assert rows == [
        (0, "adjacent", "any"),
        (0, "keyboard", "any"),
        (0, "adjacent", "content"),
        (0, "adjacent", "function"),
        (1, "adjacent", "any"),
        (1, "keyboard", "any"),
    ]


def test_pairs_left_out_are_counted_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="acidtest"):
        generated(suite_of(PAIRS)).frame.collect()
    told = [message for message in caplog.messages if message.startswith("stress/spelling")]
    assert told == [
        "stress/spelling: 1 pairs lack the words for adjacent-any-1",
        "stress/spelling: 1 pairs lack the words for keyboard-any-1",
        "stress/spelling: 2 pairs lack the words for adjacent-content-1",
        "stress/spelling: 2 pairs lack the words for adjacent-function-1",
    ]


def test_rows_do_not_depend_on_blocks_or_order(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = api.generate("stress/negation", n=50).control
    assert pairs is not None
    whole = generated(pairs).frame.collect()
    turned = Suite(pairs.frame.reverse(), pairs.card)
    monkeypatch.setattr(spelling, "_BLOCK_ROWS", 7)
    assert generated(pairs).frame.collect().equals(whole)
    assert generated(turned).frame.sort("id").collect().equals(whole.sort("id"))


def test_the_first_rows_stay_as_they_are(golden: Callable[[str, str], None]) -> None:
    texts = [
        "The well-known “Café” isn't open, because everyone left it.",
        "Big dogs and THEIR cats won't sleep in my bed!",
    ]
    pairs = suite_of(pl.DataFrame({"premise": ["One."] * 2, "hypothesis": texts, "label": ["neutral"] * 2}))
    parts = [generated(pairs), generated(pairs, edits="2"), generated(pairs, nonwords="true")]
    frame = pl.concat(part.frame.select("id", "hypothesis", "word", "misspelling").collect() for part in parts)
    golden("stress_spelling.tsv", frame.write_csv(separator="\t", quote_style="never"))


def test_the_tagger_is_in_the_card_where_tags_are_used() -> None:
    assert str(generated(suite_of(PAIRS)).card.arguments["tagger"]).startswith("light")
    assert "tagger" not in generated(suite_of(PAIRS), edit="keyboard").card.arguments


def test_options_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(AcidtestError, match="--target content needs --edit adjacent or keyboard"):
        generated(suite_of(PAIRS), target="content")
    with pytest.raises(AcidtestError, match="--edits is a number of words from 1 on, not 0"):
        generated(suite_of(PAIRS), edits="0")


def test_trees_of_snli_hold_the_words_of_the_misspelt_hypotheses(shared: Path) -> None:
    pairs = api.load(shared / "snli" / "snli_1.0_dev.jsonl.gz")
    made = api.generate("stress/spelling", source=pairs, n=1000, arguments=LIGHT).frame.collect()
    assert made.height > 3400
    for text, parse, binary in made.select("hypothesis", "hypothesis_parse", "hypothesis_binary_parse").iter_rows():
        leaves = "".join(tree(parse).leaves)
        assert _letters(leaves) == _letters(binary) == _letters(text)


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text.replace("-LRB-", "").replace("-RRB-", "")))
