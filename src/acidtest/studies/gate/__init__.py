"""Is a candidate no worse than the last release, slice by slice: pass, fail or undecided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from acidtest.core.study import study
from acidtest.studies.gate.decision import (
    Measured,
    PlannedLoss,
    agreement,
    comparison_state,
    decide,
    measure_cues,
    measure_edits,
    measure_floors,
    measure_loss,
    missing_suites,
    planned_losses,
    require_slices,
    slices_of,
    unmatched,
)
from acidtest.studies.gate.examples import newly_right, newly_wrong
from acidtest.studies.gate.headline import describe_decision
from acidtest.studies.gate.pairing import GateInput, PairedSuites, SliceRows, gate_input, pair_sides
from acidtest.studies.gate.policy import GatePolicy, matches
from acidtest.studies.gate.result import (
    CheckKind,
    GateCheck,
    GateComparison,
    GateResult,
    GateState,
    GateTier,
)

_WORST_FIRST = (GateState.FAIL, GateState.UNDECIDED, GateState.PASS)


@dataclass(frozen=True)
class _Comparison:
    """One baseline and the candidate, with everything measured between them."""

    baseline: GateInput
    pairing: PairedSuites
    slices: list[SliceRows]
    measured: list[Measured]


@study()
def gate(
    baseline: Annotated[Any, "A run folder, a run, or a baseline file: the last release."],
    candidate: Annotated[Any, "A run folder, a run, or a baseline file: what is to be released."],
    *,
    policy: Annotated[GatePolicy, "What is asked of the candidate."] = GatePolicy(),  # noqa: B008
    slices: Annotated[tuple[str, ...], "Check these slices only, and require all of them: SUITE[:FACTOR=VALUE]."] = (),
    anchor: Annotated[Any, "A pinned release to compare with as well."] = None,
) -> GateResult:
    """Decide whether a candidate is no worse than the last release: pass, fail or undecided."""
    if slices:
        policy = policy.with_slices(slices)
    new = gate_input(candidate)
    sides = [gate_input(side) for side in (baseline, anchor) if side is not None]
    comparisons = [_measure(side, new, policy, slices, first=not number) for number, side in enumerate(sides)]
    confidence = policy.defaults.confidence
    decided = decide([comparison.measured for comparison in comparisons], confidence)
    results = tuple(
        _result(comparison, new, checks, policy) for comparison, checks in zip(comparisons, decided, strict=True)
    )
    state = next(state for state in _WORST_FIRST if any(result.state is state for result in results))
    number = next(number for number, result in enumerate(results) if result.state is state)
    anchored = f" Against {results[number].baseline.name}, the anchor." if number else ""
    headline = describe_decision(results[number], comparisons[number].pairing, policy)
    return GateResult(state, f"{headline}{anchored}", new.side, results, policy.describe())


def _measure(
    baseline: GateInput, candidate: GateInput, policy: GatePolicy, names: Sequence[str], *, first: bool
) -> _Comparison:
    """Everything that a policy asks, measured; floors and cue limits only once."""
    pairing = pair_sides(baseline, candidate)
    slices = slices_of(pairing)
    require_slices(names, slices)
    planned = list(planned_losses(policy, slices))
    measured = [measure_loss(one, policy) for one in planned]
    measured += [*_unmatched_rules(policy, planned, slices), *missing_suites(policy, pairing)]
    if first:
        measured += measure_floors(policy, slices)
        measured += [*measure_edits(policy, candidate, pairing), *measure_cues(policy, candidate)]
    return _Comparison(baseline, pairing, slices, measured)


def _unmatched_rules(policy: GatePolicy, planned: Sequence[PlannedLoss], slices: Sequence[SliceRows]) -> list[Measured]:
    names = [one.rows.name for one in planned]
    return [
        unmatched(rule, CheckKind.LOSS, rule.margin or policy.defaults.margin or 0, slices)
        for rule in policy.slices
        if not any(matches(rule.match, name) for name in names)
    ]


def _result(
    comparison: _Comparison, candidate: GateInput, checks: list[GateCheck], policy: GatePolicy
) -> GateComparison:
    ordered = sorted(checks, key=_gravity)
    by_name = {rows.name: rows for rows in comparison.slices}
    losses = [check for check in ordered if check.kind is CheckKind.LOSS and check.name in by_name]
    gains = sorted(losses, key=lambda check: check.loss.value if check.loss else 0.0)
    sides = comparison.baseline, candidate
    disagreement, equal_passes = agreement(checks, policy.defaults.confidence)
    return GateComparison(
        baseline=comparison.baseline.side,
        state=comparison_state(checks, policy.defaults.undecided),
        checks=tuple(ordered),
        newly_wrong=newly_wrong([by_name[check.name] for check in losses], sides),
        newly_right=newly_right([by_name[check.name] for check in gains], sides),
        notes=(*comparison.pairing.notes, *_unstable_model(*sides, losses)),
        disagreement=disagreement,
        equal_passes=equal_passes,
    )


def _unstable_model(baseline: GateInput, candidate: GateInput, losses: Sequence[GateCheck]) -> Iterator[str]:
    """A remark if both sides have one fingerprint, so that no prediction should differ, but some do."""
    changed = max((check.newly_wrong + check.newly_right for check in losses), default=0)
    if changed and baseline.model.fingerprint and baseline.model.fingerprint == candidate.model.fingerprint:
        yield (
            f"Both sides are the same model (fingerprint {candidate.model.fingerprint[:12]}), but at least {changed:,} "
            f"predictions changed between right and wrong: its predictions are not reproducible, or depend on settings "
            f"that the fingerprint does not cover"
        )


def _gravity(check: GateCheck) -> tuple[bool, int, int, float, float]:
    """Sorts checks that decide first, the surest failures before others; then by tier, state and loss."""
    fails = check.state is GateState.FAIL and check.tier is not GateTier.ADVISORY
    tier = 0 if fails else list(GateTier).index(check.tier)
    doubt = check.p_adjusted or 0.0 if fails else 0.0
    loss = check.loss.value if check.loss and check.loss.known else 0.0
    return not fails, tier, _WORST_FIRST.index(check.state), doubt, -loss
