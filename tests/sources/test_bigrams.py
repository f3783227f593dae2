"""Which words go together."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.suite import Card, Suite, completed
from acidtest.sources.alignment import replaced_words
from acidtest.sources.bigrams import bigrams, plausible_by_tag
from acidtest.sources.tagging import tagged


def corpus(*texts: str) -> Suite:
    rows = pl.DataFrame({"premise": texts, "hypothesis": ["It rains."] * len(texts), "label": ["neutral"] * len(texts)})
    return Suite(completed(rows, "mine").lazy(), Card("mine")).sealed()


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
    lines = tagged(texts, "light").group_by("text", maintain_order=True).agg(pl.col("token").str.to_lowercase(), "tag")
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
