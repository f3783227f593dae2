"""How well a model's layers tell labels, categories and factors apart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.estimate import Estimate

SCHEMA = 1
ALPHA = 0.05
"""A layer is above its baseline where the corrected p is below this."""

PROBE, SILHOUETTE = "probe", "silhouette"
MEASURES = (PROBE, SILHOUETTE)

TargetKind = Literal["category", "group", "label", "factor"]
"""A category, a group of categories, the gold label, or another factor of the suite."""

Maps = npt.NDArray[np.float32]
"""float32[layers, n, 2]: where each pair lies on the map of each layer."""


@dataclass(frozen=True)
class LayerScore(Estimate):
    """A measure of one target on one layer, beside what it is under shuffled labels.

    ``baseline`` is the mean over shuffles with the middle 95 % of them as its interval. ``p_adjusted`` is corrected for
    all targets and layers of the measure.
    """

    baseline: Estimate = field(default_factory=lambda: Estimate(math.nan, note="not measured"))
    p: float = math.nan
    p_adjusted: float = math.nan

    @property
    def is_above(self) -> bool:
        """Whether it exceeds its baseline after correction."""
        return self.p_adjusted < ALPHA

    @property
    def estimate(self) -> Estimate:
        """The measure alone."""
        return Estimate(self.value, self.low, self.high, self.n, self.groups, self.method, self.note)


@dataclass(frozen=True)
class LayerScores:
    """A measure of one target on every layer, by the names of the layers.

    ``first`` is the first layer above its baseline, ``best`` the one with the greatest value; None where there is none.
    """

    first: str | None
    best: str | None
    layers: Mapping[str, LayerScore]

    @classmethod
    def from_layers(cls, layers: Mapping[str, LayerScore]) -> LayerScores:
        """The scores with the first layer above its baseline and the best one."""
        known = {name: score.value for name, score in layers.items() if score.known}
        first = next((name for name, score in layers.items() if score.is_above), None)
        return cls(first, max(known, key=lambda name: known[name]) if known else None, layers)


@dataclass(frozen=True)
class TargetScores:
    """One target through the layers.

    ``n`` counts the pairs that have it; for a label or a factor, those that have any value.
    """

    name: str = field(metadata={"json": "target"})
    kind: TargetKind
    n: int
    probe: LayerScores
    silhouette: LayerScores

    def measure(self, name: str) -> LayerScores:
        """The scores of a measure."""
        return self.probe if name == PROBE else self.silhouette


@dataclass(frozen=True)
class RepresentationsResult:
    """A model's layers on a suite; ``rows`` holds the pairs, with label, categories and factors, in the maps' order."""

    model: str
    suite: str
    signature: str
    layers: tuple[str, ...]
    width: int
    n: int
    groups: int
    """How many premises or other sources the pairs come from."""
    targets: tuple[TargetScores, ...]
    permutations: int
    folds: int
    seed: int
    notes: tuple[str, ...] = ()
    alpha: float = ALPHA
    schema: int = SCHEMA
    rows: pl.DataFrame | None = field(default=None, metadata={"json": None})
    categories: tuple[str, ...] = field(default=(), metadata={"json": None})
    factors: tuple[str, ...] = field(default=(), metadata={"json": None})
    maps: Maps | None = field(default=None, metadata={"json": None})
    perplexity: float = field(default=math.nan, metadata={"json": None})
