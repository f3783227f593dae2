"""Which checks pass, which fail and which are undecided, and what follows for the candidate."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from acidtest.core.document import describe_count
from acidtest.core.errors import UnknownNameError
from acidtest.core.estimate import Estimate
from acidtest.core.labels import GOLD_MASKS, LABELS, verdicts
from acidtest.core.run import ANSWER_COLUMNS
from acidtest.core.suite import EDIT
from acidtest.io.wordlists import packaged_table
from acidtest.stats import contrasts
from acidtest.stats.intervals import clopper_pearson
from acidtest.stats.noninferiority import (
    POWER,
    effective_rows,
    equal_passes,
    is_below,
    loss_interval,
    p_above,
    pairs_needed,
    rate_p_above,
    rate_p_below,
)
from acidtest.stats.resampling import Codes
from acidtest.stats.significance import adjusted
from acidtest.studies.crossed_suites import crossed_suites, suites_in
from acidtest.studies.cue_profile import measure_profile
from acidtest.studies.gate.pairing import GateInput, PairedSuites, SliceRows, all_slices, subcase_factors
from acidtest.studies.gate.policy import (
    LEAST_GROUPS,
    LEAST_MARGIN,
    LEAST_ROWS,
    EditRule,
    FloorRule,
    GatePolicy,
    SliceRule,
    default_margin,
    matches,
)
from acidtest.studies.gate.result import CheckKind, GateCheck, GateState, GateTier
from acidtest.studies.scoring.rows import Flags, ScoredRows, score_rows

_EMPTY = Estimate(math.nan, note="no rows")
_METHOD = "Clopper–Pearson on effective rows"


@dataclass(frozen=True)
class PlannedLoss:
    """A slice to check, what it decides and how much it may lose."""

    rows: SliceRows
    tier: GateTier
    margin: float


@dataclass(frozen=True)
class Measured:
    """A check before the correction over all checks that may fail: ``passes`` is whether it is shown to be good."""

    check: GateCheck
    passes: bool


def slices_of(pairing: PairedSuites) -> list[SliceRows]:
    """All slices of all suites that are compared."""
    return [rows for suite in pairing.suites for rows in all_slices(suite)]


def planned_losses(policy: GatePolicy, slices: Sequence[SliceRows]) -> Iterator[PlannedLoss]:
    """The slices that a policy checks for losses."""
    for rows in slices:
        rule = next((rule for rule in policy.slices if matches(rule.match, rows.name)), None)
        if rule:
            points = policy.defaults.margin if rule.margin is None else rule.margin
            tier = GateTier(rule.tier)
            by_size = LEAST_MARGIN if tier is GateTier.FAIL_ONLY else float(default_margin(_planned_rows(policy, rows)))
            yield PlannedLoss(rows, tier, by_size if points is None else points / 100)
        elif not policy.only_matched:
            yield from _default_plan(policy, rows)


def _default_plan(policy: GatePolicy, rows: SliceRows) -> Iterator[PlannedLoss]:
    """Suites are required if they are large enough; labels, subcases and categories are fail-only.

    What is planned depends on the sizes of groups alone, never on predictions.
    """
    points, effective = policy.defaults.margin, _planned_rows(policy, rows)
    least = LEAST_MARGIN if points is None else points / 100
    # If a policy has rules, only they require anything.
    if not rows.factor and not policy.slices and (points is not None or effective >= LEAST_ROWS):
        margin = float(default_margin(effective)) if points is None else least
        yield PlannedLoss(rows, GateTier.REQUIRED, margin)
        return
    card = rows.suite.card
    factors = ("", "label", *(subcase_factors(card) if card else ()))
    if rows.factor in factors and (rows.group_count >= LEAST_GROUPS or not rows.factor):
        yield PlannedLoss(rows, GateTier.FAIL_ONLY, least)


def _planned_rows(policy: GatePolicy, rows: SliceRows) -> float:
    """Effective rows that tier and margin follow from: the baseline's, unless rows that the candidate lacks may be."""
    return rows.effective if policy.defaults.allow_missing_rows else rows.effective_in_baseline


def measure_loss(planned: PlannedLoss, policy: GatePolicy) -> Measured:
    """Baseline against candidate on the rows of one slice."""
    rows, margin, confidence = planned.rows, planned.margin, policy.defaults.confidence
    counts, effective = rows.counts, rows.effective
    scaled = counts.scaled(effective)
    interval = loss_interval(scaled, confidence=confidence)
    n, groups = int(counts.rows), rows.group_count
    loss = Estimate(counts.loss, interval.low, interval.high, n, groups, f"{interval.method}, on effective rows")
    needed = pairs_needed(counts.discordance, margin, confidence=confidence)
    # As many rows in groups as are worth so many independent ones.
    in_groups = None if needed is None else math.ceil(needed * n / effective)
    return Measured(
        GateCheck(
            name=rows.name,
            kind=CheckKind.LOSS,
            tier=planned.tier,
            state=GateState.UNDECIDED,
            margin=margin,
            baseline=_accuracy(rows, rows.suite.before),
            candidate=_accuracy(rows, rows.suite.after),
            loss=loss,
            p=p_above(scaled, margin),
            p_adjusted=None,
            rows=n,
            groups=groups,
            effective_rows=effective,
            newly_wrong=int(counts.newly_wrong),
            newly_right=int(counts.newly_right),
            pairs_needed=in_groups,
            reason="",
            missing_rows=rows.missing,
        ),
        is_below(scaled, margin, confidence=confidence) and _is_complete(rows.missing, policy),
    )


def _is_complete(missing: int, policy: GatePolicy) -> bool:
    """Whether a check may pass, given how many rows of the baseline the candidate lacks."""
    return not missing or policy.defaults.allow_missing_rows


def _share(flags: Flags, groups: Codes) -> tuple[Estimate, float]:
    """The share of flagged rows with its interval, and the independent rows that these are worth."""
    effective, share = effective_rows(groups), float(flags.mean())
    interval = clopper_pearson(share * effective, effective)
    return Estimate(share, interval.low, interval.high, len(flags), len(np.unique(groups)), _METHOD), effective


def _accuracy(rows: SliceRows, correct: Flags) -> Estimate:
    return _share(correct[rows.rows], rows.groups)[0]


def measure_floor(rule: FloorRule, rows: SliceRows, policy: GatePolicy) -> Measured:
    """The candidate's accuracy on a slice against the least that a policy allows."""
    confidence, floor = policy.defaults.confidence, rule.at_least / 100
    accuracy, effective = _accuracy(rows, rows.suite.after), rows.effective
    right = accuracy.value * effective
    check = GateCheck(
        name=rows.name,
        kind=CheckKind.FLOOR,
        tier=GateTier(rule.tier),
        state=GateState.UNDECIDED,
        margin=floor,
        baseline=None,
        candidate=accuracy,
        loss=None,
        p=rate_p_below(right, effective, floor),
        p_adjusted=None,
        rows=accuracy.n,
        groups=accuracy.groups,
        effective_rows=effective,
        newly_wrong=0,
        newly_right=0,
        pairs_needed=_rows_for_floor(accuracy.value, floor, confidence, accuracy.n / effective),
        reason="",
        missing_rows=rows.missing,
    )
    is_above = rate_p_above(right, effective, floor) <= 1 - confidence
    return Measured(check, is_above and _is_complete(rows.missing, policy))


def _rows_for_floor(share: float, floor: float, confidence: float, design: float) -> int | None:
    """Rows that would show an accuracy to lie above a floor, if it is as observed; None if it lies below.

    Without a wrong row, those with which a model that is right on all of them passes.
    """
    from scipy.special import ndtri

    if share <= floor:
        return None
    if share == 1:
        return math.ceil(design * math.log(1 - confidence) / math.log(floor)) if floor > 0 else None
    reach = float(ndtri(confidence)) * math.sqrt(floor * (1 - floor)) + float(ndtri(POWER)) * math.sqrt(
        share * (1 - share)
    )
    return math.ceil(design * (reach / (share - floor)) ** 2)


def measure_floors(policy: GatePolicy, slices: Sequence[SliceRows]) -> Iterator[Measured]:
    """Every floor of a policy on every slice that matches; a rule that matches none fails."""
    for rule in policy.floors:
        chosen = [rows for rows in slices if matches(rule.match, rows.name)]
        for rows in chosen:
            yield measure_floor(rule, rows, policy)
        if not chosen:
            yield unmatched(rule, CheckKind.FLOOR, rule.at_least, slices)


def unmatched(rule: SliceRule | FloorRule, kind: CheckKind, bound: float, slices: Sequence[SliceRows]) -> Measured:
    """The check of a rule that matches no slice, which fails: what is not checked is not good.

    The reason suggests a slice whose name is like that of the rule; the bound is in points or per cent.
    """
    pattern, tier, margin = rule.match, GateTier(rule.tier), bound / 100
    names = [rows.name for rows in slices]
    # A pattern for all values of a factor is like the name of that factor.
    known = names if not pattern.endswith("=*") else sorted({f"{name.partition('=')[0]}=*" for name in names})
    near = difflib.get_close_matches(pattern, known, n=1, cutoff=0.7)
    reason = "matches no slice that both sides have" + (f"; did you mean {near[0]!r}?" if near else "")
    check = _check_without_rows(pattern, kind, tier, margin, Estimate(math.nan, note=reason), reason)
    return Measured(replace(check, state=GateState.FAIL), passes=False)


def missing_suites(policy: GatePolicy, pairing: PairedSuites) -> Iterator[Measured]:
    """A required check, undecided, for every suite of the baseline that is required and cannot be compared.

    If a policy has rules, those are the suites that the first rule to match the suite or one of its labels requires.
    """
    margin = LEAST_MARGIN if policy.defaults.margin is None else policy.defaults.margin / 100
    for name, reason in pairing.missing.items():
        slices = (name, *(f"{name}:label={label}" for label in GOLD_MASKS))
        rules = [next((rule for rule in policy.slices if matches(rule.match, one)), None) for one in slices]
        if policy.slices and not any(rule and rule.tier == "required" for rule in rules):
            continue
        nothing = Estimate(math.nan, note=reason)
        check = _check_without_rows(name, CheckKind.LOSS, GateTier.REQUIRED, margin, nothing, reason)
        yield Measured(check, passes=False)


def _check_without_rows(
    name: str, kind: CheckKind, tier: GateTier, margin: float, candidate: Estimate, reason: str
) -> GateCheck:
    return GateCheck(
        name=name,
        kind=kind,
        tier=tier,
        state=GateState.UNDECIDED,
        margin=margin,
        baseline=None,
        candidate=candidate,
        loss=None,
        p=None,
        p_adjusted=None,
        rows=candidate.n,
        groups=candidate.groups,
        effective_rows=float(candidate.groups),
        newly_wrong=0,
        newly_right=0,
        pairs_needed=None,
        reason=reason,
    )


def measure_edits(policy: GatePolicy, candidate: GateInput, pairing: PairedSuites) -> Iterator[Measured]:
    """Every limit on edited claims that the candidate accepts, on each of its suites with that edit."""
    if not policy.edits:
        return
    run = candidate.run
    asked = [score_rows(run, name) for name, card in run.header.suites.items() if EDIT in card.factors] if run else []
    missing = {suite.name: int(suite.missing.sum()) for suite in pairing.suites}
    for rule in policy.edits:
        found = [(rows, flags) for rows in asked if (flags := _wrong_claims(rows, rule.edit)).any()]
        for rows, flags in found:
            name = f"edits:{rule.edit}" + (f" in {rows.card.name}" if len(found) > 1 else "")
            yield _measure_edit(name, rule, rows, flags, policy, missing.get(rows.card.name, 0))
        if not found:
            yield _edit_without_claims(rule, asked, run is not None)


def _wrong_claims(rows: ScoredRows, edit: str) -> Flags:
    """The claims that an edit made wrong: gold is not supported or, without gold, the edit is known to make it so."""
    flags = rows.column(pl.col(EDIT).eq_missing(edit)).to_numpy()
    unsupported = (rows.gold & GOLD_MASKS["entailment"]) == 0
    if _known_edits().get(edit) == "changes":
        unsupported |= rows.gold == GOLD_MASKS["any"]
    return np.asarray(flags & unsupported)


def _known_edits() -> dict[str, str]:
    """For each edit of ours whether it changes gold or keeps it."""
    return dict(packaged_table("grounding/edits.tsv").select("edit", "gold").iter_rows())


def _measure_edit(
    name: str, rule: EditRule, rows: ScoredRows, chosen: Flags, policy: GatePolicy, missing: int
) -> Measured:
    limit, confidence = rule.at_most / 100, policy.defaults.confidence
    # The rule of the run decides; a claim without a prediction is not accepted.
    probabilities = np.column_stack([rows.column(pl.col(name)).to_numpy() for name in ANSWER_COLUMNS[: len(LABELS)]])
    entailed = np.full(rows.height, GOLD_MASKS["entailment"], dtype=np.uint8)
    supported = verdicts(probabilities, entailed, collapse=rows.run.header.collapse)
    share, effective = _share(supported[chosen], rows.groups[chosen])
    accepted = share.value * effective
    needed = _rows_for_floor(1 - share.value, 1 - limit, confidence, share.n / effective)
    check = _check_without_rows(name, CheckKind.EDIT, GateTier(rule.tier), limit, share, "")
    check = replace(
        check,
        p=rate_p_above(accepted, effective, limit),
        effective_rows=effective,
        pairs_needed=needed,
        missing_rows=missing,
    )
    is_below_limit = rate_p_below(accepted, effective, limit) <= 1 - confidence
    return Measured(check, is_below_limit and _is_complete(missing, policy))


def _edit_without_claims(rule: EditRule, asked: Sequence[ScoredRows], is_run: bool) -> Measured:
    """The check of a limit for which the candidate has no claims: undecided, or failed if the edit does not exist."""
    of_run = {name for rows in asked for name in rows.column(pl.col(EDIT)).drop_nulls().unique()}
    known = sorted({*_known_edits(), *of_run})
    state = GateState.UNDECIDED
    reason = f"the candidate has no wrong claims of this edit (suite grounding/{rule.edit})"
    if not is_run:
        reason = "a baseline file does not know which claims were edited; give the candidate's run folder"
    elif rule.edit not in known:
        state, reason = GateState.FAIL, str(UnknownNameError("edit", rule.edit, known))
    nothing = Estimate(math.nan, note=reason)
    check = _check_without_rows(
        f"edits:{rule.edit}", CheckKind.EDIT, GateTier(rule.tier), rule.at_most / 100, nothing, reason
    )
    return Measured(replace(check, state=state), passes=False)


def measure_cues(policy: GatePolicy, candidate: GateInput) -> Iterator[Measured]:
    """Every limit on a cue; it passes if no interval of a profile, which all hold together, allows a larger effect."""
    if not policy.cues:
        return
    run = candidate.run
    profiles = {suite.name: measure_profile(run, suite.name) for suite in suites_in(run)} if run else {}
    for rule in policy.cues:
        limit, tier = rule.at_most / 100, GateTier(rule.tier)
        suite = next(suite for suite in crossed_suites().values() if rule.cue in suite.cues)
        missing = f"the candidate was not asked suite {suite.name}" if run else "a baseline file has no cue effects"
        profile = profiles.get(suite.name)
        cue = profile.cues[rule.cue] if profile else None
        # A cue is limited in both directions: its absence may push as far as its presence.
        effect = cue.size if cue else Estimate(math.nan, note=missing)
        reason = "" if effect.known else effect.note
        check = _check_without_rows(f"cues:{rule.cue}", CheckKind.CUE, tier, limit, effect, reason)
        p = contrasts.p_above(effect, limit, tests=profile.tests) if profile and effect.known else None
        yield Measured(replace(check, p=p), cue is not None and effect.known and cue.bound <= limit)


def decide(measured: Sequence[Sequence[Measured]], confidence: float) -> list[list[GateCheck]]:
    """The checks of every comparison with their states; failing is corrected over all of them (Holm).

    Advisory checks are a family of their own.
    """
    flat = [(number, one) for number, part in enumerate(measured) for one in part]
    checks: list[list[GateCheck]] = [[] for _ in measured]
    advisory = [one.check.tier is GateTier.ADVISORY for _, one in flat]
    corrected = np.full(len(flat), math.nan)
    for family in (True, False):
        places = [place for place, shown in enumerate(advisory) if shown is family]
        corrected[places] = adjusted([flat[place][1].check.p for place in places])
    for (number, one), p_adjusted in zip(flat, corrected, strict=True):
        checks[number].append(_decided(one, float(p_adjusted), 1 - confidence))
    return checks


def _decided(measured: Measured, p_adjusted: float, alpha: float) -> GateCheck:
    check = measured.check
    state = check.state
    if p_adjusted <= alpha:
        state = GateState.FAIL
    elif measured.passes and state is GateState.UNDECIDED:
        state = GateState.PASS
    needed = check.pairs_needed if state is GateState.UNDECIDED else None
    known = None if math.isnan(p_adjusted) else p_adjusted
    check = replace(check, state=state, p_adjusted=known, pairs_needed=needed)
    return replace(check, reason=check.reason or describe_check(check))


def comparison_state(checks: Sequence[GateCheck], undecided: str) -> GateState:
    """What the checks of a comparison amount to: no checks fail, and without a required one nothing is decided."""
    required = [check for check in checks if check.tier is GateTier.REQUIRED]
    if not checks or any(check.state is GateState.FAIL and check.tier is not GateTier.ADVISORY for check in checks):
        return GateState.FAIL
    if required and all(check.state is GateState.PASS for check in required):
        return GateState.PASS
    return GateState(undecided)


def agreement(checks: Sequence[GateCheck], confidence: float) -> tuple[float | None, float | None]:
    """How much the models disagree on required slices, and how likely a model that loses nothing passes them all.

    The chance takes slices as independent, and every slice to have the disagreement observed on it.
    """
    required = [check for check in checks if check.tier is GateTier.REQUIRED and check.kind is CheckKind.LOSS]
    rows = sum(check.rows for check in required)
    if not rows:
        return None, None
    chances = (
        equal_passes(
            (check.newly_wrong + check.newly_right) / check.rows,
            check.effective_rows,
            check.margin,
            confidence=confidence,
        )
        for check in required
        if check.rows
    )
    return sum(check.newly_wrong + check.newly_right for check in required) / rows, math.prod(chances)


def require_slices(names: Sequence[str], slices: Sequence[SliceRows]) -> None:
    """Raise when a slice that was named on the command line is not there."""
    known = [rows.name for rows in slices]
    for name in names:
        if not any(matches(name, other) for other in known):
            raise UnknownNameError("slice", name, known)


def describe_check(check: GateCheck) -> str:
    """What was shown on a slice, in a sentence."""
    if check.kind is CheckKind.CUE:
        bounds = f"{points(check.candidate.low)} to {points(check.candidate.high)}"
        words = {GateState.PASS: "is", GateState.FAIL: "is not", GateState.UNDECIDED: "is not shown to be"}
        return (
            f"moves predictions by {points(check.candidate.value)} points ({bounds}), which {words[check.state]} "
            f"at most {points(check.margin)}"
        )
    if check.kind is CheckKind.EDIT:
        words = {
            GateState.PASS: "shown to be",
            GateState.FAIL: "shown not to be",
            GateState.UNDECIDED: "not shown to be",
        }
        return (
            f"accepts {points(check.candidate.value)} % of {check.rows:,} wrong claims, {words[check.state]} at most "
            f"{points(check.margin)} %{_describe_needed(check, 'if that share is true')}{_describe_missing(check)}"
        )
    if check.kind is CheckKind.FLOOR:
        words = {
            GateState.PASS: "shown to be",
            GateState.FAIL: "shown not to be",
            GateState.UNDECIDED: "not shown to be",
        }
        return (
            f"{points(check.candidate.value)} % right, {words[check.state]} at least {points(check.margin)} %"
            f"{_describe_needed(check, 'if the accuracy is as it seems')}{_describe_missing(check)}"
        )
    loss = check.loss or _EMPTY
    lost = f"lost {points(loss.value)} points" if loss.value >= 0 else f"gained {points(-loss.value)} points"
    interval = f"({points(loss.low)} to {points(loss.high)})"
    words = {
        GateState.PASS: f"shown to lose less than {points(check.margin)}",
        GateState.FAIL: f"shown to lose more than {points(check.margin)}",
        GateState.UNDECIDED: f"neither shown to lose less than {points(check.margin)} nor more",
    }
    needed = _describe_needed(check, "if nothing is lost")
    return f"{lost} {interval}: {words[check.state]}{needed}{_describe_missing(check)}"


def _describe_missing(check: GateCheck) -> str:
    """Why a check stays undecided whatever the compared rows show."""
    if not check.missing_rows or check.state is not GateState.UNDECIDED:
        return ""
    return f"; the candidate lacks {describe_count(check.missing_rows, 'row')} that the baseline has"


def _describe_needed(check: GateCheck, condition: str) -> str:
    if check.pairs_needed is None or (check.missing_rows and check.pairs_needed <= check.rows):
        return ""
    if check.pairs_needed <= check.rows:
        return f"; {check.rows:,} pairs usually decide it {condition}"
    return f"; about {check.pairs_needed:,} pairs would decide it {condition}"


def points(share: float) -> str:
    """A share as points or per cent, with one decimal."""
    return f"{100 * share:.1f}".replace("-", "−")
