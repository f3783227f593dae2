"""The BiLSTM baseline of Nangia et al. (2017) and Williams et al. (2018): the mean of the states of one layer.

One encoder reads both sentences, as in the papers; their released program has one for each.
"""

from __future__ import annotations

from torch import Tensor, nn

from acidtest.zoo.batches import SentencePairs, SentenceTensors
from acidtest.zoo.layers import Basis, BiLSTM, classifier_head, match_features, mean_words


class BiLSTMNetwork(nn.Module):
    """Sentences as the mean state of a BiLSTM, compared by one layer; ``hidden`` is the size of each direction."""

    def __init__(self, basis: Basis, *, hidden: int = 300, dropout: float = 0.1) -> None:
        super().__init__()
        self.words = basis.words
        self.dropout = nn.Dropout(dropout)
        self.encoder = BiLSTM(basis.words.size, hidden)
        self.head = classifier_head(4 * self.encoder.size, [hidden], basis.labels, dropout=dropout, input_dropout=0.0)

    def forward(self, batch: SentencePairs) -> Tensor:
        pair = match_features(self._encode(batch.premise), self._encode(batch.hypothesis), signed=True)
        scores: Tensor = self.head(pair)
        return scores

    def _encode(self, sentence: SentenceTensors) -> Tensor:
        return mean_words(self.encoder(self.dropout(self.words(sentence)), sentence), sentence)


network = BiLSTMNetwork
