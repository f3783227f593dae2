"""The papers' experiments in training: what each is made of, and what came out of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources
from math import nan
from statistics import fmean, stdev
from typing import Any

from acidtest.core.estimate import Estimate
from acidtest.core.run import Run
from acidtest.core.structured import parse_toml

SCHEMA = 1
LEVEL = 0.05
"""Of significance, after correction."""

SMALLEST_PUBLISHED = 0.0195
"""Papers print two or three digits: a published difference smaller than this may be rounding."""


@dataclass(frozen=True)
class PaperCorpus:
    """A test set that a paper reports on; its file is recognised by its name and its number of pairs with gold.

    Published numbers are kept under ``suite`` and ``by``. Without a suite it is none of the paper's test sets.
    """

    title: str = ""
    file_pattern: str = ""
    pairs: int = 0
    suite: str = ""
    by: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    """What has to be known to compare the published numbers with one's own."""


@dataclass(frozen=True)
class Paper:
    """An experiment as its paper describes it: title, tables of numbers, and which architectures are its systems."""

    name: str
    title: str
    summary: str
    paper: str
    tables: str
    preset: str
    conditions: Mapping[str, str]
    systems: Mapping[str, str]
    folds: tuple[Mapping[str, Any], ...] = ()
    trained_tautology: str = ""
    other_tautology: str = ""
    corpora: tuple[PaperCorpus, ...] = ()
    """The test sets whose numbers can stand beside those of a user's file."""

    def corpus(self, name: str, pairs: int) -> PaperCorpus:
        """Which of the paper's test sets a file is; parts of them and sets made from them are none."""
        named = (corpus for corpus in self.corpora if re.fullmatch(corpus.file_pattern, name, re.IGNORECASE))
        return next((corpus for corpus in named if corpus.pairs == pairs), PaperCorpus())


@cache
def papers() -> Mapping[str, Paper]:
    """The papers' experiments by name."""
    content = resources.files("acidtest.data").joinpath("experiments.toml").read_bytes()
    return {name: _paper(name, table) for name, table in parse_toml(content, "experiments.toml").items()}


def _paper(name: str, table: Mapping[str, Any]) -> Paper:
    corpora = tuple(PaperCorpus(**corpus) for corpus in table.get("corpora", ()))
    return Paper(name, **{**table, "folds": tuple(table.get("folds", ())), "corpora": corpora})


@dataclass(frozen=True)
class ResultColumn:
    """A column of a paper's table: the rows of a suite that have some values, and which published numbers are theirs.

    With ``less`` the value is the rate of this column's rows minus that of the other column's, which are other rows.
    """

    name: str
    suite: str
    by: Mapping[str, str] = field(default_factory=dict)
    group: str = ""
    published: str = ""
    """The suite whose published numbers stand beside the column; empty where there are none."""
    published_by: Mapping[str, str] = field(default_factory=dict)
    less: ResultColumn | None = None


@dataclass(frozen=True)
class Arm:
    """One way of training; ``condition`` is its name in the published numbers, None where there are none."""

    name: str
    description: str = field(metadata={"json": "told"})
    pairs: int
    condition: str | None = None


@dataclass(frozen=True)
class ResultTable:
    """A table of the paper: its columns, the arms compared in it, and the arm that the others stand against, if any."""

    title: str
    columns: tuple[ResultColumn, ...]
    arms: tuple[str, ...]
    against: str = ""

    @property
    def other_arms(self) -> tuple[str, ...]:
        """The arms that are compared with the one they stand against."""
        return tuple(arm for arm in self.arms if arm != self.against)


@dataclass(frozen=True)
class TrainingRecord:
    """How one network was trained: how many epochs, which of them was kept, and how long it took."""

    network: str
    arm: str
    seed: int
    folder: str
    epochs: int
    best_epoch: int
    dev_accuracy: float | None
    seconds: float


@dataclass(frozen=True)
class TrainedNetwork:
    """A network trained in one arm from one seed, and the run that holds its answers to every suite."""

    architecture: str
    arm: str
    seed: int
    run: Run
    record: TrainingRecord

    @property
    def name(self) -> str:
        """The architecture, with its preset where it has one."""
        return self.record.network


@dataclass(frozen=True)
class SeedSpread:
    """How a value varies over seeds."""

    mean: float
    deviation: float
    lowest: float
    highest: float


def seed_spread(seeds: Mapping[int, Estimate]) -> SeedSpread | None:
    """Mean, standard deviation and range over seeds; None for fewer than two."""
    values = [estimate.value for estimate in seeds.values() if estimate.known]
    return SeedSpread(fmean(values), stdev(values), min(values), max(values)) if len(values) > 1 else None


@dataclass(frozen=True)
class ArmScore:
    """A rate in a table: the mean over seeds with its interval over rows, each seed's rate, and the paper's number."""

    table: str = field(metadata={"json": "block"})
    column: str
    network: str
    arm: str
    value: Estimate
    seeds: Mapping[int, Estimate]
    published: float | None = None
    source: str = ""

    json_properties = ("spread",)

    @property
    def spread(self) -> SeedSpread | None:
        """The spread over seeds."""
        return seed_spread(self.seeds)


@dataclass(frozen=True)
class ArmDifference:
    """An arm less the one it stands against, on the same rows."""

    table: str = field(metadata={"json": "block"})
    column: str
    network: str
    arm: str
    against: str
    value: Estimate
    seeds: Mapping[int, Estimate]
    test: str
    p: float
    p_adjusted: float = nan
    published: float | None = None
    differs: bool = field(default=False, metadata={"json": "found"})
    """Whether the arms differ after correction, and in the same direction with every seed."""

    json_properties = ("spread",)

    @property
    def spread(self) -> SeedSpread | None:
        """The spread over seeds."""
        return seed_spread(self.seeds)


@dataclass(frozen=True)
class PaperAgreement:
    """How near a network's table is to the paper's.

    ``same`` of ``changes`` published differences of two points or more have our sign; ``distance`` is the mean absolute
    difference of ``cells`` rates that the paper reports too, as a share.
    """

    network: str
    same: int
    changes: int
    distance: float
    cells: int


@dataclass(frozen=True)
class ExperimentResult:
    """What came out of an experiment, and all it rests on."""

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
    """The version that ran the networks."""
    schema: int = SCHEMA

    json_properties = ("agreement",)

    @cached_property
    def networks(self) -> tuple[str, ...]:
        """The networks that were trained."""
        return tuple(dict.fromkeys(score.network for score in self.scores))

    @cached_property
    def score_at(self) -> dict[tuple[str, str, str, str], ArmScore]:
        """The scores by table, column, network and arm."""
        return {(score.table, score.column, score.network, score.arm): score for score in self.scores}

    @cached_property
    def difference_at(self) -> dict[tuple[str, str, str, str], ArmDifference]:
        """The differences by table, column, network and arm."""
        return {(one.table, one.column, one.network, one.arm): one for one in self.differences}

    @property
    def agreement(self) -> tuple[PaperAgreement, ...]:
        """How near each network that the paper reports on is to its numbers."""
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
