"""InferSent (Conneau et al. 2017): the maximum over the states of a wide BiLSTM, compared by a perceptron.

The perceptron has one hidden layer, as the paper says, with tanh, which the released program offers.
"""

from __future__ import annotations

from torch import Tensor, nn

from acidtest.zoo.batches import SentencePairs, SentenceTensors
from acidtest.zoo.layers import Basis, BiLSTM, classifier_head, match_features, max_words


class InferSentNetwork(nn.Module):
    """Sentences as the maximum over the states of a BiLSTM.

    ``hidden`` is the size of each direction, ``layer`` that of the layer before the labels.
    """

    def __init__(self, basis: Basis, *, hidden: int = 2048, layer: int = 512, dropout: float = 0.0) -> None:
        super().__init__()
        self.words = basis.words
        self.encoder = BiLSTM(basis.words.size, hidden)
        self.head = classifier_head(4 * self.encoder.size, [layer], basis.labels, dropout=dropout, activation=nn.Tanh)

    def forward(self, batch: SentencePairs) -> Tensor:
        scores: Tensor = self.head(match_features(self._encode(batch.premise), self._encode(batch.hypothesis)))
        return scores

    def _encode(self, sentence: SentenceTensors) -> Tensor:
        return max_words(self.encoder(self.words(sentence), sentence), sentence)


network = InferSentNetwork
