"""ESIM (Chen et al. 2017), the sequential one: BiLSTMs before and after words are aligned."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from acidtest.zoo.layers import Basis, Encoder, Words, attended, averaged, begin_orthogonal, greatest, head, perceptron
from acidtest.zoo.sentences import Sentence, SentencePairs


class Network(nn.Module):
    """Encode, align, enhance, compose, pool."""

    def __init__(self, words: Words, labels: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.words = words
        self.dropout = nn.Dropout(dropout)
        self.encoder = Encoder(words.size, hidden)
        self.project = perceptron([4 * self.encoder.size, hidden])
        self.composer = Encoder(hidden, hidden)
        self.head = head(4 * self.composer.size, [hidden], labels, dropout=dropout, activation=nn.Tanh)
        begin_orthogonal(self)

    def forward(self, batch: SentencePairs) -> Tensor:
        """Scores of the labels."""
        first, second = self._encoded(batch.premise), self._encoded(batch.hypothesis)
        scores = first @ second.transpose(1, 2)
        of_first = self._composed(first, attended(scores, second, batch.hypothesis.mask), batch.premise)
        of_second = self._composed(
            second, attended(scores.transpose(1, 2), first, batch.premise.mask), batch.hypothesis
        )
        found: Tensor = self.head(torch.cat([of_first, of_second], dim=1))
        return found

    def _encoded(self, sentence: Sentence) -> Tensor:
        found: Tensor = self.encoder(self.dropout(self.words(sentence)), sentence)
        return found

    def _composed(self, values: Tensor, aligned: Tensor, sentence: Sentence) -> Tensor:
        enhanced = torch.cat([values, aligned, values - aligned, values * aligned], dim=-1)
        states = self.composer(self.dropout(self.project(enhanced)), sentence)
        return torch.cat([averaged(states, sentence), greatest(states, sentence)], dim=1)


def network(basis: Basis, *, hidden: int = 300, dropout: float = 0.5) -> nn.Module:
    """The network; ``hidden`` is the size of each direction."""
    return Network(basis.words, basis.labels, hidden, dropout)
