"""What a terminal, a locale or a name of a folder may not break."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from acidtest.cli.app import main, needs_utf8_mode
from acidtest.cli.options import print_lines
from acidtest.render.terminal import paint


@pytest.mark.skipif(sys.platform == "win32", reason="Windows names files in UTF-16")
def test_a_folder_outside_ascii_works_in_a_locale_without_utf_8(tmp_path: Path) -> None:
    folder = tmp_path / "übung"
    folder.mkdir()
    (folder / "päare.tsv").write_text("premise\thypothesis\tlabel\nA.\tB.\tneutral\nC.\tD.\tentailment\n")
    variables = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = ["-m", "acidtest", "run", "-m", "baseline:overlap", "-s", "päare.tsv", "-o", "läufe"]
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env={**os.environ, **variables}, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert (folder / "läufe" / "report.html").is_file()


def test_a_process_restarts_in_utf_8_mode_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "getfilesystemencoding", lambda: "ascii")
    monkeypatch.setenv("PYTHONUTF8", "0")
    assert needs_utf8_mode()
    monkeypatch.setenv("PYTHONUTF8", "1")
    assert not needs_utf8_mode()
    monkeypatch.setattr(sys, "getfilesystemencoding", lambda: "utf-8")
    monkeypatch.delenv("PYTHONUTF8")
    assert not needs_utf8_mode()


@pytest.mark.parametrize(("terminal", "styled"), [("xterm-256color", True), ("dumb", False)])
def test_a_dumb_terminal_gets_no_escapes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: str, styled: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", terminal)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    print_lines([paint("Good.", "bold")])
    assert ("\x1b" in capsys.readouterr().out) == styled


def test_a_missing_file_of_predictions_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "NOSUCH"]) == 2
    assert capsys.readouterr().err == "acidtest: NOSUCH: there is no such file; check the path\n"


@pytest.mark.parametrize("name", ["breaking-nli", "breaking_nli", "Breaking_NLI"])
def test_the_name_of_a_published_set_is_explained(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-s", name]) == 2
    told = capsys.readouterr().err
    assert f"'{name}' is a published file, not a suite that acidtest makes: pass the file itself, -s FILE" in told
    assert "suite 'lexical' makes fresh pairs" in told
