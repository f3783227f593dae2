"""The continuous bag of words of Williams et al. (2018): sentences are sums of word vectors."""

from __future__ import annotations

from torch import Tensor, nn

from acidtest.zoo.layers import Basis, Words, matched, perceptron, summed
from acidtest.zoo.sentences import Sentence, SentencePairs


class Network(nn.Module):
    """Sums of word vectors, compared by three layers."""

    def __init__(self, words: Words, labels: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.words = words
        self.dropout = nn.Dropout(dropout)
        self.layers = perceptron([4 * words.size, hidden, hidden, hidden])
        self.label = nn.Linear(hidden, labels)

    def forward(self, batch: SentencePairs) -> Tensor:
        """Scores of the labels."""
        pair = matched(self._encoded(batch.premise), self._encoded(batch.hypothesis), signed=True)
        scores: Tensor = self.label(self.dropout(self.layers(pair)))
        return scores

    def _encoded(self, sentence: Sentence) -> Tensor:
        return summed(self.dropout(self.words(sentence)), sentence)


def network(basis: Basis, *, hidden: int = 300, dropout: float = 0.1) -> nn.Module:
    """The network; ``hidden`` is the size of its three layers."""
    return Network(basis.words, basis.labels, hidden, dropout)
