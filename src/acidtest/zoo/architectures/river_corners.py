"""The model of the team Rivercorners (Balazs et al. 2017): the mean state of a BiLSTM says which states to look at.

That is the inner attention of Liu et al. (2016), with weights of its own for premise and hypothesis. Words are not
spelled out; the authors' program can, and does not unless asked.
"""

from __future__ import annotations

from torch import Tensor, nn

from acidtest.zoo.layers import Basis, Encoder, Words, attended, averaged, head, matched
from acidtest.zoo.sentences import Sentence, SentencePairs


class InnerAttention(nn.Module):
    """States weighed by what they have to do with their mean."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.of_state = nn.Linear(size, size, bias=False)
        self.of_mean = nn.Linear(size, size, bias=False)
        self.weight = nn.Linear(size, 1, bias=False)

    def forward(self, states: Tensor, sentence: Sentence) -> Tensor:
        """float[n, size]: one vector for each sentence."""
        mean = averaged(states, sentence)
        scores = self.weight((self.of_state(states) + self.of_mean(mean)[:, None]).tanh())
        return attended(scores.transpose(1, 2), states, sentence.mask)[:, 0]


class Network(nn.Module):
    """Sentences refined by inner attention, compared by a perceptron."""

    def __init__(self, words: Words, labels: int, *, hidden: int, layer: int, dropout: float) -> None:
        super().__init__()
        self.words = words
        self.encoder = Encoder(words.size, hidden)
        self.of_premise = InnerAttention(self.encoder.size)
        self.of_hypothesis = InnerAttention(self.encoder.size)
        self.head = head(4 * self.encoder.size, [layer, layer], labels, dropout=dropout, entry=0.0)

    def forward(self, batch: SentencePairs) -> Tensor:
        """Scores of the labels."""
        premise = self.of_premise(self._encoded(batch.premise), batch.premise)
        hypothesis = self.of_hypothesis(self._encoded(batch.hypothesis), batch.hypothesis)
        scores: Tensor = self.head(matched(premise, hypothesis))
        return scores

    def _encoded(self, sentence: Sentence) -> Tensor:
        states: Tensor = self.encoder(self.words(sentence), sentence)
        return states


def network(basis: Basis, *, hidden: int = 300, layer: int = 2000, dropout: float = 0.25) -> nn.Module:
    """The network; ``hidden`` is the size of each direction, ``layer`` that of the two layers before the labels."""
    return Network(basis.words, basis.labels, hidden=hidden, layer=layer, dropout=dropout)
