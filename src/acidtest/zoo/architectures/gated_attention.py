"""The sentence encoder with gated attention of Chen et al. (2017b), best of the RepEval 2017 shared task.

Words are vectors and spellings, which convolutions read; stacked BiLSTMs read the words again at every level; words
are weighted by a gate of the last BiLSTM. The ensemble of the shared task is several seeds of this. Letters are those
of words in lower case, as everywhere in the zoo; the authors kept case.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from acidtest.zoo.batches import SentencePairs, SentenceTensors
from acidtest.zoo.layers import Basis, BiLSTM, init_orthogonal, match_features, max_words, mean_words, sum_words

READS_LETTERS = True

WIDTHS = (1, 3, 5)
"""The numbers of letters that convolutions see at once."""

GATE_PLACES = {"input": 0, "forget": 1, "output": 3}
"""The place of a gate's weights among those of an LSTM."""

Gate = Literal["input", "forget", "output"]


class LetterEncoder(nn.Module):
    """Words by their letters: the maximum of each convolution over the word."""

    def __init__(self, letters: int, filters: int) -> None:
        super().__init__()
        self.table = nn.Embedding(256, letters, padding_idx=0)
        # Without a bias, the places after the last letter give zero.
        self.filters = nn.ModuleList(nn.Conv1d(letters, filters, width, bias=False) for width in WIDTHS)
        self.size = filters * len(WIDTHS)

    def forward(self, sentence: SentenceTensors) -> Tensor:
        """float[n, words, size]."""
        assert sentence.letters is not None
        letters = self.table(sentence.letters.flatten(0, 1)).transpose(1, 2)
        values = torch.cat([convolve(letters).relu().amax(dim=2) for convolve in self.filters], dim=1)
        return values.view(*sentence.words.shape, self.size)


def gate_values(encoder: BiLSTM, inputs: Tensor, states: Tensor, gate: Gate) -> Tensor:
    """float[n, words, 2 * hidden]: how far a gate of the encoder is open at each word.

    The library's LSTM does not return its gates, but they follow from its input and the state before each word (after
    it, for the backward direction), so all words are computed at once. States of padding must be zero.
    """
    size = encoder.size // 2
    rows = slice(GATE_PLACES[gate] * size, (GATE_PLACES[gate] + 1) * size)
    forwards, backwards = states.chunk(2, dim=-1)
    previous = (pad(forwards, (0, 0, 1, 0))[:, :-1], pad(backwards, (0, 0, 0, 1))[:, 1:])
    values = [
        linear(inputs, input_weight[rows], bias[rows] + other_bias[rows]) + linear(state, state_weight[rows])
        for state, (input_weight, state_weight, bias, other_bias) in zip(
            previous, encoder.lstm.all_weights, strict=True
        )
    ]
    return torch.cat(values, dim=-1).sigmoid()


class GatedNetwork(nn.Module):
    """Sentences as mean, maximum and gated mean of the states of stacked BiLSTMs, compared by two layers.

    ``stacked`` BiLSTMs have ``hidden`` states each direction; ``gate`` weighs words. Letters are vectors of ``letters``
    numbers, read by ``filters`` filters of each width.
    """

    def __init__(
        self,
        basis: Basis,
        *,
        hidden: int = 600,
        stacked: int = 3,
        gate: Gate = "input",
        letters: int = 15,
        filters: int = 100,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.words = basis.words
        self.spelling = LetterEncoder(letters, filters)
        self.gate = gate
        self.dropout = nn.Dropout(dropout)
        size = basis.words.size + self.spelling.size
        self.encoders = nn.ModuleList(BiLSTM(size + (2 * hidden if level else 0), hidden) for level in range(stacked))
        pair = 4 * 3 * 2 * hidden
        self.first = nn.Linear(pair, hidden)
        self.second = nn.Linear(pair + hidden, hidden)
        self.label = nn.Linear(hidden, basis.labels)
        init_orthogonal(self)

    def forward(self, batch: SentencePairs) -> Tensor:
        pair = match_features(self._encode(batch.premise), self._encode(batch.hypothesis))
        first = self.dropout(self.first(pair).relu())
        second = self.dropout(self.second(torch.cat([pair, first], dim=1)).relu())
        scores: Tensor = self.label(second)
        return scores

    def _encode(self, sentence: SentenceTensors) -> Tensor:
        words = self.dropout(torch.cat([self.words(sentence), self.spelling(sentence)], dim=-1))
        inputs, states = words, words
        for level, encoder in enumerate(self.encoders):
            inputs = torch.cat([states, words], dim=-1) if level else words
            states = encoder(inputs, sentence)
        gated = self._gated_mean(inputs, states, sentence)
        return torch.cat([mean_words(states, sentence), max_words(states, sentence), gated], dim=1)

    def _gated_mean(self, inputs: Tensor, states: Tensor, sentence: SentenceTensors) -> Tensor:
        """The mean state, each word weighted by the norm of the gate there."""
        last = self.encoders[-1]
        assert isinstance(last, BiLSTM)
        values = gate_values(last, inputs, states, self.gate)
        weights = (1 - values if self.gate == "forget" else values).float().norm(dim=-1, keepdim=True)
        return sum_words(states * weights, sentence) / sum_words(weights, sentence)


network = GatedNetwork
