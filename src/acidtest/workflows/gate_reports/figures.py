"""What all files about a gate's decision share: how a check turned out, and its figures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from acidtest.core.document import describe_count
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import cell_text, interval, number_text
from acidtest.studies.gate.result import CheckKind, GateCheck, GateComparison, GateResult, GateState, GateTier


class Outcome(StrEnum):
    """How a check turned out for whoever must act: two of the five stop a release."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"
    """Required and neither shown to hold nor to be missed: not green."""
    TOLERATED = "tolerated"
    """Missed or undecided, but the policy lets it be."""
    SKIPPED = "skipped"
    """Fail-only and undecided: neither is a loss shown, nor that there is none."""


def outcome(check: GateCheck, comparison: GateComparison) -> Outcome:
    """How a check turned out, given what its tier may decide and what the comparison made of it."""
    if check.state is GateState.PASS:
        return Outcome.PASSED
    if check.tier is GateTier.FAIL_ONLY and check.state is GateState.UNDECIDED:
        return Outcome.SKIPPED
    if check.tier is GateTier.ADVISORY or comparison.state is GateState.PASS:
        return Outcome.TOLERATED
    return Outcome.FAILED if check.state is GateState.FAIL else Outcome.UNDECIDED


def policy_file(result: GateResult) -> Path | None:
    """The file of the policy; None if the gate followed the default policy."""
    try:
        return Path(result.policy) if Path(result.policy).is_file() else None
    except OSError:  # a policy in words may be too long for the name of a file
        return None


def state_outcome(state: GateState) -> Outcome:
    """The outcome of a whole comparison or gate."""
    return {
        GateState.PASS: Outcome.PASSED,
        GateState.FAIL: Outcome.FAILED,
        GateState.UNDECIDED: Outcome.UNDECIDED,
    }[state]


def outcomes(result: GateResult) -> Iterator[tuple[GateComparison, GateCheck, Outcome]]:
    """All checks against all baselines, with how they turned out."""
    for comparison in result.comparisons:
        for check in comparison.checks:
            yield comparison, check, outcome(check, comparison)


def check_title(check: GateCheck) -> str:
    """The name of a check that no other of a comparison has: a floor may be on a slice that is compared as well."""
    return f"{check.name} (floor)" if check.kind is CheckKind.FLOOR else check.name


def figures(check: GateCheck) -> dict[str, str | int | float]:
    """The figures of a check by name, as programs read them: shares from 0 to 1; what is not known is left out."""
    estimates = {"baseline": check.baseline, "candidate": check.candidate, "loss": check.loss}
    values: dict[str, str | int | float | None] = {
        "kind": check.kind.value,
        "tier": check.tier.value,
        "state": check.state.value,
        "margin": check.margin,
        **{name: number for name, estimate in estimates.items() for name, number in _estimate_figures(name, estimate)},
        "p": check.p,
        "p_adjusted": check.p_adjusted,
        "rows": check.rows,
        "groups": check.groups,
        "effective_rows": check.effective_rows,
        "newly_wrong": check.newly_wrong,
        "newly_right": check.newly_right,
        "pairs_needed": check.pairs_needed,
        "missing_rows": check.missing_rows or None,
    }
    return {name: _rounded(value) for name, value in values.items() if value is not None and _is_finite(value)}


def _estimate_figures(name: str, estimate: Estimate | None) -> Iterator[tuple[str, float]]:
    if estimate is not None:
        yield name, estimate.value
        yield f"{name}_low", estimate.low
        yield f"{name}_high", estimate.high


def _is_finite(value: str | int | float) -> bool:
    return isinstance(value, str) or math.isfinite(value)


def _rounded(value: str | int | float) -> str | int | float:
    """Six significant digits: more are noise, and would differ between machines."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def change_text(check: GateCheck) -> str:
    """What was measured: ``91.0 → 71.0 %, −20.0 (−29.1 to −10.9)``, the number of a floor or cue, or a reason."""
    if not check.candidate.known:
        return check.candidate.note
    if check.kind is CheckKind.CUE:
        return cell_text(check.candidate, "points").line
    if check.baseline is None or check.loss is None:
        return f"{cell_text(check.candidate, 'percent').line} %"
    gain = Estimate(-check.loss.value, -check.loss.high, -check.loss.low, note=check.loss.note)
    shares = f"{number_text(check.baseline.value, 'percent')} → {number_text(check.candidate.value, 'percent')} %"
    within = interval(gain, "points")
    return f"{shares}, {number_text(gain.value, 'points')}{f' ({within})' if within else ''}"


def describe_outcome(check: GateCheck) -> str:
    """What was shown and on what it rests: ``lost …; 91.0 → 71.0 % of 150 rows, 40 newly wrong, …``."""
    if not check.rows or not check.candidate.known or check.kind is CheckKind.CUE:
        return check.reason
    rows = f"of {describe_count(check.rows, 'row')}"
    share = number_text(check.candidate.value, "percent")
    if check.kind is CheckKind.EDIT:
        return check.reason
    if check.baseline is None:
        return f"{check.reason}; {share} % {rows}"
    before = number_text(check.baseline.value, "percent")
    flips = f"{check.newly_wrong:,} newly wrong, {check.newly_right:,} newly right"
    return f"{check.reason}; {before} → {share} % {rows}, {flips}"


def margin_text(check: GateCheck) -> str:
    """The bound of a check: ``may lose 2.4``, ``at least 60.0 %``, ``at most 15.0 %``, ``at most 20.0``."""
    bound = number_text(check.margin, "percent")
    if check.kind is CheckKind.FLOOR:
        return f"at least {bound} %"
    if check.kind is CheckKind.EDIT:
        return f"at most {bound} %"
    return f"at most {bound}" if check.kind is CheckKind.CUE else f"may lose {bound}"
