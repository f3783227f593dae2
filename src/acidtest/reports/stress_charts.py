"""Charts of the stress tests: what a change costs, what errors are made of, how much repetition a model bears."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from acidtest.core.estimate import Estimate
from acidtest.core.run import Run
from acidtest.core.suite import CROSS
from acidtest.reports.charts import Bar, Bars, Chart, Curve, Curves, Row, Shades, rate_axis
from acidtest.reports.sections import Entry, estimate
from acidtest.reports.stress import (
    LADDER,
    SPELLING,
    UNTOUCHED,
    Results,
    accuracy_place,
    error_kinds,
    nested,
    stress_suites,
    suite_title,
)
from acidtest.studies.rows import breakdown, score_rows

CHANCE = 1 / 3
KINDS = ("false entailment", "false neutral", "false contradiction")
_RUNG = ("side", "place", "repetitions")
_SIDES, _PLACES = ("premise", "hypothesis", "both"), ("start", "middle", "end")


def cost_chart(models: Mapping[str, Results]) -> Chart | None:
    """Accuracy on each stress test, of spelling the slice that table 3 has, beside that on the untouched pairs."""
    rows = []
    for suite in stress_suites(models):
        own = {model: results[suite] for model, results in models.items() if suite in results}
        before = {m: estimate(r["vs_control"]["control"]) for m, r in own.items() if r["vs_control"]}
        place = accuracy_place(models, suite)
        after = {model: found for model in own if (found := nested(models[model], suite, *place))}
        title = suite_title(suite) if place == ("overall",) else f"{suite_title(suite)}: {SPELLING[place[-1]]}"
        rows.append(Row(title, after, before=before))
    axis = rate_axis(CHANCE)
    return Chart(tuple(rows), replace(axis, title=f"{axis.title}; hollow: untouched pairs")) if rows else None


def error_bars(models: Mapping[str, Results]) -> Bars | None:
    """What the errors on each stress test are made of, the untouched pairs' above them."""
    bars = []
    for suite in stress_suites(models):
        heading = suite_title(suite)
        for model, results in models.items():
            kinds = error_kinds(results.get(suite, {}))
            shown = [kinds[kind] for kind in KINDS if kind in kinds]
            if not shown or not results[suite]["errors"]["n"]:
                continue
            parts, errors = [kinds.get(kind) for kind in KINDS], results[suite]["errors"]
            compared = all(kind["vs_control"] for kind in shown) and errors["control_n"]
            if compared:
                before = (part["vs_control"]["share"]["control"]["value"] if part else 0.0 for part in parts)
                bars.append(Bar(_bar_name(model, models, UNTOUCHED), tuple(before), errors["control_n"], heading))
            shares = tuple(part["share"]["value"] if part else 0.0 for part in parts)
            name = _bar_name(model, models, "changed pairs" if compared else "all pairs")
            bars.append(Bar(name, shares, errors["n"], heading))
    return Bars(KINDS, tuple(bars), "share of all errors") if bars else None


def ladder_charts(models: Mapping[str, Entry]) -> tuple[Curves, Shades] | None:
    """Accuracy by how often a tautology is repeated at the end of the premise, and by where it stands once."""
    found = {
        model: _rungs(entry.run, suite)
        for model, entry in models.items()
        for suite in entry.results["suites"]
        if suite.partition(":")[0] == LADDER
    }
    controls = {
        model: estimate(result["vs_control"]["control"])
        for model, entry in models.items()
        for suite, result in entry.results["suites"].items()
        if suite.partition(":")[0] == LADDER and result["vs_control"]
    }
    curves = {model: _curve(rungs, controls.get(model)) for model, rungs in found.items()}
    curves = {model: curve for model, curve in curves.items() if len(curve.points) > 1}
    if not curves:
        return None
    title = "repetitions of the tautology at the end of the premise"
    grids = {
        model: {(side, place): one for (side, place, times), one in rungs.items() if times == 1}
        for model, rungs in found.items()
    }
    return Curves(curves, rate_axis(), title), Shades(_SIDES, _PLACES, grids, "one tautology, by side and place")


def _bar_name(model: str, models: Mapping[str, Results], pairs: str) -> str:
    return f"{model}, {pairs}" if len(models) > 1 else pairs


def _rungs(run: Run, suite: str) -> dict[tuple[str, str, int], Estimate]:
    """Accuracy on every rung of the ladder."""
    found = breakdown(score_rows(run, suite), _RUNG)
    keys = {key: key.split(CROSS) for key in found}
    return {(side, place, int(times)): found[key] for key, (side, place, times) in keys.items()}


def _curve(rungs: Mapping[tuple[str, str, int], Estimate], control: Estimate | None) -> Curve:
    own = [(times, one) for (side, place, times), one in rungs.items() if (side, place) == ("premise", "end")]
    return Curve(tuple(sorted(own, key=lambda point: point[0])), control)
