"""Scores of the arms of an experiment, and their differences on the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
from acidtest.studies.experiments import Arm, ArmDifference, ArmScore, Paper, ResultColumn, ResultTable, TrainedNetwork
from acidtest.studies.scoring.rows import QUESTION, Flags, ScoredRows, score_rows

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _ArmAnswers:
    """Flags of the rows of a column that an arm's networks answer correctly, by seed; all arms have the same rows.

    ``less`` has the answers to the column to subtract, if any.
    """

    right: Mapping[int, Flags]
    groups: Codes
    strata: Codes
    less: _ArmAnswers | None

    def shares(self, *seeds: int) -> Floats:
        """For each row, the share of the given seeds (default: all) that answer it correctly."""
        return np.asarray(np.mean([self.right[seed] for seed in seeds or self.right], axis=0), dtype=np.float64)

    def rate(self, *seeds: int) -> Estimate:
        """The rate of the column, minus that of ``less`` if there is one."""
        if self.less is None:
            return rate(self.shares(*seeds), groups=self.groups, strata=self.strata)
        first, second = self.shares(*seeds), self.less.shares(*seeds)
        return unpaired_difference(first, second, groups_first=self.groups, groups_second=self.less.groups)

    def gain(self, before: _ArmAnswers, *seeds: int) -> Estimate:
        """The rate minus that of another arm, on the same rows."""
        return difference(self.shares(*seeds), before.shares(*seeds), groups=self.groups, strata=self.strata)


class _AnswerReader:
    """Reads and caches each network's rows of a suite; checks that all have the same rows in the same order."""

    def __init__(self, networks: Sequence[TrainedNetwork]) -> None:
        self._two_way = any(network.run.header.model.resolution == "two-way" for network in networks)
        self._rows: dict[tuple[int, str], ScoredRows] = {}
        self._digests: dict[str, U64] = {}
        self._chosen: dict[tuple[str, ...], Flags] = {}

    def read(self, networks: Sequence[TrainedNetwork], column: ResultColumn) -> _ArmAnswers | None:
        """The answers of networks that differ only in seed; None if one of them was not run on the column's suite."""
        if any(column.suite not in network.run.header.suites for network in networks):
            return None
        less = self.read(networks, column.less) if column.less else None
        if column.less and less is None:
            return None
        rows = [self._scored(network, column.suite) for network in networks]
        key = column.suite, *(f"{name}={value}" for name, value in sorted(column.by.items()))
        if key not in self._chosen:
            matches = [pl.col(name).cast(pl.String).eq_missing(pl.lit(value)) for name, value in column.by.items()]
            self._chosen[key] = rows[0].column(pl.all_horizontal(pl.col("label").is_not_null(), *matches)).to_numpy()
        chosen = self._chosen[key]
        right = {one.record.seed: scored.correct[chosen] for one, scored in zip(networks, rows, strict=True)}
        return _ArmAnswers(right, rows[0].groups[chosen], rows[0].strata[chosen], less)

    def _scored(self, network: TrainedNetwork, suite: str) -> ScoredRows:
        key = id(network), suite
        if key not in self._rows:
            rows = score_rows(network.run, suite, two_way=self._two_way)
            digests = rows.digests(*QUESTION)
            if not np.array_equal(digests, self._digests.setdefault(suite, digests)):
                raise AcidtestError(f"networks were asked different rows of {suite!r}; remove their folders tests/")
            self._rows[key] = rows
        return self._rows[key]


def compare_arms(
    paper: Paper, tables: Sequence[ResultTable], arms: Mapping[str, Arm], networks: Sequence[TrainedNetwork]
) -> tuple[tuple[ArmScore, ...], tuple[ArmDifference, ...]]:
    """All rates of the tables, and the differences of arms to ``against``, with Holm's correction over all of these."""
    reader = _AnswerReader(networks)
    trained: dict[str, dict[str, list[TrainedNetwork]]] = {}
    for network in networks:
        trained.setdefault(network.record.network, {}).setdefault(network.record.arm, []).append(network)
    scores, differences = list[ArmScore](), list[ArmDifference]()
    for table in tables:
        for by_arm in trained.values():
            for column in table.columns:
                read = {arm: reader.read(by_arm[arm], column) for arm in table.arms if arm in by_arm}
                answers = {arm: one for arm, one in read.items() if one}
                arm_scores = {
                    arm: _score(paper, table, column, arms[arm], by_arm[arm][0], one) for arm, one in answers.items()
                }
                scores += arm_scores.values()
                first = arm_scores.pop(table.against, None)
                if first and column.less is None:
                    before = answers[table.against]
                    differences += [
                        _difference(first, score, before, answers[arm]) for arm, score in arm_scores.items()
                    ]
    corrected = []
    for one, p in zip(differences, holm([one.p for one in differences]).tolist(), strict=True):
        directions = {estimate.value > 0 for estimate in one.seeds.values()}
        corrected.append(replace(one, p_adjusted=p, differs=p < 0.05 and len(directions) == 1))
    return tuple(scores), tuple(corrected)


def _score(
    paper: Paper, table: ResultTable, column: ResultColumn, arm: Arm, network: TrainedNetwork, answers: _ArmAnswers
) -> ArmScore:
    value, several = answers.rate(), len(answers.right) > 1
    seeds = {seed: answers.rate(seed) if several else value for seed in answers.right}
    published = _published_number(paper, column, arm, network.architecture)
    return ArmScore(table.title, column.name, network.record.network, arm.name, value, seeds, *published)


def _difference(first: ArmScore, second: ArmScore, before: _ArmAnswers, after: _ArmAnswers) -> ArmDifference:
    """The second arm minus the first, over all seeds and for each seed that both have."""
    test = paired_test(after.shares(), before.shares(), groups=after.groups, strata=after.strata)
    known = first.published is not None and second.published is not None
    return ArmDifference(
        table=second.table,
        column=second.column,
        network=second.network,
        arm=second.arm,
        value=after.gain(before),
        seeds={seed: after.gain(before, seed) for seed in after.right if seed in before.right},
        published=(second.published or 0.0) - (first.published or 0.0) if known else None,
        against=first.arm,
        test=test.name,
        p=test.p,
    )


def _published_number(paper: Paper, column: ResultColumn, arm: Arm, architecture: str) -> tuple[float | None, str]:
    """The paper's number for an arm in a column, and its source."""
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
