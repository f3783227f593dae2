"""Prompts as data: how a pair is put to a language model, and which words of its reply mean which label.

A prompt is a TOML file. Those that ship lie in ``data/prompts``; docs/endpoints.md describes the format. Whatever is
wrong in a file is told with the file, the key, and what to write instead.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.labels import LABELS, TWO_WAY_LABELS
from acidtest.core.model import Resolution
from acidtest.core.structured import MOST_TOML_BYTES, parse_toml, read_bounded

SCHEMA = 1
ENDING = ".toml"

COLUMNS: Mapping[str, int] = {"entailment": 0, "neutral": 1, "contradiction": 2, "non-entailment": 1}
"""Which column of a prediction a label's probability goes to."""

Message = dict[str, str]
"""One turn of a chat: ``role`` and ``content``."""

Role = Literal["system", "user", "assistant"]

_SLOTS = ("premise", "hypothesis", "options", "words")
_OPTION_SLOTS = ("word", "text")
_SLOT = re.compile(r"\{([a-z_]+)\}")
_KEYS = ("schema", "title", "system", "user", "option", "cue", "symbols", "answer", "example")


@dataclass(frozen=True)
class Answer:
    """A label, the words that mean it (the first is the one shown), and what a model reads about it."""

    label: str
    words: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True)
class Example:
    """A pair with its label, shown before the pair that is asked."""

    premise: str
    hypothesis: str
    label: str


Meanings = Mapping[str, str]
"""Words that a reply may answer with, and the label each means."""


@dataclass(frozen=True)
class Prompt:
    """Templates and answers. Where there are ``symbols``, the first means the answer listed first, and so on."""

    name: str
    title: str
    user: str
    answers: tuple[Answer, ...]
    system: str = ""
    option: str = "{word}"
    cue: str = "Answer:"
    symbols: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()

    @property
    def resolution(self) -> Resolution:
        """Whether it tells three labels apart or two."""
        return "two-way" if len(self.answers) == len(TWO_WAY_LABELS) else "three-way"

    @property
    def content(self) -> str:
        """Everything that reaches a model, on one line, to tell prompts apart by."""
        fields = {name: value for name, value in asdict(self).items() if name not in ("name", "title")}
        return json.dumps(fields, ensure_ascii=False, sort_keys=True)

    def arranged(self, order: tuple[int, ...]) -> Arrangement:
        """The prompt with its answers listed in another order."""
        listed = tuple(self.answers[place] for place in order)
        if self.symbols:
            listed = tuple(
                Answer(answer.label, (symbol,), answer.text)
                for answer, symbol in zip(listed, self.symbols, strict=True)
            )
        return Arrangement(self, listed)


@dataclass(frozen=True)
class Arrangement:
    """A prompt whose answers stand in a certain order, ready to be filled with pairs."""

    prompt: Prompt
    answers: tuple[Answer, ...]

    @property
    def meanings(self) -> Meanings:
        """The label that each word means."""
        return {word: answer.label for answer in self.answers for word in answer.words}

    def messages(self, premise: str, hypothesis: str) -> list[Message]:
        """The turns of a chat that asks a pair; examples are earlier turns."""
        turns = (
            [_message("system", self._filled(self.prompt.system, premise, hypothesis))] if self.prompt.system else []
        )
        for example in self.prompt.examples:
            turns.append(_message("user", self._filled(self.prompt.user, example.premise, example.hypothesis)))
            turns.append(_message("assistant", self._word(example.label)))
        return [*turns, _message("user", self._filled(self.prompt.user, premise, hypothesis))]

    def text(self, premise: str, hypothesis: str) -> str:
        """The same as one text that a model goes on with, for servers without chat."""
        parts = [self._filled(self.prompt.system, premise, hypothesis)] if self.prompt.system else []
        for example in self.prompt.examples:
            asked = self._filled(self.prompt.user, example.premise, example.hypothesis)
            parts.append(f"{asked}\n{self.prompt.cue} {self._word(example.label)}")
        parts.append(f"{self._filled(self.prompt.user, premise, hypothesis)}\n{self.prompt.cue}")
        return "\n\n".join(parts)

    def _filled(self, template: str, premise: str, hypothesis: str) -> str:
        options = "\n".join(
            _filled(self.prompt.option, {"word": answer.words[0], "text": answer.text}) for answer in self.answers
        )
        values = {"premise": premise, "hypothesis": hypothesis, "options": options, "words": self._words()}
        return _filled(template, values)

    def _words(self) -> str:
        *others, last = (answer.words[0] for answer in self.answers)
        return f"{', '.join(others)} or {last}"

    def _word(self, label: str) -> str:
        return next(answer.words[0] for answer in self.answers if answer.label == label)


def _message(role: Role, content: str) -> Message:
    return {"role": role, "content": content}


def _filled(template: str, values: Mapping[str, str]) -> str:
    # In one pass: what is filled in is never read as a template, whatever braces a sentence has.
    return _SLOT.sub(lambda slot: values.get(slot[1], slot[0]), template)


def orders(prompt: Prompt, number: int) -> list[tuple[int, ...]]:
    """The first so many orders of a prompt's answers: its own, then each answer first once, then the mirrored ones."""
    size = len(prompt.answers)
    turned = [tuple((start + place) % size for place in range(size)) for start in range(size)]
    known = dict.fromkeys([*turned, *(order[::-1] for order in turned), *itertools.permutations(range(size))])
    if not 1 <= number <= len(known):
        raise AcidtestError(f"prompt {prompt.name!r} has {len(known)} orders of its answers; --orders {number} is not")
    return list(known)[:number]


def packaged_prompts() -> list[str]:
    """The names of the prompts that ship with the package."""
    folder = resources.files("acidtest.data").joinpath("prompts")
    return sorted(file.name.removesuffix(ENDING) for file in folder.iterdir() if file.name.endswith(ENDING))


def prompt_called(name: str) -> Prompt:
    """A prompt that ships with the package, by name, or one in a file whose name ends in .toml."""
    if name.lower().endswith(ENDING):
        return parsed_prompt(read_bounded(name, MOST_TOML_BYTES), Path(name))
    known = packaged_prompts()
    if name not in known:
        raise UnknownNameError("prompt", name, known, f" (a file's name ends in {ENDING})")
    file = resources.files("acidtest.data").joinpath("prompts", f"{name}{ENDING}")
    return parsed_prompt(file.read_bytes(), Path(f"{name}{ENDING}"))


def parsed_prompt(content: bytes, path: Path) -> Prompt:
    """The prompt in the text of a TOML file; ``path`` gives its name, and stands in errors."""
    written = parse_toml(content, path)
    try:
        return _prompt(written, path.name[: -len(ENDING)])
    except AcidtestError as error:
        raise FileError(path, str(error)) from error


def _prompt(written: Mapping[str, Any], name: str) -> Prompt:
    schema = written.get("schema")
    if type(schema) is not int or schema < 1:
        raise AcidtestError(f"does not say how it is written; begin it with schema = {SCHEMA}")
    if schema > SCHEMA:
        raise AcidtestError(f"has schema {schema}, and this acidtest reads up to {SCHEMA}; install a newer one")
    _check_keys(written, _KEYS, "")
    symbols = _texts(written, "symbols", "")
    answers = _answers(_tables(written, "answer"), symbols)
    return Prompt(
        name=name,
        title=_text(written, "title", ""),
        system=_template(written, "system", _SLOTS),
        user=_user(written),
        option=_template(written, "option", _OPTION_SLOTS) or Prompt.option,
        cue=_text(written, "cue", "") or Prompt.cue,
        symbols=symbols,
        answers=answers,
        examples=_examples(_tables(written, "example"), {answer.label for answer in answers}),
    )


def _user(written: Mapping[str, Any]) -> str:
    template = _template(written, "user", _SLOTS)
    for slot in ("premise", "hypothesis"):
        if f"{{{slot}}}" not in template:
            raise AcidtestError(f"user does not say where the {slot} goes; write {{{slot}}} there")
    return template


def _template(written: Mapping[str, Any], key: str, slots: tuple[str, ...]) -> str:
    text = _text(written, key, "")
    for slot in _SLOT.findall(text):
        if slot not in slots:
            raise AcidtestError(f"{key}: {UnknownNameError('placeholder', slot, slots)}")
    return text


def _answers(tables: list[Mapping[str, Any]], symbols: tuple[str, ...]) -> tuple[Answer, ...]:
    found = tuple(_answer(table, f"answer {number}: ", symbols) for number, table in enumerate(tables, 1))
    labels = sorted(answer.label for answer in found)
    if labels not in (sorted(LABELS), sorted(TWO_WAY_LABELS)):
        raise AcidtestError(
            f"has answers for {', '.join(labels) or 'no label'}; write one [[answer]] for each of {', '.join(LABELS)}, "
            f"or for {' and '.join(TWO_WAY_LABELS)}"
        )
    if symbols and len(symbols) != len(found):
        raise AcidtestError(f"has {len(symbols)} symbols for {len(found)} answers; write one for each")
    words = [word.lower() for answer in found for word in answer.words] + [symbol.lower() for symbol in symbols]
    twice = [word for place, word in enumerate(words) if word in words[:place]]
    if twice:
        raise AcidtestError(f"the word {twice[0]!r} stands there twice; a reply could not be told apart")
    return found


def _answer(table: Mapping[str, Any], where: str, symbols: tuple[str, ...]) -> Answer:
    _check_keys(table, ("label", "words", "text"), where)
    label = _text(table, "label", where)
    if label not in COLUMNS:
        raise AcidtestError(f"{where}label {label!r} is not {', '.join(COLUMNS)}")
    words = _texts(table, "words", where)
    if symbols and words:
        raise AcidtestError(f"{where}symbols and words exclude each other; remove one")
    if not symbols and not words:
        raise AcidtestError(f'{where}says no words that mean {label}; write words = ["…"]')
    return Answer(label, words, _text(table, "text", where))


def _examples(tables: list[Mapping[str, Any]], labels: set[str]) -> tuple[Example, ...]:
    found = list[Example]()
    for number, table in enumerate(tables, 1):
        where = f"example {number}: "
        _check_keys(table, ("premise", "hypothesis", "label"), where)
        premise, hypothesis, label = (_text(table, key, where) for key in ("premise", "hypothesis", "label"))
        if not premise or not hypothesis or label not in labels:
            raise AcidtestError(f"{where}needs premise, hypothesis and a label that is {', '.join(sorted(labels))}")
        found.append(Example(premise, hypothesis, label))
    return tuple(found)


def _check_keys(table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in known:
            raise AcidtestError(f"{where}{UnknownNameError('key', key, known)}")


def _text(table: Mapping[str, Any], key: str, where: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise AcidtestError(f"{where}{key} is no text; put it in quotes")
    return value.strip()


def _texts(table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(each, str) and each.strip() for each in value):
        raise AcidtestError(f'{where}{key} is a list of texts: {key} = ["…", "…"]')
    return tuple(each.strip() for each in value)


def _tables(table: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise AcidtestError(f"{key} is a list of tables; begin each with [[{key}]]")
    return value
