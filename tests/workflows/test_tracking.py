"""Finished runs in MLflow, with its store in files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import acidtest
from acidtest.cli import main
from acidtest.core.errors import AcidtestError
from acidtest.workflows.tracking import log_to_mlflow, scalars

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    address = (tmp_path / "store").as_uri()
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    return address


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "overlap"
    acidtest.run("baseline:overlap", ["hans", "cues"], limit=300, output=folder, name="a name", page=False)
    return folder


def test_a_report_is_logged_with_numbers_settings_and_page(
    run: Path, store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed: pip install 'acidtest[mlflow]'")
    page = tmp_path / "page.html"
    assert main(["report", str(run), "-o", str(page), "--mlflow", "--experiment", "nli", "--json"]) == 0
    [logged] = json.loads(capsys.readouterr().out)["mlflow"]
    assert logged["experiment"] == "nli"
    client = mlflow.MlflowClient(store)
    shown = client.get_run(logged["run_id"])
    assert shown.info.run_name == "a name"
    assert shown.info.status == "FINISHED"
    results = acidtest.finished_run(run)
    assert {name: shown.data.metrics[name] for name in scalars(results.scored)} == scalars(results.scored)
    assert shown.data.metrics["hans.low"] == results.accuracy("hans").low
    # Words that all overlap are entailment for this model: right where HANS is entailed, wrong elsewhere.
    assert shown.data.metrics["hans_non_entailment"] == 0
    assert {"cues_gold_effect", "cues_overlap_effect.high"} <= shown.data.metrics.keys()
    assert shown.data.params["model"] == "baseline:overlap"
    assert shown.data.params["limit"] == "300"
    assert shown.data.tags["acidtest.hans"] == results.run.header.signature("hans")
    names = [artifact.path for artifact in client.list_artifacts(logged["run_id"])]
    assert sorted(names) == ["page.html", "results.json"]


def test_a_store_that_cannot_be_used_and_a_missing_mlflow_are_said(
    run: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished = [acidtest.finished_run(run)]
    if pytest.importorskip("mlflow").__version__ >= "3":
        monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "false")
        with pytest.raises(AcidtestError, match=r"the MLflow store file:.* cannot be used: "):
            log_to_mlflow(finished, Path("none.html"))
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(AcidtestError, match=r"--mlflow needs mlflow; .* pip install 'acidtest\[mlflow\]'"):
        log_to_mlflow(finished, Path("none.html"))


def test_an_experiment_without_mlflow_is_a_mistake(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(run), "--experiment", "nli"]) == 2
    assert "--experiment names an experiment of MLflow; add --mlflow" in capsys.readouterr().err
