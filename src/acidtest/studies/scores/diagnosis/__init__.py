"""What the numbers of a run mean: a few findings, each one fact with its evidence, none that was not shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from acidtest.core.document import Finding
from acidtest.core.labels import GOLD_MASKS, LABELS
from acidtest.core.numbers import whole_percent
from acidtest.studies.crossed_suites import CUE_SUITES
from acidtest.studies.cue_profile import CONSTANT, PREMISES, Profile, ignores_premise
from acidtest.studies.scores.diagnosis import cues
from acidtest.studies.scores.diagnosis import suites as of_suites
from acidtest.studies.scores.diagnosis.cues import EntailmentsSeen, describe_untouched
from acidtest.studies.scores.diagnosis.untouched import Untouched
from acidtest.studies.scoring.expectations import expectation_findings
from acidtest.studies.scoring.severity import by_severity
from acidtest.studies.verification.findings import grounding_findings, grounding_reason
from acidtest.studies.verification.result import ModelGrounding

if TYPE_CHECKING:
    from acidtest.studies.scores import SuiteResult

UNTOLD = 0.9
"""If more gold than this accepts a label, answering nothing else may be right."""
NO_PROFILE = "suite cues would show why"
NOT_USED = "suite cues does not show that it uses them"
EXPLANATIONS = ("U1", "A1", "F1", "K1", "K2", "K3")
"""The codes of findings that, if they are severe and stand alone, explain all answers."""

__all__ = ["by_severity", "explanation", "findings"]


def findings(
    suites: Mapping[str, SuiteResult],
    profile: Profile | None = None,
    untouched: Untouched | None = None,
    seen: EntailmentsSeen | None = None,
    *,
    grounding: ModelGrounding | None = None,
    others: Sequence[Finding] = (),
) -> list[Finding]:
    """The findings about a run, gravest first; ``others`` are those of other studies, such as contamination.

    What explains all answers is the only finding: none was given, they are all the same, they do not depend on the
    premise, or they are near chance. Whatever else is grave is evidence beside it. What explains all verdicts on claims
    is the only finding about these.
    """
    problems = list(of_suites.run_problems(suites))
    blind = grounding_reason(grounding) if grounding else None
    checked = grounding.suites if grounding else ()
    only_claims = {*suites} <= {*checked}
    reason = _reason(suites, profile, untouched, problems)
    if only_claims and blind and (reason is None or reason.code == "A1"):
        reason = blind
    if reason:
        besides = [other for other in (*problems, *others) if other is not reason and other.severity != "info"]
        evidence = (*reason.evidence, *(other.sentence for other in besides))
        # Predictions that depend on the prompt may be why the others hold: that belongs on the screen.
        prompted = [other.sentence for other in besides if other.code in of_suites.PROMPT_CODES]
        return [replace(reason, sentence="; ".join([reason.sentence, *prompted]), evidence=evidence)]
    others = [*others, *([blind] if blind else grounding_findings(grounding) if grounding else [])]
    rest = {name: result for name, result in suites.items() if name not in checked}
    facts = [*problems, *_facts(rest, profile, untouched, seen), *others]
    if untouched and not untouched.above_chance:
        facts = [finding for finding in facts if finding.severity != "good"]
    return by_severity(facts)


def explanation(diagnosis: Sequence[Finding]) -> Finding | None:
    """The finding that explains all answers, which then is the only one; None if there is no such finding."""
    if len(diagnosis) == 1 and diagnosis[0].code in EXPLANATIONS and diagnosis[0].severity == "severe":
        return diagnosis[0]
    return None


def _reason(
    suites: Mapping[str, SuiteResult], profile: Profile | None, untouched: Untouched | None, problems: list[Finding]
) -> Finding | None:
    """The finding that explains all answers; the first that applies."""
    asked = sum(result.overall.n for result in suites.values())
    if asked and sum(result.unanswered for result in suites.values()) >= CONSTANT * asked:
        return problems[0]
    if constant := _one_answer(suites, untouched):
        return constant
    if profile and ignores_premise(profile):
        return cues.premise_finding(profile, untouched)
    if profile and (exchanged := cues.order_finding(profile, untouched)):
        return exchanged
    if untouched and (untouched.near_chance or untouched.below_chance):
        return _no_skill(untouched, profile)
    return None


def _facts(
    suites: Mapping[str, SuiteResult],
    profile: Profile | None,
    untouched: Untouched | None,
    seen: EntailmentsSeen | None,
) -> Iterator[Finding]:
    """Everything else that is said of a model with some skill."""
    heuristics = of_suites.heuristic_evidence(suites)
    rest = dict(suites)
    if profile:
        yield from cues.cue_findings(profile, heuristics, seen)
        yield from cues.gold_findings(profile, untouched, seen)
        yield from cues.reverse_findings(profile, seen)
        rest = {name: result for name, result in rest.items() if of_suites.suite_kind(name) not in _PROFILED}
    if profile and cues.heuristics_used(profile):
        rest = {name: result for name, result in rest.items() if name not in heuristics}
    hans = list(of_suites.heuristic_findings(rest, NOT_USED if profile else NO_PROFILE))
    yield from hans
    low = {name for finding in hans if finding.severity != "good" for name in finding.suites}
    rest = {name: result for name, result in rest.items() if name not in low}
    at_chance = list(of_suites.chance_findings(rest, untouched))
    yield from at_chance
    mentioned = {name for finding in at_chance for name in finding.suites}
    yield from of_suites.part_findings({name: result for name, result in rest.items() if name not in mentioned})
    yield from of_suites.label_findings(untouched, [name for name, result in suites.items() if result.vs_control])
    yield from of_suites.control_findings(suites)
    yield from of_suites.repeat_findings(suites)
    yield from expectation_findings({name: result.metrics for name, result in suites.items()})
    yield from of_suites.collapse_findings(suites)


_PROFILED = (*CUE_SUITES.names, *PREMISES.names)
"""The suites whose numbers are told by the profile."""


def _one_answer(suites: Mapping[str, SuiteResult], untouched: Untouched | None) -> Finding | None:
    """The finding that all pairs of the run get one answer, unless that may be right."""
    counts = Counter(untouched.counts if untouched else {})
    accepted = Counter(untouched.accepted if untouched else {})
    asked = len(untouched.gold) if untouched else 0
    for result in suites.values():
        labels = [metric.removeprefix("answers ") for metric in result.metrics if metric.startswith("answers ")]
        answers = {label: result.metrics[f"answers {label}"] for label in labels}
        counts.update({label: round(share.value * share.n) for label, share in answers.items() if share.known})
        for gold, rate in result.by.get("label", {}).items():
            accepted.update({label: rate.n for label in labels if _accepts(gold, label)})
            asked += rate.n if answers else 0
    total = sum(counts.values())
    if total < of_suites.FEW:
        return None
    label, count = counts.most_common(1)[0]
    if count < CONSTANT * total or accepted[label] > UNTOLD * max(asked, total):
        return None
    share = whole_percent(count / total)
    pairs = "all pairs that it answered" if any(result.unanswered for result in suites.values()) else "all pairs"
    text = f"answers {label} to {share} of {pairs}, whatever they say"
    evidence = (f"{label} answered to {count:,} of {total:,} pairs: its scores say nothing more",)
    return Finding("A1", "severe", text, evidence=evidence, suites=tuple(suites), size=1.0)


def _accepts(gold: str, label: str) -> bool:
    """Whether a gold set accepts a label, of three labels or of two."""
    mask = GOLD_MASKS.get(gold, 0)
    return bool(mask >> LABELS.index(label) & 1) if label in LABELS else mask != GOLD_MASKS["entailment"]


def _no_skill(untouched: Untouched, profile: Profile | None) -> Finding:
    """The finding on a model that is near chance, or below it, and on the cues it uses."""
    right, guessed = whole_percent(untouched.accuracy.value), whole_percent(untouched.chance)
    evidence = [describe_untouched(untouched)]
    if untouched.near_chance:
        code, text = "K1", f"is near chance on {untouched.name} ({right} right, guessing gives {guessed})"
    else:
        code, text = "K2", f"does worse than guessing on {untouched.name} ({right} right, guessing gives {guessed})"
        evidence.append("if labels may have been mixed up, see --label-map")
    if profile and (follows := cues.describe_used(profile)):
        text += f"; it {follows}"
        evidence += cues.used_claims(profile)
    return Finding(code, "severe", text, evidence=tuple(evidence), size=1 - untouched.accuracy.value)
