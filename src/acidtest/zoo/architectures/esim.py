"""ESIM (Chen et al. 2017), the sequential variant: BiLSTMs before and after words are aligned.

AllenNLP's version, which McCoy et al. (2019) train, has a ReLU before the labels where Chen et al. have tanh, drops the
same dimensions of all words of a sentence, and starts from other weights.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from acidtest.zoo.batches import SentencePairs, SentenceTensors
from acidtest.zoo.layers import (
    Basis,
    BiLSTM,
    WordVectors,
    attend,
    classifier_head,
    init_orthogonal,
    match_features,
    max_words,
    mean_words,
    perceptron,
)

Version = Literal["chen", "allennlp"]


class SentenceDropout(nn.Dropout):
    """Dropout of the same dimensions of all words of a sentence."""

    def forward(self, values: Tensor) -> Tensor:
        """float[n, words, size]."""
        return values * super().forward(torch.ones_like(values[:, :1]))


class ESIMNetwork(nn.Module):
    """Encode, align, enhance, compose, pool.

    KIM adds ``knowledge`` further numbers to each word, and pools in three ways instead of two ``poolings``.
    """

    def __init__(
        self,
        words: WordVectors,
        labels: int,
        *,
        hidden: int,
        dropout: float,
        version: Version = "chen",
        knowledge: int = 0,
        poolings: int = 2,
    ) -> None:
        super().__init__()
        original = version == "chen"
        self.words = words
        self.dropout = nn.Dropout(dropout) if original else SentenceDropout(dropout)
        self.encoder = BiLSTM(words.size, hidden)
        self.project = perceptron([4 * self.encoder.size + knowledge, hidden])
        self.composer = BiLSTM(hidden + knowledge, hidden)
        activation = nn.Tanh if original else nn.ReLU
        pooled = 2 * poolings * self.composer.size
        self.head = classifier_head(pooled, [hidden], labels, dropout=dropout, activation=activation)
        initialise = init_orthogonal if original else init_like_allennlp
        initialise(self)

    def forward(self, batch: SentencePairs) -> Tensor:
        premise, hypothesis = self.encode(batch.premise), self.encode(batch.hypothesis)
        weights = premise @ hypothesis.transpose(1, 2)
        pooled = [
            self._compose(premise, attend(weights, hypothesis, batch.hypothesis.mask), batch.premise),
            self._compose(hypothesis, attend(weights.transpose(1, 2), premise, batch.premise.mask), batch.hypothesis),
        ]
        scores: Tensor = self.head(torch.cat(pooled, dim=1))
        return scores

    def encode(self, sentence: SentenceTensors) -> Tensor:
        """The states of the first BiLSTM."""
        states: Tensor = self.encoder(self.dropout(self.words(sentence)), sentence)
        return states

    def _compose(self, values: Tensor, aligned: Tensor, sentence: SentenceTensors) -> Tensor:
        enhanced = self.project(match_features(values, aligned, signed=True))
        states = self.composer(self.dropout(enhanced), sentence)
        return torch.cat([mean_words(states, sentence), max_words(states, sentence)], dim=1)


def init_like_allennlp(network: nn.Module) -> None:
    """Glorot's rule, except for the state weights of LSTMs, which are orthogonal, and forget gates, which are open."""
    for part in network.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight)
            nn.init.zeros_(part.bias)
        elif isinstance(part, nn.LSTM):
            for input_weight, state_weight, *biases in part.all_weights:
                nn.init.xavier_uniform_(input_weight)
                nn.init.orthogonal_(state_weight)
                for bias in biases:
                    nn.init.zeros_(bias)
                nn.init.ones_(biases[1].data.chunk(4)[1])


def network(basis: Basis, *, hidden: int = 300, dropout: float = 0.5, version: Version = "chen") -> nn.Module:
    """The network; ``hidden`` is the size of each direction, ``version`` the program it follows."""
    return ESIMNetwork(basis.words, basis.labels, hidden=hidden, dropout=dropout, version=version)
