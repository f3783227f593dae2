"""What people judge: rows of a table with the columns that a questionnaire shows, and controls whose answers are known.

An item keeps everything its row says, so that answers can be told apart later by whatever was known; people see only
what the questionnaire shows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from acidtest.annotate.answers import GOLD as CARRIED_GOLD
from acidtest.annotate.outcomes import Outcome, asked_questions, outcome
from acidtest.annotate.plans import EVERYBODY, Plan, drawn, seats
from acidtest.annotate.questionnaires import Questionnaire
from acidtest.core.draws import U64, Draws, key
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.labels import GOLD_MASKS, gold_name

IDS = ("id", "item", "item_id", "pairid", "pair_id", "uid")
"""What the column that names rows is called, the likeliest first, in whatever case."""
GOLD = (*CARRIED_GOLD, "label")
SUITE = "suite"
"""The column that names the suite an item is of."""
CONTROL, ITEM = "control", "item"

LONGEST = 1_000_000
"""A text of more characters is not shown to anybody."""

_UNSEEN = ("_parse", "_binary_parse")


@dataclass(frozen=True)
class Item:
    """One thing that people judge."""

    id: str
    fields: dict[str, str]
    """What people see, by column."""
    known: dict[str, Any]
    """Everything the row says, what people see included."""
    role: str = ITEM
    seats: int = 1
    """How many people judge it."""
    category: str = ""
    gold: str | None = None
    expected: dict[str, Any] | None = None
    """Of a control: the answers by question, or the label under ``label``, that are right."""

    @property
    def gold_name(self) -> str | None:
        """Its gold by the name of the label, however the data spell it; None where it is no label of NLI."""
        return gold_name(self.gold) if self.gold else None


def items(frame: pl.DataFrame, asked: Questionnaire, plan: Plan, *, seed: int) -> list[Item]:
    """The items of a table, drawn and given to as many people as the plan says."""
    chosen = drawn(frame, plan, seed=seed)
    found = _items(chosen, asked, chosen["_category"].to_list())
    _check_golds(found, asked)
    people = seats(len(found), plan, seed=seed)
    return [replace(item, seats=number) for item, number in zip(found, people, strict=True)]


def controls(frame: pl.DataFrame, asked: Questionnaire) -> list[Item]:
    """Items whose right answers are known: a column for questions, or a label that the answers must come to."""
    questions = [question.id for question in asked.questions if question.id in frame.columns]
    gold = _column(frame, GOLD)
    if not questions and (gold is None or not asked.labels):
        names = ", ".join(question.id for question in asked.questions)
        raise AcidtestError(f"controls need the right answers: a column for each question ({names}), or label")
    found = []
    for item in _items(frame, asked, [""] * frame.height):
        expected = {name: item.known[name] for name in questions if item.known.get(name) not in (None, "")}
        if not expected and item.gold:
            expected = {"label": item.gold}
        check_expected(item.id, expected, asked)
        found.append(replace(item, role=CONTROL, seats=EVERYBODY, expected=expected))
    _check_golds(found, asked)
    return found


def passed(expected: dict[str, Any], answers: dict[str, Any], asked: Questionnaire, gold: str | None = None) -> bool:
    """Whether the answers to a control are right: those that are given, or the label that all come to."""
    if set(expected) == {"label"}:
        return _accepts(expected["label"], outcome(asked, answers, gold=gold))
    return all(_same(answers.get(name), value) for name, value in expected.items())


def order(name: str, count: int, *, seed: int) -> U64:
    """A number for each item by which one person gets them, lowest first: keyed, and another for everybody."""
    return Draws(seed, "annotate").bits(np.arange(count, dtype=np.uint64), "order", name)


def _items(frame: pl.DataFrame, asked: Questionnaire, categories: Sequence[str]) -> list[Item]:
    missing = [name for name in asked.shows if name not in frame.columns]
    if missing:
        note = f" (questionnaire {asked.name!r} shows it; name the file's own with --columns {missing[0]}=THEIRS)"
        raise UnknownNameError("column", missing[0], frame.columns, note)
    if not frame.height:
        raise AcidtestError("there are no rows, so that there is nothing to judge")
    unseen = [name for name in frame.columns if name.startswith("_") or name.endswith(_UNSEEN)]
    rows = frame.drop(unseen).to_dicts()
    gold, ids = _column(frame, GOLD), _ids(frame)
    return [
        Item(
            id=ids[number],
            fields={name: _shown(row[name], name, ids[number]) for name in asked.shows},
            known=plain_row(row),
            category=categories[number],
            gold=str(row[gold]) if gold and row[gold] not in (None, "", "-") else None,
        )
        for number, row in enumerate(rows)
    ]


def has_gold_names(frame: pl.DataFrame) -> bool:
    """Whether every row of a table has a gold label, and by a name that is known."""
    column = _column(frame, GOLD)
    return column is not None and all(value is not None and gold_name(str(value)) for value in frame[column].unique())


def _check_golds(found: Sequence[Item], asked: Questionnaire) -> None:
    """Raise where a questionnaire asks by gold, and an item has none or would not be asked anything."""
    if not asked.asks_by_gold:
        return
    begun = {gold: asked_questions(asked, {}, gold=gold) for gold in {item.gold_name for item in found}}
    for item in found:
        name = f"{'control' if item.role == CONTROL else 'item'} {item.id!r}"
        if item.gold_name is None:
            told = f"has the gold {item.gold!r}, which is no label" if item.gold else "has no gold label"
            raise AcidtestError(f"{name} {told}, and questionnaire {asked.name!r} asks by it; leave the row out")
        if not begun[item.gold_name]:
            raise AcidtestError(f"{name}: questionnaire {asked.name!r} asks nothing where gold is {item.gold_name}")
        labelled = any(question.id in {rule.label_from for rule in asked.rules} for question in begun[item.gold_name])
        if item.expected and set(item.expected) == {"label"} and not labelled:
            raise AcidtestError(
                f"{name}: nobody is asked for a label where gold is {item.gold_name}; say what is right in columns "
                "named after questions"
            )


def _ids(frame: pl.DataFrame) -> list[str]:
    column = _column(frame, IDS)
    if column is None:
        return [f"row-{number}" for number in range(1, frame.height + 1)]
    found = frame[column].cast(pl.String).str.strip_chars().fill_null("")
    for row in (found == "").arg_true().head(1):
        raise AcidtestError(f"row {row + 1:,} has no {column}; fill it in")
    for row in found.is_duplicated().arg_true().head(1):
        raise AcidtestError(f"{column} {found[row]!r} stands in several rows; answers could not be told apart")
    return found.to_list()


def _column(frame: pl.DataFrame, known: Sequence[str]) -> str | None:
    names = {name.strip().lower(): name for name in frame.columns}
    return next((names[name] for name in known if name in names), None)


def _shown(value: Any, column: str, item: str) -> str:
    text = "" if value is None else str(value)
    if len(text) > LONGEST:
        raise AcidtestError(
            f"item {item!r}: {column} has {len(text):,} characters, and nobody reads more than {LONGEST:,}; cut it, or "
            "leave the row out"
        )
    return text


def plain_row(row: dict[str, Any]) -> dict[str, Any]:
    """A row as JSON holds it."""
    return dict(json.loads(json.dumps(row, default=str)))


def check_expected(item: str, expected: dict[str, Any], asked: Questionnaire) -> None:
    """Raise where nobody could pass a control."""
    if not expected:
        raise AcidtestError(f"control {item!r} does not say what is right; fill in an answer or the label")
    if set(expected) == {"label"}:
        if not any(_accepts(expected["label"], Outcome(label)) for label in asked.labels):
            raise AcidtestError(
                f"control {item!r}: no answers to {asked.name!r} come to {expected['label']!r}; "
                f"there is {', '.join(asked.labels)}"
            )
        return
    names = [question.id for question in asked.questions]
    for name, value in expected.items():
        if name not in names:
            raise AcidtestError(f"control {item!r}: {UnknownNameError('question', name, names)}")
        known = asked.question(name).answers
        wrong = [each for each in _listed(value) if known and each not in known]
        if wrong:
            raise AcidtestError(f"control {item!r}: {wrong[0]!r} is no answer to {name!r}; there is {', '.join(known)}")


def _accepts(label: str, found: Outcome) -> bool:
    """Whether an outcome has the label, or one that the gold set of this name holds."""
    if found.label is None:
        return False
    if found.label == label:
        return True
    expected, given = (GOLD_MASKS.get(gold_name(each) or "", 0) for each in (label, found.label))
    return bool(given) and expected & given == given


def _listed(value: Any) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else str(value).split("|")


def _same(given: Any, expected: Any) -> bool:
    return given is not None and sorted(_listed(given)) == sorted(_listed(expected))


def fingerprint(found: Sequence[Item], asked: str, plan: Plan, seed: int) -> str:
    """A digest of all that a project was set up with, by which the same command is known again."""
    # Which suite items are of came later, and follows from the data.
    known = [{name: value for name, value in item.known.items() if name != SUITE} for item in found]
    told = [
        json.dumps([item.id, row, item.role, item.seats, item.expected], sort_keys=True)
        for item, row in zip(found, known, strict=True)
    ]
    return f"{key(asked, plan.to_json(), seed, *told):016x}"
