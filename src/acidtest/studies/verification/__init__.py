"""How a model decides whether claims are supported by documents; what studies of it share.

The score of a claim is the probability of entailment, for models with three labels, two labels or one score. Whether
a claim is called supported is decided by the rule of the run, or by a threshold that the user gives; beside it by one
that is chosen on untouched claims only, since scores of verifiers are not calibrated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.run import Run
from acidtest.core.suite import ABOUT_CLAIMS, CONTROL
from acidtest.stats.discrimination import auc, balanced_accuracy, precision
from acidtest.stats.intervals import rate
from acidtest.stats.thresholds import CrossFit, cross_fit
from acidtest.studies.scoring.rows import score_rows
from acidtest.studies.verification.claims import CLAIMS, GROUNDING, ClaimReader, ClaimRows
from acidtest.studies.verification.curves import claim_curves, edit_curve
from acidtest.studies.verification.edits import NO_THRESHOLD, EditedClaims
from acidtest.studies.verification.passages import answer_detection, kind_shares, knowledge_use
from acidtest.studies.verification.reading import reading_limit
from acidtest.studies.verification.result import (
    CHANGES,
    CurvePoint,
    EditEffect,
    LengthControl,
    ModelGrounding,
    RiskPoint,
    ServicePrecision,
    UntouchedClaims,
    VerdictRule,
)

__all__ = ["GROUNDING", "grounding_metrics", "measure_grounding", "parse_base_rate", "parse_threshold"]

ACCEPTED, VERDICT_CHANGED = "not rejected", "verdict changed"
"""Metrics of suites of edits that change gold, and of those that keep it."""
STILL_SUPPORTED, ORIGINAL_HIGHER = "still called supported", "original higher"
"""More metrics of those that change it."""

ONLY_EDITS = (
    "Only edited claims were asked, or no untouched claim has gold of both kinds. Edited claims are not what language "
    "models get wrong by themselves: ask claims with labels as well (grounding/claims, --from a file with labels)."
)
COVERAGES = (1.0, 0.9, 0.75, 0.5, 0.25)
"""Shares of claims that risk is shown for; the first is that of all predictions."""
STARTER = "grounding-starter"
"""What suites are made from without a file."""
FEW_DOCUMENTS = "too few documents, or claims of one gold only"


def parse_threshold(threshold: float | None) -> float | None:
    """A threshold from 0 to below 1, or None; raises for others."""
    if threshold is not None and not 0 <= threshold < 1:
        raise AcidtestError(f"--threshold is a number from 0 to below 1, not {threshold:g}")
    return threshold


def parse_base_rate(base_rate: float | None) -> float | None:
    """The share of claims that are not supported, above 0 and below 1, or None; raises for others."""
    if base_rate is not None and not 0 < base_rate < 1:
        raise AcidtestError(
            f"--base-rate is the share of claims that are not supported, above 0 and below 1, not {base_rate:g}"
        )
    return base_rate


def measure_grounding(
    run: Run, *, threshold: float | None = None, base_rate: float | None = None, seed: int = 0
) -> ModelGrounding:
    """Everything measured of a run's suites on documents and claims.

    Without a threshold, verdicts are those of the run.
    """
    reader = ClaimReader(run, threshold)
    untouched = reader.untouched()
    judged = untouched.select(untouched.answered & untouched.has_gold)
    documents = len(reader.document_digests)
    number = reader.untouched_documents
    fit = cross_fit(judged.score, judged.supported, groups=judged.documents, number=number, seed=seed)
    edits, curves, controls = list[EditEffect](), list[CurvePoint](), list[LengthControl]()
    for suite in reader.edited_suites:
        edited = EditedClaims.read(reader, suite)
        if edited is not None:
            edits += edited.effects(fit)
            curves += edit_curve(edited)
            controls += edited.length_controls()
    asked = [untouched, *(reader.read(score_rows(run, name)) for name in reader.changed_suites)]
    answered = ClaimRows.join([part.select(part.answered) for part in asked])
    changed = sum(edit.pairs for edit in edits if edit.gold == CHANGES and not edit.kind)
    unjudged = 0 if answered.unsupported.any() else changed
    note = "" if fit else FEW_DOCUMENTS
    deployed = str(run.header.collapse) if threshold is None else f"threshold={threshold:g}"
    answered_claims = _untouched_claims(untouched.select(untouched.answered), fit)
    is_complete = bool(untouched.answered.all())
    return ModelGrounding(
        suites=tuple(reader.suites),
        documents=documents,
        pairs=answered.size,
        called_supported=float(answered.called.mean()) if answered.size else math.nan,
        unanswered=sum(int((~part.answered).sum()) for part in asked),
        to_support=int(answered.supported.sum()),
        to_reject=int(answered.unsupported.sum()) + unjudged,
        truncated=int(answered.truncated.sum()),
        rule=VerdictRule(deployed, fit.whole if fit else None, note),
        untouched=answered_claims if is_complete else _untouched_claims(untouched, fit),
        where_answered=None if is_complete else answered_claims,
        risks=tuple(_risks(untouched, reader)),
        repeats=reader.repeats(),
        reading=reading_limit(reader, answered_claims.false_support, seed),
        precision=_precision(judged, base_rate) if base_rate is not None else None,
        edits=tuple(edits),
        length_controls=tuple(controls),
        curves=(*curves, *claim_curves(reader)),
        kinds=tuple(kind_shares(reader)),
        knowledge=knowledge_use(reader),
        answers=answer_detection(reader),
        notes=(ONLY_EDITS,) if edits and not _has_both(judged) else (),
        starter=_starter_suites(run),
    )


def _starter_suites(run: Run) -> tuple[str, ...]:
    """Suites about claims that are not made from a file, where others of the run are."""
    names = [name for name in run.header.suites if name.startswith(ABOUT_CLAIMS) and not name.endswith(CONTROL)]
    is_made = {name: run.header.suites[name].arguments.get("from", STARTER) != STARTER for name in names}
    return tuple(name for name, made in is_made.items() if not made) if any(is_made.values()) else ()


def _has_both(judged: ClaimRows) -> bool:
    return bool(judged.supported.any() and judged.unsupported.any())


def _untouched_claims(untouched: ClaimRows, fit: CrossFit | None) -> UntouchedClaims:
    claims, answered = untouched.as_counted(), untouched.select(untouched.answered)
    supported, documents = claims.supported, claims.documents
    others = claims.select(~supported)
    chosen = Estimate(math.nan, note=NO_THRESHOLD)
    share = float(supported.mean()) if claims.size else math.nan
    is_covered = untouched.answered[untouched.has_gold]
    return UntouchedClaims(
        claims=claims.size,
        supported=int(supported.sum()),
        unanswered=int((~untouched.answered).sum()),
        without_gold=int((~untouched.has_gold).sum()),
        coverage=rate(is_covered, groups=documents, empty="no claim has gold"),
        accuracy=rate(claims.called == supported, groups=documents, empty="no claim has gold"),
        commonest=max(share, 1 - share),
        balanced_accuracy=balanced_accuracy(claims.called, supported, groups=documents),
        balanced_accuracy_chosen=fit.balanced_accuracy(claims.score, supported, documents) if fit else chosen,
        auc=auc(claims.score, supported, groups=documents),
        recall=rate(claims.called[supported], groups=documents[supported], empty="no supported claim"),
        false_support=rate(others.called, groups=others.documents, empty="no unsupported claim"),
        false_support_chosen=fit.share_above(others.score, others.documents) if fit else chosen,
        called_supported=float(answered.called.mean()) if answered.size else math.nan,
        answered=answered.size,
        documents=len(np.unique(answered.documents)),
        tied=int(answered.tied.sum()),
    )


def _risks(untouched: ClaimRows, reader: ClaimReader) -> Iterator[RiskPoint]:
    """Risk against coverage: the share of wrong predictions among the most confident ones, ties kept together."""
    claims = untouched.select(untouched.has_gold)
    answered = claims.select(claims.answered)
    cut = reader.threshold if reader.threshold is not None else reader.run.header.collapse.at
    if cut is None:
        confidence = np.where(answered.called, answered.score, 1 - answered.score)
    else:
        room = np.where(answered.called, 1 - cut, max(cut, 1e-9))
        confidence = 0.5 + np.abs(answered.score - cut) / room / 2
    ordered, shown = np.sort(confidence)[::-1], 0
    for share in COVERAGES:
        wanted = min(math.ceil(share * claims.size), answered.size)
        if not wanted:
            continue
        kept = confidence >= ordered[wanted - 1]
        if kept.sum() == shown:
            continue
        shown = int(kept.sum())
        wrong = ~answered.right[kept]
        yield RiskPoint(
            coverage=shown / claims.size,
            confidence=float(ordered[wanted - 1]),
            risk=rate(wrong, groups=answered.documents[kept]),
        )


def _precision(judged: ClaimRows, base_rate: float) -> ServicePrecision:
    supported, unsupported = (
        precision(judged.called, judged.supported, groups=judged.documents, base_rate=base_rate, of=of)
        for of in (True, False)
    )
    return ServicePrecision(base_rate, supported, unsupported)


def grounding_metrics(model: ModelGrounding) -> dict[str, dict[str, Estimate]]:
    """What was measured of each suite, by the names that results.json gives to it."""
    metrics: dict[str, dict[str, Estimate]] = {}
    for edit in model.whole_edits:
        name = ACCEPTED if edit.gold == CHANGES else VERDICT_CHANGED
        measured = {name: edit.wrong, f"{name}, chosen threshold": edit.wrong_chosen}
        if edit.gold == CHANGES:
            measured |= {STILL_SUPPORTED: edit.still_supported, ORIGINAL_HIGHER: edit.higher}
        metrics.setdefault(edit.suite, {}).update(measured)
    claims = model.untouched
    for suite in model.suites:
        if suite in CLAIMS.names:
            metrics[suite] = {
                "coverage": claims.coverage,
                "balanced accuracy": claims.balanced_accuracy,
                "balanced accuracy, chosen threshold": claims.balanced_accuracy_chosen,
                "AUC": claims.auc,
                "unsupported called supported": claims.false_support,
            }
    for kind in model.kinds:
        metrics.setdefault(kind.suite, {})[f"called supported: {kind.kind}"] = kind.supported
    return metrics
