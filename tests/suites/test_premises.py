"""Hypotheses with another premise, with none, and with their premise shuffled."""

from __future__ import annotations

import polars as pl

from acidtest import api


def test_every_pair_is_made_three_times_with_its_hypothesis() -> None:
    suite = api.generate("premises", n=20)
    assert suite.control is not None
    base = suite.control.frame.select("id", pl.col("premise").alias("own"), pl.col("hypothesis").alias("same"))
    frame = suite.frame.join(base, left_on="base_id", right_on="id").collect()
    assert frame["premise_is"].value_counts(sort=True)["count"].to_list() == [20, 20, 20]
    assert (frame["hypothesis"] == frame["same"]).all()
    parts = {name: frame.filter(pl.col("premise_is") == name) for name in ("another", "none", "shuffled")}
    assert (parts["another"]["premise"] != parts["another"]["own"]).all()
    assert parts["none"]["premise"].unique().to_list() == ["."]
    shuffled = parts["shuffled"]
    assert (shuffled["premise"] != shuffled["own"]).all()
    words = [shuffled[side].str.strip_chars_end(".!?").str.split(" ").list.sort() for side in ("premise", "own")]
    assert (words[0] == words[1]).all()


def test_another_premise_does_not_entail_and_shuffled_words_accept_any_answer() -> None:
    golds = api.generate("premises", n=5).frame.collect().select("premise_is", "label").unique().rows()
    assert sorted(golds) == [("another", "non-entailment"), ("none", "non-entailment"), ("shuffled", "any")]
