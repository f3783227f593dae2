"""The sentence encoder with gated attention of Chen et al. (2017b), best of the RepEval 2017 shared task.

Words are vectors and spellings, which convolutions read; stacked BiLSTMs read the words again at every level; words
count by how far the last BiLSTM opens a gate for them. The ensemble of the shared task is several seeds of this.
Letters are those of words in lower case, as everywhere in the zoo; the authors kept case.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from acidtest.zoo.layers import Basis, Encoder, averaged, begin_orthogonal, greatest, matched, summed
from acidtest.zoo.sentences import Sentence, SentencePairs

READS_LETTERS = True

WIDTHS = (1, 3, 5)
"""How many letters a convolution sees at once."""

PLACES = {"input": 0, "forget": 1, "output": 3}
"""Where the weights of a gate lie among those of an LSTM."""

Gate = Literal["input", "forget", "output"]


class Spelling(nn.Module):
    """Words by their letters: the strongest answer of each filter anywhere in the word."""

    def __init__(self, letters: int, filters: int) -> None:
        super().__init__()
        self.table = nn.Embedding(256, letters, padding_idx=0)
        # Without a bias nothing comes of the places after the last letter.
        self.filters = nn.ModuleList(nn.Conv1d(letters, filters, width, bias=False) for width in WIDTHS)
        self.size = filters * len(WIDTHS)

    def forward(self, sentence: Sentence) -> Tensor:
        """float[n, words, size]."""
        assert sentence.letters is not None
        letters = self.table(sentence.letters.flatten(0, 1)).transpose(1, 2)
        found = torch.cat([each(letters).relu().amax(dim=2) for each in self.filters], dim=1)
        return found.view(*sentence.words.shape, self.size)


def gates(encoder: Encoder, inputs: Tensor, states: Tensor, gate: Gate) -> Tensor:
    """float[n, words, twice hidden]: how far a gate of the encoder is open, from what it read and what it said.

    What the library's LSTM keeps to itself follows from the state before each word (after it, for the direction that
    reads backwards), so that all words are done at once. States of what fills a sentence up must be nought.
    """
    size = encoder.size // 2
    rows = slice(PLACES[gate] * size, (PLACES[gate] + 1) * size)
    forwards, backwards = states.chunk(2, dim=-1)
    carried = (pad(forwards, (0, 0, 1, 0))[:, :-1], pad(backwards, (0, 0, 0, 1))[:, 1:])
    found = [
        linear(inputs, into[rows], bias[rows] + other[rows]) + linear(state, onward[rows])
        for state, (into, onward, bias, other) in zip(carried, encoder.lstm.all_weights, strict=True)
    ]
    return torch.cat(found, dim=-1).sigmoid()


class Network(nn.Module):
    """Sentences as mean, greatest and gated mean of the states of stacked BiLSTMs, compared by two layers."""

    def __init__(
        self, basis: Basis, spelling: Spelling, *, hidden: int, stacked: int, gate: Gate, dropout: float
    ) -> None:
        super().__init__()
        self.words = basis.words
        self.spelling = spelling
        self.gate = gate
        self.dropout = nn.Dropout(dropout)
        size = basis.words.size + spelling.size
        self.encoders = nn.ModuleList(Encoder(size + (2 * hidden if level else 0), hidden) for level in range(stacked))
        pair = 4 * 3 * 2 * hidden
        self.first = nn.Linear(pair, hidden)
        self.second = nn.Linear(pair + hidden, hidden)
        self.label = nn.Linear(hidden, basis.labels)
        begin_orthogonal(self)

    def forward(self, batch: SentencePairs) -> Tensor:
        """Scores of the labels."""
        pair = matched(self._encoded(batch.premise), self._encoded(batch.hypothesis))
        first = self.dropout(self.first(pair).relu())
        second = self.dropout(self.second(torch.cat([pair, first], dim=1)).relu())
        scores: Tensor = self.label(second)
        return scores

    def _encoded(self, sentence: Sentence) -> Tensor:
        words = self.dropout(torch.cat([self.words(sentence), self.spelling(sentence)], dim=-1))
        inputs, states = words, words
        for level, encoder in enumerate(self.encoders):
            inputs = torch.cat([states, words], dim=-1) if level else words
            states = encoder(inputs, sentence)
        attention = self._attention(inputs, states, sentence)
        return torch.cat([averaged(states, sentence), greatest(states, sentence), attention], dim=1)

    def _attention(self, inputs: Tensor, states: Tensor, sentence: Sentence) -> Tensor:
        """The mean state, weighed by the length of the gate's vector at each word."""
        last = self.encoders[-1]
        assert isinstance(last, Encoder)
        opened = gates(last, inputs, states, self.gate)
        weights = (1 - opened if self.gate == "forget" else opened).float().norm(dim=-1, keepdim=True)
        return summed(states * weights, sentence) / summed(weights, sentence)


def network(
    basis: Basis,
    *,
    hidden: int = 600,
    stacked: int = 3,
    gate: Gate = "input",
    letters: int = 15,
    filters: int = 100,
    dropout: float = 0.5,
) -> nn.Module:
    """The network; ``stacked`` BiLSTMs of ``hidden`` each direction, ``gate`` the one that weighs words.

    Letters are vectors of ``letters`` numbers, read by ``filters`` filters of each width.
    """
    spelling = Spelling(letters, filters)
    return Network(basis, spelling, hidden=hidden, stacked=stacked, gate=gate, dropout=dropout)
