"""Training experiments of papers: networks trained on different data (arms) are compared on the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from math import nan
from statistics import fmean, stdev
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.document import (
    Cell,
    Chart,
    Column,
    Document,
    Note,
    Part,
    Published,
    PValue,
    Reference,
    Row,
    Section,
    Table,
    Unit,
    describe_count,
)
from acidtest.core.draws import U64
from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import share
from acidtest.core.run import Run
from acidtest.core.structured import parse_toml
from acidtest.core.study import study
from acidtest.io.published import published_scores
from acidtest.stats.intervals import difference, rate, unpaired_difference
from acidtest.stats.resampling import Codes
from acidtest.stats.significance import holm, paired_test
from acidtest.studies.scoring.rows import QUESTION, Flags, ScoredRows, score_rows

SMALLEST_PUBLISHED = 0.0195
"""Published differences below this may be due to rounding, since papers print two or three digits."""


@dataclass(frozen=True)
class PaperCorpus:
    """A test set that a paper reports on; ``corpus`` is the name under which its pairs are identified.

    Its published numbers are stored under ``suite`` and ``by``. An empty ``suite`` means: not a test set of the paper.
    """

    title: str = ""
    corpus: str = ""
    pairs: int = 0
    suite: str = ""
    by: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    """Caveat for comparing one's own numbers with the published ones."""


@dataclass(frozen=True)
class Paper:
    """An experiment as its paper describes it; ``systems`` maps our architectures to the paper's systems."""

    name: str
    title: str
    summary: str
    paper: str
    tables: str
    preset: str
    conditions: Mapping[str, str]
    systems: Mapping[str, str]
    training_pairs: int
    """How many pairs the paper's networks were trained on, without the added ones."""
    folds: tuple[Mapping[str, Any], ...] = ()
    trained_tautology: str = ""
    other_tautology: str = ""
    corpora: tuple[PaperCorpus, ...] = ()
    """The test sets whose published numbers can be compared with those of a user's file."""

    def corpus(self, identified: str) -> PaperCorpus:
        """The paper's test set of this name; an empty one for other pairs, such as parts of a test set."""
        return next((corpus for corpus in self.corpora if corpus.corpus == identified), PaperCorpus())


@cache
def papers() -> Mapping[str, Paper]:
    """The papers' experiments by name."""
    content = resources.files("acidtest.data").joinpath("experiments.toml").read_bytes()
    experiments = {}
    for name, table in parse_toml(content, "experiments.toml").items():
        corpora = tuple(PaperCorpus(**corpus) for corpus in table.get("corpora", ()))
        experiments[name] = Paper(name, **{**table, "folds": tuple(table.get("folds", ())), "corpora": corpora})
    return experiments


@dataclass(frozen=True)
class ResultColumn:
    """A column of a paper's table: rows of a suite chosen by values of factors (``by``), and their published numbers.

    With ``less``, the value is the rate of this column minus that of another column, which has other rows.
    """

    name: str
    suite: str
    by: Mapping[str, str] = field(default_factory=dict)
    group: str = ""
    published: str = ""
    """The suite under which published numbers of the column are stored; empty if there are none."""
    published_by: Mapping[str, str] = field(default_factory=dict)
    less: ResultColumn | None = None


@dataclass(frozen=True)
class Arm:
    """One choice of training data; ``condition`` is its name in the published numbers, None if there are none."""

    name: str
    description: str = field(metadata={"json": "told"})
    pairs: int
    condition: str | None = None


@dataclass(frozen=True)
class ResultTable:
    """A table of the paper: its columns, its arms, and the arm that the others are compared with, if any."""

    title: str
    columns: tuple[ResultColumn, ...]
    arms: tuple[str, ...]
    against: str = ""

    @property
    def other_arms(self) -> tuple[str, ...]:
        """All arms but ``against``."""
        return tuple(arm for arm in self.arms if arm != self.against)


@dataclass(frozen=True)
class TrainingRecord:
    """How one network was trained: its arm and seed, the epochs, which of them was kept, and the time it took."""

    network: str
    """The architecture, with its preset if it has one."""
    arm: str
    seed: int
    folder: str
    epochs: int
    best_epoch: int
    dev_accuracy: float | None
    seconds: float


@dataclass(frozen=True)
class TrainedNetwork:
    """A network trained in one arm with one seed, and the run with its answers to every suite."""

    architecture: str
    run: Run
    record: TrainingRecord


@dataclass(frozen=True)
class SeedSpread:
    """How a value varies over seeds."""

    mean: float
    deviation: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class ArmValue:
    """A cell of a table for one arm: the value over all seeds, with its interval over rows, and that of each seed."""

    table: str = field(metadata={"json": "block"})
    column: str
    network: str
    arm: str
    value: Estimate
    seeds: Mapping[int, Estimate]
    published: float | None
    """The paper's number, if it has one."""

    json_properties = ("spread",)

    @property
    def spread(self) -> SeedSpread | None:
        """Mean, standard deviation and range over seeds; None for fewer than two."""
        values = [estimate.value for estimate in self.seeds.values() if estimate.known]
        return SeedSpread(fmean(values), stdev(values), min(values), max(values)) if len(values) > 1 else None


@dataclass(frozen=True)
class ArmScore(ArmValue):
    """A rate in a table; ``source`` is where the paper prints its number."""

    source: str = ""


@dataclass(frozen=True)
class ArmDifference(ArmValue):
    """The rate of an arm minus that of the arm ``against``, on the same rows."""

    against: str
    test: str
    p: float
    p_adjusted: float = nan
    differs: bool = field(default=False, metadata={"json": "found"})
    """Whether the arms differ after correction, and in the same direction with every seed."""


@dataclass(frozen=True)
class PaperAgreement:
    """How close the results of a network are to the paper's.

    ``same`` of the ``changes`` published differences of two points or more have the same sign here; ``distance`` is the
    mean absolute difference, as a share, over the ``cells`` rates that the paper reports, too.
    """

    network: str
    same: int
    changes: int
    distance: float
    cells: int


@dataclass(frozen=True)
class ExperimentResult:
    """The results of an experiment, with its arms, trainings and settings."""

    experiment: str
    title: str
    published: str
    """The paper and the tables that the experiment repeats."""
    tables: tuple[ResultTable, ...]
    arms: tuple[Arm, ...]
    scores: tuple[ArmScore, ...] = field(metadata={"json": "cells"})
    differences: tuple[ArmDifference, ...]
    trainings: tuple[TrainingRecord, ...]
    signatures: tuple[str, ...]
    notes: tuple[str, ...]
    settings: Mapping[str, Any]
    acidtest: str = ""
    """The version of acidtest that ran the networks."""
    schema: int = 1

    json_properties = ("agreement",)

    @property
    def networks(self) -> tuple[str, ...]:
        """The networks that were trained."""
        return tuple(dict.fromkeys(score.network for score in self.scores))

    @property
    def agreement(self) -> tuple[PaperAgreement, ...]:
        """How close each network that the paper reports on is to its numbers."""
        agreements = (self._agreement(network) for network in self.networks)
        return tuple(agreement for agreement in agreements if agreement.cells)

    def _agreement(self, network: str) -> PaperAgreement:
        changes = [
            (one.value.value, one.published)
            for one in self.differences
            if one.network == network and one.published is not None and abs(one.published) >= SMALLEST_PUBLISHED
        ]
        drops = {column.name for table in self.tables for column in table.columns if column.less is not None}
        distances = [
            abs(score.value.value - score.published)
            for score in self.scores
            if score.network == network
            and score.published is not None
            and score.value.known
            and score.column not in drops
        ]
        same = sum(ours * published > 0 for ours, published in changes)
        return PaperAgreement(network, same, len(changes), fmean(distances) if distances else 0.0, len(distances))


@study()
def experiments(
    name: str,
    tables: Sequence[ResultTable],
    arms: Sequence[Arm],
    networks: Sequence[TrainedNetwork],
    *,
    notes: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    acidtest: str = "",
) -> ExperimentResult:
    """Compare networks that were trained in the arms of a paper's experiment with each other and with the paper."""

    paper = papers()[name]
    scores, differences = compare_arms(paper, tables, {arm.name: arm for arm in arms}, networks)
    cards = {suite: card for network in networks for suite, card in network.run.header.suites.items()}
    return ExperimentResult(
        experiment=paper.name,
        title=paper.title,
        published=f"{paper.paper}, {paper.tables}",
        tables=tuple(tables),
        arms=tuple(arms),
        scores=scores,
        differences=differences,
        trainings=tuple(network.record for network in networks),
        signatures=tuple(card.signature for card in cards.values()),
        notes=tuple(notes),
        settings=settings or {},
        acidtest=acidtest,
    )


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


def document(result: ExperimentResult) -> Document:
    """A document with a section on the arms, one for each of the paper's tables, and one that lists the trainings."""
    return Document(
        title=f"acidtest experiment {result.experiment}",
        headline=_headline(result),
        parts=(
            _arms_section(result),
            *(_table_section(result, table, number) for number, table in enumerate(result.tables, 1)),
            Section("Trainings", (_trainings_table(result.trainings),), anchor="trainings", folded=True),
        ),
        models=result.networks,
        signatures={signature.partition("|")[0]: signature for signature in result.signatures},
        methods=tuple(_methods(result)),
    )


def _headline(result: ExperimentResult) -> str:
    if not result.differences:
        return f"{result.title}: {describe_count(len(result.arms), 'arm')}, with nothing to compare."
    differing = sum(one.differs for one in result.differences)
    return (
        f"{result.title}: {differing} of {describe_count(len(result.differences), 'difference')} between arms "
        f"{'holds' if differing == 1 else 'hold'} after correction."
    )


def _arms_section(result: ExperimentResult) -> Section:
    columns = (Column("pairs", "count"), Column("trained on", "text"))
    rows = tuple(Row(arm.name, (arm.pairs, arm.description)) for arm in result.arms)
    arms = Table("arms", "What each arm is trained on", columns, rows, "arm")
    notes = [*map(_describe_agreement, result.agreement), *result.notes]
    paragraphs = [Note(f"{note.rstrip('.')}.") for note in notes]
    return Section(
        "What was trained", (Note(papers()[result.experiment].summary), arms, *paragraphs), anchor="overview"
    )


def _describe_agreement(agreement: PaperAgreement) -> str:
    """A sentence on how close a network is to the paper."""
    rates = describe_count(agreement.cells, "rate")
    distance = f"{agreement.network}: {share(agreement.distance)} points from the paper on average of {rates}"
    if not agreement.changes:
        return distance
    changes = f"{describe_count(agreement.changes, 'published difference')} of two points or more"
    return f"{distance}; {agreement.same} of {changes} {'has' if agreement.changes == 1 else 'have'} the same sign here"


def _methods(result: ExperimentResult) -> Iterator[str]:
    """Sentences on how values, tests and published numbers are defined."""
    seeds = len(result.settings.get("seeds", ()))
    several = f"means of {seeds} seeds, with their standard deviation beside them; " if seeds > 1 else ""
    yield f"Accuracies in per cent: {several}the 95 % interval is over rows, and another seed is another network"
    tests = " or ".join(dict.fromkeys(one.test for one in result.differences))
    if tests:
        family = describe_count(len(result.differences), "difference")
        direction = ", and the same sign with every seed" if seeds > 1 else ""
        yield (
            f"Differences are on the same rows; two arms differ where p is below 0.05 ({tests}), corrected over "
            f"{family} by Holm{direction}"
        )
    if any(score.published is not None for score in result.scores):
        yield f"Published: {result.published}; trained on other data unless these are the same"


def _table_section(result: ExperimentResult, table: ResultTable, number: int) -> Section:
    rates = [column for column in table.columns if column.less is None]
    drops = [column for column in table.columns if column.less is not None]
    # HANS, the suite with these factors, has two labels; in merged-labels every suite has.
    two_way = {result.experiment == "merged-labels" or not {"heuristic", "subcase"}.isdisjoint(one.by) for one in rates}
    chance = Reference(0.5, "chance (50 %)") if all(two_way) else Reference(1 / 3, "chance (33 %)")
    reference = chance if len(two_way) == 1 else None
    parts: list[Part] = [
        _arm_table(result, table, rates, f"table {number}", "Accuracy in per cent, with 95 % intervals"),
        Chart(f"table {number}", columns=table.arms, axis="accuracy", reference=reference),
    ]
    if drops:
        caption = "Drop from one test set to the other, in points"
        parts.append(_arm_table(result, table, drops, f"drops {number}", caption, unit="points"))
    if any(one.table == table.title for one in result.differences):
        name, no_difference = f"differences {number}", Reference(0.0, "no difference")
        caption = f"Difference from “{table.against}” on the same rows, in points, with 95 % intervals"
        parts.append(_arm_table(result, table, rates, name, caption, unit="points", differences=True))
        parts.append(Chart(name, columns=table.other_arms, axis="difference in points", reference=no_difference))
    return Section(table.title, tuple(parts), anchor=f"table-{number}")


def _arm_table(
    result: ExperimentResult,
    table: ResultTable,
    columns: Sequence[ResultColumn],
    name: str,
    caption: str,
    *,
    unit: Unit = "percent",
    differences: bool = False,
) -> Table:
    """A table of scores or differences, with a row for each column of the paper's table and columns for each arm."""
    arms = table.other_arms if differences else table.arms
    every: Sequence[ArmValue] = result.differences if differences else result.scores
    values = {(one.network, one.column, one.arm): one for one in every if one.table == table.title}
    titles: list[Column] = []
    for arm in arms:
        titles += _arm_columns(arm, [value for value in values.values() if value.arm == arm], unit)
    rows = []
    for network in result.networks:
        for column in columns:
            cells: dict[str, Cell] = {}
            for arm in arms:
                cells |= _arm_cells(arm, values.get((network, column.name, arm)))
            shown = tuple(cells.get(title.name) for title in titles)
            rows.append(Row(column.name, shown, network, slice={"suite": column.suite, **column.by}))
    scores = [value for value in values.values() if isinstance(value, ArmScore) and value.published is not None]
    sources = tuple(dict.fromkeys(score.source for score in scores))
    return Table(name, caption, tuple(titles), tuple(rows), "pairs", sources=sources)


def _arm_columns(arm: str, values: Sequence[ArmValue], unit: Unit) -> Iterator[Column]:
    """The columns of an arm: its value and, if there are any, spread over seeds, published numbers and tests."""
    yield Column(arm, unit, model=arm)
    if any(value.spread for value in values):
        yield Column(f"{arm}, ± over seeds", "percent", role="total")
    if any(value.published is not None for value in values):
        yield Column(f"{arm}, published", unit, role="published", note="the paper")
    if any(isinstance(value, ArmDifference) for value in values):
        yield Column(f"{arm}, p", "p", role="total")
        yield Column(f"{arm}, corrected p", "p", role="total")
        yield Column(f"{arm}, differs", "text")


def _arm_cells(arm: str, value: ArmValue | None) -> dict[str, Cell]:
    """The cells for ``_arm_columns`` by column name; empty if the network has no value."""
    cells: dict[str, Cell] = {}
    if value:
        cells = {arm: value.value, f"{arm}, ± over seeds": value.spread.deviation if value.spread else None}
        if value.published is not None:
            source = value.source if isinstance(value, ArmScore) else ""
            cells[f"{arm}, published"] = Published(value.published, note=source)
    if isinstance(value, ArmDifference):
        cells |= {f"{arm}, p": PValue(value.p), f"{arm}, corrected p": PValue(value.p_adjusted)}
        cells[f"{arm}, differs"] = "*" if value.differs else ""
    return cells


def _trainings_table(trainings: Sequence[TrainingRecord]) -> Table:
    columns = (
        Column("trained on", "text"),
        *(Column(name, "count") for name in ("seed", "epochs", "kept epoch")),
        Column("accuracy on the development set"),
        Column("time", "seconds"),
    )
    rows = tuple(
        Row(one.network, (one.arm, one.seed, one.epochs, one.best_epoch, one.dev_accuracy, one.seconds))
        for one in trainings
    )
    caption = "Every training: the epoch that was kept and its accuracy on the development set"
    return Table("every training", caption, columns, rows, "network")
