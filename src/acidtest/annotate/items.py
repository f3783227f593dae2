"""Items that people judge, attention checks among them, and the plan that says who judges which.

An item keeps all columns of its row, so that answers can be analysed by them later; people see only those that the
questionnaire shows. The right answers to an attention check are known; files, stores and options call it a control.

A plan is a TOML file. The ones that ship are in ``data/plans``; docs/reference/files.md describes the keys.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from acidtest.annotate.answers import asked_questions, outcome
from acidtest.annotate.columns import GOLD_COLUMNS, find_column
from acidtest.annotate.conditions import join_with_or
from acidtest.annotate.questionnaires import SEPARATOR, Questionnaire, packaged_names, parse_table, read_toml_file
from acidtest.core.draws import U64, Draws
from acidtest.core.errors import AcidtestError, FileError, UnknownNameError, list_some
from acidtest.core.labels import GOLD_MASKS, gold_name
from acidtest.core.structured import check_shape, parse_json, parse_toml

SUITE = "suite"
"""The column with the name of the suite an item comes from."""
CHECK, ITEM = "control", "item"
"""The roles of items."""

EVERYBODY = 2**31 - 1
"""The number of seats of an item that everybody judges."""

LONGEST_FIELD = 1_000_000
"""The most characters of a text that is shown."""

_ID_COLUMNS = ("id", "item", "item_id", "pairid", "pair_id", "uid")
_GOLD_COLUMNS = (*GOLD_COLUMNS, "label")
_PARSES = ("_parse", "_binary_parse")
_LEAST = {"per_item": 0, "overlap": 0, "per_annotator": 1, "fail_after": 0, "per_category": 1, "expires": 1}


class MergedCategories(NamedTuple):
    """In rows where ``column`` is ``value``, the column ``left`` is not part of an item's category."""

    column: str
    value: str
    left: str


@dataclass(frozen=True)
class AnnotationPlan:
    """Who judges which items. The experiments of the papers are plans too: see data/plans."""

    name: str = "plain"
    title: str = ""
    source: str = ""
    per_item: int = 1
    """How many people judge an item; 0: everybody."""
    overlap: int | None = None
    """How many items go to ``per_item`` people; the others go to one person each. None: all items."""
    per_annotator: int | None = None
    """The most items that one person gets, checks not included."""
    fail_after: int = 1
    """How many wrong answers to checks exclude a person; 0: nobody is excluded."""
    finish: bool = False
    """If true, people who failed their checks may finish without being told; their answers are left out."""
    reopen: bool = True
    """Whether the items that excluded people judged go to others."""
    controls: str = ""
    """A file beside the plan with attention checks, which files and options call controls."""
    questionnaire: str = ""
    """The questionnaire to use if the caller names none."""
    suite: str = ""
    """The suite to generate if the caller gives no data."""
    arguments: tuple[tuple[str, str], ...] = ()
    """The options of that suite."""
    category: tuple[str, ...] = ()
    """Columns whose values together make an item's category; a person gets as many different ones as possible."""
    merged: tuple[MergedCategories, ...] = ()
    per_category: int | None = None
    """How many items of each category are drawn."""
    expires: float = 3600.0
    """Seconds after which an item that was shown but not answered may go to somebody else."""

    def to_json(self) -> str:
        """The plan as a store keeps it.

        Keys that were added later are left out if they have their default, so that older fingerprints still match.
        """
        omitted = [name for name in ("finish", "reopen") if getattr(self, name) == getattr(AnnotationPlan, name)]
        return json.dumps({name: value for name, value in asdict(self).items() if name not in omitted}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> AnnotationPlan:
        """The plan that a store keeps; keys added by a newer acidtest are ignored."""
        return parse_json(text.encode(), "the plan of the store", cls)


@dataclass(frozen=True)
class Item:
    """One thing that people judge."""

    id: str
    fields: dict[str, str]
    """The texts that people see, by column."""
    known: dict[str, Any]
    """All columns of the row, including ``fields``."""
    role: str = ITEM
    seats: int = 1
    """How many people judge it."""
    category: str = ""
    gold: str | None = None
    expected: dict[str, Any] | None = None
    """The right answers to a check: by question, or one label under ``label``."""

    @property
    def is_check(self) -> bool:
        return self.role == CHECK

    @property
    def gold_name(self) -> str | None:
        """The standard name of its gold label; None if it has none, or one that is not an NLI label."""
        return gold_name(self.gold) if self.gold else None


def packaged_plans() -> list[str]:
    """The names of the plans that ship with the package."""
    return packaged_names("plans")


def load_plan(name: str | Path) -> AnnotationPlan:
    """A plan that ships with the package, by name, or the one in a file."""
    plan = parse_plan(*read_toml_file("plans", name, kind="plan"))
    if not plan.controls or str(name) not in packaged_plans():
        return plan
    with resources.as_file(resources.files("acidtest.data").joinpath("plans", plan.controls)) as checks:
        return replace(plan, controls=str(checks))


def parse_plan(content: bytes, path: Path) -> AnnotationPlan:
    """The plan in the content of a TOML file; ``path`` gives its name and is shown in errors."""
    written = {key: value for key, value in parse_toml(content, path).items() if value != ""}
    arguments = check_shape(written.pop("arguments", {}), path, dict[str, Any], key="arguments")
    name = path.name.removesuffix(".toml")
    if "name" in written:
        raise FileError(path, f"has the key 'name', but the plan is named after its file, {name!r}; remove it")
    plan = parse_table(written, path, AnnotationPlan)
    plan = replace(plan, name=name, arguments=tuple((key, str(value)) for key, value in arguments.items()))
    if plan.controls and path.parent != Path():
        plan = replace(plan, controls=str(path.parent / plan.controls))
    check_plan(plan)
    return plan


def check_plan(plan: AnnotationPlan) -> None:
    """Raise if a number of the plan is too small, or an overlap is judged by one person only."""
    for name, least in _LEAST.items():
        value = getattr(plan, name)
        if value is not None and value < least:
            raise AcidtestError(f"plan {plan.name!r}: {name} is {value}; expected {least} or more")
    if plan.overlap is not None and plan.per_item == 1:
        remedy = "say by how many (--per-item 2), or by everybody (--per-item 0)"
        raise AcidtestError(
            f"plan {plan.name!r}: an overlap of {plan.overlap:,} items is judged by several people; {remedy}"
        )


def item_categories(frame: pl.DataFrame, plan: AnnotationPlan) -> pl.Series:
    """The category of each row of a table; empty if the plan has no categories."""
    if not plan.category:
        return pl.Series("category", [""] * frame.height, dtype=pl.String)
    missing = [name for name in plan.category if name not in frame.columns]
    if missing:
        remedy = f"; make such a file with: acidtest generate {plan.suite} -o FILE" if plan.suite else ""
        raise AcidtestError(f"plan {plan.name!r} needs the columns {list_some(missing)}{remedy}")
    parts = []
    for name in plan.category:
        text = pl.col(name).cast(pl.String).fill_null("")
        for column, value, left in plan.merged:
            if left == name:
                text = pl.when(pl.col(column) == value).then(pl.lit("")).otherwise(text)
        parts.append(text)
    return frame.select(pl.concat_str(parts, separator=" ").str.strip_chars().alias("category")).to_series()


def select_items(frame: pl.DataFrame, questionnaire: Questionnaire, plan: AnnotationPlan, *, seed: int) -> list[Item]:
    """The items of a table that the plan draws, each with as many seats as the plan gives it."""
    frame = frame.with_columns(item_categories(frame, plan).alias("_category"))
    if plan.per_category is not None:
        sizes = frame.group_by("_category", maintain_order=True).len()
        for category, size in sizes.filter(pl.col("len") < plan.per_category).head(1).iter_rows():
            problem = f"draws {plan.per_category} items of each category, but {category!r} has {size}"
            raise AcidtestError(f"plan {plan.name!r} {problem}; give it a larger file")
        bits = pl.Series(Draws(seed, "annotate").bits(np.arange(frame.height, dtype=np.uint64), "drawn"))
        frame = frame.with_columns(_bits=bits)
        frame = frame.filter(pl.col("_bits").rank("ordinal").over("_category") <= plan.per_category)
    items = _make_items(frame, questionnaire, frame["_category"].to_list())
    _check_golds(items, questionnaire)
    seats = seat_counts(len(items), plan, seed=seed)
    return [replace(item, seats=count) for item, count in zip(items, seats, strict=True)]


def seat_counts(count: int, plan: AnnotationPlan, *, seed: int) -> list[int]:
    """How many people judge each of ``count`` items; the seed draws which items are in the overlap."""
    several = plan.per_item or EVERYBODY
    if plan.overlap is None:
        return [several] * count
    if plan.overlap > count:
        raise AcidtestError(f"the overlap is {plan.overlap:,} items, but there are only {count:,}; lower --overlap")
    order = Draws(seed, "annotate").bits(np.arange(count, dtype=np.uint64), "overlap").argsort()
    overlapping = set(order[: plan.overlap].tolist())
    return [several if row in overlapping else 1 for row in range(count)]


def attention_checks(frame: pl.DataFrame, questionnaire: Questionnaire) -> list[Item]:
    """Attention checks; their right answers are in columns named after questions, or else in the gold label."""
    questions = [name for name in questionnaire.by_id if name in frame.columns]
    gold = find_column(frame.columns, _GOLD_COLUMNS)
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
    """Whether the answers to a check are as expected: each question in ``expected``, or the label they lead to."""
    if set(expected) == {"label"}:
        return _accepts(expected["label"], outcome(questionnaire, answers, gold=gold).label)
    return all(
        answers.get(name) is not None and sorted(_split_answers(answers[name])) == sorted(_split_answers(value))
        for name, value in expected.items()
    )


def item_order(name: str, count: int, *, seed: int) -> U64:
    """A random number for each item, different for each person, who gets the items in the order of these numbers."""
    return Draws(seed, "annotate").bits(np.arange(count, dtype=np.uint64), "order", name)


def has_gold_names(frame: pl.DataFrame) -> bool:
    """Whether every row of a table has a gold label in a known spelling."""
    column = find_column(frame.columns, _GOLD_COLUMNS)
    return column is not None and all(value is not None and gold_name(str(value)) for value in frame[column].unique())


def json_row(row: dict[str, Any]) -> dict[str, Any]:
    """A row as JSON returns it; values that JSON cannot hold become text."""
    return dict(json.loads(json.dumps(row, default=str)))


def validate_expected(item: str, expected: dict[str, Any], questionnaire: Questionnaire) -> None:
    """Raise if no answers could pass a check."""
    if not expected:
        raise AcidtestError(f"control {item!r} has no right answer; fill in an answer or the label")
    if set(expected) == {"label"}:
        if not any(_accepts(expected["label"], label) for label in questionnaire.labels):
            problem = f"no answers to {questionnaire.name!r} lead to {expected['label']!r}"
            raise AcidtestError(f"control {item!r}: {problem}; expected {join_with_or(questionnaire.labels)}")
        return
    for name, value in expected.items():
        if name not in questionnaire.by_id:
            raise AcidtestError(f"control {item!r}: {UnknownNameError('question', name, questionnaire.by_id)}")
        known = questionnaire.by_id[name].answers
        for answer in _split_answers(value):
            if known and answer not in known:
                problem = f"{answer!r} is not an answer to {name!r}; expected {join_with_or(known)}"
                raise AcidtestError(f"control {item!r}: {problem}")


def _make_items(frame: pl.DataFrame, questionnaire: Questionnaire, categories: Sequence[str]) -> list[Item]:
    missing = [name for name in questionnaire.shows if name not in frame.columns]
    if missing:
        hint = f"questionnaire {questionnaire.name!r} shows it; name the column of the file"
        note = f" ({hint} with --columns {missing[0]}=THEIRS)"
        raise UnknownNameError("column", missing[0], frame.columns, note)
    if not frame.height:
        raise AcidtestError("there are no rows, so there is nothing to judge")
    hidden = [name for name in frame.columns if name.startswith("_") or name.endswith(_PARSES)]
    gold, items = find_column(frame.columns, _GOLD_COLUMNS), list[Item]()
    for name, category, row in zip(_item_ids(frame), categories, frame.drop(hidden).to_dicts(), strict=True):
        fields = {column: "" if row[column] is None else str(row[column]) for column in questionnaire.shows}
        for column, text in fields.items():
            if len(text) > LONGEST_FIELD:
                problem = f"{column} has {len(text):,} characters, and the page shows {LONGEST_FIELD:,} at most"
                raise AcidtestError(f"item {name!r}: {problem}; cut it, or leave the row out")
        golds = str(row[gold]) if gold and row[gold] not in (None, "", "-") else None
        items.append(Item(name, fields, json_row(row), category=category, gold=golds))
    return items


def _check_golds(items: Sequence[Item], questionnaire: Questionnaire) -> None:
    """If conditions refer to gold, raise if an item has no gold label, or one with which nothing suitable is asked."""
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
            problem = f"questionnaire {questionnaire.name!r} asks nothing where gold is {item.gold_name}"
            raise AcidtestError(f"{name}: {problem}")
        asks_label = any(question.id in label_sources for question in questions)
        if item.expected and set(item.expected) == {"label"} and not asks_label:
            remedy = "write the right answers in columns named after questions"
            raise AcidtestError(f"{name}: nobody is asked for a label where gold is {item.gold_name}; {remedy}")


def _item_ids(frame: pl.DataFrame) -> list[str]:
    column = find_column(frame.columns, _ID_COLUMNS)
    if column is None:
        return [f"row-{number}" for number in range(1, frame.height + 1)]
    ids = frame[column].cast(pl.String).str.strip_chars().fill_null("")
    for row in (ids == "").arg_true().head(1):
        raise AcidtestError(f"row {row + 1:,} has no {column}; fill it in")
    for row in ids.is_duplicated().arg_true().head(1):
        raise AcidtestError(f"{column} {ids[row]!r} stands in several rows; give each row an id of its own")
    return ids.to_list()


def _accepts(expected: str, label: str | None) -> bool:
    """Whether a label is the expected one, or in the gold set of that name."""
    if label is None or label == expected:
        return label is not None
    accepted, given = (GOLD_MASKS.get(gold_name(name) or "", 0) for name in (expected, label))
    return bool(given) and accepted & given == given


def _split_answers(value: Any) -> list[str]:
    return [str(answer) for answer in value] if isinstance(value, list) else str(value).split(SEPARATOR)
