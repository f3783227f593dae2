"""Tokens and sentences, with the places where they stand."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidtest.english.tokens import sentences, tokens


def parted(text: str) -> list[str]:
    return tokens(pl.Series([text]))["token"].to_list()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A man sleeps.", "A man sleeps ."),
        ("He didn't, wouldn't and can't.", "He did n't , would n't and ca n't ."),
        ("It's Tim's; they'll go, I'd've stayed.", "It 's Tim 's ; they 'll go , I 'd 've stayed ."),
        ("Don’t touch the dogs’ food", "Do n’t touch the dogs ’ food"),
        ("You cannot go, I'm gonna stay", "You can not go , I 'm gon na stay"),
        ("She paid $3,000.50 (15%) at 5:30.", "She paid $ 3,000.50 ( 15 % ) at 5:30 ."),
        ("A well-known mother-in-law, 12-inch", "A well-known mother-in-law , 12-inch"),
        (
            "Mr. Smith left the U.S. at 5 a.m. with J. K. Rowling",
            "Mr. Smith left the U.S. at 5 a.m. with J. K. Rowling",
        ),
        ('He said, "Stop!" and left...', 'He said , " Stop ! " and left ...'),
        ("Wait -- what?! [sic]", "Wait -- what ?! [ sic ]"),
        ("Write to me@home.org or http://a.b/c.", "Write to me@home.org or http://a.b/c ."),
        ("O'Neil said 'em, 'tis 1990's rock'n'roll", "O'Neil said 'em , 'tis 1990's rock'n'roll"),
        ("and/or R&B, AT&T", "and / or R&B , AT&T"),
        ("do n't John 's", "do n't John 's"),
    ],
)
def test_texts_are_parted_as_treebanks_part_them(text: str, expected: str) -> None:
    assert parted(text) == expected.split(" ")


def test_a_letter_before_a_full_stop_is_an_initial_unless_a_sentence_ends_there() -> None:
    assert parted("Ann went from A to B. If C. S. Lewis knew!") == (
        ["Ann", "went", "from", "A", "to", "B", ".", "If", "C.", "S.", "Lewis", "knew", "!"]
    )
    assert parted("She has plan B.") == ["She", "has", "plan", "B", "."]


def test_every_token_has_its_row_and_its_place() -> None:
    found = tokens(pl.Series(["Hi  you!", None, "", "né\tok"]))
    assert found.schema == {"text": pl.UInt32, "start": pl.UInt32, "end": pl.UInt32, "token": pl.String}
    assert found.rows() == [(0, 0, 2, "Hi"), (0, 4, 7, "you"), (0, 7, 8, "!"), (3, 0, 2, "né"), (3, 3, 5, "ok")]


def test_no_texts_give_no_tokens_and_no_sentences() -> None:
    for texts in (pl.Series([], dtype=pl.String), pl.Series([None, ""], dtype=pl.String), pl.Series([None])):
        assert tokens(texts).shape == (0, 4)
        assert sentences(texts).shape == (0, 4)


@given(st.lists(st.text() | st.none() | st.text("a.B?'\" \n(s)n’t1,-", max_size=30), max_size=6))
def test_tokens_and_the_white_space_between_them_give_the_texts_back(texts: list[str | None]) -> None:
    column = pl.Series(texts, dtype=pl.String)
    for frame, name in ((tokens(column), "token"), (sentences(column), "sentence")):
        for number, text in enumerate(texts):
            place = 0
            for start, end, value in frame.filter(text=number).select("start", "end", name).iter_rows():
                assert text is not None
                assert text[place:start].strip() == ""
                assert text[start:end] == value != ""
                place = end
            assert not (text or "")[place:].strip()


@given(st.lists(st.text("ab.!? I'sn’t\n", max_size=20), min_size=1, max_size=4))
def test_a_text_is_parted_the_same_alone_and_in_a_column(texts: list[str]) -> None:
    together = tokens(pl.Series(texts))
    for number, text in enumerate(texts):
        assert together.filter(text=number)["token"].to_list() == parted(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He ran. She hid! Why? Because.", ["He ran.", "She hid!", "Why?", "Because."]),
        ("Mr. Smith met Dr. Lee in the U.S. Senate.", ["Mr. Smith met Dr. Lee in the U.S. Senate."]),
        ("He left the U.S. The end.", ["He left the U.S.", "The end."]),
        ("It costs 3.50 now. J. Smith paid.", ["It costs 3.50 now.", "J. Smith paid."]),
        ('"Stop!" he cried. "Why?" (She knew.) He left.', ['"Stop!" he cried.', '"Why?"', "(She knew.)", "He left."]),
        ("Well... maybe. Well ... I think so", ["Well... maybe.", "Well ... I think so"]),
        ("He wins.The dog barks. it sleeps", ["He wins.", "The dog barks.", "it sleeps"]),
        ("A heading\n\nand a line\nthat goes on", ["A heading", "and a line\nthat goes on"]),
        ("A dog barks . A cat sleeps . ", ["A dog barks .", "A cat sleeps ."]),
        ("Buy apples, pears, etc. and go. Eat them", ["Buy apples, pears, etc. and go.", "Eat them"]),
    ],
)
def test_sentences_end_at_stops_but_not_at_abbreviations(text: str, expected: list[str]) -> None:
    assert sentences(pl.Series([text]))["sentence"].to_list() == expected


def test_tokens_are_those_of_the_parser_that_parsed_snli(shared: Path) -> None:
    signs = {"``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")", "`": "'"}
    texts, parses = list[str](), list[str]()
    with gzip.open(shared / "snli" / "snli_1.0_train_first1000.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            texts.append(row["sentence2"])
            parses.append(row["sentence2_parse"])
    theirs = [[signs.get(word, word) for word in re.findall(r" ([^\s()]+)\)", parse)] for parse in parses]
    ours = tokens(pl.Series(texts)).group_by("text", maintain_order=True).agg("token")["token"].to_list()
    same = [[word.replace("''", '"') for word in mine] == other for mine, other in zip(ours, theirs, strict=True)]
    # 99.9 % of SNLI's dev and test set; these thousand are all alike.
    assert all(same)
