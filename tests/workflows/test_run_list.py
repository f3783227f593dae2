"""The list of runs below a folder."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

import pytest

import acidtest
from acidtest.cli.app import main
from acidtest.core.errors import FileError
from acidtest.core.run import JOURNAL
from acidtest.workflows.run_list import UNFINISHED, describe_runs, list_runs


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    suites = [acidtest.generate("cues", n=1)]
    acidtest.run("baseline:overlap", suites=suites, output=folder / "first", page=False)
    acidtest.run(
        "baseline:random", suites="lexical/animals", output=folder / "deep" / "second", name="mine", page=False
    )
    (folder / "broken").mkdir()
    (folder / "broken" / "run.json").write_text('{"schema": 1, "suites": 3}')
    return folder


def test_runs_are_listed_newest_first_with_what_they_showed(folder: Path) -> None:
    second, first, broken = list_runs(folder)
    assert (first.model, first.suites, first.pairs) == ("baseline:overlap", ("cues",), 960)
    assert first.headline.startswith("It relies on overlapping words")
    assert (second.name, second.model, second.suites) == ("mine", "baseline:random", ("lexical/animals",))
    assert first.finished <= second.finished
    assert broken.headline.startswith("cannot be read: ")


def test_the_command_prints_a_table_and_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"3 runs in {folder}.")
    assert "mine: baseline:random" in printed
    assert "baseline:overlap" in printed
    assert main(["runs", str(folder), "--json"]) == 0
    assert [entry["name"] for entry in json.loads(capsys.readouterr().out)] == ["mine", "", ""]


def test_runs_are_named_by_paths_that_other_commands_take(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert main(["runs", "."]) == 0
    lines = capsys.readouterr().out.splitlines()
    paths = [line.split()[0] for line in lines if line.startswith(("deep", "first"))]
    assert paths == [str(Path("deep/second")), "first"]
    for path in paths:
        assert main(["report", path, "-o", "page.html"]) == 0


def test_names_that_a_shell_would_split_or_expand_are_quoted(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    names = ["two words", "copy (1)", "5$HOME", "it's", "a;b"]
    for name in names:
        shutil.copytree(folder / "first", tmp_path / name)
    assert main(["runs", str(tmp_path), "--json"]) == 0
    assert {Path(entry["folder"]).name for entry in json.loads(capsys.readouterr().out)} == set(names)
    shown = {row.name for row in describe_runs(list_runs(tmp_path), tmp_path).parts[0].rows}
    if sys.platform != "win32":
        assert {Path(path).name for name in shown for path in shlex.split(name)} == set(names)
        assert all(len(shlex.split(name)) == 1 for name in shown)


@pytest.mark.parametrize("named", [".", "..", "../inner"])
def test_the_sentence_names_a_folder_that_its_full_stop_does_not_change(
    named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    assert main(["runs", named]) == 0
    shown = {".": tmp_path / "inner", "..": tmp_path}.get(named, Path(named))
    assert capsys.readouterr().out.split() == ["0", "runs", "in", *f"{shown}.".split()]


def test_a_run_that_was_killed_is_said_to_be_unfinished(tmp_path: Path) -> None:
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / JOURNAL).write_bytes(b"")
    assert [entry.headline for entry in list_runs(tmp_path)] == [UNFINISHED]


def test_no_folder_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no such folder"):
        list_runs(tmp_path / "nowhere")


def test_a_notebook_shows_headline_suites_and_page(tmp_path: Path) -> None:
    finished = acidtest.run("baseline:overlap", suites="lexical/animals", output=tmp_path / "a<b", page=False)
    shown = finished._repr_html_()
    assert "lexical/animals" in shown
    assert "a<b" not in shown
    assert "a&lt;b" in shown
