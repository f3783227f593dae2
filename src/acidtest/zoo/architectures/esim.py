"""ESIM (Chen et al. 2017), the sequential one: BiLSTMs before and after words are aligned.

AllenNLP's version, which McCoy et al. (2019) train, has a ReLU before the labels where Chen et al. have tanh, drops the
same numbers of all words of a sentence, and begins with other weights.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from acidtest.zoo.layers import (
    Basis,
    Encoder,
    Words,
    attended,
    averaged,
    begin_orthogonal,
    greatest,
    head,
    matched,
    perceptron,
)
from acidtest.zoo.sentences import Sentence, SentencePairs

Version = Literal["chen", "allennlp"]


class WholeDropout(nn.Dropout):
    """Dropout of the same numbers of all words of a sentence."""

    def forward(self, values: Tensor) -> Tensor:
        """The same shape, float[n, words, size]."""
        return values * super().forward(torch.ones_like(values[:, :1]))


class Network(nn.Module):
    """Encode, align, enhance, compose, pool; ``known`` numbers more of each word, pooled in ``poolings`` ways."""

    def __init__(
        self,
        words: Words,
        labels: int,
        *,
        hidden: int,
        dropout: float,
        version: Version = "chen",
        known: int = 0,
        poolings: int = 2,
    ) -> None:
        super().__init__()
        original = version == "chen"
        self.words = words
        self.dropout = nn.Dropout(dropout) if original else WholeDropout(dropout)
        self.encoder = Encoder(words.size, hidden)
        self.project = perceptron([4 * self.encoder.size + known, hidden])
        self.composer = Encoder(hidden + known, hidden)
        activation = nn.Tanh if original else nn.ReLU
        pooled = 2 * poolings * self.composer.size
        self.head = head(pooled, [hidden], labels, dropout=dropout, activation=activation)
        begin = begin_orthogonal if original else begin_as_allennlp
        begin(self)

    def forward(self, batch: SentencePairs) -> Tensor:
        """Scores of the labels."""
        first, second = self.encoded(batch.premise), self.encoded(batch.hypothesis)
        scores = first @ second.transpose(1, 2)
        of_first = self._composed(first, attended(scores, second, batch.hypothesis.mask), batch.premise)
        of_second = self._composed(
            second, attended(scores.transpose(1, 2), first, batch.premise.mask), batch.hypothesis
        )
        found: Tensor = self.head(torch.cat([of_first, of_second], dim=1))
        return found

    def encoded(self, sentence: Sentence) -> Tensor:
        """What the first BiLSTM says of each word."""
        found: Tensor = self.encoder(self.dropout(self.words(sentence)), sentence)
        return found

    def _composed(self, values: Tensor, aligned: Tensor, sentence: Sentence) -> Tensor:
        enhanced = self.project(matched(values, aligned, signed=True))
        states = self.composer(self.dropout(enhanced), sentence)
        return torch.cat([averaged(states, sentence), greatest(states, sentence)], dim=1)


def begin_as_allennlp(network: nn.Module) -> None:
    """Glorot's rule, but for what LSTMs carry on: the gates together begin orthogonal, and their memory open."""
    for part in network.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight)
            nn.init.zeros_(part.bias)
        elif isinstance(part, nn.LSTM):
            for into, onward, *biases in part.all_weights:
                nn.init.xavier_uniform_(into)
                nn.init.orthogonal_(onward)
                for bias in biases:
                    nn.init.zeros_(bias)
                nn.init.ones_(biases[1].data.chunk(4)[1])


def network(basis: Basis, *, hidden: int = 300, dropout: float = 0.5, version: Version = "chen") -> nn.Module:
    """The network; ``hidden`` is the size of each direction, ``version`` whose program it is like."""
    return Network(basis.words, basis.labels, hidden=hidden, dropout=dropout, version=version)
