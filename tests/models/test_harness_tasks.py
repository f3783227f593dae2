"""What an answer means in a task of another program."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from acidtest.models.harness_tasks import (
    ReplyAnswer,
    TaskRecipe,
    accepts_all,
    arranged_prompt,
    choice_probabilities,
    is_right,
    plain_task_name,
    prompt_choices,
    read_answer,
)

WORDS = {"entailment": "entailment", "neutral": "neutral", "contradiction": "contradiction"}
RECIPE = TaskRecipe("hans", choices=WORDS, words=WORDS)


def test_likelihoods_become_probabilities_in_our_order() -> None:
    # Closed form: e^0 / (e^0 + e^-1 + e^-2) = 0.6652 for the first choice, which means contradiction.
    row = choice_probabilities([-3.0, -4.0, -5.0], ["contradiction", "neutral", "entailment"])
    assert row.tolist() == pytest.approx([0.0900, 0.2447, 0.6652], abs=1e-4)
    two = choice_probabilities([-1.0, -1.0], ["entailment", "non-entailment"])
    assert two.tolist() == pytest.approx([0.5, 0.5, 0])


@pytest.mark.parametrize("values", [[math.nan, -1, -1], [-math.inf] * 3, []])
def test_likelihoods_that_are_no_numbers_are_no_answer(values: list[float]) -> None:
    assert np.isnan(choice_probabilities(values, list(WORDS)[: len(values)])).all()


@pytest.mark.parametrize(
    ("answer", "gold", "resolution", "right"),
    [
        ("neutral", "non-entailment", "three-way", True),
        ("contradiction", "non-entailment", "three-way", True),
        ("entailment", "non-entailment", "three-way", False),
        ("neutral", "contradiction", "three-way", False),
        ("non-entailment", "contradiction", "two-way", True),
        ("contradiction", "any", "three-way", True),
        (None, "any", "three-way", False),
    ],
)
def test_an_answer_is_right_when_it_is_in_the_gold_set(answer: str, gold: str, resolution: Any, right: bool) -> None:
    assert is_right(ReplyAnswer(answer).row, gold, resolution=resolution) is right


def test_a_reply_is_read_as_those_of_endpoints_are() -> None:
    assert read_answer("**Neutral.**", WORDS) == ReplyAnswer("neutral")
    assert read_answer("neutral or contradiction", WORDS) == ReplyAnswer(None, "several answers")
    assert read_answer("It is not entailment", WORDS) == ReplyAnswer(None, "a negated answer")
    assert read_answer("", WORDS) == ReplyAnswer(None, "no answer")


def test_gold_that_accepts_both_answers_of_a_prompt_is_known() -> None:
    assert accepts_all("non-contradiction", "two-way")
    assert not accepts_all("non-contradiction", "three-way")
    assert not accepts_all("non-entailment", "two-way")


def test_names_of_tasks_are_names_in_python() -> None:
    assert plain_task_name("stress/length-mismatch") == "stress_length_mismatch"
    assert plain_task_name("2020 set") == "suite_2020_set"


def test_a_prompt_of_two_answers_makes_a_task_two_way() -> None:
    choices = prompt_choices(arranged_prompt("supported"))
    assert choices == {"supported": "entailment", "unsupported": "non-entailment"}
    assert TaskRecipe("hans", choices=choices).resolution == "two-way"
    assert RECIPE.resolution == "three-way"
