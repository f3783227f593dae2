"""Profiles side by side: what moves the answers of two models, and how much more it moves those of the second."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from acidtest.core.draws import U64
from acidtest.core.estimate import Estimate
from acidtest.core.run import Run
from acidtest.stats.contrasts import Parts, difference_estimate
from acidtest.stats.resampling import Codes, numbered
from acidtest.studies.crossed_suites import CrossedSuite, crossed_suites
from acidtest.studies.cue_effects import CrossedDesign, CueEffect
from acidtest.studies.scoring.rows import SAME_ROWS, ScoredRows, common_rows, score_alike, select_rows


@dataclass(frozen=True)
class GoldContrast:
    """How much gold moves the answers of two models, and the second's effect minus the first's."""

    first: Estimate
    second: Estimate
    difference: Estimate
    differs: bool
    """Whether the interval of the difference, corrected over all effects and pairs of models, excludes zero."""


@dataclass(frozen=True)
class CueContrast:
    """What a cue does to the answers of two models, and the second's effect minus the first's toward one label.

    ``first`` and ``second`` are the largest effects on each model; the difference needs one label for both. It is that
    of the model with the larger effect. The intervals hold for the differences on all labels together, so that the
    choice leaves them valid.
    """

    toward: str | None
    """The label of the difference; None if no effect could be measured."""
    first: CueEffect
    second: CueEffect
    difference: Estimate
    differs: bool

    @property
    def matters(self) -> bool:
        """Whether one of the models uses the cue, or its effects are shown to differ."""
        return self.first.used or self.second.used or self.differs


@dataclass(frozen=True)
class ProfileContrast:
    """The profiles of two models on one suite of cues, or a note on why there are none."""

    first: str
    second: str
    paired: bool = False
    """Whether both models were asked the same rows; otherwise the difference is one of independent estimates."""
    gold_effect: GoldContrast | None = None
    cues: Mapping[str, CueContrast] = field(default_factory=dict)
    note: str = ""
    suite: str = "cues"
    """The suite they were measured on."""


def compare_profiles(runs: Mapping[str, Run]) -> Iterator[ProfileContrast]:
    """The profiles of every two of the runs; scored two-way if one of the models is two-way.

    They are compared on suite cues or, where no two runs share that, on grounding/cues. The intervals of all
    differences hold together: those on all labels for each pair of models that can be compared.
    """
    crossed = _shared_kind(runs)
    suites = {name: crossed.names_in(run) for name, run in runs.items()}
    shared = {pair: _shared_suites(suites[pair[0]], suites[pair[1]]) for pair in combinations(runs, 2)}
    pairs = max(sum(len(names) == 1 for names in shared.values()), 1)
    scored = {
        suite: score_alike(
            {name: run for name, run in runs.items() if suite in suites[name]}, suite, two_way=crossed.two_way
        )
        for suite in dict.fromkeys(names[0] for names in shared.values() if len(names) == 1)
    }
    for (first, second), names in shared.items():
        if len(names) == 1:
            rows = scored[names[0]]
            yield _compare((first, second), (rows[first], rows[second]), crossed, pairs)
        else:
            note = _describe_missing((first, second), suites, crossed.name)
            yield ProfileContrast(first, second, note=note, suite=crossed.name)


def _shared_kind(runs: Mapping[str, Run]) -> CrossedSuite:
    """The first suite of cues that two of the runs hold, else that which any profile is measured on."""
    kinds = list(crossed_suites().values())
    return next((kind for kind in kinds if sum(bool(kind.names_in(run)) for run in runs.values()) > 1), kinds[0])


def _shared_suites(first: Sequence[str], second: Sequence[str]) -> list[str]:
    return [suite for suite in first if suite in second]


def _describe_missing(pair: tuple[str, str], suites: Mapping[str, Sequence[str]], kind: str) -> str:
    """Why two runs have no profiles to compare."""
    without = [name for name in pair if not suites[name]]
    if without:
        return f"no profile of {' and '.join(without)}: suite {kind} would show what moves the answers (-s {kind})"
    several = [name for name in pair if len(suites[name]) > 1]
    if several:
        return f"no one profile of {' and '.join(several)}: suite {kind} was asked more than once"
    return f"suite {kind} was asked of {' and '.join(pair)} with other options, so their profiles are not compared"


@dataclass(frozen=True)
class _Sides:
    """The answers of two models on a suite of cues; rows of one group have the same number on both sides."""

    first: CrossedDesign
    second: CrossedDesign
    groups_first: Codes
    groups_second: Codes
    tests: int

    def difference(self, first: Parts, second: Parts) -> tuple[Estimate, bool]:
        """The second effect minus the first, and whether they are shown to differ."""
        groups = {"groups_first": self.groups_first, "groups_second": self.groups_second}
        change = difference_estimate(first, second, **groups, tests=self.tests)
        return change, change.known and not change.low <= 0 <= change.high

    def gold(self) -> GoldContrast:
        """The effects of gold."""
        change, differs = self.difference(self.first.gold_parts(), self.second.gold_parts())
        return GoldContrast(self.first.gold_effect(), self.second.gold_effect(), change, differs)

    def cue(self, cue: str) -> CueContrast:
        """The effects of a cue, and their difference on the label of the larger."""
        first, second = (design.effect(cue, tests=design.tests) for design in (self.first, self.second))
        label = max(first, second, key=lambda one: np.nan_to_num(one.size.value, nan=-1.0)).toward
        # Only one of the models may have pairs without a prediction, which are then the last outcome.
        outcome = max(self.first.outcomes, self.second.outcomes, key=len).index(label) if label else 0
        parts = [[(1.0, *design.toward(cue, outcome, design.sides(cue)[1]))] for design in (self.first, self.second)]
        change, differs = self.difference(*parts)
        return CueContrast(label, first, second, change, differs)


def _compare(
    names: tuple[str, str], rows: tuple[ScoredRows, ScoredRows], suite: CrossedSuite, pairs: int
) -> ProfileContrast:
    """The profiles of two models on the rows both were asked if these are nearly all, else on all rows of each."""
    common, _ = common_rows(rows)
    paired = common.height >= SAME_ROWS * min(side.height for side in rows) > 0
    if paired and common.height < max(side.height for side in rows):
        rows = (select_rows(rows[0], common["i"].to_numpy()), select_rows(rows[1], common["j"].to_numpy()))
    first, second = (CrossedDesign.of(side, suite) for side in rows)
    sides = _Sides(first, second, *_number_groups(rows, paired), pairs * max(first.tests, second.tests))
    cues = {cue: sides.cue(cue) for cue in suite.cues}
    return ProfileContrast(*names, paired, sides.gold(), cues, suite=suite.name)


def _number_groups(rows: tuple[ScoredRows, ScoredRows], paired: bool) -> tuple[Codes, Codes]:
    """The number of each row's group on both sides: the same for the same group if the rows are paired.

    Groups of other seeds may have the same names but hold other pairs, so that otherwise no number is on both sides.
    """
    if not paired:
        first, second = (side.groups.astype(np.int64) for side in rows)
        return first, second + int(first.max(initial=-1)) + 1
    digests: list[U64] = [side.digests("group") for side in rows]
    first, second = np.split(numbered(np.concatenate(digests)), [len(digests[0])])
    return first, second
