"""The papers' experiments in training: arms that differ in what was trained on, compared on the same rows."""

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
from acidtest.studies.experiments_results import Answered, Arm, Block, Cell, Change, Column, Paper
from acidtest.studies.rows import QUESTION, ScoredRows, score_rows

Flags = npt.NDArray[np.bool_]


def compared(
    paper: Paper, blocks: Sequence[Block], arms: Mapping[str, Arm], answers: Sequence[Answered]
) -> tuple[tuple[Cell, ...], tuple[Change, ...]]:
    """Every cell of the tables, and every arm less the first of its table; tests are one family, by Holm."""
    rows = _Rows(any(each.run.header.model.resolution == "two-way" for each in answers))
    cells, changes = list[Cell](), list[Change]()
    for block in blocks:
        for network in dict.fromkeys(each.name for each in answers):
            held = {arm: _of(answers, network, arm) for arm in block.arms}
            for column in block.columns:
                own = {
                    arm: _cell(paper, block, column, arms[arm], each, rows)
                    for arm, each in held.items()
                    if each and all(_asked(column, one) for one in each)
                }
                cells += own.values()
                if block.against in own and column.less is None:
                    first, before = own.pop(block.against), held[block.against]
                    changes += [_change(first, cell, column, (before, held[arm]), rows) for arm, cell in own.items()]
    adjusted = holm([change.p for change in changes])
    return tuple(cells), tuple(
        replace(change, p_adjusted=float(p)) for change, p in zip(changes, adjusted, strict=True)
    )


def _of(answers: Sequence[Answered], network: str, arm: str) -> list[Answered]:
    return [each for each in answers if each.name == network and each.arm == arm]


def _asked(column: Column, each: Answered) -> bool:
    """Whether a network was asked what a column is about."""
    others = () if column.less is None else (column.less,)
    return all(one.suite in each.run.header.suites for one in (column, *others))


class _Rows:
    """The scored rows of suites, read once for each run; all runs have the same rows in the same order."""

    def __init__(self, two_way: bool) -> None:
        self._two_way = two_way
        self._read: dict[tuple[int, str], ScoredRows] = {}
        self._ids: dict[str, U64] = {}
        self._flags: dict[tuple[str, tuple[tuple[str, str], ...]], Flags] = {}

    def of(self, each: Answered, suite: str) -> ScoredRows:
        """All rows of a suite."""
        key = id(each), suite
        if key not in self._read:
            found = score_rows(each.run, suite, two_way=self._two_way)
            asked = found.digests(*QUESTION)
            ids = self._ids.setdefault(suite, asked)
            if found.height != len(ids) or (asked != ids).any():
                raise AcidtestError(f"networks were asked different rows of {suite!r}; remove their folders tests/")
            self._read[key] = found
        return self._read[key]

    def flags(self, each: Answered, column: Column) -> Flags:
        """Which rows of its suite a column is about: the same for every run."""
        key = column.suite, tuple(sorted(column.by.items()))
        if key not in self._flags:
            rows = self.of(each, column.suite)
            chosen = [pl.col(name).cast(pl.String) == value for name, value in column.by.items()]
            self._flags[key] = rows.column(
                pl.all_horizontal(pl.lit(True), *chosen).fill_null(False) & pl.col("label").is_not_null()
            ).to_numpy()
        return self._flags[key]

    def correct(self, held: Sequence[Answered], column: Column) -> npt.NDArray[np.float64]:
        """Which rows of a column are right, as a share of the seeds."""
        flags = self.flags(held[0], column)
        right = np.stack([self.of(each, column.suite).correct[flags] for each in held])
        return np.asarray(right.mean(axis=0), dtype=np.float64)

    def design(self, each: Answered, column: Column) -> tuple[Codes, Codes]:
        """Groups and strata of a column's rows."""
        rows, flags = self.of(each, column.suite), self.flags(each, column)
        return rows.groups[flags], rows.strata[flags]


def _cell(paper: Paper, block: Block, column: Column, arm: Arm, held: Sequence[Answered], rows: _Rows) -> Cell:
    value = _rate(column, held, rows)
    seeds = {each.seed: _rate(column, [each], rows) for each in held} if len(held) > 1 else {held[0].seed: value}
    theirs, source = _published(paper, column, arm, held[0].architecture)
    return Cell(block.title, column.name, held[0].name, arm.name, value, seeds, theirs, source)


def _rate(column: Column, held: Sequence[Answered], rows: _Rows) -> Estimate:
    groups, strata = rows.design(held[0], column)
    if column.less is None:
        return rate(rows.correct(held, column), groups=groups, strata=strata)
    other, _ = rows.design(held[0], column.less)
    return unpaired_difference(
        rows.correct(held, column), rows.correct(held, column.less), groups_first=groups, groups_second=other
    )


def _change(
    first: Cell,
    second: Cell,
    column: Column,
    held: tuple[Sequence[Answered], Sequence[Answered]],
    rows: _Rows,
) -> Change:
    """The second arm less the first; seeds that both have stand against each other."""
    before, after = held
    groups, strata = rows.design(before[0], column)

    def less(ours: Sequence[Answered], theirs: Sequence[Answered]) -> Estimate:
        return difference(rows.correct(ours, column), rows.correct(theirs, column), groups=groups, strata=strata)

    test = paired_test(rows.correct(after, column), rows.correct(before, column), groups=groups, strata=strata)
    other = {each.seed: each for each in before}
    known = first.published is not None and second.published is not None
    return Change(
        block=second.block,
        column=second.column,
        network=second.network,
        arm=second.arm,
        against=first.arm,
        value=less(after, before),
        seeds={each.seed: less([each], [other[each.seed]]) for each in after if each.seed in other},
        test=test.name,
        p=test.p,
        published=(second.published or 0.0) - (first.published or 0.0) if known else None,
    )


def _published(paper: Paper, column: Column, arm: Arm, architecture: str) -> tuple[float | None, str]:
    """The paper's number of a cell and where it stands."""
    system = paper.systems.get(architecture)
    if column.less is not None:
        (own, source), (less, _) = (
            _published(paper, each, arm, architecture) for each in (replace(column, less=None), column.less)
        )
        return (None, "") if own is None or less is None else (own - less, source)
    if system is None or arm.condition is None or not column.published:
        return None, ""
    found = [
        score
        for score in published_scores(column.published)
        if score.system == system
        and score.condition == arm.condition
        and score.by == dict(column.published_by)
        and score.source.startswith(paper.paper)
    ]
    return (found[0].value, found[0].source) if found else (None, "")
