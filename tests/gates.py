"""What tests of a gate's files share: decisions made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from acidtest.core.document import Pair
from acidtest.core.estimate import Estimate
from acidtest.studies.gate.result import (
    CheckKind,
    GateCheck,
    GateComparison,
    GateResult,
    GateSide,
    GateState,
    GateTier,
)

PAIR = Pair(
    "The judge by the actor saw the doctor.",
    "The actor saw the judge.",
    "non-entailment",
    {"release": "neutral 0.81", "candidate": "entailment 0.97"},
    {"subcase": "ln_preposition"},
    "hans-1",
)


def check(name: str = "hans:label=entailment", **facts: Any) -> GateCheck:
    """A required check of a slice that passes: 91.0 and 90.5 % of 15,000 rows."""
    usual: dict[str, Any] = {
        "kind": CheckKind.LOSS,
        "tier": GateTier.REQUIRED,
        "state": GateState.PASS,
        "margin": 0.024,
        "baseline": Estimate(0.91, 0.9, 0.92, 15000),
        "candidate": Estimate(0.905, 0.895, 0.915, 15000),
        "loss": Estimate(0.005, -0.002, 0.012, 15000),
        "p": 0.99,
        "p_adjusted": 1.0,
        "rows": 15000,
        "groups": 15000,
        "effective_rows": 14000.0,
        "newly_wrong": 300,
        "newly_right": 225,
        "pairs_needed": None,
        "reason": "at most 1.2 points are lost, fewer than 2.4",
    }
    return GateCheck(name, **{**usual, **facts})


LOST = check(
    "hans:label=non-entailment",
    state=GateState.FAIL,
    candidate=Estimate(0.71, 0.7, 0.72, 15000),
    loss=Estimate(0.2, 0.19, 0.21, 15000),
    p=1e-9,
    p_adjusted=2e-9,
    newly_wrong=3100,
    newly_right=100,
    reason="at least 19.0 points are lost, more than 2.4",
)
OPEN = check(
    "stress/antonymy:label=contradiction",
    state=GateState.UNDECIDED,
    rows=160,
    pairs_needed=420,
    reason="between −2.0 and +6.1 points are lost; 420 rows would decide it",
)
SUBCASE = check(
    "hans:subcase=ln_conjunction", tier=GateTier.FAIL_ONLY, state=GateState.UNDECIDED, reason="no loss is shown"
)
FLOOR = check(
    "hans", kind=CheckKind.FLOOR, tier=GateTier.ADVISORY, state=GateState.FAIL, margin=0.95, baseline=None, loss=None
)
CUE = check(
    "cues:overlap",
    kind=CheckKind.CUE,
    tier=GateTier.ADVISORY,
    state=GateState.PASS,
    margin=0.2,
    baseline=None,
    candidate=Estimate(0.05, 0.01, 0.09, 800),
    loss=None,
    p=None,
    p_adjusted=None,
)


def decision(state: GateState, *checks: GateCheck, **facts: Any) -> GateResult:
    """The decision of a gate with these checks against one baseline; ``facts`` replace those of the comparison."""
    comparison = GateComparison(
        GateSide("release", "release.acidtest", "hans|seed:0|model:release|acidtest:0.2.0"), state, checks, (), (), ()
    )
    return GateResult(
        state,
        f"The candidate is {state.value}.",
        GateSide("candidate", "acidtest-runs/candidate", "hans|seed:0|model:candidate|acidtest:0.2.0"),
        (replace(comparison, **facts),),
        "the default policy",
    )


PASSED = decision(GateState.PASS, check(), SUBCASE, FLOOR, CUE)
FAILED = decision(
    GateState.FAIL,
    check(),
    LOST,
    OPEN,
    SUBCASE,
    FLOOR,
    CUE,
    newly_wrong=(PAIR,),
    notes=("suite lexical: no such rows",),
)
UNDECIDED = decision(GateState.UNDECIDED, check(), OPEN)
