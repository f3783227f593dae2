"""Suites of swapped words: rows, controls, gold that is derived, asked or assumed, and what their cards tell."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError, NothingToMakeError
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.io.tables import write_table

PAIRS = pl.DataFrame(
    {
        "premise": [
            "A soccer game occurring at sunset.",
            "A dog is sleeping under the table.",
            "Two men are sleeping.",
            "The soup is hot.",
            "An elderly woman sitting on a bench.",
        ],
        "hypothesis": [
            "A basketball game is occurring at sunrise.",
            "An animal is sleeping under the table.",
            "The people are awake.",
            "A cold soup is eaten.",
            "A young mother sits down.",
        ],
        "label": ["contradiction", "entailment", "contradiction", "neutral", "contradiction"],
        "genre": ["sport", "home", "home", "food", "park"],
    }
)
TEXTS = ("premise", "hypothesis", "label", "certainty")


def pairs(frame: pl.DataFrame = PAIRS) -> Suite:
    return Suite(complete_columns(frame, "mine").lazy(), Card("mine", columns={"genre": "factor"})).sealed()


def suite(name: str, seed: int = 0, n: int | None = None, **arguments: str | bool) -> Suite:
    return api.generate(f"swaps/{name}", source=pairs(), seed=seed, n=n, arguments={"tagger": "light", **arguments})


def control(made: Suite) -> pl.DataFrame:
    assert made.control is not None
    return made.control.frame.collect()


def labelled(folder: Path, *rows: tuple[str, str, str | None, str | None]) -> str:
    """A file as acidtest agreement writes it."""
    columns = ["premise", "hypothesis", "label", "discarded"]
    write_table(pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row"), folder / "labels.tsv")
    return str(folder / "labels.tsv")


def test_a_swapped_contradiction_is_one_where_the_paper_is_followed_and_says_so() -> None:
    made = suite("antonyms-in-situ", assume="paper")
    assert made.frame.collect().select(TEXTS).rows() == [
        (
            "A soccer game occurring at sunrise.",
            "A basketball game is occurring at sunset.",
            "contradiction",
            "assumed",
        )
    ]
    assert "|assume:paper|" in made.card.signature
    assert control(made).select("premise", "hypothesis", "label").rows() == [PAIRS.row(0)[:3]]


def test_without_answers_antonyms_have_no_gold() -> None:
    with pytest.raises(NothingToMakeError, match="1 waiting for people's answers"):
        suite("antonyms-in-situ")


def test_control_and_swapped_pair_tell_their_words_and_point_at_each_other() -> None:
    made = suite("antonyms-in-situ", assume="paper")
    columns = ("premise_word", "hypothesis_word", "relation", "swap", "genre")
    assert made.frame.collect().select(columns).rows() == [("sunrise", "sunset", "antonym", "in situ", "sport")]
    assert control(made).select(columns).rows() == [("sunset", "sunrise", "antonym", "in situ", "sport")]
    assert made.frame.collect()["gold_changed"].to_list() == ["no"]
    source = pairs().frame.collect()["id"][0]
    assert control(made)["id"].to_list() == [f"{source}-sunset-sunrise"]
    assert made.frame.collect().select("id", "base_id", "group").rows() == [
        (f"{source}-sunset-sunrise-swapped", f"{source}-sunset-sunrise", source)
    ]


def test_an_antonym_in_one_context_is_asked_about_in_both_orders(tmp_path: Path) -> None:
    context = {"A soccer game occurring at {}.", "A basketball game is occurring at {}."}
    asked = suite("antonyms-ex-situ", ask=True).frame.collect()
    used = {premise.replace("sunset", "{}").replace("sunrise", "{}") for premise in asked["premise"]}
    assert len(used) == 1
    assert used < context
    (text,) = used
    there, back = text.format("sunset"), text.format("sunrise")
    assert asked.select("premise", "hypothesis", "label").rows() == [(there, back, "any"), (back, there, "any")]
    answers = labelled(tmp_path, (there, back, "neutral", None), (back, there, "contradiction", None))
    made = suite("antonyms-ex-situ", answers=answers)
    assert control(made).select(TEXTS).rows() == [(there, back, "neutral", "human")]
    assert made.frame.collect().select(*TEXTS, "gold_changed").rows() == [
        (back, there, "contradiction", "human", "yes")
    ]


def test_the_context_is_drawn_with_the_seed() -> None:
    premises = {suite("antonyms-ex-situ", seed, assume="paper").frame.collect()["premise"][0] for seed in range(8)}
    assert premises == {"A soccer game occurring at sunrise.", "A basketball game is occurring at sunrise."}


def test_a_hypernym_swapped_in_an_upward_place_has_derived_gold() -> None:
    made = suite("hypernyms-in-situ")
    assert made.frame.collect().select(*TEXTS, "relation", "gold_changed").rows() == [
        (
            "An animal is sleeping under the table.",
            "A dog is sleeping under the table.",
            "neutral",
            "logical",
            "hypernym",
            "yes",
        )
    ]
    assert made.card.arguments["derived"] == 1
    assert made.card.arguments["asked"] == 1


def test_gold_is_not_derived_against_the_label_of_the_control() -> None:
    wrong = PAIRS.with_columns(label=pl.lit("contradiction"))
    with pytest.raises(NothingToMakeError):
        api.generate("swaps/hypernyms-in-situ", source=pairs(wrong))


def test_hypernyms_ex_situ_have_derived_gold_of_their_own() -> None:
    made = suite("hypernyms-ex-situ")
    rows = made.frame.collect().filter(genre="home").select(TEXTS).rows()
    dog, animal = "A dog is sleeping under the table.", "An animal is sleeping under the table."
    people, men = "Two people are sleeping.", "Two men are sleeping."
    assert rows == [(animal, dog, "neutral", "logical"), (people, men, "neutral", "logical")]
    assert control(made).select(TEXTS).rows()[0] == (dog, animal, "entailment", "logical")


def test_under_a_negation_the_wider_word_entails_the_narrower() -> None:
    rows = pl.DataFrame(
        {"premise": ["There is no animal in the yard."], "hypothesis": ["A dog might come."], "label": ["neutral"]}
    ).with_columns(genre=pl.lit("yard"))
    made = api.generate("swaps/hypernyms-ex-situ", source=pairs(rows), arguments={"tagger": "light"})
    animal, dog = "There is no animal in the yard.", "There is no dog in the yard."
    assert made.frame.collect().select(TEXTS).rows() == [(dog, animal, "neutral", "logical")]
    assert control(made).select(TEXTS).rows() == [(animal, dog, "entailment", "logical")]


def test_the_context_is_one_where_gold_follows_whatever_the_seed() -> None:
    rows = pl.DataFrame(
        {"premise": ["A dog is sleeping."], "hypothesis": ["Is the animal asleep?"], "label": ["neutral"]}
    ).with_columns(genre=pl.lit("home"))
    for seed in range(6):
        made = api.generate("swaps/hypernyms-ex-situ", source=pairs(rows), seed=seed, arguments={"tagger": "light"})
        assert made.frame.collect()["swap"].to_list() == ["ex situ, context of the premise"]


def test_what_people_call_incoherent_is_left_out_and_counted(tmp_path: Path) -> None:
    swapped = ("A soccer game occurring at sunrise.", "A basketball game is occurring at sunset.")
    answers = labelled(tmp_path, (*swapped, None, "incoherent"))
    with pytest.raises(NothingToMakeError, match="1 incoherent to the people asked"):
        suite("antonyms-in-situ", answers=answers)


def test_questions_go_through_the_questionnaire_and_come_back_as_gold(tmp_path: Path) -> None:
    questions = tmp_path / "questions.tsv"
    api.save(suite("antonyms-in-situ", ask=True), questions)
    asked = pl.read_csv(questions, separator="\t")
    said = [asked.with_columns(annotator=pl.lit(name), coherent=pl.lit("yes")) for name in ("Ann", "Bo")]
    write_table(pl.concat(said).with_columns(inference=pl.lit("neutral")), tmp_path / "answers.tsv")
    api.agreement(tmp_path / "answers.tsv", questionnaire="swaps", output=tmp_path / "labels.tsv")
    made = suite("antonyms-in-situ", answers=str(tmp_path / "labels.tsv"))
    assert made.frame.collect().select("label", "certainty", "gold_changed").rows() == [("neutral", "human", "yes")]
    assert made.card.arguments["asked"] == 1
    assert made.card.arguments["discarded"] == 0


def test_the_card_says_whether_controls_are_of_the_training_file(tmp_path: Path) -> None:
    assert suite("antonyms-in-situ", assume="paper").card.arguments["controls"] == "training"
    write_table(PAIRS, tmp_path / "train.jsonl")
    held_out = suite("antonyms-in-situ", assume="paper", train=str(tmp_path / "train.jsonl"))
    assert held_out.card.arguments["controls"] == "held-out"
    assert held_out.card.arguments["train"] == "train.jsonl"


def test_pairs_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "pairs.txt").write_text("soccer basketball\n", encoding="utf-8")
    made = suite("antonyms-in-situ", assume="paper", pairs=str(tmp_path / "pairs.txt"))
    assert made.frame.collect().select("premise", "hypothesis").rows() == [
        ("A basketball game occurring at sunset.", "A soccer game is occurring at sunrise.")
    ]
    assert made.card.arguments["pairs"] == "pairs.txt"


def test_a_pair_of_words_is_used_so_often_and_no_more() -> None:
    many = pl.concat([PAIRS.with_columns(pl.col("premise") + f" Day {number}.") for number in range(5)])
    made = api.generate("swaps/antonyms-in-situ", source=pairs(many), arguments={"assume": "paper", "most": "3"})
    assert made.card.rows == 3
    assert made.card.left_out["of a pair of words that has enough"] == 2


def test_a_proxy_stands_often_enough_on_one_side_of_the_training_file(tmp_path: Path) -> None:
    # Examples 7 and 8 of the paper: "aged", a synonym of "elderly", instead of "young".
    train = pl.DataFrame({"premise": ["It is aged."] * 10, "hypothesis": ["It is."] * 10, "label": ["neutral"] * 10})
    write_table(train, tmp_path / "train.jsonl")
    (tmp_path / "pairs.txt").write_text("elderly young\n", encoding="utf-8")
    words, train_file = str(tmp_path / "pairs.txt"), str(tmp_path / "train.jsonl")
    asked = suite("antonyms-proxy", ask=True, pairs=words, train=train_file).frame.collect()
    columns = ("premise", "hypothesis", "premise_word", "hypothesis_word", "relation", "swap")
    assert asked.select(columns).rows() == [
        (
            "An elderly woman sitting on a bench.",
            "An aged mother sits down.",
            "elderly",
            "aged",
            "synonym",
            "proxy in the hypothesis",
        )
    ]
    with pytest.raises(NothingToMakeError):
        suite("antonyms-proxy", ask=True, least="11", pairs=words, train=train_file)


def test_so_many_source_pairs_are_drawn() -> None:
    with pytest.raises(
        AcidtestError, match=r"2 pairs were asked for, but only 1 of 'mine' have words to swap and gold"
    ):
        suite("antonyms-in-situ", n=2, assume="paper")


def test_asking_and_assuming_exclude_each_other() -> None:
    with pytest.raises(AcidtestError, match="--ask gives the pairs to be asked, but with --assume paper none is"):
        suite("antonyms-in-situ", ask=True, assume="paper")


def test_a_corpus_without_contradictions_gives_nothing() -> None:
    neutral = PAIRS.with_columns(label=pl.lit("neutral"))
    with pytest.raises(NothingToMakeError):
        api.generate("swaps/antonyms-in-situ", source=pairs(neutral), arguments={"assume": "paper"})


def test_rows_do_not_depend_on_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = api.generate("swaps/hypernyms-ex-situ").frame.collect()
    monkeypatch.setattr("acidtest.suites.corpus._BATCH_ROWS", 97)
    assert api.generate("swaps/hypernyms-ex-situ").frame.collect().equals(whole)


def test_what_annotators_said_of_a_pair_is_not_said_of_what_is_made_of_it() -> None:
    frame = PAIRS.with_columns(annotator_labels=pl.lit('["contradiction"]'))
    card = Card("mine", columns={"genre": "factor", "annotator_labels": "text"})
    source = Suite(complete_columns(frame, "mine").lazy(), card).sealed()
    made = api.generate("swaps/antonyms-in-situ", source=source, arguments={"tagger": "light", "assume": "paper"})
    asked = api.generate("swaps/antonyms-in-situ", source=source, arguments={"tagger": "light", "ask": True})
    assert "annotator_labels" not in made.frame.collect_schema().names() + asked.frame.collect_schema().names()


def test_n_is_how_many_pairs_people_are_asked_about() -> None:
    source = pairs(pl.concat([PAIRS, PAIRS.with_columns(pl.col("premise").str.replace(r"\.", " today."))]))
    rows = [
        api.generate("swaps/antonyms-in-situ", source=source, n=n, arguments={"tagger": "light", "ask": True}).card.rows
        for n in (None, 1)
    ]
    assert rows == [2, 1]


def test_questions_are_no_suite_to_run() -> None:
    with pytest.raises(AcidtestError, match="'swaps/antonyms-in-situ' has no gold: its pairs are questions for people"):
        api.run("baseline:overlap", [suite("antonyms-in-situ", ask=True)])


def test_answers_to_other_pairs_are_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    swapped = suite("antonyms-in-situ", assume="paper").frame.collect().row(0, named=True)
    rows = [(swapped["premise"], swapped["hypothesis"], "neutral", None), ("A stranger.", "Another.", "neutral", None)]
    suite("antonyms-in-situ", answers=labelled(tmp_path, *rows))
    assert "labels.tsv: 1 of 2 answers are to no pair made of this corpus" in caplog.text


def test_answers_used_by_any_suite_of_a_run_are_no_strangers(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    names = ("antonyms-in-situ", "antonyms-ex-situ")
    swapped = [suite(name, assume="paper").frame.collect().row(0, named=True) for name in names]
    rows = [(row["premise"], row["hypothesis"], "neutral", None) for row in swapped]
    chosen = [f"swaps/{name}" for name in names]
    for strangers in (0, 1):
        caplog.clear()
        answers = labelled(tmp_path, *rows, *[("A stranger.", "Another.", "neutral", None)] * strangers)
        api.chosen_suites(chosen, source=pairs(), arguments={"tagger": "light", "answers": answers})
        said = f"labels.tsv: {strangers} of {2 + strangers} answers are to no pair made of this corpus"
        assert ("answers are to no pair" in caplog.text, said in caplog.text) == (bool(strangers), bool(strangers))


@pytest.mark.parametrize(("name", "advised"), [("antonyms-in-situ", True), ("antonyms-proxy", False)])
def test_only_suites_that_can_assume_gold_are_advised_to(name: str, advised: bool, tmp_path: Path) -> None:
    train = pl.DataFrame({"premise": ["It is aged."] * 10, "hypothesis": ["It is."] * 10, "label": ["neutral"] * 10})
    write_table(train, tmp_path / "train.jsonl")
    (tmp_path / "pairs.txt").write_text("elderly young\n", encoding="utf-8")
    with pytest.raises(NothingToMakeError, match="get gold for those that wait") as caught:
        suite(name, pairs=str(tmp_path / "pairs.txt"), train=str(tmp_path / "train.jsonl"))
    assert ("--assume paper" in str(caught.value)) == advised


def test_a_pair_with_a_proxy_on_either_side_is_one_control(tmp_path: Path) -> None:
    source = pairs(
        pl.DataFrame(
            {
                "premise": ["A large dog is barking at the gate."],
                "hypothesis": ["A small dog barks."],
                "label": ["contradiction"],
                "genre": ["home"],
            }
        )
    )
    sentences = ["It is big.", "It is little."] * 10
    train = pl.DataFrame({"premise": sentences, "hypothesis": ["It is."] * 20, "label": ["neutral"] * 20})
    write_table(train, tmp_path / "train.jsonl")
    answers = labelled(
        tmp_path,
        ("A little dog is barking at the gate.", "A small dog barks.", "entailment", None),
        ("A large dog is barking at the gate.", "A big dog barks.", "entailment", None),
    )
    arguments = {"tagger": "light", "train": str(tmp_path / "train.jsonl"), "answers": answers}
    made = api.generate("swaps/antonyms-proxy", source=source, arguments=arguments)
    assert made.frame.collect()["swap"].to_list() == ["proxy in the hypothesis", "proxy in the premise"]
    assert control(made)["hypothesis"].to_list() == ["A small dog barks."]


def test_a_training_file_that_is_not_there_is_told() -> None:
    with pytest.raises(AcidtestError, match=r"none\.tsv: there is no such training file"):
        suite("antonyms-in-situ", train="none.tsv", assume="paper")
