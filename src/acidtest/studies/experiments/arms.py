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
from acidtest.studies.experiments import (
    Arm,
    ArmDifference,
    ArmScore,
    Paper,
    ResultColumn,
    ResultTable,
    TrainedNetwork,
)
from acidtest.studies.rows import QUESTION, Flags, ScoredRows, score_rows

Floats = npt.NDArray[np.float64]


def compare_arms(
    paper: Paper, tables: Sequence[ResultTable], arms: Mapping[str, Arm], networks: Sequence[TrainedNetwork]
) -> tuple[tuple[ArmScore, ...], tuple[ArmDifference, ...]]:
    """Every rate of the tables, and every arm less the first of its table; the tests are one family, by Holm."""
    rows = _NetworkRows(two_way=any(network.run.header.model.resolution == "two-way" for network in networks))
    trained: dict[tuple[str, str], list[TrainedNetwork]] = {}
    for network in networks:
        trained.setdefault((network.record.network, network.record.arm), []).append(network)
    scores, differences = list[ArmScore](), list[ArmDifference]()
    for table in tables:
        for name in dict.fromkeys(network.record.network for network in networks):
            seeds = {arm: trained[name, arm] for arm in table.arms if (name, arm) in trained}
            for column in table.columns:
                suites = {column.suite, column.less.suite if column.less else column.suite}
                by_arm = {
                    arm: _score(paper, table, column, arms[arm], members, rows)
                    for arm, members in seeds.items()
                    if all(suites <= set(network.run.header.suites) for network in members)
                }
                scores += by_arm.values()
                if table.against in by_arm and column.less is None:
                    first = by_arm.pop(table.against)
                    differences += [
                        _difference(first, score, column, before=seeds[table.against], after=seeds[arm], rows=rows)
                        for arm, score in by_arm.items()
                    ]
    corrected = []
    for one, p in zip(differences, holm([one.p for one in differences]).tolist(), strict=True):
        directions = {estimate.value > 0 for estimate in one.seeds.values()}
        corrected.append(replace(one, p_adjusted=p, differs=p < 0.05 and len(directions) == 1))
    return tuple(scores), tuple(corrected)


class _NetworkRows:
    """The scored rows of suites, read once for each network; all networks have the same rows in the same order."""

    def __init__(self, *, two_way: bool) -> None:
        self._two_way = two_way
        self._rows: dict[tuple[int, str], ScoredRows] = {}
        self._digests: dict[str, U64] = {}
        self._chosen: dict[tuple[str, ...], Flags] = {}

    def scored(self, network: TrainedNetwork, suite: str) -> ScoredRows:
        """All rows of a suite."""
        key = id(network), suite
        if key not in self._rows:
            rows = score_rows(network.run, suite, two_way=self._two_way)
            digests = rows.digests(*QUESTION)
            if not np.array_equal(digests, self._digests.setdefault(suite, digests)):
                raise AcidtestError(f"networks were asked different rows of {suite!r}; remove their folders tests/")
            self._rows[key] = rows
        return self._rows[key]

    def chosen(self, network: TrainedNetwork, column: ResultColumn) -> Flags:
        """Which rows of its suite a column is about: the same for every network."""
        key = column.suite, *(f"{name}={value}" for name, value in sorted(column.by.items()))
        if key not in self._chosen:
            matches = [pl.col(name).cast(pl.String).eq_missing(pl.lit(value)) for name, value in column.by.items()]
            is_chosen = pl.all_horizontal(pl.col("label").is_not_null(), *matches)
            self._chosen[key] = self.scored(network, column.suite).column(is_chosen).to_numpy()
        return self._chosen[key]

    def correct(self, networks: Sequence[TrainedNetwork], column: ResultColumn) -> Floats:
        """How right each row of a column is: the share of the seeds that answer it correctly."""
        chosen = self.chosen(networks[0], column)
        right = np.stack([self.scored(network, column.suite).correct[chosen] for network in networks])
        return np.asarray(right.mean(axis=0), dtype=np.float64)

    def design(self, network: TrainedNetwork, column: ResultColumn) -> tuple[Codes, Codes]:
        """Groups and strata of a column's rows."""
        rows, chosen = self.scored(network, column.suite), self.chosen(network, column)
        return rows.groups[chosen], rows.strata[chosen]

    def rate(self, networks: Sequence[TrainedNetwork], column: ResultColumn) -> Estimate:
        """The rate of a column or, where it has other rows to subtract, the difference of the two."""
        groups, strata = self.design(networks[0], column)
        if column.less is None:
            return rate(self.correct(networks, column), groups=groups, strata=strata)
        first, second = (self.correct(networks, rows) for rows in (column, column.less))
        other_groups, _ = self.design(networks[0], column.less)
        return unpaired_difference(first, second, groups_first=groups, groups_second=other_groups)


def _score(
    paper: Paper,
    table: ResultTable,
    column: ResultColumn,
    arm: Arm,
    networks: Sequence[TrainedNetwork],
    rows: _NetworkRows,
) -> ArmScore:
    value = rows.rate(networks, column)
    seeds = {one.record.seed: rows.rate([one], column) if len(networks) > 1 else value for one in networks}
    published, source = _published_number(paper, column, arm, networks[0].architecture)
    return ArmScore(
        table.title, column.name, networks[0].record.network, arm.name, value, seeds, published, source=source
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
    by_seed = {network.record.seed: network for network in before}
    published = None
    if first.published is not None and second.published is not None:
        published = second.published - first.published
    return ArmDifference(
        table=second.table,
        column=second.column,
        network=second.network,
        arm=second.arm,
        value=subtract(after, before),
        seeds={
            one.record.seed: subtract([one], [by_seed[one.record.seed]]) for one in after if one.record.seed in by_seed
        },
        published=published,
        against=first.arm,
        test=test.name,
        p=test.p,
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
