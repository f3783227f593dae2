"""Suites as tasks of Inspect: ``inspect eval acidtest/hans -T seed=7``. Its entry point names this module.

There is a task for every suite of the catalogue, with the options of that suite; ``-T control=true`` asks the untouched
pairs that it was made from.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
)
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    accuracy,
    metric,
    scorer,
    stderr,
    value_to_float,
)
from inspect_ai.solver import TaskState, generate

from acidtest.core.logs import NOTE, log
from acidtest.core.structured import check_shape, read_json
from acidtest.io.blocks import scan_text
from acidtest.io.jsonlines import numbered_objects
from acidtest.models.harness_tasks import TaskRecipe, is_right, plain_task_name, read_answer
from acidtest.suites.catalogue import SUITES
from acidtest.workflows.harness_suites import (
    CARD_ENDING,
    RECIPE_OPTIONS,
    ChatRow,
    TaskCard,
    chat_rows,
    make_recipe,
    make_task,
)

MAX_TOKENS = 16
"""Tokens of a reply, unless ``--max-tokens`` says another number: as many as ``endpoint:`` models have."""

RECIPE = "acidtest"
"""The key of a task's metadata that holds its recipe."""

_ROLES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


def suite_task(suite: str, options: Mapping[str, Any]) -> Task:
    """The task that asks the pairs of a suite; ``options`` are those of every task and those of the suite."""
    harness_task = make_task(make_recipe(suite, {name: value for name, value in options.items() if value is not None}))
    samples = [_sample(row) for row in chat_rows(harness_task)]
    return _task(samples, harness_task.recipe, version=harness_task.suite.card.version)


def file_task(path: str | Path) -> Task:
    """The task that asks the pairs in a file of ``acidtest export inspect``."""
    card = read_json(f"{path}{CARD_ENDING}", TaskCard)
    rows = (numbered for block in scan_text(Path(path)).blocks() for numbered in numbered_objects(Path(path), block))
    samples = [_sample(check_shape(row, f"{path}:{number}", ChatRow)) for number, row in rows]
    return _task(samples, card.recipe, version=card.version)


def _task(samples: list[Sample], recipe: TaskRecipe, *, version: int) -> Task:
    factors = [name for name in (samples[0].metadata or {} if samples else {}) if name != "group"]
    return Task(
        dataset=MemoryDataset(samples, name=recipe.suite),
        solver=generate(),
        scorer=gold_label(words=dict(recipe.words), two_way=recipe.judged_by == "two-way"),
        metrics=[accuracy(), stderr(cluster="group"), unanswered(), *map(accuracy_by, factors)],
        config=GenerateConfig(temperature=0.0, max_tokens=MAX_TOKENS),
        version=version,
        metadata={RECIPE: recipe.to_json()},
    )


def _sample(row: ChatRow) -> Sample:
    messages = [_ROLES[turn["role"]](content=turn["content"]) for turn in row.input]
    return Sample(id=row.id, input=messages, target=row.target, metadata=row.metadata)


@scorer(metrics=[accuracy(), stderr(cluster="group")])
def gold_label(words: dict[str, str], two_way: bool = False) -> Scorer:
    """Whether the label that a reply names is in the gold set; ``words`` maps the words of replies to labels.

    A reply that names none, several or a negated one is no answer, which counts as wrong.
    """

    async def score(state: TaskState, target: Target) -> Score:
        answer = read_answer(state.output.completion, words)
        if answer.label is None:
            return Score(value=NOANSWER, explanation=answer.problem)
        right = is_right(answer.row, target.text, resolution="two-way" if two_way else "three-way")
        return Score(value=CORRECT if right else INCORRECT, answer=answer.label)

    return score


@metric
def unanswered() -> Metric:
    """Share of samples without an answer."""

    def share(scores: list[SampleScore]) -> float:
        # Inspect has made numbers of values: no answer differs from a wrong one in having no label.
        return sum(score.score.answer is None for score in scores) / len(scores) if scores else float("nan")

    return share


@metric
def accuracy_by(factor: str) -> Metric:
    """Accuracy on the samples with each value of a factor; a sample may have several, as with categories."""
    to_float = value_to_float()

    def by_value(scores: list[SampleScore]) -> Value:
        values: dict[str, list[float]] = {}
        for score in scores:
            cell = (score.sample_metadata or {}).get(factor, ())
            for value in [cell] if isinstance(cell, str) else cell:
                values.setdefault(f"{factor}={value}", []).append(to_float(score.score.value))
        return {name: sum(right) / len(right) for name, right in sorted(values.items())}

    return by_value


def _add_task(suite: str) -> None:
    """Register the task of a suite with Inspect, with a parameter for each option."""

    def make(**options: Any) -> Task:
        return suite_task(suite, options)

    keyword = inspect.Parameter.KEYWORD_ONLY
    names = (*RECIPE_OPTIONS, *SUITES[suite].options)
    make.__name__ = plain_task_name(suite)
    make.__doc__ = SUITES[suite].summary
    make.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, keyword, default=None, annotation=Any) for name in names], return_annotation=Task
    )
    task(name=make.__name__)(make)


def _rename_level(record: logging.LogRecord) -> bool:
    """Call a note INFO where Inspect logs too: it fails on the names of levels that it does not know."""
    if record.levelno == NOTE and any("inspect_ai" in type(handler).__module__ for handler in logging.root.handlers):
        record.levelname = "INFO"
    return True


log.addFilter(_rename_level)

for _suite in SUITES:
    _add_task(_suite)
