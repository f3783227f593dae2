"""Items that people judge: rows of a table with the columns a questionnaire shows, and attention checks.

An item keeps everything its row says, so that answers can be analysed by it later; people see only the columns that the
questionnaire shows. The answers to an attention check are known. Files, stores and options call it a control.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from acidtest.annotate.answers import GOLD_COLUMNS
from acidtest.annotate.conditions import join_with_or
from acidtest.annotate.outcomes import asked_questions, outcome
from acidtest.annotate.plans import EVERYBODY, AnnotationPlan, draw_rows, seat_counts
from acidtest.annotate.questionnaires import SEPARATOR, Questionnaire
from acidtest.core.draws import U64, Draws, key
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.labels import GOLD_MASKS, gold_name

SUITE = "suite"
"""The column with the name of the suite an item comes from."""
CHECK, ITEM = "control", "item"
"""The roles of items."""

LONGEST_FIELD = 1_000_000
"""The most characters of a text that is shown."""

_ID_COLUMNS = ("id", "item", "item_id", "pairid", "pair_id", "uid")
_GOLD_COLUMNS = (*GOLD_COLUMNS, "label")
_PARSES = ("_parse", "_binary_parse")


@dataclass(frozen=True)
class Item:
    """One thing that people judge."""

    id: str
    fields: dict[str, str]
    """The texts that people see, by column."""
    known: dict[str, Any]
    """Everything the row says, including ``fields``."""
    role: str = ITEM
    seats: int = 1
    """How many people judge it."""
    category: str = ""
    gold: str | None = None
    expected: dict[str, Any] | None = None
    """The right answers to a check: by question, or one label under ``label``."""

    @property
    def is_check(self) -> bool:
        """Whether it is an attention check."""
        return self.role == CHECK

    @property
    def gold_name(self) -> str | None:
        """The name of its gold label, however the data spell it; None if it has none or it is no label of NLI."""
        return gold_name(self.gold) if self.gold else None


def select_items(frame: pl.DataFrame, questionnaire: Questionnaire, plan: AnnotationPlan, *, seed: int) -> list[Item]:
    """The items of a table that the plan draws, each with as many seats as the plan gives it."""
    rows = draw_rows(frame, plan, seed=seed)
    items = _make_items(rows, questionnaire, rows["_category"].to_list())
    _check_golds(items, questionnaire)
    seats = seat_counts(len(items), plan, seed=seed)
    return [replace(item, seats=count) for item, count in zip(items, seats, strict=True)]


def attention_checks(frame: pl.DataFrame, questionnaire: Questionnaire) -> list[Item]:
    """Items whose right answers are known, from columns named after questions or from the label they lead to."""
    questions = [name for name in questionnaire.by_id if name in frame.columns]
    gold = _find_column(frame, _GOLD_COLUMNS)
    if not questions and (gold is None or not questionnaire.labels):
        names = ", ".join(questionnaire.by_id)
        raise AcidtestError(f"controls need the right answers: a column for each question ({names}), or label")
    checks = []
    for item in _make_items(frame, questionnaire, [""] * frame.height):
        expected = {name: item.known[name] for name in questions if item.known.get(name) not in (None, "")}
        if not expected and item.gold:
            expected = {"label": item.gold}
        validate_expected(item.id, expected, questionnaire)
        checks.append(replace(item, role=CHECK, seats=EVERYBODY, expected=expected))
    _check_golds(checks, questionnaire)
    return checks


def passes_check(
    expected: dict[str, Any], answers: dict[str, Any], questionnaire: Questionnaire, gold: str | None = None
) -> bool:
    """Whether the answers to a check are right: those that are given, or the label they lead to."""
    if set(expected) == {"label"}:
        return _accepts(expected["label"], outcome(questionnaire, answers, gold=gold).label)
    return all(
        answers.get(name) is not None and sorted(_split_answers(answers[name])) == sorted(_split_answers(value))
        for name, value in expected.items()
    )


def item_order(name: str, count: int, *, seed: int) -> U64:
    """A number for each item; one person gets the items in the order of these numbers, and everybody in another."""
    return Draws(seed, "annotate").bits(np.arange(count, dtype=np.uint64), "order", name)


def has_gold_names(frame: pl.DataFrame) -> bool:
    """Whether every row of a table has a gold label in a known spelling."""
    column = _find_column(frame, _GOLD_COLUMNS)
    return column is not None and all(value is not None and gold_name(str(value)) for value in frame[column].unique())


def json_row(row: dict[str, Any]) -> dict[str, Any]:
    """A row with values that JSON can hold."""
    return dict(json.loads(json.dumps(row, default=str)))


def validate_expected(item: str, expected: dict[str, Any], questionnaire: Questionnaire) -> None:
    """Raise if no answers could pass a check."""
    if not expected:
        raise AcidtestError(f"control {item!r} has no right answer; fill in an answer or the label")
    if set(expected) == {"label"}:
        if not any(_accepts(expected["label"], label) for label in questionnaire.labels):
            raise AcidtestError(
                f"control {item!r}: no answers to {questionnaire.name!r} lead to {expected['label']!r}; "
                f"expected {join_with_or(questionnaire.labels)}"
            )
        return
    for name, value in expected.items():
        if name not in questionnaire.by_id:
            raise AcidtestError(f"control {item!r}: {UnknownNameError('question', name, questionnaire.by_id)}")
        known = questionnaire.by_id[name].answers
        for answer in _split_answers(value):
            if known and answer not in known:
                problem = f"{answer!r} is not an answer to {name!r}; expected {join_with_or(known)}"
                raise AcidtestError(f"control {item!r}: {problem}")


def project_fingerprint(items: Sequence[Item], questionnaire: str, plan: AnnotationPlan, seed: int) -> str:
    """A digest of everything a project was set up with, by which the same command is recognised.

    ``questionnaire`` is the text of its file.
    """
    # The suite of an item was added later, and follows from the data.
    rows = [{name: value for name, value in item.known.items() if name != SUITE} for item in items]
    parts = [
        json.dumps([item.id, row, item.role, item.seats, item.expected], sort_keys=True)
        for item, row in zip(items, rows, strict=True)
    ]
    return f"{key(questionnaire, plan.to_json(), seed, *parts):016x}"


def _make_items(frame: pl.DataFrame, questionnaire: Questionnaire, categories: Sequence[str]) -> list[Item]:
    missing = [name for name in questionnaire.shows if name not in frame.columns]
    if missing:
        hint = f"questionnaire {questionnaire.name!r} shows it; name the column of the file"
        note = f" ({hint} with --columns {missing[0]}=THEIRS)"
        raise UnknownNameError("column", missing[0], frame.columns, note)
    if not frame.height:
        raise AcidtestError("there are no rows, so there is nothing to judge")
    hidden = [name for name in frame.columns if name.startswith("_") or name.endswith(_PARSES)]
    gold, ids = _find_column(frame, _GOLD_COLUMNS), _item_ids(frame)
    return [
        Item(
            id=ids[number],
            fields={name: _field_text(row[name], name, ids[number]) for name in questionnaire.shows},
            known=json_row(row),
            category=categories[number],
            gold=str(row[gold]) if gold and row[gold] not in (None, "", "-") else None,
        )
        for number, row in enumerate(frame.drop(hidden).to_dicts())
    ]


def _check_golds(items: Sequence[Item], questionnaire: Questionnaire) -> None:
    """Raise if the questionnaire asks by gold, and an item has no gold label or would not be asked anything."""
    if not questionnaire.asks_by_gold:
        return
    golds = {item.gold_name for item in items}
    first_questions = {gold: asked_questions(questionnaire, {}, gold=gold) for gold in golds}
    label_sources = {rule.label_from for rule in questionnaire.rules}
    for item in items:
        name = f"{'control' if item.is_check else 'item'} {item.id!r}"
        if item.gold_name is None:
            problem = f"has the gold {item.gold!r}, which is not a label" if item.gold else "has no gold label"
            reason = f"and questionnaire {questionnaire.name!r} asks by it"
            raise AcidtestError(f"{name} {problem}, {reason}; leave the row out")
        questions = first_questions[item.gold_name]
        if not questions:
            raise AcidtestError(
                f"{name}: questionnaire {questionnaire.name!r} asks nothing where gold is {item.gold_name}"
            )
        asks_label = any(question.id in label_sources for question in questions)
        if item.expected and set(item.expected) == {"label"} and not asks_label:
            raise AcidtestError(
                f"{name}: nobody is asked for a label where gold is {item.gold_name}; write the right answers in "
                "columns named after questions"
            )


def _item_ids(frame: pl.DataFrame) -> list[str]:
    column = _find_column(frame, _ID_COLUMNS)
    if column is None:
        return [f"row-{number}" for number in range(1, frame.height + 1)]
    ids = frame[column].cast(pl.String).str.strip_chars().fill_null("")
    for row in (ids == "").arg_true().head(1):
        raise AcidtestError(f"row {row + 1:,} has no {column}; fill it in")
    for row in ids.is_duplicated().arg_true().head(1):
        raise AcidtestError(f"{column} {ids[row]!r} stands in several rows; give each row an id of its own")
    return ids.to_list()


def _find_column(frame: pl.DataFrame, known: Sequence[str]) -> str | None:
    """The first of the known columns that the frame has, in any case."""
    names = {name.strip().lower(): name for name in frame.columns}
    return next((names[name] for name in known if name in names), None)


def _field_text(value: Any, column: str, item: str) -> str:
    text = "" if value is None else str(value)
    if len(text) > LONGEST_FIELD:
        raise AcidtestError(
            f"item {item!r}: {column} has {len(text):,} characters, and the page shows {LONGEST_FIELD:,} at most; cut "
            "it, or leave the row out"
        )
    return text


def _accepts(expected: str, label: str | None) -> bool:
    """Whether a label is the expected one, or in the gold set of that name."""
    if label is None or label == expected:
        return label is not None
    accepted, given = (GOLD_MASKS.get(gold_name(name) or "", 0) for name in (expected, label))
    return bool(given) and accepted & given == given


def _split_answers(value: Any) -> list[str]:
    return [str(answer) for answer in value] if isinstance(value, list) else str(value).split(SEPARATOR)
