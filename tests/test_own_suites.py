"""docs/own-suites.md: its files are those of docs/examples, and its commands print what it shows."""

from __future__ import annotations

import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest

from acidtest.cli.app import main
from acidtest.suites.custom.suite_files import read_suite_file

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "own-suites.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["voices.toml", "steady.toml"])
def test_the_files_shown_are_parts_of_the_examples(name: str) -> None:
    (block,) = re.findall(rf"```toml\n# {name}\n(.*?)```", PAGE, re.S)
    shown, whole = tomllib.loads(block), tomllib.loads((DOCS / "examples" / name).read_text(encoding="utf-8"))
    assert shown.pop("from", "my_pairs.tsv") == "my_pairs.tsv"
    for key, value in shown.items():
        assert all(part in whole[key] for part in value)
    assert read_suite_file(DOCS / "examples" / name).name == Path(name).stem


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
