"""Whose answers count: control items and excluded people are left out and told, and times are of what is left."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.annotate.answers import Answers, checked_answers
from acidtest.annotate.attendance import attended
from acidtest.annotate.questionnaires import questionnaire
from acidtest.core.errors import AcidtestError
from acidtest.core.serialise import to_json

COLUMNS = {
    "item": ["p", "p", "k", "k", "q", "q"],
    "annotator": ["ann", "ben"] * 3,
    "coherent": ["no"] * 6,
    "premise": ["P", "P", "K", "K", "Q", "Q"],
}


def answers(**columns: list[object]) -> Answers:
    return checked_answers(pl.DataFrame({**COLUMNS, **columns}), questionnaire("swaps"))


def test_without_such_columns_all_answers_count() -> None:
    given = answers()
    assert attended(given) == (given, None)


def test_controls_and_excluded_people_are_left_out() -> None:
    given = answers(
        seconds=["2", "30", "4", "50", "6", ""],
        control=["no", "no", "yes", "yes", "no", "no"],
        passed=[None, None, "yes", "no", None, None],
        excluded=["", "", "", "failed a control", "", ""],
    )
    kept, found = attended(given)
    assert kept.frame.select("item", "annotator").rows() == [("p", "ann"), ("q", "ann")]
    assert kept.items["item"].to_list() == ["p", "q"]
    assert found is not None
    assert found.excluded == ("ben",)
    assert found.left_out == 4
    assert {name: (each.asked, each.failed) for name, each in found.controls.items()} == {"ann": (1, 0), "ben": (1, 1)}
    assert found.seconds is not None
    assert (found.seconds.n, found.seconds.median, found.seconds.total) == (2, 4, 8)
    assert list(found.by_person) == ["ann"]
    assert to_json(found)["controls"]["ben"] == {"asked": 1, "failed": 1}
    # They are no columns of items.
    assert kept.items.columns == ["item", "premise"]


def test_a_role_marks_controls_and_failed_says_how_they_went() -> None:
    _, found = attended(
        answers(
            role=["item", "item", "control", "control", "item", "item"], failed=[None] * 2 + [True, False] + [None] * 2
        )
    )
    assert found is not None
    assert {name: each.failed for name, each in found.controls.items()} == {"ann": 1, "ben": 0}
    assert (found.left_out, found.excluded, found.seconds) == (2, (), None)


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"seconds": ["1", "2", "soon", "1", "1", "1"]}, "row 3: seconds 'soon' is no length of time"),
        ({"seconds": [1.0, -2.0, 1.0, 1.0, 1.0, 1.0]}, "row 2: seconds '-2.0' is no length of time"),
        ({"control": ["no", "maybe"] + ["no"] * 4}, "row 2: control 'maybe' is neither yes nor no"),
        ({"control": [True] * 6}, "all 6 rows are of control items or of excluded people; none is left"),
    ],
)
def test_what_is_wrong_is_told(columns: dict[str, list[object]], problem: str) -> None:
    with pytest.raises(AcidtestError, match=problem):
        attended(answers(**columns))
