"""The cue profile of a run: what moves a model's predictions, and what may be claimed of it in words.

Nothing here says that a share of predictions *comes from* a cue: effects do not add up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import polars as pl

from acidtest.core.document import Chart, Column, Push, Reference, Row, Table, listed
from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import whole_percent
from acidtest.core.run import Run, SuitePattern
from acidtest.core.suite import CONTROL
from acidtest.studies.crossed_suites import CUE_SUITES, NO_PREDICTION, CrossedSuite, crossed_suites, suites_in
from acidtest.studies.cue_effects import (
    USED,
    Combination,
    CrossedDesign,
    CueEffect,
    Interaction,
    LabelOrder,
    is_beyond,
    without_sign,
)
from acidtest.studies.scoring.rows import score_rows

PREMISES = SuitePattern(names=("premises",))
"""The suite in which premises are replaced, left out or shuffled."""

UNLISTED = "Cues not listed may explain the rest."
CONSTANT = 0.99
NEAR_CHANCE = 0.05
"""Predictions are near chance if gold moves them by less than this, and surely by less than twice this."""
SIGNIFICANT = 0.05
HARDLY = 0.10
"""If surely fewer answers than this change with the premise, and at most half as many did, it is not read.

This rests on benchmarks/diagnosis.py: fifteen planted models on five seeds and samples of 150 and 1,000 pairs.
"""


MAX_PREMISE_EFFECT = 0.15
"""The largest measured effect, on any label and in either direction, of a cue that needs a premise that is not read.

With 1,000 pairs the largest of so many effects is often above ten points by chance alone.
"""


def describe_too_few(suite: CrossedSuite) -> str:
    """What is said if too few pairs were evaluated for any effect to be measured."""
    return f"Too few pairs of suite {suite.name} were evaluated to say what moves its predictions"


@dataclass(frozen=True)
class Profile:
    """What moves a model's predictions."""

    headline: str
    gold_effect: Estimate
    """How much more often a label is predicted if it is gold than if it is not; the mean over labels."""
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
    association: Estimate | None = None
    """The effect of gold under the reading of the labels for which it is largest."""
    label_order: LabelOrder | None = None
    """That reading, if it is another than the run's and the effect is shown to be larger by more than ten points."""
    combination: Combination | None = None
    """The combination of cues on which predictions depend most."""
    tests: int = 0
    """How many effects of cues and gold the intervals hold for together."""
    is_code: bool = field(default=False, metadata={"json": None})
    """Whether the model is a function of the user's, whose labels are exchanged in its code."""

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
    """The predictions of a run on the suite on which its profile is measured."""
    suite, asked = profiled_suite(run, name)
    return CrossedDesign.of(score_rows(run, asked, two_way=suite.two_way), suite)


def measure_profile(run: Run, suite: str = "") -> Profile:
    """The profile of one run on a suite, by default on the first that it has of those made for profiles."""
    design = crossed_design(run, suite)
    is_code = run.header.model.spec.startswith("python:")
    return measure_design(design, _interventions(run) if design.suite.interventions else {}, is_code=is_code)


def measure_design(
    design: CrossedDesign, stability: Mapping[str, Estimate] | None = None, *, is_code: bool = False
) -> Profile:
    """The profile of the predictions in a design; ``stability`` is what is known from interventions on premises.

    ``is_code`` tells a function of the user's, whose labels no option renames.
    """
    crossed = design.suite
    effects = {name: design.effect(name, tests=design.tests) for name in crossed.cues}
    association, label_order = design.association()
    stability = dict(stability or {})
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
        association=association,
        label_order=label_order,
        combination=design.combination(effects),
        tests=design.tests,
        is_code=is_code,
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
    """The one sentence about a profile, or two."""
    gold, suite = profile.gold_effect, profile.crossed
    shares = {**profile.answers, NO_PREDICTION: 1 - sum(profile.answers.values())}
    label, share = max(shares.items(), key=lambda item: item[1])
    if share >= CONSTANT:
        constant = suite.describe_constant(label)
        return f"It {constant} ({whole_percent(share)}), so nothing can be said about cues."
    if not gold.known:
        return f"{describe_too_few(suite)}."
    if profile.label_order:
        found = describe_reliance(profile)
        return f"It {describe_label_order(profile)}.{f' It {found}.' if found else ''}"
    if found := describe_reliance(profile):
        return f"It {found}. {describe_gold(profile)}."
    if not _is_complete(profile):
        return f"{describe_too_few(suite)}."
    if ignores_premise(profile):
        return f"It {describe_ignored(profile)}."
    return f"{describe_gold(profile)}. {describe_bounds(profile)}."


def _is_complete(profile: Profile) -> bool:
    """Whether the effects of gold and of every cue could be measured."""
    return profile.gold_effect.known and all(effect.effect.known for effect in profile.cues.values())


def describe_reliance(profile: Profile) -> str:
    """What the model relies on, as the end of a sentence: ``relies on negation words (+68 points toward …)``."""
    used = leading_cues(profile)
    named = [f"{cue_phrase(profile, cue)}{describe_push(profile, cue)}" for cue in used[:3]]
    if profile.combination and profile.combination.matters:
        named.append(f"a combination of cues ({describe_combination(profile.crossed, profile.combination)})")
    if not named:
        return ""
    more = f", and on {len(used) - 3} more cues" if len(used) > 3 else ""
    return f"relies on {listed(named)}{more}"


def describe_gold(profile: Profile) -> str:
    """How far the correct label moves predictions, as a sentence without its full stop."""
    gold, association = profile.gold_effect, profile.association
    held = "With all cues held fixed, the correct label"
    if gold.value < 0 and gold.high < 0:
        return f"{held} is predicted less often than the others: {points(gold)}"
    is_near = abs(gold.value) <= NEAR_CHANCE and association is not None and association.high <= 2 * NEAR_CHANCE
    chance = "On these pairs it is near chance: with all cues held fixed, the correct label" if is_near else held
    return f"{chance} moves its predictions by {_amount(gold)}"


def describe_bounds(profile: Profile) -> str:
    """What is known of the cues if the model relies on none: how large an effect may be, and which would be found."""
    cue = max(profile.cues, key=lambda name: profile.cues[name].bound)
    bound, limit = profile.cues[cue].bound, f"{100 * USED:.0f} points"
    combination = profile.combination
    alone = " alone" if combination and combination.p < SIGNIFICANT else ""
    if bound <= USED:
        text = f"No listed cue{alone} moves its predictions by more than {limit}"
    else:
        detectable, phrase = (
            max(effect.detectable for effect in profile.cues.values()),
            profile.crossed.cues[cue].phrase,
        )
        text = (
            f"No cue{alone} is shown to move them by more than {limit}: {phrase} may do so by up to {100 * bound:.0f}, "
            f"and this run finds effects of {100 * detectable:.0f} points in four of five cases"
        )
    if combination and alone and not combination.matters:
        found = describe_combination(profile.crossed, combination)
        text += f". Its predictions depend on a combination of cues: {found}"
    return text


def describe_combination(suite: CrossedSuite, combination: Combination) -> str:
    """What a combination of cues does, in words."""
    cues = [suite.cues[cue].phrase for cue in combination.cues]
    effect = combination.effect
    # The product of the signs of k cues is 1 if all are there, and changes its sign with each that is not.
    is_like_all = effect.value > 0
    if len(cues) == 2:
        together = f"both or neither of {listed(cues)}" if is_like_all else f"exactly one of {listed(cues)}"
    else:
        is_odd = is_like_all == (len(cues) % 2 == 1)
        together = f"an {'odd' if is_odd else 'even'} number of {listed(cues)}"
    label = combination.toward if combination.toward == NO_PREDICTION else suite.label_name(combination.toward)
    size = points(without_sign(effect))
    by_gold = ", in opposite directions for different correct labels" if combination.by_gold else ""
    return f"{size} toward {label} with {together}{by_gold}"


def describe_label_order(profile: Profile) -> str:
    """That the labels seem to be exchanged, and what to do about it, as the end of a sentence."""
    order = profile.label_order
    if order is None:
        return ""
    read_as = listed([f"{theirs} as {ours}" for theirs, ours in order.reading.items()])
    pairs = ",".join(f"{theirs}={ours}" for theirs, ours in order.reading.items())
    gold = profile.gold_effect
    remedy = "exchange them in what your function returns" if profile.is_code else f"--label-map {pairs}"
    return (
        "seems to have its labels exchanged: with all cues held fixed, the correct label moves its predictions by "
        f"{_amount(gold)}, but by {_amount(order.effect)} if you read {read_as} ({remedy})"
    )


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
    if not use.value <= HARDLY / 2 or not all(effect.size.value < MAX_PREMISE_EFFECT for effect in effects):
        return False
    stays = [profile.stability[name] for name in ("another", "none") if name in profile.stability]
    if stays:
        return all(share.low >= 1 - HARDLY for share in stays)
    alone = profile.hypothesis_alone
    predicted = alone is not None and alone.low > max(profile.answers.values(), default=1.0)
    return predicted and use.high <= HARDLY and all(effect.size.high < USED for effect in effects)


def describe_ignored(profile: Profile) -> str:
    """What is said of a model whose predictions do not depend on the premise: ``hardly reads the document: …``."""
    premise, changed = profile.crossed.premise, whole_percent(profile.premise_use.value)
    return f"hardly reads the {premise}: another {premise}, with another gold, changes {changed} of its predictions"


def cue_phrase(profile: Profile, cue: str) -> str:
    """What the model relies on: the cue or, if that is what pushes it, the absence of the cue."""
    facts = profile.crossed.cues[cue]
    return facts.absence if profile.cues[cue].is_absence else facts.phrase


def describe_push(profile: Profile, cue: str) -> str:
    """How far a cue that the model relies on moves predictions, as a remark: `` (+68 points toward entailment)``."""
    effect = profile.cues[cue]
    return f" (+{100 * effect.size.value:.0f} points toward {profile.crossed.label_name(effect.toward or '')})"


def describe_direction(profile: Profile, cue: str) -> str:
    """What leads to which prediction: ``short hypothesis → entailment``; empty unless an effect is shown."""
    effect = profile.cues[cue]
    if not is_beyond(effect.effect, 0):
        return ""
    return f"{cue_phrase(profile, cue)} → {profile.crossed.label_name(effect.toward or '')}"


def by_size(cues: Mapping[str, CueEffect]) -> list[str]:
    """The cues that the model relies on, the strongest first."""
    return sorted((cue for cue, effect in cues.items() if effect.used), key=lambda cue: -cues[cue].size.value)


def leading_cues(profile: Profile) -> list[str]:
    """The cues that the model relies on, the strongest first, without those that only switch another one off.

    If overlapping words lead to entailment only without negation words, the absence of negation leads to entailment
    only with overlapping words. That is one fact, which is told of overlap.
    """
    only = {(one.cue, one.other): one.only for one in profile.interactions}
    used = by_size(profile.cues)
    return [
        cue
        for cue in used
        if not profile.cues[cue].is_absence
        or not any(only.get((cue, other)) is True and only.get((other, cue)) is False for other in used)
    ]


def claims(profile: Profile) -> Iterator[str]:
    """Everything that may be claimed: a sentence for each cue it relies on, each interaction, and gold."""
    for cue in leading_cues(profile):
        yield from cue_claims(profile, cue)
    yield from combination_claims(profile)
    if ignores_premise(profile) and profile.hypothesis_alone is not None:
        share = whole_percent(profile.hypothesis_alone.value)
        alone = profile.crossed.alone_predicts
        yield f"{alone[:1].upper()}{alone[1:]} {share} of its predictions."
    if profile.label_order:
        yield f"It {describe_label_order(profile)}."
    elif _is_complete(profile) and not by_size(profile.cues):
        yield f"{describe_bounds(profile)}."
    yield gold_claim(profile)


def combination_claims(profile: Profile) -> Iterator[str]:
    """What a combination of cues does if that is shown to exceed ten points."""
    found = profile.combination
    if found and found.matters:
        yield (
            f"Its predictions depend on a combination of cues: {describe_combination(profile.crossed, found)}, the "
            f"strongest of {found.tests:,} combinations."
        )


def cue_claims(profile: Profile, cue: str) -> Iterator[str]:
    """What one cue does, and on which other cues that depends."""
    yield cue_claim(profile, cue)
    yield from (interaction_claim(profile, one) for one in profile.interactions if one.cue == cue)


def cue_claim(profile: Profile, cue: str) -> str:
    """What one cue does: “If all words overlap and gold is not entailment, it predicts entailment in 99 %, …”."""
    effect, facts = profile.cues[cue], profile.crossed.cues[cue]
    return (
        f"Where {facts.having}{profile.crossed.describe_wrong_where(effect.toward or '')} in "
        f"{whole_percent(effect.with_cue.value)}, against {whole_percent(effect.without_cue.value)} {facts.lacking}: "
        f"{points(effect.effect)}."
    )


def gold_claim(profile: Profile) -> str:
    """How far gold moves predictions, and what is left open."""
    if not profile.gold_effect.known:
        return f"{describe_too_few(profile.crossed)}."
    return f"{describe_gold(profile)}. {UNLISTED}"


def interaction_claim(profile: Profile, interaction: Interaction) -> str:
    """How the effect of one cue depends on another."""
    suite = profile.crossed
    other = suite.cues[interaction.other]
    if interaction.excludes:
        return f"That holds only {'with' if interaction.only else 'without'} {other.phrase}."
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
    caption = "What moves the predictions: percentage points, with joint 95 % intervals"
    notes = (
        f"* The model relies on it: the whole interval is beyond {100 * USED:.0f} points. A negative effect: the "
        "prediction is more frequent without the cue.",
    )
    return Table(table_id, caption, columns, tuple(rows), "what moves the answers", notes)


def _push(suite: CrossedSuite, effect: CueEffect) -> Push:
    """The effect, with its label if any effect is shown."""
    toward = suite.label_name(effect.toward or "") if is_beyond(effect.effect, 0) else ""
    return Push(effect.effect, toward, effect.used)


def effects_chart(table_id: str = EFFECTS) -> Chart:
    """The picture of a table of effects."""
    return Chart(
        table_id, title="What moves the answers", axis="points", reference=Reference(USED, f"{100 * USED:.0f} points")
    )


def _amount(effect: Estimate) -> str:
    """A size with its interval: ``68 points (64–72)``."""
    return points(effect).removeprefix("+")


def points(effect: Estimate) -> str:
    """A difference with its interval: ``+68 points (64–72)``."""
    low, high = (f"{100 * bound:.0f}".replace("-", "−") for bound in (effect.low, effect.high))
    value = f"{100 * effect.value:+.0f}".replace("-", "−")
    joint = "–" if effect.low >= 0 else " to "
    return f"{value} points ({low}{joint}{high})"
