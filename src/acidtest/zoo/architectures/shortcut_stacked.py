"""Shortcut-stacked encoders (Nie and Bansal 2017): each BiLSTM reads the words and what all BiLSTMs below it said.

The greatest states of the last one are the sentence. Sentences are read whole; the authors cut them to 60 words.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from acidtest.core.errors import AcidtestError
from acidtest.zoo.layers import Basis, Encoder, Words, greatest, head, matched
from acidtest.zoo.sentences import Sentence, SentencePairs


class Network(nn.Module):
    """Stacked BiLSTMs, compared by a perceptron; ``summed`` adds up what those below said, else it stands side by side.

    A sum is the residual variant, and needs BiLSTMs of one size.
    """

    def __init__(
        self, words: Words, labels: int, *, sizes: Sequence[int], layers: Sequence[int], dropout: float, summed: bool
    ) -> None:
        super().__init__()
        self.words = words
        self.summed = summed
        below = [0, *(2 * (sizes[0] if summed else sum(sizes[:depth])) for depth in range(1, len(sizes)))]
        self.encoders = nn.ModuleList(Encoder(words.size + more, size) for more, size in zip(below, sizes, strict=True))
        self.head = head(8 * sizes[-1], layers, labels, dropout=dropout, entry=0.0)

    def forward(self, batch: SentencePairs) -> Tensor:
        """Scores of the labels."""
        scores: Tensor = self.head(matched(self._encoded(batch.premise), self._encoded(batch.hypothesis)))
        return scores

    def _encoded(self, sentence: Sentence) -> Tensor:
        words = self.words(sentence)
        states = list[Tensor]()
        for encoder in self.encoders:
            below = [torch.stack(states).sum(dim=0)] if self.summed and states else states
            states.append(encoder(torch.cat([words, *below], dim=-1), sentence))
        return greatest(states[-1], sentence)


def network(
    basis: Basis,
    *,
    hidden: tuple[str, ...] = ("512", "1024", "2048"),
    layer: int = 1600,
    depth: int = 2,
    dropout: float = 0.1,
) -> nn.Module:
    """The network; ``hidden`` are the sizes of each direction, bottom up, followed by ``depth`` layers of ``layer``."""
    return Network(
        basis.words, basis.labels, sizes=_sizes(hidden), layers=[layer] * depth, dropout=dropout, summed=False
    )


def _sizes(hidden: Sequence[str]) -> list[int]:
    try:
        sizes = [int(size) for size in hidden]
    except ValueError as error:
        raise AcidtestError(f"--hidden takes whole numbers such as 512,1024,2048, not {','.join(hidden)}") from error
    if not sizes or min(sizes) < 1:
        raise AcidtestError("--hidden needs the size of at least one BiLSTM, such as 512,1024,2048")
    return sizes
