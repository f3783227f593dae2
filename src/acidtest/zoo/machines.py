"""What something was trained on and with: device, threads, versions."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch

from acidtest.version import __version__


def machine(device: torch.device) -> dict[str, Any]:
    """The device by its maker's name, the threads of the processor, and the versions that decide what comes out."""
    versions = {
        "acidtest": __version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "polars": pl.__version__,
        "python": platform.python_version(),
    }
    return {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else _processor(),
        "threads": torch.get_num_threads(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": versions,
    }


def _processor() -> str:
    """What Linux calls the processor; elsewhere what Python does."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(names), "") or platform.processor() or platform.machine()
