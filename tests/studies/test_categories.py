"""Accuracy by category: in results, on the terminal, on the page, and between models."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from acidtest import api
from acidtest.cli.app import main
from acidtest.pairs.taxonomy import CATEGORIES, node
from acidtest.studies.comparison.contrasts import compare_runs

ROWS = """premise,hypothesis,label,lexical,world,genre
A man sleeps.,A man naps.,entailment,1,0,a
A dog runs.,A dog rests.,contradiction,1,1,a
A cat eats.,A cat eats fish.,neutral,0,1,b
A bird sings.,A bird is heard.,entailment,0,0,b
"""


class Always:
    """Answers one label whatever it is asked."""

    probabilities = False

    def __init__(self, label: int) -> None:
        self.name, self.fingerprint, self._label = f"always {label}", f"{label}", label

    def predict(self, premise: list[str], hypothesis: list[str]) -> npt.NDArray[np.float32]:
        return np.eye(3, dtype=np.float32)[np.full(len(premise), self._label)]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.csv").write_text(ROWS, encoding="utf-8")


def test_a_row_counts_for_each_of_its_categories() -> None:
    suite = api.generate("taxonomy", source="mine.csv")
    api.run(Always(0), suites=[suite], output="run")
    by = json.loads(Path("run/results.json").read_text(encoding="utf-8"))["suites"]["taxonomy"]["by"]
    found = {name: (one["value"], one["n"]) for name, one in by["category"].items()}
    assert found == {"lexical": (0.5, 2), "world": (0.0, 2)}
    assert set(by) == {"category", "label", "genre"}, "categories are no factors of true and false"


def test_terminal_and_page_tell_accuracy_by_category(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", "-m", "baseline:overlap", "-s", "taxonomy", "--from", "mine.csv", "-o", "run", "--full"]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split()[:1] == ["category"] for line in lines)
    assert any(line.split()[:1] == ["lexical"] for line in lines)
    page = Path("run/report.html").read_text(encoding="utf-8")
    assert "accuracy by category" in page
    assert "#examples?suite=taxonomy&amp;f.lexical=yes" in page


def test_models_are_compared_on_every_category() -> None:
    suite = api.generate("taxonomy", source="mine.csv")
    runs = [api.run(Always(label), suites=[suite], output=f"run{label}").run for label in (0, 1)]
    found = {each.value: each.accuracies for each in compare_runs(runs) if each.factor == "category"}
    assert found == {"lexical": (0.5, 0.0), "world": (0.0, 0.5)}


def test_it_is_said_that_published_systems_were_asked_the_overlap_only() -> None:
    header = ["premise", "hypothesis", "label", *(node(name).column for name in CATEGORIES)]
    Path("published.tsv").write_text("\t".join(header) + "\nA.\tB.\tneutral" + "\t0" * 15 + "\n", encoding="utf-8")
    suite = api.generate("taxinli", source="published.tsv")
    found = api.run(Always(0), suites=[suite], output="run").results["suites"]["taxinli"]
    assert found["published"]
    assert any("published systems were asked 7,727 pairs" in note for note in found["notes"])
