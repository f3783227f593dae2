"""The claims of a run as arrays: scores, verdicts, gold, and the documents that they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.draws import U64
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.run import Run, SuitePattern
from acidtest.core.suite import CONTROL, EDIT
from acidtest.stats.resampling import Codes, Floats
from acidtest.studies.rows import Flags, ScoredRows, score_rows

KIND, CHANGE = "kind", "change"
EDITS = SuitePattern(columns=((EDIT, KIND, CHANGE),))
"""Suites of edited claims, by the columns that edits have."""
CLAIMS = SuitePattern(names=("grounding/claims",))
PASSAGES = SuitePattern(names=("grounding/knowledge", "grounding/conflicts"))
"""Suites whose kinds are compared with each other."""
ANSWERS = SuitePattern(names=("grounding/answers",))
GROUNDING = SuitePattern(names=(*CLAIMS.names, *PASSAGES.names, *ANSWERS.names), columns=EDITS.columns)

_HALF = 0.5


@dataclass(frozen=True)
class ClaimRows:
    """Some claims: one entry of each array for each."""

    score: Floats
    """Probability of entailment; NaN without an answer."""
    called: Flags
    """Whether the claim is called supported, by the rule as deployed."""
    gold: npt.NDArray[np.uint8]
    documents: Codes
    """Codes of documents, which all claims of a run share; their order is that of digests."""
    truncated: Flags

    @property
    def size(self) -> int:
        """How many claims there are."""
        return len(self.score)

    @property
    def answered(self) -> Flags:
        """Claims with an answer."""
        return ~np.isnan(self.score)

    @property
    def supported(self) -> Flags:
        """Claims whose gold is supported."""
        return np.asarray(self.gold == GOLD_MASKS["entailment"])

    @property
    def unsupported(self) -> Flags:
        """Claims whose gold is not supported; claims without gold are neither."""
        return np.asarray((self.gold & GOLD_MASKS["entailment"]) == 0)

    def select(self, chosen: Flags | Codes) -> ClaimRows:
        """The chosen claims."""
        return ClaimRows(
            score=self.score[chosen],
            called=self.called[chosen],
            gold=self.gold[chosen],
            documents=self.documents[chosen],
            truncated=self.truncated[chosen],
        )

    @classmethod
    def join(cls, parts: Sequence[ClaimRows]) -> ClaimRows:
        """The claims of several parts."""
        names = ("score", "called", "gold", "documents", "truncated")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


@dataclass(frozen=True)
class ClaimReader:
    """Reads the claims of a run's suites; a claim is called supported above ``threshold``, else as the run says."""

    run: Run
    threshold: float | None = None

    @cached_property
    def suites(self) -> list[str]:
        """The suites about documents and claims, without controls."""
        return GROUNDING.names_in(self.run)

    @cached_property
    def edited_suites(self) -> list[str]:
        """The suites of edits."""
        return EDITS.names_in(self.run)

    @cached_property
    def changed_suites(self) -> list[str]:
        """The suites that do not hold untouched claims."""
        return [name for name in self.suites if name not in CLAIMS.names_in(self.run)]

    @cached_property
    def controls(self) -> list[str]:
        """The untouched claims that suites were made from."""
        return [name + CONTROL for name in self.suites if name + CONTROL in self.run.header.suites]

    @cached_property
    def document_digests(self) -> U64:
        """The documents of all suites, ascending."""
        digests = [self._group_digests(score_rows(self.run, name)) for name in (*self.suites, *self._distinct_controls)]
        return np.unique(np.concatenate([np.zeros(0, dtype=np.uint64), *digests]))

    @cached_property
    def _distinct_controls(self) -> list[str]:
        """Controls that do not hold the same rows as another one."""
        cards = self.run.header.suites
        keys = {name: (cards[name].fingerprint or name, cards[name].rows) for name in self.controls}
        return list({key: name for name, key in reversed(keys.items())}.values())

    def read(self, rows: ScoredRows) -> ClaimRows:
        """The claims of scored rows, in their order."""
        score = rows.column(pl.col("p_entailment")).to_numpy().astype(np.float64)
        missing = np.isnan(score)
        if self.threshold is not None:
            called = np.nan_to_num(score, nan=-1.0) > self.threshold
        elif self.run.header.collapse.mode == "sum":
            called = np.nan_to_num(score, nan=-1.0) > _HALF
        else:
            called = (rows.answer == 0) & ~missing
        truncated = np.zeros(rows.height, dtype=np.bool_)
        if "truncated" in rows.rows.collect_schema():
            truncated = rows.column(pl.col("truncated").fill_null(False)).to_numpy()
        documents = np.searchsorted(self.document_digests, self._group_digests(rows))
        return ClaimRows(score, called, rows.gold, documents, truncated)

    def untouched(self) -> ClaimRows:
        """The untouched claims of all suites, each once."""
        names = [*CLAIMS.names_in(self.run), *self._distinct_controls]
        parts = [score_rows(self.run, name) for name in names]
        if not parts:
            return ClaimRows.join([_no_claims()])
        questions = np.concatenate([rows.digests("premise", "hypothesis", "label") for rows in parts])
        once = np.sort(np.unique(questions, return_index=True)[1])
        return ClaimRows.join([self.read(rows) for rows in parts]).select(once)

    def _group_digests(self, rows: ScoredRows) -> U64:
        return rows.digests("group") if "group" in rows.rows.collect_schema() else rows.digests("id")


def _no_claims() -> ClaimRows:
    flags = np.zeros(0, dtype=np.bool_)
    return ClaimRows(np.zeros(0), flags, np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.intp), flags)
