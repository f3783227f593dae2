"""Everything computed from one run: the content of results.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from acidtest.core.estimate import Estimate
from acidtest.core.run import Run
from acidtest.core.suite import CONTROL
from acidtest.io.published import published_beside, published_notes
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
    published: Sequence[dict[str, Any]]
    strata: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    confusion: Confusion | None = None
    errors: Errors = field(default_factory=Errors)
    corpus: str = ""
    """What the suite was made from, empty where it was not made from pairs."""

    def to_json(self) -> dict[str, Any]:
        """As results.json holds it."""
        return {
            "signature": self.signature,
            "overall": self.overall.to_json(),
            "metrics": {name: value.to_json() for name, value in self.metrics.items()},
            "by": {name: {key: value.to_json() for key, value in part.items()} for name, part in self.by.items()},
            "vs_control": self.vs_control and self.vs_control.to_json(),
            "unanswered": self.unanswered,
            "truncated": self.truncated,
            "collapse_differs": self.collapse_differs,
            "published": list(self.published),
            "strata": list(self.strata),
            "notes": list(self.notes),
            "confusion": self.confusion,
            "errors": self.errors.to_json(),
            "corpus": self.corpus,
        }


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
    header, own = run.header, score_rows(run, name)
    control = score_rows(run, name + CONTROL) if name + CONTROL in header.suites else None
    pairs = pairing(own, control) if control else None
    notes = consistency_notes(own) + reading_notes(own, control) + tag_notes(own)
    if header.truncated.get(name):
        notes.append(f"{header.truncated[name]:,} pairs were cut to fit the model")
    if header.model.resolution == "two-way":
        notes.append("the model has two labels: gold was coarsened to entailment and non-entailment")
    ties = own.ties
    if ties:
        notes.append(f"in {ties:,} rows the likeliest labels tie; entailment goes before neutral before contradiction")
    if own.left_out:
        notes.append(f"{own.left_out:,} rows whose gold accepts both labels of a two-way model were left out")
    if pairs and not pairs.alike:
        notes.append("the untouched pairs have other gold than those made from them: the two are not compared")
    notes += published_notes(own.card)
    return SuiteResult(
        signature=header.signature(name),
        overall=accuracy(own),
        metrics=metrics(own) | consistency_metrics(own),
        by=breakdowns(own),
        vs_control=pairs.rate(own.correct, control.correct) if control and pairs and pairs.alike else None,
        unanswered=own.unanswered,
        truncated=header.truncated.get(name, 0),
        collapse_differs=own.collapse_differs if header.model.probabilities else None,
        strata=own.card.strata,
        published=published_beside(own.card),
        notes=tuple(notes),
        confusion=confusion(own),
        errors=errors_by_kind(own, control, pairs),
        corpus=str(own.card.arguments.get("from", "")),
    )
