"""Suite ``taxonomy``: what annotated files say of their pairs, however they say it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Suite

HEAD = "premise,hypothesis,label"
PAIRS = ("A man sleeps.,A man is awake.,contradiction", "A dog runs.,A dog moves.,entailment")


def made(text: str, name: str = "mine.csv", **arguments: str) -> Suite:
    Path(name).write_text(text, encoding="utf-8")
    return api.generate("taxonomy", source=name, arguments=arguments)


def marks(suite: Suite) -> dict[str, list[bool]]:
    return suite.frame.select(suite.card.categories).collect().to_dict(as_series=False)


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_columns_may_say_yes_in_many_ways_and_be_called_as_published() -> None:
    suite = made(f"{HEAD},Negation,lexical_linguistic,world\n{PAIRS[0]},1,TRUE,yes\n{PAIRS[1]},0.0,false,no\n")
    assert marks(suite) == {"lexical": [True, False], "negation": [True, False], "world": [True, False]}
    assert suite.card.columns == {"lexical": "category", "negation": "category", "world": "category"}


def test_a_list_may_be_json_or_joined_by_strokes() -> None:
    rows = [
        '{"premise": "A man sleeps.", "hypothesis": "A man is awake.", "label": "c", "categories": ["lexical"]}',
        '{"premise": "A dog runs.", "hypothesis": "A dog moves.", "label": "e", "categories": null}',
    ]
    listed = made("\n".join(rows), "mine.jsonl")
    joined = made(f"{HEAD},categories\n{PAIRS[0]},lexical|negation_logic\n{PAIRS[1]},\n")
    assert [name for name, held in marks(listed).items() if held == [True, False]] == ["lexical"]
    assert [name for name, held in marks(joined).items() if held == [True, False]] == ["lexical", "negation"]
    assert len(listed.card.categories) == 15, "what the paper did not annotate is a column only where it is used"
    counting = made(f"{HEAD},categories\n{PAIRS[0]},counting\n{PAIRS[1]},\n")
    assert "counting" in counting.card.categories
    assert "arithmetic" not in counting.card.categories


def test_categories_of_ones_own_are_named() -> None:
    text = f"{HEAD},irony,pun,note\n{PAIRS[0]},1,0,x\n{PAIRS[1]},0,1,y\n"
    suite = made(text, categories="pun, irony")
    assert marks(suite) == {"pun": [False, True], "irony": [True, False]}
    assert suite.card.columns["note"] == "factor"
    assert "|categories:pun,irony|" in suite.card.signature
    [whole] = api.chosen_suites(["taxonomy"], source="mine.csv", arguments={"categories": "pun,irony"})
    assert whole.card.categories == ("pun", "irony"), "commas do not make a suite of each"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{HEAD},negation\n{PAIRS[0]},1\n{PAIRS[1]},maybe\n", "mine.csv:3: column 'negation' holds 'maybe'"),
        (f'{HEAD},negation\n"A\nman.",B,c,1\n{PAIRS[1]},\n', "mine.csv:4: column 'negation' is empty here"),
        (f"{HEAD},categories\n{PAIRS[0]},lexical\n{PAIRS[1]},lexcal\n", "mine.csv:3: 'lexcal' is not a category"),
        (f"{HEAD},negation,categories\n{PAIRS[0]},1,lexical\n", "has the column 'categories' and also negation"),
        (f"{HEAD},negation,negation_logic\n{PAIRS[0]},1,0\n", "columns negation and negation_logic both say"),
        (f"{HEAD},genre\n{PAIRS[0]},fiction\n", "no column says which categories its pairs have; it has genre"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(text: str, told: str) -> None:
    with pytest.raises(AcidtestError) as error:
        made(text)
    assert told in str(error.value)


def test_a_category_that_is_not_there_is_told() -> None:
    with pytest.raises(AcidtestError, match="has no column 'pun'"):
        made(f"{HEAD},irony\n{PAIRS[0]},1\n", categories="irony,pun")


def test_features_are_of_neutral_pairs_only() -> None:
    rows = ["A,B,neutral,1,1.0", "C,D,neutral,0,0.0", "E,F,neutral,0,-", "G,H,entailment,1,0.0"]
    suite = made(f"{HEAD},lexical,subject_q2\n" + "\n".join(rows))
    assert suite.frame.collect()["same_subject"].to_list() == ["yes", "no", None, None]
    assert suite.card.columns["same_subject"] == "factor"


def test_features_may_stand_among_the_categories() -> None:
    rows = ["A,B,neutral,same_topic|same_subject|causal", "C,D,neutral,same_topic", "E,F,entailment,lexical"]
    suite = made(f"{HEAD},categories\n" + "\n".join(rows))
    assert suite.frame.collect()["same_subject"].to_list() == ["yes", "no", None]
    assert suite.card.columns["same_topic"] == "factor"
    assert "same_object" not in suite.card.columns
    assert marks(suite)["causal"] == [True, False, False]


def test_a_column_called_category_makes_room() -> None:
    suite = made(f"{HEAD},lexical,category\n{PAIRS[0]},1,a\n{PAIRS[1]},0,b\n")
    assert suite.card.columns == {"lexical": "category", "source_category": "factor"}


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_what_is_written_is_read_back(ending: str) -> None:
    suite = made(f"{HEAD},lexical\n{PAIRS[0]},1\n{PAIRS[1]},0\n")
    api.save(suite, f"suite{ending}")
    again = api.load(f"suite{ending}")
    assert again.card == suite.card
    assert again.frame.collect().equals(suite.frame.collect())
    assert again.frame.collect_schema()["lexical"] == pl.Boolean


def test_without_a_file_it_is_the_examples() -> None:
    suite = api.generate("taxonomy")
    held = suite.frame.filter(pl.col("premise").str.starts_with("Neither the bank")).collect()
    assert [name for name in suite.card.categories if held[name][0]] == ["negation", "boolean"]
