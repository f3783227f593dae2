"""Tasks of evaluation harnesses (lm-evaluation-harness, Inspect): what they ask, and what an answer means there.

The same functions serve the harness while it runs and acidtest when it reads the log, so that both count alike.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
import numpy.typing as npt

from acidtest.core.labels import GOLD_MASKS, LABELS, Collapse, Probabilities, coarsen_gold, gold_masks, verdicts
from acidtest.core.model import Resolution
from acidtest.core.suite import ABOUT_CLAIMS, Argument
from acidtest.models.prompts import ABSTAIN, COLUMNS, ArrangedPrompt, label_probabilities, load_prompt
from acidtest.models.replies import read_text

PREFIX = "acidtest_"
"""What names of our tasks begin with."""

CONTROL_ENDING, REPLY_ENDING = "_control", "_generate"


@dataclass(frozen=True)
class TaskRecipe:
    """Everything that decides which pairs a task asks and in which words; harnesses log it, so that we can read it.

    ``n`` is rows per cell or source pairs, ``source`` the corpus, ``control`` asks for the untouched pairs of the
    suite. ``choices`` maps the word for each answer to its label, ``words`` all words that a reply may use.
    ``fingerprint`` is that of the suite.
    """

    suite: str
    control: bool = False
    seed: int = 0
    limit: int | None = None
    n: int | None = None
    source: str | None = None
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    prompt: str = "labels"
    choices: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    fingerprint: str = ""

    @property
    def resolution(self) -> Resolution:
        """Whether its prompt has three answers or two."""
        return "two-way" if "non-entailment" in self.choices.values() else "three-way"

    @property
    def judged_by(self) -> Resolution:
        """How many labels decide what is right: two for claims, whatever the prompt offers."""
        return "two-way" if self.suite.startswith(ABOUT_CLAIMS) else self.resolution

    def to_json(self) -> str:
        """The recipe on one line, without what is not set."""
        return json.dumps({name: value for name, value in asdict(self).items() if value}, ensure_ascii=False)


def plain_task_name(suite: str) -> str:
    """The name of a suite as Python and YAML take it, such as ``stress_length_mismatch``."""
    name = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in suite).strip("_")
    return name if name[:1].isalpha() else f"suite_{name}"


def arranged_prompt(name: str) -> ArrangedPrompt:
    """A prompt with its answers in the order of its file."""
    prompt = load_prompt(name)
    return prompt.arrange(tuple(range(len(prompt.answer))))


def prompt_choices(prompt: ArrangedPrompt) -> dict[str, str]:
    """The word that the model is shown for each answer, and the label it means."""
    return {answer.words[0]: answer.label for answer in prompt.answers}


def choice_probabilities(log_likelihoods: Sequence[float], labels: Sequence[str]) -> Probabilities:
    """Probabilities of the three labels, given the log-likelihood of the answer that means each of ``labels``.

    NaN, no answer, if any of them is not a number or all are minus infinity.
    """
    values = np.array(log_likelihoods, dtype=np.float64)
    if np.isnan(values).any() or not np.isfinite(values.max(initial=-np.inf)):
        return np.full(len(LABELS), np.nan, dtype=np.float32)
    shares = np.exp(values - values.max())
    return label_probabilities(dict(zip(labels, (shares / shares.sum()).tolist(), strict=True)))


@dataclass(frozen=True)
class ReplyAnswer:
    """The label that a reply names, or None and the problem that prevents an answer."""

    label: str | None
    problem: str = ""

    @property
    def row(self) -> Probabilities:
        """1 for the label; NaN without an answer."""
        row = np.full(len(LABELS), np.nan if self.label is None else 0.0, dtype=np.float32)
        if self.label is not None:
            row[COLUMNS[self.label]] = 1.0
        return row


def read_answer(reply: str, words: Mapping[str, str]) -> ReplyAnswer:
    """What a reply means, read as those of ``endpoint:`` models are."""
    meaning = read_text(reply, words)
    if ABSTAIN in meaning.shares:
        return ReplyAnswer(None, "the model abstained")
    return ReplyAnswer(None, meaning.problem) if meaning.problem else ReplyAnswer(next(iter(meaning.shares)))


def is_right(row: Probabilities, gold: str, *, resolution: Resolution) -> bool:
    """Whether an answer is in the gold set of this name; no answer is wrong."""
    return bool(verdicts(row[None], _masks(gold, resolution), collapse=Collapse())[0])


def accepts_all(gold: str, resolution: Resolution) -> bool:
    """Whether a gold set accepts every answer that a prompt with two or three of them has."""
    return int(_masks(gold, resolution)[0]) == GOLD_MASKS["any"]


def _masks(gold: str, resolution: Resolution) -> npt.NDArray[np.uint8]:
    masks = gold_masks([gold])
    return coarsen_gold(masks) if resolution == "two-way" else masks
