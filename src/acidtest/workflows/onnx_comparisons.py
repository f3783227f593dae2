"""Comparisons of an exported model with the original; separate from the exporter, which imports more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from acidtest.core.errors import AcidtestError


@dataclass(frozen=True)
class GraphComparison:
    """A graph of an export compared with the checkpoint on some pairs.

    ``difference`` is the largest between any two probabilities, ``equal`` the share of pairs with the same likeliest
    label.
    """

    file: str
    bytes: int
    difference: float
    equal: float


class UnfaithfulError(AcidtestError):
    """An export that answers differently from the checkpoint; nothing of it is kept."""

    def __init__(self, message: str, graphs: Sequence[GraphComparison]) -> None:
        super().__init__(message)
        self.graphs = tuple(graphs)
