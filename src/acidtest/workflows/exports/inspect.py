"""Suites as files of samples for Inspect, with tasks that read them.

Tasks of the installed package (``acidtest/hans``) make their suites when they start. Files are for pairs that are not
to change, that are handed on, or whose task one wants to edit.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from acidtest.core.files import replace_folder, write_json, write_text
from acidtest.version import __version__
from acidtest.workflows.batteries import STANDARD
from acidtest.workflows.exports import export_format, refuse_occupied
from acidtest.workflows.harness_suites import CARD_ENDING, HarnessTask, TaskCard, chat_rows, named_tasks

FORMAT = "inspect"

TASKS = "acidtest_tasks.py"

_HEAD = f'''"""Written by acidtest export inspect ({__version__}): a task for each file of pairs in this folder."""

from pathlib import Path

from inspect_ai import Task, task

from acidtest.integrations.inspect_tasks import file_task

FOLDER = Path(__file__).parent
'''

_TASK = """

@task
def {name}() -> Task:
    return file_task(FOLDER / "{name}.jsonl")
"""


@dataclass(frozen=True)
class ExportedSamples:
    """The tasks that were written, and the number of pairs of each."""

    folder: Path
    tasks: dict[str, int]

    def describe(self) -> str:
        lines = [f"{name}: {rows:,} pairs" for name, rows in self.tasks.items()]
        command = f"inspect eval {self.folder / TASKS}@{next(iter(self.tasks))} --log-dir LOGS --model …"
        return "\n".join([*lines, f"run one: {command}", "then: acidtest score LOGS"])

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, "folder": str(self.folder), "tasks": self.tasks}


@export_format(FORMAT)
def inspect(
    *,
    output: Annotated[Path, "The folder to write them to.", "-o"],
    suites: Annotated[list[str] | None, "Names, globs and files. Default: the standard battery.", "-s"] = None,
    limit: Annotated[int | None, "A stratified sample of N pairs per suite."] = None,
    prompt: Annotated[str, "How pairs are asked: a prompt by name, or a .toml file."] = "labels",
    seed: Annotated[int, "The seed of the suites."] = 0,
) -> ExportedSamples:
    """Write suites as files of samples for Inspect, and a file of tasks that read them.

    Without files, inspect eval acidtest/hans -T seed=7 makes a suite when it starts: export those that must not change.
    """
    refuse_occupied(output, endings=(".jsonl", CARD_ENDING, TASKS), mark=TASKS)
    settings = {"seed": seed, "limit": limit, "prompt": prompt}
    written: dict[str, int] = {}
    with replace_folder(output) as temporary:
        for name, task in named_tasks(suites or STANDARD, settings):
            written[name] = _write_samples(task, temporary / f"{name}.jsonl")
        write_text(temporary / TASKS, _HEAD + "".join(_TASK.format(name=name) for name in written))
    return ExportedSamples(output, written)


def _write_samples(task: HarnessTask, path: Path) -> int:
    """Write the pairs of a task and its card; the number of pairs."""
    lines = [json.dumps(asdict(row), ensure_ascii=False) for row in chat_rows(task)]
    write_text(path, "\n".join(lines) + "\n")
    write_json(f"{path}{CARD_ENDING}", asdict(TaskCard(task.recipe, task.suite.card.version)))
    return len(lines)
