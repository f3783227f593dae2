"""Short answers as hypotheses, with the questions they answer."""

from __future__ import annotations

import pytest

from acidtest.corpora.questions import bare_answer, join_question


@pytest.mark.parametrize(
    ("answer", "hypothesis"),
    [
        ("1931", "Question: When did the mill close? Answer: 1931"),
        ("In the spring.", "Question: When did the mill close? Answer: In the spring."),
        (
            "after the flood of 1931 and the fire",
            "Question: When did the mill close? Answer: after the flood of 1931 and the fire",
        ),
        ("The mill closed in the spring of 1931.", "The mill closed in the spring of 1931."),
        (
            "the old mill closed in 1931 and its wheel was sold to a farmer",
            "the old mill closed in 1931 and its wheel was sold to a farmer",
        ),
    ],
)
def test_a_short_answer_is_joined_with_its_question_and_a_sentence_is_not(answer: str, hypothesis: str) -> None:
    question = " When did the mill close? "
    assert join_question(question, answer) == hypothesis
    assert bare_answer(question, hypothesis) == answer


@pytest.mark.parametrize("question", [None, "", " "])
def test_an_answer_without_a_question_stays_as_it_is(question: str | None) -> None:
    assert join_question(question, "1931") == "1931"
    assert bare_answer(question, "1931") == "1931"
