"""Questionnaires as data: what people are asked of an item, and the rules that make a label of their answers.

A questionnaire is a TOML file. Those that ship lie in ``data/questionnaires``; docs/agreement.md describes the format.
Whatever is wrong in a file is told with the file, the question or rule, and what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args

from acidtest.annotate.conditions import ALWAYS, WORDS, Condition, choice, condition, mentions_gold
from acidtest.annotate.toml_tables import TomlTable, toml_value
from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.structured import MOST_TOML_BYTES, parse_toml, read_bounded

SCHEMA = 1
ENDING = ".toml"

Kind = Literal["yes-no", "one-of", "several-of", "text"]
Vote = Literal["majority", "plurality", "unanimous"]
Discard = Literal["any", "majority", "never"]
Marked = Literal["majority", "any", "all"]

TAKEN = ("item", "id", "annotator", "label", "categories", "votes", "annotator_labels", "discarded", "undecided")
"""Columns of the files of answers and of results, so that no question may be called so."""

SEPARATOR = "|"
"""What stands between answers in one cell, so that it may not stand within one."""

_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_YES_NO = ("yes", "no")


@dataclass(frozen=True)
class Option:
    """One of the answers that may be chosen: what it is called in files, and what people read."""

    id: str
    text: str
    help: str = ""
    exclusive: bool = False
    """Whether it excludes all others, as "nothing of this" does; it is never a category."""


@dataclass(frozen=True)
class Question:
    """One question, of whom it is asked, and what may be answered."""

    id: str
    text: str
    kind: Kind
    options: tuple[Option, ...] = ()
    when: Condition = ALWAYS
    help: str = ""
    required: bool = True

    @property
    def takes_several(self) -> bool:
        """Whether more than one answer may be ticked."""
        return self.kind == "several-of"

    @property
    def answers(self) -> tuple[str, ...]:
        """What may be answered; nothing for a text."""
        return tuple(option.id for option in self.options)


@dataclass(frozen=True)
class Rule:
    """What follows from answers that fit: a label, categories, both, or that the item is discarded."""

    when: Condition = ALWAYS
    label: str = ""
    label_from: str = ""
    """A question whose answer is the label; the rule fits only where it was answered."""
    categories: tuple[str, ...] = ()
    categories_from: tuple[str, ...] = ()
    """Questions whose answers are categories, besides those named."""
    discard: str = ""
    """Why the item is discarded."""


@dataclass(frozen=True)
class Share:
    """Something whose share among items is told: those of which it holds for more than half of the people."""

    name: str
    when: Condition = ALWAYS
    confirms_gold: bool = False
    """Whether it holds where a person's label is the gold that the item came with."""


@dataclass(frozen=True)
class Aggregation:
    """How what several people said of an item becomes one."""

    label: Vote = "majority"
    """More than half of the labels; the one that stands alone at the top; or all of them."""
    discard: Discard = "any"
    """Whether one person is enough to discard an item."""
    categories: Marked = "majority"
    """Categories that more than half of the people gave, anybody, or everybody."""
    fewest: int = 1
    """How many people must have labelled an item for it to have gold."""


@dataclass(frozen=True)
class Questionnaire:
    """What people are asked and what follows from it."""

    name: str
    title: str
    questions: tuple[Question, ...]
    rules: tuple[Rule, ...]
    aggregation: Aggregation = field(default_factory=Aggregation)
    source: str = ""
    instructions: str = ""
    shows: tuple[str, ...] = ("premise", "hypothesis")
    """The columns of an item that people see."""
    shares: tuple[Share, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """Every label its rules can give, in their order; none where they give categories only."""
        found = dict[str, None]()
        for rule in self.rules:
            found |= dict.fromkeys([rule.label] if rule.label else ())
            found |= dict.fromkeys(self.question(rule.label_from).answers if rule.label_from else ())
        return tuple(found)

    @property
    def asks_by_gold(self) -> bool:
        """Whether what is asked, or what follows from it, depends on the gold label that an item came with."""
        stated = [question.when for question in self.questions] + [rule.when for rule in self.rules]
        return any(map(mentions_gold, stated))

    def question(self, name: str) -> Question:
        """The question of this id."""
        return next(question for question in self.questions if question.id == name)


def packaged_questionnaires() -> list[str]:
    """The names of the questionnaires that ship with the package."""
    folder = resources.files("acidtest.data").joinpath("questionnaires")
    return sorted(file.name.removesuffix(ENDING) for file in folder.iterdir() if file.name.endswith(ENDING))


def questionnaire(name: str | Path) -> Questionnaire:
    """A questionnaire that ships with the package, by name, or one in a file."""
    path = Path(name)
    return parsed_questionnaire(questionnaire_content(name), path if _is_file(path) else Path(f"{name}{ENDING}"))


def questionnaire_content(name: str | Path) -> bytes:
    """The file of a questionnaire that ships with the package, by name, or of one elsewhere."""
    if _is_file(Path(name)):
        return read_bounded(name, MOST_TOML_BYTES)
    known = packaged_questionnaires()
    if str(name) not in known:
        raise UnknownNameError("questionnaire", str(name), known, f" (a file's name ends in {ENDING})")
    return resources.files("acidtest.data").joinpath("questionnaires", f"{name}{ENDING}").read_bytes()


def _is_file(path: Path) -> bool:
    return path.suffix.lower() == ENDING or path.is_file()


def parsed_questionnaire(content: bytes, path: Path) -> Questionnaire:
    """The questionnaire in the text of a TOML file; ``path`` gives its name, and stands in errors."""
    written = parse_toml(content, path)
    try:
        return _questionnaire(TomlTable(written), path.name.removesuffix(ENDING))
    except FileError:
        raise
    except AcidtestError as error:
        raise FileError(path, str(error)) from error


def _questionnaire(table: TomlTable, name: str) -> Questionnaire:
    schema = table.value("schema") if table.has("schema") else None
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise AcidtestError(f"does not say how it is written; begin it with schema = {SCHEMA}")
    if schema > SCHEMA:
        raise AcidtestError(f"has schema {schema}, and this acidtest reads up to {SCHEMA}; install a newer one")
    table.check_keys("schema", "title", "source", "instructions", "shows", "question", "rule", "aggregation", "share")
    questions = _questions(table.tables("question"))
    return Questionnaire(
        name=name,
        title=table.text("title", needed='say what it asks: title = "…"'),
        questions=tuple(questions.values()),
        rules=_rules(table.tables("rule"), questions),
        aggregation=_aggregation(table),
        source=table.text("source"),
        instructions=table.text("instructions"),
        shows=table.texts("shows") or Questionnaire.shows,
        shares=_shares(table.tables("share"), questions),
    )


def _condition(table: TomlTable, questions: Mapping[str, Question]) -> Condition:
    """The condition ``when``, which always holds where it is not there."""
    if not table.has("when"):
        return ALWAYS
    try:
        return condition(table.value("when"), questions)
    except AcidtestError as error:
        raise table.error(f"when: {error}") from error


def _questions(tables: list[Mapping[str, Any]]) -> dict[str, Question]:
    if not tables:
        raise AcidtestError("asks nothing; add a table [[question]]")
    found = dict[str, Question]()
    for number, written in enumerate(tables, 1):
        name = TomlTable(written, f"question {number}").text("id", needed='give it a name: id = "same_event"')
        table = TomlTable(written, f"question {name!r}")
        _check_id(table, name, found)
        table.check_keys("id", "text", "kind", "options", "when", "help", "required")
        kind: Kind = table.one_of("kind", get_args(Kind), default="")
        found[name] = Question(
            id=name,
            text=table.text("text", needed='write what people are asked: text = "…"'),
            kind=kind,
            options=_options(table, kind),
            when=_condition(table, found),
            help=table.text("help"),
            required=table.flag("required", default=kind in ("yes-no", "one-of")),
        )
    return found


def _check_id(table: TomlTable, name: str, earlier: Collection[str]) -> None:
    if not _ID.fullmatch(name):
        raise table.error("the id names a column; write a letter, then letters, digits, _ or -")
    if name in (*TAKEN, *WORDS):
        raise table.error("the id means something else in files of answers or in conditions; choose another")
    if name in earlier:
        raise table.error("there is an earlier question of this id; rename one")


def _options(table: TomlTable, kind: Kind) -> tuple[Option, ...]:
    if kind in ("yes-no", "text"):
        if table.has("options"):
            answers = "its answers are yes and no" if kind == "yes-no" else "people write what they like"
            raise table.error(f"a {kind} question has no options, {answers}; remove them, or say another kind")
        return tuple(Option(answer, answer) for answer in (_YES_NO if kind == "yes-no" else ()))
    written = table.value("options") if table.has("options") else []
    if not isinstance(written, list) or len(written) < 2:
        raise table.error(f'a {kind} question needs two options or more: options = ["…", "…"]')
    found = tuple(_option(table, each, number, kind) for number, each in enumerate(written, 1))
    twice = [option.id for place, option in enumerate(found) if option.id.lower() in _lower(found[:place])]
    if twice:
        raise table.error(f"there are two options {twice[0]!r}; rename one")
    return found


def _option(table: TomlTable, written: object, number: int, kind: Kind) -> Option:
    if isinstance(written, str):
        written = {"id": written}
    if not isinstance(written, dict):
        raise table.error(
            f'option {number} is neither a text nor a table with id and text: [[question.options]] id = "…"'
        )
    own = TomlTable(written, str(table.error(f"option {number}")))
    own.check_keys("id", "text", "help", *(["exclusive"] if kind == "several-of" else []))
    name = own.text("id", needed='give it a name: id = "…"')
    if SEPARATOR in name:
        raise own.error(f"{SEPARATOR!r} separates answers in files; choose an id without it")
    return Option(name, own.text("text") or name, own.text("help"), own.flag("exclusive", default=False))


def _lower(options: tuple[Option, ...]) -> set[str]:
    return {option.id.lower() for option in options}


def _rules(tables: list[Mapping[str, Any]], questions: Mapping[str, Question]) -> tuple[Rule, ...]:
    if not tables:
        raise AcidtestError("nothing follows from the answers; add a table [[rule]] with label, categories or discard")
    found = list[Rule]()
    for number, written in enumerate(tables, 1):
        table = TomlTable(written, f"rule {number}")
        if found and found[-1].when is ALWAYS and not found[-1].label_from:
            raise AcidtestError(
                f"rule {number - 1}: without 'when' it fits all answers, so that rule {number} is never "
                "reached; put it last"
            )
        found.append(_rule(table, questions))
    return tuple(found)


def _rule(table: TomlTable, questions: Mapping[str, Question]) -> Rule:
    outcomes = ("label", "label_from", "categories", "categories_from", "discard")
    table.check_keys("when", *outcomes)
    given = [name for name in outcomes if table.has(name)]
    if not given:
        raise table.error('nothing follows from it; write label = "…", categories = ["…"] or discard = "…"')
    for one, other in (("label", "label_from"), *(("discard", name) for name in outcomes[:-1])):
        if one in given and other in given:
            raise table.error(f"{one} and {other} exclude each other; remove one")
    label_from = table.text("label_from")
    if label_from:
        _check_source(table, label_from, questions, ("yes-no", "one-of"), "label_from")
    for name in table.texts("categories_from"):
        _check_source(table, name, questions, ("one-of", "several-of"), "categories_from")
    return Rule(
        when=_condition(table, questions),
        label=table.text("label"),
        label_from=label_from,
        categories=table.texts("categories"),
        categories_from=table.texts("categories_from"),
        discard=table.text("discard"),
    )


def _check_source(
    table: TomlTable, name: str, questions: Mapping[str, Question], kinds: tuple[Kind, ...], key: str
) -> None:
    if name not in questions:
        raise table.error(f"{key}: {UnknownNameError('question', name, questions)}")
    if questions[name].kind not in kinds:
        raise table.error(f"{key}: {name!r} is a {questions[name].kind} question; name one that is {choice(kinds)}")


def _shares(tables: list[Mapping[str, Any]], questions: Mapping[str, Question]) -> tuple[Share, ...]:
    found = list[Share]()
    for number, written in enumerate(tables, 1):
        table = TomlTable(written, f"share {number}")
        table.check_keys("name", "when", "label")
        name, label = table.text("name", needed='say what it is the share of: name = "…"'), table.text("label")
        if table.has("when") == bool(label) or label not in ("", "gold"):
            raise table.error('write either when = { question = "answer" } or label = "gold"')
        found.append(Share(name, _condition(table, questions), bool(label)))
    return tuple(found)


def _aggregation(whole: TomlTable) -> Aggregation:
    if not whole.has("aggregation"):
        return Aggregation()
    written = whole.value("aggregation")
    if not isinstance(written, dict):
        raise AcidtestError("aggregation is a table; begin it with [aggregation]")
    table = TomlTable(written, "aggregation")
    table.check_keys("label", "discard", "categories", "fewest")
    fewest = table.value("fewest") if table.has("fewest") else 1
    if not isinstance(fewest, int) or isinstance(fewest, bool) or fewest < 1:
        raise table.error(f"fewest = {toml_value(fewest)} is no number of people; write 1 or more")
    return Aggregation(
        label=table.one_of("label", get_args(Vote), default="majority"),
        discard=table.one_of("discard", get_args(Discard), default="any"),
        categories=table.one_of("categories", get_args(Marked), default="majority"),
        fewest=fewest,
    )
