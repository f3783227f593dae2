"""A model that was changed between two starts of one run, or whose predictions change from call to call."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import acidtest
from acidtest.core.errors import AcidtestError
from acidtest.core.run import FILES_READ, JOURNAL
from acidtest.workflows.runs import Finished

LOADING = """
import json, pathlib
WEIGHTS = json.loads(pathlib.Path("weights.json").read_text())
def predict(premises, hypotheses):
    return [WEIGHTS for _ in premises]
"""
PREDICTING = """
import functools, json, pathlib
@functools.cache
def weights():
    return json.loads(pathlib.Path("weights.json").read_text())
def predict(premises, hypotheses):
    return [weights() for _ in premises]
"""
# Compiled code opens files without an audit event; so does a model that reads them in another process.
HIDDEN = """
import json, subprocess
def predict(premises, hypotheses):
    row = json.loads(subprocess.run(["cat", "weights.json"], capture_output=True, check=True).stdout)
    return [row for _ in premises]
"""
INTERRUPTED = """
calls = 0
_predict = predict
def predict(premises, hypotheses):
    global calls
    calls += 1
    if calls > 2 and pathlib_exists("stop"):
        raise KeyboardInterrupt
    return _predict(premises, hypotheses)
def pathlib_exists(name):
    import pathlib
    return pathlib.Path(name).exists()
"""
RANDOM = """
import random
def predict(premises, hypotheses):
    return [[0.2 + 0.6 * (share := random.random()), 0.8 - 0.6 * share, 0.0] for _ in premises]
"""
BATCHED = """
def predict(premises, hypotheses):
    return [[len(premises) / 100, 1 - len(premises) / 100, 0.0] for _ in premises]
"""
ROWS = 60


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    rows = [f"A man runs {n} miles.\tA man moves.\t{('entailment', 'neutral')[n % 2]}\n" for n in range(ROWS)]
    (tmp_path / "pairs.tsv").write_text("premise\thypothesis\tlabel\n" + "".join(rows))
    write_weights(tmp_path, 0.7)
    yield tmp_path
    sys.modules.pop("weighted", None)


def write_weights(folder: Path, entailment: float) -> None:
    (folder / "weights.json").write_text(json.dumps([entailment, round(1 - entailment, 6), 0.0]))


def write_model(folder: Path, source: str) -> None:
    (folder / "weighted.py").write_text(source)


def run(**options: object) -> Finished:
    """A run as a new process would do it."""
    sys.modules.pop("weighted", None)
    importlib.invalidate_caches()
    return acidtest.run("python:weighted:predict", ["pairs.tsv"], output="run", page=False, batch_size=20, **options)  # type: ignore[arg-type]


def interrupt(folder: Path, source: str, end: str = "") -> None:
    """Begin a run of this model, and stop it after 40 of its 60 pairs."""
    write_model(folder, source + INTERRUPTED + end)
    (folder / "stop").touch()
    with pytest.raises(KeyboardInterrupt):
        run()
    (folder / "stop").unlink()
    assert (folder / "run" / JOURNAL).exists()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (LOADING, "holds an unfinished run of another model, or of a changed one"),
        (PREDICTING, r"gives other predictions than it gave in an earlier run: 12 of 12 finished pairs .*--fresh"),
        (HIDDEN, r"gives other predictions than it gave in an earlier run: 12 of 12 finished pairs .*--fresh"),
    ],
)
def test_a_run_is_not_continued_with_other_weights(folder: Path, source: str, message: str) -> None:
    interrupt(folder, source)
    write_weights(folder, 0.1)
    with pytest.raises(AcidtestError, match=message):
        run()
    fresh = run(fresh=True)
    assert fresh.run.predictions["p_entailment"].n_unique() == 1


@pytest.mark.parametrize("source", [LOADING, PREDICTING, HIDDEN, BATCHED])
def test_a_run_is_continued_with_the_same_weights(folder: Path, source: str) -> None:
    interrupt(folder, source)
    continued = run().folder / "predictions.parquet"
    content = continued.read_bytes()
    assert not (folder / "run" / FILES_READ).exists()
    assert run(fresh=True).fresh
    assert continued.read_bytes() == content


def test_a_file_that_changes_few_predictions_is_noticed(folder: Path) -> None:
    interrupt(folder, PREDICTING)
    write_weights(folder, 0.7004)
    with pytest.raises(AcidtestError, match=r"reads .*weights\.json, which has changed since it gave the earlier"):
        run()


@pytest.mark.parametrize("source", [PREDICTING, HIDDEN])
def test_a_finished_run_is_not_given_for_a_changed_model(folder: Path, source: str) -> None:
    write_model(folder, source)
    assert run().fresh
    assert not run().fresh
    write_weights(folder, 0.1)
    with pytest.raises(AcidtestError, match=r"gave in the finished run run: 12 of 12 .* 0\.700 .* 0\.100 .*--fresh"):
        run()
    assert run(fresh=True).fresh


def test_a_finished_run_is_not_given_if_a_file_changed_that_hardly_changes_predictions(folder: Path) -> None:
    write_model(folder, PREDICTING)
    run()
    write_weights(folder, 0.7004)
    with pytest.raises(AcidtestError, match=r"reads .*weights\.json, which has changed since the finished run run; "):
        run()
    assert "weights.json" not in (folder / "run" / "run.json").read_text()


def test_a_finished_run_of_other_weights_that_were_read_while_loading_is_another_run(folder: Path) -> None:
    write_model(folder, LOADING)
    run()
    write_weights(folder, 0.1)
    with pytest.raises(AcidtestError, match="holds another run"):
        run()


def test_predictions_that_change_from_call_to_call_are_a_finding(folder: Path) -> None:
    write_model(folder, RANDOM)
    finding = next(finding for finding in run().findings if finding.code == "N1")
    assert "gives other predictions when the same pairs are evaluated again (" in finding.sentence


def test_predictions_that_change_from_call_to_call_do_not_stop_a_run(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    interrupt(folder, RANDOM)
    assert "N1" in {finding.code for finding in run().findings}
    assert "gave other predictions for" in caplog.text


@pytest.mark.parametrize("source", [LOADING, BATCHED])
def test_a_model_that_repeats_its_predictions_has_no_such_finding(folder: Path, source: str) -> None:
    write_model(folder, source)
    finished = run()
    assert "N1" not in {finding.code for finding in finished.findings}
    assert not run().fresh


OTHER_SOME = """
import os
def predict(premises, hypotheses):
    other = os.path.exists("changed")
    return [[0, 1, 0] if other and "0 miles" in premise else [1, 0, 0] for premise in premises]
"""


def test_a_few_other_predictions_stop_a_run(folder: Path) -> None:
    interrupt(folder, OTHER_SOME)
    (folder / "changed").touch()
    with pytest.raises(AcidtestError, match=r"2 of 12 finished pairs .* differ, first .*A man runs 0 miles"):
        run()


def test_a_few_other_predictions_do_not_stop_a_run_of_a_model_that_may_vary(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    interrupt(folder, OTHER_SOME, end="predict.varies = True")
    (folder / "changed").touch()
    assert run().fresh
    assert "gave other predictions for 2 of 12 pairs that were evaluated again" in caplog.text


def test_a_file_that_the_model_writes_costs_its_fingerprint(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    writes = "    pathlib.Path('weights.json').write_text(json.dumps(WEIGHTS))\n    return [W"
    write_model(folder, LOADING.replace("    return [W", writes))
    assert run().run.header.model.fingerprint is None
    assert "it reads weights.json and writes to it" in caplog.text
