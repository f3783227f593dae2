"""``acidtest gate`` and ``acidtest baseline`` as a user types them, on runs of HANS."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import acidtest
from acidtest.cli.app import main


class Remembers:
    """A model that is right about pairs but for some."""

    name, fingerprint, columns = "remembers", None, ("premise", "hypothesis")
    resolution, probabilities, may_abstain = "three-way", True, False

    def __init__(self, frame: pl.DataFrame, wrong: np.ndarray) -> None:
        entails = (frame["label"].to_numpy() == "entailment") != wrong
        self._entails = dict(zip(zip(frame["premise"], frame["hypothesis"], strict=True), entails, strict=True))

    def predict(self, premises: list[str], hypotheses: list[str]) -> np.ndarray:
        pairs = zip(premises, hypotheses, strict=True)
        return np.array([(0.9, 0.1, 0) if self._entails[pair] else (0.1, 0.9, 0) for pair in pairs], dtype=np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release, the same model again, and one that lost 20 points where lexical overlap does not entail."""
    folder = tmp_path_factory.mktemp("gate")
    suite = acidtest.generate("hans", n=100)
    frame = suite.frame.select("premise", "hypothesis", "label", "heuristic").collect()
    draws = np.random.default_rng(0).random(frame.height)
    entailed = (frame["label"] == "entailment").to_numpy()
    lost = ~entailed & (frame["heuristic"] == "lexical_overlap").to_numpy()
    before = np.where(entailed, draws < 0.05, draws < 0.4)
    # The gain elsewhere leaves a loss of 1.7 points on all of HANS: 500 of 3,000 pairs lose 20.
    after = np.where(lost, draws < 0.6, np.where(entailed, draws < 0.02, draws < 0.38))
    for name, wrong in (("before", before), ("after", after)):
        acidtest.run(Remembers(frame, wrong), suite, output=folder / name)
    return folder


@pytest.fixture(autouse=True)
def _in_the_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def said(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> tuple[str, str]:
    assert main(list(arguments)) == status
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_a_regression_that_the_average_hides_fails_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "gate", "before", "after", "--json", status=1)
    result = json.loads(out)
    checks = {check["name"]: check for check in result["comparisons"][0]["checks"]}
    assert result["state"] == "fail"
    name = "hans:heuristic × label=lexical_overlap × non-entailment"
    assert checks[name]["state"] == "fail"
    assert checks[name]["loss"]["value"] == pytest.approx(0.2, abs=0.05)
    whole, _ = said(capsys, "gate", "before", "after", "--slice", "hans", "--margin", "4")
    assert "Pass: " in whole


def test_the_output_opens_with_a_sentence_and_fits_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "gate", "before", "after", status=1)
    lines = out.splitlines()
    assert lines[0].startswith("Fail: hans:")
    assert len(lines) <= 40
    full, _ = said(capsys, "gate", "before", "after", "--full", status=1)
    assert "hans:subcase=ce_adverb" in full
    assert len(full.splitlines()) > len(lines)


def test_the_same_answers_pass_and_small_samples_are_undecided(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "gate", "before", "before")[0].startswith("Pass: ")
    # 3,000 agreeing rows show a loss below a tenth of a point, not below a twentieth.
    out, _ = said(capsys, "gate", "before", "before", "--margin", "0.05", status=4)
    assert out.startswith("Undecided: 1 of 1 required checks is not decided")
    assert "5,990" in out, "rows that would decide it: log 0.05 / log 0.9995"


def test_a_baseline_file_stands_for_its_run(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "baseline", "before", "-o", "release.acidtest")
    assert out == "baseline: release.acidtest\n"
    content = Path("release.acidtest").read_bytes()
    assert len(content) < 15_000
    assert b"judge" not in content.lower()
    with_file, with_run = (said(capsys, "gate", side, "after", status=1)[0] for side in ("release.acidtest", "before"))
    assert with_file == with_run
    written = json.loads(said(capsys, "baseline", "before", "-o", "release.acidtest", "--json")[0])
    assert written == {"baseline": "release.acidtest", "bytes": len(content)}


def test_a_policy_and_an_anchor_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    rules = '[[slices]]\nmatch = "hans"\nmargin = 4\n[[slices]]\nmatch = "*"\ntier = "advisory"\n'
    Path("gate.toml").write_text(rules, encoding="utf-8")
    out, _ = said(capsys, "gate", "before", "after", "--policy", "gate.toml")
    assert "Policy: gate.toml." in out
    out, _ = said(capsys, "gate", "after", "after", "--anchor", "before", status=1)
    assert "Against remembers, the anchor: fail" in out
    assert len(out.splitlines()) <= 40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["before", "nowhere"], "nowhere: there is no such file or folder"),
        (["before", "after", "--slice", "hans:label=neutral"], "no slice called 'hans:label=neutral'"),
        (["before", "after", "--margin", "-3"], "--margin is a number of points from 0 to 100, not -3"),
        (["before", "after", "--policy", "wrong.toml"], "wrong.toml:2: no key called 'mach'"),
        (["text.acidtest", "after"], "text.acidtest: is not a baseline file"),
    ],
)
def test_mistakes_are_exit_status_2(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("wrong.toml").write_text('[[slices]]\nmach = "hans"\n', encoding="utf-8")
    Path("text.acidtest").write_text("no baseline", encoding="utf-8")
    assert message in said(capsys, "gate", *arguments, status=2)[1]
