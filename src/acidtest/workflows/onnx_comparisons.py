"""How a model that was written in another format answers, beside what it answered before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from acidtest.core.errors import AcidtestError
from acidtest.core.model import Probabilities


@dataclass(frozen=True)
class Comparison:
    """One file of an export, and how its answers lie to the model's own on the pairs that both were asked.

    ``difference`` is the largest of any probability, ``equal`` the share of pairs with the same likeliest label.
    """

    file: str
    bytes: int
    difference: float
    equal: float


class UnfaithfulError(AcidtestError):
    """An export that does not answer what the model answers; nothing of it is kept."""

    def __init__(self, message: str, graphs: Sequence[Comparison]) -> None:
        super().__init__(message)
        self.graphs = tuple(graphs)


def compared(answers: Probabilities, expected: Probabilities, *, file: str, size: int) -> Comparison:
    """The comparison of two tables of answers to the same pairs."""
    difference = float(np.abs(answers - expected).max())
    equal = float(np.mean(answers.argmax(axis=1) == expected.argmax(axis=1)))
    return Comparison(file, size, difference, equal)
