"""Encoders like BERT over pairs laid end to end: no padding, and in the last layer only what the answer rests on.

Everything but attention works on single tokens, so pairs of all lengths share one matrix. The classifier reads the
first token alone: the last layer asks, and feeds forward, for that one only. On a processor the matrices go through
oneDNN in its own layout, with GELU computed on the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from acidtest.core.extras import required
from acidtest.models.encoders.devices import on_device
from acidtest.models.encoders.packed_linears import Linear, can_pack, packed
from acidtest.models.encoders.pair_attention import pair_attention

FAMILIES = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra"})
"""Those whose layers are called alike in transformers and are computed here."""


@dataclass(frozen=True)
class Layer:
    """One layer: queries, keys and values side by side, then its other projections and the two norms."""

    projections: Linear
    context: Linear
    context_norm: Linear
    up: Linear
    down: Linear
    norm: Linear


class FlatEncoder:
    """The logits of a classifier of one of the families, from tokens without padding."""

    def __init__(self, model: Any) -> None:
        (self._torch,) = required("torch")
        base = model.base_model
        self._embed = base.embeddings
        self._project = getattr(base, "embeddings_project", None)
        self._heads = model.config.num_attention_heads
        padding = base.embeddings.position_embeddings.padding_idx
        self._first_position = 0 if padding is None else padding + 1
        fused = model.config.hidden_act == "gelu"
        *layers, last = base.encoder.layer
        self._layers = [self._layer(layer, fused) for layer in layers]
        self._last = self._layer(last, fused)
        self._asked = self._linear(last.attention.self.query)
        self._keys_values = self._linear(last.attention.self.key, last.attention.self.value)
        pooler = getattr(base, "pooler", None)
        self._head = model.classifier if pooler is None else lambda first: model.classifier(pooler(first))

    def logits(self, ids: Any, types: Any | None, lengths: npt.NDArray[np.int64]) -> Any:
        """float[n, outputs] of pairs that come shortest first, their tokens end to end in ``ids`` on the device."""
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
            hidden = self._forward(layer, hidden, attention.of_all(layer.projections(hidden)))
        first = hidden[on_device(starts, ids.device)]
        attended = attention.of_first(self._asked(first), self._keys_values(hidden))
        return self._head(self._forward(self._last, first, attended)[:, None])

    def _forward(self, layer: Layer, hidden: Any, attended: Any) -> Any:
        hidden = layer.context_norm(layer.context(attended).add_(hidden))
        return layer.norm(layer.down(layer.up(hidden)).add_(hidden))

    def _layer(self, layer: Any, fused: bool) -> Layer:
        own, output = layer.attention.self, layer.attention.output
        up = self._linear(layer.intermediate.dense, gelu=fused)
        activation = layer.intermediate.intermediate_act_fn
        return Layer(
            projections=self._linear(own.query, own.key, own.value),
            context=self._linear(output.dense),
            context_norm=output.LayerNorm,
            up=up if fused else lambda hidden: activation(up(hidden)),
            down=self._linear(layer.output.dense),
            norm=layer.output.LayerNorm,
        )

    def _linear(self, *modules: Any, gelu: bool = False) -> Linear:
        """The projections of these modules side by side, as one."""
        torch = self._torch
        weight, bias = modules[0].weight.detach(), modules[0].bias.detach()
        if len(modules) > 1:
            weight = torch.cat([module.weight.detach() for module in modules])
            bias = torch.cat([module.bias.detach() for module in modules])
        if can_pack(weight):
            return packed(weight, bias, gelu=gelu)
        linear = torch.nn.functional.linear
        if gelu:
            return lambda hidden: torch.nn.functional.gelu(linear(hidden, weight, bias))
        return lambda hidden: linear(hidden, weight, bias)


def flat_encoder(model: Any) -> FlatEncoder | None:
    """An encoder of these families laid flat, or None when the model is of another."""
    config = model.config
    plain = config.model_type in FAMILIES and not getattr(config, "is_decoder", False)
    return FlatEncoder(model) if plain else None
