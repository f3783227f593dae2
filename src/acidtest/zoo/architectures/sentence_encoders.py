"""Networks that make one vector of each sentence and compare the two vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from acidtest.core.errors import AcidtestError
from acidtest.zoo.batches import SentencePairs, SentenceTensors
from acidtest.zoo.layers import (
    Basis,
    BiLSTM,
    attend,
    classifier_head,
    init_orthogonal,
    match_features,
    max_words,
    mean_words,
    perceptron,
    run_lstm,
    sum_words,
)

WIDTHS = (1, 3, 5)
"""The numbers of letters that convolutions see at once."""

GATE_PLACES = {"input": 0, "forget": 1, "output": 3}
"""The place of a gate's weights among those of an LSTM."""

Gate = Literal["input", "forget", "output"]


class SentenceEncoder(nn.Module):
    """Scores the vectors of premise and hypothesis, their difference (absolute unless ``signed``) and their product."""

    signed = False
    head: nn.Module

    def forward(self, batch: SentencePairs) -> Tensor:
        premise, hypothesis = self._encode(batch.premise), self._encode(batch.hypothesis)
        return self._score(match_features(premise, hypothesis, signed=self.signed))

    def _encode(self, sentence: SentenceTensors) -> Tensor:
        raise NotImplementedError

    def _score(self, pair: Tensor) -> Tensor:
        scores: Tensor = self.head(pair)
        return scores


class CBOWNetwork(SentenceEncoder):
    """Continuous bag of words (Williams et al. 2018): sums of word vectors, compared by layers of size ``hidden``."""

    signed = True

    def __init__(self, basis: Basis, *, hidden: int = 300, dropout: float = 0.1) -> None:
        super().__init__()
        self.words = basis.words
        self.dropout = nn.Dropout(dropout)
        self.layers = perceptron([4 * basis.words.size, hidden, hidden, hidden])
        self.label = nn.Linear(hidden, basis.labels)

    def _encode(self, sentence: SentenceTensors) -> Tensor:
        return sum_words(self.dropout(self.words(sentence)), sentence)

    def _score(self, pair: Tensor) -> Tensor:
        scores: Tensor = self.label(self.dropout(self.layers(pair)))
        return scores


class BiLSTMNetwork(SentenceEncoder):
    """The mean of the states of a BiLSTM, ``hidden`` in each direction (Nangia et al. 2017; Williams et al. 2018).

    One encoder reads both sentences, as in the papers; their released program has one for each.
    """

    signed = True

    def __init__(self, basis: Basis, *, hidden: int = 300, dropout: float = 0.1) -> None:
        super().__init__()
        self.words = basis.words
        self.dropout = nn.Dropout(dropout)
        self.encoder = BiLSTM(basis.words.size, hidden)
        self.head = classifier_head(4 * self.encoder.size, [hidden], basis.labels, dropout=dropout, input_dropout=0.0)

    def _encode(self, sentence: SentenceTensors) -> Tensor:
        return mean_words(self.encoder(self.dropout(self.words(sentence)), sentence), sentence)


class InferSentNetwork(SentenceEncoder):
    """InferSent (Conneau et al. 2017): the maximum over the states of a BiLSTM, ``hidden`` in each direction.

    One layer of size ``layer`` follows, as the paper says, with tanh, which the released program offers.
    """

    def __init__(self, basis: Basis, *, hidden: int = 2048, layer: int = 512, dropout: float = 0.0) -> None:
        super().__init__()
        self.words = basis.words
        self.encoder = BiLSTM(basis.words.size, hidden)
        self.head = classifier_head(4 * self.encoder.size, [layer], basis.labels, dropout=dropout, activation=nn.Tanh)

    def _encode(self, sentence: SentenceTensors) -> Tensor:
        return max_words(self.encoder(self.words(sentence), sentence), sentence)


class StackedNetwork(SentenceEncoder):
    """The maximum over the states of the last of stacked BiLSTMs (Nie and Bansal 2017).

    Each reads the words and the states of all BiLSTMs below it: their sum if ``residual``, for which they must have one
    size, otherwise side by side. Sentences are read whole; the authors cut them to 60 words.
    """

    def __init__(
        self, basis: Basis, *, sizes: Sequence[int], layers: Sequence[int], dropout: float, residual: bool
    ) -> None:
        super().__init__()
        self.words = basis.words
        self.residual = residual
        below = [0, *(2 * (sizes[0] if residual else sum(sizes[:depth])) for depth in range(1, len(sizes)))]
        self.encoders = nn.ModuleList(
            BiLSTM(basis.words.size + more, size) for more, size in zip(below, sizes, strict=True)
        )
        self.head = classifier_head(8 * sizes[-1], layers, basis.labels, dropout=dropout, input_dropout=0.0)

    def _encode(self, sentence: SentenceTensors) -> Tensor:
        words = self.words(sentence)
        states = list[Tensor]()
        for encoder in self.encoders:
            below = [torch.stack(states).sum(dim=0)] if self.residual and states else states
            states.append(encoder(torch.cat([words, *below], dim=-1), sentence))
        return max_words(states[-1], sentence)


def shortcut_stacked(
    basis: Basis,
    *,
    hidden: tuple[str, ...] = ("512", "1024", "2048"),
    layer: int = 1600,
    depth: int = 2,
    dropout: float = 0.1,
) -> nn.Module:
    """BiLSTMs whose sizes ``hidden`` gives bottom up, followed by ``depth`` layers of size ``layer``."""
    try:
        sizes = [int(size) for size in hidden]
    except ValueError as error:
        raise AcidtestError(f"--hidden takes whole numbers such as 512,1024,2048, not {','.join(hidden)}") from error
    if not sizes or min(sizes) < 1:
        raise AcidtestError("--hidden needs the size of at least one BiLSTM, such as 512,1024,2048")
    return StackedNetwork(basis, sizes=sizes, layers=[layer] * depth, dropout=dropout, residual=False)


def residual_stacked(
    basis: Basis, *, hidden: int = 600, stacked: int = 3, layer: int = 800, depth: int = 1, dropout: float = 0.1
) -> nn.Module:
    """``stacked`` BiLSTMs, ``hidden`` in each direction, then ``depth`` layers (Nie and Bansal 2017, addendum)."""
    return StackedNetwork(basis, sizes=[hidden] * stacked, layers=[layer] * depth, dropout=dropout, residual=True)


class InnerAttention(nn.Module):
    """A weighted mean of states; the weight of a state depends on it and on the mean of all (Liu et al. 2016)."""

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


class InnerAttentionNetwork(SentenceEncoder):
    """The model of the team Rivercorners (Balazs et al. 2017): one BiLSTM, and inner attention for each sentence.

    ``hidden`` is the size of each direction, ``layer`` that of the two layers before the labels. Letters are not
    read; the authors' program can read them, but does not by default.
    """

    def __init__(self, basis: Basis, *, hidden: int = 300, layer: int = 2000, dropout: float = 0.25) -> None:
        super().__init__()
        self.words = basis.words
        self.encoder = BiLSTM(basis.words.size, hidden)
        size = self.encoder.size
        self.of_premise, self.of_hypothesis = InnerAttention(size), InnerAttention(size)
        self.head = classifier_head(4 * size, [layer, layer], basis.labels, dropout=dropout, input_dropout=0.0)

    def forward(self, batch: SentencePairs) -> Tensor:
        premise = self.of_premise(self._encode(batch.premise), batch.premise)
        hypothesis = self.of_hypothesis(self._encode(batch.hypothesis), batch.hypothesis)
        return self._score(match_features(premise, hypothesis))

    def _encode(self, sentence: SentenceTensors) -> Tensor:
        states: Tensor = self.encoder(self.words(sentence), sentence)
        return states


class ConditionalNetwork(SentenceEncoder):
    """A BiLSTM over the hypothesis, started with the last state of one over the premise (Rocktäschel et al. 2016).

    ``hidden`` is the size of each direction, ``layer`` that of the three layers before the labels. Sanchez et al.
    (2018) say that word vectors are random, trained and of size 100; they leave out the size and kind of the layers,
    which here are those of Bowman et al. (2015): tanh.
    """

    def __init__(self, basis: Basis, *, hidden: int = 100, layer: int = 200, dropout: float = 0.1) -> None:
        super().__init__()
        self.words = basis.words
        self.dropout = nn.Dropout(dropout)
        self.of_premise = nn.LSTM(basis.words.size, hidden, batch_first=True, bidirectional=True)
        self.of_hypothesis = nn.LSTM(basis.words.size, hidden, batch_first=True, bidirectional=True)
        self.head = classifier_head(2 * hidden, [layer] * 3, basis.labels, dropout=dropout, activation=nn.Tanh)

    def forward(self, batch: SentencePairs) -> Tensor:
        premise = self.dropout(self.words(batch.premise))
        hypothesis = self.dropout(self.words(batch.hypothesis))
        _, state = run_lstm(self.of_premise, premise, batch.premise)
        _, ((forwards, backwards), _) = run_lstm(self.of_hypothesis, hypothesis, batch.hypothesis, state)
        return self._score(torch.cat([forwards, backwards], dim=1))


class LetterEncoder(nn.Module):
    """Encodes words by their letters: the maximum of each convolution over the word."""

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


class GatedNetwork(SentenceEncoder):
    """The sentence encoder with gated attention of Chen et al. (2017b), best of the RepEval 2017 shared task.

    ``stacked`` BiLSTMs, ``hidden`` in each direction, read word vectors and letters at every level; the ``gate`` of the
    last one weights the words. Letters are vectors of ``letters`` numbers, read by ``filters`` filters of each width.
    The ensemble of the shared task is several seeds of this. Words are in lower case, as everywhere in the zoo; the
    authors kept case.
    """

    reads_letters = True

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

    def _encode(self, sentence: SentenceTensors) -> Tensor:
        """Mean, maximum and gated mean of the states of the last BiLSTM."""
        words = self.dropout(torch.cat([self.words(sentence), self.spelling(sentence)], dim=-1))
        inputs, states = words, words
        for level, encoder in enumerate(self.encoders):
            inputs = torch.cat([states, words], dim=-1) if level else words
            states = encoder(inputs, sentence)
        assert isinstance(encoder, BiLSTM)
        gates = gate_values(encoder, inputs, states, self.gate)
        weights = (1 - gates if self.gate == "forget" else gates).float().norm(dim=-1, keepdim=True)
        gated = sum_words(states * weights, sentence) / sum_words(weights, sentence)
        return torch.cat([mean_words(states, sentence), max_words(states, sentence), gated], dim=1)

    def _score(self, pair: Tensor) -> Tensor:
        first = self.dropout(self.first(pair).relu())
        second = self.dropout(self.second(torch.cat([pair, first], dim=1)).relu())
        scores: Tensor = self.label(second)
        return scores
