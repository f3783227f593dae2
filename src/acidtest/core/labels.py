"""Labels, gold sets and the spellings of them that files use.

Gold is a *set* of accepted labels. A set is a bit mask over the three labels, so one integer
operation decides whether an answer is right, whether the gold is two-way or three-way.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

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
    }
)
"""Lower-cased spelling → name of the gold set."""

NO_GOLD = frozenset({"-", "-1", ""})
"""What files write where annotators reached no majority."""

NO_GOLD_NAME = "-"
"""The name for no gold where the name of a gold set is expected."""


def gold_name(spelling: str) -> str | None:
    """The gold set a spelling stands for, or None where it is unknown."""
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
    """Probability rows for hard three-way labels; ``non-entailment`` is written as neutral.

    Raises KeyError on any other string.
    """
    columns = {"entailment": 0, "neutral": 1, "contradiction": 2, "non-entailment": 1}
    index = np.array([columns[label] for label in labels], dtype=np.intp)
    return np.eye(3, dtype=np.float32)[index]
