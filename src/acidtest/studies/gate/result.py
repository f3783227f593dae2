"""What a gate decides, slice by slice, and why: the types that its document and its files for other programs read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from acidtest.core.document import Pair
from acidtest.core.estimate import Estimate

SCHEMA = 1


class GateState(StrEnum):
    """Whether a loss is shown to be small enough, shown to be too large, or neither."""

    PASS = "pass"
    FAIL = "fail"
    UNDECIDED = "undecided"


class CheckKind(StrEnum):
    """What a check compares: accuracy on a slice with the baseline's or with a floor, or a cue effect with a limit."""

    LOSS = "loss"
    FLOOR = "floor"
    CUE = "cue"


class GateTier(StrEnum):
    """What a check may decide: a required one must pass, a fail-only one may only fail, an advisory one is shown."""

    REQUIRED = "required"
    FAIL_ONLY = "fail-only"
    ADVISORY = "advisory"


@dataclass(frozen=True)
class GateCheck:
    """One check of a gate: a slice, what was measured there and what follows."""

    name: str
    """``hans``, ``hans:label=non-entailment``, or ``cues:overlap`` for the effect of a cue."""
    kind: CheckKind
    tier: GateTier
    state: GateState
    margin: float
    """What may be lost, the least accuracy of a floor, or the greatest effect of a cue; all as shares from 0 to 1."""
    baseline: Estimate | None
    """Accuracy of the baseline, from 0 to 1; None for floors and cues."""
    candidate: Estimate
    """Accuracy of the candidate, or the effect of the cue on it."""
    loss: Estimate | None
    """Baseline minus candidate on the same rows; None for floors and cues."""
    p: float | None
    """Of the test that the loss exceeds the margin."""
    p_adjusted: float | None
    rows: int
    groups: int
    effective_rows: float
    newly_wrong: int
    newly_right: int
    pairs_needed: int | None
    """Rows that would decide the check if nothing was lost; None if it is decided or no number would do."""
    reason: str
    """One sentence: what was shown, or what was missing."""

    @property
    def is_missing(self) -> bool:
        """Whether it stands for a suite of the baseline of which no row could be compared."""
        return self.kind is CheckKind.LOSS and self.state is GateState.UNDECIDED and not self.rows


@dataclass(frozen=True)
class GateSide:
    """One of the runs a gate compares."""

    name: str
    source: str
    """The folder or the file it was read from."""
    signature: str


@dataclass(frozen=True)
class GateComparison:
    """All checks of a candidate against one baseline: the last release, or an anchor."""

    baseline: GateSide
    state: GateState
    checks: tuple[GateCheck, ...]
    newly_wrong: tuple[Pair, ...]
    """The worst pairs that only the baseline got right; texts come from a run folder."""
    newly_right: tuple[Pair, ...]
    notes: tuple[str, ...]
    """Suites and rows that were not compared, and why."""


@dataclass(frozen=True)
class GateResult:
    """Whether a candidate may be released."""

    state: GateState
    headline: str
    candidate: GateSide
    comparisons: tuple[GateComparison, ...]
    """Against the baseline first, then against the anchor if there is one."""
    policy: str
    """The policy in words, or the file it was read from."""
    schema: int = SCHEMA
