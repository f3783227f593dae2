"""action.yml and the snippets of docs/how-to/ci.md, run with bash as the runners of GitHub and GitLab do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

import acidtest
from acidtest.workflows.evaluations import run

ROOT = Path(__file__).parents[2]
SOURCE = Path(acidtest.__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]

PROGRAMS = {
    "acidtest": f'exec "{sys.executable}" -m acidtest "$@"',
    "python": 'echo "python $*" >> "$RECORD"',
    "pip": 'echo "pip $*" >> "$RECORD"',
    "gh": 'echo "gh $*" >> "$RECORD"; [ -z "$GH_FAILS" ] || exit 1; case "$*" in *--jq*) printf "%s" "$GH_IDS" ;; esac',
}
"""Programs that stand before those of the machine; all but acidtest only record how they were called."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Run folders of two models on 300 pairs of hans."""
    folder = tmp_path_factory.mktemp("runs")
    for name in ("overlap", "random"):
        run(f"baseline:{name}", "hans", limit=300, output=folder / name, page=False)
    return {name: folder / name for name in ("overlap", "random")}


@dataclass
class Job:
    """What a job did: its exit status, the outputs of the action, and what it wrote."""

    status: int = 0
    outputs: dict[str, str] = field(default_factory=dict)
    log: str = ""
    summary: str = ""
    record: str = ""


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The variables that a runner sets, with programs that record their calls before all others."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in PROGRAMS.items():
        (programs / name).write_text(f"#!/bin/bash\n{text}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    (tmp_path / "work").mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{SOURCE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        "RECORD": str(tmp_path / "record"),
        "RUNNER_TEMP": str(tmp_path / "temporary"),
        "GITHUB_ACTION_PATH": "/action",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }


Action = Callable[..., Job]


@pytest.fixture
def action(environment: dict[str, str], tmp_path: Path) -> Action:
    """Runs the steps of action.yml with some inputs until one fails."""

    def start(github: Mapping[str, Any] | None = None, gh: Mapping[str, str] | None = None, **inputs: str) -> Job:
        given = {name: str(value.get("default", "")) for name, value in ACTION["inputs"].items()} | inputs
        given = {name: substituted(value, {"github": {"token": "a-token"}}) for name, value in given.items()}
        assert given.keys() == ACTION["inputs"].keys()
        context: dict[str, Any] = {"inputs": given, "github": github or {}, "steps": {}}
        job = Job()
        for step in STEPS:
            if job.status or ("if" in step and not evaluate(step["if"], context)):
                continue
            Path(environment["GITHUB_OUTPUT"]).write_text("", encoding="utf-8")
            variables = {name: substituted(value, context) for name, value in step.get("env", {}).items()}
            # As GitHub starts a step with "shell: bash".
            script = tmp_path / "step.sh"
            script.write_text(step["run"], encoding="utf-8")
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
                env={**environment, "GH_IDS": "", "GH_FAILS": "", **(gh or {}), **variables},
                capture_output=True,
                text=True,
            )
            job.status = done.returncode
            job.log += done.stdout + done.stderr
            lines = Path(environment["GITHUB_OUTPUT"]).read_text(encoding="utf-8").splitlines()
            context["steps"][step.get("id", "")] = {"outputs": dict(line.split("=", 1) for line in lines)}
        job.outputs = {name: substituted(value["value"], context) for name, value in ACTION["outputs"].items()}
        job.summary, job.record = (
            path.read_text(encoding="utf-8") if path.exists() else ""
            for path in (Path(environment["GITHUB_STEP_SUMMARY"]), Path(environment["RECORD"]))
        )
        return job

    return start


def substituted(text: str, context: Mapping[str, Any]) -> str:
    """The text with the values of its ``${{ … }}``."""
    return re.sub(r"\$\{\{(.*?)\}\}", lambda match: str(evaluate(match[1], context)), str(text))


def evaluate(expression: str, context: Mapping[str, Any]) -> Any:
    """The value of an expression of GitHub, of those that action.yml uses: ``||``, ``&&``, ``==``, names and texts."""
    for sign in ("||", "&&"):
        if sign in expression:
            left, right = (evaluate(part, context) for part in expression.split(sign, 1))
            return (left or right) if sign == "||" else (left and right)
    if "==" in expression:
        left, right = (evaluate(part, context) for part in expression.split("==", 1))
        return left == right
    name = expression.strip()
    if name.startswith("'"):
        return name.strip("'")
    value: Any = context
    for part in name.split("."):
        value = value.get(part, "") if isinstance(value, Mapping) else ""
    return value


def test_a_model_as_good_as_the_baseline_passes(action: Action, runs: dict[str, Path]) -> None:
    job = action(baseline=str(runs["overlap"]), model="baseline:overlap", suites="hans", limit="300")
    assert job.status == 0, job.log
    assert job.outputs["state"] == "pass"
    assert sorted(path.name for path in Path(job.outputs["reports"]).iterdir()) == ["gate.md", "gate.sarif", "gate.xml"]
    assert job.summary.startswith("<!-- acidtest-gate -->\n### acidtest gate: ✅ pass")
    assert "::notice title=acidtest gate%3A pass::" in job.log
    assert job.record == "python -m pip install --quiet /action\n"


def test_labels_and_the_corpus_of_the_suites_are_passed_on(action: Action, tmp_path: Path) -> None:
    (tmp_path / "bin" / "acidtest").write_text('#!/bin/bash\necho "acidtest $*" >> "$RECORD"\n', encoding="utf-8")
    given = {"labels": "contradiction,entailment,neutral", "label-map": "LABEL_0=neutral", "from": "pairs.tsv"}
    job = action(baseline="release.acidtest", model="hf:x", install="false", **given)
    options = "--labels contradiction,entailment,neutral --label-map LABEL_0=neutral --from pairs.tsv"
    assert f" {options}\n" in job.record


def test_a_worse_run_fails_after_the_summary_is_written(action: Action, runs: dict[str, Path]) -> None:
    job = action(baseline=str(runs["overlap"]), run=str(runs["random"]), install="false")
    assert (job.status, job.outputs["state"]) == (1, "fail"), job.log
    assert "::error title=hans%3Alabel=entailment%3A fail::" in job.log
    assert "❌ fail" in job.summary
    assert job.record == ""


def test_an_undecided_gate_is_not_green_unless_that_is_asked_for(action: Action, runs: dict[str, Path]) -> None:
    asked = {"baseline": str(runs["overlap"]), "run": str(runs["overlap"]), "margin": "0.5"}
    job = action(**asked)
    assert (job.status, job.outputs["state"]) == (4, "undecided"), job.log
    assert action(**asked, undecided="pass").status == 0


def test_mistakes_end_the_job_before_anything_is_decided(action: Action, runs: dict[str, Path]) -> None:
    for asked in ({"baseline": "none.acidtest", "run": str(runs["overlap"])}, {"baseline": str(runs["overlap"])}):
        job = action(**asked, github=PULL_REQUEST, comment="true")
        assert (job.status, job.outputs["state"]) == (2, ""), job.log
        assert "gh " not in job.record


PULL_REQUEST = {"repository": "us/nli", "event": {"pull_request": {"number": 7}}}


def test_a_comment_is_written_once_and_updated_after(action: Action, tmp_path: Path) -> None:
    (tmp_path / "bin" / "acidtest").write_text("#!/bin/bash\n", encoding="utf-8")
    asked = {"baseline": "release.acidtest", "run": "candidate", "install": "false", "comment": "true"}
    body = "--field body=@"
    first = action(**asked, github=PULL_REQUEST)
    assert first.status == 0, first.log
    assert f"--method POST repos/us/nli/issues/7/comments {body}{first.outputs['reports']}/gate.md" in first.record
    later = action(**asked, github=PULL_REQUEST, gh={"GH_IDS": "41\n42\n"})
    assert f"--method PATCH repos/us/nli/issues/comments/41 {body}" in later.record
    refused = action(**asked, github=PULL_REQUEST, gh={"GH_FAILS": "yes"})
    assert refused.status == 0
    assert "::warning title=acidtest gate::no comment was written" in refused.log


def snippets(kind: str) -> list[str]:
    """The blocks of docs/how-to/ci.md of one kind, with a model and a limit that take no time."""
    page = (ROOT / "docs" / "how-to" / "ci.md").read_text(encoding="utf-8")
    quick = page.replace("hf:./model", "baseline:overlap").replace("3000", "300")
    return re.findall(rf"```{kind}\n(.*?)```", quick, flags=re.DOTALL)


def test_the_commands_of_the_docs_and_those_for_gitlab_run(environment: dict[str, str]) -> None:
    # What is typed, and not what it prints.
    baseline, compare = ("\n".join(re.findall(r"^\$ (.+)$", text, re.MULTILINE)) for text in snippets("console"))
    _, gitlab = map(yaml.safe_load, snippets("yaml"))
    job = gitlab["acidtest"]
    for script in (baseline, "\n".join(job["script"]), compare):
        # As GitLab starts a script.
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", script], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "markdown: gate.md"
    assert "Pass: on the only required slice the candidate is shown to lose less than the margin" in done.stdout
    for name in (job["artifacts"]["reports"]["junit"], *job["artifacts"]["paths"]):
        assert Path(name).is_file()
    assert Path(environment["RECORD"]).read_text(encoding="utf-8") == "pip install acidtest[hf]\n"


def test_the_workflow_of_the_docs_gives_the_action_inputs_that_it_has() -> None:
    workflow = yaml.safe_load(snippets("yaml")[0])
    *_, step = workflow["jobs"]["gate"]["steps"]
    assert step["with"].keys() <= ACTION["inputs"].keys()
    required = {name for name, facts in ACTION["inputs"].items() if facts.get("required")}
    assert required <= step["with"].keys()
    assert workflow["permissions"]["pull-requests"] == "write"


def test_no_input_is_pasted_into_a_script() -> None:
    assert not [step["name"] for step in STEPS if "${{" in step["run"]]
