"""A run that was finished before is recognised by what was asked for, without making its suites again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import acidtest
from acidtest.workflows import batteries
from acidtest.workflows.runs import Finished

ROWS = "premise\thypothesis\tlabel\nA man runs.\tA man moves.\tentailment\nA man runs.\tA man sits.\tcontradiction\n"


def run_file(path: Path, **options: object) -> Finished:
    return acidtest.run("baseline:overlap", [str(path)], output=path.parent / "run", page=False, **options)  # type: ignore[arg-type]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def refuse_to_make(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("the suites were made again")

    monkeypatch.setattr(batteries, "chosen_suites", fail)


def test_the_same_request_is_answered_without_making_suites(pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run_file(pairs)
    refuse_to_make(monkeypatch)
    again = run_file(pairs)
    assert first.fresh
    assert not again.fresh
    assert again.results == first.results


@pytest.mark.parametrize("options", [{"limit": 1}, {"seed": 1}, {"fresh": True}])
def test_another_request_makes_its_suites(
    pairs: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, object]
) -> None:
    run_file(pairs)
    refuse_to_make(monkeypatch)
    with pytest.raises(AssertionError, match="made again"):
        run_file(pairs, **options)


def test_a_changed_file_is_read_again(pairs: Path) -> None:
    run_file(pairs)
    pairs.write_text(ROWS.replace("sits", "rests"), encoding="utf-8")
    with pytest.raises(acidtest.AcidtestError, match="holds another run"):
        run_file(pairs)


def test_a_touched_file_gives_the_run_that_is_there(pairs: Path) -> None:
    run_file(pairs)
    os.utime(pairs, ns=(0, 0))
    assert not run_file(pairs).fresh


def test_a_suite_given_as_an_object_is_no_known_request(pairs: Path) -> None:
    suite = acidtest.load(pairs)
    assert batteries.Battery([suite]).stamp == ""
    assert batteries.Battery([str(pairs)]).stamp != ""


def test_a_run_without_a_folder_is_found_among_the_runs(pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(pairs.parent)
    first = acidtest.run("baseline:overlap", ["pairs.tsv"])
    refuse_to_make(monkeypatch)
    again = acidtest.run("baseline:overlap", ["pairs.tsv"])
    assert again.folder == first.folder
    assert not again.fresh


def test_a_broken_run_of_the_same_model_elsewhere_does_not_stop_another(
    pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(pairs.parent)
    broken = Path("acidtest-runs", "baseline-overlap-broken")
    broken.mkdir(parents=True)
    (broken / "run.json").write_text("{", encoding="utf-8")
    (broken / "report.html").write_text("", encoding="utf-8")
    assert acidtest.run("baseline:overlap", ["pairs.tsv"]).fresh


def test_files_in_a_list_and_beside_a_file_count(pairs: Path) -> None:
    other = pairs.with_name("other.tsv")
    other.write_text("old", encoding="utf-8")
    battery = batteries.Battery(["lexical"], arguments={"train": f"{pairs},{other}"})
    before = battery.stamp
    other.write_text("newer", encoding="utf-8")
    assert batteries.Battery(["lexical"], arguments={"train": f"{pairs},{other}"}).stamp != before
    assert batteries.Battery([str(pairs)]).stamp != ""


def test_a_run_into_a_folder_with_other_files_is_warned_of(pairs: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = pairs.parent / "run"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    run_file(pairs)
    assert f"{folder}: the run is written beside other files there: notes.txt" in caplog.text
    caplog.clear()
    run_file(pairs, fresh=True)
    assert "beside other files" not in caplog.text, "that folder is known to hold this run"
