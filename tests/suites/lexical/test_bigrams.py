"""Which words go together."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import FileError
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.english.tagging import tag_texts
from acidtest.pairs.alignment import replaced_words
from acidtest.suites.lexical.bigrams import bigrams, plausible_by_tag, read_bigrams


def corpus(*texts: str) -> Suite:
    rows = pl.DataFrame({"premise": texts, "hypothesis": ["It rains."] * len(texts), "label": ["neutral"] * len(texts)})
    return Suite(complete_columns(rows, "mine").lazy(), Card("mine")).sealed()


def test_a_word_must_have_been_seen_beside_both_neighbours() -> None:
    found = bigrams(corpus("He drinks tea at home.", "He drinks tea at work.", "She likes beer at work."), least=2)
    previous, following = pl.Series(["drinks"] * 3), pl.Series(["at"] * 3)
    assert found.plausible(previous, pl.Series(["tea", "Tea", "beer"]), following).to_list() == [True, True, False]


def test_of_several_words_the_outer_ones_count() -> None:
    found = bigrams(corpus("He plays an electric guitar here."), least=1)
    kept = found.plausible(pl.Series(["an"]), pl.Series(["electric guitar"]), pl.Series(["here"]))
    assert kept.to_list() == [True]


def test_what_stands_at_an_edge_or_beside_punctuation_is_not_judged_by_it() -> None:
    found = bigrams(corpus("He drinks tea."), least=1)
    assert found.plausible(pl.Series([""]), pl.Series(["tea"]), pl.Series(["."])).to_list() == [True]


@pytest.mark.parametrize(
    ("previous", "word", "following", "tags", "kept"),
    [
        ("of", "water", "in", ("IN", "NN", "IN"), True),
        ("of", "go", "in", ("IN", "VB", "IN"), False),
        ("the", "swim", "dog", ("DT", "VB", "NN"), False),
        ("two", "dogs", "run", ("CD", "NNS", "VBP"), True),
    ],
)
def test_without_a_corpus_parts_of_speech_decide(
    previous: str, word: str, following: str, tags: tuple[str, str, str], *, kept: bool
) -> None:
    asked = {"previous": previous, "word": word, "next": following}
    asked |= dict(zip(("previous_tag", "tag", "next_tag"), tags, strict=True))
    assert plausible_by_tag(pl.DataFrame([asked])).to_list() == [kept]


def test_nine_tenths_of_the_published_file_are_likely_enough(shared: Path) -> None:
    """Glockner et al. (2018) kept what Wikipedia's bigrams know; ours must not throw that away."""
    pairs = api.load(shared / "breaking_nli" / "breaking_nli_quarter.jsonl").frame.collect()
    words = replaced_words(pairs["premise"], pairs["hypothesis"])["hypothesis_words"]
    kept = plausible_by_tag(_surroundings(pairs["hypothesis"], words))
    assert kept.mean() >= 0.95  # 0.97 measured
    assert not kept.all()


def _surroundings(texts: pl.Series, words: pl.Series) -> pl.DataFrame:
    """What stands before and after the first stretch of each text that is the words looked for."""
    lines = (
        tag_texts(texts, "light").group_by("text", maintain_order=True).agg(pl.col("token").str.to_lowercase(), "tag")
    )
    rows = []
    for (text, tokens, tags), sought in zip(lines.iter_rows(), words.gather(lines["text"]), strict=True):
        parts = sought.lower().split()
        starts = [start for start in range(len(tokens)) if parts and tokens[start : start + len(parts)] == parts]
        if starts:
            last = starts[0] + len(parts)
            edges = [*zip(["", *tokens], ["", *tags], strict=True), ("", "")]
            (previous, previous_tag), (following, next_tag) = edges[starts[0]], edges[last + 1]
            rows.append((text, previous, sought, following, previous_tag, tags[last - 1], next_tag))
    names = ["text", "previous", "word", "next", "previous_tag", "tag", "next_tag"]
    return pl.DataFrame(rows, schema=names, orient="row")


RED_CAR_AND_BLUE_BOAT = {("red", "car"), ("blue", "boat")}


def known(path: Path, least: int = 10) -> set[tuple[str, ...]]:
    return set(read_bigrams(path, least=least).pairs.rows())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bigrams.txt", "red car\t120\nBlue boat\t10\nred boat\t9\n"),
        ("bigrams.tsv", "red\tcar\t120\nblue\tboat\t10\nred\tboat\t9\n"),
        ("bigrams.tsv", "left\tright\tcount\nred\tcar\t120\nblue\tboat\t10\n"),
        ("bigrams.csv", "bigram,count\nred car,120\nblue boat,10\nred boat,9\n"),
        ("bigrams.csv", '"red","car","120"\r\n"blue","boat","10"\r\n'),
        ("bigrams", "red car 120\nblue boat 10\nred boat 9\n"),
        ("counts.txt", "    120 red car\n     10 blue boat\n      9 red boat\n"),
        ("bigrams.txt", "red car\t120\n\nblue boat\t6\nBlue Boat\t4\n"),
    ],
    ids=["tab", "three columns", "header", "csv", "quoted csv", "no ending", "uniq -c", "both cases add up"],
)
def test_a_list_of_bigrams_with_counts_is_read_as_it_stands(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    assert known(path) == RED_CAR_AND_BLUE_BOAT


def test_a_packed_list_is_read(tmp_path: Path) -> None:
    path = tmp_path / "bigrams.txt.gz"
    path.write_bytes(gzip.compress(b"red car\t120\nblue boat\t10\nred boat\t9\n"))
    assert known(path) == RED_CAR_AND_BLUE_BOAT


@pytest.mark.parametrize("name", ["plain.txt", "plain.text", "plain"])
def test_the_bigrams_of_plain_text_are_counted(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("A red car, a blue boat.\n\nThe red car met the blue boat\nand a red boat.\n", encoding="utf-8")
    assert known(path, least=2) >= RED_CAR_AND_BLUE_BOAT
    assert ("red", "boat") not in known(path, least=2)


def test_blocks_of_a_long_text_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "plain.txt"
    path.write_text("A red car.\n" * 50 + "A blue boat.\n" * 50, encoding="utf-8")
    monkeypatch.setattr("acidtest.io.blocks.BLOCK", 40)
    assert ("red", "car") in known(path, least=50)
    assert ("red", "car") not in known(path, least=51)


def test_an_nli_file_is_still_counted_by_its_sentences(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("premise\thypothesis\tlabel\nA red car.\tA red car.\tentailment\n", encoding="utf-8")
    assert ("red", "car") in known(path, least=2)
    assert ("premise", "hypothesis") not in known(path, least=1)


def test_a_line_of_a_list_that_is_no_bigram_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bigrams.txt"
    path.write_text("red car\t120\n" * 300 + "\nblue boat\tmany\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"bigrams.txt:302: 'blue boat\\tmany' is no bigram with its count"):
        read_bigrams(path)


def test_a_table_of_something_else_says_what_was_expected(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("model,accuracy\nbert,0.9\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"red car⇥120.*plain text.*premises and hypotheses"):
        read_bigrams(path)


def test_a_broken_nli_file_is_refused_for_what_is_broken_in_it(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("premise\thypothesis\tlabel\nA red car.\tA car.\tentail\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"pairs.tsv:2: .*'entail'"):
        read_bigrams(path)


def test_the_count_stands_last_unless_it_stands_first_on_every_line(tmp_path: Path) -> None:
    path = tmp_path / "bigrams.txt"
    path.write_text('5 apples 30\nred , 20\nsaid " 10\n', encoding="utf-8")
    assert known(path) == {("5", "apples"), ("red", ","), ("said", '"')}
