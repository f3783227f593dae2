"""``acidtest gate`` with the files it writes for other programs, as a user types it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from acidtest.cli.app import main
from acidtest.workflows.evaluations import run


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Runs of two models, the second of which is worse."""
    folder = tmp_path_factory.mktemp("runs")
    for name in ("overlap", "random"):
        run(f"baseline:{name}", "hans", limit=300, output=folder / name, page=False)
    return str(folder / "overlap"), str(folder / "random")


def test_files_and_annotations_leave_the_json_alone(
    folders: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    files = {"junit": "gate.xml", "sarif": "gate.sarif", "markdown": "gate.md"}
    options = [part for name, file in files.items() for part in (f"--{name}", file)]
    assert main(["gate", *folders, *options, "--github", "--json"]) == 1
    captured = capsys.readouterr()
    printed = json.loads(captured.out)
    assert {name: printed[name] for name in files} == files
    assert printed["state"] == "fail"
    assert captured.err.startswith("::error title=acidtest gate%3A fail::Fail: ")
    checks = [check["name"] for check in printed["comparisons"][0]["checks"]]
    assert [case.get("name") for case in ET.parse("gate.xml").iter("testcase")] == ["verdict", *checks]
    assert json.loads(Path("gate.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"
    assert Path("summary.md").read_text(encoding="utf-8") == Path("gate.md").read_text(encoding="utf-8")


def test_the_comment_shows_pairs_that_are_newly_wrong(
    folders: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["gate", *folders, "--markdown", "gate.md"]) == 1
    assert capsys.readouterr().out.endswith("markdown: gate.md\n")
    comment = Path("gate.md").read_text(encoding="utf-8")
    assert "5 examples of pairs newly wrong" in comment
    assert "gold <code>entailment</code>; <code>baseline:overlap</code>: <code>entailment" in comment


def test_a_file_of_somebody_else_is_not_replaced(
    folders: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("mine", encoding="utf-8")
    assert main(["gate", *folders, "--markdown", str(notes)]) == 2
    assert "exists and was not written by acidtest" in capsys.readouterr().err
    assert notes.read_text(encoding="utf-8") == "mine"


def test_a_suite_that_the_candidate_was_not_asked_is_in_every_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run("baseline:overlap", ["hans", "stress/negation"], limit=600, output="release", page=False)
    run("baseline:overlap", "hans", limit=600, output="candidate", page=False)
    assert main(["gate", "release", "candidate", "--junit", "gate.xml", "--markdown", "gate.md"]) == 4
    headline = "stress/negation and stress/negation#control have no row in common: same suites, limit and seed?"
    assert headline in " ".join(capsys.readouterr().out.split())
    comment = Path("gate.md").read_text(encoding="utf-8")
    assert "❔ undecided" in comment
    assert "stress/negation: the candidate was not asked this suite" in comment.replace("</code>", "")
    errors = {case.get("name") for case in ET.parse("gate.xml").iter("testcase") if case.find("error") is not None}
    assert errors == {"stress/negation", "stress/negation#control"}
