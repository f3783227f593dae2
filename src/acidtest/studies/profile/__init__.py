"""The cue profile: which cues move a model's answers, and how much gold does, on the pairs of suite ``cues``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.run import Run
from acidtest.core.study import study
from acidtest.core.suite import CONTROL
from acidtest.studies.profile.design import CUES, SUITE, CrossedDesign, CueEffect, Interaction
from acidtest.studies.profile.sentences import headline
from acidtest.studies.profile.user_cues import UserCue, measure_user_cue
from acidtest.studies.rows import model_names, score_rows

PREMISES = "premises"
"""The suite in which premises are replaced, left out or shuffled."""


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


@dataclass(frozen=True)
class Spread:
    """The effect of a cue, or of gold, over several runs of one recipe."""

    mean: float
    lowest: float
    highest: float
    deviation: float
    """Standard deviation over runs."""
    error: float
    """Mean standard error over pairs, for comparison."""


@dataclass(frozen=True)
class ProfileResult:
    """The profiles of models."""

    models: Mapping[str, Profile]
    user_cues: tuple[UserCue, ...] = ()
    seeds: Mapping[str, Spread] = field(default_factory=dict)
    """By cue and ``gold``: the spread over runs, where these are of one recipe."""
    runs: Mapping[str, Run] = field(default_factory=dict, metadata={"json": None})


def cue_suites(run: Run) -> list[str]:
    """The suites of a run that hold the crossed pairs."""
    return [name for name in run.header.suites if name.partition(":")[0] == SUITE]


@study(group="look into a run", applies=lambda runs: any(map(cue_suites, runs)))
def profile(
    runs: Annotated[Sequence[Run], "Run folders that hold suite cues."],
    *,
    cue: Annotated[tuple[str, ...], "A cue of your own, package.module:function; repeat for several."] = (),
    one_recipe: Annotated[bool, "The runs are of one recipe with several seeds: show the spread over seeds."] = False,
) -> ProfileResult:
    """Show what moves models' answers: which cues, and how much gold.

    A cue is a function of premise and hypothesis that says yes or no. Those listed are crossed with gold in suite cues,
    so that the effect of each is measured with the others held fixed. One of your own is measured on all pairs that
    were asked, matched on gold and on the listed cues that words can tell.
    """
    named = {name: run for name, run in zip(model_names(runs), runs, strict=True) if cue_suites(run)}
    if not named:
        raise AcidtestError("no run has suite cues, on which the profile is measured; run the model with -s cues")
    models = {name: measure_profile(run) for name, run in named.items()}
    user_cues = tuple(measure_user_cue(spec, named) for spec in cue)
    return ProfileResult(models, user_cues, _spreads(models) if one_recipe else {}, named)


def measure_profile(run: Run) -> Profile:
    """The profile of one run."""
    suite, *others = cue_suites(run)
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
    suite = next(
        (name for name in run.header.suites if name.partition(":")[0] == PREMISES and not name.endswith(CONTROL)), ""
    )
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


def _spreads(models: Mapping[str, Profile]) -> dict[str, Spread]:
    effects = {"gold": [profile.gold_effect for profile in models.values()]}
    effects |= {cue: [profile.cues[cue].effect for profile in models.values()] for cue in CUES}
    spreads = {}
    for name, estimates in effects.items():
        values = np.array([estimate.value for estimate in estimates])
        error = float(np.mean([(estimate.high - estimate.low) / 2 / 2.8 for estimate in estimates]))
        deviation = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
        spreads[name] = Spread(float(values.mean()), float(values.min()), float(values.max()), deviation, error)
    return spreads
