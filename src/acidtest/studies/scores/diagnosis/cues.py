"""Findings that follow from the cue profile: cues that are used, premises that are not, and what gold moves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from acidtest.core.document import Finding
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import describe_share, whole_percent
from acidtest.core.run import Run
from acidtest.stats.contrasts import contrast_estimate
from acidtest.studies.cue_effects import FORMS, SUITE, TESTS, USED, CrossedDesign
from acidtest.studies.cue_profile import (
    CONDITIONS,
    CUE_SUITE,
    PREMISES,
    SHORT,
    Profile,
    by_size,
    cue_claim,
    describe_push,
    gold_claim,
    interaction_claim,
    points,
)
from acidtest.studies.rows import score_rows
from acidtest.studies.scores.diagnosis.severity import excess, severity
from acidtest.studies.scores.diagnosis.untouched import Untouched

HEURISTICS = {"overlap": "lexical-overlap", "subsequence": "subsequence", "constituent": "constituent"}
PREMISE_CUES = (*FORMS, "antonym", "number")
"""The cues that cannot be told from the hypothesis alone."""
# These two rest on benchmarks/diagnosis.py: fifteen planted models on five seeds and samples of 150 and 1,000 pairs.
HARDLY = 0.10
"""If surely fewer answers than this change with the premise, and at most half as many did, it is not read."""
MOSTLY = 0.75
"""Gold is followed if it surely moves this share of the answers; a model that is right in 90 % passes."""


def heuristics_used(profile: Profile) -> list[str]:
    """The forms of overlap that push toward entailment, as McCoy et al. (2019) define their heuristics."""
    return [cue for cue in by_size(profile.cues) if cue in HEURISTICS and profile.cues[cue].toward == "entailment"]


def describe_used(profile: Profile) -> str:
    """What the model uses, as the end of a sentence: “uses the lexical-overlap heuristic (+98 points toward …)”."""
    heuristics = heuristics_used(profile)
    others = [cue for cue in by_size(profile.cues) if cue not in heuristics]
    named = listed([f"the {HEURISTICS[cue]} heuristic{describe_push(profile.cues[cue])}" for cue in heuristics])
    parts = [f"uses {named}"] if heuristics else []
    named = listed([f"{SHORT[cue]}{describe_push(profile.cues[cue])}" for cue in others])
    return " and ".join([*parts, f"follows {named}"] if others else parts)


def used_claims(profile: Profile) -> tuple[str, ...]:
    """The evidence for every used cue, the strongest first."""
    return tuple(claim for cue in by_size(profile.cues) for claim in _cue_claims(profile, cue))


def cue_findings(profile: Profile, hans: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """One finding for the heuristics that are used, one for the other cues; ``hans`` is evidence by suite."""
    heuristics = heuristics_used(profile)
    others = [cue for cue in by_size(profile.cues) if cue not in heuristics]
    if heuristics:
        evidence = tuple(line for lines in hans.values() for line in lines)
        yield _used("Q1", f"uses {_describe_heuristics(heuristics)}", heuristics, profile, evidence, tuple(hans))
    if others:
        yield _used("Q2", f"follows {listed([SHORT[cue] for cue in others])}", others, profile)


def _used(
    code: str,
    text: str,
    cues: Sequence[str],
    profile: Profile,
    evidence: tuple[str, ...] = (),
    suites: tuple[str, ...] = (),
) -> Finding:
    """A finding about used cues; the sentence says what the strongest does, the evidence what all do."""
    strongest = profile.cues[cues[0]]
    having, lacking = CONDITIONS[cues[0]]
    shares = [whole_percent(rate.value) for rate in (strongest.with_cue, strongest.without_cue)]
    sentence = f"{text}: wrongly answers {strongest.toward} in {shares[0]} where {having}, in {shares[1]} {lacking}"
    claims = (claim for cue in cues for claim in _cue_claims(profile, cue))
    evidence = (*claims, *evidence, gold_claim(profile.gold_effect))
    size = strongest.effect
    return Finding(code, severity(size), sentence, SUITE, evidence, suites=(SUITE, *suites), size=size.value)


def _cue_claims(profile: Profile, cue: str) -> Iterator[str]:
    yield cue_claim(cue, profile.cues[cue])
    yield from (interaction_claim(one) for one in profile.interactions if one.cue == cue)


def _describe_heuristics(cues: Sequence[str]) -> str:
    return f"the {listed([HEURISTICS[cue] for cue in cues])} heuristic{'s' if len(cues) > 1 else ''}"


def ignores_premise(profile: Profile) -> bool:
    """Whether answers do not depend on the premise, and are shown to depend on the hypothesis.

    Hardly an answer changes with the gold of the premise, every cue that needs the premise was measured and moves
    hardly any answer, and answers surely stay with another premise and with none. Where these were not asked, hardly an
    answer may surely change, no cue of the premise may have an effect, and the words of the hypothesis must predict
    more answers than the most frequent answer does.
    """
    use, effects = profile.premise_use, [profile.cues[cue] for cue in PREMISE_CUES]
    # In a small sample a cue may move all answers and yet not be shown to: only a small measured effect clears it.
    if not use.value <= HARDLY / 2 or not all(effect.effect.value < USED for effect in effects):
        return False
    stays = [profile.stability[name] for name in ("another", "none") if name in profile.stability]
    if stays:
        return all(share.low >= 1 - HARDLY for share in stays)
    alone = profile.hypothesis_alone
    predicted = alone is not None and alone.low > max(profile.answers.values(), default=1.0)
    return predicted and use.high <= HARDLY and all(effect.effect.high < USED for effect in effects)


def premise_finding(profile: Profile, untouched: Untouched | None) -> Finding:
    """A model whose answers do not depend on the premise, and what they do depend on."""
    use = profile.premise_use
    changed = whole_percent(use.value)
    text = f"hardly reads the premise: another premise, with another gold, changes {changed} of its answers"
    if follows := describe_used(profile):
        text += f"; it {follows}"
    evidence = [f"answers that change with a premise of other gold: {describe_share(use)}"]
    evidence += [
        f"answers that stay {title}: {describe_share(profile.stability[name])}"
        for name, title in (("another", "with another premise"), ("none", "with no premise"))
        if name in profile.stability
    ]
    if profile.hypothesis_alone is not None:
        evidence.append(f"answers that the words of the hypothesis predict: {describe_share(profile.hypothesis_alone)}")
    if untouched is not None:
        evidence.append(describe_untouched(untouched))
    suites = (SUITE, *PREMISES.names) if "another" in profile.stability else (SUITE,)
    evidence += used_claims(profile)
    return Finding("F1", "severe", text, SUITE, tuple(evidence), suites=suites, size=1 - use.value)


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
    gold = profile.gold_effect
    if not gold.known:
        return
    if gold.low >= MOSTLY and not by_size(profile.cues):
        largest = max((effect.effect.value for effect in profile.cues.values() if effect.effect.known), default=0.0)
        if largest < USED and not any(reverse_findings(seen)):
            text = f"follows gold with every listed cue held fixed: gold moves {whole_percent(gold.value)} of answers"
            evidence = (gold_claim(gold), f"largest effect of a cue: {100 * largest:+.0f} points")
            yield Finding("G1", "good", text, SUITE, evidence, suites=(SUITE,), size=gold.value)
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
        "G1", grade, text, SUITE, (gold_claim(gold), describe_untouched(untouched)), suites=(SUITE,), size=loss.value
    )


def entailments_seen(run: Run) -> EntailmentsSeen | None:
    """Entailments with and without overlap, all other cues held fixed; None without suite ``cues``.

    The interval of their difference is corrected like those of the cues, beside which it is judged.
    """
    names = CUE_SUITE.names_in(run)
    if len(names) != 1:
        return None
    design = CrossedDesign.of(score_rows(run, names[0]))
    rows = design.sides("overlap")[1] & ~design.is_not_gold(0)
    contrast = design.contrast("overlap", rows)
    with_overlap, without = (
        contrast_estimate([(1.0, side, design.answer == 0)], design.groups, least=0) for side in contrast.sides()
    )
    return EntailmentsSeen(
        with_overlap, without, contrast_estimate([(1.0, contrast, design.answer == 0)], design.groups, tests=TESTS)
    )


def reverse_findings(seen: EntailmentsSeen | None) -> Iterator[Finding]:
    """Are entailments missed whose words do not overlap? Judged as a cue is: surely more than ten points."""
    if seen is None or not seen.gain.low > USED:
        return
    text = (
        f"misses entailments in other words: sees {whole_percent(seen.other_words.value)} of them, "
        f"{whole_percent(seen.overlapping.value)} where all words overlap"
    )
    evidence = (
        f"in other words: right on {describe_share(seen.other_words)}",
        f"with overlap: right on {describe_share(seen.overlapping)}, {points(seen.gain)}",
    )
    place = {"label": "entailment", "form": "none"}
    yield Finding("R1", severity(seen.gain), text, SUITE, evidence, place, (SUITE,), seen.gain.value)


def listed(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; nothing for no name."""
    *first, last = names or [""]
    return f"{', '.join(first)} and {last}" if first else last
