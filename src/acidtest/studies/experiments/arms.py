"""Scores of the arms of an experiment, and their differences on the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.draws import U64
from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.io.published import published_scores
from acidtest.stats.intervals import difference, rate, unpaired_difference
from acidtest.stats.resampling import Codes
from acidtest.stats.significance import holm, paired_test
from acidtest.studies.experiments.results import (
    LEVEL,
    Arm,
    ArmDifference,
    ArmScore,
    Paper,
    ResultColumn,
    ResultTable,
    TrainedNetwork,
)
from acidtest.studies.rows import QUESTION, ScoredRows, score_rows

Flags = npt.NDArray[np.bool_]


def compare_arms(
    paper: Paper, tables: Sequence[ResultTable], arms: Mapping[str, Arm], networks: Sequence[TrainedNetwork]
) -> tuple[tuple[ArmScore, ...], tuple[ArmDifference, ...]]:
    """Every rate of the tables, and every arm less the first of its table; the tests are one family, by Holm."""
    rows = _NetworkRows(two_way=any(network.run.header.model.resolution == "two-way" for network in networks))
    scores, differences = list[ArmScore](), list[ArmDifference]()
    for table in tables:
        for name in dict.fromkeys(network.name for network in networks):
            seeds = {arm: [one for one in networks if (one.name, one.arm) == (name, arm)] for arm in table.arms}
            for column in table.columns:
                by_arm = {
                    arm: _score(paper, table, column, arms[arm], trained, rows)
                    for arm, trained in seeds.items()
                    if trained and all(_has_suites(one, column) for one in trained)
                }
                scores += by_arm.values()
                if table.against in by_arm and column.less is None:
                    first = by_arm.pop(table.against)
                    differences += [
                        _difference(first, score, column, before=seeds[table.against], after=seeds[arm], rows=rows)
                        for arm, score in by_arm.items()
                    ]
    adjusted = holm([one.p for one in differences])
    return tuple(scores), tuple(_corrected(one, float(p)) for one, p in zip(differences, adjusted, strict=True))


def _corrected(one: ArmDifference, p: float) -> ArmDifference:
    directions = {estimate.value > 0 for estimate in one.seeds.values()}
    return replace(one, p_adjusted=p, differs=p < LEVEL and len(directions) == 1)


def _has_suites(network: TrainedNetwork, column: ResultColumn) -> bool:
    """Whether a network was asked the suites that a column is about."""
    columns = (column,) if column.less is None else (column, column.less)
    return all(one.suite in network.run.header.suites for one in columns)


class _NetworkRows:
    """The scored rows of suites, read once for each network; all networks have the same rows in the same order."""

    def __init__(self, *, two_way: bool) -> None:
        self._two_way = two_way
        self._rows: dict[tuple[int, str], ScoredRows] = {}
        self._digests: dict[str, U64] = {}
        self._chosen: dict[tuple[str, tuple[tuple[str, str], ...]], Flags] = {}

    def scored(self, network: TrainedNetwork, suite: str) -> ScoredRows:
        """All rows of a suite."""
        key = id(network), suite
        if key not in self._rows:
            rows = score_rows(network.run, suite, two_way=self._two_way)
            digests = rows.digests(*QUESTION)
            expected = self._digests.setdefault(suite, digests)
            if rows.height != len(expected) or (digests != expected).any():
                raise AcidtestError(f"networks were asked different rows of {suite!r}; remove their folders tests/")
            self._rows[key] = rows
        return self._rows[key]

    def chosen(self, network: TrainedNetwork, column: ResultColumn) -> Flags:
        """Which rows of its suite a column is about: the same for every network."""
        key = column.suite, tuple(sorted(column.by.items()))
        if key not in self._chosen:
            rows = self.scored(network, column.suite)
            matches = [pl.col(name).cast(pl.String) == value for name, value in column.by.items()]
            self._chosen[key] = rows.column(
                pl.all_horizontal(pl.lit(True), *matches).fill_null(False) & pl.col("label").is_not_null()
            ).to_numpy()
        return self._chosen[key]

    def correct(self, networks: Sequence[TrainedNetwork], column: ResultColumn) -> npt.NDArray[np.float64]:
        """How right each row of a column is: the share of the seeds that answer it correctly."""
        chosen = self.chosen(networks[0], column)
        right = np.stack([self.scored(network, column.suite).correct[chosen] for network in networks])
        return np.asarray(right.mean(axis=0), dtype=np.float64)

    def design(self, network: TrainedNetwork, column: ResultColumn) -> tuple[Codes, Codes]:
        """Groups and strata of a column's rows."""
        rows, chosen = self.scored(network, column.suite), self.chosen(network, column)
        return rows.groups[chosen], rows.strata[chosen]


def _score(
    paper: Paper,
    table: ResultTable,
    column: ResultColumn,
    arm: Arm,
    networks: Sequence[TrainedNetwork],
    rows: _NetworkRows,
) -> ArmScore:
    first, value = networks[0], _rate(column, networks, rows)
    seeds = {one.seed: _rate(column, [one], rows) for one in networks} if len(networks) > 1 else {first.seed: value}
    published, source = _published_number(paper, column, arm, first.architecture)
    return ArmScore(table.title, column.name, first.name, arm.name, value, seeds, published, source)


def _rate(column: ResultColumn, networks: Sequence[TrainedNetwork], rows: _NetworkRows) -> Estimate:
    groups, strata = rows.design(networks[0], column)
    if column.less is None:
        return rate(rows.correct(networks, column), groups=groups, strata=strata)
    other_groups, _ = rows.design(networks[0], column.less)
    return unpaired_difference(
        rows.correct(networks, column),
        rows.correct(networks, column.less),
        groups_first=groups,
        groups_second=other_groups,
    )


def _difference(
    first: ArmScore,
    second: ArmScore,
    column: ResultColumn,
    *,
    before: Sequence[TrainedNetwork],
    after: Sequence[TrainedNetwork],
    rows: _NetworkRows,
) -> ArmDifference:
    """The second arm less the first; seeds that both have are compared with each other."""
    groups, strata = rows.design(before[0], column)

    def subtract(new: Sequence[TrainedNetwork], old: Sequence[TrainedNetwork]) -> Estimate:
        return difference(rows.correct(new, column), rows.correct(old, column), groups=groups, strata=strata)

    test = paired_test(rows.correct(after, column), rows.correct(before, column), groups=groups, strata=strata)
    old_by_seed = {network.seed: network for network in before}
    published = None
    if first.published is not None and second.published is not None:
        published = second.published - first.published
    return ArmDifference(
        table=second.table,
        column=second.column,
        network=second.network,
        arm=second.arm,
        against=first.arm,
        value=subtract(after, before),
        seeds={one.seed: subtract([one], [old_by_seed[one.seed]]) for one in after if one.seed in old_by_seed},
        test=test.name,
        p=test.p,
        published=published,
    )


def _published_number(paper: Paper, column: ResultColumn, arm: Arm, architecture: str) -> tuple[float | None, str]:
    """The paper's number for an arm in a column, and where it stands."""
    if column.less is not None:
        value, source = _published_number(paper, replace(column, less=None), arm, architecture)
        less, _ = _published_number(paper, column.less, arm, architecture)
        return (None, "") if value is None or less is None else (value - less, source)
    system = paper.systems.get(architecture)
    if system is None or arm.condition is None or not column.published:
        return None, ""
    scores = (
        score
        for score in published_scores(column.published)
        if score.system == system
        and score.condition == arm.condition
        and score.by == dict(column.published_by)
        and score.source.startswith(paper.paper)
    )
    score = next(scores, None)
    return (score.value, score.source) if score else (None, "")
