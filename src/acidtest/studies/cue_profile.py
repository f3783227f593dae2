"""The cue profile of a run: what moves a model's answers, and what may be claimed of it in words.

Nothing here says that a share of answers *comes from* a cue: effects do not add up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import polars as pl

from acidtest.core.document import Chart, Column, Push, Reference, Row, Table
from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import whole_percent
from acidtest.core.run import Run, SuitePattern
from acidtest.core.suite import CONTROL
from acidtest.studies.crossed_suites import CUE_SUITES, CrossedSuite, crossed_suites, suites_in
from acidtest.studies.cue_effects import USED, CrossedDesign, CueEffect, Interaction
from acidtest.studies.rows import score_rows

PREMISES = SuitePattern(names=("premises",))
"""The suite in which premises are replaced, left out or shuffled."""

UNLISTED = "Cues not listed may explain the rest."
CONSTANT = 0.99
NEAR_CHANCE = 0.05
UNDECIDED = 0.2
"""Where an effect could exceed this and no cue is used, nothing is said of the cues."""
HARDLY = 0.10
"""If surely fewer answers than this change with the premise, and at most half as many did, it is not read.

This rests on benchmarks/diagnosis.py: fifteen planted models on five seeds and samples of 150 and 1,000 pairs.
"""
ENOUGH = 3000
"""Pairs of a suite from which something could be said of every model that was tried."""


def describe_too_few(suite: CrossedSuite) -> str:
    """What is said where too few pairs were asked."""
    return (
        f"Too few pairs of suite {suite.name} were asked to say which cues move its answers ({ENOUGH:,} are usually "
        "enough)"
    )


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
    suite: str = "cues"
    """The suite it was measured on."""

    @property
    def crossed(self) -> CrossedSuite:
        """The cues of that suite, and how they are worded."""
        return crossed_suites()[self.suite]


def profiled_suite(run: Run, name: str = "") -> tuple[CrossedSuite, str]:
    """The suite on which the profile of a run is measured, by default the first that it has, and its name there."""
    suites = [suite for suite in suites_in(run) if not name or suite.name == name]
    if not suites:
        raise AcidtestError(f"the run has no suite {name or ' or '.join(CUE_SUITES.names)}, so it has no profile")
    asked, *others = suites[0].names_in(run)
    if others:
        raise AcidtestError(
            f"the run holds suite {suites[0].name} {len(others) + 1} times; the profile is measured on one"
        )
    return suites[0], asked


def crossed_design(run: Run, name: str = "") -> CrossedDesign:
    """The answers of a run to the suite on which its profile is measured."""
    suite, asked = profiled_suite(run, name)
    return CrossedDesign.of(score_rows(run, asked, two_way=suite.two_way), suite)


def measure_profile(run: Run, suite: str = "") -> Profile:
    """The profile of one run on a suite, by default on the first that it has of those made for profiles."""
    design = crossed_design(run, suite)
    crossed = design.suite
    effects = {name: design.effect(name, tests=crossed.tests) for name in crossed.cues}
    stability = _interventions(run) if crossed.interventions else {}
    stability |= {f"{name} switched": design.stability(name) for name, cue in crossed.cues.items() if cue.stays}
    profile = Profile(
        headline="",
        gold_effect=design.gold_effect(),
        cues=effects,
        premise_use=design.premise_use(),
        interactions=tuple(design.interactions(effects)),
        cells=design.cells_asked,
        stability=stability,
        reverse_overlap=design.reverse_overlap(),
        hypothesis_alone=design.hypothesis_alone(),
        answers={label: float((design.answer == place).mean()) for place, label in enumerate(design.labels)},
        suite=crossed.name,
    )
    return replace(profile, headline=headline(profile))


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


def headline(profile: Profile) -> str:
    """The one sentence about a profile."""
    gold, cues, suite = profile.gold_effect, profile.cues, profile.crossed
    label, share = max(profile.answers.items(), key=lambda item: item[1])
    if share >= CONSTANT:
        constant = suite.describe_constant(label)
        return f"It {constant} ({whole_percent(share)}): nothing it is asked moves its answers."
    used = by_size(cues)
    if not gold.known:
        return f"{describe_too_few(suite)}."
    moves = f"gold moves {whole_percent(max(gold.value, 0.0))} of its answers"
    if not used:
        if any(not effect.effect.known or effect.effect.high > UNDECIDED for effect in cues.values()):
            return f"{describe_too_few(suite)}; {moves} ({_bounds(gold)})."
        if ignores_premise(profile):
            return f"It {describe_ignored(profile)}."
        if gold.low <= NEAR_CHANCE:
            return (
                f"On these pairs it is near chance: {moves}, and no listed cue moves them by more than "
                f"{100 * USED:.0f} points."
            )
        return f"No listed cue moves its answers by more than {100 * USED:.0f} points; {moves}."
    named = [f"{suite.cues[cue].phrase}{describe_push(profile, cue)}" for cue in used[:3]]
    more = f" and {len(used) - 3} more" if len(used) > 3 else ""
    return f"Its answers follow {_listed(named)}{more}; with cues held fixed, {moves}."


def ignores_premise(profile: Profile) -> bool:
    """Whether answers do not depend on the premise, and are shown to depend on the hypothesis.

    Hardly an answer changes with the gold of the premise, every cue that needs the premise was measured and moves
    hardly any answer, and answers surely stay with another premise and with none. Where these were not asked, hardly an
    answer may surely change, no cue of the premise may have an effect, and the words of the hypothesis must predict
    more answers than the most frequent answer does.
    """
    cues = profile.crossed.cues
    use, effects = profile.premise_use, [effect for name, effect in profile.cues.items() if cues[name].of_premise]
    # In a small sample a cue may move all answers and yet not be shown to: only a small measured effect clears it.
    if not use.value <= HARDLY / 2 or not all(effect.effect.value < USED for effect in effects):
        return False
    stays = [profile.stability[name] for name in ("another", "none") if name in profile.stability]
    if stays:
        return all(share.low >= 1 - HARDLY for share in stays)
    alone = profile.hypothesis_alone
    predicted = alone is not None and alone.low > max(profile.answers.values(), default=1.0)
    return predicted and use.high <= HARDLY and all(effect.effect.high < USED for effect in effects)


def describe_ignored(profile: Profile) -> str:
    """What is said of a model whose answers do not depend on the premise: ``hardly reads the document: …``."""
    premise, changed = profile.crossed.premise, whole_percent(profile.premise_use.value)
    return f"hardly reads the {premise}: another {premise}, with another gold, changes {changed} of its answers"


def describe_push(profile: Profile, cue: str) -> str:
    """How far a used cue moves answers, as a remark: `` (+68 points toward entailment)``."""
    effect = profile.cues[cue]
    return f" (+{100 * effect.effect.value:.0f} points toward {profile.crossed.label_name(effect.toward or '')})"


def by_size(cues: Mapping[str, CueEffect]) -> list[str]:
    """The used cues, the strongest first."""
    return sorted((cue for cue, effect in cues.items() if effect.used), key=lambda cue: -cues[cue].effect.value)


def claims(profile: Profile) -> Iterator[str]:
    """Everything that may be claimed: a sentence for each used cue, each interaction, and gold."""
    for cue in by_size(profile.cues):
        yield from cue_claims(profile, cue)
    if ignores_premise(profile) and profile.hypothesis_alone is not None:
        share = whole_percent(profile.hypothesis_alone.value)
        alone = profile.crossed.alone_predicts
        yield f"{alone[:1].upper()}{alone[1:]} {share} of its answers."
    yield gold_claim(profile)


def cue_claims(profile: Profile, cue: str) -> Iterator[str]:
    """What one cue does, and on which other cues that depends."""
    yield cue_claim(profile, cue)
    yield from (interaction_claim(profile.crossed, one) for one in profile.interactions if one.cue == cue)


def cue_claim(profile: Profile, cue: str) -> str:
    """What one cue does: “Where all words overlap and gold is not entailment it answers entailment in 99 %, …”."""
    effect, facts = profile.cues[cue], profile.crossed.cues[cue]
    return (
        f"Where {facts.having} and {profile.crossed.describe_wrong(effect.toward or '')} in "
        f"{whole_percent(effect.with_cue.value)}, against {whole_percent(effect.without_cue.value)} {facts.lacking}: "
        f"{points(effect.effect)}."
    )


def gold_claim(profile: Profile) -> str:
    """How much gold moves, and what is left open."""
    gold = profile.gold_effect
    if not gold.known:
        return f"{describe_too_few(profile.crossed)}."
    moved = whole_percent(max(gold.value, 0.0))
    return f"With the listed cues held fixed, gold moves {moved} of its answers ({_bounds(gold)}). {UNLISTED}"


def _bounds(gold: Estimate) -> str:
    return f"{100 * max(gold.low, 0.0):.0f}–{100 * gold.high:.0f}"


def interaction_claim(suite: CrossedSuite, interaction: Interaction) -> str:
    """How the effect of one cue depends on another."""
    other = suite.cues[interaction.other]
    with_other, without = interaction.with_other.value, interaction.without_other.value
    if abs(with_other) < USED <= abs(without):
        return f"That holds only without {other.phrase}."
    if abs(without) < USED <= abs(with_other):
        return f"That holds only with {other.phrase}."
    apart = f"and {other.lacking} {points(interaction.without_other)}"
    return f"Where {other.having} it is {points(interaction.with_other)}, {apart}."


EFFECTS = "effects"
"""The name of the table and the chart of effects."""
GOLD = "gold (what is right)"
_CUES = "Cues, with gold and the other cues held fixed"


def effects_table(profiles: Mapping[str, Profile], table_id: str = EFFECTS) -> Table:
    """What moves answers: the effects of gold and of every cue, a column for each model; all of one suite."""
    columns = tuple(Column(name if len(profiles) > 1 else "effect", "points", model=name) for name in profiles)
    gold = (Push(profile.gold_effect) for profile in profiles.values())
    rows = [Row(GOLD, tuple(gold), heading="The truth")]
    suite = next(iter(profiles.values())).crossed
    for cue, facts in suite.cues.items():
        pushes = (_push(suite, profile.cues[cue]) for profile in profiles.values())
        rows.append(Row(facts.phrase, tuple(pushes), heading=_CUES))
    caption = "What moves the answers: percentage points, with joint 95 % intervals"
    notes = (f"* used: the whole interval is above {100 * USED:.0f} points.",)
    return Table(table_id, caption, columns, tuple(rows), "what moves the answers", notes)


def _push(suite: CrossedSuite, effect: CueEffect) -> Push:
    """The effect, with its label if it has been shown to push at all."""
    toward = suite.label_name(effect.toward or "") if effect.effect.low > 0 else ""
    return Push(effect.effect, toward, effect.used)


def effects_chart(table_id: str = EFFECTS) -> Chart:
    """The picture of a table of effects."""
    return Chart(
        table_id, title="What moves the answers", axis="points", reference=Reference(USED, f"{100 * USED:.0f} points")
    )


def points(effect: Estimate) -> str:
    """A difference with its interval: ``+68 points (64–72)``."""
    low, high = (f"{100 * bound:.0f}".replace("-", "−") for bound in (effect.low, effect.high))
    value = f"{100 * effect.value:+.0f}".replace("-", "−")
    joint = "–" if effect.low >= 0 else " to "
    return f"{value} points ({low}{joint}{high})"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
