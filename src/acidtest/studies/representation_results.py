"""What was found of a model's layers: how well they tell categories apart, and maps of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.estimate import Estimate

SCHEMA = 1

PROBE, SILHOUETTE = "probe", "silhouette"
MEASURES = (PROBE, SILHOUETTE)

TargetKind = Literal["category", "group", "label", "factor"]
"""A category, a group of categories, the gold label, or another factor of the suite."""

Maps = npt.NDArray[np.float32]
"""float32[layers, n, 2]: where each pair lies on the map of each layer."""


@dataclass(frozen=True)
class Contrast:
    """A measure of one target on one layer, beside what it is when labels are dealt anew.

    ``baseline`` has the mean over permutations and, as its interval, the middle 95 % of them. ``p_adjusted`` is
    corrected for all targets and layers of the measure.
    """

    estimate: Estimate
    baseline: Estimate
    p: float = math.nan
    p_adjusted: float = math.nan

    def above(self, alpha: float) -> bool:
        """Whether it exceeds its baseline after correction."""
        return self.p_adjusted < alpha

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it; NaN is null."""
        return {
            **self.estimate.to_json(),
            "baseline": self.baseline.to_json(),
            "p": _null(self.p),
            "p_adjusted": _null(self.p_adjusted),
        }


@dataclass(frozen=True)
class Trace:
    """One target through the layers: a contrast for each layer and measure.

    ``n`` counts the pairs that have it; for a label or a factor, those that have any value.
    """

    name: str
    kind: TargetKind
    n: int
    measures: Mapping[str, tuple[Contrast, ...]]

    def first(self, measure: str, alpha: float) -> int | None:
        """The number of the first layer above its baseline, None where none is."""
        return next((place for place, found in enumerate(self.measures[measure]) if found.above(alpha)), None)

    def best(self, measure: str) -> int | None:
        """The number of the layer with the greatest value, None where none is known."""
        values = np.array([found.estimate.value for found in self.measures[measure]])
        return None if np.isnan(values).all() else int(np.nanargmax(values))

    def to_json(self, layers: tuple[str, ...], alpha: float) -> dict[str, Any]:
        """As the command's --json prints it, by names of layers."""
        named = {
            measure: {
                "first": _name(layers, self.first(measure, alpha)),
                "best": _name(layers, self.best(measure)),
                "layers": {name: one.to_json() for name, one in zip(layers, found, strict=True)},
            }
            for measure, found in self.measures.items()
        }
        return {"target": self.name, "kind": self.kind, "n": self.n, **named}


@dataclass(frozen=True)
class Representations:
    """A model's layers on a suite; ``rows`` holds the pairs, with label, categories and factors, in the maps' order."""

    model: str
    suite: str
    signature: str
    layers: tuple[str, ...]
    width: int
    traces: tuple[Trace, ...]
    permutations: int
    folds: int
    alpha: float
    seed: int
    rows: pl.DataFrame
    categories: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()
    maps: Maps | None = None
    perplexity: float = math.nan
    notes: tuple[str, ...] = field(default=())

    @property
    def groups(self) -> int:
        """How many premises or other sources the pairs come from."""
        return self.rows["group"].n_unique()

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it: the numbers, without pairs and maps."""
        return {
            "schema": SCHEMA,
            "model": self.model,
            "suite": self.suite,
            "signature": self.signature,
            "layers": list(self.layers),
            "width": self.width,
            "n": self.rows.height,
            "groups": self.groups,
            "permutations": self.permutations,
            "folds": self.folds,
            "alpha": self.alpha,
            "seed": self.seed,
            "targets": [trace.to_json(self.layers, self.alpha) for trace in self.traces],
            "notes": list(self.notes),
        }


def _name(layers: tuple[str, ...], place: int | None) -> str | None:
    return None if place is None else layers[place]


def _null(value: float) -> float | None:
    return None if math.isnan(value) else value
