"""Decomposable attention (Parikh et al. 2016): words are aligned, compared and summed, regardless of their order.

As the papers use it: word vectors are projected, every sentence has an extra null word to align to, and there is no
attention within a sentence. Initial weights follow Glorot and dropout follows each layer, as in AllenNLP's version,
which McCoy et al. (2019) and Glockner et al. (2018) train. That version has one layer less before the labels, and does
not normalise word vectors to length one. Parikh et al. start from weights of deviation 0.01, which takes many more
steps, and do not say where dropout is applied.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from acidtest.zoo.batches import SentencePairs, SentenceTensors
from acidtest.zoo.layers import Basis, attend


class DecomposableNetwork(nn.Module):
    """Attend, compare, aggregate.

    ``hidden`` is the size of all layers, of which ``depth`` come after words are summed. ``normalized`` words have
    vectors of length one.
    """

    def __init__(
        self, basis: Basis, *, hidden: int = 200, depth: int = 2, dropout: float = 0.2, normalized: bool = True
    ) -> None:
        super().__init__()
        self.words = words = basis.words
        self.normalized = normalized
        # The null word is like a word that no file has: its vector is random, and tuned only where others are.
        vector = torch.randn(words.size) * float(words.table.weight.detach().std())
        self.nothing = nn.Parameter(vector, requires_grad=words.table.weight.requires_grad)
        self.project = nn.Linear(words.size, hidden, bias=False)
        self.attend = _layers([hidden, hidden, hidden], dropout)
        self.compare = _layers([2 * hidden, hidden, hidden], dropout)
        self.aggregate = _layers([2 * hidden, *[hidden] * depth], dropout)
        self.label = nn.Linear(hidden, basis.labels)
        for part in self.modules():
            if isinstance(part, nn.Linear):
                nn.init.xavier_normal_(part.weight)

    def forward(self, batch: SentencePairs) -> Tensor:
        premise, premise_mask = self._project(batch.premise)
        hypothesis, hypothesis_mask = self._project(batch.hypothesis)
        weights = self.attend(premise) @ self.attend(hypothesis).transpose(1, 2)
        compared = [
            self._compare(premise, attend(weights, hypothesis, hypothesis_mask), premise_mask),
            self._compare(hypothesis, attend(weights.transpose(1, 2), premise, premise_mask), hypothesis_mask),
        ]
        scores: Tensor = self.label(self.aggregate(torch.cat(compared, dim=1)))
        return scores

    def _project(self, sentence: SentenceTensors) -> tuple[Tensor, Tensor]:
        """The projected vectors of the null word and the words, and their mask."""
        words = self.words(sentence)
        words = torch.cat([self.nothing.expand(len(words), 1, -1), words], dim=1)
        values = self.project(nn.functional.normalize(words, dim=-1) if self.normalized else words)
        return values, torch.cat([sentence.mask.new_ones(len(words), 1), sentence.mask], dim=1)

    def _compare(self, values: Tensor, aligned: Tensor, mask: Tensor) -> Tensor:
        total: Tensor = (self.compare(torch.cat([values, aligned], dim=-1)) * mask[..., None]).sum(dim=1)
        return total


def _layers(sizes: Sequence[int], dropout: float) -> nn.Sequential:
    """Linear layers of these sizes, each followed by an activation and dropout."""
    steps = [(nn.Linear(inner, outer), nn.ReLU(), nn.Dropout(dropout)) for inner, outer in pairwise(sizes)]
    return nn.Sequential(*(part for step in steps for part in step))


network = DecomposableNetwork
