"""``zoo:DIR`` — a network that ``acidtest train`` trained. Nothing here loads torch before it is asked for."""

from __future__ import annotations

from pathlib import Path

from acidtest.core.extras import required
from acidtest.core.logs import stage
from acidtest.core.model import MODELS, Model


@MODELS.add("zoo")
def zoo(rest: str, *, device: str = "auto") -> Model:
    """A network that acidtest train wrote to a folder; ``device`` is auto, cpu, cuda or cuda:1."""
    required("torch", "safetensors", extra="zoo")
    from acidtest.zoo.asked import ZooModel
    from acidtest.zoo.saved import load
    from acidtest.zoo.training import device_of

    stage("loading zoo:%s", rest)
    return ZooModel(f"zoo:{Path(rest).resolve().name}", load(rest), device_of(device))
