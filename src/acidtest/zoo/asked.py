"""A trained network, asked about pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import polars as pl
import torch

from acidtest.core.errors import AcidtestError
from acidtest.core.labels import TWO_WAY_LABELS
from acidtest.core.model import Keep, Probabilities, Resolution
from acidtest.core.suite import PARSES, Suite
from acidtest.zoo.batches import Inputs
from acidtest.zoo.pairs import shown
from acidtest.zoo.saved import Saved
from acidtest.zoo.training import scored
from acidtest.zoo.trees import ADVICE

AT_ONCE = 512
"""Pairs that go through the network together."""


class ZooModel:
    """A trained network, asked."""

    probabilities = True
    may_abstain = False
    independent = True
    keep: Keep = "always"
    lengths = True
    # Words are found for many pairs at a time, since that costs as much for few.
    batch_size = 4096

    def __init__(self, name: str, saved: Saved, device: torch.device) -> None:
        self.name = name
        self.fingerprint: str | None = saved.fingerprint
        self.columns: tuple[str, ...] = saved.reader.columns
        two_way = saved.config.labels == TWO_WAY_LABELS
        self.resolution: Resolution = "two-way" if two_way else "three-way"
        self.notes: tuple[str, ...] = (
            f"trained {saved.config.architecture}: its labels are {', '.join(saved.config.labels)}",
        )
        if saved.config.hypothesis_only:
            self.notes += ("it was trained on hypotheses alone and is shown no premise",)
        self.optional: tuple[str, ...] = getattr(saved.reader, "optional", ())
        if self.optional:
            self.notes += ("pairs without parses are read as trees that branch to the right",)
        self._saved = saved
        self._device = device
        self._network: Any = saved.network.to(device)
        if hasattr(saved.network, "states"):
            self.layers = cast("tuple[str, ...]", saved.network.layers)

    def check(self, suites: Sequence[Suite]) -> None:
        """Refuse suites without what the network reads, before anything is asked."""
        for suite in suites:
            have = suite.frame.collect_schema()
            for name in self.columns:
                if name not in have and name not in self.optional:
                    advice = f"; {ADVICE}" if name in PARSES else ""
                    kind = self._saved.config.architecture
                    raise AcidtestError(f"suite {suite.name!r} has no {name}, which {kind} reads{advice}")

    def predict(self, *columns: Sequence[str]) -> Probabilities:
        """float32[n, 3] for the columns it reads."""
        return self.infer(self.prepare(*columns))

    def prepare(self, *columns: Sequence[str]) -> Inputs:
        """The pairs on the device."""
        frame = pl.DataFrame(
            dict(zip(self.columns, columns, strict=True)), schema=dict.fromkeys(self.columns, pl.String)
        )
        frame = shown(frame, hypothesis_only=self._saved.config.hypothesis_only)
        return self._saved.reader.inputs(frame, None, self._device)

    def infer(self, prepared: Inputs) -> Probabilities:
        """Probabilities in the pairs' own order."""
        result = np.zeros((len(prepared), 3), dtype=np.float32)
        for batch, scores in scored(self._network, prepared, self._device, AT_ONCE):
            result[batch.rows, : scores.shape[1]] = scores.softmax(dim=1).cpu().numpy()
        return result

    def representations(self, *columns: Sequence[str]) -> npt.NDArray[np.float32]:
        """float32[layers, n, width] of a network that shows its layers."""
        prepared = self.prepare(*columns)
        result = np.empty((len(self.layers), len(prepared), self._network.width), dtype=np.float32)
        self._network.eval()
        with torch.inference_mode():
            for batch in prepared.ordered(AT_ONCE):
                result[:, batch.rows] = self._network.states(batch).float().cpu().numpy()
        return result
