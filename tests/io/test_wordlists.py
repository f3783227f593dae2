from __future__ import annotations

import polars as pl

from acidtest.io.wordlists import packaged_table, starter_pairs


def test_there_are_at_least_two_hundred_pairs_of_each_label_in_ten_genres() -> None:
    frame = starter_pairs().frame.collect()
    counts = dict(frame["label"].value_counts().iter_rows())
    assert min(counts[label] for label in ("entailment", "neutral", "contradiction")) >= 200
    assert frame["genre"].n_unique() == 10
    assert frame.group_by("genre", "label").len()["len"].min() >= 15


def test_sentences_are_whole_and_stand_once() -> None:
    frame = starter_pairs().frame.collect()
    for side in ("premise", "hypothesis"):
        assert frame[side].is_unique().all()
        assert frame.filter(~pl.col(side).str.contains(r"^[A-Z\"0-9].*[.!?][\"']?$"))[side].to_list() == []
        assert frame.filter(pl.col(side).str.contains(r"\s\s|^\s|\s$|[^\x20-\x7e]"))[side].to_list() == []


def test_lengths_do_not_tell_the_label() -> None:
    words = (
        starter_pairs()
        .frame.collect()
        .group_by("label")
        .agg(pl.col("hypothesis").str.split(" ").list.len().mean().alias("words"))
    )
    assert words["words"].max() - words["words"].min() < 1.5  # type: ignore[operator]


def test_there_are_at_least_two_hundred_and_fifty_quantity_sentences() -> None:
    sentences = packaged_table("starter/quantities.tsv")["sentence"]
    assert len(sentences) >= 250
    assert sentences.is_unique().all()
