"""Conditions on answers, written as tables in a questionnaire; nothing in them is executed.

``{ same_event = "yes" }`` holds where that question has that answer. A list names several answers, one of which is
enough; several questions in one table must all hold. ``all`` and ``any`` take a list of conditions, ``not`` takes one.
Where several options may be ticked, the answer must be one of those ticked. ``true`` and ``false`` ask whether anything
was written or ticked. A question that was not asked has no answer: a condition on it does not hold, and ``not`` of it
does. ``{ gold = "neutral" }`` is about the gold label of the item, unless a question has the id ``gold``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.labels import GOLD_MASKS

if TYPE_CHECKING:
    from acidtest.annotate.questionnaires import Question

CONNECTIVES = ("all", "any", "not")
"""Keys that join conditions; no question may have such an id."""

GOLD, GOLD_COLUMN = "gold", "_gold"
"""The key that refers to an item's gold label, and the column of checked answers that holds it."""


def condition_holds(written: object, questions: Mapping[str, Question]) -> pl.Expr:
    """Whether a condition holds, as an expression over one column per question and ``GOLD_COLUMN``; never null.

    ``questions`` are those that it may refer to, by id. The condition None always holds.
    """
    if written is None:
        return pl.lit(True)
    if not isinstance(written, dict):
        raise AcidtestError(f'{written!r} is not a condition; write {{ question = "answer" }}')
    if not written:
        raise AcidtestError("the condition is empty; leave the key out where it always holds")
    return pl.all_horizontal([_entry_holds(key, value, questions) for key, value in written.items()])


def depends_on_gold(written: Any, questions: Collection[str]) -> bool:
    """Whether a condition refers to the gold label of items, directly or in one of its parts."""
    if GOLD in questions or not isinstance(written, dict):
        return False
    parts = [part for key in CONNECTIVES if key in written for part in as_list(written[key])]
    return GOLD in written or any(depends_on_gold(part, questions) for part in parts)


def resolve_gold(written: Any, gold: str | None) -> Any:
    """A condition for items of one gold label, with the references to gold replaced by true or false.

    A browser can follow it without knowing the gold label: ``{ all = [] }`` always holds, ``{ any = [] }`` never does.
    """
    if isinstance(written, list):
        return [resolve_gold(part, gold) for part in written]
    if not isinstance(written, dict):
        return written
    rest = {
        key: resolve_gold(value, gold) if key in CONNECTIVES else value for key, value in written.items() if key != GOLD
    }
    if GOLD not in written:
        return rest
    resolved: dict[str, Any] = {"all": []} if gold in as_list(written[GOLD]) else {"any": []}
    return {"all": [resolved, rest]} if rest else resolved


def join_with_or(names: Collection[str]) -> str:
    """The names as a phrase: ``yes or no``, ``a, b or c``."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def as_list(value: Any) -> list[Any]:
    """The value itself if it is a list, otherwise a list of it alone."""
    return value if isinstance(value, list) else [value]


def _entry_holds(key: str, value: object, questions: Mapping[str, Question]) -> pl.Expr:
    if key in ("all", "any"):
        if not isinstance(value, list) or not value:
            raise AcidtestError(f"{key!r} takes a list of conditions: {key} = [{{ … }}, {{ … }}]")
        parts = [condition_holds(part, questions) for part in value]
        return pl.all_horizontal(parts) if key == "all" else pl.any_horizontal(parts)
    if key == "not":
        return ~condition_holds(value, questions)
    if key == GOLD and GOLD not in questions:
        labels = _check_values(as_list(value), GOLD_MASKS, "gold", "a gold label")
        return pl.col(GOLD_COLUMN).is_in(labels).fill_null(False)
    if key not in questions:
        raise AcidtestError(f"{UnknownNameError('earlier question', key, questions)}")
    return _question_holds(questions[key], value)


def _question_holds(question: Question, value: object) -> pl.Expr:
    column = pl.col(question.id)
    if isinstance(value, bool):
        if question.answers and not question.takes_several:
            choices = join_with_or([f'"{answer}"' for answer in question.answers])
            raise AcidtestError(f"{question.id!r} is not answered by true or false; write {choices}")
        return question.is_answered if value else ~question.is_answered
    if not question.answers:
        raise AcidtestError(f"{question.id!r} is a text; write true where something was written, false where nothing")
    answers = _check_values(as_list(value), question.answers, question.id, f"an answer to {question.id!r}")
    if question.takes_several:
        return pl.any_horizontal(column.list.contains(answer).fill_null(False) for answer in answers)
    return column.is_in(answers).fill_null(False)


def _check_values(values: list[Any], known: Collection[str], key: str, kind: str) -> list[str]:
    if not values:
        raise AcidtestError(f"{key!r} has an empty list, which nothing can match")
    for value in values:
        if not isinstance(value, str) or value not in known:
            raise AcidtestError(f"{value!r} is not {kind}; expected {join_with_or(known)}")
    return values
