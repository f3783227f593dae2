"""Everything computed from one run: the content of results.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from acidtest.analysis.intervals import difference, rate
from acidtest.analysis.metrics import Scored, accuracy, breakdowns, collapse_differs, metrics, scored
from acidtest.analysis.published import published_scores
from acidtest.analysis.significance import holm, paired_test
from acidtest.core.estimate import Estimate
from acidtest.core.run import Run
from acidtest.core.suite import CONTROL


@dataclass(frozen=True)
class AgainstControl:
    """A suite beside its untouched pairs, row by row."""

    control: Estimate
    difference: Estimate
    test: str
    p: float
    p_adjusted: float = 1.0


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

    def to_json(self) -> dict[str, Any]:
        """As results.json holds it."""
        control = self.vs_control
        return {
            "signature": self.signature,
            "overall": self.overall.to_json(),
            "metrics": {name: value.to_json() for name, value in self.metrics.items()},
            "by": {name: {key: value.to_json() for key, value in part.items()} for name, part in self.by.items()},
            "vs_control": control
            and {
                "control": control.control.to_json(),
                "difference": control.difference.to_json(),
                "test": control.test,
                "p": control.p,
                "p_adjusted": control.p_adjusted,
            },
            "unanswered": self.unanswered,
            "truncated": self.truncated,
            "collapse_differs": self.collapse_differs,
            "published": list(self.published),
            "strata": list(self.strata),
            "notes": list(self.notes),
        }


def suite_results(run: Run) -> dict[str, SuiteResult]:
    """The results of every suite of a run, tests against controls corrected together."""
    rows = {name: scored(run, name) for name in run.header.suites}
    results = {name: _result(run, name, rows) for name in rows if not name.endswith(CONTROL)}
    tested = [name for name, result in results.items() if result.vs_control]
    controls = [result.vs_control for result in results.values() if result.vs_control]
    for name, control, p in zip(tested, controls, holm([control.p for control in controls]), strict=True):
        results[name] = replace(results[name], vs_control=replace(control, p_adjusted=float(p)))
    return results


def _result(run: Run, name: str, rows: Mapping[str, Scored]) -> SuiteResult:
    header, own = run.header, rows[name]
    control = rows.get(name + CONTROL)
    notes = []
    if header.model.resolution == "two-way":
        notes.append("the model has two labels: gold was coarsened to entailment and non-entailment")
    ties = own.ties
    if ties:
        notes.append(f"in {ties:,} rows the likeliest labels tie; entailment goes before neutral before contradiction")
    if own.left_out:
        notes.append(f"{own.left_out:,} rows whose gold accepts both labels of a two-way model were left out")
    published = published_scores(name)
    if published and own.card.arguments.get("words", "published") != "published":
        notes.append("the published systems were asked pairs with the paper's own words")
    return SuiteResult(
        signature=header.signature(name),
        overall=accuracy(own),
        metrics=metrics(own),
        by=breakdowns(own),
        vs_control=_against_control(own, control) if control else None,
        unanswered=own.unanswered,
        truncated=header.truncated.get(name, 0),
        collapse_differs=collapse_differs(own, header.collapse) if header.model.probabilities else None,
        strata=own.card.strata,
        published=[score.to_json() for score in published],
        notes=tuple(notes),
    )


def _against_control(own: Scored, control: Scored) -> AgainstControl | None:
    """Variant minus control on the rows that have a control."""
    right = control.frame.select(pl.col("id").alias("base_id")).with_columns(before=control.correct)
    pairs = own.frame.select("base_id").with_columns(
        after=own.correct, group=pl.Series(own.groups), stratum=pl.Series(own.strata)
    )
    pairs = pairs.join(right, on="base_id", how="inner", maintain_order="left")
    if not pairs.height:
        return None
    after, before = (pairs[name].to_numpy().astype(np.float64) for name in ("after", "before"))
    groups, strata = pairs["group"].to_numpy(), pairs["stratum"].to_numpy()
    test = paired_test(after, before, groups=groups)
    change = difference(after, before, groups=groups, strata=strata)
    # The control's accuracy on the pairs compared, so that it differs from the variant's by the difference.
    return AgainstControl(rate(before, groups=groups, strata=strata), change, test.name, test.p)
