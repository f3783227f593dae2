"""InferSent (Conneau et al. 2017): the greatest states of a wide BiLSTM, compared by a perceptron.

The perceptron has one hidden layer, as the paper says, of tanh, which the released program offers.
"""

from __future__ import annotations

from torch import Tensor, nn

from acidtest.zoo.layers import Basis, Encoder, Words, greatest, head, matched
from acidtest.zoo.sentences import Sentence, SentencePairs


class Network(nn.Module):
    """Sentences as the greatest value of each state of a BiLSTM."""

    def __init__(self, words: Words, labels: int, *, hidden: int, layer: int, dropout: float) -> None:
        super().__init__()
        self.words = words
        self.encoder = Encoder(words.size, hidden)
        self.head = head(4 * self.encoder.size, [layer], labels, dropout=dropout, activation=nn.Tanh)

    def forward(self, batch: SentencePairs) -> Tensor:
        """Scores of the labels."""
        scores: Tensor = self.head(matched(self._encoded(batch.premise), self._encoded(batch.hypothesis)))
        return scores

    def _encoded(self, sentence: Sentence) -> Tensor:
        return greatest(self.encoder(self.words(sentence), sentence), sentence)


def network(basis: Basis, *, hidden: int = 2048, layer: int = 512, dropout: float = 0.0) -> nn.Module:
    """The network; ``hidden`` is the size of each direction, ``layer`` that of the layer before the labels."""
    return Network(basis.words, basis.labels, hidden=hidden, layer=layer, dropout=dropout)
