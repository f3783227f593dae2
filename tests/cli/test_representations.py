"""The command on layers as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from acidtest.cli.app import main

MODEL = """
import numpy as np

calls = 0

class Layered:
    fingerprint = "layered-1"
    layers = ("words", "top")
    batch_size = 16
    def predict(self, premises, hypotheses):
        return np.full((len(premises), 3), 1 / 3)
    def representations(self, premises, hypotheses):
        global calls
        calls += 1
        print("asked", len(premises))
        made = np.zeros((2, len(premises), 4))
        for row, (premise, hypothesis) in enumerate(zip(premises, hypotheses)):
            made[:, row, 0] = len(premise)
            made[:, row, 1] = len(hypothesis)
            made[1, row, 2] = "not" in hypothesis
        return made

layered = Layered()

class Short(Layered):
    def representations(self, premises, hypotheses):
        return np.zeros((3, 1, 4))

short = Short()

class Endless(Layered):
    def representations(self, premises, hypotheses):
        return np.full((2, len(premises), 4), np.inf)

endless = Endless()
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model with two layers, and sixty pairs of which every second contradicts by a negation."""
    monkeypatch.chdir(tmp_path)
    Path("layered_model.py").write_text(MODEL, encoding="utf-8")
    lines = ["premise\thypothesis\tlabel"]
    for number in range(60):
        said = "not " if number % 2 else ""
        lines.append(
            f"Dog {number} {'ran ' * (number % 7)}.\tIt {said}ran.\t{('entailment', 'contradiction')[number % 2]}"
        )
    Path("pairs.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_the_layer_that_holds_the_label_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["python:layered_model:layered", "--suite", "pairs.tsv", "--permutations", "39"]
    assert main(["representations", *asked, "--json"]) == 0
    out = capsys.readouterr().out
    told = json.loads(out[out.index("{") :])
    assert told["layers"] == ["words", "top"]
    label = told["targets"][0]
    assert label["probe"]["layers"]["top"]["value"] == 1
    assert told["n"] == 60
    assert main(["representations", *asked]) == 0
    assert "Linear probes" in capsys.readouterr().out


def test_kept_representations_are_read_instead_of_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["representations", "python:layered_model:layered", "--suite", "pairs.tsv", "--permutations", "9"]
    assert main([*asked, "--keep", "layers.npz"]) == 0
    first = capsys.readouterr()
    # What a model prints goes to standard error.
    assert "asked 16" in first.err
    assert main([*asked, "--keep", "layers.npz"]) == 0
    second = capsys.readouterr()
    assert "asked" not in second.err
    assert "representations are read from layers.npz" in second.err
    with np.load("layers.npz", allow_pickle=False) as held:
        assert held["layers"].shape == (2, 60, 4)
    assert main([*asked, "--keep", "layers.npz", "--limit", "30"]) == 0
    assert "other pairs; it is replaced" in capsys.readouterr().err
    Path("layers.npz").write_text("no archive", encoding="utf-8")
    assert main([*asked, "--keep", "layers.npz"]) == 2
    assert "layers.npz: is no file of representations that can be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["baseline:overlap"], "baseline:overlap does not show its layers"),
        (["python:layered_model:short"], "gave an array of shape (3, 1, 4), not (2 layers, 16 pairs, width)"),
        (["python:layered_model:endless"], "words holds numbers that are not finite"),
        (["python:layered_model:layered", "-o", "page.txt"], "page.txt"),
        (["python:layered_model:layered", "--keep", "layers.pkl"], "ends in .npz"),
        (["python:layered_model:layered", "--by", "gener"], "gener"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_reason(
    capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    assert main(["representations", *arguments, "--suite", "pairs.tsv"]) == 2
    assert told in capsys.readouterr().err


def test_a_page_and_pictures_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn")
    asked = ["python:layered_model:layered", "--suite", "pairs.tsv", "--permutations", "9"]
    assert main(["representations", *asked, "-o", "page.html", "--plots", "plots", "--json"]) == 0
    out = capsys.readouterr().out
    told = json.loads(out[out.index("{") :])
    assert told["page"] == "page.html"
    assert 'class="map-data"' in Path("page.html").read_text(encoding="utf-8")
    names = {path.name for path in Path("plots").iterdir()}
    assert {"maps-label.png", "maps-label.svg", "probe-label.svg"} <= names
