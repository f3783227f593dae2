"""Networks that align the words of premise and hypothesis: decomposable attention, and ESIM with BiLSTMs around it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn

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
)

Version = Literal["chen", "allennlp"]


class DecomposableNetwork(nn.Module):
    """Decomposable attention (Parikh et al. 2016): words are aligned, compared and summed, regardless of their order.

    ``hidden`` is the size of all layers, of which ``depth`` come after words are summed. ``normalized`` scales word
    vectors to length one. As the papers use it: word vectors are projected, every sentence has an extra null word to
    align to, and there is no attention within a sentence. Initial weights follow Glorot and dropout follows each layer,
    as in AllenNLP's version, which McCoy et al. (2019) and Glockner et al. (2018) train. That version has one layer
    less before the labels, and does not normalise word vectors. Parikh et al. draw initial weights with
    deviation 0.01, which takes many more steps, and do not say where dropout is applied.
    """

    def __init__(
        self, basis: Basis, *, hidden: int = 200, depth: int = 2, dropout: float = 0.2, normalized: bool = True
    ) -> None:
        super().__init__()
        self.words = words = basis.words
        self.normalized = normalized
        # The null word is like a word that no file has: its vector is random, and tuned only where others are.
        vector = torch.randn(words.size) * float(words.table.weight.detach().std())
        self.nothing = nn.Parameter(vector, requires_grad=words.table.weight.requires_grad)
        self.project = nn.Linear(words.size, hidden, bias=False)
        self.attend = _layers([hidden, hidden, hidden], dropout)
        self.compare = _layers([2 * hidden, hidden, hidden], dropout)
        self.aggregate = _layers([2 * hidden, *[hidden] * depth], dropout)
        self.label = nn.Linear(hidden, basis.labels)
        for part in self.modules():
            if isinstance(part, nn.Linear):
                nn.init.xavier_normal_(part.weight)

    def forward(self, batch: SentencePairs) -> Tensor:
        premise, premise_mask = self._project(batch.premise)
        hypothesis, hypothesis_mask = self._project(batch.hypothesis)
        weights = self.attend(premise) @ self.attend(hypothesis).transpose(1, 2)
        compared = [
            self._compare(premise, attend(weights, hypothesis, hypothesis_mask), premise_mask),
            self._compare(hypothesis, attend(weights.transpose(1, 2), premise, premise_mask), hypothesis_mask),
        ]
        scores: Tensor = self.label(self.aggregate(torch.cat(compared, dim=1)))
        return scores

    def _project(self, sentence: SentenceTensors) -> tuple[Tensor, Tensor]:
        """The projected vectors of the null word and the words, and their mask."""
        words = self.words(sentence)
        words = torch.cat([self.nothing.expand(len(words), 1, -1), words], dim=1)
        values = self.project(nn.functional.normalize(words, dim=-1) if self.normalized else words)
        return values, torch.cat([sentence.mask.new_ones(len(words), 1), sentence.mask], dim=1)

    def _compare(self, values: Tensor, aligned: Tensor, mask: Tensor) -> Tensor:
        total: Tensor = (self.compare(torch.cat([values, aligned], dim=-1)) * mask[..., None]).sum(dim=1)
        return total


def _layers(sizes: Sequence[int], dropout: float) -> nn.Sequential:
    """Linear layers of these sizes, each followed by an activation and dropout."""
    steps = [(nn.Linear(inner, outer), nn.ReLU(), nn.Dropout(dropout)) for inner, outer in pairwise(sizes)]
    return nn.Sequential(*(part for step in steps for part in step))


class SentenceDropout(nn.Dropout):
    """Drops the same dimensions of all words of a sentence."""

    def forward(self, values: Tensor) -> Tensor:
        """float[n, words, size]."""
        return values * super().forward(torch.ones_like(values[:, :1]))


class ESIMNetwork(nn.Module):
    """ESIM (Chen et al. 2017), the sequential variant: BiLSTMs before and after words are aligned.

    ``hidden`` is the size of each direction, ``version`` the program it follows: AllenNLP's, which McCoy et al. (2019)
    train, has a ReLU before the labels where Chen et al. have tanh, drops the same dimensions of all words of a
    sentence, and starts from other weights. KIM adds ``features`` further numbers to each word, and pools in one more
    way than the two ``poolings``.
    """

    features = 0
    poolings = 2

    def __init__(self, basis: Basis, *, hidden: int = 300, dropout: float = 0.5, version: Version = "chen") -> None:
        super().__init__()
        original = version == "chen"
        self.words = basis.words
        self.dropout = nn.Dropout(dropout) if original else SentenceDropout(dropout)
        self.encoder = BiLSTM(basis.words.size, hidden)
        self.project = perceptron([4 * self.encoder.size + self.features, hidden])
        self.composer = BiLSTM(hidden + self.features, hidden)
        activation = nn.Tanh if original else nn.ReLU
        pooled = 2 * self.poolings * self.composer.size
        self.head = classifier_head(pooled, [hidden], basis.labels, dropout=dropout, activation=activation)
        initialise = init_orthogonal if original else init_like_allennlp
        initialise(self)

    def forward(self, batch: SentencePairs) -> Tensor:
        premise, hypothesis = self.encode(batch.premise), self.encode(batch.hypothesis)
        weights = premise @ hypothesis.transpose(1, 2)
        pooled = [
            self._compose(premise, attend(weights, hypothesis, batch.hypothesis.mask), batch.premise),
            self._compose(hypothesis, attend(weights.transpose(1, 2), premise, batch.premise.mask), batch.hypothesis),
        ]
        scores: Tensor = self.head(torch.cat(pooled, dim=1))
        return scores

    def encode(self, sentence: SentenceTensors) -> Tensor:
        states: Tensor = self.encoder(self.dropout(self.words(sentence)), sentence)
        return states

    def _compose(self, values: Tensor, aligned: Tensor, sentence: SentenceTensors) -> Tensor:
        enhanced = self.project(match_features(values, aligned, signed=True))
        states = self.composer(self.dropout(enhanced), sentence)
        return torch.cat([mean_words(states, sentence), max_words(states, sentence)], dim=1)


def init_like_allennlp(network: nn.Module) -> None:
    """Initialise weights by Glorot's rule, state weights of LSTMs orthogonally, and biases of forget gates with 1."""
    for part in network.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight)
            nn.init.zeros_(part.bias)
        elif isinstance(part, nn.LSTM):
            for input_weight, state_weight, *biases in part.all_weights:
                nn.init.xavier_uniform_(input_weight)
                nn.init.orthogonal_(state_weight)
                for bias in biases:
                    nn.init.zeros_(bias)
                nn.init.ones_(biases[1].data.chunk(4)[1])
