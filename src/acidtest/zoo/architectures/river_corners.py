"""The model of the team Rivercorners (Balazs et al. 2017): attention over the states of a BiLSTM, guided by their mean.

That is the inner attention of Liu et al. (2016), with separate weights for premise and hypothesis. Words are not
spelled; the authors' program can do so, but not by default.
"""

from __future__ import annotations

from torch import Tensor, nn

from acidtest.zoo.batches import SentencePairs, SentenceTensors
from acidtest.zoo.layers import Basis, BiLSTM, attend, classifier_head, match_features, mean_words


class InnerAttention(nn.Module):
    """A weighted mean of states; the weight of a state depends on it and on the mean of all."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.of_state = nn.Linear(size, size, bias=False)
        self.of_mean = nn.Linear(size, size, bias=False)
        self.weight = nn.Linear(size, 1, bias=False)

    def forward(self, states: Tensor, sentence: SentenceTensors) -> Tensor:
        """float[n, size]: one vector for each sentence."""
        mean = mean_words(states, sentence)
        scores = self.weight((self.of_state(states) + self.of_mean(mean)[:, None]).tanh())
        return attend(scores.transpose(1, 2), states, sentence.mask)[:, 0]


class InnerAttentionNetwork(nn.Module):
    """Sentences by inner attention, compared by a perceptron.

    ``hidden`` is the size of each direction, ``layer`` that of the two layers before the labels.
    """

    def __init__(self, basis: Basis, *, hidden: int = 300, layer: int = 2000, dropout: float = 0.25) -> None:
        super().__init__()
        self.words = basis.words
        self.encoder = BiLSTM(basis.words.size, hidden)
        self.of_premise = InnerAttention(self.encoder.size)
        self.of_hypothesis = InnerAttention(self.encoder.size)
        size, labels = self.encoder.size, basis.labels
        self.head = classifier_head(4 * size, [layer, layer], labels, dropout=dropout, input_dropout=0.0)

    def forward(self, batch: SentencePairs) -> Tensor:
        premise = self.of_premise(self._encode(batch.premise), batch.premise)
        hypothesis = self.of_hypothesis(self._encode(batch.hypothesis), batch.hypothesis)
        scores: Tensor = self.head(match_features(premise, hypothesis))
        return scores

    def _encode(self, sentence: SentenceTensors) -> Tensor:
        states: Tensor = self.encoder(self.words(sentence), sentence)
        return states


network = InnerAttentionNetwork
