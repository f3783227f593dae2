"""Training experiments of papers: networks trained on different data (arms) are compared on the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from math import nan
from statistics import fmean, stdev
from typing import Any

from acidtest.core.estimate import Estimate
from acidtest.core.run import Run
from acidtest.core.structured import parse_toml
from acidtest.core.study import study

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
    from acidtest.studies.experiments.arms import compare_arms

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
