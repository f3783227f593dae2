"""Torch settings and copies for the device it computes on; torch is loaded on use."""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy.typing as npt

from acidtest.core.errors import import_optional


def kernels_for_any_shape(device: Any) -> AbstractContextManager[Any]:
    """Attention without cuDNN's kernels, which are compiled for every shape: here nearly every batch has a new one."""
    if device.type != "cuda":
        return nullcontext()
    attention = importlib.import_module("torch.nn.attention")
    backends = attention.SDPBackend
    context: AbstractContextManager[Any] = attention.sdpa_kernel(
        [backends.FLASH_ATTENTION, backends.EFFICIENT_ATTENTION, backends.MATH]
    )
    return context


def on_device(values: npt.NDArray[Any], device: Any) -> Any:
    """An array of integers as an int64 tensor on the device, copied without waiting for the device."""
    (torch,) = import_optional("torch")
    tensor = torch.from_numpy(values)
    if device.type == "cuda":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True).long()
