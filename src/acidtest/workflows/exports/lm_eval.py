"""Suites as tasks of lm-evaluation-harness: files that name a suite, which the harness makes when it starts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from acidtest.core.files import replace_folder, write_text
from acidtest.models.harness_tasks import CONTROL_ENDING, PREFIX, REPLY_ENDING
from acidtest.version import __version__
from acidtest.workflows.batteries import STANDARD
from acidtest.workflows.exports import export_format, refuse_occupied
from acidtest.workflows.harness_suites import HarnessTask, breakdown_columns, named_tasks, slice_names

FORMAT = "lm-eval"

_MODULE = "acidtest.integrations.lm_eval"

_FILES = {
    "_acidtest.yaml": f"""custom_dataset: !function {_MODULE}.load_suite
test_split: test
description: "{{{{system}}}}"
doc_to_text: prompt
doc_to_target: label
""",
    "_acidtest_choices.yaml": f"""include: _acidtest.yaml
output_type: multiple_choice
doc_to_choice: choices
process_results: !function {_MODULE}.score_choices
""",
    "_acidtest_replies.yaml": f"""include: _acidtest.yaml
output_type: generate_until
generation_kwargs:
  until: ["\\n\\n"]
  max_gen_toks: 16
  do_sample: false
process_results: !function {_MODULE}.score_reply
""",
}
"""What tasks include: the data, and how answers become metrics in either form."""

_FUNCTIONS = f"{_MODULE}.py"
"""Harnesses before 0.4.12 look for functions in a file of this name only, later ones in installed modules."""


@dataclass(frozen=True)
class ExportedTasks:
    """The tasks that were written, group by group."""

    folder: Path
    groups: dict[str, list[str]]

    def describe(self) -> str:
        counts = ", ".join(f"{name} {len(tasks)}" for name, tasks in self.groups.items())
        return (
            f"groups, with their number of tasks: {counts}\n"
            f"run one: lm_eval run --include_path {self.folder} --tasks {next(iter(self.groups))} "
            f"--metadata '{{\"seed\": 7}}' --log_samples --output_path OUT --model …\n"
            f"then: acidtest score OUT"
        )

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, "folder": str(self.folder), "groups": self.groups}


@export_format(FORMAT)
def lm_eval(
    *,
    output: Annotated[Path, "The folder to write them to, for --include_path of the harness.", "-o"],
    suites: Annotated[list[str] | None, "Names, globs and files. Default: the standard battery.", "-s"] = None,
    limit: Annotated[int | None, "A stratified sample of N pairs per suite, unless --metadata says another."] = None,
    prompt: Annotated[str, "How pairs are asked: a prompt by name, or a .toml file."] = "labels",
    seed: Annotated[int, "The seed, unless --metadata says another."] = 0,
) -> ExportedTasks:
    """Write suites as tasks of lm-evaluation-harness, which makes them afresh from a seed when it starts.

    Every suite is a task that compares the likelihood of answers (acidtest_hans) and one that reads a reply
    (acidtest_hans_generate); controls are tasks of their own. The options of suites go into --metadata of the harness.
    """
    refuse_occupied(output, endings=(".yaml", _FUNCTIONS), mark="_acidtest.yaml")
    settings = {"seed": seed, "limit": limit, "prompt": str(Path(prompt).resolve()) if _is_file(prompt) else prompt}
    tasks: list[tuple[str, str]] = []
    with replace_folder(output) as temporary:
        for name, text in _FILES.items():
            _write(temporary / name, text)
        _write(temporary / _FUNCTIONS, f"from {_MODULE} import load_suite, score_choices, score_reply, slice_mean\n")
        for name, task in named_tasks(suites or STANDARD, {**settings, "limit": None}):
            tasks += _both_forms(PREFIX + name, task, settings)
        for name, text in tasks:
            _write(temporary / f"{name}.yaml", text)
        groups = _group([name for name, _ in tasks])
        for name, members in groups.items():
            _write(temporary / f"{name}.yaml", _group_text(name, members))
    return ExportedTasks(output, groups)


def _is_file(prompt: str) -> bool:
    return prompt.endswith(".toml")


def _both_forms(name: str, task: HarnessTask, settings: dict[str, Any]) -> list[tuple[str, str]]:
    """The name and text of the task that compares likelihoods, and of the one that reads a reply."""
    facts: dict[str, Any] = {"suite": task.recipe.suite, "slices": slice_names(breakdown_columns(task.suite))}
    facts |= {"control": True} if task.recipe.control else {}
    given = {key: value for key, value in settings.items() if value is not None}
    metadata = {"version": task.suite.card.version, **given}
    choices = _task_text(name, "_acidtest_choices.yaml", facts, metadata, ())
    name_of_replies = name + REPLY_ENDING
    replies = _task_text(name_of_replies, "_acidtest_replies.yaml", facts, metadata, ("unanswered",))
    return [(name, choices), (name_of_replies, replies)]


def _task_text(name: str, base: str, facts: dict[str, Any], metadata: dict[str, Any], extra: Sequence[str]) -> str:
    # JSON is YAML, and writes any text without surprises.
    lines = [f"include: {base}", f"task: {name}", f"dataset_kwargs: {_json(facts)}", f"metadata: {_json(metadata)}"]
    lines += ["metric_list:"]
    for metric in ("acc", *extra):
        better = str(metric == "acc").lower()
        lines.append(f"  - {{metric: {metric}, aggregation: mean, higher_is_better: {better}}}")
    for part in facts["slices"]:
        mean = f"!function {_MODULE}.slice_mean"
        lines += [f"  - metric: {_json(f'acc:{part}')}", f"    aggregation: {mean}", "    higher_is_better: true"]
    return "\n".join(lines) + "\n"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _group(tasks: Sequence[str]) -> dict[str, list[str]]:
    """Tasks by the group that they are in: suites and controls, by likelihood and by reply."""
    groups: dict[str, list[str]] = {}
    for task in tasks:
        ending = REPLY_ENDING if task.endswith(REPLY_ENDING) else ""
        control = CONTROL_ENDING if task.removesuffix(ending).endswith(CONTROL_ENDING) else ""
        groups.setdefault(PREFIX.strip("_") + control + ending, []).append(task)
    return groups


def _group_text(name: str, tasks: Sequence[str]) -> str:
    listed = "\n".join(f"  - {task}" for task in tasks)
    return f"""group: {name}
task:
{listed}
aggregate_metric_list:
  - {{metric: acc, aggregation: mean, weight_by_size: false}}
metadata: {{version: 1}}
"""


def _write(path: Path, text: str) -> None:
    write_text(path, f"# Written by acidtest export lm-eval ({__version__}).\n{text}")
