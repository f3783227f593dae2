"""Sentences written as tokens, and as people write them."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import polars as pl
import pytest

from acidtest.io.starter import starter_sentences
from acidtest.text.detokenisation import detokenise
from acidtest.text.tokens import tokens


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Tim has 350 pounds of cement .", "Tim has 350 pounds of cement."),
        ("Tim , who is 29 , has n't eaten 5 of Ann 's apples .", "Tim, who is 29, hasn't eaten 5 of Ann's apples."),
        ("He paid $ 20 -LRB- or 10 % -RRB- .", "He paid $20 (or 10%)."),
        ("`` Two men , '' she said .", '"Two men," she said.'),
        ('He said " two men " .', 'He said "two men".'),
        ("The boys ' room has 12 beds ; it 's blue .", "The boys' room has 12 beds; it's blue."),
        ("They do n't like the U.S. .", "They don't like the U.S."),
        ("Is it 5 ? Yes !", "Is it 5? Yes!"),
        ("The ratio is 5 : 3 .", "The ratio is 5 : 3."),
        ("He waited ( 5 hours ) ...", "He waited (5 hours)..."),
    ],
)
def test_tokens_are_joined_as_people_write_them(text: str, written: str) -> None:
    assert detokenise(pl.Series([text])).to_list() == [written]


@pytest.mark.parametrize(
    "text",
    [
        "Tim has 350 pounds of cement.",
        "The ratio of A to B is 5 : 3",
        'He said "two men" and left',
        "Rock 'n' roll has 5 fans.",
        "He paid 5 $ or 10 % of it.",
        "The boys ' room",
        "",
    ],
)
def test_what_is_not_recognisably_tokens_stays_as_it_is(text: str) -> None:
    assert detokenise(pl.Series([text])).to_list() == [text]


def test_no_text_stays_no_text() -> None:
    assert detokenise(pl.Series([None], dtype=pl.String)).to_list() == [None]


def test_the_starter_sentences_come_back_from_their_tokens() -> None:
    texts = starter_sentences()["sentence"]
    parted = tokens(texts).group_by("text", maintain_order=True).agg(pl.col("token").str.join(" "))["token"]
    assert not (parted == texts).any()
    assert detokenise(parted).to_list() == texts.to_list()


def test_snli_sentences_come_back_from_the_leaves_of_their_trees(shared: Path) -> None:
    """The trees hold the sentences as the Stanford tokeniser parted them."""
    with gzip.open(shared / "snli" / "snli_1.0_dev.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    texts = pl.Series([" ".join(row["sentence1"].split()) for row in rows])
    leaves = pl.Series([" ".join(re.sub(r"[()]", " ", row["sentence1_binary_parse"]).split()) for row in rows])
    told_by_punctuation = texts.str.contains(r"[.,!?]$")
    assert (detokenise(leaves) == texts).filter(told_by_punctuation).mean() > 0.97
    assert (leaves == texts).filter(told_by_punctuation).mean() < 0.01
