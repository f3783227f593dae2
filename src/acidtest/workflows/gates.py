"""Gates: is a candidate no worse than the last release; and the files that hold a release to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.study import STUDIES
from acidtest.workflows.evaluations import AnyRun, run_of

if TYPE_CHECKING:
    from acidtest.studies.gate.policy import GatePolicy
    from acidtest.studies.gate.result import GateResult


def gate(
    baseline: AnyRun,
    candidate: AnyRun,
    *,
    policy: str | Path | GatePolicy | None = None,
    margin: float | None = None,
    slices: Sequence[str] = (),
    anchor: AnyRun | None = None,
) -> GateResult:
    """Decide whether a candidate is no worse than a baseline: runs, folders of runs, or baseline files.

    ``margin`` is in points, and replaces that of the policy; ``slices`` are the only ones that are checked, all
    required. ``anchor`` is a pinned release to compare with as well.
    """
    from acidtest.studies.gate.policy import GatePolicy, read_policy

    rules = policy if isinstance(policy, GatePolicy) else GatePolicy() if policy is None else read_policy(policy)
    if margin is not None:
        rules = rules.with_margin(margin)
    result: GateResult = STUDIES["gate"].compute(baseline, candidate, policy=rules, slices=tuple(slices), anchor=anchor)
    return result


def write_baseline(run: AnyRun, output: str | Path) -> Path:
    """Write what a run got right, row by row and without its texts, as a small file to commit."""
    from acidtest.io.baselines import write_baseline_file
    from acidtest.studies.gate.pairing import baseline_of

    return write_baseline_file(baseline_of(run_of(run)), output)
