"""``acidtest export``: a command for each format, made from the function that writes it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest

from acidtest.cli.app import main
from acidtest.workflows.exports import FORMATS, ExportCheckError, export_format


@dataclass(frozen=True)
class Note:
    """A note that was written."""

    text: str

    def describe(self) -> str:
        return f"wrote {self.text}"

    def to_json(self) -> dict[str, Any]:
        return {"text": self.text}


@pytest.fixture(autouse=True)
def _note_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(FORMATS, "_things", {name: FORMATS[name] for name in FORMATS})

    @export_format("note")
    def note(
        text: Annotated[str, "The text."],
        *,
        times: Annotated[int, "How often it is written.", "-t"] = 1,
    ) -> Note:
        """Write a note."""
        if not text:
            raise ExportCheckError("the note is empty")
        return Note(text * times)


def test_a_format_is_a_command_with_the_options_of_its_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "note", "ab", "-t", "2"]) == 0
    assert capsys.readouterr().out == "wrote abab\n"
    assert main(["export", "note", "ab", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"text": "ab"}


def test_an_export_that_fails_its_check_exits_with_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "note", "", "--json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"error": "the note is empty"}
    assert captured.err == "acidtest: the note is empty\n"


def test_the_help_lists_the_formats(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--help"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "note Write a note." in lines
    assert any(line.startswith("onnx Write a model as ONNX graphs") for line in lines)
    assert main(["export", "onxx", "x"]) == 2
    assert "No such command 'onxx'. Did you mean 'onnx'?" in capsys.readouterr().err
    assert main(["export"]) == 2
    assert capsys.readouterr().err == "acidtest: Missing command; see: acidtest export --help\n"


def test_settings_of_export_reach_the_formats_that_have_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acidtest.toml").write_text("[export]\ntimes = 3\nint8 = true\n", encoding="utf-8")
    assert main(["export", "note", "a"]) == 0
    assert capsys.readouterr().out == "wrote aaa\n"
    monkeypatch.setenv("ACIDTEST_TIMES", "2")
    assert main(["export", "note", "a"]) == 0
    assert capsys.readouterr().out == "wrote aa\n"
    (tmp_path / "acidtest.toml").write_text("[export]\ntimes = [1, 2]\n", encoding="utf-8")
    assert main(["export", "note", "a"]) == 2
    assert "acidtest.toml: times: acidtest export note takes one value, not a list" in capsys.readouterr().err
