"""Encoders like BERT over pairs laid end to end without padding; the last layer computes the first token only.

Everything but attention works on single tokens, so pairs of all lengths share one matrix. The classifier reads only
the first token, so the last layer computes queries and the feed-forward part for that token alone. On a processor,
matrix products go through oneDNN in its own layout, GELU included: torch by itself uses MKL's products, which are
slower on AMD's processors (benchmarks/encoders.py). Attention is one kernel call for all pairs on CUDA devices in half
precision, and one call for each length elsewhere.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import import_optional
from acidtest.models.encoders.pair_tokens import length_runs
from acidtest.models.encoders.sentence_tokens import Ints, offsets

TensorFunction = Callable[[Any], Any]

FAMILIES = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra"})
"""Model types of transformers that are computed here; their layers have the same names."""

_PACKED_ROWS = 4096
"""The typical number of rows in an input, from which oneDNN chooses the layout of weights."""


@dataclass(frozen=True)
class FlatLayer:
    """One layer: queries, keys and values in one projection, then the other projections and the two norms."""

    projections: TensorFunction
    context: TensorFunction
    context_norm: TensorFunction
    up: TensorFunction
    down: TensorFunction
    norm: TensorFunction


class FlatEncoder:
    """Computes the logits of a classifier of one of the ``FAMILIES`` from tokens without padding."""

    def __init__(self, model: Any) -> None:
        (self._torch,) = import_optional("torch")
        base = model.base_model
        self._embed = base.embeddings
        self._project = getattr(base, "embeddings_project", None)
        self._heads = model.config.num_attention_heads
        padding = base.embeddings.position_embeddings.padding_idx
        self._first_position = 0 if padding is None else padding + 1
        gelu = model.config.hidden_act == "gelu"
        *layers, last = base.encoder.layer
        self._layers = [self._make_layer(layer, gelu) for layer in layers]
        self._last = self._make_layer(last, gelu)
        self._query = self._join_linears(last.attention.self.query)
        self._keys_values = self._join_linears(last.attention.self.key, last.attention.self.value)
        pooler = getattr(base, "pooler", None)
        self._head = model.classifier if pooler is None else lambda first: model.classifier(pooler(first))

    def logits(self, ids: Any, types: Any | None, lengths: Ints) -> Any:
        """float[n, outputs] of pairs in ascending order of length, their tokens end to end in ``ids`` on the device."""
        torch = self._torch
        starts = np.cumsum(lengths) - lengths
        positions = np.arange(len(ids)) - np.repeat(starts, lengths) + self._first_position
        hidden = self._embed(
            input_ids=ids[None],
            token_type_ids=torch.zeros_like(ids)[None] if types is None else types[None],
            position_ids=on_device(positions, ids.device)[None],
        )[0]
        hidden = hidden if self._project is None else self._project(hidden)
        attention = pair_attention(hidden, lengths, self._heads)
        for layer in self._layers:
            hidden = self._finish_layer(layer, hidden, attention.of_all(layer.projections(hidden)))
        first = hidden[on_device(starts, ids.device)]
        context = attention.of_first(self._query(first), self._keys_values(hidden))
        return self._head(self._finish_layer(self._last, first, context)[:, None])

    def _finish_layer(self, layer: FlatLayer, hidden: Any, context: Any) -> Any:
        """The states after a layer, from the states before it and the result of its attention."""
        hidden = layer.context_norm(layer.context(context).add_(hidden))
        return layer.norm(layer.down(layer.up(hidden)).add_(hidden))

    def _make_layer(self, layer: Any, gelu: bool) -> FlatLayer:
        attention, output = layer.attention.self, layer.attention.output
        up = self._join_linears(layer.intermediate.dense, gelu=gelu)
        activation = layer.intermediate.intermediate_act_fn
        return FlatLayer(
            projections=self._join_linears(attention.query, attention.key, attention.value),
            context=self._join_linears(output.dense),
            context_norm=output.LayerNorm,
            up=up if gelu else lambda hidden: activation(up(hidden)),
            down=self._join_linears(layer.output.dense),
            norm=layer.output.LayerNorm,
        )

    def _join_linears(self, *modules: Any, gelu: bool = False) -> TensorFunction:
        """One linear layer whose outputs are those of all these modules side by side."""
        torch = self._torch
        weight, bias = modules[0].weight.detach(), modules[0].bias.detach()
        if len(modules) > 1:
            weight = torch.cat([module.weight.detach() for module in modules])
            bias = torch.cat([module.bias.detach() for module in modules])
        if _can_pack(weight):
            return _pack(weight, bias, gelu=gelu)
        linear = torch.nn.functional.linear
        if gelu:
            return lambda hidden: torch.nn.functional.gelu(linear(hidden, weight, bias))
        return lambda hidden: linear(hidden, weight, bias)


def flat_encoder(model: Any) -> FlatEncoder | None:
    """The flat encoder of a model of one of the ``FAMILIES``; None for decoders and other models."""
    config = model.config
    supported = config.model_type in FAMILIES and not getattr(config, "is_decoder", False)
    return FlatEncoder(model) if supported else None


def pack_linears(model: Any) -> None:
    """Let oneDNN compute the float32 linear layers of a network on the processor; their weights do not change."""
    (torch,) = import_optional("torch")
    for module in model.modules():
        if type(module) is torch.nn.Linear and _can_pack(module.weight):
            bias = None if module.bias is None else module.bias.detach()
            module.forward = _pack(module.weight.detach(), bias)


def _pack(weight: Any, bias: Any | None, *, gelu: bool = False) -> TensorFunction:
    """A function from ``x`` to ``x @ weight.T + bias``, or its GELU; the operators are those of torch's compiler."""
    (torch,) = import_optional("torch")
    ops = torch.ops.mkldnn
    matrix = ops._reorder_linear_weight(weight, _PACKED_ROWS)
    name, algorithm = ("gelu", "none") if gelu else ("none", "")
    return lambda hidden: ops._linear_pointwise(hidden, matrix, bias, name, [], algorithm)


def _can_pack(weight: Any) -> bool:
    """Whether a matrix is on the processor, in float32, and this build of torch can pack it."""
    (torch,) = import_optional("torch")
    return weight.device.type == "cpu" and weight.dtype == torch.float32 and _packing_works()


@cache
def _packing_works() -> bool:
    """Whether torch has the operators that ``_pack`` uses, and their result is right on a small example."""
    (torch,) = import_optional("torch")
    if not torch.backends.mkldnn.is_available():
        return False
    steps = torch.arange(64, dtype=torch.float32)
    weight, bias, rows = steps.view(4, 16) / 64, steps[:4], steps.view(4, 16).cos()
    expected = torch.nn.functional.gelu(torch.nn.functional.linear(rows, weight, bias))
    try:
        with torch.inference_mode():
            return bool(torch.allclose(_pack(weight, bias, gelu=True)(rows), expected, atol=1e-5))
    except (AttributeError, RuntimeError, TypeError):
        return False


@dataclass(frozen=True)
class VarlenAttention:
    """Attention in one kernel call; ``ends`` are offsets of pairs in all tokens, ``pairs`` in first tokens."""

    kernel: Callable[..., Any]
    heads: int
    ends: Any
    pairs: Any
    longest: int

    def of_all(self, projected: Any) -> Any:
        query, key, value = projected.view(len(projected), 3, self.heads, -1).unbind(1)
        return self.kernel(query, key, value, self.ends, self.ends, self.longest, self.longest).flatten(1)

    def of_first(self, query: Any, projected: Any) -> Any:
        key, value = projected.view(len(projected), 2, self.heads, -1).unbind(1)
        queries = query.view(len(query), self.heads, -1)
        return self.kernel(queries, key, value, self.pairs, self.ends, 1, self.longest).flatten(1)


class AttentionByLength:
    """Attention of all pairs, in one call for each length."""

    def __init__(self, heads: int, lengths: Ints) -> None:
        (torch,) = import_optional("torch")
        self._attention = torch.nn.functional.scaled_dot_product_attention
        self._heads = heads
        self._runs = list(length_runs(lengths))

    def of_all(self, projected: Any) -> Any:
        result = projected.new_empty(len(projected), projected.shape[1] // 3)
        for run in self._runs:
            shape = (run.count, run.longest, 3, self._heads, -1)
            query, key, value = projected[run.tokens].view(shape).unbind(2)
            context = self._attention(query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2))
            result[run.tokens].view(query.shape).copy_(context.transpose(1, 2))
        return result

    def of_first(self, query: Any, projected: Any) -> Any:
        result = query.new_empty(query.shape)
        for run in self._runs:
            key, value = projected[run.tokens].view(run.count, run.longest, 2, self._heads, -1).unbind(2)
            queries = query[run.pairs].view(run.count, 1, self._heads, -1).transpose(1, 2)
            context = self._attention(queries, key.transpose(1, 2), value.transpose(1, 2))
            result[run.pairs] = context.reshape(run.count, -1)
        return result


def pair_attention(hidden: Any, lengths: Ints, heads: int) -> VarlenAttention | AttentionByLength:
    """Attention within each pair, for tensors like ``hidden`` (device, precision, width); ``lengths`` must ascend.

    ``of_all`` takes queries, keys and values side by side, ``of_first`` the queries of first tokens, then all keys and
    values side by side.
    """
    kernel = _varlen_kernel()
    width = hidden.shape[1] // heads
    # The kernel needs half precision and head sizes that are multiples of eight.
    if kernel and hidden.is_cuda and hidden.element_size() == 2 and width % 8 == 0 and width <= 256:
        ends, pairs = (on_device(offsets(sizes), hidden.device).int() for sizes in (lengths, np.ones_like(lengths)))
        return VarlenAttention(kernel, heads, ends, pairs, int(lengths[-1]))
    return AttentionByLength(heads, lengths)


@cache
def _varlen_kernel() -> Callable[..., Any] | None:
    """torch's attention over sequences of different lengths; None before 2.10."""
    try:
        kernel: Callable[..., Any] = importlib.import_module("torch.nn.attention.varlen").varlen_attn
    except (ImportError, AttributeError):
        return None
    return kernel


def kernels_for_any_shape(device: Any) -> AbstractContextManager[Any]:
    """A context without cuDNN's attention, which compiles a kernel for each shape: nearly every batch has a new one."""
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
