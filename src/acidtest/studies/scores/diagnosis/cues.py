"""Findings that follow from the cue profile: cues a model relies on, premises it does not read, and labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from acidtest.core.document import Finding, listed
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import describe_share, whole_percent, whole_points
from acidtest.core.run import Run
from acidtest.stats.contrasts import contrast_estimate
from acidtest.studies.cue_effects import USED, without_sign
from acidtest.studies.cue_profile import (
    PREMISES,
    Profile,
    combination_claims,
    crossed_design,
    cue_claims,
    cue_phrase,
    describe_combination,
    describe_ignored,
    describe_label_order,
    describe_push,
    gold_claim,
    leading_cues,
    points,
)
from acidtest.studies.scores.diagnosis.untouched import Untouched
from acidtest.studies.scoring.severity import excess, severity

HEURISTICS = {"overlap": "lexical-overlap", "subsequence": "subsequence", "constituent": "constituent"}
# This rests on benchmarks/diagnosis.py: fifteen planted models on five seeds and samples of 150 and 1,000 pairs.
MOSTLY = 0.75
"""Gold is followed if it surely moves this share of the answers; a model that is right in 90 % passes."""


def heuristics_used(profile: Profile) -> list[str]:
    """The forms of overlap that push toward entailment, as McCoy et al. (2019) define their heuristics."""
    return [
        cue
        for cue in leading_cues(profile)
        if cue in HEURISTICS and profile.cues[cue].toward == "entailment" and not profile.cues[cue].is_absence
    ]


def describe_used(profile: Profile) -> str:
    """What the model relies on, as the end of a sentence: “relies on the lexical-overlap heuristic (+98 points …)”."""
    heuristics = heuristics_used(profile)
    named = [f"the {HEURISTICS[cue]} heuristic{describe_push(profile, cue)}" for cue in heuristics]
    others = [cue for cue in leading_cues(profile) if cue not in heuristics]
    named += [f"{cue_phrase(profile, cue)}{describe_push(profile, cue)}" for cue in others]
    if profile.combination and profile.combination.matters:
        named.append(f"a combination of cues ({describe_combination(profile.crossed, profile.combination)})")
    return f"relies on {listed(named)}" if named else ""


def used_claims(profile: Profile) -> tuple[str, ...]:
    """The evidence for everything the model relies on, the strongest cue first."""
    cues = (claim for cue in leading_cues(profile) for claim in cue_claims(profile, cue))
    return (*cues, *combination_claims(profile))


def cue_findings(
    profile: Profile, hans: Mapping[str, Sequence[str]], seen: EntailmentsSeen | None = None
) -> Iterator[Finding]:
    """One finding for the heuristics a model relies on, one for the other cues; ``hans`` is evidence by suite.

    A model that does not see entailments in other words is described by a finding of its own (R1), not as one that
    relies on words that do not overlap.
    """
    heuristics = heuristics_used(profile)
    others = [cue for cue in _apart_from_reverse(profile, seen) if cue not in heuristics]
    if heuristics:
        evidence = tuple(line for lines in hans.values() for line in lines)
        yield _used("Q1", f"relies on {_describe_heuristics(heuristics)}", heuristics, profile, evidence, tuple(hans))
    if others:
        yield _used("Q2", f"relies on {listed([cue_phrase(profile, cue) for cue in others])}", others, profile)
    if profile.combination and profile.combination.matters:
        found, suite = profile.combination, profile.suite
        size = without_sign(found.effect)
        text = f"relies on a combination of cues: {describe_combination(profile.crossed, found)}"
        evidence = (*combination_claims(profile), gold_claim(profile))
        yield Finding("Q2", severity(size), text, suite, evidence, suites=(suite,), size=size.value)


def _apart_from_reverse(profile: Profile, seen: EntailmentsSeen | None) -> list[str]:
    """The cues that the model relies on, without missing overlap where that means missing entailments (R1)."""
    explained = {profile.crossed.overlap} if any(reverse_findings(profile, seen)) else set()
    return [cue for cue in leading_cues(profile) if cue not in explained or not profile.cues[cue].is_absence]


def _used(
    code: str,
    text: str,
    cues: Sequence[str],
    profile: Profile,
    evidence: tuple[str, ...] = (),
    suites: tuple[str, ...] = (),
) -> Finding:
    """A finding about cues; the sentence says what the strongest does, the evidence what all do."""
    strongest, suite = profile.cues[cues[0]], profile.suite
    facts, wrong = profile.crossed.cues[cues[0]], profile.crossed.describe_wrong(strongest.toward or "")
    shares = [whole_percent(rate.value) for rate in (strongest.with_cue, strongest.without_cue)]
    sentence = f"{text}: {wrong} in {shares[0]} where {facts.having}, in {shares[1]} {facts.lacking}"
    claims = (claim for cue in cues for claim in cue_claims(profile, cue))
    evidence = (*claims, *evidence, gold_claim(profile))
    size = strongest.size
    # A cue that works through its absence has no single value of its column to show.
    place = {facts.column: facts.present} if strongest.effect.value > 0 else {}
    return Finding(code, severity(size), sentence, suite, evidence, place, (suite, *suites), size.value)


def order_finding(profile: Profile, untouched: Untouched | None) -> Finding | None:
    """The finding that labels seem to be exchanged, if another reading of them fits gold better."""
    order = profile.label_order
    if order is None:
        return None
    text = describe_label_order(profile)
    evidence = [f"gain: {points(order.gain)}", *used_claims(profile)]
    evidence += [describe_untouched(untouched)] if untouched else []
    suites = (profile.suite,)
    return Finding("K2", "severe", text, profile.suite, tuple(evidence), suites=suites, size=order.gain.value)


def _describe_heuristics(cues: Sequence[str]) -> str:
    return f"the {listed([HEURISTICS[cue] for cue in cues])} heuristic{'s' if len(cues) > 1 else ''}"


def premise_finding(profile: Profile, untouched: Untouched | None) -> Finding:
    """A model whose predictions do not depend on the premise, and what they do depend on."""
    use = profile.premise_use
    premise = profile.crossed.premise
    text = describe_ignored(profile)
    if relies := describe_used(profile):
        text += f"; it {relies}"
    evidence = [f"predictions that change with a {premise} of other gold: {describe_share(use)}"]
    evidence += [
        f"predictions that stay {title}: {describe_share(profile.stability[name])}"
        for name, title in (("another", "with another premise"), ("none", "with no premise"))
        if name in profile.stability
    ]
    if profile.hypothesis_alone is not None:
        alone = describe_share(profile.hypothesis_alone)
        predictor = "the claim predicts" if profile.crossed.one_claim_a_group else "the words of the hypothesis predict"
        evidence.append(f"predictions that {predictor}: {alone}")
    if untouched is not None:
        evidence.append(describe_untouched(untouched))
    suites = (profile.suite, *(PREMISES.names if "another" in profile.stability else ()))
    evidence += used_claims(profile)
    return Finding("F1", "severe", text, profile.suite, tuple(evidence), suites=suites, size=1 - use.value)


def describe_untouched(untouched: Untouched) -> str:
    """Accuracy on untouched pairs beside chance."""
    guessed = whole_percent(untouched.chance)
    return f"{untouched.name}: right on {describe_share(untouched.accuracy)}; guessing gives {guessed}"


@dataclass(frozen=True)
class EntailmentsSeen:
    """How often entailment is answered where it is gold: with all words shared, without, and the difference."""

    overlapping: Estimate
    other_words: Estimate
    gain: Estimate


def gold_findings(profile: Profile, untouched: Untouched | None, seen: EntailmentsSeen | None) -> Iterator[Finding]:
    """Does gold move the answers as much with cues held fixed as it does on untouched pairs?"""
    gold, suite = profile.gold_effect, profile.suite
    if not gold.known:
        return
    if gold.low >= MOSTLY and not _apart_from_reverse(profile, seen):
        largest = max((effect.effect for effect in profile.cues.values() if effect.effect.known), key=_magnitude)
        dependent = profile.combination is not None and profile.combination.matters
        if _magnitude(largest) < USED and not dependent and not any(reverse_findings(profile, seen)):
            text = (
                "follows the correct label with every listed cue held fixed: it moves predictions by "
                f"{100 * gold.value:.0f} points"
            )
            evidence = (gold_claim(profile), f"largest effect of a cue: {whole_points(largest.value)} points")
            yield Finding("G1", "good", text, suite, evidence, suites=(suite,), size=gold.value)
        return
    if untouched is None or not untouched.above_chance:
        return
    loss = excess(untouched.skill, gold)
    grade = severity(loss)
    if grade == "info":
        return
    text = (
        "follows the correct label less with cues held fixed: it moves predictions by "
        f"{_whole(gold)} points, by {_whole(untouched.skill)} on {untouched.name}"
    )
    yield Finding(
        "G1", grade, text, suite, (gold_claim(profile), describe_untouched(untouched)), suites=(suite,), size=loss.value
    )


def _whole(size: Estimate) -> str:
    """A size in whole points, with a sign only if it is negative."""
    return whole_points(size.value).removeprefix("+")


def _magnitude(estimate: Estimate) -> float:
    return abs(estimate.value)


def entailments_seen(run: Run) -> EntailmentsSeen:
    """Entailments with and without overlap, all other cues held fixed.

    The interval of their difference is corrected like those of the cues, beside which it is judged.
    """
    design = crossed_design(run)
    cue = design.suite.overlap
    contrast = design.contrast(cue, design.sides(cue)[1] & ~design.is_not_gold(0))
    answered = design.answer == 0
    with_overlap, without = (
        contrast_estimate([(1.0, side, answered)], design.groups, least=0) for side in contrast.sides()
    )
    gain = contrast_estimate([(1.0, contrast, answered)], design.groups, tests=design.tests)
    return EntailmentsSeen(with_overlap, without, gain)


def reverse_findings(profile: Profile, seen: EntailmentsSeen | None) -> Iterator[Finding]:
    """Are entailments missed whose words do not overlap? Judged as a cue is: surely more than ten points."""
    if seen is None or not seen.gain.low > USED:
        return
    suite, overlap = profile.crossed, profile.crossed.cues[profile.crossed.overlap]
    entailments = "supported claims" if suite.label_names else "entailments"
    text = (
        f"misses {entailments} in other words: sees {whole_percent(seen.other_words.value)} of them, "
        f"{whole_percent(seen.overlapping.value)} where all words overlap"
    )
    evidence = (
        f"in other words: right on {describe_share(seen.other_words)}",
        f"with overlap: right on {describe_share(seen.overlapping)}, {points(seen.gain)}",
    )
    place = {"label": "entailment", overlap.column: overlap.absent}
    yield Finding("R1", severity(seen.gain), text, suite.name, evidence, place, (suite.name,), seen.gain.value)
