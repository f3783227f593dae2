"""Conditions on answers, as data: nothing in a questionnaire is run.

A condition is a table. ``{ same_event = "yes" }`` holds where the question was answered so; a list names several
answers, of which one is enough; several questions in one table must all hold. ``all`` and ``any`` take a list of
conditions, ``not`` takes one. Where several answers can be ticked, an answer holds when it is among them. ``true`` and
``false`` ask whether a text was written, or anything ticked. A question that was not asked has no answer: what is said
of it does not hold, and ``not`` of that does. ``{ gold = "neutral" }`` is about the gold label that an item came with,
unless a question is called so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import polars as pl

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.labels import GOLD_MASKS

WORDS = ("all", "any", "not")
"""What joins conditions, so that no question may be called so."""

GOLD, GOLD_COLUMN = "gold", "_gold"
"""What conditions call an item's gold label, and the column of checked answers that holds it."""


class Askable(Protocol):
    """What conditions must know of a question."""

    @property
    def id(self) -> str:
        """What it is called."""

    @property
    def takes_several(self) -> bool:
        """Whether more than one answer may be ticked."""

    @property
    def answers(self) -> tuple[str, ...]:
        """What may be answered; nothing for a text."""


class Condition(Protocol):
    """Something that does or does not hold of one person's answers to one item."""

    @property
    def holds(self) -> pl.Expr:
        """As an expression on a column for each question; never null."""


@dataclass(frozen=True)
class Answered:
    """One of some answers was given, or ticked."""

    question: str
    answers: tuple[str, ...]
    several: bool = False

    @property
    def holds(self) -> pl.Expr:
        """As an expression on a column for each question; never null."""
        column = pl.col(self.question)
        if self.several:
            return pl.any_horizontal(column.list.contains(answer).fill_null(False) for answer in self.answers)
        return column.is_in(self.answers).fill_null(False)


@dataclass(frozen=True)
class Filled:
    """Something was written or ticked at all; ``filled`` false: nothing was."""

    question: str
    filled: bool
    several: bool = False

    @property
    def holds(self) -> pl.Expr:
        """As an expression on a column for each question; never null."""
        column = pl.col(self.question)
        found = (column.list.len() > 0).fill_null(False) if self.several else column.is_not_null()
        return found if self.filled else ~found


@dataclass(frozen=True)
class HasGold:
    """The item came with one of some gold labels."""

    labels: tuple[str, ...]

    @property
    def holds(self) -> pl.Expr:
        """As an expression on the column ``GOLD_COLUMN``; never null."""
        return pl.col(GOLD_COLUMN).is_in(self.labels).fill_null(False)


@dataclass(frozen=True)
class AllOf:
    """All of some conditions hold; so it is when there are none."""

    parts: tuple[Condition, ...]

    @property
    def holds(self) -> pl.Expr:
        """As an expression on a column for each question; never null."""
        return pl.all_horizontal(pl.lit(True), *(part.holds for part in self.parts))


@dataclass(frozen=True)
class AnyOf:
    """One of some conditions holds."""

    parts: tuple[Condition, ...]

    @property
    def holds(self) -> pl.Expr:
        """As an expression on a column for each question; never null."""
        return pl.any_horizontal(part.holds for part in self.parts)


@dataclass(frozen=True)
class Without:
    """A condition does not hold."""

    part: Condition

    @property
    def holds(self) -> pl.Expr:
        """As an expression on a column for each question; never null."""
        return ~self.part.holds


ALWAYS = AllOf(())
"""What holds whatever was answered."""


def condition(written: object, questions: Mapping[str, Askable]) -> Condition:
    """The condition that a table of a questionnaire states about some questions, given by their ids."""
    if not isinstance(written, dict):
        raise AcidtestError(f'{written!r} is no condition; write {{ question = "answer" }}')
    if not written:
        raise AcidtestError("the condition is empty; leave the key out where it always holds")
    parts = tuple(_part(name, value, questions) for name, value in written.items())
    return parts[0] if len(parts) == 1 else AllOf(parts)


def mentions_gold(stated: Condition) -> bool:
    """Whether a condition is, somewhere in it, about the gold label of items."""
    if isinstance(stated, AllOf | AnyOf):
        return any(map(mentions_gold, stated.parts))
    return mentions_gold(stated.part) if isinstance(stated, Without) else isinstance(stated, HasGold)


def resolve_gold(written: Any, gold: str | None) -> Any:
    """A condition as its file states it, for items of one gold label: true and false stand where that was asked.

    So a browser can follow the questions without being told gold: ``{ all = [] }`` always holds, ``{ any = [] }`` never
    does.
    """
    if isinstance(written, list):
        return [resolve_gold(each, gold) for each in written]
    if not isinstance(written, dict):
        return written
    others = {
        name: resolve_gold(value, gold) if name in WORDS else value for name, value in written.items() if name != GOLD
    }
    if GOLD not in written:
        return others
    holds: dict[str, Any] = {"all": []} if gold in _listed(written[GOLD]) else {"any": []}
    return {"all": [holds, others]} if others else holds


def written_conditions(written: Mapping[str, Any]) -> dict[str, Any]:
    """When each question of a questionnaire is asked, as its file says it; None: always."""
    return {table["id"].strip(): table.get("when") for table in written["question"]}


def choice(names: Collection[str]) -> str:
    """``yes or no``."""
    listed = list(names)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}"


def _part(name: str, value: object, questions: Mapping[str, Askable]) -> Condition:
    joined: dict[str, Callable[[tuple[Condition, ...]], Condition]] = {"all": AllOf, "any": AnyOf}
    if name in joined:
        if not isinstance(value, list) or not value:
            raise AcidtestError(f"{name!r} takes a list of conditions: {name} = [{{ … }}, {{ … }}]")
        return joined[name](tuple(condition(each, questions) for each in value))
    if name == "not":
        return Without(condition(value, questions))
    if name == GOLD and GOLD not in questions:
        return HasGold(_gold_labels(value))
    if name not in questions:
        raise AcidtestError(f"{UnknownNameError('earlier question', name, questions)}")
    return _about(questions[name], value)


def _about(question: Askable, value: object) -> Condition:
    if isinstance(value, bool):
        if question.answers and not question.takes_several:
            answers = choice([f'"{answer}"' for answer in question.answers])
            raise AcidtestError(f"{question.id!r} is not answered by true or false; write {answers}")
        return Filled(question.id, value, question.takes_several)
    if not question.answers:
        raise AcidtestError(f"{question.id!r} is a text; write true where something was written, false where nothing")
    wanted = _listed(value)
    if not wanted:
        raise AcidtestError(f"{question.id!r} has an empty list of answers, which nothing can fit")
    for answer in wanted:
        if answer not in question.answers:
            raise AcidtestError(f"{answer!r} is no answer to {question.id!r}; there is {choice(question.answers)}")
    return Answered(question.id, tuple(wanted), question.takes_several)


def _gold_labels(value: object) -> tuple[str, ...]:
    for label in _listed(value):
        if label not in GOLD_MASKS:
            raise AcidtestError(f"{label!r} is no gold label; there is {choice(GOLD_MASKS)}")
    if not _listed(value):
        raise AcidtestError("'gold' has an empty list of labels, which nothing can fit")
    return tuple(_listed(value))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
