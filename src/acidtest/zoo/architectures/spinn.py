"""SPINN-PI-NT (Bowman et al. 2016): a TreeLSTM along given binary parses, without the LSTM that tracks the stack.

What the paper's stack does word by word is done here for all phrases of one height at once, which gives the same
states. As in the paper, words are projected to the state and memory of a leaf, sentences are compared by their states,
their difference and product, and batch normalisation and dropout follow the projection and surround the layers of the
classifier.
"""

from __future__ import annotations

from collections import defaultdict

import torch
from torch import Tensor, nn

from acidtest.zoo.layers import Basis, match_features
from acidtest.zoo.trees import Forest, TreePairs, TreeReader, Unparsed

READER = TreeReader


class TreeCell(nn.Module):
    """Joins the states and memories of two parts to those of a phrase (Tai et al. 2015)."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.gates = nn.Linear(2 * hidden, 5 * hidden)
        with torch.no_grad():
            # Forget gates start open.
            self.gates.bias.zero_()
            self.gates.bias[hidden : 3 * hidden] = 1

    def forward(self, parts: Tensor) -> Tensor:
        """float[n, state and memory] of float[n, left and right, state and memory]."""
        states, memories = parts.chunk(2, dim=2)
        gates, new = self.gates(states.flatten(1)).float().tensor_split([4 * memories.shape[2]], dim=1)
        enter, left, right, leave = gates.sigmoid().chunk(4, dim=1)
        memory = left * memories[:, 0] + right * memories[:, 1] + enter * new.tanh()
        return torch.cat([leave * memory.tanh(), memory], dim=1)


class BatchNorm(nn.BatchNorm1d):
    """Batch normalisation that uses the running statistics for a batch of one row."""

    def forward(self, values: Tensor) -> Tensor:
        if self.training and len(values) > 1:
            return super().forward(values)
        return nn.functional.batch_norm(
            values, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
        )


class SPINNNetwork(nn.Module):
    """Leaves, phrases, classifier.

    ``hidden`` is the size of a state, ``layer`` that of the two layers of the classifier. ``unparsed`` is the reader's:
    pairs without a parse are refused, or read as trees that branch to the right.
    """

    def __init__(
        self,
        basis: Basis,
        *,
        hidden: int = 300,
        layer: int = 1024,
        leaf_dropout: float = 0.17,
        dropout: float = 0.06,
        unparsed: Unparsed = "refuse",
    ) -> None:
        super().__init__()
        del unparsed
        self.words = words = basis.words
        self.leaves = nn.Sequential(nn.Linear(words.size, 2 * hidden), BatchNorm(2 * hidden), nn.Dropout(leaf_dropout))
        self.cell = TreeCell(hidden)
        steps: list[nn.Module] = [BatchNorm(4 * hidden), nn.Dropout(dropout)]
        for size in (4 * hidden, layer):
            steps += [nn.Linear(size, layer), nn.ReLU(), BatchNorm(layer), nn.Dropout(dropout)]
        self.head = nn.Sequential(*steps, nn.Linear(layer, basis.labels))

    def forward(self, batch: TreePairs) -> Tensor:
        premise, hypothesis = self.root_states(batch.forest).chunk(2)
        scores: Tensor = self.head(match_features(premise, hypothesis, signed=True))
        return scores

    def root_states(self, forest: Forest) -> Tensor:
        """float[trees, state]: the states of whole trees."""
        nodes: Tensor = self.leaves(self.words.table(forest.words)).float()
        arriving = defaultdict[int, list[Tensor]](list)
        for height, (shares, parts) in enumerate(zip(forest.shares, forest.parts, strict=True), start=1):
            groups = nodes.split_with_sizes([count for _, count in shares])
            for group, (parent_height, _) in zip(groups, shares, strict=True):
                arriving[parent_height].append(group)
            taken = torch.cat(arriving.pop(height)).index_select(0, parts)
            nodes = self.cell(taken.view(-1, 2, taken.shape[1])) if height < len(forest.parts) else taken
        return nodes.chunk(2, dim=1)[0]


network = SPINNNetwork
