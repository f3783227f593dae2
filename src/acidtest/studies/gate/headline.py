"""The sentences a gate opens with: what was decided and by which slices, and what it does not rest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from acidtest.core.errors import list_some
from acidtest.core.suite import CONTROL
from acidtest.stats.noninferiority import effective_rows
from acidtest.studies.gate.decision import points
from acidtest.studies.gate.pairing import PairedSuites
from acidtest.studies.gate.policy import LEAST_ROWS, GatePolicy
from acidtest.studies.gate.result import CheckKind, GateCheck, GateComparison, GateState, GateTier

_VERDICTS = {GateState.PASS: "Pass", GateState.FAIL: "Fail", GateState.UNDECIDED: "Undecided"}
_MOST_SUITES = 3
"""Suites that a sentence names."""


MIN_NAMED_LOSS = 0.005
"""A passing slice is named if the lower bound of its loss exceeds this share."""


def describe_decision(comparison: GateComparison, pairing: PairedSuites, policy: GatePolicy) -> str:
    """What was decided and why, then what failed without deciding anything and what was compared in part only."""
    sentences = [_describe_state(comparison, policy)]
    if comparison.state is GateState.FAIL and (missing := [check for check in comparison.checks if check.is_missing]):
        sentences.append(_describe_missing(missing))
    sentences += [*_describe_advice(comparison.checks), *_describe_partial(pairing)]
    if comparison.state is GateState.PASS:
        sentences += _describe_tolerated(comparison.checks)
        sentences += _describe_small(pairing, policy)
    return " ".join(sentences)


def _describe_state(comparison: GateComparison, policy: GatePolicy) -> str:
    checks, verdict = comparison.checks, _VERDICTS[comparison.state]
    failing = [check for check in checks if check.state is GateState.FAIL and check.tier is not GateTier.ADVISORY]
    required = [check for check in checks if check.tier is GateTier.REQUIRED]
    tolerated = " The policy lets undecided pass." if comparison.state is GateState.PASS else ""
    if not checks:
        return "Fail: the policy matches no slice."
    if failing:
        more = f", and {len(failing) - 1} more failed" if len(failing) > 1 else ""
        return f"Fail: {_sentence(f'{failing[0].name} {failing[0].reason}{more}')}"
    if not required:
        if policy.slices:
            return f"{verdict}: the policy requires no slice, so that nothing is decided.{tolerated}"
        reason = f"none has {LEAST_ROWS} effective rows"
        advice = "evaluate more pairs, or set a margin for all (acidtest gate --margin POINTS)"
        return f"{verdict}: no slice is required ({reason}); {advice}.{tolerated}"
    if all(check.state is GateState.PASS for check in required):
        return f"Pass: {_describe_required(required)}."
    undecided = [check for check in required if check.state is GateState.UNDECIDED]
    missing = [check for check in undecided if check.is_missing]
    others = [check for check in undecided if not check.is_missing]
    reasons = [_describe_missing(missing)] if missing else []
    reasons += [_describe_undecided(others, len(required))] if others else []
    return f"{verdict}: {' '.join(reasons)}{tolerated}"


def _sentence(text: str) -> str:
    """The text with a full stop, unless it ends in a question."""
    return text if text.endswith("?") else f"{text}."


def _describe_missing(missing: Sequence[GateCheck]) -> str:
    """``hans and cues have no row in common: same suites, limit and seed?``; suites before their controls."""
    names = sorted((check.name for check in missing), key=lambda name: name.endswith(CONTROL))
    if len(names) > _MOST_SUITES:
        return f"{list_some(names, _MOST_SUITES)} have no row in common: same suites, limit and seed?"
    verb = "have" if len(names) > 1 else "has"
    return f"{' and '.join(names)} {verb} no row in common: same suites, limit and seed?"


def _describe_undecided(undecided: Sequence[GateCheck], required: int) -> str:
    names = list_some([check.name for check in undecided], 2)
    most = max((check.pairs_needed or 0 for check in undecided if (check.pairs_needed or 0) > check.rows), default=0)
    needed = f"; up to {most:,} pairs a slice would decide them" if most else ""
    near = [check for check in undecided if check.kind is CheckKind.LOSS and not check.missing_rows]
    if len(near) == len(undecided) and all(check.pairs_needed and check.pairs_needed <= check.rows for check in near):
        needed = "; it has enough pairs, but its loss is near the margin"
        if len(near) > 1:
            needed = "; they have enough pairs, but their losses are near the margins"
    if any(check.missing_rows for check in undecided):
        needed += "; the candidate lacks rows of the baseline (allow_missing_rows in a policy ignores them)"
    limits = (CheckKind.CUE, CheckKind.EDIT)
    unasked = [check.reason for check in undecided if check.kind in limits and not check.candidate.known]
    why = f" ({unasked[0]})" if unasked else ""
    verb = "is" if len(undecided) == 1 else "are"
    return f"{len(undecided)} of {required} required checks {verb} not decided: {names}{needed}{why}."


def _describe_tolerated(checks: Sequence[GateCheck]) -> Iterator[str]:
    """The required slices that lose accuracy, but less than their margin."""
    losses = [
        f"{check.name} loses {points(check.loss.value)} points ({points(check.loss.low)} to {points(check.loss.high)})"
        for check in checks
        if check.tier is GateTier.REQUIRED
        and check.kind is CheckKind.LOSS
        and check.loss
        and check.loss.low > MIN_NAMED_LOSS
    ]
    if losses:
        yield f"Within {'its margin' if len(losses) == 1 else 'their margins'}, {list_some(losses, 2)}."


def _describe_small(pairing: PairedSuites, policy: GatePolicy) -> Iterator[str]:
    """The suites that a pass does not vouch for, because they are too small to be required."""
    if policy.slices or policy.defaults.margin is not None:
        return
    small = [suite.name for suite in pairing.suites if effective_rows(suite.groups) < LEAST_ROWS]
    if small:
        least = f"fewer than {LEAST_ROWS} effective rows"
        yield f"Too small to be required ({least}), so this pass does not cover: {list_some(small, _MOST_SUITES)}."


def _describe_required(required: Sequence[GateCheck]) -> str:
    margins = sorted({check.margin for check in required if check.kind is CheckKind.LOSS})
    if not margins:
        return f"all {len(required)} required checks are good"
    span = points(margins[0]) if len(margins) == 1 else f"{points(margins[0])} to {points(margins[-1])}"
    slices = "the only required slice" if len(required) == 1 else f"all {len(required)} required slices"
    return f"on {slices} the candidate is shown to lose less than the margin ({span} points)"


def _describe_advice(checks: Sequence[GateCheck]) -> Iterator[str]:
    """What fails but is only advised."""
    failing = [check for check in checks if check.state is GateState.FAIL and check.tier is GateTier.ADVISORY]
    if failing:
        more = f", and {len(failing) - 1} more advisory checks fail" if len(failing) > 1 else ""
        yield f"Advisory, but failing: {_sentence(f'{failing[0].name} {failing[0].reason}{more}')}"


def _describe_partial(pairing: PairedSuites) -> Iterator[str]:
    """How many rows are compared of suites that the two sides share in part."""
    shares = [f"{suite.name} {suite.common:,} of {suite.baseline_rows:,}" for suite in pairing.partial]
    if shares:
        yield f"Rows of the baseline compared: {list_some(shares, _MOST_SUITES)}."
