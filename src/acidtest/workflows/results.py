"""Everything computed from one run, and how it is read from results.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from acidtest.core.document import Finding
from acidtest.core.errors import FileError
from acidtest.core.run import Run
from acidtest.core.serialise import from_json
from acidtest.core.structured import read_own_json
from acidtest.core.suite import CONTROL, CROSS
from acidtest.studies.contamination import (
    ModelContamination,
    contamination_finding,
    holds_the_four,
    measure_contamination,
)
from acidtest.studies.cue_profile import Profile
from acidtest.studies.scores import ModelScores, SuiteResult, score_run
from acidtest.studies.scores.diagnosis.untouched import UntouchedAccuracy
from acidtest.studies.scores.scorecard import describe_model
from acidtest.studies.verification.result import ModelGrounding
from acidtest.version import __version__

SCHEMA = 1
_REMEDY = "run it again with --fresh"


@dataclass(frozen=True)
class ModelSummary:
    """The model that the results are about."""

    spec: str
    name: str
    fingerprint: str | None
    resolution: Literal["three-way", "two-way"]
    probabilities: bool


@dataclass(frozen=True)
class RunResults:
    """Everything computed from a run."""

    acidtest: str
    signature: str
    model: ModelSummary
    suites: Mapping[str, SuiteResult]
    diagnosis: tuple[Finding, ...]
    profile: Profile | None = None
    contamination: ModelContamination | None = None
    untouched: UntouchedAccuracy | None = None
    grounding: ModelGrounding | None = None
    headline: str = ""
    """The one sentence about the model."""
    schema: int = SCHEMA

    def scores(self, run: Run) -> ModelScores:
        """The part that the study of scores shows."""
        return ModelScores(self.suites, self.diagnosis, self.profile, run, self.untouched, self.grounding)


def compute_results(run: Run) -> RunResults:
    """Score a run, and measure contamination if it has the four suites for that."""
    contamination = measure_contamination([run]) if holds_the_four([run]) else None
    scores = score_run(run, [contamination_finding(contamination)] if contamination else [])
    model = run.header.model
    return RunResults(
        acidtest=__version__,
        signature=" + ".join(result.signature for result in scores.suites.values()),
        model=ModelSummary(
            model.spec,
            model.name,
            model.fingerprint,
            "two-way" if model.resolution == "two-way" else "three-way",
            model.probabilities,
        ),
        suites=scores.suites,
        diagnosis=scores.diagnosis,
        profile=scores.profile,
        contamination=contamination,
        untouched=scores.untouched,
        grounding=scores.grounding,
        headline=describe_model(scores),
    )


def read_results(path: Path, run: Run) -> RunResults:
    """The results of a run from its results.json; a file that does not fit the run is refused."""
    fields = read_own_json(path, dict[str, Any], SCHEMA, remedy=_REMEDY)
    try:
        results: RunResults = from_json(RunResults, fields)
    except ValueError as error:
        raise FileError(path, f"{error}; {_REMEDY}") from error
    asked = [name for name in run.header.suites if not name.endswith(CONTROL)]
    if sorted(results.suites) != sorted(asked):
        raise FileError(path, f"suites: are not those of run.json, {', '.join(sorted(asked))}; {_REMEDY}")
    for name, suite in results.suites.items():
        for factors, values in suite.by.items():
            if any(value.count(CROSS) < factors.count(CROSS) for value in values):
                problem = f"suites.{name}: a value of {factors!r} has fewer parts than that has factors"
                raise FileError(path, f"{problem}; {_REMEDY}")
    return results
