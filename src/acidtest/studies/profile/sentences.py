"""What may be claimed of a profile, in words; nothing here says that a share of answers *comes from* a cue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from acidtest.core.estimate import Estimate
from acidtest.core.numbers import whole_percent
from acidtest.studies.profile.design import USED, CueEffect, Interaction

SHORT = {
    "overlap": "overlapping words",
    "subsequence": "a run of shared words",
    "constituent": "a shared clause",
    "negation": "negation words",
    "hypothesis": "hint words in the hypothesis",
    "antonym": "antonyms",
    "number": "other numbers",
    "length": "the length of the hypothesis",
    "misspelling": "misspellings",
}
"""The cues as they are named in a sentence."""

CONDITIONS = {
    "overlap": ("all words overlap", "where they do not"),
    "subsequence": ("the hypothesis is a run of words of the premise", "where its words overlap but are no run"),
    "constituent": ("the hypothesis is a clause of the premise", "where it is a run of words but no clause"),
    "negation": ("the hypothesis has a negation word", "where it has none"),
    "hypothesis": ("the hypothesis has words that hint at neutral", "where it has none"),
    "antonym": ("the premise has the opposite of a word of the hypothesis", "where it has none"),
    "number": ("the premise has another number than the hypothesis", "where it has none"),
    "length": ("the hypothesis is long", "where it is short"),
    "misspelling": ("a word is misspelt", "where none is"),
}
"""When a cue is there, and what it is compared with."""

UNLISTED = "Cues not listed may explain the rest."
CONSTANT = 0.99
NEAR_CHANCE = 0.05


def headline(gold: Estimate, cues: Mapping[str, CueEffect], answers: Mapping[str, float]) -> str:
    """The one sentence about a profile."""
    label, share = max(answers.items(), key=lambda item: item[1])
    if share >= CONSTANT:
        return (
            f"It answers {label} to nearly everything ({whole_percent(share)}): nothing it is asked moves its answers."
        )
    used = by_size(cues)
    moves = f"gold moves {whole_percent(max(gold.value, 0.0))} of its answers"
    if not used:
        if gold.low <= NEAR_CHANCE:
            return (
                f"It is near chance: no listed cue moves its answers by more than {whole_percent(USED)}, and {moves}."
            )
        return f"No listed cue moves its answers by more than {100 * USED:.0f} points; {moves}."
    named = [f"{SHORT[cue]} (+{100 * cues[cue].effect.value:.0f} points toward {cues[cue].toward})" for cue in used[:3]]
    more = f" and {len(used) - 3} more" if len(used) > 3 else ""
    return f"Its answers follow {_listed(named)}{more}; with cues held fixed, {moves}."


def by_size(cues: Mapping[str, CueEffect]) -> list[str]:
    """The used cues, the strongest first."""
    return sorted((cue for cue, effect in cues.items() if effect.used), key=lambda cue: -cues[cue].effect.value)


def claims(gold: Estimate, cues: Mapping[str, CueEffect], interactions: tuple[Interaction, ...]) -> Iterator[str]:
    """Everything that may be claimed: a sentence for each used cue, each interaction, and gold."""
    for cue in by_size(cues):
        yield cue_claim(cue, cues[cue])
        yield from (interaction_claim(one) for one in interactions if one.cue == cue)
    yield gold_claim(gold)


def cue_claim(cue: str, found: CueEffect) -> str:
    """What one cue does: “Where all words overlap and gold is not entailment it answers entailment in 99 %, …”."""
    having, lacking = CONDITIONS[cue]
    return (
        f"Where {having} and gold is not {found.toward} it answers {found.toward} in "
        f"{whole_percent(found.with_cue.value)}, against {whole_percent(found.without_cue.value)} {lacking}: "
        f"{points(found.effect)}."
    )


def gold_claim(gold: Estimate) -> str:
    """How much gold moves, and what is left open."""
    bounds = f"{100 * max(gold.low, 0.0):.0f}–{100 * gold.high:.0f}"
    moved = whole_percent(max(gold.value, 0.0))
    return f"With the listed cues held fixed, gold moves {moved} of its answers ({bounds}). {UNLISTED}"


def interaction_claim(found: Interaction) -> str:
    """How the effect of one cue depends on another."""
    having, lacking = CONDITIONS[found.other]
    with_other, without = found.with_other.value, found.without_other.value
    if abs(with_other) < USED <= abs(without):
        return f"That holds only without {SHORT[found.other]}."
    if abs(without) < USED <= abs(with_other):
        return f"That holds only with {SHORT[found.other]}."
    return f"Where {having} it is {points(found.with_other)}, and {lacking} {points(found.without_other)}."


def points(effect: Estimate) -> str:
    """A difference with its interval: ``+68 points (64–72)``."""
    low, high = (f"{100 * bound:.0f}".replace("-", "−") for bound in (effect.low, effect.high))
    value = f"{100 * effect.value:+.0f}".replace("-", "−")
    joint = "–" if effect.low >= 0 else " to "
    return f"{value} points ({low}{joint}{high})"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
