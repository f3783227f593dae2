"""Shortcut-stacked encoders (Nie and Bansal 2017): each BiLSTM reads the words and the states of all BiLSTMs below it.

A sentence is the maximum over the states of the last one. Sentences are read whole; the authors cut them to 60 words.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from acidtest.core.errors import AcidtestError
from acidtest.zoo.batches import SentencePairs, SentenceTensors
from acidtest.zoo.layers import Basis, BiLSTM, WordVectors, classifier_head, match_features, max_words


class StackedNetwork(nn.Module):
    """Stacked BiLSTMs, compared by a perceptron.

    ``residual`` sums the states of the BiLSTMs below, which then have one size; otherwise they are concatenated.
    """

    def __init__(
        self,
        words: WordVectors,
        labels: int,
        *,
        sizes: Sequence[int],
        layers: Sequence[int],
        dropout: float,
        residual: bool,
    ) -> None:
        super().__init__()
        self.words = words
        self.residual = residual
        below = [0, *(2 * (sizes[0] if residual else sum(sizes[:depth])) for depth in range(1, len(sizes)))]
        self.encoders = nn.ModuleList(BiLSTM(words.size + more, size) for more, size in zip(below, sizes, strict=True))
        self.head = classifier_head(8 * sizes[-1], layers, labels, dropout=dropout, input_dropout=0.0)

    def forward(self, batch: SentencePairs) -> Tensor:
        scores: Tensor = self.head(match_features(self._encode(batch.premise), self._encode(batch.hypothesis)))
        return scores

    def _encode(self, sentence: SentenceTensors) -> Tensor:
        words = self.words(sentence)
        states = list[Tensor]()
        for encoder in self.encoders:
            below = [torch.stack(states).sum(dim=0)] if self.residual and states else states
            states.append(encoder(torch.cat([words, *below], dim=-1), sentence))
        return max_words(states[-1], sentence)


def network(
    basis: Basis,
    *,
    hidden: tuple[str, ...] = ("512", "1024", "2048"),
    layer: int = 1600,
    depth: int = 2,
    dropout: float = 0.1,
) -> nn.Module:
    """The network; ``hidden`` are the sizes of each direction, bottom up, followed by ``depth`` layers of ``layer``."""
    return StackedNetwork(
        basis.words, basis.labels, sizes=_sizes(hidden), layers=[layer] * depth, dropout=dropout, residual=False
    )


def _sizes(hidden: Sequence[str]) -> list[int]:
    try:
        sizes = [int(size) for size in hidden]
    except ValueError as error:
        raise AcidtestError(f"--hidden takes whole numbers such as 512,1024,2048, not {','.join(hidden)}") from error
    if not sizes or min(sizes) < 1:
        raise AcidtestError("--hidden needs the size of at least one BiLSTM, such as 512,1024,2048")
    return sizes
