"""The scores of one run, suite by suite: what results.json holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from acidtest.core.estimate import Estimate
from acidtest.core.run import Run
from acidtest.core.suite import CONTROL
from acidtest.io.published import PublishedScore, published_beside, published_notes
from acidtest.stats.significance import holm
from acidtest.studies.consistency import consistency_metrics, consistency_notes
from acidtest.studies.controls import AgainstControl as AgainstControl
from acidtest.studies.controls import pairing
from acidtest.studies.error_kinds import Confusion, Errors, confusion, correct_kinds, errors_by_kind
from acidtest.studies.reading import reading_notes
from acidtest.studies.rows import accuracy, breakdowns, metrics, score_rows, tag_notes


@dataclass(frozen=True)
class SuiteResult:
    """The numbers of one suite."""

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
    """What the suite was made from, empty where it was not made from pairs."""


def suite_results(run: Run) -> dict[str, SuiteResult]:
    """The results of every suite of a run, tests against controls corrected together, those of error kinds apart."""
    results = {name: _result(run, name) for name in run.header.suites if not name.endswith(CONTROL)}
    tested = [name for name, result in results.items() if result.vs_control]
    controls = [result.vs_control for result in results.values() if result.vs_control]
    for name, control, p in zip(tested, controls, holm([control.p for control in controls]), strict=True):
        results[name] = replace(results[name], vs_control=replace(control, p_adjusted=float(p)))
    kinds = correct_kinds({name: result.errors for name, result in results.items()})
    return {name: replace(result, errors=kinds[name]) for name, result in results.items()}


def _result(run: Run, name: str) -> SuiteResult:
    header, rows = run.header, score_rows(run, name)
    control = score_rows(run, name + CONTROL) if name + CONTROL in header.suites else None
    pairs = pairing(rows, control) if control else None
    notes = consistency_notes(rows) + reading_notes(rows, control) + tag_notes(rows)
    if header.truncated.get(name):
        notes.append(f"{header.truncated[name]:,} pairs were cut to fit the model")
    if header.model.resolution == "two-way":
        notes.append("the model has two labels: gold was coarsened to entailment and non-entailment")
    ties = rows.ties
    if ties:
        notes.append(f"in {ties:,} rows the likeliest labels tie; entailment goes before neutral before contradiction")
    if rows.left_out:
        notes.append(f"{rows.left_out:,} rows whose gold accepts both labels of a two-way model were left out")
    if pairs and not pairs.alike:
        notes.append("the untouched pairs have other gold than those made from them: the two are not compared")
    notes += published_notes(rows.card)
    return SuiteResult(
        signature=header.signature(name),
        overall=accuracy(rows),
        metrics=metrics(rows) | consistency_metrics(rows),
        by=breakdowns(rows),
        vs_control=pairs.rate(rows.correct, control.correct) if control and pairs and pairs.alike else None,
        unanswered=rows.unanswered,
        truncated=header.truncated.get(name, 0),
        collapse_differs=rows.collapse_differs if header.model.probabilities else None,
        strata=rows.card.strata,
        published=tuple(published_beside(rows.card)),
        notes=tuple(notes),
        confusion=confusion(rows),
        errors=errors_by_kind(rows, control, pairs),
        corpus=str(rows.card.arguments.get("from", "")),
    )
