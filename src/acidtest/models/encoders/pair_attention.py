"""Attention within pairs whose tokens lie end to end: in one kernel on CUDA devices, else for one length at a time."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from acidtest.core.extras import required
from acidtest.models.encoders.devices import on_device
from acidtest.models.encoders.token_batches import runs

Ints = npt.NDArray[np.int64]


class PairAttention(Protocol):
    """What tokens gather from the tokens of their own pair."""

    def of_all(self, projected: Any) -> Any:
        """What every token gathers, from queries, keys and values side by side."""

    def of_first(self, query: Any, projected: Any) -> Any:
        """What the first token of every pair gathers, from its query and all keys and values side by side."""


def pair_attention(hidden: Any, lengths: Ints, heads: int) -> PairAttention:
    """Attention for tokens like ``hidden`` of pairs that come shortest first."""
    kernel = _varlen()
    width = hidden.shape[1] // heads
    # What the kernel takes: half precision and whole steps of eight.
    if kernel and hidden.is_cuda and hidden.element_size() == 2 and width % 8 == 0 and width <= 256:
        return AtOnce(
            kernel, heads, _ends(lengths, hidden.device), _ends(np.ones_like(lengths), hidden.device), int(lengths[-1])
        )
    return ByLength(heads, lengths)


@dataclass(frozen=True)
class AtOnce:
    """All pairs in one kernel that is told where each ends."""

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
        asked = query.view(len(query), self.heads, -1)
        return self.kernel(asked, key, value, self.pairs, self.ends, 1, self.longest).flatten(1)


class ByLength:
    """The pairs of one length after the other."""

    def __init__(self, heads: int, lengths: Ints) -> None:
        (torch,) = required("torch")
        self._attention = torch.nn.functional.scaled_dot_product_attention
        self._heads = heads
        self._spans = []
        token = row = 0
        for length, count in runs(lengths):
            self._spans.append((slice(token, token + length * count), slice(row, row + count), count))
            token += length * count
            row += count

    def of_all(self, projected: Any) -> Any:
        result = projected.new_empty(len(projected), projected.shape[1] // 3)
        for tokens, _, count in self._spans:
            query, key, value = projected[tokens].view(count, -1, 3, self._heads, self._width(result)).unbind(2)
            found = self._attention(query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2))
            result[tokens].view(query.shape).copy_(found.transpose(1, 2))
        return result

    def of_first(self, query: Any, projected: Any) -> Any:
        result = query.new_empty(query.shape)
        for tokens, pairs, count in self._spans:
            key, value = projected[tokens].view(count, -1, 2, self._heads, self._width(result)).unbind(2)
            asked = query[pairs].view(count, 1, self._heads, -1).transpose(1, 2)
            result[pairs] = self._attention(asked, key.transpose(1, 2), value.transpose(1, 2)).reshape(count, -1)
        return result

    def _width(self, result: Any) -> int:
        return int(result.shape[1]) // self._heads


def _ends(lengths: Ints, device: Any) -> Any:
    """Where each of these ends, after a zero."""
    return on_device(np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)]), device).int()


@cache
def _varlen() -> Callable[..., Any] | None:
    """torch's attention over sequences of many lengths, from 2.10 on."""
    try:
        found: Callable[..., Any] = importlib.import_module("torch.nn.attention.varlen").varlen_attn
    except (ImportError, AttributeError):
        return None
    return found
