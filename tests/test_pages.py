"""README, tutorial and how-tos: every file is written, every command is run, and its output is compared."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from acidtest.cli.app import main
from pages import ROOT, Block, Step, as_shown, read_blocks, split_messages, unknown_words

PAGES = [ROOT / "README.md", ROOT / "docs" / "tutorial.md", *sorted((ROOT / "docs" / "how-to").glob("*.md"))]
DEMO = "acidtest run"
TYPED_ELSEWHERE = ("pip ", "make ", "git ", "python -m venv", "source ", "cd ")
"""Commands that change the machine, or the shell itself: not run."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the demo was run, and the cache of its answers: many pages begin with it."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("ACIDTEST_CACHE_FOLDER", str(folder / "cache"))
        patch.setenv("COLUMNS", "100")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            assert main(["run"]) == 0
    return folder


def type_command(typed: str, folder: Path) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a command line; acidtest runs in this process."""
    if typed.startswith("acidtest ") and not set(typed) & set("|><&;*") and "ACIDTEST" not in typed:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(shlex.split(typed, comments=True)[1:])
        return status, out.getvalue(), err.getvalue()
    tools = folder / ".tools"
    tools.mkdir(exist_ok=True)
    for name, module in (("acidtest", "acidtest"), ("pytest", "pytest"), ("python", "")):
        script = tools / name
        start = f'exec "{sys.executable}" {f"-m {module} " if module else ""}"$@"'
        script.write_text(f"#!/bin/sh\n{start}\n", encoding="utf-8")
        script.chmod(0o755)
    variables = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", typed], capture_output=True, text=True, cwd=folder, env=variables)
    return done.returncode, done.stdout, done.stderr


def check_step(block: Block, step: Step, folder: Path, status: int) -> None:
    """Type a command and compare what it prints with what the page shows."""
    if "not run" in block.marks or step.command.startswith(TYPED_ELSEWHERE):
        assert unknown_words(step.command) == [], step.command
        return
    code, out, err = type_command(block.tested(step.command), folder)
    assert code == status, f"$ {step.command}\n{err}"
    if step.command == DEMO:
        out = out.partition("--fresh redoes it.\n")[2]
    messages, shown = split_messages(step.shown)
    for message in messages:
        assert any(as_shown(message, line) for line in err.splitlines()), f"$ {step.command}\n{err}"
    if shown.strip("\n"):
        assert as_shown(shown.strip("\n"), out), f"$ {step.command}\n{out}"


def follow(block: Block, folder: Path) -> None:
    """Do what a reader does with a block: write the file, type the commands, run the program."""
    for typed in filter(None, block.marks.get("before", "").split(" && ")):
        assert type_command(typed, folder)[0] == 0, typed
    if block.file:
        (folder / block.file).write_text(block.text, encoding="utf-8", newline="\n")
    elif block.language == "console":
        steps = list(block.steps)
        for step in steps:
            last = int(block.marks.get("exit", "0")) if step is steps[-1] else 0
            check_step(block, step, folder, last)
    elif block.language == "python" and "not run" not in block.marks:
        done = subprocess.run([sys.executable, "-c", block.text], capture_output=True, text=True, cwd=folder)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_its_commands_print(
    page: Path, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = read_blocks(page)
    assert not [block.text for block in blocks if block.language == "sh"], "commands stand in console blocks, after $"
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("ACIDTEST_CACHE_FOLDER", str(demo / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    if any(step.command == DEMO for block in blocks for step in block.steps):
        shutil.copytree(demo / "acidtest-runs", tmp_path / "acidtest-runs")
    for block in blocks:
        follow(block, tmp_path)


def test_gaps_stand_for_lines_and_for_characters() -> None:
    assert as_shown("one\n…\nthree …", "one\ntwo\ntwo\nthree 3.5 s")
    assert as_shown("one\n…\ntwo", "one\ntwo")
    assert as_shown("…\ntwo", "one\ntwo\n")
    assert not as_shown("one\nthree", "one\ntwo\nthree")
    assert not as_shown("one", "one\ntwo")


def test_unknown_commands_options_and_extras_are_found() -> None:
    assert unknown_words("acidtest run -m hf:x --words fresh --premise chunks --limit 3") == []
    assert unknown_words("acidtest runn") == ["runn"]
    assert unknown_words("acidtest run --limt 3") == ["--limt"]
    assert unknown_words("pip install 'acidtest[hf,nothing]'") == ["nothing"]


def test_the_files_of_write_suite_are_the_examples() -> None:
    shown = {block.file: block.text for block in read_blocks(ROOT / "docs" / "how-to" / "write-suite.md") if block.file}
    assert shown == {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "examples").glob("*.*")}


def test_how_tos_are_short() -> None:
    """At most 400 words each, blocks left aside."""
    for page in PAGES[2:]:
        text = "".join(page.read_text(encoding="utf-8").split("```")[::2])
        assert len(text.split()) <= 400, page.name
