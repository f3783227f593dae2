"""``acidtest train`` as it is typed."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install 'acidtest[zoo]'")

from acidtest.cli.app import main

PAIRS = "premise,hypothesis,label\n" + "".join(
    f"A {who} runs.,{hypothesis}\n"
    for who in ("man", "dog", "nurse", "judge")
    for hypothesis in (f"A {who} moves.,entailment", f"A {who} sings.,neutral", "Nobody runs.,contradiction")
)


@pytest.fixture
def pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file of pairs, named from the folder it lies in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.csv").write_text(PAIRS)
    return "pairs.csv"


def typed(*words: str) -> tuple[int, str]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        code = main(["train", *words])
    return code, printed.getvalue()


def test_a_training_leaves_a_card_a_curve_and_what_runs(pairs: str, tmp_path: Path) -> None:
    asked = ["cbow", "--train", pairs, "--dev", pairs, "--test", pairs, "--epochs", "2", "--hidden", "8"]
    code, told = typed(*asked, "--dimensions", "4", "--device", "cpu", "-o", "net")
    assert code == 0, told
    assert "zoo:net epoch" in told
    assert "pairs.csv: " in told
    left = {path.name for path in (tmp_path / "net").iterdir()} - {".lock"}
    assert left == {
        *("zoo.json", "model.safetensors", "vocabulary.txt", "training.json", "result.json"),
        *("curve.json", "curve.svg", "curve.png", "card.md"),
    }
    card = (tmp_path / "net" / "card.md").read_text()
    assert "acidtest run -m zoo:net" in card
    assert "| pairs.csv | learn from | 12 | 4 | 4 | 4 | 0 |" in card
    assert "12 pairs of pairs.csv were also learnt from, so that its score is too good." in card
    # The writer of Markdown escapes markup of its own, too; only brackets of the extra are left to escape.
    assert set(re.findall(r"&#\d+;", card)) <= {"&#91;", "&#93;"}
    assert "| hidden | 8 |" in card
    assert str(tmp_path) not in card
    code, told = typed(*asked, "--dimensions", "4", "--device", "cpu", "-o", "net")
    assert "is trained already" in told


def test_json_tells_curve_scores_and_intervals(pairs: str) -> None:
    code, told = typed(
        *(
            "cbow",
            "--train",
            pairs,
            "--test",
            pairs,
            "--epochs",
            "1",
            "--dimensions",
            "4",
            "--seeds",
            "0,1",
            "-o",
            "net",
        ),
        *("--json", "-q"),
    )
    assert code == 0, told
    found = json.loads(told)
    assert [each["model"] for each in found["networks"]] == ["zoo:net/seed-0", "zoo:net/seed-1"]
    score = found["networks"][0]["scores"]["pairs.csv"]
    assert score["n"] == 12
    assert score["low"] <= score["value"] <= score["high"]
    assert set(found["over_seeds"]["pairs.csv"]) == {"mean", "sd", "low", "high"}


def test_architectures_and_their_options_are_listed() -> None:
    code, told = typed("--json")
    assert code == 0
    assert {"cbow", "esim", "decomposable-attention"} <= set(json.loads(told))
    code, told = typed("cbow", "--list")
    assert code == 0
    assert "--hidden" in told
    assert "naik2018" in told
    code, told = typed("infersent", "--list")
    assert "batch-size 64" in told
    assert "vectors fixed" in " ".join(told.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cbow"], "acidtest train cbow needs --train FILE and -o FOLDER"),
        (["cbwo", "--train", "pairs.csv", "-o", "net"], "did you mean 'cbow'"),
        (["cbow", "--train", "pairs.csv", "-o", "net", "--hiden", "3"], "did you mean '--hidden'"),
        (
            ["cbow", "--train", "pairs.csv", "-o", "net", "--hidden", "-3"],
            "--hidden is a whole number from 1 on, not -3",
        ),
        (["cbow", "--train", "pairs.csv", "-o", "net", "--unparsed", "right"], "--unparsed is an option of spinn"),
        (["cbow", "--train", "pairs.csv", "-o", "net", "--embeddings", "pairs.csv"], "a file of vectors was expected"),
        (["cbow", "--train", "pairs.csv", "-o", "net", "--seeds", "a"], "--seeds is a list of different whole numbers"),
        (["cbow", "--train", "pairs.csv", "-o", "net", "--seeds", "1,1"], "--seeds is a list of different"),
        (
            ["cbow", "--train", "pairs.csv", "-o", "net", "--seeds", "-1"],
            "whole numbers from 0 on, such as 0,1,2, not -1",
        ),
        (["cbow", "--train", "pairs.csv", "-o", "pairs.csv"], "-o pairs.csv is a file; name a folder"),
        (["cbow", "--train", "pairs.csv", "-o", "net", "--fixed"], "add --embeddings FILE, or --tuned"),
        (["cbow", "--train", "pairs.csv", "-o", "net", "--preset", "naik"], "did you mean 'naik2018'"),
        (["cbow", "--train", "pairs.csv", "-o", "net", "--precision", "half"], "--precision is auto, full or bf16"),
        (["cbow", "--train", "pairs.csv", "-o", "net", "--device", "gpu"], "--device is auto, cpu, cuda or cuda:1"),
    ],
)
def test_mistakes_are_told(pairs: str, words: list[str], message: str) -> None:
    code, told = typed(*words)
    assert code == 2
    assert message in told
