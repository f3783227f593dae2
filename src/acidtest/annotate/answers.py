"""Reads and checks answers to a questionnaire, and derives the label or categories that a person gives an item.

A table of answers has a row per person and item. Columns: ``item`` (or ``id``), ``annotator``, and one named after each
question. Several answers to one question are a list in JSON lines; in other formats they share a cell, separated by
``|``. An empty cell is no answer. Columns about participation are described in ``columns``. Other columns are kept if
they have the same value in all rows of an item, as premise and hypothesis do.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from acidtest.annotate.columns import (
    GOLD_COLUMNS,
    PARTICIPATION_COLUMNS,
    RowError,
    answer_keys,
    clean_text,
    counted_rows,
    errors_in,
    split_lists,
)
from acidtest.annotate.conditions import GOLD, GOLD_COLUMN, as_list, join_with_or
from acidtest.annotate.questionnaires import RESERVED, SEPARATOR, OutcomeRule, Question, Questionnaire
from acidtest.core.digests import combine_digests, digests
from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.labels import gold_name
from acidtest.core.ratings import Attendance
from acidtest.io.tables import flatten, read_table

ITEM_COLUMNS = ("item", "id")
"""Names of the column that identifies items."""

LONGEST_TEXT = 10_000
"""The most characters of an answer in free text; the fields of the page have the same limit."""

_YES_NO = {**dict.fromkeys(("y", "true", "1"), "yes"), **dict.fromkeys(("n", "false", "0"), "no")}

_CACHED_FORMS, _CACHED_CHARACTERS = 4096, 2000
"""How many forms are cached, and the most characters of a cached form: forms with long texts seldom repeat."""


@dataclass(frozen=True)
class Answers:
    """Checked answers; ``frame`` has item, annotator and a column per question."""

    frame: pl.DataFrame
    items: pl.DataFrame
    """One row per item, in order of first occurrence, with the other columns that describe it."""
    name: str = ""
    item_column: str = "item"
    """The file's name for the column ``item``."""
    participation: pl.DataFrame = field(default_factory=pl.DataFrame)
    """The columns of ``PARTICIPATION_COLUMNS`` and ``role`` that the file has; rows match those of ``frame``."""

    @property
    def fingerprint(self) -> str:
        """A digest of who answered what, the same for every file and store with these answers."""
        return combine_digests(digests(*flatten(self.frame)))


@dataclass(frozen=True)
class AnswerOutcome:
    """The result of one person's answers to one item: a reason to discard the item, or a label, categories or both."""

    label: str | None = None
    categories: tuple[str, ...] = ()
    discard: str | None = None


class RequestError(AcidtestError):
    """A request that the server refuses: ``status`` is the HTTP status, ``question`` the question that it is about."""

    def __init__(self, status: int, problem: str, question: str | None = None) -> None:
        self.status, self.question = status, question
        super().__init__(problem)


def read_answers(path: str | Path, questionnaire: Questionnaire) -> Answers:
    """Read and check the answers in a table of any format; errors name the line."""
    table = read_table(path)
    if not table.rows.height:
        raise FileError(path, "has no rows: nobody has answered anything yet")
    with errors_in(table):
        return replace(check_answers(table.written_frame, questionnaire), name=Path(path).name)


def check_answers(frame: pl.DataFrame, questionnaire: Questionnaire) -> Answers:
    """Check the answers in a frame, and spell them as the questionnaire does."""
    item = next((name for name in ITEM_COLUMNS if name in frame.columns), None)
    if item is None or "annotator" not in frame.columns:
        missing = "annotator" if item else "item"
        raise AcidtestError(f"has no column {missing!r}; answers have item, annotator and a column for each question")
    keys = answer_keys(frame, item, "annotator")
    columns = [_answer_column(frame, question) for question in questionnaire.questions]
    columns += [_gold_column(frame, questionnaire)] if questionnaire.asks_by_gold else []
    checked = keys.with_columns(columns)
    _check_flow(checked, questionnaire)
    participation = frame.select(
        name for name in (*PARTICIPATION_COLUMNS, "role") if name in frame.columns and name not in questionnaire.by_id
    )
    items = _known_items(frame, keys["item"], questionnaire)
    return Answers(checked, items, item_column=item, participation=participation)


def exclude_people(answers: Answers) -> tuple[Answers, Attendance | None]:
    """The answers without attention checks and excluded people, and a summary of the people.

    The summary is None if the file has no columns about participation.
    """
    if not answers.participation.width:
        return answers, None
    try:
        counts, attendance = counted_rows(answers.frame["annotator"], answers.participation)
    except AcidtestError as error:
        raise AcidtestError(f"{answers.name}: {error}") from error
    frame = answers.frame.filter(counts)
    items = answers.items.filter(pl.col("item").is_in(frame["item"].implode()))
    return replace(answers, frame=frame, items=items, participation=answers.participation.filter(counts)), attendance


def asked_questions(
    questionnaire: Questionnaire, answers: Mapping[str, Any], *, gold: str | None = None
) -> list[Question]:
    """The questions asked of somebody who has given these answers so far, including the answered ones.

    ``gold`` is the item's gold label, which conditions may refer to.
    """
    schema = questionnaire.dtypes
    row = pl.DataFrame({name: [answers.get(name)] for name in schema}, schema=schema)
    row = row.with_columns(pl.lit(gold, pl.String).alias(GOLD_COLUMN))
    return [question for question in questionnaire.questions if row.select(questionnaire.holds(question.when)).item()]


def outcome(questionnaire: Questionnaire, answers: Mapping[str, Any], *, gold: str | None = None) -> AnswerOutcome:
    """The outcome of one person's answers; a missing answer, or one to an unknown or unasked question, is an error."""
    for name in answers:
        if name not in questionnaire.by_id:
            raise UnknownNameError("question", name, questionnaire.by_id)
    form = {name: answers.get(name) for name in questionnaire.by_id}
    try:
        _, row = _evaluate(questionnaire, form | ({GOLD: gold} if questionnaire.asks_by_gold else {}))
    except RowError as error:
        raise AcidtestError(error.problem) from error
    _, _, label, categories, discard = row.row(0)
    return AnswerOutcome(label, tuple(categories), discard)


def outcomes(questionnaire: Questionnaire, answers: pl.DataFrame) -> pl.DataFrame:
    """The outcome of every row of checked answers: item, annotator, label, categories and discard.

    The first rule that applies decides; it is an error if none does.
    """
    rules = list(enumerate(questionnaire.rules))

    def applies(rule: OutcomeRule) -> pl.Expr:
        holds = questionnaire.holds(rule.when)
        return holds & pl.col(rule.label_from).is_not_null() if rule.label_from else holds

    def by_rule(value: Callable[[OutcomeRule], pl.Expr]) -> pl.Expr:
        return pl.coalesce(*(pl.when(pl.col("_rule") == number).then(value(rule)) for number, rule in rules))

    def text(value: str) -> pl.Expr:
        return pl.lit(value or None, pl.String)

    numbers = (pl.when(applies(rule)).then(pl.lit(number, pl.Int32)) for number, rule in rules)
    decided = answers.with_columns(_rule=pl.coalesce(*numbers))
    for row in decided["_rule"].is_null().arg_true().head(1):
        remedy = "end them with one that has no 'when'"
        raise RowError(row, f"none of the rules of {questionnaire.name!r} applies to these answers; {remedy}")
    return decided.select(
        "item",
        "annotator",
        label=by_rule(lambda rule: pl.col(rule.label_from) if rule.label_from else text(rule.label)),
        categories=by_rule(lambda rule: _rule_categories(questionnaire, rule)),
        discard=by_rule(lambda rule: text(rule.discard)),
    )


def form_checker(questionnaire: Questionnaire) -> Callable[[Mapping[str, Any], str | None], dict[str, Any]]:
    """A function that takes the answers a browser sends and the item's gold label, and checks the answers.

    It returns the answers as the questionnaire spells them, without empty ones, or raises ``RequestError``.
    """
    names = questionnaire.by_id

    def check_written(written: str) -> str:
        """Answers as the questionnaire spells them, both as JSON."""
        try:
            checked, _ = _evaluate(questionnaire, json.loads(written))
        except RowError as error:
            question = next((name for name in names if f"question {name!r}" in error.problem), None)
            raise RequestError(422, error.problem, question) from error
        row = checked.row(0, named=True)
        return json.dumps({name: row[name] for name in names if row[name] not in (None, [])})

    # Questions with options have few combinations of answers, so the same forms come again and again.
    check_cached = lru_cache(maxsize=_CACHED_FORMS)(check_written)

    def check(answers: Mapping[str, Any], gold: str | None) -> dict[str, Any]:
        for name in answers:
            if name not in names:
                raise RequestError(422, str(UnknownNameError("question", name, names)), name)
        form = {name: _check_type(answers.get(name), question) for name, question in names.items()}
        written = json.dumps(form | ({GOLD: gold} if questionnaire.asks_by_gold else {}))
        short = len(written) <= _CACHED_CHARACTERS
        return dict(json.loads(check_cached(written) if short else check_written(written)))

    return check


def is_storable(text: str) -> bool:
    """Whether every database can store a text: it is valid Unicode without a null character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _evaluate(questionnaire: Questionnaire, given: Mapping[str, Any]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One person's answers, checked, and their outcome, each as a frame of one row."""
    form = {"item": "item", "annotator": "annotator", **given}
    checked = check_answers(pl.DataFrame({name: [value] for name, value in form.items()}), questionnaire).frame
    return checked, outcomes(questionnaire, checked)


def _check_type(answer: Any, question: Question) -> str | list[str] | None:
    """An answer as a text, or as a list of texts if several may be ticked; anything else is refused."""
    texts = [] if answer is None else as_list(answer)
    problem = ""
    if not all(isinstance(text, str) for text in texts) or (texts is answer and not question.takes_several):
        problem = f"the answer must be {'a list of texts' if question.takes_several else 'a text'}"
    elif not all(is_storable(text) for text in texts):
        problem = "contains characters that cannot be stored; remove them"
    elif sum(map(len, texts)) > LONGEST_TEXT:
        problem = f"has {sum(map(len, texts)):,} characters; write {LONGEST_TEXT:,} at most"
    if problem:
        raise RequestError(422, f"question {question.id!r}: {problem}", question.id)
    if question.takes_several:
        return list(texts)
    return texts[0] if texts else None


def _rule_categories(questionnaire: Questionnaire, rule: OutcomeRule) -> pl.Expr:
    """The categories that a rule names, then the answers to its ``categories_from``, without duplicates."""
    parts = [pl.lit(pl.Series([list(rule.categories)], dtype=pl.List(pl.String)))]
    for name in rule.categories_from:
        question = questionnaire.by_id[name]
        answers = pl.col(name) if question.takes_several else pl.concat_list(pl.col(name)).list.drop_nulls()
        names = [option.id for option in question.options if not option.exclusive]
        parts.append(answers.list.filter(pl.element().is_in(names)).fill_null([]))
    return pl.concat_list(parts).list.unique(maintain_order=True)


def _answer_column(frame: pl.DataFrame, question: Question) -> pl.Series:
    """The answers to a question as option ids or free text; lists if several may be ticked."""
    if question.id not in frame.columns:
        if question.required and question.when is None:
            raise AcidtestError(f"has no column {question.id!r}, for the question {question.text!r}")
        return pl.Series(question.id, [None] * frame.height, dtype=question.dtype)
    cells = frame[question.id]
    if question.takes_several:
        return _ticked_answers(cells, question)
    if isinstance(cells.dtype, pl.List):
        row = cells.is_not_null().arg_max() or 0
        raise RowError(row, f"question {question.id!r}: holds a list, but one answer is expected")
    written = clean_text(cells)
    return _spell_answers(written, question) if question.answers else written


def _ticked_answers(cells: pl.Series, question: Question) -> pl.Series:
    """The ticked options of each row; cells may be lists, lists written as JSON, or texts with separators."""
    if not isinstance(cells.dtype, pl.List):
        cells = split_lists(clean_text(cells), SEPARATOR)
    frame = pl.DataFrame({"row": np.arange(len(cells)), "answer": cells.cast(pl.List(pl.String))})
    single = frame.explode("answer", empty_as_null=False, keep_nulls=False)
    single = single.with_columns(answer=clean_text(single["answer"])).drop_nulls()
    single = single.with_columns(answer=_spell_answers(single["answer"], question, rows=single["row"]))
    ticked = single.group_by("row", maintain_order=True).agg(pl.col("answer").unique(maintain_order=True))
    for option in question.options:
        alone = pl.col("answer").list.contains(option.id) & (pl.col("answer").list.len() > 1)
        for row, answers in ticked.filter(alone).head(1).iter_rows() if option.exclusive else ():
            other = next(answer for answer in answers if answer != option.id)
            raise RowError(row, f"question {question.id!r}: {option.id!r} and {other!r} exclude each other; keep one")
    whole = frame.select("row").join(ticked, on="row", how="left", maintain_order="left")
    return whole["answer"].alias(question.id)


def _spell_answers(written: pl.Series, question: Question, *, rows: pl.Series | None = None) -> pl.Series:
    """Answers in the spelling of the questionnaire, ignoring case; ``rows`` has their row numbers for errors."""
    spellings = {answer.lower(): answer for answer in question.answers}
    spellings |= _YES_NO if question.kind == "yes-no" else {}
    answers = written.str.to_lowercase().replace_strict(spellings, default=None, return_dtype=pl.String)
    for place in (written.is_not_null() & answers.is_null()).arg_true().head(1):
        expected = join_with_or(question.answers)
        problem = f"question {question.id!r}: {written[place]!r} is not an answer; expected {expected}"
        raise RowError(place if rows is None else rows[place], problem)
    return answers.alias(question.id)


def _gold_column(frame: pl.DataFrame, questionnaire: Questionnaire) -> pl.Series:
    """The standard name of each gold label, for a questionnaire whose conditions refer to gold."""
    reason = f"and questionnaire {questionnaire.name!r} asks by the gold label of an item"
    column = next((name for name in GOLD_COLUMNS if name in frame.columns), None)
    if column is None:
        raise AcidtestError(f"has no column gold, {reason}")
    written = clean_text(frame[column])
    names = {text: gold_name(text) for text in written.drop_nulls().unique()}
    golds = written.replace_strict(names, default=None, return_dtype=pl.String)
    for row in golds.is_null().arg_true().head(1):
        problem = f"{column} {written[row]!r} is not a label" if written[row] else f"has no {column}"
        raise RowError(row, f"{problem}, {reason}")
    return golds.alias(GOLD_COLUMN)


def _check_flow(answers: pl.DataFrame, questionnaire: Questionnaire) -> None:
    """Raise if a required question has no answer, or one that is not asked has an answer."""
    for question in questionnaire.questions:
        # Selecting "item" as well makes a literal condition as long as the frame.
        flow = answers.select("item", asked=questionnaire.holds(question.when), answered=question.is_answered)
        missing, extra = flow["asked"] & ~flow["answered"], ~flow["asked"] & flow["answered"]
        for row in missing.arg_true().head(1) if question.required else ():
            remedy = "answer it, or leave this person's answers out"
            raise RowError(row, f"question {question.id!r} has no answer; {remedy}")
        for row in extra.arg_true().head(1):
            raise RowError(row, f"question {question.id!r} is not asked after the answers before it; leave it empty")


def _known_items(frame: pl.DataFrame, item: pl.Series, questionnaire: Questionnaire) -> pl.DataFrame:
    """One row per item with the columns that have the same value in all of its rows."""
    used = {*ITEM_COLUMNS, *RESERVED, *PARTICIPATION_COLUMNS, *questionnaire.by_id}
    others = [name for name in frame.columns if name not in used]
    items = pl.DataFrame([item.alias("item"), *(frame[name] for name in others)]).group_by("item", maintain_order=True)
    values = items.agg(pl.col(name).n_unique() for name in others).select(pl.exclude("item").max())
    return items.agg(pl.col(name).first() for name in others if (values[name].item() or 0) <= 1)
