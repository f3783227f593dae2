"""A settings file that merely lies in the current folder runs no code and sends no key."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from acidtest.cli.app import main

TRAP = """
from pathlib import Path

Path("sprung").touch()


def predict(premises, hypotheses):
    return ["neutral"] * len(premises)
"""


@pytest.fixture(autouse=True)
def _beside_a_trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "trap", raising=False)
    Path("trap.py").write_text(TRAP)
    Path("pairs.csv").write_text("premise,hypothesis,gold_label\nA dog,A cat,neutral\nA dog,A dog,entailment\n")


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    capsys.readouterr()
    assert main(list(words)) == status
    return "".join(capsys.readouterr())


RUN = ("run", "-s", "pairs.csv", "-o", "out", "-q")


@pytest.mark.parametrize("model", ['"python:trap:predict"', '["baseline:overlap", "python:trap:predict"]'])
@pytest.mark.parametrize("table", ["[run]\n", ""])
def test_code_that_a_found_file_names_is_not_run(capsys: pytest.CaptureFixture[str], table: str, model: str) -> None:
    Path("acidtest.toml").write_text(f"{table}model = {model}\n")
    told = said(capsys, *RUN, status=2)
    assert "acidtest.toml: model = 'python:trap:predict' runs code" in told
    assert "say it on the command line, or name the file: ACIDTEST_CONFIG=acidtest.toml" in told
    assert not Path("sprung").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('model = "endpoint:m@http://127.0.0.1:9/v1"', "'endpoint:m@http://127.0.0.1:9/v1' sends a key to a server"),
        ('engine = "ray"\naddress = "ray://127.0.0.1:9"', "address = 'ray://127.0.0.1:9' connects to a cluster"),
    ],
)
def test_a_found_file_connects_to_nobody(capsys: pytest.CaptureFixture[str], settings: str, message: str) -> None:
    Path("acidtest.toml").write_text(f"[run]\n{settings}\n")
    assert message in said(capsys, *RUN, status=2)


def test_what_the_command_line_says_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    Path("acidtest.toml").write_text('[run]\nmodel = "python:trap:predict"\n')
    assert "baseline:overlap" in said(capsys, *RUN, "-m", "baseline:overlap")
    assert not Path("sprung").exists()
    said(capsys, *RUN, "--fresh", "-m", "python:trap:predict")
    assert Path("sprung").exists()


def test_a_file_that_the_user_names_may_name_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("mine.toml").write_text('[run]\nmodel = "python:trap:predict"\n')
    monkeypatch.setenv("ACIDTEST_CONFIG", "mine.toml")
    assert "python:trap:predict" in said(capsys, *RUN)


def test_a_variable_may_name_code(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACIDTEST_MODEL", "python:trap:predict")
    assert "python:trap:predict" in said(capsys, *RUN)


def test_other_commands_are_not_kept_from_working(capsys: pytest.CaptureFixture[str]) -> None:
    Path("acidtest.toml").write_text('[run]\nmodel = "python:trap:predict"\n')
    assert "hans" in said(capsys, "suites")


def test_other_models_may_be_named_by_a_found_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("acidtest.toml").write_text('[run]\nmodel = ["baseline:overlap", "baseline:random"]\n')
    assert "baseline:random" in said(capsys, *RUN)
