"""SPINN-PI-NT (Bowman et al. 2016): a TreeLSTM along given binary parses, without the LSTM that tracks the stack.

What its stack does word after word is done here for all phrases of one height at once, which gives the same states.
As in the paper words are projected to the state and memory of a leaf, sentences are compared by their states, their
difference and product, and batch normalisation and dropout stand after the projection and around the layers of the
classifier.
"""

from __future__ import annotations

from collections import defaultdict

import torch
from torch import Tensor, nn

from acidtest.zoo.forests import Forest, TreePairs, TreeReader
from acidtest.zoo.layers import Basis, Words, matched
from acidtest.zoo.trees import Unparsed

READER = TreeReader


class Cell(nn.Module):
    """Joins the states and memories of two parts to those of a phrase (Tai et al. 2015)."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.gates = nn.Linear(2 * hidden, 5 * hidden)
        with torch.no_grad():
            # At first nothing is forgotten.
            self.gates.bias.zero_()
            self.gates.bias[hidden : 3 * hidden] = 1

    def forward(self, parts: Tensor) -> Tensor:
        """float[n, state and memory] of float[n, left and right, state and memory]."""
        states, memories = parts.chunk(2, dim=2)
        gates, new = self.gates(states.flatten(1)).float().tensor_split([4 * memories.shape[2]], dim=1)
        enter, left, right, leave = gates.sigmoid().chunk(4, dim=1)
        memory = left * memories[:, 0] + right * memories[:, 1] + enter * new.tanh()
        return torch.cat([leave * memory.tanh(), memory], dim=1)


class Normal(nn.BatchNorm1d):
    """Batch normalisation, by what it has seen before where there is but one row."""

    def forward(self, values: Tensor) -> Tensor:
        """The same shape."""
        if self.training and len(values) > 1:
            return super().forward(values)
        return nn.functional.batch_norm(
            values, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
        )


class Network(nn.Module):
    """Leaves, phrases, classifier."""

    def __init__(
        self, words: Words, labels: int, *, hidden: int, layer: int, leaf_dropout: float, dropout: float
    ) -> None:
        super().__init__()
        self.words = words
        self.leaves = nn.Sequential(nn.Linear(words.size, 2 * hidden), Normal(2 * hidden), nn.Dropout(leaf_dropout))
        self.cell = Cell(hidden)
        steps: list[nn.Module] = [Normal(4 * hidden), nn.Dropout(dropout)]
        for size in (4 * hidden, layer):
            steps += [nn.Linear(size, layer), nn.ReLU(), Normal(layer), nn.Dropout(dropout)]
        self.head = nn.Sequential(*steps, nn.Linear(layer, labels))

    def forward(self, batch: TreePairs) -> Tensor:
        """Scores of the labels."""
        premise, hypothesis = self.tops(batch.forest).chunk(2)
        found: Tensor = self.head(matched(premise, hypothesis, signed=True))
        return found

    def tops(self, forest: Forest) -> Tensor:
        """float[trees, state]: the states of whole trees."""
        made: Tensor = self.leaves(self.words.table(forest.words)).float()
        coming = defaultdict[int, list[Tensor]](list)
        for height, (shares, parts) in enumerate(zip(forest.shares, forest.parts, strict=True), start=1):
            for nodes, (above, _) in zip(made.split_with_sizes([count for _, count in shares]), shares, strict=True):
                coming[above].append(nodes)
            taken = torch.cat(coming.pop(height)).index_select(0, parts)
            made = self.cell(taken.view(-1, 2, taken.shape[1])) if height < len(forest.parts) else taken
        return made.chunk(2, dim=1)[0]


def network(
    basis: Basis,
    *,
    hidden: int = 300,
    layer: int = 1024,
    leaf_dropout: float = 0.17,
    dropout: float = 0.06,
    unparsed: Unparsed = "refuse",
) -> nn.Module:
    """The network; ``hidden`` is the size of a state, ``layer`` that of the two layers of the classifier.

    ``unparsed`` is the reader's: what becomes of pairs without a parse, refuse or right (trees branch to the right).
    """
    del unparsed
    return Network(basis.words, basis.labels, hidden=hidden, layer=layer, leaf_dropout=leaf_dropout, dropout=dropout)
