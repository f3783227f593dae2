"""How often models are right: on whole suites, by label, category and factor, against untouched pairs, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from acidtest.core.document import Finding
from acidtest.core.run import Run
from acidtest.core.study import study
from acidtest.studies.rows import model_names
from acidtest.studies.scores.diagnosis import by_severity, findings
from acidtest.studies.scores.results import SuiteResult, suite_results


@dataclass(frozen=True)
class ModelScores:
    """One run: the results of its suites and the findings about them."""

    suites: Mapping[str, SuiteResult]
    diagnosis: tuple[Finding, ...]
    run: Run | None = field(default=None, metadata={"json": None})


@dataclass(frozen=True)
class ScoresResult:
    """The scores of every run, by the name of its model."""

    models: Mapping[str, ModelScores]


@study(applies=lambda runs: True)
def scores(runs: Annotated[Sequence[Run], "Run folders."]) -> ScoresResult:
    """Score runs: accuracy by label, category and factor, changes against untouched pairs, errors, and a diagnosis."""
    return ScoresResult({name: score_run(run) for name, run in zip(model_names(runs), runs, strict=True)})


def score_run(run: Run) -> ModelScores:
    """The scores of one run."""
    suites = suite_results(run)
    return ModelScores(suites, tuple(by_severity(findings(suites))), run)
