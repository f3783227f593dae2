"""Models against each other: paired on the same rows, unpaired and stratified on different ones."""

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
from acidtest.core.run import Run
from acidtest.core.suite import CATEGORY, CONTROL, CROSS
from acidtest.stats.contingency import ALPHA, Ties, best_first, tied_groups
from acidtest.stats.intervals import difference, unpaired_difference
from acidtest.stats.power import detectable_difference, detectable_unpaired_difference
from acidtest.stats.significance import adjusted, paired_test, unpaired_permutation
from acidtest.studies.rows import QUESTION, SAME_ROWS, ScoredRows, common_rows, listed_flags, model_names, score_rows

WHOLE_SUITES = "whole suites"
"""The family of the tests on whole suites."""
_FEWEST_RESAMPLES, _MOST_RESAMPLES = 10_000, 100_000


@dataclass(frozen=True)
class Contrast:
    """Second minus first on one slice: the whole suite, or one value of a factor.

    ``p_adjusted`` is corrected over the ``family_tests`` tests of its ``family``: all whole suites, or all slices by
    one factor, over all suites and pairs of runs.
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


@dataclass(frozen=True)
class _RunSide:
    correct: np.ndarray[Any, np.dtype[np.float64]]
    groups: np.ndarray[Any, np.dtype[np.int64]]
    strata: pl.Series
    frame: pl.DataFrame


@dataclass(frozen=True)
class _Draws:
    """What permutation tests need besides the rows: a seed, and how many pairs of runs, suites and slices there are."""

    seed: int
    pairs: int
    suites: int
    slices: int = 1

    @property
    def resamples(self) -> int:
        """How often to draw: p is at least 1 / (resamples + 1), and a correction multiplies it by about the tests."""
        tests = self.pairs * max(self.slices, self.suites)
        return min(max(300 * tests, _FEWEST_RESAMPLES), _MOST_RESAMPLES)


@dataclass(frozen=True)
class _Pair:
    """Two runs on one suite: row by row when they were asked the same rows, side by side otherwise."""

    suite: str
    names: tuple[str, str]
    first: _RunSide
    second: _RunSide
    paired: bool
    note: str
    lists: tuple[str, ...] = ()


def compare_runs(
    runs: Sequence[Run], *, correction: str = "holm", seed: int = 0, every_factor: bool = True
) -> list[Contrast]:
    """Every pair of runs on every suite they share, whole and by factor, or only by the factors the suites cross.

    All tests on whole suites, controls among them, are one family that is corrected together; all slices by a factor
    of the same name are another, over all suites and pairs of runs. When one of the models on a suite is two-way, all
    are scored two-way there. Controls with the same rows are compared once.
    """
    if len(runs) < 2:
        raise AcidtestError("compare needs two runs or more")
    collapses = sorted({str(run.header.collapse) for run in runs})
    if len(collapses) > 1:
        raise AcidtestError(f"the runs were scored with different --collapse: {', '.join(collapses)}; score them alike")
    names = model_names(runs)
    computed: list[Contrast] = []
    suites = _different_suites(runs)
    draws = _Draws(seed, pairs=len(runs) * (len(runs) - 1) // 2, suites=len(suites))
    for suite in suites:
        asked = {name: run for name, run in zip(names, runs, strict=True) if suite in run.header.suites}
        two_way = any(run.header.model.resolution == "two-way" for run in asked.values())
        rows = {name: score_rows(run, suite, two_way=two_way) for name, run in asked.items()}
        pairs = [_pair(suite, both, (rows[both[0]], rows[both[1]]), two_way) for both in combinations(rows, 2)]
        cards = [side.card for side in rows.values()]
        factors = [name for name in cards[0].factors if all(name in card.factors for card in cards)]
        crossings = [names for names in cards[0].crossings if set(names) <= {"label", *factors}]
        crossed = {name for crossing in crossings for name in crossing}
        single = [name for name in factors if every_factor or name in crossed]
        categories = [name for name in cards[0].categories if all(name in card.categories for card in cards)]
        grouped = [CATEGORY] if categories else []
        lists = [name for name in cards[0].lists if all(name in card.lists for card in cards)]
        for factor in ["", "label", *grouped, *single, *lists, *(CROSS.join(crossing) for crossing in crossings)]:
            split = categories if factor in grouped else ()
            computed += [contrast for pair in pairs for contrast in _contrasts(pair, factor, draws, split)]
    if not computed:
        suites_by_model = "; ".join(
            f"{name}: {', '.join(run.header.suites)}" for name, run in zip(names, runs, strict=True)
        )
        raise AcidtestError(f"no two of the runs have a suite in common ({suites_by_model})")
    return _adjust_families(computed, correction)


def _adjust_families(contrasts: Sequence[Contrast], correction: str) -> list[Contrast]:
    """The contrasts with their families and with p-values corrected within them."""
    corrected = list(contrasts)
    for factor in dict.fromkeys(contrast.factor for contrast in contrasts):
        members = [number for number, contrast in enumerate(contrasts) if contrast.factor == factor]
        ps = np.array([contrasts[number].p for number in members])
        family, tests = f"by {factor}" if factor else WHOLE_SUITES, int((~np.isnan(ps)).sum())
        for number, p in zip(members, adjusted(ps, correction), strict=True):
            corrected[number] = replace(contrasts[number], p_adjusted=float(p), family=family, family_tests=tests)
    return corrected


def _different_suites(runs: Sequence[Run]) -> list[str]:
    """Every suite, but of the controls that hold the same rows in every run only the first."""
    first: dict[object, str] = {}
    for suite in dict.fromkeys(suite for run in runs for suite in run.header.suites):
        first.setdefault(_rows_key(runs, suite) if suite.endswith(CONTROL) else suite, suite)
    return list(first.values())


def _rows_key(runs: Sequence[Run], suite: str) -> tuple[object, ...]:
    """What two controls have in common when each run was asked the same pairs under both names."""
    questions = [run.collected(run.frame.lazy().filter(pl.col("suite") == suite).select(QUESTION)) for run in runs]
    return tuple(rows.hash_rows().sort().to_numpy().tobytes() for rows in questions)


def _pair(suite: str, names: tuple[str, str], rows: tuple[ScoredRows, ScoredRows], two_way: bool) -> _Pair:
    """Two runs reduced to their common rows in one order, when they are runs over the same rows."""
    ids, changed = common_rows(rows)
    fewest, most = sorted(side.height for side in rows)
    paired = ids.height >= SAME_ROWS * fewest > 0
    notes = []
    if two_way:
        notes.append("scored two-way")
    if paired and ids.height < most:
        notes.append(f"on the {ids.height:,} rows both have, of {fewest:,} and {most:,}")
    if changed:
        notes.append(f"{changed:,} rows have the same id in both runs but another pair or gold, and are not paired")
    sides = [
        _side(side, ids[index].to_numpy() if paired else np.arange(side.height))
        for side, index in zip(rows, "ij", strict=True)
    ]
    return _Pair(suite, names, sides[0], sides[1], paired, "; ".join(notes), rows[0].card.lists)


def _side(rows: ScoredRows, chosen: np.ndarray[Any, np.dtype[Any]]) -> _RunSide:
    frame = rows.frame[chosen]
    strata = pl.Series([""] * frame.height, dtype=pl.String)
    if rows.card.strata:
        parts = [pl.col(name).fill_null("") for name in rows.card.strata]
        strata = frame.select(pl.concat_str(parts, separator=CROSS)).to_series()
    return _RunSide(rows.correct[chosen].astype(np.float64), rows.groups[chosen], strata, frame)


def _contrasts(pair: _Pair, factor: str, draws: _Draws, categories: Sequence[str] = ()) -> list[Contrast]:
    """The contrasts on every value of a factor, or on the rows of each of some categories."""
    if categories:
        first, second = pair.first, pair.second
        marks = first if pair.paired else second
        draws = replace(draws, slices=len(categories))
        return [
            _contrast(pair, factor, name, (_slice(first, first.frame[name]), _slice(second, marks.frame[name])), draws)
            for name in categories
        ]
    if factor in pair.lists:
        return _listed_contrasts(pair, factor, draws)
    parts = factor.split(CROSS) if factor else []
    keys = _keys(pair.first.frame, parts)
    # Paired rows stay paired: a slice is told by the first run's factor, should the second's differ.
    other = keys if pair.paired else _keys(pair.second.frame, parts)
    values = keys.drop_nulls().unique(maintain_order=True).to_list() if factor else [""]
    draws = replace(draws, slices=len(values))
    return [
        _contrast(pair, factor, value, (_slice(pair.first, keys == value), _slice(pair.second, other == value)), draws)
        for value in values
    ]


def _listed_contrasts(pair: _Pair, factor: str, draws: _Draws) -> list[Contrast]:
    """The contrasts on the rows that have each value of a list column."""
    first = listed_flags(pair.first.frame[factor])
    second = first if pair.paired else listed_flags(pair.second.frame[factor])
    draws = replace(draws, slices=len(first))
    return [
        _contrast(
            pair,
            factor,
            value,
            (_slice(pair.first, pl.Series(first[value])), _slice(pair.second, pl.Series(second[value]))),
            draws,
        )
        for value in first
        if value in second
    ]


def _keys(frame: pl.DataFrame, factors: Sequence[str]) -> pl.Series:
    if not factors:
        return pl.Series([""] * frame.height, dtype=pl.String)
    return frame.select(pl.concat_str([pl.col(name).cast(pl.String) for name in factors], separator=CROSS)).to_series()


def _slice(side: _RunSide, chosen: pl.Series) -> _RunSide:
    flags = chosen.fill_null(False).to_numpy()
    return _RunSide(side.correct[flags], side.groups[flags], side.strata.filter(flags), side.frame.filter(flags))


def _contrast(pair: _Pair, factor: str, value: str, sides: tuple[_RunSide, _RunSide], draws: _Draws) -> Contrast:
    first, second = sides
    if pair.paired:
        strata = first.strata.rank("dense").to_numpy()
        design: dict[str, Any] = {"groups": first.groups, "strata": strata}
        change = difference(second.correct, first.correct, **design)
        test = paired_test(second.correct, first.correct, **design, resamples=draws.resamples)
        detectable = detectable_difference(second.correct, first.correct, **design)
    else:
        strata = pl.concat([second.strata, first.strata]).rank("dense").to_numpy().astype(np.int64)
        cut = len(second.strata)
        codes = (second.groups, first.groups, strata[:cut], strata[cut:])
        names_of_codes = ("groups_first", "groups_second", "strata_first", "strata_second")
        design = dict(zip(names_of_codes, codes, strict=True))
        change = unpaired_difference(second.correct, first.correct, **design)
        rng = np.random.default_rng(draws.seed)
        test = unpaired_permutation(second.correct, first.correct, **design, rng=rng, resamples=draws.resamples)
        detectable = detectable_unpaired_difference(second.correct, first.correct, **design)
    change = replace(change, note="; ".join(filter(None, (change.note, pair.note))))
    rate = float(first.correct.mean()) if len(first.correct) else nan
    other = float(second.correct.mean()) if len(second.correct) else nan
    return Contrast(
        pair.suite, *pair.names, factor, value, (rate, other), change, pair.paired, test.name, test.p, nan, detectable
    )


def tied_models(contrasts: Sequence[Contrast], *, alpha: float = ALPHA) -> list[Ties]:
    """For each suite the groups of models that the adjusted p-values of whole suites do not tell apart.

    A pair whose test cannot be computed counts as not told apart.
    """
    suites: dict[str, list[Contrast]] = {}
    for contrast in contrasts:
        if not contrast.factor:
            suites.setdefault(contrast.suite, []).append(contrast)
    return [_ties(suite, members, alpha) for suite, members in suites.items()]


def _ties(suite: str, contrasts: Sequence[Contrast], alpha: float) -> Ties:
    rates: dict[str, float] = {}
    for contrast in contrasts:
        rates |= dict(zip((contrast.first, contrast.second), contrast.accuracies, strict=True))
    rates = best_first(rates)
    apart = [(contrast.first, contrast.second) for contrast in contrasts if contrast.p_adjusted < alpha]
    return Ties(suite, rates, tied_groups(list(rates), apart), alpha)
