from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.io.columns import MOST_NAMES, ListValues, is_prediction, split_names
from acidtest.studies.factors import factors


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("['Tricky', 'Reasoning']", ["Tricky", "Reasoning"]),
        ('["Tricky", "Reasoning"]', ["Tricky", "Reasoning"]),
        ("Tricky|Reasoning", ["Tricky", "Reasoning"]),
        ("Tricky", ["Tricky"]),
        ("['Basic', 'Negation', 'Basic']", ["Basic", "Negation"]),
        ("""["it's", 'b']""", ["it's", "b"]),
        ("[]", []),
        ("", []),
        ("[0.1, 0.2, 0.7]", None),
        ("[0.1 0.2 0.7]", None),
        ("['a', b]", None),
        ("[[['a']]]", None),
        ("['a'", None),
        ("|" * 3, None),
        ("a|" + "b" * 200, None),
    ],
)
def test_a_list_is_read_as_files_write_it(cell: str, names: list[str] | None) -> None:
    assert split_names(cell) == names


def values(*parts: list[str]) -> ListValues:
    found = ListValues()
    for part in parts:
        found.add(pl.Series(part, dtype=pl.String))
    return found


def test_a_column_lists_names_when_every_cell_does_and_some_cell_has_several() -> None:
    assert values(["['a', 'b']", "['a']"], ["[]"]).is_list
    assert not values(["['a']", "['b']"]).is_list
    assert not values(
        ["['a', 'b']"], ["a sentence | with a mark, that is much too long to be the name of anything"]
    ).is_list


def test_too_many_names_are_no_factor() -> None:
    cells = [f"x{number}|y" for number in range(MOST_NAMES + 1)]
    assert not values(cells).is_list
    assert values(cells[: MOST_NAMES - 1]).is_list


def test_the_votes_of_annotators_are_no_factor() -> None:
    assert not values(['["entailment", "neutral"]', '["neutral", "contradiction"]']).is_list


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("preds-roberta-from-r2PredLabel", ["x"], True),
        ("adversary_pred", ["e", "n"], True),
        ("predicted", ["0", "1"], True),
        ("annotator 2", ["entailment", "neutral", "-"], True),
        ("predicate", ["x", "y"], False),
        ("is_hard", ["yes", "no"], False),
        ("round", ["r1", "r2"], False),
        ("empty", ["-"], False),
    ],
)
def test_a_column_of_answers_is_known_by_its_name_or_its_values(name: str, cells: list[str], expected: bool) -> None:
    assert is_prediction(name, cells) is expected


TAGS = [["Tricky", "Reasoning"], ["Basic"], ["Tricky", "Basic"], ["Reasoning"], ["Tricky", "Reasoning"], ["Basic"]]
GUESSES = {"one": ["entailment", "neutral", "neutral", "entailment", "entailment", "neutral"], "two": ["neutral"] * 6}


def anli(tmp_path: Path, style: str) -> Path:
    """A small file of our own in the columns of ANLI's annotated development sets, with two systems."""
    rows = [
        {
            "uid": f"u{number}",
            "context": f"Story {number} is about a dog.",
            "statement": f"Story {number} is long.",
            "gold_label": "e" if number % 2 == 0 else "n",
            "round": f"r{number % 3}",
            "tags": {"python": str(tags), "json": json.dumps(tags), "pipe": "|".join(tags)}.get(style, tags),
            "preds-one": GUESSES["one"][number],
            "preds-two": GUESSES["two"][number],
        }
        for number, tags in enumerate(TAGS)
    ]
    if style == "parquet":
        pl.DataFrame(rows).write_parquet(tmp_path / "anli.parquet")
        return tmp_path / "anli.parquet"
    if style == "jsonl":
        (tmp_path / "anli.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        return tmp_path / "anli.jsonl"
    pl.DataFrame(rows).write_csv(tmp_path / "anli.csv")
    return tmp_path / "anli.csv"


@pytest.mark.parametrize("style", ["python", "json", "pipe", "jsonl", "parquet"])
def test_tags_are_a_factor_of_several_values_in_every_form(tmp_path: Path, style: str) -> None:
    suite = api.load(anli(tmp_path, style))
    assert suite.card.lists == ("tags",)
    assert suite.card.factors == ("round",)
    assert suite.frame.collect()["tags"].head(2).to_list() == ['["Tricky", "Reasoning"]', '["Basic"]']


def test_accuracy_by_tag_counts_a_row_for_each_of_its_tags(tmp_path: Path) -> None:
    path = anli(tmp_path, "python")
    run = api.score(path, str(path), column="preds-one", output=tmp_path / "run")
    by = run.results["suites"]["anli"]["by"]["tags"]
    # Right are rows 0, 1, 4 and 5: of Tricky (0, 2, 4) two, of Reasoning (0, 3, 4) two, of Basic (1, 2, 5) two.
    assert {name: (cell["n"], round(cell["value"] * cell["n"])) for name, cell in by.items()} == {
        "Tricky": (3, 2),
        "Reasoning": (3, 2),
        "Basic": (3, 2),
    }
    assert "preds-two" not in run.results["suites"]["anli"]["by"]


def test_runs_are_compared_by_tag(tmp_path: Path) -> None:
    path = anli(tmp_path, "pipe")
    runs = [api.score(path, str(path), column=f"preds-{name}", output=tmp_path / name) for name in ("one", "two")]
    slices = {c.value: c for c in api.compare(runs) if c.factor == "tags"}
    assert list(slices) == ["Tricky", "Reasoning", "Basic"]
    # Of Tricky's rows 0, 2 and 4 the first has two right, the second none.
    assert slices["Tricky"].accuracies == (pytest.approx(2 / 3), 0.0)


def test_the_names_in_a_list_are_categories_of_factors(tmp_path: Path) -> None:
    path = anli(tmp_path, "json")
    run = api.score(path, str(path), column="preds-one", output=tmp_path / "run")
    fits = factors([run], categories=["tags"], lengths=False).fits
    assert list(fits[0].accuracy) == ["Tricky", "Reasoning", "Basic"]
    assert fits[0].accuracy["Basic"].n == 3


def test_lists_survive_a_file_of_every_format(tmp_path: Path) -> None:
    suite = api.load(anli(tmp_path, "python"))
    for name in ("suite.parquet", "suite.csv", "suite.jsonl"):
        api.save(suite, tmp_path / name)
        again = api.load(tmp_path / name)
        assert again.card.lists == ("tags",)
        assert again.frame.collect()["tags"].to_list() == suite.frame.collect()["tags"].to_list()


def test_the_taxonomy_takes_its_categories_from_any_list(tmp_path: Path) -> None:
    path = anli(tmp_path, "python")
    suite = api.generate("taxonomy", source=path, arguments={"categories": "tags"})
    assert suite.card.categories == ("Tricky", "Reasoning", "Basic")
    assert suite.frame.collect()["Basic"].to_list() == [False, True, True, False, False, True]
