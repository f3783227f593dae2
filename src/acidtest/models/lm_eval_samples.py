"""Logs of lm-evaluation-harness: the files ``samples_TASK_DATE.jsonl`` that ``--log_samples`` writes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acidtest.core.errors import FileError
from acidtest.core.files import chunks
from acidtest.core.labels import Probabilities
from acidtest.core.structured import check_shape, read_json
from acidtest.io.blocks import scan_text
from acidtest.io.jsonlines import numbered_objects
from acidtest.models.harness_logs import HarnessLog, mean_label, parse_recipe
from acidtest.models.harness_tasks import TaskRecipe, choice_probabilities, read_answer

HOST = "lm-eval"

SAMPLES = "samples_acidtest_"
"""How the names of logs of our tasks begin."""

_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")
_NOT_OURS = "a task of acidtest export lm-eval logs it with every row"


@dataclass(frozen=True)
class SampleDoc:
    """What a task of ours logs of a row: its id, and the recipe of the task."""

    id: str
    recipe: str


@dataclass(frozen=True)
class SampleLine:
    """A line of a file of samples: the row, and what the model answered after filters."""

    doc: SampleDoc
    filtered_resps: list[Any]


@dataclass(frozen=True)
class ResultsFile:
    """What ``results_DATE.json`` says about the model."""

    model_source: str = ""
    model_name: str = ""


def is_samples_file(path: Path) -> bool:
    """Whether a file is one of samples, by the keys of its first line."""
    if path.suffix != ".jsonl" or not path.is_file():
        return False
    head = next(chunks(path), b"").partition(b"\n")[0]
    return all(key in head for key in (b'"doc"', b'"doc_id"', b'"filtered_resps"'))


def read_samples(path: Path) -> HarnessLog:
    """The answers in a file of samples; likelihoods of answers become probabilities, replies become labels."""
    answers: dict[str, list[Probabilities]] = {}
    recipe, forms = None, set[bool]()
    lines = (numbered for block in scan_text(path).blocks() for numbered in numbered_objects(path, block))
    for number, line in lines:
        sample = check_shape(line, f"{path}:{number}", SampleLine, remedy=_NOT_OURS)
        if recipe is None:
            first, recipe = sample.doc.recipe, parse_recipe(sample.doc.recipe, f"{path}:{number}: doc.recipe")
        elif sample.doc.recipe != first:
            raise FileError(
                path, "the recipe of the task is another than on the first line; are these two files?", number
            )
        row, is_choice = _read_responses(sample.filtered_resps, recipe, path, number)
        forms.add(is_choice)
        answers.setdefault(sample.doc.id, []).append(row)
    if recipe is None:
        raise FileError(path, "holds nothing, not even one answer; was the run interrupted?")
    match = _NAME.fullmatch(path.name)
    return HarnessLog(
        path,
        HOST,
        match["task"] if match else path.stem,
        _model_name(path, match["date"] if match else ""),
        match["date"] if match else "",
        recipe,
        {identifier: mean_label(rows) for identifier, rows in answers.items()},
        probabilities=forms == {True},
    ).require_rows()


def _read_responses(responses: list[Any], recipe: TaskRecipe, path: Path, line: int) -> tuple[Probabilities, bool]:
    """The answer of a row, and whether it comes from likelihoods (``[[-1.2, false], …]``) or from a text."""
    labels = list(recipe.choices.values())
    if len(responses) == 1 and isinstance(responses[0], str):
        return read_answer(responses[0], recipe.words).row, False
    try:
        # Older versions write numbers, newer ones write them as text.
        values = [float(value) for value, _ in responses]
    except (TypeError, ValueError, OverflowError):
        values = []
    if len(values) != len(labels):
        problem = f"filtered_resps holds {f'{responses!r}'[:60]}, neither one reply nor the likelihoods of "
        raise FileError(path, f"{problem}{', '.join(recipe.choices)}", line)
    return choice_probabilities(values, labels), True


def _model_name(path: Path, date: str) -> str:
    """The model as the results beside the file name it, else the folder, which the harness names after the model."""
    results = path.with_name(f"results_{date}.json")
    if date and results.is_file():
        facts = read_json(results, ResultsFile, foreign=True)
        if facts.model_name:
            return "/".join(filter(None, (facts.model_source, facts.model_name)))
    return path.absolute().parent.name
