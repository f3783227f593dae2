"""What an experiment in training is made of, and what it found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
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


@dataclass(frozen=True)
class Corpus:
    """Pairs that a paper has numbers of, and how their file is known: by its whole name and how many have gold.

    ``suite`` and ``by`` are what the numbers are kept under; the one without a suite is none of the paper's.
    """

    title: str = ""
    named: str = ""
    pairs: int = 0
    suite: str = ""
    by: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    """What has to be known to compare the numbers with one's own."""


@dataclass(frozen=True)
class Paper:
    """An experiment as its paper has it: what it is called, where its numbers stand, whose systems are ours."""

    name: str
    title: str
    told: str
    paper: str
    tables: str
    preset: str
    conditions: Mapping[str, str]
    systems: Mapping[str, str]
    folds: tuple[Mapping[str, Any], ...] = ()
    trained_tautology: str = ""
    other_tautology: str = ""
    corpora: tuple[Corpus, ...] = ()
    """The test sets whose numbers can stand beside those of a user's file."""

    def corpus(self, name: str, pairs: int) -> Corpus:
        """Which of the paper's test sets a file is; parts of them and sets made of them are none."""
        known = (each for each in self.corpora if re.fullmatch(each.named, name, re.IGNORECASE))
        return next((each for each in known if each.pairs == pairs), Corpus())


@dataclass(frozen=True)
class Column:
    """A column of a paper's table: rows of a suite with some values, and which of the published numbers are theirs.

    ``less`` is another column, of which this one's own rate is the difference; then the rows are not the same.
    """

    name: str
    suite: str
    by: Mapping[str, str] = field(default_factory=dict)
    group: str = ""
    published: str = ""
    """The suite that the published numbers are of; none where it is empty."""
    published_by: Mapping[str, str] = field(default_factory=dict)
    less: Column | None = None


@dataclass(frozen=True)
class Arm:
    """One way of training; ``condition`` is what published numbers call it, None where there are none."""

    name: str
    told: str
    pairs: int
    condition: str | None = None


@dataclass(frozen=True)
class Block:
    """A table: its columns, the arms that are its lines, and which of these the others stand against, if any."""

    title: str
    columns: tuple[Column, ...]
    arms: tuple[str, ...]
    against: str = ""

    @property
    def others(self) -> tuple[str, ...]:
        """The arms that are compared with the one they stand against."""
        return tuple(arm for arm in self.arms if arm != self.against)


@dataclass(frozen=True)
class Answered:
    """A network trained in one arm from one seed, and the run in which it was asked every suite."""

    architecture: str
    preset: str
    arm: str
    seed: int
    run: Run
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The architecture, with its preset where it has one."""
        return f"{self.architecture}:{self.preset}" if self.preset else self.architecture


@dataclass(frozen=True)
class Cell:
    """A rate in the table: a mean over seeds with its interval over rows, each seed's own, and the paper's number."""

    block: str
    column: str
    network: str
    arm: str
    value: Estimate
    seeds: Mapping[int, Estimate]
    published: float | None = None
    source: str = ""

    @property
    def spread(self) -> float:
        """The standard deviation over seeds; NaN of one seed alone."""
        return _spread(self.seeds)

    def to_json(self) -> dict[str, Any]:
        """As experiment.json holds it."""
        return _told(self)


@dataclass(frozen=True)
class Change:
    """An arm less the one it stands against, on the same rows."""

    block: str
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

    @property
    def found(self) -> bool:
        """Whether the arms differ: after correction on the rows, and the same way with every seed."""
        signs = {each.value > 0 for each in self.seeds.values()}
        return self.p_adjusted < LEVEL and len(signs) == 1

    @property
    def spread(self) -> float:
        """The standard deviation over seeds; NaN of one seed alone."""
        return _spread(self.seeds)

    def to_json(self) -> dict[str, Any]:
        """As experiment.json holds it."""
        tested = {"p": _number(self.p), "p_adjusted": _number(self.p_adjusted), "found": self.found}
        return _told(self) | tested


@dataclass(frozen=True)
class Agreement:
    """How near a network's table is to the paper's.

    ``same`` of ``changes`` published differences of two points or more have our sign; ``distance`` is the mean absolute
    difference of ``cells`` rates that the paper has too, as a share.
    """

    network: str
    same: int
    changes: int
    distance: float
    cells: int


@dataclass(frozen=True)
class Experiment:
    """What an experiment found, and all it rests on."""

    paper: Paper
    blocks: tuple[Block, ...]
    arms: Mapping[str, Arm]
    cells: tuple[Cell, ...]
    changes: tuple[Change, ...]
    trainings: tuple[Mapping[str, Any], ...]
    signatures: tuple[str, ...]
    notes: tuple[str, ...]
    settings: Mapping[str, Any]
    acidtest: str = ""
    """The version that asked the networks."""

    @cached_property
    def networks(self) -> tuple[str, ...]:
        """The networks that were trained."""
        return tuple(dict.fromkeys(cell.network for cell in self.cells))

    def cell(self, block: str, column: str, network: str, arm: str) -> Cell | None:
        """The cell of the table at a place, if there is one."""
        return self._cells.get((block, column, network, arm))

    def change(self, block: str, column: str, network: str, arm: str) -> Change | None:
        """The difference at a place, if there is one."""
        return self._changes.get((block, column, network, arm))

    @cached_property
    def _cells(self) -> dict[tuple[str, str, str, str], Cell]:
        return {(each.block, each.column, each.network, each.arm): each for each in self.cells}

    @cached_property
    def _changes(self) -> dict[tuple[str, str, str, str], Change]:
        return {(each.block, each.column, each.network, each.arm): each for each in self.changes}

    @cached_property
    def agreements(self) -> tuple[Agreement, ...]:
        """How near each network that the paper has is to its numbers."""
        return tuple(found for network in self.networks if (found := self._agreement(network)).cells)

    def _agreement(self, network: str) -> Agreement:
        # Papers print two or three digits: a smaller difference may be rounding.
        least = 0.0195
        told = [
            (each.value.value, each.published)
            for each in self.changes
            if each.network == network and each.published is not None and abs(each.published) >= least
        ]
        drops = {column.name for block in self.blocks for column in block.columns if column.less is not None}
        apart = [
            abs(each.value.value - each.published)
            for each in self.cells
            if each.network == network and each.published is not None and each.value.known and each.column not in drops
        ]
        same = sum(ours * theirs > 0 for ours, theirs in told)
        return Agreement(network, same, len(told), fmean(apart) if apart else 0.0, len(apart))

    def to_json(self) -> dict[str, Any]:
        """As experiment.json holds it."""
        paper = self.paper
        return {
            "schema": SCHEMA,
            "acidtest": self.acidtest,
            "experiment": paper.name,
            "title": paper.title,
            "published": f"{paper.paper}, {paper.tables}",
            "settings": dict(self.settings),
            "arms": [asdict(arm) for arm in self.arms.values()],
            "tables": [asdict(block) for block in self.blocks],
            "cells": [cell.to_json() for cell in self.cells],
            "differences": [change.to_json() for change in self.changes],
            "agreement": [asdict(each) for each in self.agreements],
            "trainings": [dict(each) for each in self.trainings],
            "signatures": list(self.signatures),
            "notes": list(self.notes),
        }


@cache
def papers() -> Mapping[str, Paper]:
    """The papers' experiments by name."""
    content = resources.files("acidtest.data").joinpath("experiments.toml").read_bytes()
    return {
        name: Paper(
            name,
            **{
                **table,
                "folds": tuple(table.get("folds", ())),
                "corpora": tuple(Corpus(**each) for each in table.get("corpora", ())),
            },
        )
        for name, table in parse_toml(content, "experiments.toml").items()
    }


def _spread(seeds: Mapping[int, Estimate]) -> float:
    values = [each.value for each in seeds.values() if each.known]
    return stdev(values) if len(values) > 1 else nan


def _told(found: Cell | Change) -> dict[str, Any]:
    told = {name: getattr(found, name) for name in found.__dataclass_fields__}
    values = [each.value for each in found.seeds.values() if each.known]
    spread = None
    if len(values) > 1:
        spread = {
            "mean": fmean(values),
            "deviation": found.spread,
            "lowest": min(values),
            "highest": max(values),
        }
    return told | {
        "value": found.value.to_json(),
        "seeds": {str(seed): each.to_json() for seed, each in found.seeds.items()},
        "spread": spread,
    }


def _number(value: float) -> float | None:
    return None if value != value else value
