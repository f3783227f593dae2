"""Accuracy of models on suites, by label, category and factor, and against untouched pairs, with a diagnosis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from acidtest.core.document import Finding
from acidtest.core.estimate import Estimate
from acidtest.core.run import Run
from acidtest.core.study import study
from acidtest.core.suite import CONTROL
from acidtest.io.published import PublishedScore, published_beside, published_notes
from acidtest.stats.significance import holm
from acidtest.studies.controls import AgainstControl, Pairing, against_control, score_with_control
from acidtest.studies.error_kinds import Confusion, Errors, confusion, correct_kinds, errors_by_kind
from acidtest.studies.rows import ScoredRows, accuracy, breakdowns, metrics, model_names
from acidtest.studies.scores.diagnosis import by_severity, findings
from acidtest.studies.scores.special_suites import consistency_metrics, consistency_notes, reading_notes


@dataclass(frozen=True)
class SuiteResult:
    """The numbers of one suite, as results.json holds them."""

    signature: str
    overall: Estimate
    metrics: Mapping[str, Estimate]
    by: Mapping[str, Mapping[str, Estimate]]
    vs_control: AgainstControl | None
    unanswered: int
    truncated: int
    collapse_differs: int | None
    published: tuple[PublishedScore, ...]
    strata: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    confusion: Confusion | None = None
    errors: Errors = field(default_factory=Errors)
    corpus: str = ""
    """The corpus whose pairs the suite was made from; empty if it was not made from pairs."""


@dataclass(frozen=True)
class ModelScores:
    """The results of one run's suites and the findings about them."""

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


def suite_results(run: Run) -> dict[str, SuiteResult]:
    """The results of every suite of a run.

    All tests of accuracy against a control are one family (Holm); tests of error kinds are corrected separately.
    """
    results = {name: _suite_result(run, name) for name in run.header.suites if not name.endswith(CONTROL)}
    tests = {name: result.vs_control for name, result in results.items() if result.vs_control}
    ps = dict(zip(tests, holm([test.p for test in tests.values()]), strict=True))
    corrected = {name: replace(test, p_adjusted=float(ps[name])) for name, test in tests.items()}
    kinds = correct_kinds({name: result.errors for name, result in results.items()})
    return {
        name: replace(result, vs_control=corrected.get(name), errors=kinds[name]) for name, result in results.items()
    }


def _suite_result(run: Run, name: str) -> SuiteResult:
    header = run.header
    rows, control, pairs = score_with_control(run, name)
    overall, by = accuracy(rows), breakdowns(rows)
    return SuiteResult(
        signature=header.signature(name),
        overall=overall,
        metrics=metrics(rows, overall, by["label"]) | consistency_metrics(rows),
        by=by,
        vs_control=against_control(rows, control, pairs),
        unanswered=rows.unanswered,
        truncated=header.truncated.get(name, 0),
        collapse_differs=rows.collapse_differs if header.model.probabilities else None,
        strata=rows.card.strata,
        published=tuple(published_beside(rows.card)),
        notes=(*consistency_notes(rows), *reading_notes(rows, control), *_notes(run, name, rows, pairs)),
        confusion=confusion(rows),
        errors=errors_by_kind(rows, control, pairs),
        corpus=str(rows.card.arguments.get("from", "")),
    )


def _notes(run: Run, name: str, rows: ScoredRows, pairs: Pairing | None) -> Iterator[str]:
    """Caveats that a reader of a suite's numbers must know."""
    if rows.card.categories:
        from acidtest.text.category_rules import proposal_caution

        yield from filter(None, [proposal_caution(rows.card.categories)])
    if truncated := run.header.truncated.get(name):
        yield f"{truncated:,} pairs were cut to fit the model"
    if run.header.model.resolution == "two-way":
        yield "the model has two labels: gold was coarsened to entailment and non-entailment"
    if rows.ties:
        yield f"in {rows.ties:,} rows the likeliest labels tie; entailment goes before neutral before contradiction"
    if rows.left_out:
        yield f"{rows.left_out:,} rows whose gold accepts both labels of a two-way model were left out"
    if pairs and not pairs.alike:
        yield "the untouched pairs have other gold than those made from them: the two are not compared"
    yield from published_notes(rows.card)
