"""Is a candidate no worse than the last release, slice by slice: pass, fail or undecided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import polars as pl

from acidtest.core.document import Pair
from acidtest.core.errors import list_some
from acidtest.core.run import ANSWER_COLUMNS
from acidtest.core.study import study
from acidtest.core.suite import CONTROL
from acidtest.stats.noninferiority import effective_rows
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
    points,
    require_slices,
    slices_of,
    unmatched,
)
from acidtest.studies.gate.pairing import GateInput, PairedSuites, SliceRows, gate_input, pair_sides
from acidtest.studies.gate.policy import LEAST_ROWS, GatePolicy, matches
from acidtest.studies.gate.result import (
    CheckKind,
    GateCheck,
    GateComparison,
    GateResult,
    GateState,
    GateTier,
)
from acidtest.studies.scoring.rows import with_texts
from acidtest.studies.scoring.slices import MOST_FACTS, confidence, describe_answer, spread

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


MOST_PAIRS = 5
_VERDICTS = {True: "right", False: "wrong"}


def newly_wrong(slices: Sequence[SliceRows], sides: tuple[GateInput, GateInput]) -> tuple[Pair, ...]:
    """Pairs that only the baseline gets right, from the first of the slices that have any.

    Of a baseline file only verdicts are known; without a run on either side there are no texts, and no pairs.
    """
    return _examples(slices, sides, right=0)


def newly_right(slices: Sequence[SliceRows], sides: tuple[GateInput, GateInput]) -> tuple[Pair, ...]:
    """Pairs that only the candidate gets right, from the first of the slices that have any."""
    return _examples(slices, sides, right=1)


def _examples(slices: Sequence[SliceRows], sides: tuple[GateInput, GateInput], right: int) -> tuple[Pair, ...]:
    """Up to five pairs that only the side with this number gets right; later slices fill what earlier ones lack."""
    pairs: dict[tuple[str, str], Pair] = {}
    for rows in slices:
        if len(pairs) >= MOST_PAIRS:
            break
        for pair in _slice_examples(rows, sides, right):
            pairs.setdefault((rows.suite.name, pair.id), pair)
    return tuple(pairs.values())[:MOST_PAIRS]


def _slice_examples(rows: SliceRows, sides: tuple[GateInput, GateInput], right: int) -> list[Pair]:
    suite, prefixes = rows.suite, ("before_", "after_")
    verdicts = suite.before, suite.after
    chosen = np.flatnonzero(rows.rows & verdicts[right] & ~verdicts[1 - right])
    if suite.described is None or not len(chosen):
        return []
    scored, described = suite.described
    columns = scored.frame[described[chosen]]
    answers = [
        side.scored.frame[places[chosen]].select(pl.col(*ANSWER_COLUMNS).name.prefix(prefix))
        for side, places, prefix in zip(suite.sides, suite.places, prefixes, strict=True)
        if side.scored is not None
    ]
    frame = pl.concat([columns, *answers], how="horizontal")
    wrong = sides[1 - right].run
    sure = np.zeros(len(chosen)) if wrong is None else confidence(frame, wrong, prefixes[1 - right])
    factors = [name for name in dict.fromkeys((*scored.card.strata, *scored.card.factors)) if name in columns.columns]
    shown = frame[spread(columns, factors, sure, count=MOST_PAIRS)]
    names = side_names(sides)
    pairs = []
    for row in with_texts(shown, scored.run, suite.name).iter_rows(named=True):
        given = {
            name: _VERDICTS[number == right] if side.run is None else describe_answer(row, side.run, prefix)
            for number, (name, side, prefix) in enumerate(zip(names, sides, prefixes, strict=True))
        }
        facts = [(name, str(row[name])) for name in factors if row[name] is not None]
        about = {"suite": suite.name, **dict(facts[:MOST_FACTS])}
        pairs.append(Pair(row["premise"], row["hypothesis"], row["label"], given, about, row["id"]))
    return pairs


def side_names(sides: tuple[GateInput, GateInput]) -> tuple[str, str]:
    """The names of the two sides, or what they are if both have the same."""
    first, second = (side.side.name for side in sides)
    return (first, second) if first != second else ("baseline", "candidate")


_VERDICT_WORDS = {GateState.PASS: "Pass", GateState.FAIL: "Fail", GateState.UNDECIDED: "Undecided"}
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
    checks, verdict = comparison.checks, _VERDICT_WORDS[comparison.state]
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
