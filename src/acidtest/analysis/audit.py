"""What a training set teaches: how often each heuristic would be right in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from acidtest.core.labels import GOLD_MASKS, masks
from acidtest.core.suite import PARSES, Suite
from acidtest.sources.heuristics import HEURISTICS, heuristics

SCHEMA = 1


@dataclass(frozen=True)
class Support:
    """Pairs a heuristic applies to: where gold is entailment it is supported, where gold rules that out contradicted.

    ``unknown`` are pairs that might be cases of it, which only a parse could tell.
    """

    support: int
    contradict: int
    unknown: int = 0


MNLI = {
    "lexical_overlap": Support(2158, 261),
    "subsequence": Support(1274, 72),
    "constituent": Support(1004, 58),
}
"""MultiNLI's training set, as McCoy et al. (2019), section 2, count it."""


@dataclass(frozen=True)
class Audit:
    """A training set and its heuristics; one that could not be told for any pair is None."""

    name: str
    rows: int
    heuristics: Mapping[str, Support | None]
    faithful: bool = False

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        told = {
            name: support and {"support": support.support, "contradict": support.contradict, "unknown": support.unknown}
            for name, support in self.heuristics.items()
        }
        return {"schema": SCHEMA, "name": self.name, "rows": self.rows, "faithful": self.faithful, "heuristics": told}


def audit(suite: Suite, *, faithful: bool = False) -> Audit:
    """The pairs of a training set that support and that contradict each heuristic (McCoy et al. 2019, section 2).

    Counts are cumulative: a constituent is a subsequence, and that is lexical overlap. Gold that allows entailment and
    something else counts for neither. ``faithful`` tells words apart as the released scripts do.
    """
    parses = [name for name in PARSES[:2] if name in suite.frame.collect_schema()]
    frame = suite.frame.select("premise", "hypothesis", "label", *parses).collect()
    told = heuristics(
        frame["premise"],
        frame["hypothesis"],
        frame["premise_parse"] if "premise_parse" in parses else None,
        hypothesis_parses=frame["hypothesis_parse"] if "hypothesis_parse" in parses else None,
        faithful=faithful,
    )
    gold = masks(frame["label"].to_numpy())
    entailed, excluded = gold == GOLD_MASKS["entailment"], (gold & GOLD_MASKS["entailment"]) == 0
    possible = int(told["subsequence"].fill_null(False).sum())
    found = {name: _support(told[name], entailed, excluded, possible) for name in HEURISTICS}
    return Audit(suite.name, frame.height, found, faithful)


def _support(
    told: pl.Series, entailed: np.ndarray[Any, Any], excluded: np.ndarray[Any, Any], possible: int
) -> Support | None:
    """``possible`` are the pairs that could be cases of the narrowest heuristic."""
    applies, unknown = told.fill_null(False).to_numpy(), told.null_count()
    if unknown and unknown == possible:
        return None
    return Support(int((applies & entailed).sum()), int((applies & excluded).sum()), unknown)
