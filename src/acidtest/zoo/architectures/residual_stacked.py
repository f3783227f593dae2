"""Residual-stacked encoders (Nie and Bansal 2017, addendum), which Glockner et al. (2018) test.

Each BiLSTM reads the words and the sum of the states of all BiLSTMs below it.
"""

from __future__ import annotations

from torch import nn

from acidtest.zoo.architectures.shortcut_stacked import StackedNetwork
from acidtest.zoo.layers import Basis


def network(
    basis: Basis,
    *,
    hidden: int = 600,
    stacked: int = 3,
    layer: int = 800,
    depth: int = 1,
    dropout: float = 0.1,
) -> nn.Module:
    """The network; ``stacked`` BiLSTMs of ``hidden`` each direction, then ``depth`` layers of size ``layer``."""
    return StackedNetwork(
        basis.words, basis.labels, sizes=[hidden] * stacked, layers=[layer] * depth, dropout=dropout, residual=True
    )
