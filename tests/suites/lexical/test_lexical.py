"""Suites of replaced words: rows, labels, filters and what their cards tell."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Card, Suite, complete_columns

PAIRS = pl.DataFrame(
    {
        "premise": [
            "A man is drinking champagne at a table.",
            "A man is drinking champagne at a table.",
            "A woman is reading a book in the kitchen.",
            "Is anybody drinking champagne?",
        ],
        "hypothesis": ["A man is drinking.", "A man is asleep.", "A woman is cooking.", "It is late."],
        "label": ["entailment", "contradiction", "neutral", "neutral"],
        "genre": ["food", "food", "home", "food"],
    }
)
TRAIN = [
    ("A man drinks champagne.", "A man drinks beer.", "contradiction"),
    ("A man drinks champagne.", "A man drinks beer in a bar.", "contradiction"),
    ("She has some champagne.", "She has wine.", "entailment"),
]


def pairs() -> Suite:
    return Suite(complete_columns(PAIRS, "mine").lazy(), Card("mine", columns={"genre": "factor"})).sealed()


def suite(name: str = "lexical/drinks", n: int | None = None, **arguments: str) -> Suite:
    return api.generate(name, source=pairs(), n=n, arguments={"tagger": "light", **arguments})


def train_file(folder: Path) -> Path:
    path = folder / "train.jsonl"
    rows = [{"premise": p, "hypothesis": h, "label": label} for p, h, label in TRAIN]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return path


def test_the_label_follows_from_the_relation() -> None:
    frame = suite(each="99").frame.collect()
    told = {
        word: (relation, label, certainty)
        for word, relation, label, certainty in frame.select(
            "hypothesis_word", "relation", "label", "certainty"
        ).iter_rows()
    }
    assert told["wine"] == ("hypernym", "entailment", "logical")
    assert told["beer"] == ("co-hyponym", "contradiction", "same-event")
    assert ("A man is drinking champagne at a table.", "A man is drinking beer at a table.") in frame.select(
        "premise", "hypothesis"
    ).rows()
    back = api.generate("lexical/drinks", source=wine(), arguments={"each": "99"}).frame.collect()
    assert set(back.filter(hypothesis_word="champagne").select("relation", "label").rows()) == {("hyponym", "neutral")}


def test_a_downward_place_turns_wider_and_narrower_words_round() -> None:
    frame = api.generate("lexical/drinks", source=wine("Nobody is drinking wine."), arguments={"each": "99"}).frame
    rows = set(frame.select("hypothesis_word", "relation", "polarity", "label", "certainty").collect().rows())
    assert ("champagne", "hyponym", "down", "entailment", "logical") in rows
    assert ("alcohol", "hypernym", "down", "neutral", "logical") in rows
    assert {label for *_, label, _ in rows} == {"entailment", "neutral"}


def test_all_suites_have_the_version_of_the_places() -> None:
    made = [suite(name) for name in ("lexical", "lexical/drinks")]
    assert [lexical.card.version for lexical in made] == [4, 4]
    assert made[0].card.columns["polarity"] == "factor"


def wine(premise: str = "She sips wine.") -> Suite:
    rows = pl.DataFrame({"premise": [premise], "hypothesis": ["She sips."], "label": ["entailment"]})
    return Suite(complete_columns(rows, "wine").lazy(), Card("wine")).sealed()


def test_a_premise_is_used_once_and_takes_along_what_is_told_of_it() -> None:
    made = suite()
    frame = made.frame.collect()
    assert made.control is None
    assert frame["base_id"].null_count() == frame.height
    assert set(frame["group"]) == {pairs().frame.collect()["group"][0]}
    assert set(frame["genre"]) == {"food"}
    assert frame["relation"].is_unique().all()
    assert set(frame["category"]) == {"drinks"}


def test_the_card_tells_the_convention_and_what_was_left_out() -> None:
    card = suite().card
    assert "same event" in card.note
    assert card.left_out["question"] == 1
    assert card.strata == ("category",)
    assert card.columns["relation"] == "factor"


def test_all_categories_together_hold_what_each_holds() -> None:
    every = suite("lexical").frame.collect()
    for name in ("drinks", "rooms", "reading-matter"):
        own = suite(f"lexical/{name}").frame.collect()
        assert set(own["hypothesis"]) == set(every.filter(category=name)["hypothesis"])
        assert own.height


def test_n_premises_are_drawn_from_those_that_have_a_word_to_replace() -> None:
    assert suite("lexical", n=1).frame.collect()["premise"].n_unique() == 1
    with pytest.raises(AcidtestError, match=r"3 premises were asked for, but only 2 of 'mine' have a word to replace"):
        suite("lexical", n=3)


def test_a_training_file_says_what_is_known_and_how_often_a_pair_contradicts(tmp_path: Path) -> None:
    made = suite(each="99", train=str(train_file(tmp_path)))
    frame = made.frame.collect()
    assert dict(frame.select("hypothesis_word", "contradictions").iter_rows()) == {"beer": 2, "wine": 0}
    assert made.card.left_out["not in the training file"] > 10
    assert made.card.columns["contradictions"] == "covariate"


def test_vectors_say_what_is_known_and_how_similar(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("champagne 1 0\nbeer 0.6 0.8\nwine 1 0\n", encoding="utf-8")
    frame = suite(each="99", embeddings=str(path)).frame.collect()
    one_word = frame.filter(~pl.col("hypothesis_word").str.contains(" "))
    # cos((1, 0), (0.6, 0.8)) = 0.6
    told = {word: round(cosine, 6) for word, cosine in one_word.select("hypothesis_word", "cosine").iter_rows()}
    assert told == {"beer": 0.6, "wine": 1.0}


def test_bigrams_of_a_corpus_say_what_is_likely(tmp_path: Path) -> None:
    rows = [{"premise": "A man is drinking beer at home.", "hypothesis": "He drinks.", "label": "neutral"}] * 3
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    made = suite(each="99", bigrams=str(path), least="3")
    assert set(made.frame.collect()["hypothesis_word"]) == {"beer"}
    assert made.card.left_out["unlikely beside its neighbours"] > 10
    with pytest.raises(AcidtestError, match="nothing comes of 'mine'"):
        suite(each="99", bigrams=str(path), least="4")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("each", "0", "--each is a number from 1 on, not 0"),
        ("least", "0", "--least is a number from 1 on, not 0"),
        ("cosine", "0.9", "--cosine says nothing without --embeddings"),
        ("least", "5", "--least says nothing without --bigrams"),
    ],
)
def test_an_option_out_of_range_is_refused(option: str, value: str, message: str) -> None:
    with pytest.raises(AcidtestError, match=message):
        suite(**{option: value})


def test_what_people_said_of_the_old_pair_does_not_come_along() -> None:
    rows = PAIRS.with_columns(annotator_labels=pl.lit('["neutral"]'))
    card = Card("mine", columns={"genre": "factor", "annotator_labels": "text"})
    corpus = Suite(complete_columns(rows, "mine").lazy(), card).sealed()
    for name in ("lexical/drinks", "stress/antonymy", "stress/numerical"):
        made = api.generate(name, source=corpus if name != "stress/numerical" else counted(corpus))
        assert "annotator_labels" not in made.frame.collect_schema()
        assert "annotator_labels" not in made.card.columns


def counted(corpus: Suite) -> Suite:
    rows = corpus.frame.collect().with_columns(premise=pl.lit("Maria bought 12 pens in Berlin."))
    return Suite(rows.lazy(), corpus.card)
