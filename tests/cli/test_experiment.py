"""The command on experiments as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from acidtest import api
from acidtest.cli.app import main
from acidtest.io.wordlists import starter_pairs

pytest.importorskip("torch")
pytest.importorskip("safetensors")

COMMAND = "experiment withheld cbow: --train starter.tsv -n 3 --augment-n 20 --fold 5 --epochs 1 --device cpu -o out"


@pytest.fixture(autouse=True)
def _corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame = starter_pairs().frame.select("premise", "hypothesis", answer="label").collect()
    frame.write_csv("starter.tsv", separator="\t")


def test_a_table_is_printed_and_kept_as_json_and_as_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*COMMAND.split(), "--columns", "label=answer", "--dimensions", "8", "--seeds", "0"]
    assert main(words) == 0
    told = capsys.readouterr().out
    assert "Fold 5 of 5, table 16" in told
    assert "ln_conjunction" in told
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["page"] == str(Path("out/experiment.html"))
    assert Path(found["page"]).read_text(encoding="utf-8").count("sn_NP/") > 1
    written = json.loads(Path("out/experiment.json").read_text(encoding="utf-8"))
    assert {key: value for key, value in found.items() if key != "page"} == written
    assert [arm["name"] for arm in written["arms"]] == ["training pairs alone", "fold 5 withheld"]
    assert len(written["cells"]) == 12
    assert len(written["differences"]) == 6


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fold", "x"], "--fold is a list of different whole numbers, such as 1,2, not 'x'"),
        (["--add", "SciTail"], "--add is NAME=FILE"),
        (["--colour", "red"], "no option called '--colour'"),
        (["--seeds", "0,"], "starter.tsv"),
    ],
)
def test_mistakes_are_told_without_a_traceback(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # The last one is no mistake of --seeds: its file has no column that is known for a label.
    assert main([*COMMAND.split(), *words]) == 2
    assert message in capsys.readouterr().err


def test_every_experiment_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment", "--help"]) == 0
    told = capsys.readouterr().out
    assert all(name in told for name in api.EXPERIMENTS)


def test_without_a_name_the_experiments_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment"]) == 0
    told = capsys.readouterr().out
    assert all(name in told for name in api.EXPERIMENTS)
    assert main(["experiment", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["merged-labels"]["tables"] == "tables 3 and 11"
    assert main(["experiment", "augmentation"]) == 2
    assert "needs ARCHITECTURES, --train FILE and -o FOLDER" in capsys.readouterr().err
