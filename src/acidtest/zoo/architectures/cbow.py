"""The continuous bag of words of Williams et al. (2018): sentences are sums of word vectors."""

from __future__ import annotations

from torch import Tensor, nn

from acidtest.zoo.batches import SentencePairs, SentenceTensors
from acidtest.zoo.layers import Basis, match_features, perceptron, sum_words


class CBOWNetwork(nn.Module):
    """Sums of word vectors, compared by three layers of size ``hidden``."""

    def __init__(self, basis: Basis, *, hidden: int = 300, dropout: float = 0.1) -> None:
        super().__init__()
        self.words = basis.words
        self.dropout = nn.Dropout(dropout)
        self.layers = perceptron([4 * basis.words.size, hidden, hidden, hidden])
        self.label = nn.Linear(hidden, basis.labels)

    def forward(self, batch: SentencePairs) -> Tensor:
        pair = match_features(self._encode(batch.premise), self._encode(batch.hypothesis), signed=True)
        scores: Tensor = self.label(self.dropout(self.layers(pair)))
        return scores

    def _encode(self, sentence: SentenceTensors) -> Tensor:
        return sum_words(self.dropout(self.words(sentence)), sentence)


network = CBOWNetwork
