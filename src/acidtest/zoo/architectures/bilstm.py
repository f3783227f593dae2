"""The BiLSTM baseline of Nangia et al. (2017) and Williams et al. (2018): mean of the states of one layer.

One encoder reads both sentences, as the papers have it; their released program has one for each.
"""

from __future__ import annotations

from torch import Tensor, nn

from acidtest.zoo.layers import Basis, Encoder, Words, averaged, head, matched
from acidtest.zoo.sentences import Sentence, SentencePairs


class Network(nn.Module):
    """Sentences as the mean state of a BiLSTM, compared by one layer."""

    def __init__(self, words: Words, labels: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.words = words
        self.dropout = nn.Dropout(dropout)
        self.encoder = Encoder(words.size, hidden)
        self.head = head(4 * self.encoder.size, [hidden], labels, dropout=dropout, entry=0.0)

    def forward(self, batch: SentencePairs) -> Tensor:
        """Scores of the labels."""
        pair = matched(self._encoded(batch.premise), self._encoded(batch.hypothesis), signed=True)
        scores: Tensor = self.head(pair)
        return scores

    def _encoded(self, sentence: Sentence) -> Tensor:
        return averaged(self.encoder(self.dropout(self.words(sentence)), sentence), sentence)


def network(basis: Basis, *, hidden: int = 300, dropout: float = 0.1) -> nn.Module:
    """The network; ``hidden`` is the size of each direction."""
    return Network(basis.words, basis.labels, hidden, dropout)
