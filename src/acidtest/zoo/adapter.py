"""``zoo:DIR``: a network that ``acidtest train`` trained. Importing this module does not load torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError, import_optional
from acidtest.core.labels import TWO_WAY_LABELS
from acidtest.core.logs import stage
from acidtest.core.model import MODELS, Keep, Model, Probabilities, Resolution
from acidtest.core.suite import PARSES, Suite

if TYPE_CHECKING:
    import torch

    from acidtest.zoo.batches import Inputs
    from acidtest.zoo.networks import SavedNetwork

NETWORK_BATCH = 512
"""Pairs that go through the network together."""


@MODELS.add("zoo")
def zoo(rest: str, *, device: str = "auto") -> Model:
    """A network that acidtest train wrote to a folder; ``device`` is auto, cpu, cuda or cuda:1."""
    import_optional("torch", "safetensors", extra="zoo")
    from acidtest.zoo.networks import load_network
    from acidtest.zoo.trainer import find_device

    stage("loading zoo:%s", rest)
    return ZooModel(f"zoo:{Path(rest).resolve().name}", load_network(rest), find_device(device))


class ZooModel:
    """A trained network as a model."""

    probabilities = True
    may_abstain = False
    independent = True
    keep: Keep = "always"
    lengths = True
    # Looking up words takes about as long for many pairs as for few.
    batch_size = 4096

    def __init__(self, name: str, saved: SavedNetwork, device: torch.device) -> None:
        config = saved.config
        self.name = name
        self.fingerprint: str | None = saved.fingerprint
        self.columns: tuple[str, ...] = saved.reader.columns
        self.resolution: Resolution = "two-way" if config.labels == TWO_WAY_LABELS else "three-way"
        self.notes: tuple[str, ...] = (f"trained {config.architecture}: its labels are {', '.join(config.labels)}",)
        if config.hypothesis_only:
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
        """Refuse suites that lack a column the network reads."""
        from acidtest.zoo.architectures.spinn import ADVICE

        for suite in suites:
            present = {*self.optional, *suite.frame.collect_schema()}
            for name in [name for name in self.columns if name not in present]:
                problem = f"suite {suite.name!r} has no {name}, which {self._saved.config.architecture} reads"
                raise AcidtestError(f"{problem}; {ADVICE}" if name in PARSES else problem)

    def predict(self, *columns: Sequence[str]) -> Probabilities:
        return self.infer(self.prepare(*columns))

    def prepare(self, *columns: Sequence[str]) -> Inputs:
        from acidtest.zoo.pairs import visible_text

        texts = dict(zip(self.columns, columns, strict=True))
        frame = pl.DataFrame(texts, schema=dict.fromkeys(self.columns, pl.String))
        frame = visible_text(frame, hypothesis_only=self._saved.config.hypothesis_only)
        return self._saved.reader.inputs(frame, None, self._device)

    def infer(self, prepared: Inputs) -> Probabilities:
        from acidtest.zoo.trainer import score_batches

        result = np.zeros((len(prepared), 3), dtype=np.float32)
        for batch, scores in score_batches(self._network, prepared, NETWORK_BATCH):
            result[batch.rows, : scores.shape[1]] = scores.softmax(dim=1).cpu().numpy()
        return result

    def representations(self, *columns: Sequence[str]) -> npt.NDArray[np.float32]:
        """float32[layers, n, width]; only for networks that have ``states``."""
        import torch

        prepared = self.prepare(*columns)
        result = np.empty((len(self.layers), len(prepared), self._network.width), dtype=np.float32)
        self._network.eval()
        with torch.inference_mode():
            for batch in prepared.ordered(NETWORK_BATCH):
                result[:, batch.rows] = self._network.states(batch).float().cpu().numpy()
        return result
