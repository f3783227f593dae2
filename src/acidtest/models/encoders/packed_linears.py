"""Matrix products on a processor through oneDNN, the matrices laid out for it once.

By itself torch takes MKL's products, which are slower on AMD's processors: benchmarks/encoders.py has the race. The
operators are the ones torch's own compiler uses for frozen networks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from acidtest.core.extras import required

Linear = Callable[[Any], Any]

_ROWS = 4096
"""Rows of a usual matrix, by which oneDNN chooses its layout."""


def packed(weight: Any, bias: Any | None, *, gelu: bool = False) -> Linear:
    """``x`` to ``x @ weight.T + bias``, or GELU of it."""
    (torch,) = required("torch")
    ops = torch.ops.mkldnn
    matrix = ops._reorder_linear_weight(weight, _ROWS)
    name, kind = ("gelu", "none") if gelu else ("none", "")
    return lambda hidden: ops._linear_pointwise(hidden, matrix, bias, name, [], kind)


def pack_linears(model: Any) -> None:
    """Have every linear layer of a network on the processor computed so; its weights stay as they are."""
    (torch,) = required("torch")
    for module in model.modules():
        if type(module) is torch.nn.Linear and can_pack(module.weight):
            bias = None if module.bias is None else module.bias.detach()
            module.forward = packed(module.weight.detach(), bias)


def can_pack(weight: Any) -> bool:
    """Whether a matrix is on the processor, in float32, and this build of torch can lay it out."""
    (torch,) = required("torch")
    return weight.device.type == "cpu" and weight.dtype == torch.float32 and _works()


@cache
def _works() -> bool:
    """Whether torch has these operators, as they are called here, and they compute what they should."""
    (torch,) = required("torch")
    if not torch.backends.mkldnn.is_available():
        return False
    steps = torch.arange(64, dtype=torch.float32)
    weight, bias, rows = steps.view(4, 16) / 64, steps[:4], steps.view(4, 16).cos()
    expected = torch.nn.functional.gelu(torch.nn.functional.linear(rows, weight, bias))
    try:
        with torch.inference_mode():
            return bool(torch.allclose(packed(weight, bias, gelu=True)(rows), expected, atol=1e-5))
    except (AttributeError, RuntimeError, TypeError):
        return False
