"""KIM (Chen et al. 2018): ESIM that is told what WordNet says of the words it aligns.

Related words attract each other (``knowledge`` is the paper's λ), each word is given what is known of those it is
aligned to, and a third pooling weighs words by that. As in the authors' code, what is known is added once more to what
the second BiLSTM reads; that code's script leaves λ and the third pooling out, the paper has both.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from acidtest.zoo.knowledge import FEATURES, SWAPPED, feature_table
from acidtest.zoo.knowledge import knowledge as word_knowledge
from acidtest.zoo.layers import Basis, Encoder, Words, averaged, greatest, perceptron
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


class Network(nn.Module):
    """ESIM's steps, each with what is known of the words."""

    def __init__(self, words: Words, labels: int, relations: Relations, *, hidden: int, lift: float, drop: float):
        super().__init__()
        self.words = words
        self.relations = relations
        self.dropout = nn.Dropout(drop)
        self.encoder = Encoder(words.size, hidden)
        self.project = perceptron([4 * self.encoder.size + len(FEATURES), hidden])
        self.composer = Encoder(hidden + len(FEATURES), hidden)
        self.weigh = perceptron([len(FEATURES), 1])
        self.head = nn.Sequential(
            nn.Dropout(drop),
            nn.Linear(6 * self.composer.size, hidden),
            nn.Tanh(),
            nn.Dropout(drop),
            nn.Linear(hidden, labels),
        )
        self._lift = lift

    def forward(self, batch: SentencePairs) -> Tensor:
        """Scores of the labels."""
        first, second = self._encoded(batch.premise), self._encoded(batch.hypothesis)
        known = self.relations(batch)
        scores = first @ second.transpose(1, 2) + self._lift * (known != 0).any(dim=-1)
        to_second = _weights(scores, batch.hypothesis)
        to_first = _weights(scores.transpose(1, 2), batch.premise)
        of_first = torch.einsum("nph,nphk->npk", to_second, known)
        of_second = torch.einsum("nhp,nphk->nhk", to_first, known).index_select(-1, self.relations.swapped)
        pooled = [
            self._composed(first, to_second @ second, of_first, batch.premise),
            self._composed(second, to_first @ first, of_second, batch.hypothesis),
        ]
        found: Tensor = self.head(torch.cat(pooled, dim=1))
        return found

    def _encoded(self, sentence: Sentence) -> Tensor:
        found: Tensor = self.encoder(self.dropout(self.words(sentence)), sentence)
        return found

    def _composed(self, values: Tensor, aligned: Tensor, known: Tensor, sentence: Sentence) -> Tensor:
        enhanced = torch.cat([values, aligned, values - aligned, values * aligned, known], dim=-1)
        states = self.composer(torch.cat([self.dropout(self.project(enhanced)), known], dim=-1), sentence)
        weighed = _weights(self.weigh(known).transpose(1, 2), sentence) @ states
        return torch.cat([averaged(states, sentence), greatest(states, sentence), weighed[:, 0]], dim=1)


def _weights(scores: Tensor, sentence: Sentence) -> Tensor:
    """Scores of words as shares that are 1 together, over those that are there."""
    return scores.masked_fill(~sentence.mask[:, None], -torch.inf).softmax(dim=-1)


def network(basis: Basis, *, hidden: int = 300, knowledge: float = 1.0, dropout: float = 0.5) -> nn.Module:
    """The network; ``knowledge`` is how much related words attract each other, ``hidden`` the size of a direction."""
    relations = Relations(basis.vocabulary)
    return Network(basis.words, basis.labels, relations, hidden=hidden, lift=knowledge, drop=dropout)
