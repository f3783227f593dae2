"""One person's answers to one item, as a browser sends them: checked against the questionnaire."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import polars as pl

from acidtest.annotate.answers import RowError, checked_answers
from acidtest.annotate.outcomes import outcomes
from acidtest.annotate.questionnaires import Question, Questionnaire
from acidtest.core.errors import AcidtestError, UnknownNameError

LONGEST_TEXT = 10_000
"""So many characters may be written in answer to a question; the page's own fields end there too."""

_REMEMBERED, _SHORT = 4096, 2000
"""How many forms are remembered, and how long they are at most: those that people write into are never the same."""


class FormError(AcidtestError):
    """Something wrong in a form, with the question it is about."""

    def __init__(self, problem: str, question: str | None) -> None:
        self.question = question
        super().__init__(problem)


def form_checker(asked: Questionnaire) -> Callable[[Mapping[str, Any], str | None], dict[str, Any]]:
    """A function of answers and an item's gold that gives answers as the questionnaire spells them.

    Those that say nothing are left out.
    """
    questions = {question.id: question for question in asked.questions}
    # Of choices there are few, so that the same forms come again and again.
    remembered = lru_cache(maxsize=_REMEMBERED)(lambda written: _checked(asked, written))

    def checked(answers: Mapping[str, Any], gold: str | None) -> dict[str, Any]:
        for name in answers:
            if name not in questions:
                raise FormError(str(UnknownNameError("question", name, questions)), name)
        typed = {name: _typed(answers.get(name), question) for name, question in questions.items()}
        written = json.dumps(typed | ({"gold": gold} if asked.asks_by_gold else {}))
        return dict(json.loads(remembered(written) if len(written) <= _SHORT else _checked(asked, written)))

    return checked


def is_text(text: str) -> bool:
    """Whether every database can keep a text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _checked(asked: Questionnaire, written: str) -> str:
    """Answers as the questionnaire spells them, all in JSON."""
    types = {q.id: pl.List(pl.String) if q.takes_several else pl.String for q in asked.questions}
    given = {"item": "item", "annotator": "annotator", **json.loads(written)}
    frame = pl.DataFrame({name: [value] for name, value in given.items()}, schema_overrides=types)
    try:
        found = checked_answers(frame, asked)
        outcomes(asked, found.frame)
    except RowError as error:
        named = next((name for name in types if f"question {name!r}" in error.problem), None)
        raise FormError(error.problem, named) from error
    row = found.frame.row(0, named=True)
    return json.dumps({name: row[name] for name in types if row[name] not in (None, [])})


def _typed(answer: Any, question: Question) -> str | list[str] | None:
    """An answer as text, or as texts where several may be given; anything else is refused."""
    several = isinstance(answer, list)
    texts = answer if isinstance(answer, list) else [] if answer is None else [answer]
    problem = ""
    if not all(isinstance(text, str) for text in texts) or (several and not question.takes_several):
        problem = f"the answer must be {'a list of texts' if question.takes_several else 'a text'}"
    elif not all(is_text(text) for text in texts):
        problem = "holds characters that are none"
    elif sum(map(len, texts)) > LONGEST_TEXT:
        problem = f"has {sum(map(len, texts)):,} characters; write {LONGEST_TEXT:,} at most"
    if problem:
        raise FormError(f"question {question.id!r}: {problem}", question.id)
    if question.takes_several:
        return list(texts)
    return texts[0] if texts else None
