"""Naive Bayes on bags of words (Joshi et al. 2020) and on how the words of both texts compare, fitted at once.

Words are a multinomial over the distinct words of premise and hypothesis, each with its side; every count is a
category of its own. Both are smoothed as Laplace did.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from acidtest.core.errors import AcidtestError
from acidtest.zoo.batches import Inputs
from acidtest.zoo.evidence import COMPARED, MOST, Evidence, EvidenceBasis, EvidenceReader

READER = EvidenceReader

FEATURES = ("words", "overlap")

_BATCH = 4096


class Network(nn.Module):
    """Log probabilities: of labels, of words given a label, of counts given a label."""

    prior: Tensor
    words: Tensor
    counts: Tensor

    def __init__(self, basis: EvidenceBasis, features: tuple[str, ...], smoothing: float) -> None:
        super().__init__()
        self.features = features
        self.smoothing = smoothing
        self.register_buffer("prior", torch.zeros(basis.labels))
        self.register_buffer("words", torch.zeros(1 + basis.words, basis.labels))
        self.register_buffer("counts", torch.zeros(len(COMPARED), MOST + 1, basis.labels))

    def forward(self, batch: Evidence) -> Tensor:
        """Log of the probability of label and features together."""
        scores = self.prior.expand(len(batch.counts), -1)
        if "words" in self.features:
            scores = scores + self.words[batch.words.words].sum(dim=1)
        if "overlap" in self.features:
            kinds = torch.arange(len(COMPARED), device=batch.counts.device)
            scores = scores + self.counts[kinds, batch.counts].sum(dim=1)
        return scores


def network(basis: EvidenceBasis, *, features: tuple[str, ...] = FEATURES, smoothing: float = 1.0) -> nn.Module:
    """The classifier; ``smoothing`` is what is added to every count before it is divided."""
    unknown = [name for name in features if name not in FEATURES]
    if unknown or not features:
        raise AcidtestError(f"naive-bayes: --features is {' or '.join(FEATURES)} or both, not {', '.join(features)!r}")
    if smoothing <= 0:
        raise AcidtestError(f"naive-bayes: --smoothing is {smoothing:g}; it is above 0")
    return Network(basis, tuple(features), smoothing)


def fitted(network: Network, inputs: Inputs) -> None:
    """Give the network the log probabilities of training pairs; one with several right labels is shared out to them."""
    prior, words, counts = (torch.zeros_like(part, dtype=torch.float64) for part in network.buffers())
    kinds = torch.arange(len(COMPARED), device=inputs.device) * (MOST + 1)
    for batch in inputs.ordered(_BATCH):
        right = batch.targets.double()
        right /= right.sum(dim=1, keepdim=True)
        prior += right.sum(dim=0)
        words.index_add_(0, batch.words.words.flatten(), right.repeat_interleave(batch.words.words.shape[1], dim=0))
        places = (kinds + batch.counts).flatten()
        counts.flatten(0, 1).index_add_(0, places, right.repeat_interleave(len(COMPARED), dim=0))
    network.prior.copy_(_logs(prior, network.smoothing, dim=0))
    # The first stands for no word, and says nothing.
    network.words[1:] = _logs(words[1:], network.smoothing, dim=0)
    network.counts.copy_(_logs(counts, network.smoothing, dim=1))


def _logs(counts: Tensor, smoothing: float, dim: int) -> Tensor:
    """The log of the share that each count has of all along a dimension."""
    counts = counts + smoothing
    return counts.log() - counts.sum(dim=dim, keepdim=True).log()
