"""The claims of a run as arrays: scores, verdicts, gold, and the documents that they share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.draws import U64
from acidtest.core.estimate import Estimate
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.run import Run, SuitePattern
from acidtest.core.suite import CONTROL, EDIT
from acidtest.stats.intervals import rate
from acidtest.stats.resampling import Codes, Floats
from acidtest.studies.scoring.rows import Flags, ScoredRows, score_rows

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
    tied: Flags
    """Called supported by argmax though another label is as likely."""

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

    @property
    def has_gold(self) -> Flags:
        """Claims whose gold is supported or not supported."""
        return np.asarray(self.supported | self.unsupported)

    @property
    def right(self) -> Flags:
        """Claims with gold that are judged rightly; without a prediction none is."""
        return np.asarray(self.answered & self.has_gold & (self.called == self.supported))

    def as_counted(self) -> ClaimRows:
        """The claims with gold; where a prediction is missing, the surest wrong one, since it counts as wrong."""
        rows = self.select(self.has_gold)
        surely_wrong = np.where(rows.supported, -np.inf, np.inf)
        return replace(
            rows,
            score=np.where(rows.answered, rows.score, surely_wrong),
            called=np.where(rows.answered, rows.called, ~rows.supported),
        )

    def select(self, chosen: Flags | Codes) -> ClaimRows:
        """The chosen claims."""
        return ClaimRows(
            score=self.score[chosen],
            called=self.called[chosen],
            gold=self.gold[chosen],
            documents=self.documents[chosen],
            truncated=self.truncated[chosen],
            tied=self.tied[chosen],
        )

    @classmethod
    def join(cls, parts: Sequence[ClaimRows]) -> ClaimRows:
        """The claims of several parts."""
        names = ("score", "called", "gold", "documents", "truncated", "tied")
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
        """The documents of all suites: first those of untouched claims, ascending, then the others, ascending.

        So codes of the documents that a threshold is chosen on do not depend on what else was asked.
        """
        others = [name for name in (*self.suites, *self._distinct_controls) if name not in self._untouched_suites]
        rest = np.setdiff1d(self._digests_of(others), self._untouched_documents)
        return np.concatenate([self._untouched_documents, rest])

    @property
    def untouched_documents(self) -> int:
        """How many documents have untouched claims; their codes are below this."""
        return len(self._untouched_documents)

    @cached_property
    def _untouched_documents(self) -> U64:
        return self._digests_of(self._untouched_suites)

    def _digests_of(self, names: Sequence[str]) -> U64:
        digests = [self._group_digests(score_rows(self.run, name)) for name in names]
        return np.unique(np.concatenate([np.zeros(0, dtype=np.uint64), *digests]))

    @cached_property
    def _untouched_suites(self) -> list[str]:
        """Where untouched claims are read: the suite of all claims or, without it, what edits were made from."""
        return CLAIMS.names_in(self.run) or self._distinct_controls

    @cached_property
    def _distinct_controls(self) -> list[str]:
        """Controls that do not hold the same rows as another one."""
        cards = self.run.header.suites
        keys = {name: (cards[name].fingerprint or name, cards[name].rows) for name in self.controls}
        return list({key: name for name, key in reversed(keys.items())}.values())

    def verdicts(self, rows: ScoredRows) -> tuple[Floats, Flags]:
        """The score of each row, NaN without a prediction, and whether its claim is called supported."""
        score = rows.column(pl.col("p_entailment")).to_numpy().astype(np.float64)
        if self.threshold is not None:
            # In single precision, as runs are scored: 0.8 does not exceed a threshold of 0.8.
            return score, np.nan_to_num(score, nan=-1.0).astype(np.float32) > np.float32(self.threshold)
        if self.run.header.collapse.mode == "sum":
            return score, np.nan_to_num(score, nan=-1.0) > _HALF
        return score, (rows.answer == 0) & ~np.isnan(score)

    def read(self, rows: ScoredRows) -> ClaimRows:
        """The claims of scored rows, in their order."""
        score, called = self.verdicts(rows)
        truncated = np.zeros(rows.height, dtype=np.bool_)
        if "truncated" in rows.rows.collect_schema():
            truncated = rows.column(pl.col("truncated").fill_null(False)).to_numpy()
        order = np.argsort(self.document_digests)
        documents = order[np.searchsorted(self.document_digests, self._group_digests(rows), sorter=order)]
        return ClaimRows(score, called, rows.gold, documents, truncated, self._ties(rows, score))

    def _ties(self, rows: ScoredRows, score: Floats) -> Flags:
        """Claims that argmax calls supported only because entailment is the first of two likeliest labels."""
        if self.threshold is not None or self.run.header.collapse.mode != "argmax":
            return np.zeros(rows.height, dtype=np.bool_)
        others = rows.column(pl.max_horizontal("p_neutral", "p_contradiction")).to_numpy().astype(np.float64)
        return np.asarray(score == others)

    def untouched(self) -> ClaimRows:
        """The untouched claims, each once."""
        parts = [score_rows(self.run, name) for name in self._untouched_suites]
        if not parts:
            return ClaimRows.join([_no_claims()])
        questions = np.concatenate([rows.digests("premise", "hypothesis", "label") for rows in parts])
        once = np.sort(np.unique(questions, return_index=True)[1])
        return ClaimRows.join([self.read(rows) for rows in parts]).select(once)

    def repeats(self) -> Estimate:
        """How often verdicts on one text differ when it was evaluated several times; NaN with a note if none does.

        ``acidtest run`` evaluates a text once and keeps the prediction, so that agreement everywhere shows nothing.
        """
        texts = dict.fromkeys([*CLAIMS.names_in(self.run), *self.controls])
        parts = [score_rows(self.run, name) for name in texts]
        if len(parts) < 2:
            return Estimate(math.nan, note="no text was evaluated twice")
        claims = ClaimRows.join([self.read(rows) for rows in parts])
        digests = np.concatenate([rows.digests("premise", "hypothesis") for rows in parts])
        order = np.argsort(digests, kind="stable")
        order = order[claims.answered[order]]
        firsts = np.flatnonzero(np.diff(digests[order], prepend=~digests[order[:1]]) != 0)
        firsts = firsts[np.diff(firsts, append=len(order)) > 1]
        one, two = order[firsts], order[firsts + 1]
        differs = claims.called[one] != claims.called[two]
        if not differs.any():
            return Estimate(math.nan, note="no text got two different verdicts")
        return rate(differs, groups=claims.documents[one])

    def _group_digests(self, rows: ScoredRows) -> U64:
        return rows.digests("group") if "group" in rows.rows.collect_schema() else rows.digests("id")


def _no_claims() -> ClaimRows:
    flags = np.zeros(0, dtype=np.bool_)
    return ClaimRows(np.zeros(0), flags, np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.intp), flags, flags)
