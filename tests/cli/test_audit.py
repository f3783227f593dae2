"""The audit from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from acidtest.cli.app import main


@pytest.fixture
def train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A training set of six pairs in the current folder."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(
        f"A man {verb} in a big house.\t{who} {verb}.\t{label}\n"
        for verb in ("sleeps", "eats", "waits")
        for who, label in (("A man", "entailment"), ("Nobody", "contradiction"))
    )
    path = tmp_path / "train.tsv"
    path.write_text("sentence1\tsentence2\tgold_label\n" + rows, encoding="utf-8")
    return path


def test_json_has_the_shape_of_the_design(train: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "train.tsv", "--against", "train.tsv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["heuristics"]["lexical_overlap"] == {"support": 3, "contradict": 0, "unknown": 0}
    assert told["heuristics"]["constituent"] is None
    assert {"heuristics", "partial_input", "cues", "polarity", "leakage"} <= set(told)
    assert {"balance", "length", "overlap", "duplicates", "phenomena", "findings"} <= set(told)
    assert told["leakage"][0]["exact"] == 6
    assert told["rows"] == 6
    assert any(finding["code"] == "K1" for finding in told["findings"])


def test_a_page_is_written(train: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "train.tsv", "-o", "page.html", "-q"]) == 0
    assert "page: page.html" in capsys.readouterr().out
    assert "acidtest audit" in (train.parent / "page.html").read_text(encoding="utf-8")


def test_a_page_of_somebody_else_is_not_overwritten(train: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = train.parent / "page.html"
    page.write_text("<p>my thesis</p>", encoding="utf-8")
    assert main(["audit", "train.tsv", "-o", "page.html", "-q"]) == 2
    assert "page.html: exists and was not written by acidtest" in capsys.readouterr().err
    assert page.read_text(encoding="utf-8") == "<p>my thesis</p>"


def test_a_page_of_ours_is_written_again(train: Path) -> None:
    for _ in range(2):
        assert main(["audit", "train.tsv", "-o", "page.html", "-q"]) == 0


def test_an_unknown_suite_is_named(train: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "train.tsv", "--against", "hanss"]) == 2
    assert "did you mean 'hans'" in capsys.readouterr().err
