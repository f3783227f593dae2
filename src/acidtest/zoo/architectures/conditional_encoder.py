"""The conditional encoder of Sanchez et al. (2018): a BiLSTM that reads the hypothesis in the light of the premise.

It begins where another BiLSTM, over the premise, ended, as in Rocktäschel et al. (2016). Sanchez et al. say that the
word vectors are random, learnt and of 100 numbers, and that a perceptron of three layers follows; the size and kind of
the layers, which they leave out, are those of Bowman et al. (2015): tanh.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from acidtest.zoo.layers import Basis, Words, head, recurrent
from acidtest.zoo.sentences import SentencePairs


class Network(nn.Module):
    """One BiLSTM after the other, then a perceptron."""

    def __init__(self, words: Words, labels: int, *, hidden: int, layer: int, dropout: float) -> None:
        super().__init__()
        self.words = words
        self.dropout = nn.Dropout(dropout)
        self.of_premise = nn.LSTM(words.size, hidden, batch_first=True, bidirectional=True)
        self.of_hypothesis = nn.LSTM(words.size, hidden, batch_first=True, bidirectional=True)
        self.head = head(2 * hidden, [layer] * 3, labels, dropout=dropout, activation=nn.Tanh)

    def forward(self, batch: SentencePairs) -> Tensor:
        """Scores of the labels."""
        premise, hypothesis = (self.dropout(self.words(each)) for each in (batch.premise, batch.hypothesis))
        _, state = recurrent(self.of_premise, premise, batch.premise)
        _, (ends, _) = recurrent(self.of_hypothesis, hypothesis, batch.hypothesis, state)
        forwards, backwards = ends
        scores: Tensor = self.head(torch.cat([forwards, backwards], dim=1))
        return scores


def network(basis: Basis, *, hidden: int = 100, layer: int = 200, dropout: float = 0.1) -> nn.Module:
    """The network; ``hidden`` is the size of each direction, ``layer`` that of the three layers before the labels."""
    return Network(basis.words, basis.labels, hidden=hidden, layer=layer, dropout=dropout)
