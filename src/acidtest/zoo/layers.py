"""Pieces that several of the papers' networks are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from acidtest.zoo.sentences import Sentence
from acidtest.zoo.words import Vocabulary


class Words(nn.Module):
    """The vectors of words, learnt or given; given ones may be learnt further or stay as they are."""

    def __init__(self, vectors: Tensor, *, tuned: bool) -> None:
        super().__init__()
        self.table = nn.Embedding(len(vectors), vectors.shape[1], padding_idx=0, _weight=vectors, _freeze=not tuned)
        self.size = vectors.shape[1]

    def forward(self, sentence: Sentence) -> Tensor:
        """float[n, words, size]."""
        found: Tensor = self.table(sentence.words)
        return found


@dataclass(frozen=True)
class Basis:
    """What a network over words is built on: their vectors, how many labels it tells apart, the words themselves."""

    words: Words
    labels: int
    vocabulary: Vocabulary


def packed(values: Tensor, sentence: Sentence) -> PackedSequence:
    """The values of words without what fills sentences up, as LSTMs read them."""
    return pack_padded_sequence(values, sentence.counts, batch_first=True, enforce_sorted=False)


State = tuple[Tensor, Tensor]
"""Where an LSTM is: what it says, and its memory."""


def recurrent(
    lstm: nn.LSTM, inputs: Tensor, sentence: Sentence, state: State | None = None
) -> tuple[PackedSequence, State]:
    """What an LSTM says of every word, and where it ends; always in full precision."""
    # Autocast has cuDNN's LSTMs compute in float16, whichever type it is told. Its least number is 6e-8 and the loss is
    # not scaled, so that small gradients would become nought. In float32 cuDNN takes TF32 where the device has it.
    with torch.autocast(inputs.device.type, enabled=False):
        states, ends = lstm(packed(inputs.float(), sentence), state)
    return states, ends


class Encoder(nn.Module):
    """A bidirectional LSTM over sentences of different lengths; it says nothing of what fills them up."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(size, hidden, batch_first=True, bidirectional=True)
        self.size = 2 * hidden

    def forward(self, inputs: Tensor, sentence: Sentence) -> Tensor:
        """float[n, words, twice hidden]."""
        states, _ = recurrent(self.lstm, inputs, sentence)
        found: Tensor = pad_packed_sequence(states, batch_first=True, total_length=inputs.shape[1])[0]
        return found


def perceptron(sizes: Sequence[int], *, dropout: float = 0.0, activation: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    """Layers of these sizes, each but the first followed by an activation, each input thinned out."""
    steps = list[nn.Module]()
    for inside, outside in pairwise(sizes):
        steps += [nn.Dropout(dropout), nn.Linear(inside, outside), activation()]
    return nn.Sequential(*steps)


def head(
    size: int,
    hidden: Sequence[int],
    labels: int,
    *,
    dropout: float = 0.0,
    entry: float | None = None,
    activation: type[nn.Module] = nn.ReLU,
) -> nn.Sequential:
    """A perceptron that ends in a score for each label; ``entry`` is how much its own input is thinned out."""
    inside = perceptron([size, *hidden], dropout=dropout, activation=activation)
    if entry is not None:
        inside[0] = nn.Dropout(entry)
    return nn.Sequential(*inside, nn.Dropout(dropout), nn.Linear([size, *hidden][-1], labels))


def begin_orthogonal(network: nn.Module) -> None:
    """Let a network begin as Chen et al.'s programs for ESIM, KIM and gated attention do.

    All gates of LSTMs are orthogonal, both of what they carry on and of what they read, which is what the programs draw
    where the two are equally large, as with the papers' sizes. All other weights are normal with a deviation of 0.01,
    and all biases nought, those that keep a memory among them.
    """
    for part in network.modules():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=0.01)
            nn.init.zeros_(part.bias)
        elif isinstance(part, nn.LSTM):
            for into, onward, *biases in part.all_weights:
                for gate in (*into.data.chunk(4), *onward.data.chunk(4)):
                    nn.init.orthogonal_(gate)
                for bias in biases:
                    nn.init.zeros_(bias)


def summed(values: Tensor, sentence: Sentence) -> Tensor:
    """The sum over the words of each sentence."""
    return (values * sentence.mask[..., None]).sum(dim=1)


def averaged(values: Tensor, sentence: Sentence) -> Tensor:
    """The mean over the words of each sentence."""
    return summed(values, sentence) / sentence.lengths[:, None]


def greatest(values: Tensor, sentence: Sentence) -> Tensor:
    """The greatest value over the words of each sentence."""
    return values.masked_fill(~sentence.mask[..., None], -torch.inf).amax(dim=1)


def matched(first: Tensor, second: Tensor, *, signed: bool = False) -> Tensor:
    """Two vectors beside each other, with how far apart they are and their product (Mou et al. 2016)."""
    apart = first - second
    return torch.cat([first, second, apart if signed else apart.abs(), first * second], dim=-1)


def shares(scores: Tensor, mask: Tensor) -> Tensor:
    """The scores of each row as shares that are 1 together, over what is there."""
    return scores.masked_fill(~mask[:, None], -torch.inf).softmax(dim=-1)


def attended(scores: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """For each row of ``scores`` the mean of ``values`` that it weighs, over those that are there."""
    return shares(scores, mask) @ values
