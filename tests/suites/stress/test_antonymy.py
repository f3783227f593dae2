from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Card, Suite, complete_columns

PAIRS = pl.DataFrame(
    {
        "premise": ["The soup was cold. A man ate it.", "Ravi slept.", "The soup was cold. A man ate it."],
        "hypothesis": ["The old man ate the soup.", "The house is full.", "Somebody ate."],
        "label": ["neutral", "neutral", "entailment"],
        "genre": ["food", "home", "food"],
    }
)


def suite(**arguments: str) -> Suite:
    card = Card("mine", columns={"genre": "factor"})
    pairs = Suite(complete_columns(PAIRS, "mine").lazy(), card).sealed()
    return api.generate("stress/antonymy", source=pairs, arguments={"tagger": "light", **arguments})


def test_every_sentence_stands_on_its_own_and_contradicts_its_changed_self() -> None:
    frame = suite().frame.collect()
    assert frame.select("premise", "hypothesis", "label", "certainty").rows() == [
        ("The soup was cold.", "The soup was hot.", "contradiction", "same-event"),
        ("The young man ate the soup.", "The old man ate the soup.", "contradiction", "same-event"),
        ("The house is empty.", "The house is full.", "contradiction", "same-event"),
    ]


def test_a_row_tells_word_antonym_part_of_speech_side_place_and_the_columns_of_its_pair() -> None:
    frame = suite().frame.collect()
    assert frame.select("word", "antonym", "pos", "side", "place", "genre").rows() == [
        ("cold", "hot", "adjective", "premise", "predicate", "food"),
        ("old", "young", "adjective", "hypothesis", "subject", "food"),
        ("full", "empty", "adjective", "hypothesis", "predicate", "home"),
    ]


def test_caution_is_a_column_and_on_the_card() -> None:
    made = suite(caution="low")
    assert made.card.arguments["caution"] == "low"
    assert made.card.version == 3
    assert set(made.frame.collect()["caution"]) == {"high"}
    assert made.card.columns["caution"] == "factor"


def test_faithful_goes_with_no_choice_of_ours() -> None:
    with pytest.raises(AcidtestError, match="does not go with --wsd and --caution"):
        suite(faithful="true", caution="high")


def test_pairs_without_gold_serve_and_are_no_control(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text(
        "premise\thypothesis\tlabel\n"
        "The soup was cold.\tSomebody ate.\tneutral\n"
        "The house is full.\tSomebody slept.\t-\n",
        encoding="utf-8",
        newline="\n",
    )
    made = api.generate("stress/antonymy", source=file, arguments={"tagger": "light"})
    assert made.control is not None
    assert made.control.frame.collect()["premise"].to_list() == ["The soup was cold."]
    rows = made.frame.collect().select("hypothesis", pl.col("base_id").is_null())
    assert rows.rows() == [("The soup was hot.", False), ("The house is empty.", True)]


def test_a_file_without_labels_serves(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("premise,hypothesis\nThe soup was cold.,Somebody ate.\n", encoding="utf-8", newline="\n")
    made = api.generate("stress/antonymy", source=file, arguments={"tagger": "light"})
    assert made.control is None
    assert made.frame.collect()["hypothesis"].to_list() == ["The soup was hot."]
    with pytest.raises(AcidtestError, match="without labels only suites that need no gold can be made of it"):
        api.generate("stress/negation", source=file)


def test_a_battery_takes_pairs_without_gold_for_the_suites_that_need_none(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text(
        "premise\thypothesis\tlabel\nRavi slept.\tRavi rested.\tentailment\nThe soup was cold.\tIt rained.\t-\n",
        encoding="utf-8",
        newline="\n",
    )
    suites = api.chosen_suites(["stress/antonymy", "stress/negation"], source=file)
    assert [suite.card.rows for suite in suites] == [1, 1]
    assert suites[0].frame.collect()["premise"].to_list() == ["The soup was cold."]


def test_base_ids_point_at_the_pairs_the_sentences_come_from() -> None:
    made = suite()
    assert made.control is not None
    control = made.control.frame.collect()
    assert made.frame.collect()["base_id"].to_list() == control["id"][[0, 0, 1]].to_list()
    assert made.frame.collect()["id"][0] == f"{control['id'][0]}-premise-0-13-hot"


def test_the_card_tells_what_was_left_out_and_the_tagger() -> None:
    card = suite().card
    assert card.left_out["no plain place"] >= 1
    assert str(card.arguments["tagger"]).startswith("light:")


def test_another_way_to_choose_senses_gives_wordnets_antonyms() -> None:
    frame = suite(wsd="first").frame.collect()
    assert ("The house is full.", "empty") in frame.select("hypothesis", "antonym").rows()


def test_lesk_without_glosses_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acidtest.english.senses.find_wordnet_folder", lambda: None)
    with pytest.raises(
        AcidtestError, match=r"suite .* with wsd=lesk needs WordNet glosses; get them with: acidtest sources fetch"
    ):
        suite(wsd="lesk")


@pytest.mark.parametrize("name", ["variant", "changed", "sentence", "number", "start", "word", "place", "order"])
@pytest.mark.parametrize("suite_name", ["stress/antonymy", "stress/negation", "stress/ladder", "stress/spelling"])
def test_a_column_of_the_corpus_may_have_any_name(suite_name: str, name: str) -> None:
    rows = PAIRS.rename({"genre": name})
    pairs = Suite(complete_columns(rows, "mine").lazy(), Card("mine", columns={name: "factor"})).sealed()
    frame = api.generate(suite_name, source=pairs, reading=api.Reading(keep=(name,))).frame.collect()
    kept = f"source_{name}" if f"source_{name}" in frame.columns else name
    assert set(frame[kept]) <= {"food", "home"}


def test_a_corpus_in_which_nothing_can_be_changed_is_told() -> None:
    rows = complete_columns(
        PAIRS.with_columns(premise=pl.lit("Go!"), hypothesis=pl.lit("Nobody went.")).head(1), "mine"
    )
    pairs = Suite(rows.lazy(), Card("mine", columns={"genre": "factor"})).sealed()
    with pytest.raises(AcidtestError, match="suite 'stress/antonymy': nothing comes of 'mine'"):
        api.generate("stress/antonymy", source=pairs)
    suites = api.chosen_suites(["stress/antonymy", "stress/negation"], source=pairs)
    assert [suite.name for suite in suites] == ["stress/negation"]
