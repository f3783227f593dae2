"""What was found of models' behaviour under swapped words: accuracies, tables, tests, and sentences about them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from acidtest.core.estimate import Estimate
from acidtest.stats.contingency import Association, Crosstab
from acidtest.stats.ties import Ties
from acidtest.text.polarity import TIE as TIE

SCHEMA = 1

INSENSITIVITY, UNSEEN, POLARITY = "insensitivity", "unseen pairs", "polarity"
CONTROL_POLARITY, GIVEN_GOLD = "polarity, control", "polarity given gold"


@dataclass(frozen=True)
class Sample:
    """A line of table 1: accuracy on a whole sample and on three subsets; None where the paper defines none.

    ``changed``: gold differs from the control's; ``unseen``: no training pair holds the words in this order;
    ``against``: polarity is not gold, ties and unseen pairs among them.
    """

    suite: str
    whole: Estimate
    changed: Estimate | None
    unseen: Estimate | None
    against: Estimate

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        subsets = {"gold changed": self.changed, "unseen pairs": self.unseen, "polarity is not gold": self.against}
        told = {name: None if value is None else value.to_json() for name, value in subsets.items()}
        return {"suite": self.suite, "whole": self.whole.to_json(), "subsets": told}


@dataclass(frozen=True)
class Swap:
    """Accuracy after the change less accuracy before it, pair by pair: McNemar's test on rows, as in the paper.

    ``p_groups`` is that of whole groups changing places, NaN where every row is a group of its own.
    """

    difference: Estimate
    test: str
    p: float
    p_groups: float
    p_adjusted: float = math.nan

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it; NaN is null."""
        ps = {name: _null(getattr(self, name)) for name in ("p", "p_adjusted", "p_groups")}
        return {"difference": self.difference.to_json(), "test": self.test, **ps}


@dataclass(frozen=True)
class Factor:
    """One factor's table, where it has one, and its test.

    ``p_pairs`` is that of whole word pairs changing places, NaN where the factor does not belong to word pairs.
    """

    name: str
    table: Crosstab | None
    found: Association
    p_pairs: float = math.nan
    p_adjusted: float = math.nan

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it; NaN is null."""
        return {
            "factor": self.name,
            "table": self.table.to_json() if self.table else None,
            **self.found.to_json(),
            "p_adjusted": _null(self.p_adjusted),
            "p_word_pairs": _null(self.p_pairs),
        }


@dataclass(frozen=True)
class Behaviour:
    """One model on one suite and its control.

    ``repeats`` is the share of pairs whose gold changed that are answered as before. ``repeated_errors`` is the share
    of errors there, where the answer given before is wrong now, that give it again; ``follows`` the share of errors
    against a polarity of one label that answer that label, ``follows_by_chance`` what that would be if errors on pairs
    of the same gold fell regardless of polarity: a model that errs towards neutral follows some polarity by that alone.
    """

    model: str
    suite: str
    signature: str
    control: Sample
    transformed: Sample
    swap: Swap
    factors: tuple[Factor, ...]
    repeats: Estimate
    repeated_errors: Estimate
    follows: Estimate
    follows_by_chance: float
    by_polarity: Mapping[str, Estimate]
    ties: Ties
    notes: tuple[str, ...] = ()
    findings: tuple[str, ...] = field(default=())

    def factor(self, name: str) -> Factor | None:
        """The factor of that name; None where it was not tested."""
        return next((each for each in self.factors if each.name == name), None)

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        return {
            "model": self.model,
            "suite": self.suite,
            "signature": self.signature,
            "control": self.control.to_json(),
            "transformed": self.transformed.to_json(),
            "swap": self.swap.to_json(),
            "factors": [each.to_json() for each in self.factors],
            "repeats": self.repeats.to_json(),
            "repeated_errors": self.repeated_errors.to_json(),
            "follows": self.follows.to_json(),
            "follows_by_chance": _null(self.follows_by_chance),
            "by_polarity": {name: value.to_json() for name, value in self.by_polarity.items()},
            "ties": self.ties.to_json(),
            "notes": list(self.notes),
            "findings": list(self.findings),
        }


@dataclass(frozen=True)
class Behaviours:
    """Models on swap suites.

    ``alpha`` is the level of a single test. Beside p stands p corrected by Bonferroni over all ``tests``. ``literal``:
    words are compared with those of the training set as they stand, else by their base forms.
    """

    found: tuple[Behaviour, ...]
    train: str
    training: Mapping[str, int]
    alpha: float
    test: str
    tests: int
    literal: bool = False

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        return {
            "schema": SCHEMA,
            "alpha": self.alpha,
            "test": self.test,
            "correction": "bonferroni",
            "tests": self.tests,
            "words": "as they stand" if self.literal else "base forms",
            "train": {"name": self.train, "labels": dict(self.training)},
            "results": [each.to_json() for each in self.found],
        }


def _null(value: float) -> float | None:
    return None if math.isnan(value) else value
