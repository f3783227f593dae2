"""Premises within longer and longer text."""

from __future__ import annotations

import re

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.io.wordlists import packaged_table
from acidtest.suites.length_ladder import content_words

PAIRS = pl.DataFrame(
    {
        "premise": ["The chef cooked soup in the kitchen.", "Two dogs ran"],
        "hypothesis": ["Somebody cooked.", "The dogs slept."],
        "label": ["entailment", "contradiction"],
        "words": ["a", "b"],
    }
)


def corpus(pairs: pl.DataFrame = PAIRS) -> Suite:
    card = Card("mine", columns={"words": "factor"} if "words" in pairs.columns else {})
    return Suite(complete_columns(pairs, "mine").lazy(), card).sealed()


def ladder(of: pl.DataFrame = PAIRS, **arguments: str) -> Suite:
    return api.generate("length-ladder", source=corpus(of), arguments=arguments)


def of_pair(premise: str, hypothesis: str, label: str = "neutral") -> pl.DataFrame:
    return pl.DataFrame({"premise": [premise], "hypothesis": [hypothesis], "label": [label]})


def test_the_premise_stands_at_the_start_in_the_middle_and_at_the_end_of_unrelated_text() -> None:
    frame = ladder(rungs="20").frame.collect().head(3)
    # The premise has 7 words and the three sentences 7, 8 and 6: 21, of which about half go before it in the middle.
    assert frame["premise"].to_list() == [
        "The chef cooked soup in the kitchen. Worsted yarn was smoother than woolen yarn. "
        "Retting loosened the flax from its woody core. Manila rope floated better than hemp.",
        "Worsted yarn was smoother than woolen yarn. The chef cooked soup in the kitchen. "
        "Retting loosened the flax from its woody core. Manila rope floated better than hemp.",
        "Worsted yarn was smoother than woolen yarn. Retting loosened the flax from its woody core. "
        "Manila rope floated better than hemp. The chef cooked soup in the kitchen.",
    ]
    assert frame["hypothesis"].to_list() == ["Somebody cooked."] * 3
    assert frame["label"].to_list() == ["entailment"] * 3
    assert frame["position"].to_list() == ["start", "middle", "end"]
    assert frame["premise_words"].to_list() == [28.0] * 3


def test_a_caption_gets_a_period_and_its_label_stays() -> None:
    frame = ladder(rungs="20").frame.collect().filter(pl.col("hypothesis") == "The dogs slept.")
    assert frame["premise"][1] == (
        "Tolls on the branch were reckoned by the ton and the mile. Two dogs ran. "
        "The weir beside the lock carried off the surplus."
    )
    assert frame["label"].to_list() == ["contradiction"] * 3


def test_the_text_of_a_rung_goes_on_in_the_next() -> None:
    texts = ladder(rungs="20,40,80").frame.collect().filter(position="start")["premise"].head(3).to_list()
    assert texts[1].startswith(texts[0])
    assert texts[2].startswith(texts[1])


def test_rows_point_at_the_untouched_pair_and_keep_what_the_corpus_says() -> None:
    keep = api.Reading(keep=("words",))
    suite = api.generate("length-ladder", source=corpus(PAIRS), arguments={"rungs": "20+40"}, reading=keep)
    frame = suite.frame.collect()
    assert suite.control is not None
    control = suite.control.frame.collect()
    assert control["premise"].to_list() == PAIRS["premise"].to_list()
    assert frame["base_id"].unique(maintain_order=True).to_list() == control["id"].to_list()
    assert frame["group"].to_list() == frame["base_id"].to_list()
    first = control["id"][0]
    assert frame["id"].head(6).to_list() == [f"{first}-{n}-{p}" for n in (20, 40) for p in ("start", "middle", "end")]
    assert frame["words"].head(6).to_list() == ["20"] * 3 + ["40"] * 3
    assert frame["source_words"].head(6).to_list() == ["a"] * 6
    assert suite.card.crossings == (("words", "position"),)


def test_texts_have_about_as_many_words_as_their_rung() -> None:
    suite = api.generate("length-ladder", n=20)
    frame, own = suite.frame.collect(), suite.control
    assert own is not None
    bare = own.frame.collect().select(base_id="id", bare=pl.col("premise").str.split(" ").list.len())
    apart = frame.join(bare, on="base_id").select(
        (pl.col("premise_words") - pl.col("bare") - pl.col("words").cast(pl.Float64)).abs().max()
    )
    # The longest sentence has 16 words, and a text ends where it is nearest to its rung.
    assert apart.item() <= 16 / 2
    # The half before a premise in the middle is half of the words, but for as much again.
    middle = frame.filter(position="middle", words="1024")
    for row in middle.join(bare, on="base_id").iter_rows(named=True):
        text = own.frame.filter(pl.col("id") == row["base_id"]).collect()["premise"][0]
        before = len(row["premise"].split(text)[0].split())
        assert abs(before - 512) <= 16


def test_no_added_sentence_shares_a_content_word_with_its_pair() -> None:
    suite = api.generate("length-ladder", n=30, arguments={"rungs": "1024"})
    assert suite.control is not None
    pairs = {row["id"]: row for row in suite.control.frame.collect().iter_rows(named=True)}
    for row in suite.frame.filter(pl.col("position") == "start").collect().iter_rows(named=True):
        pair = pairs[row["base_id"]]
        added = row["premise"].removeprefix(pair["premise"])
        assert content_words(added) & (content_words(pair["premise"]) | content_words(pair["hypothesis"])) == set()


def test_no_sentence_comes_twice_up_to_four_thousand_words_and_all_come_again_after_that() -> None:
    texts = ladder(rungs="4096,12000").frame.collect().filter(position="end")["premise"]
    short, long = (re.split(r"(?<=[.]) ", text) for text in texts.head(2))
    assert len(set(short)) == len(short)
    assert len(set(long)) < len(long) / 2 + 1


@pytest.mark.parametrize(
    ("premise", "hypothesis", "reason"),
    [
        ("They were late.", "The guests were late.", "refers to a text before"),
        ("The guests were late.", "It was dark.", "refers to a text before"),
        ("A girl sleeps.", "Nothing is moving.", "speaks of everything"),
        ("Is a girl asleep?", "A girl sleeps.", "question"),
        ("Very simply.", "Without trouble.", "no sentence"),
    ],
)
def test_pairs_whose_label_might_not_stay_are_left_out(premise: str, hypothesis: str, reason: str) -> None:
    pairs = pl.concat([PAIRS.drop("words"), of_pair(premise, hypothesis)])
    suite = ladder(pairs, rungs="20")
    assert suite.card.left_out == {reason: 1}
    assert suite.card.rows == 6
    assert suite.control is not None
    assert suite.control.card.rows == 2


def test_a_premise_that_touches_most_topics_is_left_out() -> None:
    topics = packaged_table("ladder/topics.tsv")
    premise = "The guide named " + ", ".join(word for words in topics["words"] for word in words.split()[:1]) + "."
    suite = ladder(pl.concat([PAIRS.drop("words"), of_pair(premise, "The guide talked.")]), rungs="20")
    assert suite.card.left_out == {"touches most topics": 1}


def test_as_many_pairs_are_used_as_pairs_says_unless_n_does() -> None:
    assert api.generate("length-ladder", source=corpus(), arguments={"pairs": "1", "rungs": "20"}).card.rows == 3
    assert api.generate("length-ladder", source=corpus(), n=2, arguments={"pairs": "1", "rungs": "20"}).card.rows == 6
    with pytest.raises(AcidtestError, match="3 pairs were asked for, but 'mine' has only 2"):
        api.generate("length-ladder", source=corpus(), n=3)
    with pytest.raises(AcidtestError, match="--pairs is a number from 1 on, not 0"):
        ladder(pairs="0")


@pytest.mark.parametrize("rungs", ["", "8", "a,b", "32,,64", "-32", "200000"])
def test_rungs_that_are_no_numbers_of_words_are_refused(rungs: str) -> None:
    with pytest.raises(AcidtestError, match="--rungs are numbers of words from 16 to 100,000"):
        ladder(rungs=rungs)


def test_rungs_with_nothing_above_nought_are_refused() -> None:
    with pytest.raises(AcidtestError, match="--rungs has no number of words above 0"):
        ladder(rungs="0")


def test_a_row_does_not_depend_on_the_other_rungs_and_pairs() -> None:
    whole = ladder(rungs="20,40").frame.collect()
    alone = ladder(PAIRS.tail(1), rungs="40").frame.collect()
    assert alone.select("id", "premise").rows() == whole.tail(3).select("id", "premise").rows()
