"""Pairs on a device in batches of similar length; seed and epoch alone decide the order of training batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from acidtest.core.draws import key, mix_bits
from acidtest.zoo.words import PADDING, Texts

POOL = 64
"""Batches whose pairs are sorted by length together: enough for little padding, few enough to stay random."""

Ints = npt.NDArray[np.int64]
Targets = npt.NDArray[np.bool_]


class NetworkBatch(Protocol):
    """Pairs as a network reads them: their rows, and bool[pairs, labels] of right labels where they are known."""

    @property
    def rows(self) -> Ints: ...

    @property
    def targets(self) -> torch.Tensor | None: ...


class Inputs(ABC):
    """Pairs on a device, read batch by batch; ``truncated`` marks pairs that were cut to fit."""

    def __init__(self, sizes: Ints, targets: Targets | None, device: torch.device) -> None:
        self.device = device
        self.truncated = np.zeros(len(sizes), dtype=np.bool_)
        self._sizes = sizes
        self._targets = None if targets is None else torch.from_numpy(targets).to(device)

    def __len__(self) -> int:
        return len(self._sizes)

    @abstractmethod
    def batch(self, rows: Ints) -> Any:
        """The pairs of these rows, as the kind of ``NetworkBatch`` that the network reads."""

    def targets(self, rows: torch.Tensor) -> torch.Tensor | None:
        """Which labels are right for these rows."""
        return None if self._targets is None else self._targets[rows]

    def ordered(self, size: int) -> Iterator[Any]:
        """All pairs in batches of ``size``, the longest pairs first."""
        rows = np.argsort(-self._sizes, kind="stable")
        for start in range(0, len(rows), size):
            yield self.batch(rows[start : start + size])

    def shuffled(self, size: int, seed: int, epoch: int) -> list[Ints]:
        """The rows of each training batch of an epoch."""
        order = np.argsort(mix_bits(np.arange(len(self), dtype=np.uint64) + np.uint64(key(seed, "epoch", epoch))))
        batches = list[Any]()
        for start in range(0, len(order), size * POOL):
            pool = order[start : start + size * POOL]
            pool = pool[np.argsort(self._sizes[pool], kind="stable")]
            batches += [pool[first : first + size] for first in range(0, len(pool), size)]
        places = np.argsort(mix_bits(np.arange(len(batches), dtype=np.uint64) + np.uint64(key(seed, "batches", epoch))))
        return [batches[place] for place in places]


@dataclass(frozen=True)
class SentenceTensors:
    """Sentences padded to the longest: word numbers, which of them are words, and lengths.

    ``counts`` are the lengths on the processor, readable without waiting for the device. ``letters`` spell each word.
    """

    words: torch.Tensor
    mask: torch.Tensor
    lengths: torch.Tensor
    counts: torch.Tensor
    letters: torch.Tensor | None = None


@dataclass(frozen=True)
class SentencePairs:
    """A batch of pairs of sentences."""

    rows: Ints
    premise: SentenceTensors
    hypothesis: SentenceTensors
    targets: torch.Tensor | None = None


class TextColumn:
    """A column of texts, copied to a device once."""

    def __init__(self, texts: Texts, device: torch.device, *, spelled: bool) -> None:
        self.lengths = texts.lengths
        self._ids = torch.from_numpy(texts.ids).to(device)
        self._starts = torch.from_numpy(texts.starts).to(device)
        self._forms = torch.from_numpy(texts.forms).to(device) if spelled else None
        self._letters = torch.from_numpy(texts.letters).to(device) if spelled else None

    def sentences(self, rows: Ints, device_rows: torch.Tensor) -> SentenceTensors:
        """The texts of some rows, which are given both on the processor and on the device."""
        counts = self.lengths[rows]
        starts = self._starts[device_rows]
        lengths = self._starts[device_rows + 1] - starts
        columns = torch.arange(int(counts.max()), device=starts.device)
        mask = columns < lengths[:, None]
        places = (starts[:, None] + columns).clamp(max=len(self._ids) - 1)
        words = torch.where(mask, self._ids[places].long(), PADDING)
        letters = None
        if self._letters is not None and self._forms is not None:
            letters = self._letters[self._forms[places].long()].long() * mask[..., None]
        return SentenceTensors(words, mask, lengths, torch.from_numpy(counts), letters)


class SentenceInputs(Inputs):
    """Pairs of sentences on a device."""

    def __init__(
        self,
        premises: Texts,
        hypotheses: Texts,
        targets: Targets | None,
        *,
        device: torch.device,
        spelled: bool = False,
    ) -> None:
        super().__init__(np.asarray(premises.lengths + hypotheses.lengths), targets, device)
        self._premises = TextColumn(premises, device, spelled=spelled)
        self._hypotheses = TextColumn(hypotheses, device, spelled=spelled)

    def batch(self, rows: Ints) -> SentencePairs:
        device_rows = torch.from_numpy(rows).to(self.device, non_blocking=True)
        return SentencePairs(
            rows,
            self._premises.sentences(rows, device_rows),
            self._hypotheses.sentences(rows, device_rows),
            self.targets(device_rows),
        )
