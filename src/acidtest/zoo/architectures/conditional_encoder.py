"""The conditional encoder of Sanchez et al. (2018): a BiLSTM that reads the hypothesis after the premise.

It starts from the last state of another BiLSTM over the premise, as in Rocktäschel et al. (2016). Sanchez et al. say
that word vectors are random, trained and of size 100, and that a perceptron of three layers follows; they leave out the
size and kind of the layers, which here are those of Bowman et al. (2015): tanh.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from acidtest.zoo.batches import SentencePairs
from acidtest.zoo.layers import Basis, classifier_head, run_lstm


class ConditionalNetwork(nn.Module):
    """One BiLSTM after the other, then a perceptron.

    ``hidden`` is the size of each direction, ``layer`` that of the three layers before the labels.
    """

    def __init__(self, basis: Basis, *, hidden: int = 100, layer: int = 200, dropout: float = 0.1) -> None:
        super().__init__()
        self.words = basis.words
        self.dropout = nn.Dropout(dropout)
        self.of_premise = nn.LSTM(basis.words.size, hidden, batch_first=True, bidirectional=True)
        self.of_hypothesis = nn.LSTM(basis.words.size, hidden, batch_first=True, bidirectional=True)
        self.head = classifier_head(2 * hidden, [layer] * 3, basis.labels, dropout=dropout, activation=nn.Tanh)

    def forward(self, batch: SentencePairs) -> Tensor:
        premise = self.dropout(self.words(batch.premise))
        hypothesis = self.dropout(self.words(batch.hypothesis))
        _, state = run_lstm(self.of_premise, premise, batch.premise)
        _, (ends, _) = run_lstm(self.of_hypothesis, hypothesis, batch.hypothesis, state)
        forwards, backwards = ends
        scores: Tensor = self.head(torch.cat([forwards, backwards], dim=1))
        return scores


network = ConditionalNetwork
