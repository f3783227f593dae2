"""Whether verdicts on changed pairs are as expected, given those on the untouched ones (Ribeiro et al. 2020).

Invariance tests expect the same verdict, directional ones that a label is not answered more, or not less, often. No
gold is needed: the verdict on a changed pair is compared with that on the pair it was made from. Only pairs that can
fail count: where entailment was answered before, *not more entailment* holds whatever is answered after.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from acidtest.core.document import Finding
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import whole_percent
from acidtest.core.suite import EXPECTATION
from acidtest.stats.intervals import rate
from acidtest.stats.resampling import taken
from acidtest.studies.controls import Pairing
from acidtest.studies.rows import Flags, ScoredRows

HOLDS = "expectation holds"
"""The metric of a suite whose rows have an expectation; with ``: CHANGE (EXPECTATION)``, that of one change."""

KEPT = 0.95
"""An expectation is kept if it surely holds on at least this share of pairs, and broken if it surely does not."""

_CAN_FAIL = " that can fail"

BREAKS = "breaks"
CHANGE = "change"

_Answers = npt.NDArray[np.int8]


def expectation_metrics(rows: ScoredRows, control: ScoredRows | None, pairs: Pairing | None) -> dict[str, Estimate]:
    """The share of pairs whose expectation holds, of those where it can fail, in all and by change.

    Nothing for suites without expectations.
    """
    if control is None or pairs is None or EXPECTATION not in rows.card.factors:
        return {}
    codes, kinds = rows.coded(EXPECTATION, *([CHANGE] if CHANGE in rows.card.factors else []))
    kind = taken(codes, pairs.own)
    before, after = taken(control.answer, pairs.control), taken(rows.answer, pairs.own)
    holds, asked = np.zeros(kind.size, dtype=np.bool_), np.zeros(kind.size, dtype=np.bool_)
    parts = dict[str, Flags]()
    for code, (expectation, *change) in enumerate(kinds.iter_rows()):
        here = kind == code
        compared = _keeps(str(expectation), before, after, rows.labels)
        if compared is None:
            continue
        keeps, can_fail = compared
        holds[here], asked[here] = keeps[here], can_fail[here]
        parts[f"{HOLDS}: {change[0]} ({expectation})" if change else f"{HOLDS}: {expectation}"] = here & can_fail
    return {HOLDS: _share(holds, asked, pairs)} | {name: _share(holds, here, pairs) for name, here in parts.items()}


def pairs_with_gold(rows: ScoredRows, control: ScoredRows | None, pairs: Pairing | None) -> Pairing | None:
    """The pairing of the rows that are judged by gold; all of it in suites without expectations."""
    if control is None or pairs is None or rows.judged is None:
        return pairs
    part = pairs.part(rows.judged)
    alike = np.array_equal(taken(rows.gold, part.own), taken(control.gold, part.control))
    return replace(part, alike=alike) if part.own.size else None


def expectation_notes(metrics: Mapping[str, Estimate]) -> Iterator[str]:
    """A sentence for each change: on how many pairs what was expected holds."""
    for name, share in metrics.items():
        if name.startswith(f"{HOLDS}: ") and share.known:
            change = name.removeprefix(f"{HOLDS}: ")
            yield f"{change} holds on {_describe(share, change)}"


def _keeps(expectation: str, before: _Answers, after: _Answers, labels: tuple[str, ...]) -> tuple[Flags, Flags] | None:
    """Whether each pair of answers is as expected, and whether it could have failed, given the answer before.

    None for what a model with these labels cannot be asked. A pair without an answer breaks every expectation.
    """
    answered = (before >= 0) & (after >= 0)
    if expectation in ("same verdict", "other verdict"):
        return answered & ((before == after) == (expectation == "same verdict")), np.ones_like(answered)
    way, _, label = expectation.removeprefix("not ").partition(" ")
    if label not in labels:
        return None
    was, becomes = before == labels.index(label), after == labels.index(label)
    fails, can_fail = (becomes & ~was, ~was) if way == "more" else (was & ~becomes, was)
    return answered & ~fails, can_fail | ~answered


def _share(holds: Flags, chosen: Flags, pairs: Pairing) -> Estimate:
    empty = "no pair on which it could fail, given this model's labels and its answers to the untouched pairs"
    return rate(holds[chosen], groups=pairs.groups[chosen], strata=pairs.strata[chosen], empty=empty)


def expectation_verdict(metrics: Mapping[str, Estimate]) -> str:
    """A word for the scorecard: *breaks*, *holds* or *too few to say*; empty for suites without expectations."""
    changes = [share for name, share in metrics.items() if name.startswith(f"{HOLDS}: ")]
    if not changes:
        return ""
    if any(share.high < KEPT for share in changes):
        return BREAKS
    return "holds" if all(share.low >= KEPT for share in changes) else "too few to say"


def expectation_findings(metrics: Mapping[str, Mapping[str, Estimate]]) -> Iterator[Finding]:
    """A finding for each suite that has expectations which surely do not hold; ``metrics`` are those of suites."""
    for suite, shares in metrics.items():
        low = {
            name.removeprefix(f"{HOLDS}: "): share
            for name, share in shares.items()
            if name.startswith(f"{HOLDS}: ") and share.high < KEPT
        }
        if not low:
            continue
        worst = min(low, key=lambda name: low[name].value)
        text = f"does not keep to what was expected: {worst} holds on only {whole_percent(low[worst].value)} of pairs"
        text += _CAN_FAIL if _is_directional(worst) else ""
        if len(low) > 1:
            text += f", and {len(low) - 1} more {'does' if len(low) == 2 else 'do'} not hold"
        evidence = tuple(f"{name}: holds on {_describe(share, name)}" for name, share in low.items())
        size = 1 - low[worst].value
        grave = size >= 0.2 and 1 - low[worst].high >= 0.1
        yield Finding("E1", "severe" if grave else "warning", text, suite, evidence, {}, (suite,), size)


def _describe(share: Estimate, change: str) -> str:
    can_fail = _CAN_FAIL if _is_directional(change) else ""
    low, high = (f"{100 * end:.1f}" for end in (share.low, share.high))
    return f"{100 * share.value:.1f} % of {share.n:,} pairs{can_fail} ({low}–{high})"


def _is_directional(change: str) -> bool:
    """Whether a change expects what can fail on some pairs only, given the answers before."""
    return re.search(r"\bnot (?:more|less) [\w-]+\)?$", change) is not None
