"""Comparison of models: on which suites one is better, how their profiles differ, and where: slice by slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from acidtest.core.run import Run
from acidtest.core.study import study
from acidtest.stats.contingency import Ties
from acidtest.studies.comparison.contrasts import Contrast, compare_runs, tied_models
from acidtest.studies.comparison.profiles import ProfileContrast, compare_profiles
from acidtest.studies.comparison.sentence import describe_comparison
from acidtest.studies.scoring.rows import model_names

SCHEMA = 1


@dataclass(frozen=True)
class ComparisonResult:
    """Every contrast between the runs, of accuracies and of profiles, and the models that they do not tell apart."""

    correction: str
    contrasts: tuple[Contrast, ...]
    ties: tuple[Ties, ...]
    schema: int = SCHEMA
    headline: str = ""
    """On which suites the second model is better, worse or undecided; a sentence for each of up to three pairs."""
    profiles: tuple[ProfileContrast, ...] = ()
    """What moves the models' answers, side by side, for every two runs."""
    runs: Mapping[str, Run] = field(default_factory=dict, metadata={"json": None})
    """The runs by the names of their models, from which example rows are shown."""
    shown_factors: tuple[str, ...] = field(default=(), metadata={"json": None})
    """Factors whose slices are shown unfolded."""


@study()
def comparison(
    runs: Annotated[Sequence[Run], "Two run folders or more."],
    *,
    by: Annotated[tuple[str, ...], "Factors whose slices are shown: A,B,…"] = (),
    correction: Annotated[str, "holm, bh (Benjamini–Hochberg), by (Benjamini–Yekutieli) or none."] = "holm",
    every_factor: Annotated[bool, "Test the slices of every factor, not only of those the suites cross."] = True,
    seed: Annotated[int, "Seed of every random choice."] = 0,
) -> ComparisonResult:
    """Compare runs: paired tests on the same rows, unpaired and stratified ones on different rows."""
    contrasts = compare_runs(runs, correction=correction, seed=seed, every_factor=every_factor)
    named = dict(zip(model_names(runs), runs, strict=True))
    return ComparisonResult(
        correction,
        tuple(contrasts),
        tuple(tied_models(contrasts)),
        headline=describe_comparison(contrasts),
        profiles=tuple(compare_profiles(named)),
        runs=named,
        shown_factors=tuple(by),
    )
