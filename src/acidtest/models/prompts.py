"""Prompts as data: how a language model is asked about a pair, and which words of its reply mean which label.

A prompt is a TOML file. Those of the package are in ``data/prompts``; docs/reference/files.md describes the format.
Errors name the file, the key, and what to write instead.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.files import read_bounded
from acidtest.core.labels import LABELS, TWO_WAY_LABELS, Probabilities
from acidtest.core.model import Resolution
from acidtest.core.structured import MOST_TOML_BYTES, check_shape, parse_toml, refuse_newer
from acidtest.corpora.questions import bare_answer

SCHEMA = 1
ENDING = ".toml"

COLUMNS: Mapping[str, int] = {"entailment": 0, "neutral": 1, "contradiction": 2, "non-entailment": 1}
"""The column of a prediction that a label's probability goes to."""

ABSTAIN = "abstain"
"""What an answer with which the model declines to decide has in the place of a label."""

Message = dict[str, str]
"""One turn of a chat: ``role`` and ``content``."""

Meanings = Mapping[str, str]
"""Words that a reply may answer with, and the label each means."""

_SLOTS = ("premise", "hypothesis", "question", "options", "words")
_OPTION_SLOTS = ("word", "text")
_SLOT = re.compile(r"\{([a-z_]+)\}")
_QUESTION_LINE = re.compile(r"^.*\{question\}.*(?:\n|\Z)", re.MULTILINE)


@dataclass(frozen=True)
class PromptAnswer:
    """A label, the words that mean it (the model is shown the first), and the text that explains it to the model."""

    label: str = ""
    words: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True)
class PromptExample:
    """A pair with its label, shown before the pair in question."""

    premise: str = ""
    hypothesis: str = ""
    label: str = ""


@dataclass(frozen=True)
class Prompt:
    """The keys of a prompt file; the first of ``symbols`` means the answer listed first, and so on."""

    title: str = ""
    system: str = ""
    user: str = ""
    option: str = "{word}"
    cue: str = "Answer:"
    symbols: tuple[str, ...] = ()
    answer: tuple[PromptAnswer, ...] = ()
    example: tuple[PromptExample, ...] = ()
    name: str = ""

    @property
    def resolution(self) -> Resolution:
        """Whether it has three labels or two."""
        return "two-way" if any(answer.label == "non-entailment" for answer in self.answer) else "three-way"

    @property
    def asks_questions(self) -> bool:
        """Whether it has a place for the question that a claim answers."""
        return "{question}" in self.system + self.user

    @property
    def content(self) -> str:
        """Everything that reaches a model, on one line, for fingerprints."""
        fields = asdict(self)
        del fields["name"], fields["title"]
        # Fingerprints are made with the plural names.
        fields["answers"], fields["examples"] = fields.pop("answer"), fields.pop("example")
        return json.dumps(fields, ensure_ascii=False, sort_keys=True)

    def arrange(self, order: tuple[int, ...]) -> ArrangedPrompt:
        """The prompt with its answers listed in this order; ``symbols`` are given out in the order of the list."""
        listed = [self.answer[place] for place in order]
        if self.symbols:
            listed = [replace(answer, words=(word,)) for answer, word in zip(listed, self.symbols, strict=True)]
        return ArrangedPrompt(self, tuple(listed))


@dataclass(frozen=True)
class ArrangedPrompt:
    """A prompt with its answers in a certain order, ready to be filled with pairs."""

    prompt: Prompt
    answers: tuple[PromptAnswer, ...]

    @property
    def meanings(self) -> Meanings:
        return {word: answer.label for answer in self.answers for word in answer.words}

    def messages(self, premise: str, hypothesis: str, question: str | None = None) -> list[Message]:
        """The messages of a chat about a pair; examples are earlier messages."""
        system = self._fill(self.prompt.system, premise, hypothesis, question)
        messages = [{"role": "system", "content": system}] if self.prompt.system else []
        for question, word in self._examples():
            messages += [{"role": "user", "content": question}, {"role": "assistant", "content": word}]
        return [*messages, {"role": "user", "content": self._fill(self.prompt.user, premise, hypothesis, question)}]

    def text(self, premise: str, hypothesis: str, question: str | None = None) -> str:
        """The same messages as one text for the model to continue, for servers without chat."""
        texts = (premise, hypothesis, question)
        system, user = (self._fill(part, *texts) for part in (self.prompt.system, self.prompt.user))
        parts = [system] if self.prompt.system else []
        parts += [f"{example}\n{self.prompt.cue} {word}" for example, word in self._examples()]
        return "\n\n".join([*parts, f"{user}\n{self.prompt.cue}"])

    def _examples(self) -> list[tuple[str, str]]:
        """The question of each example, and the word that answers it."""
        words = {answer.label: answer.words[0] for answer in self.answers}
        return [
            (self._fill(self.prompt.user, example.premise, example.hypothesis), words[example.label])
            for example in self.prompt.example
        ]

    def _fill(self, template: str, premise: str, hypothesis: str, question: str | None = None) -> str:
        """The template with a pair in it; without a question, lines that have a place for one are left out."""
        if self.prompt.asks_questions and question:
            hypothesis = bare_answer(question, hypothesis)
        elif self.prompt.asks_questions:
            template = _QUESTION_LINE.sub("", template)
        options = "\n".join(
            _fill_slots(self.prompt.option, {"word": answer.words[0], "text": answer.text}) for answer in self.answers
        )
        *others, last = (answer.words[0] for answer in self.answers)
        words = f"{', '.join(others)} or {last}"
        values = {
            "premise": premise,
            "hypothesis": hypothesis,
            "question": question or "",
            "options": options,
            "words": words,
        }
        return _fill_slots(template, values)


def label_probabilities(shares: Mapping[str, float]) -> Probabilities:
    """Probabilities of entailment, neutral and contradiction, given the share of each label.

    NaN, no answer, if ``ABSTAIN`` has the largest share; a smaller one is divided among the labels.
    """
    if shares.get(ABSTAIN, 0.0) > max((share for label, share in shares.items() if label != ABSTAIN), default=0.0):
        return np.full(len(LABELS), np.nan, dtype=np.float32)
    row = np.zeros(len(LABELS), dtype=np.float64)
    for label, share in shares.items():
        if label != ABSTAIN:
            row[COLUMNS[label]] += share
    return np.asarray(row / row.sum() if ABSTAIN in shares else row, dtype=np.float32)


def _fill_slots(template: str, values: Mapping[str, str]) -> str:
    # In one pass, so that braces in a premise or hypothesis are never read as slots.
    return _SLOT.sub(lambda slot: values.get(slot[1], slot[0]), template)


def answer_orders(prompt: Prompt, number: int) -> list[tuple[int, ...]]:
    """The first ``number`` orders of a prompt's answers: its own, the other rotations, their reversals, the rest."""
    size = len(prompt.answer)
    rotations = [tuple((start + place) % size for place in range(size)) for start in range(size)]
    known = dict.fromkeys([*rotations, *(order[::-1] for order in rotations), *itertools.permutations(range(size))])
    if not 1 <= number <= len(known):
        raise AcidtestError(f"prompt {prompt.name!r} has {len(known)} orders of its answers; --orders {number} is not")
    return list(known)[:number]


def packaged_prompts() -> list[str]:
    """The names of the prompts that ship with the package."""
    folder = resources.files("acidtest.data").joinpath("prompts")
    return sorted(file.name.removesuffix(ENDING) for file in folder.iterdir() if file.name.endswith(ENDING))


def load_prompt(name: str) -> Prompt:
    """A prompt that ships with the package, by name, or one in a file whose name ends in .toml."""
    if name.lower().endswith(ENDING):
        return parse_prompt(read_bounded(name, MOST_TOML_BYTES), Path(name))
    known = packaged_prompts()
    if name not in known:
        raise UnknownNameError("prompt", name, known, f" (a file's name ends in {ENDING})")
    file = resources.files("acidtest.data").joinpath("prompts", f"{name}{ENDING}")
    return parse_prompt(file.read_bytes(), Path(f"{name}{ENDING}"))


def parse_prompt(content: bytes, path: Path) -> Prompt:
    """The prompt in the content of a TOML file; ``path`` gives its name, and appears in errors."""
    fields = _strip(parse_toml(content, path))
    schema = fields.get("schema")
    if type(schema) is not int or schema < 1:
        raise FileError(path, f"does not say how it is written; begin it with schema = {SCHEMA}")
    refuse_newer(path, schema, SCHEMA)
    prompt = check_shape(fields, path, Prompt)
    try:
        _check_keys(fields, {"schema", *Prompt.__dataclass_fields__} - {"name"}, "")
        for key, shape in (("answer", PromptAnswer), ("example", PromptExample)):
            for number, table in enumerate(fields.get(key, []), 1):
                _check_keys(table, shape.__dataclass_fields__, f"{key} {number}: ")
        _check_templates(prompt)
        _check_answers(prompt)
    except AcidtestError as error:
        raise FileError(path, str(error)) from error
    name, option, cue = path.name[: -len(ENDING)], prompt.option or Prompt.option, prompt.cue or Prompt.cue
    return replace(prompt, name=name, option=option, cue=cue)


def _strip(value: Any) -> Any:
    """A TOML value with all its texts stripped."""
    if isinstance(value, dict):
        return {key: _strip(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_strip(inner) for inner in value]
    return value.strip() if isinstance(value, str) else value


def _check_keys(table: Mapping[str, Any], known: Collection[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise AcidtestError(f"{where}{UnknownNameError('key', key, known)}")


def _check_templates(prompt: Prompt) -> None:
    for key, template, slots in (
        ("system", prompt.system, _SLOTS),
        ("user", prompt.user, _SLOTS),
        ("option", prompt.option, _OPTION_SLOTS),
    ):
        for slot in _SLOT.findall(template):
            if slot not in slots:
                raise AcidtestError(f"{key}: {UnknownNameError('placeholder', slot, slots)}")
    for slot in ("premise", "hypothesis"):
        if f"{{{slot}}}" not in prompt.user:
            raise AcidtestError(f"user does not say where the {slot} goes; write {{{slot}}} there")


def _check_answers(prompt: Prompt) -> None:
    for number, answer in enumerate(prompt.answer, 1):
        if answer.label not in (*COLUMNS, ABSTAIN):
            raise AcidtestError(f"answer {number}: label {answer.label!r} is not {', '.join((*COLUMNS, ABSTAIN))}")
        if prompt.symbols and answer.words:
            raise AcidtestError(f"answer {number}: symbols and words exclude each other; remove one")
        if not prompt.symbols and not answer.words:
            raise AcidtestError(f'answer {number}: says no words that mean {answer.label}; write words = ["…"]')
    abstentions = [answer for answer in prompt.answer if answer.label == ABSTAIN]
    if len(abstentions) > 1:
        raise AcidtestError(f"has {len(abstentions)} answers with label {ABSTAIN!r}; write one, with all its words")
    labels = sorted(answer.label for answer in prompt.answer if answer.label != ABSTAIN)
    if labels not in (sorted(LABELS), sorted(TWO_WAY_LABELS)):
        raise AcidtestError(
            f"has answers for {', '.join(labels) or 'no label'}; write one [[answer]] for each of {', '.join(LABELS)}, "
            f"or for {' and '.join(TWO_WAY_LABELS)}"
        )
    if prompt.symbols and len(prompt.symbols) != len(prompt.answer):
        raise AcidtestError(f"has {len(prompt.symbols)} symbols for {len(prompt.answer)} answers; write one for each")
    words = [word.lower() for answer in prompt.answer for word in answer.words] + [
        word.lower() for word in prompt.symbols
    ]
    if "" in words:
        raise AcidtestError("has an empty word or symbol; write at least one letter")
    repeated = [word for place, word in enumerate(words) if word in words[:place]]
    if repeated:
        raise AcidtestError(f"the word {repeated[0]!r} stands there twice; a reply with it would be ambiguous")
    for number, example in enumerate(prompt.example, 1):
        if not example.premise or not example.hypothesis or example.label not in labels:
            raise AcidtestError(f"example {number}: needs premise, hypothesis and a label that is {', '.join(labels)}")
