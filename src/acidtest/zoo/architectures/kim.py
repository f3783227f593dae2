"""KIM (Chen et al. 2018): ESIM that is told what WordNet says of the words it aligns.

Related words attract each other (``knowledge`` is the paper's λ), each word is given what is known of those it is
aligned to, and a third pooling weighs words by that. As in the authors' code, what is known is added once more to what
the second BiLSTM reads; that code's script leaves λ and the third pooling out, the paper has both, and chooses λ by a
development set.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from acidtest.zoo.architectures import esim
from acidtest.zoo.knowledge import FEATURES, SWAPPED, feature_table
from acidtest.zoo.knowledge import knowledge as word_knowledge
from acidtest.zoo.layers import (
    Basis,
    Words,
    attended,
    averaged,
    begin_orthogonal,
    greatest,
    matched,
    perceptron,
    shares,
)
from acidtest.zoo.sentences import Sentence, SentencePairs
from acidtest.zoo.words import Vocabulary

_LAST = np.iinfo(np.int64).max


class Relations(nn.Module):
    """What WordNet says of every word of a premise and every word of a hypothesis, looked up on the device."""

    kinds: Tensor
    pairs: Tensor
    codes: Tensor
    features: Tensor
    swapped: Tensor

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        known = word_knowledge(vocabulary.words)
        self._size = known.size
        # What no pair is stands last, so that every pair has a place among them.
        told = {
            "kinds": known.kinds,
            "pairs": np.append(known.pairs, _LAST),
            "codes": np.append(known.codes, np.int16(0)),
            "features": feature_table(),
            "swapped": np.array(SWAPPED),
        }
        for name, values in told.items():
            self.register_buffer(name, torch.from_numpy(values), persistent=False)

    def forward(self, batch: SentencePairs) -> Tensor:
        """float[n, premise words, hypothesis words, features]."""
        first, second = self.kinds[batch.premise.words], self.kinds[batch.hypothesis.words]
        wanted = first[:, :, None] * self._size + second[:, None]
        places = torch.searchsorted(self.pairs, wanted)
        codes = torch.where(self.pairs[places] == wanted, self.codes[places], 0)
        return self.features[codes.long()]


class Network(esim.Network):
    """ESIM's steps, each with what is known of the words."""

    def __init__(self, words: Words, labels: int, relations: Relations, *, hidden: int, lift: float, dropout: float):
        super().__init__(words, labels, hidden=hidden, dropout=dropout, known=len(FEATURES), poolings=3)
        self.relations = relations
        self.weigh = perceptron([len(FEATURES), 1])
        begin_orthogonal(self.weigh)
        self._lift = lift

    def forward(self, batch: SentencePairs) -> Tensor:
        """Scores of the labels."""
        first, second = self.encoded(batch.premise), self.encoded(batch.hypothesis)
        known = self.relations(batch)
        scores = first @ second.transpose(1, 2) + self._lift * (known != 0).any(dim=-1)
        to_second = shares(scores, batch.hypothesis.mask)
        to_first = shares(scores.transpose(1, 2), batch.premise.mask)
        of_first = torch.einsum("nph,nphk->npk", to_second, known)
        of_second = torch.einsum("nhp,nphk->nhk", to_first, known).index_select(-1, self.relations.swapped)
        pooled = [
            self._told(first, to_second @ second, of_first, batch.premise),
            self._told(second, to_first @ first, of_second, batch.hypothesis),
        ]
        found: Tensor = self.head(torch.cat(pooled, dim=1))
        return found

    def _told(self, values: Tensor, aligned: Tensor, known: Tensor, sentence: Sentence) -> Tensor:
        """What is composed and pooled of a sentence of whose words something is known."""
        enhanced = self.project(torch.cat([matched(values, aligned, signed=True), known], dim=-1))
        states = self.composer(torch.cat([self.dropout(enhanced), known], dim=-1), sentence)
        weighed = attended(self.weigh(known).transpose(1, 2), states, sentence.mask)
        return torch.cat([averaged(states, sentence), greatest(states, sentence), weighed[:, 0]], dim=1)


def network(basis: Basis, *, hidden: int = 300, knowledge: float = 1.0, dropout: float = 0.5) -> nn.Module:
    """The network; ``knowledge`` is how much related words attract each other, ``hidden`` the size of a direction."""
    relations = Relations(basis.vocabulary)
    return Network(basis.words, basis.labels, relations, hidden=hidden, lift=knowledge, dropout=dropout)
