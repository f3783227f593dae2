"""The cue profile: which cues move a model's answers, and how much gold does, on pairs that cross both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.run import Run, SuitePattern
from acidtest.core.study import study
from acidtest.core.suite import CROSS
from acidtest.io.wordlists import packaged_table
from acidtest.stats.contrasts import standard_error
from acidtest.studies.crossed_suites import crossed_suites, suites_in
from acidtest.studies.cue_effects import CueEffect
from acidtest.studies.cue_profile import Profile, measure_profile
from acidtest.studies.profile.user_cues import UserCue, measure_user_cue
from acidtest.studies.scoring.rows import breakdown, model_names, score_rows

HANS = SuitePattern(names=("hans",))


@dataclass(frozen=True)
class RecipeSpread:
    """The effect of a cue, or of gold, over several runs of one recipe."""

    mean: float
    lowest: float
    highest: float
    deviation: float
    """Standard deviation over runs."""
    error: float
    """Mean standard error over pairs, for comparison."""


@dataclass(frozen=True)
class HansSlice:
    """Accuracy on one heuristic and gold of HANS, beside 100 published BERTs that differ only in their seed."""

    heuristic: str
    label: str
    accuracy: Mapping[str, Estimate]
    """By model."""
    lowest: float
    lower_quartile: float
    median: float
    upper_quartile: float
    highest: float


@dataclass(frozen=True)
class ProfileResult:
    """The profiles of models."""

    models: Mapping[str, Profile]
    user_cues: tuple[UserCue, ...] = ()
    seeds: Mapping[str, RecipeSpread] = field(default_factory=dict)
    """By cue and ``gold``: the spread over runs, where these are of one recipe."""
    hans: tuple[HansSlice, ...] = ()
    """Accuracy on HANS beside that of models that differ only in their seed."""
    runs: Mapping[str, Run] = field(default_factory=dict, metadata={"json": None})


@study(group="look into a run")
def profile(
    runs: Annotated[Sequence[Run], "Run folders that hold suite cues or grounding/cues."],
    *,
    cue: Annotated[tuple[str, ...], "A cue of your own, package.module:function; repeat for several."] = (),
    suite: Annotated[str, "The suite of cues to measure it on; by default cues, and without it grounding/cues."] = "",
    one_recipe: Annotated[bool, "The runs are of one recipe with several seeds: show the spread over seeds."] = False,
) -> ProfileResult:
    """Show what moves models' answers: which cues, and how much gold.

    A cue is a function of premise and hypothesis that says yes or no. Those listed are crossed with gold in suite cues,
    and in suite grounding/cues for verifiers of claims, so that the effect of each is measured with the others held
    fixed. One of your own is measured on all pairs that were asked, matched on gold and on the listed cues that words
    can tell.
    """
    suite = suite or _first_suite(runs)
    named = {
        name: run
        for name, run in zip(model_names(runs), runs, strict=True)
        if suite in [crossed.name for crossed in suites_in(run)]
    }
    if not named:
        raise AcidtestError(
            f"no run has suite {suite or 'cues'}, on which the profile is measured; run the model with "
            f"-s {suite or 'cues, or with -s grounding/cues if it verifies claims'}"
        )
    models = {name: measure_profile(run, suite) for name, run in named.items()}
    user_cues = tuple(measure_user_cue(spec, named) for spec in cue)
    return ProfileResult(models, user_cues, _spreads(models) if one_recipe else {}, _hans_slices(named), named)


def _first_suite(runs: Sequence[Run]) -> str:
    """The first suite of cues that any of the runs holds; empty if none does."""
    return next((name for name, suite in crossed_suites().items() if any(map(suite.names_in, runs))), "")


def _hans_slices(runs: Mapping[str, Run]) -> tuple[HansSlice, ...]:
    """The accuracies on HANS of the runs that hold it, each beside the published band."""
    accuracies = {
        name: breakdown(score_rows(run, suite), ["heuristic", "label"])
        for name, run in runs.items()
        for suite in HANS.names_in(run)[:1]
    }
    slices = []
    for band in packaged_table("hans/seeds.tsv").iter_rows(named=True) if accuracies else ():
        key = f"{band['heuristic']}{CROSS}{band['label']}"
        known = {name: values[key] for name, values in accuracies.items() if key in values}
        bounds = [float(band[place]) for place in ("lowest", "lower_quartile", "median", "upper_quartile", "highest")]
        slices.append(HansSlice(band["heuristic"], band["label"], known, *bounds))
    return tuple(slices)


def _same_outcome(effects: Sequence[CueEffect]) -> list[Estimate]:
    """The effects of a cue in all runs on one prediction: that of the run with the largest effect."""
    largest = max(effects, key=lambda effect: np.nan_to_num(effect.size.value)).toward or ""
    return [effect.outcomes.get(largest, effect.effect) for effect in effects]


def _spreads(models: Mapping[str, Profile]) -> dict[str, RecipeSpread]:
    effects = {"gold": [profile.gold_effect for profile in models.values()]}
    first = next(iter(models.values()))
    effects |= {cue: _same_outcome([profile.cues[cue] for profile in models.values()]) for cue in first.cues}
    spreads, tests = {}, [profile.tests for profile in models.values()]
    for name, estimates in effects.items():
        values = np.array([estimate.value for estimate in estimates])
        errors = [standard_error(estimate, tests=count) for estimate, count in zip(estimates, tests, strict=True)]
        error = float(np.mean(errors))
        deviation = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
        spreads[name] = RecipeSpread(float(values.mean()), float(values.min()), float(values.max()), deviation, error)
    return spreads
