"""Suites as tasks of lm-evaluation-harness: the functions that the files of ``acidtest export lm-eval`` name.

``load_suite`` makes a fresh suite when the harness starts (``--metadata '{"seed": 7}'``), ``score_choices`` and
``score_reply`` say whether an answer is in the gold set, and ``slice_mean`` is accuracy on the rows of a slice.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, get_args

from acidtest.core.errors import AcidtestError, import_optional
from acidtest.core.labels import Probabilities
from acidtest.core.structured import parse_json
from acidtest.models.harness_tasks import TaskRecipe, arranged_prompt, choice_probabilities, is_right, read_answer
from acidtest.models.prompts import ArrangedPrompt
from acidtest.suites.catalogue import SUITES
from acidtest.workflows.harness_suites import (
    RECIPE_OPTIONS,
    HarnessTask,
    breakdown_columns,
    make_recipe,
    make_task,
    row_slices,
)

Api = Literal["completions", "chat"]
"""How a pair is asked: as one text to be continued, or, with --apply_chat_template, as messages of a chat."""

_ALIKE = 0.75
"""How alike two names are when one is taken for a slip of the other."""


def load_suite(
    suite: str, *, slices: Sequence[str] = (), control: bool = False, api: Api = "completions", **metadata: Any
) -> dict[str, Any]:
    """The rows of a suite as the split ``test`` of a data set; called by the harness with a task's metadata.

    ``metadata`` holds seed, limit, n, source, prompt and the options of the suite; the harness adds the arguments of
    the model, which are left aside. ``slices`` are the ones that the task's file lists metrics for.
    """
    (datasets,) = import_optional("datasets", extra="lm-eval", work="a task of lm-evaluation-harness")
    if api not in get_args(Api):
        raise AcidtestError(f"api is {' or '.join(get_args(Api))}, not {api!r}")
    known = {*RECIPE_OPTIONS, *(SUITES[suite].options if suite in SUITES else ())}
    # A name that is like none of ours is an argument of the model, or the harness's own.
    for name in sorted(metadata.keys() - known - {"version", "config_source"}):
        if near := difflib.get_close_matches(name, known, n=1, cutoff=_ALIKE):
            raise AcidtestError(f"metadata {name!r} is not an option of {suite}; did you mean {near[0]!r}?")
    options = {name: value for name, value in metadata.items() if name in known}
    task = make_task(make_recipe(suite, {**options, "control": control}))
    return {"test": datasets.Dataset.from_dict(_columns(task, slices, api))}


def _columns(task: HarnessTask, slices: Sequence[str], api: Api) -> dict[str, list[Any]]:
    """The columns of the data set: the pairs as asked, their gold, and all that ``acidtest score`` needs."""
    prompt = arranged_prompt(task.recipe.prompt)
    rows = task.suite.frame.select("id", "premise", "hypothesis", "label", "group").collect()
    texts = [_prompt_texts(prompt, api, premise, hypothesis) for premise, hypothesis in zip(*rows[:, 1:3], strict=True)]
    members = [row_slices(row) for row in breakdown_columns(task.suite).iter_rows(named=True)]
    return {
        **rows.to_dict(as_series=False),
        "system": [system for system, _ in texts],
        "prompt": [text for _, text in texts],
        "choices": [list(task.recipe.choices)] * rows.height,
        "slices": [list(slices)] * rows.height,
        "within": [[name in row for name in slices] for row in members],
        "recipe": [task.recipe.to_json()] * rows.height,
    }


def _prompt_texts(prompt: ArrangedPrompt, api: Api, premise: str, hypothesis: str) -> tuple[str, str]:
    """The system's message and the user's; for completions, nothing and one text to be continued."""
    if api == "completions":
        return "", prompt.text(premise, hypothesis)
    if prompt.prompt.example:
        raise AcidtestError(
            f"prompt {prompt.prompt.name!r} shows examples as earlier turns of a chat, which this harness cannot send; "
            f"use the api completions or a prompt without examples"
        )
    *system, question = prompt.messages(premise, hypothesis)
    return "".join(message["content"] for message in system), question["content"]


def score_choices(doc: Mapping[str, Any], results: Sequence[tuple[float, bool]]) -> dict[str, float | None]:
    """The metrics of a row, given the log-likelihood of each answer."""
    recipe = _recipe(doc["recipe"])
    row = choice_probabilities([value for value, _ in results], list(recipe.choices.values()))
    return _metrics(doc, row, recipe)


def score_reply(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float | None]:
    """The metrics of a row, given the text of a reply; one that names no label is unanswered and wrong."""
    recipe = _recipe(doc["recipe"])
    answer = read_answer(results[0], recipe.words)
    return {**_metrics(doc, answer.row, recipe), "unanswered": float(answer.label is None)}


def slice_mean(values: Sequence[float | None]) -> float:
    """The mean over the rows of a slice; NaN if no row was asked that belongs to it.

    Rows of other slices are None: the harness takes the number of rows of a task from any one of its metrics.
    """
    present = [value for value in values if value is not None]
    return sum(present) / len(present) if present else float("nan")


@cache
def _recipe(text: str) -> TaskRecipe:
    return parse_json(text.encode(), "the recipe of the task", TaskRecipe)


def _metrics(doc: Mapping[str, Any], row: Probabilities, recipe: TaskRecipe) -> dict[str, float | None]:
    right = float(is_right(row, doc["label"], resolution=recipe.judged_by))
    members = zip(doc["slices"], doc["within"], strict=True)
    return {"acc": right, **{f"acc:{name}": right if within else None for name, within in members}}
