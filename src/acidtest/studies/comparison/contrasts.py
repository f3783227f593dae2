"""Differences between models on suites and slices: paired on the same rows, unpaired and stratified on others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import nan
from typing import Any

import numpy as np
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.labels import TWO_WAY_LABELS
from acidtest.core.run import Run
from acidtest.core.suite import CATEGORY, CONTROL, CROSS, Card
from acidtest.stats.contingency import ALPHA, Ties, best_first, tied_groups
from acidtest.stats.intervals import difference, unpaired_difference
from acidtest.stats.power import detectable_difference, detectable_unpaired_difference
from acidtest.stats.resampling import Codes
from acidtest.stats.significance import adjusted, paired_test, unpaired_permutation
from acidtest.studies.scoring.rows import (
    QUESTION,
    SAME_ROWS,
    Flags,
    ScoredRows,
    common_rows,
    listed_flags,
    model_names,
    require_one_collapse,
    score_alike,
)

WHOLE_SUITES = "whole suites"
"""The family of the tests on whole suites."""
UNTOUCHED = "untouched pairs"
"""The family of the tests on controls; those on slices of controls are in families of their own, too."""


@dataclass(frozen=True)
class Contrast:
    """Second minus first on one slice: the whole suite, or one value of a factor.

    ``p_adjusted`` is corrected over the ``family_tests`` tests of its ``family``: all whole suites, or all slices by
    one factor, over all suites and pairs of runs. Controls are apart from suites.
    """

    suite: str
    first: str
    second: str
    factor: str
    value: str
    accuracies: tuple[float, float]
    difference: Estimate
    paired: bool
    test: str
    p: float
    p_adjusted: float
    detectable: float
    family: str = ""
    family_tests: int = 0

    @property
    def is_control(self) -> bool:
        """Whether it is about untouched pairs."""
        return self.suite.endswith(CONTROL)

    @property
    def verdict(self) -> str:
        """Whether the second is better or worse, or that is undecided."""
        if not self.is_shown():
            return "undecided"
        return "better" if self.difference.value > 0 else "worse"

    def is_shown(self, alpha: float = ALPHA) -> bool:
        """Whether the corrected test shows a difference, and the interval does not include zero.

        A test within strata takes a stratum whose rows are all alike to be known exactly; the interval does not.
        """
        return self.p_adjusted < alpha and not self.difference.low <= 0 <= self.difference.high


def compare_runs(
    runs: Sequence[Run], *, correction: str = "holm", seed: int = 0, every_factor: bool = True
) -> list[Contrast]:
    """Contrasts of every two runs on every suite they share, on the whole suite and by factor.

    Without ``every_factor``, a single factor is tested only if the suite crosses it with another.
    All tests on whole suites are one family that is corrected together; all slices by a factor of the same name are
    another, over all suites and pairs of runs. Controls answer another question, how the models do on pairs that
    nobody changed, and so have families of their own. When one of the models on a suite is two-way, all are scored
    two-way there. Controls with the same rows are compared once.
    """
    if len(runs) < 2:
        raise AcidtestError("compare needs two runs or more")
    require_one_collapse(runs)
    named = dict(zip(model_names(runs), runs, strict=True))
    suites = _distinct_suites(runs)
    contrasts: list[Contrast] = []
    for suite in suites:
        rows = score_alike({name: run for name, run in named.items() if suite in run.header.suites}, suite)
        pairs = [_pair(names, (rows[names[0]], rows[names[1]])) for names in combinations(rows, 2)]
        factors = _common_factors([side.card for side in rows.values()], every_factor)
        for factor, categories in factors.items():
            for pair in pairs:
                slices = _slices(pair.sides[0], factor, categories)
                # Paired rows must stay paired, so the first run's factor defines slices even if the second's differs.
                second_slices = slices if pair.paired else _slices(pair.sides[1], factor, categories)
                no_rows = np.zeros(len(pair.sides[1].correct), dtype=np.bool_)
                # p is at least 1 / (resamples + 1), and a correction multiplies it by about the number of tests.
                tests = len(runs) * (len(runs) - 1) // 2 * max(len(slices), len(suites))
                resamples = min(max(300 * tests, 10_000), 100_000)
                for value, flags in slices.items():
                    part = pair.part(flags, second_slices.get(value, no_rows))
                    contrasts.append(_contrast(part, (suite, factor, value), seed, resamples))
    if not contrasts:
        suites_by_model = "; ".join(f"{name}: {', '.join(run.header.suites)}" for name, run in named.items())
        raise AcidtestError(f"no two of the runs have a suite in common ({suites_by_model})")
    return _adjust_families(contrasts, correction)


def tied_models(contrasts: Sequence[Contrast], *, alpha: float = ALPHA) -> list[Ties]:
    """For each suite, the groups of models between which the whole suite shows no difference, after correction.

    A pair whose test cannot be computed counts as showing none.
    """
    suites: dict[str, list[Contrast]] = {}
    for contrast in contrasts:
        if not contrast.factor:
            suites.setdefault(contrast.suite, []).append(contrast)
    ties = []
    for suite, members in suites.items():
        names = [name for contrast in members for name in (contrast.first, contrast.second)]
        accuracies = [accuracy for contrast in members for accuracy in contrast.accuracies]
        rates = best_first(dict(zip(names, accuracies, strict=True)))
        apart = [(contrast.first, contrast.second) for contrast in members if contrast.is_shown(alpha)]
        ties.append(Ties(suite, rates, tied_groups(list(rates), apart), alpha))
    return ties


@dataclass(frozen=True)
class _Side:
    """The rows of one of two models, and whether each is answered correctly."""

    card: Card
    frame: pl.DataFrame
    correct: np.ndarray[Any, np.dtype[np.float64]]
    groups: Codes
    strata: Codes

    def part(self, flags: Flags) -> _Side:
        """The side with its answers reduced to the flagged rows; ``frame`` keeps all rows."""
        return replace(self, correct=self.correct[flags], groups=self.groups[flags], strata=self.strata[flags])


@dataclass(frozen=True)
class _Pair:
    """Two runs on one suite; if ``paired``, both sides hold the same rows in the same order."""

    names: tuple[str, str]
    sides: tuple[_Side, _Side]
    paired: bool
    note: str

    def part(self, first: Flags, second: Flags) -> _Pair:
        """The pair with each side reduced to its flagged rows."""
        return replace(self, sides=(self.sides[0].part(first), self.sides[1].part(second)))


def _distinct_suites(runs: Sequence[Run]) -> list[str]:
    """All suites; of several controls with the same rows in every run, only the first."""
    first_by_rows: dict[object, str] = {}
    for suite in dict.fromkeys(suite for run in runs for suite in run.header.suites):
        key: object = suite
        if suite.endswith(CONTROL):
            asked = [run.collected(run.frame.lazy().filter(pl.col("suite") == suite).select(QUESTION)) for run in runs]
            key = tuple(rows.hash_rows().sort().to_numpy().tobytes() for rows in asked)
        first_by_rows.setdefault(key, suite)
    return list(first_by_rows.values())


def _common_factors(cards: Sequence[Card], every_factor: bool) -> dict[str, tuple[str, ...]]:
    """Factors that all runs on a suite have, with the names of categories for ``CATEGORY``; '' is the whole suite."""
    factors, lists, categories = (
        tuple(name for name in names[0] if all(name in others for others in names))
        for names in zip(*((card.factors, card.lists, card.categories) for card in cards), strict=True)
    )
    crossings = [names for names in cards[0].crossings if set(names) <= {"label", *factors}]
    crossed = {name for names in crossings for name in names}
    single = (name for name in factors if every_factor or name in crossed)
    names = ["", "label", *([CATEGORY] if categories else []), *single, *lists, *map(CROSS.join, crossings)]
    return dict.fromkeys(names, ()) | ({CATEGORY: categories} if categories else {})


def _pair(names: tuple[str, str], rows: tuple[ScoredRows, ScoredRows]) -> _Pair:
    """Pair two runs on their common rows if they share enough (``SAME_ROWS``), else keep all rows of both."""
    common, changed = common_rows(rows)
    fewest, most = sorted(side.height for side in rows)
    paired = common.height >= SAME_ROWS * fewest > 0
    notes = []
    if rows[0].labels == TWO_WAY_LABELS:
        notes.append("scored two-way")
    if paired and common.height < most:
        notes.append(f"on the {common.height:,} rows both have, of {fewest:,} and {most:,}")
    if changed:
        notes.append(f"{changed:,} rows have the same id in both runs but another pair or gold, and are not paired")
    places = [
        common[index].to_numpy() if paired else np.arange(side.height) for side, index in zip(rows, "ij", strict=True)
    ]
    # Rows that both have share their gold, so that they stay in the same order.
    places = [
        chosen if side.judged is None else chosen[side.judged[chosen]]
        for side, chosen in zip(rows, places, strict=True)
    ]
    frames = [side.frame[chosen] for side, chosen in zip(rows, places, strict=True)]
    labels = []
    for side, frame in zip(rows, frames, strict=True):
        parts = [pl.col(name).fill_null("") for name in side.card.strata]
        labels.append(frame.select(pl.concat_str(pl.repeat("", pl.len()), *parts, separator=CROSS)).to_series())
    strata = np.split(pl.concat(labels).rank("dense").to_numpy().astype(np.int64), [frames[0].height])
    first, second = (
        _Side(side.card, frame, side.correct[chosen].astype(np.float64), side.groups[chosen], codes)
        for side, frame, chosen, codes in zip(rows, frames, places, strata, strict=True)
    )
    return _Pair(names, (first, second), paired, "; ".join(notes))


def _slices(side: _Side, factor: str, categories: Sequence[str]) -> dict[str, Flags]:
    """Flags of the rows with each value of a factor, in order of first appearance; all rows for the factor ''."""
    if not factor:
        return {"": np.ones(side.frame.height, dtype=np.bool_)}
    if categories:
        return {name: side.frame[name].fill_null(False).to_numpy() for name in categories}
    if factor in side.card.lists:
        return listed_flags(side.frame[factor])
    parts = [pl.col(name).cast(pl.String) for name in factor.split(CROSS)]
    keys = side.frame.select(pl.concat_str(parts, separator=CROSS)).to_series()
    values = keys.drop_nulls().unique(maintain_order=True)
    return {value: (keys == value).fill_null(False).to_numpy() for value in values}


def _contrast(pair: _Pair, slice_key: tuple[str, str, str], seed: int, resamples: int) -> Contrast:
    """The second side minus the first; ``slice_key`` is suite, factor and value."""
    first, second = pair.sides
    if pair.paired:
        design: dict[str, Any] = {"groups": first.groups, "strata": first.strata}
        change = difference(second.correct, first.correct, **design)
        test = paired_test(second.correct, first.correct, **design, resamples=resamples)
        detectable = detectable_difference(second.correct, first.correct, **design)
    else:
        design = {"groups_first": second.groups, "groups_second": first.groups}
        design |= {"strata_first": second.strata, "strata_second": first.strata}
        change = unpaired_difference(second.correct, first.correct, **design)
        rng = np.random.default_rng(seed)
        test = unpaired_permutation(second.correct, first.correct, **design, rng=rng, resamples=resamples)
        detectable = detectable_unpaired_difference(second.correct, first.correct, **design)
    rates = [float(side.correct.mean()) if len(side.correct) else nan for side in pair.sides]
    suite, factor, value = slice_key
    return Contrast(
        suite,
        *pair.names,
        factor,
        value,
        accuracies=(rates[0], rates[1]),
        difference=replace(change, note="; ".join(filter(None, (change.note, pair.note)))),
        paired=pair.paired,
        test=test.name,
        p=test.p,
        p_adjusted=nan,
        detectable=detectable,
    )


def _adjust_families(contrasts: Sequence[Contrast], correction: str) -> list[Contrast]:
    """The contrasts with their families and with p-values corrected within them."""
    corrected = list(contrasts)
    families: dict[str, list[int]] = {}
    for number, contrast in enumerate(contrasts):
        families.setdefault(_family(contrast), []).append(number)
    for family, members in families.items():
        ps = np.array([contrasts[number].p for number in members])
        tests = int((~np.isnan(ps)).sum())
        for number, p in zip(members, adjusted(ps, correction), strict=True):
            corrected[number] = replace(contrasts[number], p_adjusted=float(p), family=family, family_tests=tests)
    return corrected


def _family(contrast: Contrast) -> str:
    if not contrast.factor:
        return UNTOUCHED if contrast.is_control else WHOLE_SUITES
    return f"by {contrast.factor}{f', {UNTOUCHED}' if contrast.is_control else ''}"
