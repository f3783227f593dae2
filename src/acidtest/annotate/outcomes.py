"""What follows from one person's answers to one item: the questions that are asked, and the label or categories."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import polars as pl

from acidtest.annotate.answers import RowError, check_answers
from acidtest.annotate.conditions import GOLD, GOLD_COLUMN
from acidtest.annotate.questionnaires import OutcomeRule, Question, Questionnaire
from acidtest.core.errors import AcidtestError, UnknownNameError

LONGEST_TEXT = 10_000
"""The most characters of an answer in free text; the fields of the page have the same limit."""

_CACHED_FORMS, _CACHED_CHARACTERS = 4096, 2000
"""How many forms are cached, and how long they may be: forms with long texts do not repeat."""


@dataclass(frozen=True)
class AnswerOutcome:
    """What one person's answers to one item amount to: a reason to discard it, or a label, categories or both."""

    label: str | None = None
    categories: tuple[str, ...] = ()
    discard: str | None = None


class FormError(AcidtestError):
    """Something wrong in a form, and the question it is about."""

    def __init__(self, problem: str, question: str | None) -> None:
        self.question = question
        super().__init__(problem)


def asked_questions(
    questionnaire: Questionnaire, answers: Mapping[str, Any], *, gold: str | None = None
) -> list[Question]:
    """The questions that somebody with these answers so far is asked, including the answered ones.

    ``gold`` is the gold label of the item, for a questionnaire that asks by it.
    """
    schema = questionnaire.dtypes
    row = pl.DataFrame({name: [answers.get(name)] for name in schema}, schema=schema)
    row = row.with_columns(pl.lit(gold, pl.String).alias(GOLD_COLUMN))
    return [question for question in questionnaire.questions if row.select(questionnaire.holds(question.when)).item()]


def outcome(questionnaire: Questionnaire, answers: Mapping[str, Any], *, gold: str | None = None) -> AnswerOutcome:
    """What one person's answers amount to; a missing, unknown or unasked answer is an error."""
    _check_names(questionnaire, answers)
    given = {name: answers.get(name) for name in questionnaire.by_id}
    if questionnaire.asks_by_gold:
        given |= {GOLD: gold}
    try:
        _, row = _evaluate(questionnaire, given)
    except RowError as error:
        raise AcidtestError(error.problem) from error
    label, categories, discard = row.select("label", "categories", "discard").row(0)
    return AnswerOutcome(label, tuple(categories), discard)


def outcomes(questionnaire: Questionnaire, answers: pl.DataFrame) -> pl.DataFrame:
    """The outcome of every row of checked answers: item, annotator, label, categories and discard.

    The first rule that applies decides; it is an error if none does.
    """
    rules = questionnaire.rules
    numbers = (
        pl.when(_applies(questionnaire, rule)).then(pl.lit(number, pl.Int32)) for number, rule in enumerate(rules)
    )
    decided = answers.with_columns(_rule=pl.coalesce(*numbers))
    for row in decided["_rule"].is_null().arg_true().head(1):
        remedy = "end them with one that has no 'when'"
        raise RowError(row, f"none of the rules of {questionnaire.name!r} applies to these answers; {remedy}")
    return decided.select(
        "item",
        "annotator",
        label=_by_rule(rules, lambda rule: pl.col(rule.label_from) if rule.label_from else _literal(rule.label)),
        categories=_by_rule(rules, lambda rule: _rule_categories(questionnaire, rule)),
        discard=_by_rule(rules, lambda rule: _literal(rule.discard)),
    )


def form_checker(questionnaire: Questionnaire) -> Callable[[Mapping[str, Any], str | None], dict[str, Any]]:
    """A function that checks the answers a browser sends, given them and the item's gold label.

    It returns the answers as the questionnaire spells them, without empty ones, or raises ``FormError``.
    """
    # Questions with options have few combinations of answers, so the same forms come again and again.
    check_cached = lru_cache(maxsize=_CACHED_FORMS)(lambda written: _check_form(questionnaire, written))

    def check(answers: Mapping[str, Any], gold: str | None) -> dict[str, Any]:
        try:
            _check_names(questionnaire, answers)
        except UnknownNameError as error:
            unknown = next(name for name in answers if name not in questionnaire.by_id)
            raise FormError(str(error), unknown) from error
        form = {question.id: _check_type(answers.get(question.id), question) for question in questionnaire.questions}
        written = json.dumps(form | ({GOLD: gold} if questionnaire.asks_by_gold else {}))
        short = len(written) <= _CACHED_CHARACTERS
        return dict(json.loads(check_cached(written) if short else _check_form(questionnaire, written)))

    return check


def is_storable(text: str) -> bool:
    """Whether every database can store a text: it is valid Unicode without a null character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _check_names(questionnaire: Questionnaire, answers: Mapping[str, Any]) -> None:
    for name in answers:
        if name not in questionnaire.by_id:
            raise UnknownNameError("question", name, questionnaire.by_id)


def _evaluate(questionnaire: Questionnaire, given: Mapping[str, Any]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One person's answers, checked, and their outcome, each as a frame of one row."""
    form = {"item": "item", "annotator": "annotator", **given}
    checked = check_answers(pl.DataFrame({name: [value] for name, value in form.items()}), questionnaire).frame
    return checked, outcomes(questionnaire, checked)


def _check_form(questionnaire: Questionnaire, written: str) -> str:
    """Answers as the questionnaire spells them, both as JSON."""
    names = questionnaire.by_id
    try:
        checked, _ = _evaluate(questionnaire, json.loads(written))
    except RowError as error:
        question = next((name for name in names if f"question {name!r}" in error.problem), None)
        raise FormError(error.problem, question) from error
    row = checked.row(0, named=True)
    return json.dumps({name: row[name] for name in names if row[name] not in (None, [])})


def _check_type(answer: Any, question: Question) -> str | list[str] | None:
    """An answer as a text, or as a list of texts if several may be ticked; anything else is refused."""
    is_list = isinstance(answer, list)
    texts = answer if isinstance(answer, list) else [] if answer is None else [answer]
    problem = ""
    if not all(isinstance(text, str) for text in texts) or (is_list and not question.takes_several):
        problem = f"the answer must be {'a list of texts' if question.takes_several else 'a text'}"
    elif not all(is_storable(text) for text in texts):
        problem = "contains characters that cannot be stored; remove them"
    elif sum(map(len, texts)) > LONGEST_TEXT:
        problem = f"has {sum(map(len, texts)):,} characters; write {LONGEST_TEXT:,} at most"
    if problem:
        raise FormError(f"question {question.id!r}: {problem}", question.id)
    if question.takes_several:
        return list(texts)
    return texts[0] if texts else None


def _applies(questionnaire: Questionnaire, rule: OutcomeRule) -> pl.Expr:
    holds = questionnaire.holds(rule.when)
    return holds & pl.col(rule.label_from).is_not_null() if rule.label_from else holds


def _by_rule(rules: Sequence[OutcomeRule], value: Callable[[OutcomeRule], pl.Expr]) -> pl.Expr:
    return pl.coalesce(*(pl.when(pl.col("_rule") == number).then(value(rule)) for number, rule in enumerate(rules)))


def _literal(text: str) -> pl.Expr:
    return pl.lit(text or None, pl.String)


def _rule_categories(questionnaire: Questionnaire, rule: OutcomeRule) -> pl.Expr:
    """The categories that a rule names, then those that were answered, each once."""
    parts = [pl.lit(pl.Series([list(rule.categories)], dtype=pl.List(pl.String)))]
    for name in rule.categories_from:
        question = questionnaire.by_id[name]
        answers = pl.col(name) if question.takes_several else pl.concat_list(pl.col(name)).list.drop_nulls()
        names = [option.id for option in question.options if not option.exclusive]
        parts.append(answers.list.filter(pl.element().is_in(names)).fill_null([]))
    return pl.concat_list(parts).list.unique(maintain_order=True)
