"""Decomposable attention (Parikh et al. 2016): words aligned, compared and summed, without their order.

As the papers use it: word vectors are projected, sentences begin with a word of nothing that may be aligned to, and
there is no attention within a sentence. Weights begin by Glorot's rule, as in AllenNLP's version, which McCoy et al.
(2019) and Glockner et al. (2018) train and which does not bring word vectors to length one; Parikh et al. do, and begin
with weights of deviation 0.01, which takes many more steps.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from acidtest.zoo.layers import Basis, Words, attended, perceptron
from acidtest.zoo.sentences import Sentence, SentencePairs


class Network(nn.Module):
    """Attend, compare, aggregate."""

    def __init__(self, words: Words, labels: int, *, hidden: int, dropout: float, normalized: bool) -> None:
        super().__init__()
        self.words = words
        self.normalized = normalized
        self.nothing = nn.Parameter(torch.randn(hidden) * 0.01)
        self.project = nn.Linear(words.size, hidden, bias=False)
        self.attend = perceptron([hidden, hidden, hidden], dropout=dropout)
        self.compare = perceptron([2 * hidden, hidden, hidden], dropout=dropout)
        self.aggregate = perceptron([2 * hidden, hidden, hidden], dropout=dropout)
        self.label = nn.Linear(hidden, labels)
        for part in self.modules():
            if isinstance(part, nn.Linear):
                nn.init.xavier_normal_(part.weight)

    def forward(self, batch: SentencePairs) -> Tensor:
        """Scores of the labels."""
        first, first_mask = self._projected(batch.premise)
        second, second_mask = self._projected(batch.hypothesis)
        scores = self.attend(first) @ self.attend(second).transpose(1, 2)
        of_first = self._compared(first, attended(scores, second, second_mask), first_mask)
        of_second = self._compared(second, attended(scores.transpose(1, 2), first, first_mask), second_mask)
        found: Tensor = self.label(self.aggregate(torch.cat([of_first, of_second], dim=1)))
        return found

    def _projected(self, sentence: Sentence) -> tuple[Tensor, Tensor]:
        words = self.words(sentence)
        values = self.project(nn.functional.normalize(words, dim=-1) if self.normalized else words)
        nothing = self.nothing.to(values.dtype).expand(len(values), 1, -1)
        there = sentence.mask.new_ones(len(values), 1)
        return torch.cat([nothing, values], dim=1), torch.cat([there, sentence.mask], dim=1)

    def _compared(self, values: Tensor, aligned: Tensor, mask: Tensor) -> Tensor:
        found: Tensor = (self.compare(torch.cat([values, aligned], dim=-1)) * mask[..., None]).sum(dim=1)
        return found


def network(basis: Basis, *, hidden: int = 200, dropout: float = 0.2, normalized: bool = True) -> nn.Module:
    """The network; ``hidden`` is the size of all its layers, ``normalized`` words have vectors of length one."""
    return Network(basis.words, basis.labels, hidden=hidden, dropout=dropout, normalized=normalized)
