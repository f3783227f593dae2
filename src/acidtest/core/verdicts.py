"""Whether an answer is right, for two-way and three-way models and gold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError

Probabilities = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Collapse:
    """How probabilities become a verdict.

    ``argmax``: the likeliest label is in the gold set (ties go to the first of entailment, neutral, contradiction).
    ``sum``: the gold set holds more than half of the probability.
    ``threshold``: entailment is answered when its probability exceeds ``at``, else the likelier of the other two.
    """

    mode: str = "argmax"
    at: float | None = None

    @classmethod
    def parsed(cls, text: str) -> Collapse:
        """From ``argmax``, ``sum`` or ``threshold=0.7``."""
        mode, equals, number = text.partition("=")
        if mode in ("argmax", "sum") and not equals:
            return cls(mode)
        if mode == "threshold":
            try:
                at = float(number)
            except ValueError:
                at = -1.0
            if 0 <= at < 1:
                return cls(mode, at)
        raise AcidtestError(f"collapse {text!r} is not argmax, sum or threshold=T with 0 <= T < 1")

    def __str__(self) -> str:
        return self.mode if self.at is None else f"{self.mode}={self.at:g}"


def has_answer(probabilities: Probabilities) -> npt.NDArray[np.bool_]:
    """Which rows have an answer."""
    return ~np.asarray(np.isnan(probabilities).any(axis=1), dtype=np.bool_)


def answers(probabilities: Probabilities, collapse: Collapse) -> npt.NDArray[np.int8]:
    """The index of the label answered, -1 where there is none. Under ``sum`` it is the likeliest label."""
    filled = np.nan_to_num(probabilities, nan=-1.0)
    likeliest = filled.argmax(axis=1).astype(np.int8)
    if collapse.at is not None:
        other = (filled[:, 1:].argmax(axis=1) + 1).astype(np.int8)
        likeliest = np.where(filled[:, 0] > collapse.at, np.int8(0), other)
    return np.where(has_answer(probabilities), likeliest, np.int8(-1))


def verdicts(probabilities: Probabilities, gold: npt.NDArray[np.uint8], *, collapse: Collapse) -> npt.NDArray[np.bool_]:
    """Whether the answers are right; a row without an answer is wrong."""
    if collapse.mode == "sum":
        accepted = (gold[:, None] >> np.arange(3, dtype=np.uint8)) & 1
        mass = (probabilities.astype(np.float64) * accepted).sum(axis=1)
        return np.asarray(mass > 0.5, dtype=np.bool_)
    given = answers(probabilities, collapse)
    accepts = (gold >> np.maximum(given, 0).astype(np.uint8)) & 1
    return np.asarray((given >= 0) & (accepts == 1), dtype=np.bool_)
