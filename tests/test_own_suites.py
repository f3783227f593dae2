"""docs/own-suites.md: its files are those of docs/examples, and its commands print what it shows."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from acidtest.cli.app import main

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "own-suites.md").read_text(encoding="utf-8")


def test_the_files_shown_are_the_examples() -> None:
    shown = dict(re.findall(r"```\w+\n# (\S+)\n(.*?)```", PAGE, re.S))
    assert shown == {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "examples").glob("*.*")}


def test_the_commands_print_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(DOCS / "examples", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.S):
        for line in block.split("$ acidtest ")[1:]:
            command, _, shown = line.partition("\n")
            assert main(shlex.split(command)) == 0
            printed = capsys.readouterr().out
            assert all(text in printed for text in shown.strip().splitlines()), printed
