"""The command on lexical inference as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from acidtest import api
from acidtest.cli.app import main
from acidtest.io.tables import read_table

PAIRS = [
    ("A man wears a red hat.", "A man wears a blue hat.", "contradiction", "colors"),
    ("A girl wears a red hat.", "A girl wears a green hat.", "contradiction", "colors"),
    ("Two dogs run.", "Three dogs run.", "contradiction", "cardinals"),
    ("A boy is happy.", "A boy is glad.", "entailment", "synonyms"),
]
VECTORS = "red 1 0\nblue 0.8 0.6\ngreen 0.6 0.8\nhappy 1 1\nglad 1 1\n"


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A baseline on four pairs of the published kind and on a test set, a training set and some vectors."""
    monkeypatch.chdir(tmp_path)
    names = ("sentence1", "sentence2", "gold_label", "category")
    lines = [json.dumps(dict(zip(names, pair, strict=True))) for pair in PAIRS]
    Path("dataset.jsonl").write_text("\n".join(lines), encoding="utf-8")
    header = "premise\thypothesis\tlabel\n"
    Path("train.tsv").write_text(f"{header}It is red.\tIt is blue.\tcontradiction\n", encoding="utf-8")
    Path("original.tsv").write_text(f"{header}It is red.\tIt is.\tentailment\nA.\tB.\tneutral\n", encoding="utf-8")
    Path("glove.txt").write_text(VECTORS, encoding="utf-8")
    api.run("baseline:overlap", ["dataset.jsonl", "original.tsv"], output=tmp_path / "run", page=False)
    return tmp_path


def test_tables_are_printed_and_one_is_written(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--train", "train.tsv", "--embeddings", "glove.txt", "--original", "original", "-o", "pairs.tsv"]
    assert main(["lexical", "run", *arguments]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "breaking-nli 4 pairs in which one word of a sentence is replaced by another." in out
    assert "Accuracy beside that on the original test set" in out
    assert "Training set: train, 1 contradictions among 1 examples." in out
    assert "Vectors: glove.txt, 5 words; 5 of 7 words have one." in out
    assert "table: pairs.tsv" in out
    frame = read_table("pairs.tsv").frame
    assert set(frame.select("premise_word", "hypothesis_word", "cosine", "contradictions").rows()) == {
        ("red", "blue", "0.8", "1"),
        ("red", "green", "0.6", "0"),
        ("Two", "Three", None, "0"),
        ("happy", "glad", "1.0", "0"),
    }


def test_json_holds_the_same(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lexical", "run", "--train", "train.tsv", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [(part["model"], part["suite"], part["overall"]["n"]) for part in printed["results"]] == [
        ("baseline:overlap", "breaking-nli", 4)
    ]
    bins = printed["results"][0]["by_frequency"]["bins"]
    assert {name: part["accuracy"]["n"] for name, part in bins.items() if part["accuracy"]["n"]} == {"0": 2, "1-4": 1}
    assert printed["results"][0]["by_cosine"] is None
    assert printed["train"]["contradictions"] == 1


def test_a_page_is_written_and_a_table_that_is_there_is_not_replaced(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lexical", "run", "-o", "page.html"]) == 0
    assert "Accuracy by category" in Path("page.html").read_text(encoding="utf-8")
    Path("pairs.tsv").write_text("mine", encoding="utf-8")
    assert main(["lexical", "run", "-o", "pairs.tsv"]) == 2
    assert "pairs.tsv: exists, perhaps with somebody's work in it" in capsys.readouterr().err
    assert Path("pairs.tsv").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--embeddings", "none.txt"], "none.txt: there is no such file of word vectors. GloVe vectors of"),
        (["run", "--original", "originl"], "no suite of these runs called 'originl'; did you mean 'original'?"),
        (["run", "--columns", "premise=a"], "--columns and --label-map say how to read --train, which is not given"),
        (["nothing"], "nothing: there is no such folder"),
        (["run", "--correction", "bonferroni"], "no correction called 'bonferroni'"),
    ],
)
def test_mistakes_are_told_in_a_line(
    runs: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["lexical", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
