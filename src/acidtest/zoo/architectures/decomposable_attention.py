"""Decomposable attention (Parikh et al. 2016): words aligned, compared and summed, without their order.

As the papers use it: word vectors are projected, sentences have one more word, of nothing, that may be aligned to, and
there is no attention within a sentence. Weights begin by Glorot's rule and what layers say is thinned out, as in
AllenNLP's version, which McCoy et al. (2019) and Glockner et al. (2018) train. That version has one layer less before
the labels, and does not bring word vectors to length one. Parikh et al. begin with weights of deviation 0.01, which
takes many more steps, and do not say what is thinned out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from acidtest.zoo.layers import Basis, Words, attended
from acidtest.zoo.sentences import Sentence, SentencePairs


class Network(nn.Module):
    """Attend, compare, aggregate."""

    def __init__(self, words: Words, labels: int, *, hidden: int, depth: int, dropout: float, normalized: bool) -> None:
        super().__init__()
        self.words = words
        self.normalized = normalized
        # Like a word that no file has: its vector is drawn, and learnt only where those of other words are.
        drawn = torch.randn(words.size) * float(words.table.weight.detach().std())
        self.nothing = nn.Parameter(drawn, requires_grad=words.table.weight.requires_grad)
        self.project = nn.Linear(words.size, hidden, bias=False)
        self.attend = _layers([hidden, hidden, hidden], dropout)
        self.compare = _layers([2 * hidden, hidden, hidden], dropout)
        self.aggregate = _layers([2 * hidden, *[hidden] * depth], dropout)
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
        words = torch.cat([self.nothing.expand(len(words), 1, -1), words], dim=1)
        there = sentence.mask.new_ones(len(words), 1)
        values = self.project(nn.functional.normalize(words, dim=-1) if self.normalized else words)
        return values, torch.cat([there, sentence.mask], dim=1)

    def _compared(self, values: Tensor, aligned: Tensor, mask: Tensor) -> Tensor:
        found: Tensor = (self.compare(torch.cat([values, aligned], dim=-1)) * mask[..., None]).sum(dim=1)
        return found


def _layers(sizes: Sequence[int], dropout: float) -> nn.Sequential:
    """Layers of these sizes, each but the first followed by an activation and thinned out."""
    steps = [(nn.Linear(*each), nn.ReLU(), nn.Dropout(dropout)) for each in pairwise(sizes)]
    return nn.Sequential(*(part for step in steps for part in step))


def network(
    basis: Basis, *, hidden: int = 200, depth: int = 2, dropout: float = 0.2, normalized: bool = True
) -> nn.Module:
    """The network; ``hidden`` is the size of all its layers, of which ``depth`` come after words are summed.

    ``normalized`` words have vectors of length one.
    """
    return Network(basis.words, basis.labels, hidden=hidden, depth=depth, dropout=dropout, normalized=normalized)
