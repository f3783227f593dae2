"""Pairs that support and that contradict each heuristic of McCoy et al. (2019), section 2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from acidtest.core.estimate import Estimate
from acidtest.core.labels import GOLD_MASKS
from acidtest.studies.audits.batches import GOLD, Batch, Flags
from acidtest.studies.audits.shares import counted_share
from acidtest.text.heuristics import HEURISTICS, heuristics


@dataclass(frozen=True)
class Support:
    """Pairs a heuristic applies to: where gold is entailment it is supported, where gold rules that out contradicted.

    ``unknown`` are pairs that might be cases of it, which only a parse could tell.
    """

    support: int
    contradict: int
    unknown: int = 0

    @property
    def share(self) -> Estimate:
        """Share of the pairs that decide it which support it."""
        return counted_share(self.support, self.support + self.contradict)


MNLI = {
    "lexical_overlap": Support(2158, 261),
    "subsequence": Support(1274, 72),
    "constituent": Support(1004, 58),
}
"""MultiNLI's training set, as McCoy et al. (2019), section 2, count it."""


class SupportCounts:
    """Counts the pairs each heuristic applies to, by label.

    Counts are cumulative: a constituent is a subsequence, and that is lexical overlap. ``faithful`` tells words apart
    as the released scripts do.
    """

    def __init__(self, parses: tuple[str, ...], *, faithful: bool) -> None:
        self._parses, self._faithful = parses, faithful
        self._counts = np.zeros((len(HEURISTICS), len(GOLD)), dtype=np.int64)
        self._unknown = dict.fromkeys(HEURISTICS, 0)
        self._rows = np.zeros(len(GOLD), dtype=np.int64)

    def add(self, batch: Batch) -> Mapping[str, Flags]:
        """Count some pairs, and say to which each heuristic applies."""
        told = heuristics(
            batch.frame["premise"],
            batch.frame["hypothesis"],
            batch.frame["premise_parse"] if "premise_parse" in self._parses else None,
            hypothesis_parses=batch.frame["hypothesis_parse"] if "hypothesis_parse" in self._parses else None,
            faithful=self._faithful,
        )
        applies = {name: told[name].fill_null(False).to_numpy() for name in HEURISTICS}
        for number, name in enumerate(HEURISTICS):
            self._counts[number] += np.bincount(batch.labels[applies[name]], minlength=len(GOLD))
            self._unknown[name] += told[name].null_count()
        self._rows += np.bincount(batch.labels, minlength=len(GOLD))
        return applies

    def support(self) -> dict[str, Support | None]:
        """Support and contradiction; None for a heuristic that could not be told for any pair.

        Gold that allows entailment and something else counts for neither.
        """
        entailed = np.array([mask == GOLD_MASKS["entailment"] for mask in GOLD_MASKS.values()])
        excluded = np.array([not mask & GOLD_MASKS["entailment"] for mask in GOLD_MASKS.values()])
        possible = int(self._counts[HEURISTICS.index("subsequence")].sum())
        found: dict[str, Support | None] = {}
        for name, counts in zip(HEURISTICS, self._counts, strict=True):
            unknown = self._unknown[name]
            known = Support(int(counts[entailed].sum()), int(counts[excluded].sum()), unknown)
            found[name] = None if unknown and unknown == possible else known
        return found

    def by_label(self) -> dict[str, dict[str, int] | None]:
        """The pairs each heuristic applies to, for every label that occurs."""
        there, support = np.flatnonzero(self._rows), self.support()
        return {
            name: None if support[name] is None else {GOLD[code]: int(counts[code]) for code in there}
            for name, counts in zip(HEURISTICS, self._counts, strict=True)
        }
