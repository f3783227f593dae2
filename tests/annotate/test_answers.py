"""Files of answers in every format, what is wrong with bad ones, and whose answers count."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from acidtest.annotate.answers import Answers, check_answers, exclude_people, read_answers
from acidtest.annotate.questionnaires import Questionnaire, load_questionnaire, parse_questionnaire
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.serialise import to_json
from acidtest.io.tables import write_table

THREE = load_questionnaire("breaking-nli")

SEVERAL = """
schema = 1
title = "What is in it"
[[question]]
id = "kinds"
text = "What is in it?"
kind = "several-of"
options = ["word overlap", "negation", { id = "nothing", exclusive = true }]
[[question]]
id = "comment"
text = "Why?"
kind = "text"
[[rule]]
categories_from = ["kinds"]
"""

HEADER = "item\tannotator\tsame_event\tnew_information\tungrammatical\n"


def several_questionnaire() -> Questionnaire:
    return parse_questionnaire(SEVERAL.encode(), Path("several.toml"))


def write_file(tmp_path: Path, text: str, name: str = "answers.tsv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_answers_are_read_however_yes_and_no_are_written(tmp_path: Path) -> None:
    rows = "p\ta\tYES\tno\tFalse\np\tb\t1\t0\tn\nq\ta\t y \tTRUE\tNo\n"
    answers = read_answers(write_file(tmp_path, HEADER + rows), THREE)
    assert answers.frame.rows() == [
        ("p", "a", "yes", "no", "no"),
        ("p", "b", "yes", "no", "no"),
        ("q", "a", "yes", "yes", "no"),
    ]
    assert (answers.name, answers.item_column) == ("answers.tsv", "item")
    assert answers.items.rows() == [("p",), ("q",)]


def test_json_lines_may_hold_booleans_and_ids_may_be_numbers(tmp_path: Path) -> None:
    row = {"id": 7, "annotator": 1, "same_event": True, "new_information": False, "ungrammatical": False}
    answers = read_answers(write_file(tmp_path, json.dumps(row) + "\n", "answers.jsonl"), THREE)
    assert answers.frame.rows() == [("7", "1", "yes", "no", "no")]
    assert answers.item_column == "id"


@pytest.mark.parametrize("ending", [".tsv", ".csv", ".jsonl", ".parquet"])
def test_several_answers_to_one_question_are_the_same_in_every_format(tmp_path: Path, ending: str) -> None:
    frame = pl.DataFrame(
        {
            "item": ["p", "q", "r"],
            "annotator": ["a", "a", "a"],
            "kinds": [["negation", "word overlap"], ["Nothing"], []],
            "comment": ["=1+1", None, " so "],
        }
    )
    path = tmp_path / f"answers{ending}"
    write_table(frame, path)
    found = read_answers(path, several_questionnaire()).frame
    assert [row or [] for row in found["kinds"].to_list()] == [["negation", "word overlap"], ["nothing"], []]
    assert found["comment"].to_list() == ["=1+1", None, "so"]


def test_several_answers_stand_in_a_cell_with_bars_between_them(tmp_path: Path) -> None:
    rows = 'p,a,negation | Word Overlap | negation\nq,a,\nr,a,"[""negation"", ""word overlap""]"\n'
    found = read_answers(
        write_file(tmp_path, "item,annotator,kinds\n" + rows, "answers.csv"), several_questionnaire()
    ).frame
    assert found["kinds"].to_list() == [["negation", "word overlap"], None, ["negation", "word overlap"]]
    assert found["comment"].to_list() == [None, None, None]


def test_what_all_rows_of_an_item_have_in_common_is_carried_along() -> None:
    frame = pl.DataFrame(
        {
            "item": ["p", "p", "q"],
            "annotator": ["a", "b", "a"],
            "premise": ["P", "P", "Q"],
            "seconds": [3, 4, 3],
            "label": ["mine", "mine", "mine"],
            "same_event": ["yes"] * 3,
            "new_information": ["no"] * 3,
            "ungrammatical": ["no"] * 3,
        }
    )
    assert check_answers(frame, THREE).items.to_dicts() == [
        {"item": "p", "premise": "P"},
        {"item": "q", "premise": "Q"},
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (HEADER, ": has no rows: nobody has answered anything yet"),
        (
            "id\tworker\np\ta\n",
            ": has no column 'annotator'; answers have item, annotator and a column for each question",
        ),
        (
            "text\tannotator\np\ta\n",
            ": has no column 'item'; answers have item, annotator and a column for each question",
        ),
        (
            "item\tannotator\tsame_event\tungrammatical\np\ta\tyes\tno\n",
            ": has no column 'new_information', for the question 'Does the new sentence (hypothesis) add new "
            "information to the original sentence (premise)?'",
        ),
        (HEADER + "p\ta\tyes\tno\tno\n\ta\tyes\tno\tno\n", ":3: has no item; fill it in or remove the row"),
        (HEADER + "p\t\tyes\tno\tno\n", ":2: has no annotator; fill it in or remove the row"),
        (
            HEADER + "p\ta\tyes\tno\tno\nq\ta\tyes\tno\tno\np\ta\tno\tno\tno\n",
            ":4: annotator 'a' answers item 'p' a second time; keep one row",
        ),
        (
            HEADER + "p\ta\tyes\tno\tno\nq\ta\tmaybe\tno\tno\n",
            ":3: question 'same_event': 'maybe' is not an answer; expected yes or no",
        ),
        (
            HEADER + "p\ta\tyes\t\tno\n",
            ":2: question 'new_information' has no answer; answer it, or leave this person's answers out",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    path = write_file(tmp_path, text)
    with pytest.raises(FileError) as caught:
        read_answers(path, THREE)
    assert str(caught.value) == f"{path}{problem}"


def test_an_unknown_answer_among_several_is_told_with_its_line(tmp_path: Path) -> None:
    path = write_file(tmp_path, "item\tannotator\tkinds\np\ta\t\nq\ta\tnegation|overlap\n")
    with pytest.raises(FileError) as caught:
        read_answers(path, several_questionnaire())
    told = "question 'kinds': 'overlap' is not an answer; expected word overlap, negation or nothing"
    assert str(caught.value) == f"{path}:3: {told}"


def test_a_list_where_one_answer_is_asked_for_is_refused(tmp_path: Path) -> None:
    row = {"item": "p", "annotator": "a", "same_event": ["yes"], "new_information": "no", "ungrammatical": "no"}
    path = write_file(tmp_path, json.dumps(row) + "\n", "answers.jsonl")
    with pytest.raises(FileError) as caught:
        read_answers(path, THREE)
    assert str(caught.value) == f"{path}:1: question 'same_event': holds a list, but one answer is expected"


def test_a_frame_is_told_the_row() -> None:
    frame = pl.DataFrame({"item": ["p", "p"], "annotator": ["a", "b"], "kinds": ["negation", "nothing|negation"]})
    with pytest.raises(AcidtestError, match=r"^row 2: question 'kinds': 'nothing' and 'negation' exclude each other"):
        check_answers(frame, several_questionnaire())


COUNTED = {
    "item": ["p", "p", "k", "k", "q", "q"],
    "annotator": ["ann", "ben"] * 3,
    "coherent": ["no"] * 6,
    "premise": ["P", "P", "K", "K", "Q", "Q"],
}


def counted_answers(**columns: list[object]) -> Answers:
    return check_answers(pl.DataFrame({**COUNTED, **columns}), load_questionnaire("swaps"))


def test_without_such_columns_all_answers_count() -> None:
    given = counted_answers()
    assert exclude_people(given) == (given, None)


def test_controls_and_excluded_people_are_left_out() -> None:
    given = counted_answers(
        seconds=["2", "30", "4", "50", "6", ""],
        control=["no", "no", "yes", "yes", "no", "no"],
        passed=[None, None, "yes", "no", None, None],
        excluded=["", "", "", "failed a control", "", ""],
    )
    kept, attendance = exclude_people(given)
    assert kept.frame.select("item", "annotator").rows() == [("p", "ann"), ("q", "ann")]
    assert kept.items["item"].to_list() == ["p", "q"]
    assert attendance is not None
    assert attendance.excluded == ("ben",)
    assert attendance.left_out == 4
    assert {name: (checks.asked, checks.failed) for name, checks in attendance.controls.items()} == {
        "ann": (1, 0),
        "ben": (1, 1),
    }
    assert attendance.seconds is not None
    assert (attendance.seconds.n, attendance.seconds.median, attendance.seconds.total) == (2, 4, 8)
    assert list(attendance.by_person) == ["ann"]
    assert to_json(attendance)["controls"]["ben"] == {"asked": 1, "failed": 1}
    # They are no columns of items.
    assert kept.items.columns == ["item", "premise"]


def test_a_role_marks_controls_and_failed_says_how_they_went() -> None:
    _, attendance = exclude_people(
        counted_answers(
            role=["item", "item", "control", "control", "item", "item"], failed=[None] * 2 + [True, False] + [None] * 2
        )
    )
    assert attendance is not None
    assert {name: checks.failed for name, checks in attendance.controls.items()} == {"ann": 1, "ben": 0}
    assert (attendance.left_out, attendance.excluded, attendance.seconds) == (2, (), None)


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"seconds": ["1", "2", "soon", "1", "1", "1"]}, "row 3: seconds 'soon' is not a duration"),
        ({"seconds": [1.0, -2.0, 1.0, 1.0, 1.0, 1.0]}, "row 2: seconds '-2.0' is not a duration"),
        ({"control": ["no", "maybe"] + ["no"] * 4}, "row 2: control 'maybe' is neither yes nor no"),
        ({"control": [True] * 6}, "all 6 rows are attention checks or of excluded people; none is left"),
    ],
)
def test_what_is_wrong_about_people_is_reported(columns: dict[str, list[object]], problem: str) -> None:
    with pytest.raises(AcidtestError, match=problem):
        exclude_people(counted_answers(**columns))
