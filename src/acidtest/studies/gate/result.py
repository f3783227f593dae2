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
    """What a check compares: accuracy with the baseline or a floor, accepted edits or a cue effect with a limit."""

    LOSS = "loss"
    FLOOR = "floor"
    EDIT = "edit"
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
    """``hans``, ``hans:label=non-entailment``, ``edits:number`` or ``cues:overlap`` for a limit on an edit or a cue."""
    kind: CheckKind
    tier: GateTier
    state: GateState
    margin: float
    """What may be lost, the least accuracy of a floor, or the limit on an edit or a cue; all as shares from 0 to 1."""
    baseline: Estimate | None
    """Accuracy of the baseline, from 0 to 1; None unless the check is about a loss."""
    candidate: Estimate
    """Accuracy of the candidate, the share of edited claims it accepts, or the effect of the cue on it."""
    loss: Estimate | None
    """Baseline minus candidate on the same rows; None unless the check is about a loss."""
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
    missing_rows: int = 0
    """Rows that the baseline has and the candidate lacks; the check then passes only if the policy allows it."""

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
    disagreement: float | None = None
    """Share of the rows of required slices that exactly one of the two models gets right; None without such slices."""
    equal_passes: float | None = None
    """The chance that a model that disagrees as much and loses nothing passes all required slices."""


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
