"""What torch is told of the device it works on; it is loaded when asked for."""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy.typing as npt

from acidtest.core.extras import required


def kernels_for_any_shape(device: Any) -> AbstractContextManager[Any]:
    """Attention without cuDNN's kernels, which are compiled anew for every shape: here every batch has another."""
    if device.type != "cuda":
        return nullcontext()
    attention = importlib.import_module("torch.nn.attention")
    kinds = attention.SDPBackend
    chosen: AbstractContextManager[Any] = attention.sdpa_kernel(
        [kinds.FLASH_ATTENTION, kinds.EFFICIENT_ATTENTION, kinds.MATH]
    )
    return chosen


def on_device(values: npt.NDArray[Any], device: Any) -> Any:
    """An array of whole numbers as a tensor there, by a copy that does not wait for what the device is doing."""
    (torch,) = required("torch")
    tensor = torch.from_numpy(values)
    if device.type == "cuda":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True).long()
