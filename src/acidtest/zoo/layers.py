"""Layers that several of the papers' networks share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from acidtest.zoo.batches import SentenceTensors, WordVocabulary


class WordVectors(nn.Module):
    """The vectors of words, which are trained further when ``tuned`` and stay as they are otherwise."""

    def __init__(self, vectors: Tensor, *, tuned: bool) -> None:
        super().__init__()
        self.table = nn.Embedding(len(vectors), vectors.shape[1], padding_idx=0, _weight=vectors, _freeze=not tuned)
        self.size = vectors.shape[1]

    def forward(self, sentence: SentenceTensors) -> Tensor:
        """float[n, words, size]."""
        vectors: Tensor = self.table(sentence.words)
        return vectors


@dataclass(frozen=True)
class Basis:
    """What a network over words is built on: their vectors, the number of labels, and the vocabulary."""

    words: WordVectors
    labels: int
    vocabulary: WordVocabulary


LSTMState = tuple[Tensor, Tensor]
"""Hidden state and memory of an LSTM."""


def run_lstm(
    lstm: nn.LSTM, inputs: Tensor, sentence: SentenceTensors, state: LSTMState | None = None
) -> tuple[PackedSequence, LSTMState]:
    """The states of an LSTM at every word, and its state at the end; always computed in float32."""
    # Under autocast, cuDNN's LSTMs compute in float16 whatever type was chosen. Its least number is 6e-8 and the loss
    # is not scaled, so small gradients would become zero. In float32 cuDNN uses TF32 where the device has it.
    with torch.autocast(inputs.device.type, enabled=False):
        packed = pack_padded_sequence(inputs.float(), sentence.counts, batch_first=True, enforce_sorted=False)
        states, end = lstm(packed, state)
    return states, end


class BiLSTM(nn.Module):
    """A bidirectional LSTM over sentences of different lengths; padding gets zeros."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(size, hidden, batch_first=True, bidirectional=True)
        self.size = 2 * hidden

    def forward(self, inputs: Tensor, sentence: SentenceTensors) -> Tensor:
        """float[n, words, 2 * hidden]."""
        packed, _ = run_lstm(self.lstm, inputs, sentence)
        states: Tensor = pad_packed_sequence(packed, batch_first=True, total_length=inputs.shape[1])[0]
        return states


def perceptron(sizes: Sequence[int], *, dropout: float = 0.0, activation: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    """Linear layers of these sizes, each with dropout before it and an activation after it."""
    steps = list[nn.Module]()
    for inner, outer in pairwise(sizes):
        steps += [nn.Dropout(dropout), nn.Linear(inner, outer), activation()]
    return nn.Sequential(*steps)


def classifier_head(
    size: int,
    hidden: Sequence[int],
    labels: int,
    *,
    dropout: float = 0.0,
    input_dropout: float | None = None,
    activation: type[nn.Module] = nn.ReLU,
) -> nn.Sequential:
    """A perceptron that ends in a score for each label; ``input_dropout`` replaces ``dropout`` at its input."""
    layers = perceptron([size, *hidden], dropout=dropout, activation=activation)
    if input_dropout is not None:
        layers[0] = nn.Dropout(input_dropout)
    return nn.Sequential(*layers, nn.Dropout(dropout), nn.Linear([size, *hidden][-1], labels))


def init_orthogonal(network: nn.Module) -> None:
    """Initialise weights as Chen et al.'s programs for ESIM, KIM and gated attention do.

    The weights of every LSTM gate are orthogonal, for its input and for its state, as in the programs if the two have
    the same size, which they have in the papers. All other weights are normal with deviation 0.01, and all biases are
    zero, those of forget gates included.
    """
    for part in network.modules():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=0.01)
            nn.init.zeros_(part.bias)
        elif isinstance(part, nn.LSTM):
            for input_weight, state_weight, *biases in part.all_weights:
                for gate in (*input_weight.data.chunk(4), *state_weight.data.chunk(4)):
                    nn.init.orthogonal_(gate)
                for bias in biases:
                    nn.init.zeros_(bias)


def sum_words(values: Tensor, sentence: SentenceTensors) -> Tensor:
    return (values * sentence.mask[..., None]).sum(dim=1)


def mean_words(values: Tensor, sentence: SentenceTensors) -> Tensor:
    return sum_words(values, sentence) / sentence.lengths[:, None]


def max_words(values: Tensor, sentence: SentenceTensors) -> Tensor:
    return values.masked_fill(~sentence.mask[..., None], -torch.inf).amax(dim=1)


def match_features(first: Tensor, second: Tensor, *, signed: bool = False) -> Tensor:
    """Two vectors, their difference (absolute unless ``signed``) and their product, concatenated (Mou et al. 2016)."""
    difference = first - second
    return torch.cat([first, second, difference if signed else difference.abs(), first * second], dim=-1)


def attention_weights(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax of each row of scores over the places where ``mask`` is true."""
    return scores.masked_fill(~mask[:, None], -torch.inf).softmax(dim=-1)


def attend(scores: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """For each row of ``scores``, the mean of ``values`` weighted by its softmax, where ``mask`` is true."""
    return attention_weights(scores, mask) @ values
