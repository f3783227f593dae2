"""Labels, gold sets, their spellings in files, and whether an answer is right.

Gold is a *set* of accepted labels. A set is a bit mask over the three labels, so one integer
operation decides whether an answer is right, whether the gold is two-way or three-way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError

Probabilities = npt.NDArray[np.float32]
"""float32[n, 3] in the order of ``LABELS``."""

LABELS = ("entailment", "neutral", "contradiction")
"""The order of the columns of every prediction."""

TWO_WAY_LABELS = ("entailment", "non-entailment")
"""What the first two columns mean for a two-way model; the third is 0."""

GOLD_MASKS: Mapping[str, int] = MappingProxyType(
    {
        "entailment": 0b001,
        "neutral": 0b010,
        "non-contradiction": 0b011,
        "contradiction": 0b100,
        "non-neutral": 0b101,
        "non-entailment": 0b110,
        "any": 0b111,
    }
)
"""The seven gold sets; bit *i* says that ``LABELS[i]`` is accepted."""

SPELLINGS: Mapping[str, str] = MappingProxyType(
    {
        **{name: name for name in GOLD_MASKS},
        "entails": "entailment",
        "entailed": "entailment",
        "e": "entailment",
        "yes": "entailment",
        "n": "neutral",
        "neutrals": "neutral",
        "unknown": "neutral",
        "c": "contradiction",
        "contradicts": "contradiction",
        "contradictory": "contradiction",
        "no": "contradiction",
        "non_entailment": "non-entailment",
        "nonentailment": "non-entailment",
        "not_entailment": "non-entailment",
        "not-entailment": "non-entailment",
        "not entailment": "non-entailment",
        "non entailment": "non-entailment",
        "not_contradiction": "non-contradiction",
        "not-contradiction": "non-contradiction",
        "not_neutral": "non-neutral",
        "not-neutral": "non-neutral",
        # Of claims and documents; the last six as in FEVER.
        **dict.fromkeys(("supported", "grounded", "consistent", "faithful"), "entailment"),
        **dict.fromkeys(("unsupported", "not supported", "not_supported", "not-supported"), "non-entailment"),
        **dict.fromkeys(("ungrounded", "inconsistent", "unfaithful", "hallucinated"), "non-entailment"),
        **dict.fromkeys(("supports", "support"), "entailment"),
        **dict.fromkeys(("refutes", "refuted"), "contradiction"),
        **dict.fromkeys(("not enough info", "not_enough_info"), "neutral"),
    }
)
"""Lower-cased spelling → name of the gold set."""

NO_GOLD = frozenset({"-", "-1", ""})
"""What files write where annotators reached no majority."""

NO_GOLD_NAME = "-"
"""Stands for missing gold where the name of a gold set is expected."""


def gold_name(spelling: str) -> str | None:
    """The name of the gold set that a spelling means, or None where it is unknown."""
    return SPELLINGS.get(spelling.strip().lower())


def gold_masks(names: npt.NDArray[np.str_] | list[str]) -> npt.NDArray[np.uint8]:
    """The bit mask of each gold set's name."""
    unique, index = np.unique(np.asarray(names, dtype=np.str_), return_inverse=True)
    return np.array([GOLD_MASKS[str(name)] for name in unique], dtype=np.uint8)[index]


def coarsen_gold(gold: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Gold for a two-way model: neutral and contradiction become one label, non-entailment."""
    other = (gold & 0b110) != 0
    return np.asarray((gold & 0b001) | np.where(other, 0b110, 0), dtype=np.uint8)


def one_hot(labels: list[str]) -> npt.NDArray[np.float32]:
    """Probability rows with 1 for the given label; ``non-entailment`` is written as neutral.

    Raises KeyError on any other string.
    """
    columns = {"entailment": 0, "neutral": 1, "contradiction": 2, "non-entailment": 1}
    index = np.array([columns[label] for label in labels], dtype=np.intp)
    return np.eye(3, dtype=np.float32)[index]


@dataclass(frozen=True, slots=True)
class Collapse:
    """The rule that turns probabilities into a verdict.

    ``argmax``: the likeliest label is in the gold set (ties go to the first of entailment, neutral, contradiction).
    ``sum``: the gold set holds more than half of the probability.
    ``threshold``: entailment is answered when its probability exceeds ``at``, else the likelier of the other two.
    """

    mode: str = "argmax"
    at: float | None = None

    @classmethod
    def parse(cls, text: str) -> Collapse:
        """Parse ``argmax``, ``sum`` or ``threshold=0.7``."""
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
    """Which rows have an answer, that is, no NaN."""
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
