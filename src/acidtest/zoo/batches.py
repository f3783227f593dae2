"""Pairs in batches of like length: which rows go together, in an order that seed and epoch decide."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from acidtest.core.draws import key, mixed

POOL = 64
"""Batches whose pairs are put in order of length together: long enough for little padding, short enough for chance."""

Ints = npt.NDArray[np.int64]
Targets = npt.NDArray[np.bool_]


class Batch(Protocol):
    """Some pairs as a network reads them: which they are, and which labels are right for them where that is known."""

    @property
    def rows(self) -> Ints:
        """Their rows."""

    @property
    def targets(self) -> torch.Tensor | None:
        """bool[pairs, labels]."""


class Inputs(ABC):
    """Pairs on a device, batch by batch; ``truncated`` says which had to be cut to fit."""

    def __init__(self, sizes: Ints, targets: Targets | None, device: torch.device) -> None:
        self.device = device
        self.truncated = np.zeros(len(sizes), dtype=np.bool_)
        self._sizes = sizes
        self._targets = None if targets is None else torch.from_numpy(targets).to(device)

    def __len__(self) -> int:
        return len(self._sizes)

    @abstractmethod
    def batch(self, rows: Ints) -> Any:
        """Some pairs, a ``Batch`` of the kind the network reads."""

    def targets(self, places: torch.Tensor) -> torch.Tensor | None:
        """Which labels are right for some rows."""
        return None if self._targets is None else self._targets[places]

    def ordered(self, size: int) -> Iterator[Any]:
        """All pairs, the longest first."""
        rows = np.argsort(-self._sizes, kind="stable")
        for start in range(0, len(rows), size):
            yield self.batch(rows[start : start + size])

    def shuffled(self, size: int, seed: int, epoch: int) -> list[Ints]:
        """The rows of the batches of an epoch, which depend on seed and epoch alone."""
        order = np.argsort(mixed(np.arange(len(self), dtype=np.uint64) + np.uint64(key(seed, "epoch", epoch))))
        batches = list[Any]()
        for start in range(0, len(order), size * POOL):
            pool = order[start : start + size * POOL]
            pool = pool[np.argsort(self._sizes[pool], kind="stable")]
            batches += [pool[first : first + size] for first in range(0, len(pool), size)]
        places = np.argsort(mixed(np.arange(len(batches), dtype=np.uint64) + np.uint64(key(seed, "batches", epoch))))
        return [batches[place] for place in places]
