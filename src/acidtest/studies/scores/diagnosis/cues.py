"""Findings that follow from the cue profile: cues that are used, premises that are not, and what gold moves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from acidtest.core.document import Finding, listed
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import describe_share, whole_percent
from acidtest.core.run import Run
from acidtest.stats.contrasts import contrast_estimate
from acidtest.studies.cue_effects import USED
from acidtest.studies.cue_profile import (
    PREMISES,
    Profile,
    by_size,
    crossed_design,
    cue_claims,
    describe_ignored,
    describe_push,
    gold_claim,
    points,
)
from acidtest.studies.scores.diagnosis.untouched import Untouched
from acidtest.studies.severity import excess, severity

HEURISTICS = {"overlap": "lexical-overlap", "subsequence": "subsequence", "constituent": "constituent"}
# This rests on benchmarks/diagnosis.py: fifteen planted models on five seeds and samples of 150 and 1,000 pairs.
MOSTLY = 0.75
"""Gold is followed if it surely moves this share of the answers; a model that is right in 90 % passes."""


def heuristics_used(profile: Profile) -> list[str]:
    """The forms of overlap that push toward entailment, as McCoy et al. (2019) define their heuristics."""
    return [cue for cue in by_size(profile.cues) if cue in HEURISTICS and profile.cues[cue].toward == "entailment"]


def describe_used(profile: Profile) -> str:
    """What the model uses, as the end of a sentence: “uses the lexical-overlap heuristic (+98 points toward …)”."""
    heuristics = heuristics_used(profile)
    others = [cue for cue in by_size(profile.cues) if cue not in heuristics]
    named = listed([f"the {HEURISTICS[cue]} heuristic{describe_push(profile, cue)}" for cue in heuristics])
    parts = [f"uses {named}"] if heuristics else []
    named = listed([f"{profile.crossed.cues[cue].phrase}{describe_push(profile, cue)}" for cue in others])
    return " and ".join([*parts, f"follows {named}"] if others else parts)


def used_claims(profile: Profile) -> tuple[str, ...]:
    """The evidence for every used cue, the strongest first."""
    return tuple(claim for cue in by_size(profile.cues) for claim in cue_claims(profile, cue))


def cue_findings(profile: Profile, hans: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """One finding for the heuristics that are used, one for the other cues; ``hans`` is evidence by suite."""
    heuristics = heuristics_used(profile)
    others = [cue for cue in by_size(profile.cues) if cue not in heuristics]
    if heuristics:
        evidence = tuple(line for lines in hans.values() for line in lines)
        yield _used("Q1", f"uses {_describe_heuristics(heuristics)}", heuristics, profile, evidence, tuple(hans))
    if others:
        followed = listed([profile.crossed.cues[cue].phrase for cue in others])
        yield _used("Q2", f"follows {followed}", others, profile)


def _used(
    code: str,
    text: str,
    cues: Sequence[str],
    profile: Profile,
    evidence: tuple[str, ...] = (),
    suites: tuple[str, ...] = (),
) -> Finding:
    """A finding about used cues; the sentence says what the strongest does, the evidence what all do."""
    strongest, suite = profile.cues[cues[0]], profile.suite
    facts, answers = profile.crossed.cues[cues[0]], profile.crossed.answers(strongest.toward or "")
    shares = [whole_percent(rate.value) for rate in (strongest.with_cue, strongest.without_cue)]
    sentence = f"{text}: wrongly {answers} in {shares[0]} where {facts.having}, in {shares[1]} {facts.lacking}"
    claims = (claim for cue in cues for claim in cue_claims(profile, cue))
    evidence = (*claims, *evidence, gold_claim(profile))
    size = strongest.effect
    return Finding(code, severity(size), sentence, suite, evidence, suites=(suite, *suites), size=size.value)


def _describe_heuristics(cues: Sequence[str]) -> str:
    return f"the {listed([HEURISTICS[cue] for cue in cues])} heuristic{'s' if len(cues) > 1 else ''}"


def premise_finding(profile: Profile, untouched: Untouched | None) -> Finding:
    """A model whose answers do not depend on the premise, and what they do depend on."""
    use = profile.premise_use
    premise = profile.crossed.premise
    text = describe_ignored(profile)
    if follows := describe_used(profile):
        text += f"; it {follows}"
    evidence = [f"answers that change with a {premise} of other gold: {describe_share(use)}"]
    evidence += [
        f"answers that stay {title}: {describe_share(profile.stability[name])}"
        for name, title in (("another", "with another premise"), ("none", "with no premise"))
        if name in profile.stability
    ]
    if profile.hypothesis_alone is not None:
        alone = describe_share(profile.hypothesis_alone)
        predictor = "the claim predicts" if profile.crossed.one_claim_a_group else "the words of the hypothesis predict"
        evidence.append(f"answers that {predictor}: {alone}")
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
    if gold.low >= MOSTLY and not by_size(profile.cues):
        largest = max((effect.effect.value for effect in profile.cues.values() if effect.effect.known), default=0.0)
        if largest < USED and not any(reverse_findings(profile, seen)):
            text = f"follows gold with every listed cue held fixed: gold moves {whole_percent(gold.value)} of answers"
            evidence = (gold_claim(profile), f"largest effect of a cue: {100 * largest:+.0f} points")
            yield Finding("G1", "good", text, suite, evidence, suites=(suite,), size=gold.value)
        return
    if untouched is None or not untouched.above_chance:
        return
    loss = excess(untouched.skill, gold)
    grade = severity(loss)
    if grade == "info":
        return
    text = (
        f"follows gold less with cues held fixed: gold moves {whole_percent(max(gold.value, 0.0))} of answers, "
        f"{whole_percent(untouched.skill.value)} on {untouched.name}"
    )
    yield Finding(
        "G1", grade, text, suite, (gold_claim(profile), describe_untouched(untouched)), suites=(suite,), size=loss.value
    )


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
    gain = contrast_estimate([(1.0, contrast, answered)], design.groups, tests=design.suite.tests)
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
