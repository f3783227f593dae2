"""Answers to questions as hypotheses: a short one is joined with its question, since alone it says nothing."""

from __future__ import annotations

import re

import polars as pl

QUESTION = "question"
"""The column with the question that a claim answers; null where there is none."""

_MOST_WORDS = 5
_MOST_WORDS_WITHOUT_STOP = 12
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*$")


def is_short_answer(text: str) -> bool:
    """Whether a text is no sentence: it has up to five words, or up to twelve and no full stop at the end."""
    words = len(text.split())
    return words <= _MOST_WORDS or (words <= _MOST_WORDS_WITHOUT_STOP and not _SENTENCE_END.search(text.strip()))


def join_question(question: str | None, answer: str, *, only_short: bool = True) -> str:
    """The hypothesis made of a short answer, ``Question: … Answer: …``; any other answer as it is.

    With ``only_short=False``, an answer of any length is joined with its question.
    """
    if not question or not question.strip():
        return answer
    if only_short and not is_short_answer(answer):
        return answer
    return _prefix(question) + answer.strip()


def bare_answer(question: str | None, hypothesis: str) -> str:
    """The answer in a hypothesis that ``join_question`` made; any other hypothesis as it is."""
    return hypothesis.removeprefix(_prefix(question)) if question else hypothesis


def join_questions(questions: pl.Series, answers: pl.Series, *, only_short: bool = True) -> pl.Series:
    """``join_question`` of every row."""
    rows = zip(questions, answers, strict=True)
    joined = [answer and join_question(question, answer, only_short=only_short) for question, answer in rows]
    return pl.Series(answers.name, joined, dtype=pl.String)


def question_prefixes(pairs: pl.DataFrame) -> pl.Series:
    """What stands before the answer in the hypothesis of each pair: ``Question: … Answer: `` or nothing."""
    if QUESTION not in pairs.columns:
        return pl.repeat("", pairs.height, dtype=pl.String, eager=True)
    prefixes = [
        prefix if question and hypothesis.startswith(prefix := _prefix(question)) else ""
        for question, hypothesis in zip(pairs[QUESTION], pairs["hypothesis"], strict=True)
    ]
    return pl.Series(prefixes, dtype=pl.String)


def _prefix(question: str) -> str:
    return f"Question: {question.strip()} Answer: "
