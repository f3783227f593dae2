"""Runs have names and folders of their own, and a start that fails leaves nothing behind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import acidtest
from acidtest.cli.app import main
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.studies.scoring.rows import model_names

ROWS = "premise\thypothesis\tlabel\nA man runs.\tA man moves.\tentailment\nA man runs.\tA man sits.\tcontradiction\n"


class Failing:
    """A model that fails at its nth batch."""

    name, fingerprint, batch_size = "failing", "1", 10

    def __init__(self, fails_at: int = 1) -> None:
        self.calls, self.fails_at = 0, fails_at

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
        self.calls += 1
        if self.calls == self.fails_at:
            raise RuntimeError("no memory")
        return ["neutral"] * len(premises)


class FailingUnknown(Failing):
    """The same without a fingerprint, so that it gets a new folder every time."""

    fingerprint = None  # type: ignore[assignment]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.tsv").write_text(ROWS, encoding="utf-8")


def named(model: str, name: str = "") -> Run:
    return Run(Header(ModelFacts(model, model), {}, {}, name=name), None)  # type: ignore[arg-type]


def test_a_name_is_the_folder_and_stands_in_the_header() -> None:
    finished = acidtest.run("baseline:overlap", "pairs.tsv", name="first try", page=False)
    assert finished.folder == Path("acidtest-runs", "first try")
    assert json.loads((finished.folder / "run.json").read_text())["name"] == "first try"
    assert not acidtest.run("baseline:overlap", "pairs.tsv", name="first try", page=False).fresh


def test_the_header_of_a_run_without_a_name_has_no_such_key() -> None:
    finished = acidtest.run("baseline:overlap", "pairs.tsv", output="out", page=False)
    assert "name" not in json.loads((finished.folder / "run.json").read_text())


def test_a_finished_run_takes_a_new_name_without_being_asked_again() -> None:
    acidtest.run("baseline:overlap", "pairs.tsv", output="out", page=False)
    again = acidtest.run("baseline:overlap", "pairs.tsv", output="out", name="better", page=False)
    assert not again.fresh
    assert acidtest.finished_run("out").run.header.name == "better"
    acidtest.run("baseline:overlap", "pairs.tsv", output="out", page=False)
    assert acidtest.finished_run("out").run.header.name == "better"


@pytest.mark.parametrize("name", ["../up", "a/b", ".hidden", "end.", "a:b", "x" * 101, "a\nb"])
def test_a_name_that_is_no_name_of_a_folder_is_refused(name: str) -> None:
    with pytest.raises(acidtest.AcidtestError, match="is to name a folder"):
        acidtest.run("baseline:overlap", "pairs.tsv", name=name)


def test_one_name_for_two_models_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    models = ["-m", "baseline:overlap", "-m", "baseline:subsequence"]
    assert main(["run", *models, "-s", "pairs.tsv", "--name", "both"]) == 2
    assert "--name both names one run, but 2 models are given" in capsys.readouterr().err


def test_runs_go_by_their_names_and_others_by_those_of_their_models() -> None:
    runs = [named("bert", "seed 1"), named("bert", "seed 2"), named("other", "mine"), named("more")]
    assert model_names(runs) == ["seed 1", "seed 2", "mine", "more"]
    assert model_names([named("bert"), named("bert", "seed 2"), named("bert")]) == ["bert", "seed 2", "bert (2)"]
    assert model_names([named("bert", "same"), named("bert", "same")]) == ["same", "same (2)"]


@pytest.mark.parametrize("model", [Failing, FailingUnknown])
@pytest.mark.parametrize("output", [None, "deep/down"])
def test_a_model_that_fails_at_once_leaves_no_folder(model: type[Failing], output: str | None) -> None:
    with pytest.raises(Exception, match="no memory"):
        acidtest.run(model(), "hans", limit=60, output=output)
    assert [path.name for path in Path.cwd().iterdir()] == ["pairs.tsv"]


def test_a_folder_that_was_there_keeps_what_it_had() -> None:
    Path("out").mkdir()
    Path("out", "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(Exception, match="no memory"):
        acidtest.run(Failing(), "hans", limit=60, output="out")
    assert [path.name for path in Path("out").iterdir()] == ["mine.txt"]


def test_a_failure_after_the_first_answer_keeps_what_was_answered() -> None:
    with pytest.raises(Exception, match="no memory"):
        acidtest.run(Failing(fails_at=3), "hans", limit=60, output="out")
    assert Path("out", "answers.part").exists()
    with pytest.raises(Exception, match="no memory"):
        acidtest.run(Failing(), "hans", limit=60, output="out")
    assert Path("out", "answers.part").exists()
    again = Failing(fails_at=99)
    acidtest.run(again, "hans", limit=60, output="out", page=False)
    # Four batches were left; before them, a few finished pairs are evaluated again.
    assert again.calls == 5


@pytest.mark.parametrize(
    "words",
    [
        ["-m", "nosuch:model", "-s", "hans"],
        ["-m", "baseline:overlap", "-s", "hanss"],
        ["-m", "hf:nowhere", "-s", "hans"],
    ],
)
def test_a_misspelt_model_or_suite_leaves_no_folder(words: list[str]) -> None:
    assert main(["run", *words, "--name", "mine", "-q"]) == 2
    assert not Path("acidtest-runs").exists()


def test_a_printed_run_is_three_lines_and_its_accuracies_have_names() -> None:
    finished = acidtest.run("baseline:overlap", "pairs.tsv", output="out", page=False)
    first, second, _ = str(finished).split("\n")
    assert first == "baseline:overlap in out"
    assert second == "no untouched pairs, 0.0 % on pairs, its worst suite"
    assert finished.accuracy("pairs").value == 0
    assert finished.profile is None
    with pytest.raises(acidtest.AcidtestError, match="the run has no suite 'hans'; it has pairs"):
        finished.accuracy("hans")
