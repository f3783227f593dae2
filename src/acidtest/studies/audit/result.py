"""What an audit found in a training set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from acidtest.core.document import Finding
from acidtest.studies.audit.cues import CORRECTION, CueResult, Polarity
from acidtest.studies.audit.labels import Balance, Support
from acidtest.studies.audit.measures import OVERLAP, MeasureByLabel
from acidtest.studies.audit.near import NearPairs
from acidtest.studies.audit.partial_input import PartialInput
from acidtest.studies.audit.repetition import Duplicates, Leak

SCHEMA = 1


@dataclass(frozen=True)
class AuditTest:
    """The p-value of one thing that might be amiss, and the same after Holm's correction over all of them."""

    p: float
    p_adjusted: float


@dataclass(frozen=True)
class AuditResult:
    """A training set and what was found in it; a heuristic that is not known for any pair is None.

    ``tests`` has one p-value for each thing that might be amiss: so all findings that rest on tests together raise a
    false alarm in at most 5 % of clean sets. ``phenomena`` counts pairs by label, ``phenomenon_shares`` has their
    shares of a label's pairs. ``sampled`` pairs were held in memory for what needs the pairs themselves.
    """

    name: str
    rows: int
    faithful: bool
    seed: int
    sampled: int
    heuristics: Mapping[str, Support | None]
    heuristics_by_label: Mapping[str, Mapping[str, int] | None]
    partial_input: Mapping[str, PartialInput]
    cues: Mapping[str, CueResult]
    polarity: Polarity
    leakage: tuple[Leak, ...]
    balance: Balance
    length: Mapping[str, MeasureByLabel]
    overlap: MeasureByLabel
    negation: Mapping[str, MeasureByLabel]
    duplicates: Duplicates
    phenomena: Mapping[str, Mapping[str, int]]
    tests: Mapping[str, AuditTest]
    phenomenon_shares: Mapping[str, MeasureByLabel] = field(default_factory=dict, metadata={"json": None})
    findings: tuple[Finding, ...] = ()
    correction: str = CORRECTION
    schema: int = SCHEMA

    @property
    def measures(self) -> dict[str, MeasureByLabel]:
        """Length, overlap and negation by their names, and the shares of phenomena."""
        lengths = {f"{side}_length": measure for side, measure in self.length.items()}
        negations = {f"{side}_negation": measure for side, measure in self.negation.items()}
        return {**lengths, OVERLAP: self.overlap, **negations, **self.phenomenon_shares}

    @property
    def near(self) -> NearPairs:
        """Pairs of the set that are nearly the same as another."""
        repeated = self.duplicates
        return NearPairs(repeated.near, repeated.near_same_label, repeated.near_of, repeated.near_examples)

    @property
    def ps(self) -> dict[str, float]:
        """The p-values by the name of what was tested."""
        return {name: test.p for name, test in self.tests.items()}

    @property
    def adjusted(self) -> dict[str, float]:
        """Holm's adjusted p-values, by the name of what was tested."""
        return {name: test.p_adjusted for name, test in self.tests.items()}
