"""How a model decides whether claims are supported by documents; what studies of it share.

The score of a claim is the probability of entailment, for models with three labels, two labels or one score. Whether
a claim is called supported is decided by the rule of the run, or by a threshold that the user gives; beside it by one
that is chosen on untouched claims only, since scores of verifiers are not calibrated.
"""

from __future__ import annotations

import math

import numpy as np

from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.run import Run
from acidtest.core.suite import ABOUT_CLAIMS, CONTROL
from acidtest.stats.discrimination import auc, balanced_accuracy, precision
from acidtest.stats.intervals import rate
from acidtest.stats.thresholds import CrossFit, cross_fit
from acidtest.studies.rows import score_rows
from acidtest.studies.verification.claims import CLAIMS, GROUNDING, ClaimReader, ClaimRows
from acidtest.studies.verification.curves import claim_curves, edit_curve
from acidtest.studies.verification.edits import NO_THRESHOLD, EditedClaims
from acidtest.studies.verification.passages import answer_detection, kind_shares, knowledge_use
from acidtest.studies.verification.result import (
    CHANGES,
    CurvePoint,
    EditEffect,
    ModelGrounding,
    ServicePrecision,
    UntouchedClaims,
    VerdictRule,
)

__all__ = ["GROUNDING", "grounding_metrics", "measure_grounding", "parse_base_rate", "parse_threshold"]

STILL_SUPPORTED, VERDICT_CHANGED, ORIGINAL_HIGHER = "still called supported", "verdict changed", "original higher"
"""Metrics of suites of edits: of those that change gold the first and the last, of those that keep it the second."""

ONLY_EDITS = (
    "Only edited claims were asked, or no untouched claim has gold of both kinds. Edited claims are not what language "
    "models get wrong by themselves: ask claims with labels as well (grounding/claims, --from a file with labels)."
)
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
    judged = untouched.select(untouched.answered & (untouched.supported | untouched.unsupported))
    documents = len(reader.document_digests)
    number = reader.untouched_documents
    fit = cross_fit(judged.score, judged.supported, groups=judged.documents, number=number, seed=seed)
    edits, curves = list[EditEffect](), list[CurvePoint]()
    for suite in reader.edited_suites:
        edited = EditedClaims.read(reader, suite)
        if edited is not None:
            edits += edited.effects(fit)
            curves += edit_curve(edited)
    asked = [untouched, *(reader.read(score_rows(run, name)) for name in reader.changed_suites)]
    answered = ClaimRows.join([part.select(part.answered) for part in asked])
    changed = sum(edit.pairs for edit in edits if edit.gold == CHANGES and not edit.kind)
    unjudged = 0 if answered.unsupported.any() else changed
    note = "" if fit else FEW_DOCUMENTS
    deployed = str(run.header.collapse) if threshold is None else f"threshold={threshold:g}"
    return ModelGrounding(
        suites=tuple(reader.suites),
        documents=documents,
        pairs=answered.size,
        called_supported=float(answered.called.mean()) if answered.size else math.nan,
        to_support=int(answered.supported.sum()),
        to_reject=int(answered.unsupported.sum()) + unjudged,
        truncated=int(answered.truncated.sum()),
        rule=VerdictRule(deployed, fit.whole if fit else None, note),
        untouched=_untouched_claims(untouched, judged, fit),
        precision=_precision(judged, base_rate) if base_rate is not None else None,
        edits=tuple(edits),
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


def _untouched_claims(untouched: ClaimRows, judged: ClaimRows, fit: CrossFit | None) -> UntouchedClaims:
    supported, documents = judged.supported, judged.documents
    others = judged.select(~supported)
    right = judged.called == supported
    chosen = Estimate(math.nan, note=NO_THRESHOLD)
    share = float(supported.mean()) if judged.size else math.nan
    answered = untouched.select(untouched.answered)
    return UntouchedClaims(
        claims=judged.size,
        supported=int(supported.sum()),
        unanswered=int((~untouched.answered).sum()),
        without_gold=int((~(untouched.supported | untouched.unsupported)).sum()),
        accuracy=rate(right, groups=documents, empty="no claim has gold"),
        commonest=max(share, 1 - share),
        balanced_accuracy=balanced_accuracy(judged.called, supported, groups=documents),
        balanced_accuracy_chosen=fit.balanced_accuracy(judged.score, supported, documents) if fit else chosen,
        auc=auc(judged.score, supported, groups=documents),
        recall=rate(judged.called[supported], groups=documents[supported], empty="no supported claim"),
        false_support=rate(others.called, groups=others.documents, empty="no unsupported claim"),
        false_support_chosen=fit.share_above(others.score, others.documents) if fit else chosen,
        called_supported=float(answered.called.mean()) if answered.size else math.nan,
        answered=answered.size,
        documents=len(np.unique(answered.documents)),
        tied=int(answered.tied.sum()),
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
        name = STILL_SUPPORTED if edit.gold == CHANGES else VERDICT_CHANGED
        measured = {name: edit.wrong, f"{name}, chosen threshold": edit.wrong_chosen}
        measured |= {ORIGINAL_HIGHER: edit.higher} if edit.gold == CHANGES else {}
        metrics.setdefault(edit.suite, {}).update(measured)
    claims = model.untouched
    for suite in model.suites:
        if suite in CLAIMS.names:
            metrics[suite] = {
                "balanced accuracy": claims.balanced_accuracy,
                "balanced accuracy, chosen threshold": claims.balanced_accuracy_chosen,
                "AUC": claims.auc,
                "unsupported called supported": claims.false_support,
            }
    for kind in model.kinds:
        metrics.setdefault(kind.suite, {})[f"called supported: {kind.kind}"] = kind.supported
    return metrics
