"""Pretrained encoders with a head for labels, trained further (Devlin et al. 2019): whatever transformers opens."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch import Tensor, nn

from acidtest.models.encoders.devices import kernels_for_any_shape
from acidtest.zoo.pieces import MAX_LENGTH, PiecePairs, PieceReader

READER = PieceReader

PLAIN = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra", "distilbert"})
"""Encoders in which every token attends to every other, in all layers."""


class Network(nn.Module):
    """A sequence classifier of transformers; its weights are written as the library itself writes them."""

    def __init__(self, kept: Any) -> None:
        super().__init__()
        self.kept = kept
        self.layers = ("embeddings", *(f"layer {number + 1}" for number in range(kept.config.num_hidden_layers)))
        self.width = 2 * kept.config.hidden_size
        # Of a mask of pairs the library asks whether it is full, and waits for the device to tell; one of tokens by
        # tokens it takes as it is.
        plain = kept.config.model_type in PLAIN and getattr(kept.config, "_attn_implementation", "") == "sdpa"
        self._wide = plain and hasattr(sys.modules[type(kept).__module__], "create_bidirectional_mask")

    def forward(self, batch: PiecePairs) -> Tensor:
        """Scores of the labels."""
        scores: Tensor = self._answered(batch).logits
        return scores

    def states(self, batch: PiecePairs) -> Tensor:
        """float[layers, n, width]: for every layer, the greatest value over tokens joined with the first token's."""
        found = self._answered(batch, output_hidden_states=True)
        layers = torch.stack(found.get("hidden_states") or found["encoder_hidden_states"])
        there = layers
        if batch.mask is not None:
            there = layers.masked_fill(~batch.mask[..., None], -torch.inf)
        return torch.cat([there.amax(dim=2), layers[:, :, 0]], dim=2)

    def _answered(self, batch: PiecePairs, **asked: bool) -> Any:
        inputs = {"input_ids": batch.ids}
        if batch.types is not None:
            inputs["token_type_ids"] = batch.types
        if batch.mask is not None:
            inputs["attention_mask"] = batch.mask[:, None, None] if self._wide else batch.mask.long()
        with kernels_for_any_shape(batch.ids.device):
            return self.kept(**inputs, **asked)


def network(basis: Any, *, encoder: str = "", max_length: int = MAX_LENGTH) -> nn.Module:
    """The network; the reader has opened ``encoder`` and cuts pairs to ``max_length`` tokens."""
    del encoder, max_length
    return Network(basis)
