"""The cue profile of a run: what moves a model's answers, and what may be claimed of it in words.

Nothing here says that a share of answers *comes from* a cue: effects do not add up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import polars as pl

from acidtest.core.document import Chart, Column, Push, Reference, Row, Table
from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import whole_percent
from acidtest.core.run import Run, SuitePattern
from acidtest.core.suite import CONTROL
from acidtest.studies.cue_effects import CUES, SUITE, USED, CrossedDesign, CueEffect, Interaction
from acidtest.studies.rows import score_rows

CUE_SUITE = SuitePattern(names=(SUITE,))
PREMISES = SuitePattern(names=("premises",))
"""The suite in which premises are replaced, left out or shuffled."""

SHORT = {
    "overlap": "overlapping words",
    "subsequence": "a run of shared words",
    "constituent": "a shared clause",
    "negation": "negation words",
    "hypothesis": "hint words in the hypothesis",
    "antonym": "antonyms",
    "number": "other numbers",
    "length": "a long hypothesis",
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
UNDECIDED = 0.2
"""Where an effect could exceed this and no cue is used, nothing is said of the cues."""
ENOUGH = 3000
"""Pairs of suite cues from which something could be said of every model that was tried."""
TOO_FEW = f"Too few pairs of suite cues were asked to say which cues move its answers ({ENOUGH:,} are usually enough)"


@dataclass(frozen=True)
class Profile:
    """What moves a model's answers."""

    headline: str
    gold_effect: Estimate
    cues: Mapping[str, CueEffect]
    premise_use: Estimate
    """How often the answer to one hypothesis differs between premises of different gold."""
    interactions: tuple[Interaction, ...]
    cells: int
    """How many cells of the design were asked."""
    stability: Mapping[str, Estimate] = field(default_factory=dict)
    """How often an answer stays, by what was done: another premise, none, its words shuffled, a cue switched."""
    reverse_overlap: Estimate | None = None
    """How often entailment is answered where it is gold and words do not overlap."""
    hypothesis_alone: Estimate | None = None
    """How many answers the words of the hypothesis alone predict."""
    answers: Mapping[str, float] = field(default_factory=dict)
    """How often each label is answered; what is missing to one was not answered."""


def measure_profile(run: Run) -> Profile:
    """The profile of one run."""
    suite, *others = CUE_SUITE.names_in(run)
    if others:
        raise AcidtestError(f"the run holds suite cues {len(others) + 1} times; the profile is measured on one")
    design = CrossedDesign.of(score_rows(run, suite))
    effects = {name: design.effect(name) for name in CUES}
    answers = {label: float((design.answer == place).mean()) for place, label in enumerate(design.labels)}
    gold = design.gold_effect()
    return Profile(
        headline=headline(gold, effects, answers),
        gold_effect=gold,
        cues=effects,
        premise_use=design.premise_use(),
        interactions=tuple(design.interactions(effects)),
        cells=design.cells_asked,
        stability=_interventions(run)
        | {f"{name} switched": design.stability(name) for name in ("misspelling", "length")},
        reverse_overlap=design.reverse_overlap(),
        hypothesis_alone=design.hypothesis_alone(),
        answers=answers,
    )


def _interventions(run: Run) -> dict[str, Estimate]:
    """How often the answer stays when the premise of an untouched pair is replaced, left out or shuffled."""
    suite = next(iter(PREMISES.names_in(run)), "")
    if suite + CONTROL not in run.header.suites:
        return {}
    rows, control = score_rows(run, suite), score_rows(run, suite + CONTROL)
    before = pl.DataFrame({"base_id": control.frame["id"], "before": control.answer})
    columns = rows.frame.select("base_id", "premise_is").with_columns(after=pl.Series(rows.answer))
    joined = columns.join(before, on="base_id", how="left", maintain_order="left")
    stays = (joined["after"] == joined["before"]).fill_null(False).to_numpy()
    return {
        name: rows.rate(stays, (joined["premise_is"] == name).to_numpy())
        for name in joined["premise_is"].unique(maintain_order=True)
    }


def headline(gold: Estimate, cues: Mapping[str, CueEffect], answers: Mapping[str, float]) -> str:
    """The one sentence about a profile."""
    label, share = max(answers.items(), key=lambda item: item[1])
    if share >= CONSTANT:
        return (
            f"It answers {label} to nearly everything ({whole_percent(share)}): nothing it is asked moves its answers."
        )
    used = by_size(cues)
    if not gold.known:
        return f"{TOO_FEW}."
    moves = f"gold moves {whole_percent(max(gold.value, 0.0))} of its answers"
    if not used:
        if any(not effect.effect.known or effect.effect.high > UNDECIDED for effect in cues.values()):
            return f"{TOO_FEW}; {moves} ({_bounds(gold)})."
        if gold.low <= NEAR_CHANCE:
            return (
                f"On these pairs it is near chance: {moves}, and no listed cue moves them by more than "
                f"{100 * USED:.0f} points."
            )
        return f"No listed cue moves its answers by more than {100 * USED:.0f} points; {moves}."
    named = [f"{SHORT[cue]}{describe_push(cues[cue])}" for cue in used[:3]]
    more = f" and {len(used) - 3} more" if len(used) > 3 else ""
    return f"Its answers follow {_listed(named)}{more}; with cues held fixed, {moves}."


def describe_push(effect: CueEffect) -> str:
    """How far a used cue moves answers, as a remark: `` (+68 points toward entailment)``."""
    return f" (+{100 * effect.effect.value:.0f} points toward {effect.toward})"


def by_size(cues: Mapping[str, CueEffect]) -> list[str]:
    """The used cues, the strongest first."""
    return sorted((cue for cue, effect in cues.items() if effect.used), key=lambda cue: -cues[cue].effect.value)


def claims(gold: Estimate, cues: Mapping[str, CueEffect], interactions: tuple[Interaction, ...]) -> Iterator[str]:
    """Everything that may be claimed: a sentence for each used cue, each interaction, and gold."""
    for cue in by_size(cues):
        yield cue_claim(cue, cues[cue])
        yield from (interaction_claim(one) for one in interactions if one.cue == cue)
    yield gold_claim(gold)


def cue_claim(cue: str, effect: CueEffect) -> str:
    """What one cue does: “Where all words overlap and gold is not entailment it answers entailment in 99 %, …”."""
    having, lacking = CONDITIONS[cue]
    return (
        f"Where {having} and gold is not {effect.toward} it answers {effect.toward} in "
        f"{whole_percent(effect.with_cue.value)}, against {whole_percent(effect.without_cue.value)} {lacking}: "
        f"{points(effect.effect)}."
    )


def gold_claim(gold: Estimate) -> str:
    """How much gold moves, and what is left open."""
    if not gold.known:
        return f"{TOO_FEW}."
    moved = whole_percent(max(gold.value, 0.0))
    return f"With the listed cues held fixed, gold moves {moved} of its answers ({_bounds(gold)}). {UNLISTED}"


def _bounds(gold: Estimate) -> str:
    return f"{100 * max(gold.low, 0.0):.0f}–{100 * gold.high:.0f}"


def interaction_claim(interaction: Interaction) -> str:
    """How the effect of one cue depends on another."""
    having, lacking = CONDITIONS[interaction.other]
    with_other, without = interaction.with_other.value, interaction.without_other.value
    if abs(with_other) < USED <= abs(without):
        return f"That holds only without {SHORT[interaction.other]}."
    if abs(without) < USED <= abs(with_other):
        return f"That holds only with {SHORT[interaction.other]}."
    return f"Where {having} it is {points(interaction.with_other)}, and {lacking} {points(interaction.without_other)}."


EFFECTS = "effects"
"""The name of the table and the chart of effects."""
GOLD = "gold (what is right)"
_CUES = "Cues, with gold and the other cues held fixed"


def effects_table(profiles: Mapping[str, Profile]) -> Table:
    """What moves answers: the effects of gold and of every cue, a column for each model."""
    columns = tuple(Column(name if len(profiles) > 1 else "effect", "points", model=name) for name in profiles)
    gold = (Push(profile.gold_effect) for profile in profiles.values())
    rows = [Row(GOLD, tuple(gold), heading="The truth")]
    for cue in CUES:
        pushes = (_push(profile.cues[cue]) for profile in profiles.values())
        rows.append(Row(SHORT[cue], tuple(pushes), heading=_CUES))
    caption = "What moves the answers: percentage points, with joint 95 % intervals"
    notes = (f"* used: the whole interval is above {100 * USED:.0f} points.",)
    return Table(EFFECTS, caption, columns, tuple(rows), "what moves the answers", notes)


def _push(effect: CueEffect) -> Push:
    """The effect, with its label if it has been shown to push at all."""
    return Push(effect.effect, (effect.toward or "") if effect.effect.low > 0 else "", effect.used)


def effects_chart() -> Chart:
    """The picture of the table of effects."""
    return Chart(
        EFFECTS, title="What moves the answers", axis="points", reference=Reference(USED, f"{100 * USED:.0f} points")
    )


def points(effect: Estimate) -> str:
    """A difference with its interval: ``+68 points (64–72)``."""
    low, high = (f"{100 * bound:.0f}".replace("-", "−") for bound in (effect.low, effect.high))
    value = f"{100 * effect.value:+.0f}".replace("-", "−")
    joint = "–" if effect.low >= 0 else " to "
    return f"{value} points ({low}{joint}{high})"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
