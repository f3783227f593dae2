"""The stress tests of some models as the page shows them: the paper's tables, charts, and what errors are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from acidtest.reports.charts import Bars, Chart, Curves, Shades
from acidtest.reports.diagnosis import TO_CONTRADICTION
from acidtest.reports.error_tables import ConfusionLine, ErrorLine, confusion_lines, error_lines
from acidtest.reports.sections import Entry
from acidtest.reports.stress import PaperTable, Results, paper_tables, stress_suites
from acidtest.reports.stress_charts import cost_chart, error_bars, ladder_charts
from acidtest.studies.error_kinds import Errors, common_errors
from acidtest.studies.rows import score_rows


@dataclass(frozen=True)
class StressPage:
    """Everything in the section on stress tests; ``negation`` and ``confusions`` are by suite."""

    tables: Sequence[PaperTable]
    cost: Chart | None
    errors: Bars | None
    ladder: tuple[Curves, Shades] | None
    negation: Mapping[str, Sequence[ErrorLine]]
    confusions: Mapping[str, Sequence[ConfusionLine]]


def stress_page(models: Mapping[str, Entry]) -> StressPage | None:
    """The section on stress tests; None where no model was asked any."""
    results = results_of(models)
    suites = stress_suites(results)
    if not suites:
        return None
    by_suite = {suite: {model: own[suite] for model, own in results.items() if suite in own} for suite in suites}
    negation = {suite: error_lines(by_suite[suite], "rate", TO_CONTRADICTION) for suite in _of(suites, "negation")}
    confusions = {suite: confusion_lines(by_suite[suite]) for suite in _of(suites, "numerical")}
    return StressPage(
        tables=paper_tables(results, _common_errors(models, _of(suites, "numerical"))),
        cost=cost_chart(results),
        errors=error_bars(results),
        ladder=ladder_charts(models),
        negation={suite: lines for suite, lines in negation.items() if any(line.difference for line in lines)},
        confusions={suite: lines for suite, lines in confusions.items() if lines},
    )


def results_of(models: Mapping[str, Entry]) -> dict[str, Results]:
    """The suites of each model's results."""
    return {model: entry.results["suites"] for model, entry in models.items()}


def _common_errors(models: Mapping[str, Entry], suites: Sequence[str]) -> dict[str, Errors]:
    """The errors that all models make on some suites, where two models or more were asked."""
    asked = {suite: [entry.run for entry in models.values() if suite in entry.results["suites"]] for suite in suites}
    return {
        suite: common_errors([score_rows(run, suite) for run in runs]) for suite, runs in asked.items() if len(runs) > 1
    }


def _of(suites: Sequence[str], name: str) -> list[str]:
    return [suite for suite in suites if suite.partition(":")[0] == f"stress/{name}"]
