"""The command on antonyms as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from acidtest import api
from acidtest.cli.app import main
from acidtest.io.tables import read_table


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two baselines on the starter corpus's antonyms, and a training set."""
    monkeypatch.chdir(tmp_path)
    suite = api.generate("stress/antonymy")
    for model in ("random", "overlap"):
        api.run(f"baseline:{model}", [suite], output=tmp_path / model, page=False)
    Path("train.tsv").write_text(
        "premise\thypothesis\tlabel\nIt is open.\tIt is closed.\tcontradiction\n", encoding="utf-8"
    )
    return ["random", "overlap"]


def test_tables_are_printed_and_one_is_written(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["antonyms", *runs, "--train", "train.tsv", "-o", "antonyms.tsv"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Rows by which models are right, and the antonyms in them" in out
    assert "Training set: train, 1 contradictions." in out
    frame = read_table("antonyms.tsv").frame
    columns = ["word", "antonym", "rows", "right: baseline:random", "right: baseline:overlap", "status"]
    assert frame.columns == [*columns, "contradictions", "type"]
    assert frame["type"].null_count() == frame.height > 0


def test_json_holds_the_same(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["antonyms", *runs, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert list(printed["models"]) == ["baseline:random", "baseline:overlap"]
    assert sum(part["rows"] for part in printed["by_row"].values()) == printed["models"]["baseline:random"]["n"]
    assert printed["train"] is None
    assert "types" not in printed


def test_a_table_filled_in_gives_the_types(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["antonyms", runs[0], "-o", "antonyms.tsv"]) == 0
    path = Path("antonyms.tsv")
    path.write_text(path.read_text(encoding="utf-8").replace("\t\n", "\tgradable\n"), encoding="utf-8")
    capsys.readouterr()
    assert main(["antonyms", "--types", "antonyms.tsv"]) == 0
    assert "gradable" in capsys.readouterr().out
    assert main(["antonyms", "--types", "antonyms.tsv", "--json"]) == 0
    assert sorted(json.loads(capsys.readouterr().out)) == ["schema", "types"]
    assert main(["antonyms", runs[0], "-o", "antonyms.tsv", "--quiet"]) == 0
    assert set(read_table(path).frame["type"]) == {"gradable"}


def test_types_of_pairs_that_a_run_lacks_are_kept_and_counted(
    runs: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    Path("antonyms.tsv").write_text("word\tantonym\tstatus\ttype\nxa\txb\thard\trelational\n", encoding="utf-8")
    assert main(["antonyms", runs[0], "-o", "antonyms.tsv"]) == 0
    assert "antonyms.tsv: 1 pair not in these runs kept, with the type somebody gave" in caplog.text
    assert read_table("antonyms.tsv").frame.row(-1)[0] == "xa"


def test_the_seed_reaches_the_permutation_test(runs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from acidtest.studies import antonyms as analysis

    seeds, generator = list[int](), analysis.generator
    monkeypatch.setattr(analysis, "generator", lambda seed: seeds.append(seed) or generator(seed))  # type: ignore[func-returns-value]
    assert main(["antonyms", *runs, "--train", "train.tsv", "--seed", "7"]) == 0
    assert seeds == [7]


def test_nothing_given_is_a_users_mistake(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["antonyms", runs[0], "-o", "types.tsv"]) == 0
    capsys.readouterr()
    assert main(["antonyms"]) == 2
    assert "antonyms needs run folders, or a table with --types" in capsys.readouterr().err
    for option in (["--train", "train.tsv"], ["-o", "x.tsv"]):
        assert main(["antonyms", "--types", "types.tsv", *option]) == 2
        assert "--train and -o need run folders" in capsys.readouterr().err
