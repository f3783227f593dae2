"""Pairs of sentences as tensors: the numbers of their words, and what else word networks read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from acidtest.zoo.batches import Inputs, Ints, Targets
from acidtest.zoo.words import PADDING, Texts


@dataclass(frozen=True)
class Sentence:
    """Sentences filled up to the longest: the numbers of their words, whether there is one, and how many there are.

    ``counts`` are the lengths where the processor can read them without waiting for the device. ``letters`` spell
    each word out.
    """

    words: torch.Tensor
    mask: torch.Tensor
    lengths: torch.Tensor
    counts: torch.Tensor
    letters: torch.Tensor | None = None


@dataclass(frozen=True)
class SentencePairs:
    """A batch: some pairs of sentences."""

    rows: Ints
    premise: Sentence
    hypothesis: Sentence
    targets: torch.Tensor | None = None


class Column:
    """A column of texts on a device, copied there once."""

    def __init__(self, texts: Texts, device: torch.device, *, spelled: bool) -> None:
        self.lengths = texts.lengths
        self._ids = torch.from_numpy(texts.ids).to(device)
        self._starts = torch.from_numpy(texts.starts).to(device)
        self._forms = torch.from_numpy(texts.forms).to(device) if spelled else None
        self._letters = torch.from_numpy(texts.letters).to(device) if spelled else None

    def sentences(self, rows: Ints, places: torch.Tensor) -> Sentence:
        """The texts of some rows, named to the processor and to the device."""
        counts = self.lengths[rows]
        starts = self._starts[places]
        lengths = self._starts[places + 1] - starts
        columns = torch.arange(int(counts.max()), device=starts.device)
        mask = columns < lengths[:, None]
        found = (starts[:, None] + columns).clamp(max=len(self._ids) - 1)
        words = torch.where(mask, self._ids[found].long(), PADDING)
        letters = None
        if self._letters is not None and self._forms is not None:
            letters = self._letters[self._forms[found].long()].long() * mask[..., None]
        return Sentence(words, mask, lengths, torch.from_numpy(counts), letters)


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
        self._premises = Column(premises, device, spelled=spelled)
        self._hypotheses = Column(hypotheses, device, spelled=spelled)

    def batch(self, rows: Ints) -> SentencePairs:
        """Some pairs."""
        places = torch.from_numpy(rows).to(self.device, non_blocking=True)
        return SentencePairs(
            rows,
            self._premises.sentences(rows, places),
            self._hypotheses.sentences(rows, places),
            self.targets(places),
        )
