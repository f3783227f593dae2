"""The suite ``hans/novel``: templates of our own for HANS's heuristics."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import polars as pl
import pytest

from acidtest import api
from acidtest.english.trees import binary, tree
from acidtest.pairs.heuristics import heuristics

both_vocabularies = pytest.mark.parametrize("vocabulary", ["published", "fresh"])


@cache
def generated(vocabulary: str = "fresh") -> pl.DataFrame:
    return api.generate("hans/novel", arguments={"words": vocabulary}).frame.collect()


def test_the_first_pair_of_every_subcase_stays_as_it_is(golden: Callable[[str, str], None]) -> None:
    first = generated().group_by("subcase", maintain_order=True).first()
    columns = ["subcase", "premise", "hypothesis", "label", "premise_parse", "hypothesis_parse", "premise_binary_parse"]
    golden("hans_novel.tsv", first.select(columns).write_csv(separator="\t", quote_style="never"))


def test_six_subcases_of_a_thousand_for_each_heuristic_and_label() -> None:
    counts = generated().group_by("subcase", "heuristic", "label", maintain_order=True).len()
    assert counts["len"].to_list() == [1000] * 36
    cells = counts.group_by("heuristic", "label").len()["len"]
    assert cells.to_list() == [6] * 6
    families = {subcase.split("_", 1)[1] for subcase in counts["subcase"]}
    assert len(families) == 17


def test_columns_are_those_of_hans() -> None:
    hans = api.generate("hans", n=1)
    novel = api.generate("hans/novel", n=1)
    assert hans.frame.collect_schema() == novel.frame.collect_schema()
    assert hans.card.columns == novel.card.columns


@both_vocabularies
def test_every_pair_is_of_its_heuristic_and_of_no_narrower_one(vocabulary: str) -> None:
    rows = generated(vocabulary)
    told = heuristics(rows["premise"], rows["hypothesis"], rows["premise_parse"])
    assert told["lexical_overlap"].all()
    assert (told["subsequence"] == (rows["heuristic"] != "lexical_overlap")).all()
    assert (told["constituent"] == (rows["heuristic"] == "constituent")).all()


@both_vocabularies
def test_parses_hold_the_words_of_their_sentences(vocabulary: str) -> None:
    for side in ("premise", "hypothesis"):
        columns = generated(vocabulary).select(side, f"{side}_parse", f"{side}_binary_parse")
        for sentence, parse, binary_parse in columns.iter_rows():
            found = tree(parse)
            assert " ".join(found.leaves).replace(" ,", ",").replace(" .", ".") == sentence
            assert binary(found) == binary_parse


def test_no_pair_stands_twice_nor_in_hans() -> None:
    for vocabulary in ("fresh", "published"):
        rows = generated(vocabulary)
        assert rows.n_unique(["premise", "hypothesis"]) == rows.height
        hans = api.generate("hans", arguments={"words": vocabulary}).frame.select("premise", "hypothesis").collect()
        assert rows.join(hans, on=["premise", "hypothesis"]).height == 0


def test_a_gerund_never_implies_the_verb_it_is_denied() -> None:
    # "After photographing the judge, the actor saw the lawyer" does say that the actor saw the judge.
    rows = generated("published").filter(subcase="ln_gerund")
    assert rows.height == 1000
    assert not rows["premise"].str.contains(r"photographing .* saw ").any()
    assert rows["premise"].str.contains(r"photographing .* thanked ").any()
