"""What was found of categories and being right: accuracies, coefficients with errors, and the network's estimates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from acidtest.core.estimate import Estimate
from acidtest.stats.bayes_net import Network

SCHEMA = 1

LEVELS = (0.001, 0.01, 0.05)
"""Below them a p-value has three stars, two, and one."""


@dataclass(frozen=True)
class Term:
    """A coefficient with its interval, standard error and p-value.

    ``p_groups`` lets rows of one group vary together, NaN where each row is a group of its own; ``p_adjusted`` is
    Holm's over all coefficients of the models.
    """

    value: Estimate
    error: float
    p: float
    p_groups: float = math.nan
    p_adjusted: float = math.nan

    @property
    def stars(self) -> str:
        """As the paper has them, from the p-value of independent rows without correction."""
        return "*" * sum(self.p < level for level in LEVELS)

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it; NaN is null."""
        numbers = {name: null(getattr(self, name)) for name in ("error", "p", "p_groups", "p_adjusted")}
        return {"coefficient": self.value.to_json(), **numbers, "stars": self.stars}


@dataclass(frozen=True)
class Factor:
    """One variable in both analyses; ``spread`` is its standard deviation, 1 for what is 0 or 1."""

    name: str
    kind: str
    spread: float
    logistic: Term
    discriminant: Term

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        return {
            "factor": self.name,
            "kind": self.kind,
            "spread": null(self.spread),
            "logistic": self.logistic.to_json(),
            "discriminant": self.discriminant.to_json(),
        }


@dataclass(frozen=True)
class ModelFactors:
    """One model on one suite.

    ``accuracy`` is that of rows with each category, ``unmarked`` that of rows with none. ``gains`` are the accuracies
    less those of the first model on the same rows; empty for the first itself, and where values are missing in others.
    ``aside`` counts the rows that other models were not asked and that are therefore not looked at; ``caution`` is what
    to know of categories that nobody annotated.
    """

    model: str
    suite: str
    signature: str
    overall: Estimate
    accuracy: Mapping[str, Estimate]
    unmarked: Estimate
    factors: tuple[Factor, ...]
    explained: float
    network: Network
    gains: Mapping[str, Estimate]
    aside: int = 0
    caution: str = ""
    notes: tuple[str, ...] = ()

    @property
    def grouped(self) -> bool:
        """Whether rows belong together, so that p-values over groups differ from those over rows."""
        return any(not math.isnan(each.logistic.p_groups) for each in self.factors)

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        return {
            "model": self.model,
            "suite": self.suite,
            "signature": self.signature,
            "rows_aside": self.aside,
            "caution": self.caution,
            "overall": self.overall.to_json(),
            "accuracy": {name: value.to_json() for name, value in self.accuracy.items()},
            "no_category": self.unmarked.to_json(),
            "gains": {name: value.to_json() for name, value in self.gains.items()},
            "factors": [each.to_json() for each in self.factors],
            "pseudo_r2": null(self.explained),
            "bayesian_network": self.network.to_json(),
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Factors:
    """Everything found; ``tests`` coefficients of the logistic regressions are one family."""

    found: tuple[ModelFactors, ...]
    confounds: tuple[str, ...]
    tests: int

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        return {
            "schema": SCHEMA,
            "confounds": list(self.confounds),
            "tests": self.tests,
            "models": [each.to_json() for each in self.found],
        }


def null(value: float) -> float | None:
    """None for NaN."""
    return None if math.isnan(value) else value
