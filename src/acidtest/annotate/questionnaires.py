"""Questionnaires as data: what people are asked about an item, and the rules that turn their answers into a label.

A questionnaire is a TOML file. The ones that ship are in ``data/questionnaires``; docs/reference/files.md describes the
format. An error names the file, the question or rule, and what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Literal, TypeVar

import polars as pl

from acidtest.annotate.conditions import CONNECTIVES, condition_holds, depends_on_gold, join_with_or
from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.files import read_bounded
from acidtest.core.structured import MOST_TOML_BYTES, check_shape, parse_toml, refuse_newer

SCHEMA = 1
_FOLDER = "questionnaires"
_ENDING = ".toml"

T = TypeVar("T")

Kind = Literal["yes-no", "one-of", "several-of", "text"]
Vote = Literal["majority", "plurality", "unanimous"]
When = Any
"""A condition as it is written, see ``conditions``; None always holds."""

RESERVED = ("item", "id", "annotator", "label", "categories", "votes", "annotator_labels", "discarded", "undecided")
"""Columns of files of answers and results; no question may have such an id."""

SEPARATOR = "|"
"""Separates the answers in one cell, so no answer may contain it."""

_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class AnswerOption:
    """One of the answers to choose from: its id in files, and the text that people read, which is the id by default."""

    id: str
    text: str = ""
    help: str = ""
    exclusive: bool = False
    """Whether it excludes all other options, like "none of these"; such an option is never a category."""


@dataclass(frozen=True)
class Question:
    """One question, the condition under which it is asked, and its possible answers."""

    id: str
    text: str
    kind: Kind
    options: tuple[AnswerOption, ...] = ()
    when: When = None
    help: str = ""
    required: bool | None = None
    """None: required if exactly one answer is expected."""

    @property
    def takes_several(self) -> bool:
        return self.kind == "several-of"

    @property
    def answers(self) -> tuple[str, ...]:
        """The ids of its options; empty for a text."""
        return tuple(option.id for option in self.options)

    @property
    def dtype(self) -> pl.DataType:
        """The type of its column in a frame of checked answers."""
        return pl.List(pl.String) if self.takes_several else pl.String()

    @property
    def is_answered(self) -> pl.Expr:
        """Whether anything was chosen, ticked or written; never null."""
        column = pl.col(self.id)
        return (column.list.len() > 0).fill_null(False) if self.takes_several else column.is_not_null()


@dataclass(frozen=True)
class OutcomeRule:
    """What follows from answers that meet a condition: a label, categories, both, or a discarded item."""

    when: When = None
    label: str = ""
    label_from: str = ""
    """A question whose answer is the label; the rule applies only where it was answered."""
    categories: tuple[str, ...] = ()
    categories_from: tuple[str, ...] = ()
    """Questions whose answers are categories, in addition to ``categories``."""
    discard: str = ""
    """The reason for which the item is discarded."""


@dataclass(frozen=True)
class Share:
    """A condition whose share among items is reported: an item counts if it holds for more than half of the people."""

    name: str
    when: When = None
    label: str = ""
    """``gold``: the condition is that a person's label is the gold label of the item."""


@dataclass(frozen=True)
class Aggregation:
    """How the answers of several people to one item are combined."""

    label: Vote = "majority"
    """What the winning label needs: more than half of the labels given, more than any other label, or all of them."""
    discard: Literal["any", "majority", "never"] = "any"
    """How many people it takes to discard an item."""
    categories: Literal["majority", "any", "all"] = "majority"
    """Categories given by more than half of the people, by anybody, or by everybody."""
    fewest: int = 1
    """How many people must have labelled an item for it to have a gold label."""


@dataclass(frozen=True)
class Questionnaire:
    """Questions, the rules for their answers, and how several people's answers are combined."""

    name: str
    title: str
    questions: tuple[Question, ...]
    rules: tuple[OutcomeRule, ...]
    aggregation: Aggregation = field(default_factory=Aggregation)
    source: str = ""
    instructions: str = ""
    shows: tuple[str, ...] = ("premise", "hypothesis")
    """The columns of an item that people see."""
    shares: tuple[Share, ...] = ()

    @cached_property
    def by_id(self) -> Mapping[str, Question]:
        """The questions in order, by their ids."""
        return {question.id: question for question in self.questions}

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Every label that its rules can give, in the order of the rules; empty if they give categories only."""
        labels = dict[str, None]()
        for rule in self.rules:
            labels |= dict.fromkeys([rule.label] if rule.label else ())
            labels |= dict.fromkeys(self.by_id[rule.label_from].answers if rule.label_from else ())
        return tuple(labels)

    @cached_property
    def asks_by_gold(self) -> bool:
        """Whether a question or a rule depends on the gold label of an item."""
        conditions = [question.when for question in self.questions] + [rule.when for rule in self.rules]
        return any(depends_on_gold(when, self.by_id) for when in conditions)

    @property
    def dtypes(self) -> dict[str, pl.DataType]:
        return {question.id: question.dtype for question in self.questions}

    def holds(self, when: When) -> pl.Expr:
        """Whether one of its conditions holds, as an expression over checked answers; never null."""
        return condition_holds(when, self.by_id)


@dataclass(frozen=True)
class _File:
    """The keys of a questionnaire's file."""

    schema: int
    title: str
    source: str = ""
    instructions: str = ""
    shows: tuple[str, ...] = Questionnaire.shows
    question: tuple[dict[str, Any], ...] = ()
    rule: tuple[dict[str, Any], ...] = ()
    aggregation: dict[str, Any] = field(default_factory=dict)
    share: tuple[dict[str, Any], ...] = ()


def packaged_questionnaires() -> list[str]:
    """The names of the questionnaires that ship with the package."""
    return packaged_names(_FOLDER)


def load_questionnaire(name: str | Path) -> Questionnaire:
    """A questionnaire that ships with the package, by name, or the one in a file."""
    return parse_questionnaire(*read_toml_file(_FOLDER, name, kind="questionnaire"))


def questionnaire_content(name: str | Path) -> bytes:
    """The content of a questionnaire's file, given by path or by the name of one that ships with the package."""
    return read_toml_file(_FOLDER, name, kind="questionnaire")[0]


def parse_questionnaire(content: bytes, path: Path) -> Questionnaire:
    """The questionnaire in the content of a TOML file; ``path`` gives its name and is shown in errors."""
    written = strip_texts(parse_toml(content, path))
    schema = written.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise FileError(path, f"does not state its schema; begin it with schema = {SCHEMA}")
    refuse_newer(path, schema, SCHEMA)
    file = parse_table(written, path, _File)
    try:
        questions = _parse_questions(file.question, path)
        aggregation = parse_table(file.aggregation, path, Aggregation, where="aggregation")
        if aggregation.fewest < 1:
            raise AcidtestError(
                f"aggregation: fewest = {aggregation.fewest} is not a number of people; write 1 or more"
            )
        return Questionnaire(
            name=path.name.removesuffix(_ENDING),
            title=file.title,
            questions=tuple(questions.values()),
            rules=_parse_rules(file.rule, questions, path),
            aggregation=aggregation,
            source=file.source,
            instructions=file.instructions,
            shows=file.shows or Questionnaire.shows,
            shares=_parse_shares(file.share, questions, path),
        )
    except FileError:
        raise
    except AcidtestError as error:
        raise FileError(path, str(error)) from error


def _parse_questions(tables: tuple[dict[str, Any], ...], path: Path) -> dict[str, Question]:
    if not tables:
        raise AcidtestError("has no questions; add a table [[question]]")
    questions = dict[str, Question]()
    for number, table in enumerate(tables, 1):
        name = check_shape(table.get("id", ""), path, str, key=f"question {number}.id")
        if not name:
            raise AcidtestError(f'question {number} has no id; give it a name: id = "same_event"')
        where = f"question {name!r}"
        if not _ID.fullmatch(name):
            raise AcidtestError(f"{where}: the id names a column; write a letter, then letters, digits, _ or -")
        if name in (*RESERVED, *CONNECTIVES):
            raise AcidtestError(f"{where}: the id is reserved in files of answers or in conditions; choose another")
        if name in questions:
            raise AcidtestError(f"{where}: an earlier question has this id; rename one")
        question = parse_table({key: table[key] for key in table if key != "options"}, path, Question, where=where)
        _check_condition(question.when, questions, where)
        options = _parse_options(table.get("options", []), question.kind, path, where=where)
        required = question.kind in ("yes-no", "one-of") if question.required is None else question.required
        questions[name] = replace(question, options=options, required=required)
    return questions


def _parse_options(written: Any, kind: Kind, path: Path, *, where: str) -> tuple[AnswerOption, ...]:
    if kind in ("yes-no", "text"):
        if written:
            answers = "its answers are yes and no" if kind == "yes-no" else "people write what they like"
            problem = f"a {kind} question has no options, {answers}; remove them, or choose another kind"
            raise AcidtestError(f"{where}: {problem}")
        return tuple(AnswerOption(answer, answer) for answer in (("yes", "no") if kind == "yes-no" else ()))
    if not isinstance(written, list) or len(written) < 2:
        raise AcidtestError(f'{where}: a {kind} question needs two options or more: options = ["…", "…"]')
    options = dict[str, AnswerOption]()
    for number, value in enumerate(written, 1):
        table, place = {"id": value} if isinstance(value, str) else value, f"{where}: option {number}"
        if not isinstance(table, dict):
            raise AcidtestError(f'{place} is neither a text nor a table: [[question.options]] id = "…"')
        option = parse_table(table, path, AnswerOption, where=place)
        if SEPARATOR in option.id:
            raise AcidtestError(f"{place}: {SEPARATOR!r} separates answers in files; choose an id without it")
        if option.exclusive and kind != "several-of":
            raise AcidtestError(f"{place}: only options of a several-of question are exclusive; remove the key")
        if option.id.lower() in options:
            raise AcidtestError(f"{where}: there are two options {option.id!r}; rename one")
        options[option.id.lower()] = replace(option, text=option.text or option.id)
    return tuple(options.values())


def _check_condition(when: When, questions: Mapping[str, Question], where: str) -> None:
    try:
        condition_holds(when, questions)
    except AcidtestError as error:
        raise AcidtestError(f"{where}: when: {error}") from error


def _parse_rules(
    tables: tuple[dict[str, Any], ...], questions: Mapping[str, Question], path: Path
) -> tuple[OutcomeRule, ...]:
    if not tables:
        raise AcidtestError("has no rules; add a table [[rule]] with label, categories or discard")
    rules = list[OutcomeRule]()
    for number, table in enumerate(tables, 1):
        where = f"rule {number}"
        if rules and rules[-1].when is None and not rules[-1].label_from:
            problem = f"without 'when' it applies to all answers, so that {where} is never reached"
            raise AcidtestError(f"rule {number - 1}: {problem}; put it last")
        rule = parse_table(table, path, OutcomeRule, where=where)
        if not table.keys() - {"when"}:
            raise AcidtestError(f'{where} has no outcome; write label = "…", categories = ["…"] or discard = "…"')
        for one, others in (("label", {"label_from"}), ("discard", table.keys() - {"when", "discard"})):
            for other in sorted(others & table.keys()) if one in table else ():
                raise AcidtestError(f"{where}: {one} and {other} exclude each other; remove one")
        if rule.label_from:
            _check_source(rule.label_from, questions, ("yes-no", "one-of"), f"{where}: label_from")
        for name in rule.categories_from:
            _check_source(name, questions, ("one-of", "several-of"), f"{where}: categories_from")
        _check_condition(rule.when, questions, where)
        rules.append(rule)
    return tuple(rules)


def _check_source(name: str, questions: Mapping[str, Question], kinds: tuple[Kind, ...], where: str) -> None:
    if name not in questions:
        raise AcidtestError(f"{where}: {UnknownNameError('question', name, questions)}")
    if questions[name].kind not in kinds:
        raise AcidtestError(f"{where}: {name!r} is a {questions[name].kind} question; expected {join_with_or(kinds)}")


def _parse_shares(
    tables: tuple[dict[str, Any], ...], questions: Mapping[str, Question], path: Path
) -> tuple[Share, ...]:
    shares = list[Share]()
    for number, table in enumerate(tables, 1):
        share = parse_table(table, path, Share, where=f"share {number}")
        if (share.when is None) == (not share.label) or share.label not in ("", "gold"):
            raise AcidtestError(f'share {number}: write either when = {{ question = "answer" }} or label = "gold"')
        _check_condition(share.when, questions, f"share {number}")
        shares.append(share)
    return tuple(shares)


def packaged_names(folder: str) -> list[str]:
    """The names of the files in a folder of the package's data, without their ending."""
    files = resources.files("acidtest.data").joinpath(folder).iterdir()
    return sorted(file.name.removesuffix(_ENDING) for file in files if file.name.endswith(_ENDING))


def read_toml_file(folder: str, name: str | Path, *, kind: str) -> tuple[bytes, Path]:
    """The content and path of a TOML file, given by path or by its name in a folder of the package's data."""
    path = Path(name)
    if path.suffix.lower() == _ENDING or path.is_file():
        return read_bounded(path, MOST_TOML_BYTES), path
    known = packaged_names(folder)
    if str(name) not in known:
        raise UnknownNameError(kind, str(name), known, f" (a file's name ends in {_ENDING})")
    file = f"{name}{_ENDING}"
    return resources.files("acidtest.data").joinpath(folder, file).read_bytes(), Path(file)


def parse_table(table: Mapping[str, Any], path: Path, shape: type[T], *, where: str = "") -> T:
    """A table of the file as a dataclass; ``where`` names it in errors.

    An unknown key, an empty text, a missing key and a value of another type are errors.
    """
    known = [field.name for field in fields(shape)]  # type: ignore[arg-type]
    prefix = f"{where}: " if where else ""
    for key, value in table.items():
        if key not in known:
            raise FileError(path, f"{prefix}{UnknownNameError('key', key, known)}")
        if value == "" or (isinstance(value, list) and "" in value):
            raise FileError(path, f"{prefix}{key} is empty; fill it in")
    return check_shape(table, path, shape, key=where)


def strip_texts(value: Any) -> Any:
    """A value of a TOML file with all its texts stripped."""
    if isinstance(value, dict):
        return {key: strip_texts(part) for key, part in value.items()}
    if isinstance(value, list):
        return [strip_texts(part) for part in value]
    return value.strip() if isinstance(value, str) else value
