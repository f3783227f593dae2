"""The numbers of a run for programs that track experiments, and finished runs logged to MLflow."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acidtest.core.errors import AcidtestError, import_optional
from acidtest.core.estimate import Estimate
from acidtest.workflows.results import RunResults
from acidtest.workflows.runs import RESULTS, Finished

EXPERIMENT = "acidtest"
"""The experiment of MLflow that runs go to unless the user or MLFLOW_EXPERIMENT_NAME names one."""


@dataclass(frozen=True)
class MlflowRun:
    """Where a run was logged to."""

    store: str
    experiment: str
    run_id: str

    def describe(self) -> str:
        return f"logged to MLflow: run {self.run_id} of experiment {self.experiment!r} at {self.store}"


def tracked_estimates(results: RunResults) -> dict[str, Estimate]:
    """The accuracies of all suites, of HANS where it is not entailed too, and the effects of shared words and gold.

    Names have letters, digits and ``_`` only. What could not be computed is left out.
    """
    estimates = {}
    for name, result in results.suites.items():
        estimates[name] = result.overall
        by_gold = result.by.get("label", {})
        if name.partition(":")[0] == "hans" and "non-entailment" in by_gold:
            estimates[f"{name}_non_entailment"] = by_gold["non-entailment"]
    if results.profile is not None:
        estimates["cues_gold_effect"] = results.profile.gold_effect
        cue = results.profile.crossed.overlap
        estimates[f"cues_{cue}_effect"] = results.profile.cues[cue].effect
    known = {name: estimate for name, estimate in estimates.items() if estimate.known}
    return {re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_"): estimate for name, estimate in known.items()}


def scalars(results: RunResults) -> dict[str, float]:
    """The values of ``tracked_estimates``."""
    # Adding 0 removes the sign of a zero.
    return {name: estimate.value + 0.0 for name, estimate in tracked_estimates(results).items()}


def log_to_mlflow(runs: Sequence[Finished], page: Path, *, experiment: str = "") -> list[MlflowRun]:
    """Log finished runs to the tracking store of MLflow's settings (MLFLOW_TRACKING_URI), a run of MLflow for each.

    Metrics are the values and the bounds of ``tracked_estimates``; the page and results.json become artifacts.
    """
    (mlflow,) = import_optional("mlflow", extra="mlflow", work="--mlflow")
    experiment = experiment or os.environ.get("MLFLOW_EXPERIMENT_NAME", "") or EXPERIMENT
    # An address may hold a password.
    store = re.sub(r"//[^/@]*@", "//", str(mlflow.get_tracking_uri()))
    try:
        client = mlflow.MlflowClient()
        known = client.get_experiment_by_name(experiment)
        number = known.experiment_id if known else client.create_experiment(experiment)
        logged = [_log_run(mlflow, client, finished, page, number) for finished in runs]
    except ModuleNotFoundError as error:
        raise AcidtestError(
            f"the MLflow store {store} needs {error.name}; set MLFLOW_TRACKING_URI to a tracking server, or install "
            f"it with: pip install mlflow"
        ) from error
    except mlflow.exceptions.MlflowException as error:
        text = " ".join(str(error).split())
        raise AcidtestError(f"the MLflow store {store} cannot be used: {text[:500]}") from error
    return [MlflowRun(store, experiment, run_id) for run_id in logged]


def _log_run(mlflow: Any, client: Any, finished: Finished, page: Path, experiment: str) -> str:
    header, entities = finished.run.header, mlflow.entities
    run = client.create_run(experiment, run_name=header.name or header.model.name)
    run_id = str(run.info.run_id)
    metrics: dict[str, float] = {}
    for name, estimate in tracked_estimates(finished.scored).items():
        bounds = {name: estimate.value + 0.0, f"{name}.low": estimate.low, f"{name}.high": estimate.high}
        metrics |= {key: value for key, value in bounds.items() if value == value}
    parameters = {
        "model": header.model.name,
        "fingerprint": header.model.fingerprint or "none",
        **{name: str(value) for name, value in header.settings.items()},
        "acidtest": header.versions.get("acidtest", ""),
    }
    tags = {f"acidtest.{key}": header.signature(suite) for suite, key in _keys(finished).items()}
    status = "FAILED"
    try:
        client.log_batch(
            run_id,
            metrics=[entities.Metric(name, value, run.info.start_time, 0) for name, value in metrics.items()],
            params=[entities.Param(name, value) for name, value in parameters.items()],
            tags=[entities.RunTag(name, value) for name, value in tags.items()],
        )
        for file in (page, finished.folder / RESULTS):
            if file.is_file():
                client.log_artifact(run_id, str(file))
        status = "FINISHED"
    finally:
        client.set_terminated(run_id, status)
    return run_id


def _keys(finished: Finished) -> dict[str, str]:
    """The suites of a run, and their names as part of a tag."""
    return {name: re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") for name in finished.scored.suites}
