"""A gate's decision in GitHub Actions: annotations of the job, and its summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from acidtest.core.errors import FileError
from acidtest.core.escaping import escape_command
from acidtest.studies.gate.result import GateResult, GateState
from acidtest.workflows.gate_reports.markdown import (
    Outcome,
    check_title,
    describe_outcome,
    markdown_comment,
    outcomes,
    policy_file,
)

SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable that names the file of a step's summary."""

MOST_ANNOTATIONS = 10
"""GitHub shows this many annotations of a level and step, and drops the others without a word."""

_COMMANDS = {Outcome.FAILED: "error", Outcome.UNDECIDED: "warning", Outcome.TOLERATED: "notice"}
_VERDICTS = {GateState.PASS: "notice", GateState.FAIL: "error", GateState.UNDECIDED: "warning"}


def github_report(result: GateResult, environment: Mapping[str, str]) -> str:
    """Append the decision to the summary of the step, and give the commands that annotate it, to be printed.

    Outside GitHub Actions there is no summary to write.
    """
    summary = environment.get(SUMMARY)
    if summary:
        try:
            with Path(summary).open("a", encoding="utf-8", newline="\n") as file:
                file.write(markdown_comment(result))
        except OSError as error:
            raise FileError(summary, f"cannot be written: {error.strerror or error}; check {SUMMARY}") from error
    return "\n".join(workflow_commands(result))


def workflow_commands(result: GateResult) -> Iterator[str]:
    """Workflow commands: the headline first, then the checks that did not pass, as many as GitHub shows."""
    counts = dict.fromkeys(_COMMANDS.values(), 0)
    file = policy_file(result)
    place = {"file": file.as_posix()} if file else {}
    verdict = _VERDICTS[result.state]
    counts[verdict] += 1
    yield _command(verdict, result.headline, {"title": f"acidtest gate: {result.state.value}"})
    for comparison, check, shown in outcomes(result):
        command = _COMMANDS.get(shown)
        if command and counts[command] < MOST_ANNOTATIONS:
            counts[command] += 1
            text = f"{describe_outcome(check)} (against {comparison.baseline.name})"
            yield _command(command, text, {"title": f"{check_title(check)}: {check.state.value}", **place})


def _command(name: str, text: str, properties: Mapping[str, str]) -> str:
    given = ",".join(f"{key}={escape_command(value, is_property=True)}" for key, value in properties.items())
    return f"::{name} {given}::{escape_command(text)}"
