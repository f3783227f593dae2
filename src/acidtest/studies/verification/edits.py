"""What becomes of verdicts when a claim or its document is edited, pair by pair."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.suite import EDIT
from acidtest.io.wordlists import packaged_table
from acidtest.stats.intervals import mean_of_groups, rate
from acidtest.stats.resampling import Codes, Floats, taken
from acidtest.stats.thresholds import CrossFit, Resamples
from acidtest.studies.controls import Places, score_with_control
from acidtest.studies.rows import Flags, ScoredRows
from acidtest.studies.verification.claims import KIND, ClaimReader, ClaimRows
from acidtest.studies.verification.result import CHANGES, KEEPS, EditEffect

NOT_CALLED = "no original is called supported"
NO_THRESHOLD = "no threshold was chosen"


@cache
def known_edits() -> dict[str, tuple[str, str]]:
    """For each edit of ours whether gold changes or keeps, and a phrase about the claims that were edited."""
    rows = packaged_table("grounding/edits.tsv").iter_rows()
    return {edit: (gold, phrase) for edit, gold, phrase in rows}


def describe_edit(edit: str) -> str:
    """A phrase about edited claims: *with a changed number*, *when conjuncts change places*."""
    return known_edits().get(edit, ("", f"edited by {edit}"))[1]


@dataclass(frozen=True)
class EditedClaims:
    """Pairs of an original claim and its edited form, of one suite."""

    suite: str
    rows: ScoredRows
    control: ScoredRows
    own: Places
    """Where the edited claims are among ``rows``."""
    places: Places
    """Where their originals are among ``control``."""
    before: ClaimRows
    after: ClaimRows
    codes: Codes
    """For each pair the code of its edit and kind."""
    kinds: pl.DataFrame

    @classmethod
    def read(cls, reader: ClaimReader, suite: str) -> EditedClaims | None:
        """The pairs of a suite; None if the run lacks its untouched claims."""
        rows, control, pairs = score_with_control(reader.run, suite)
        if control is None or pairs is None:
            return None
        codes, kinds = rows.coded(EDIT, KIND)
        before, after = reader.read(control).select(pairs.control), reader.read(rows).select(pairs.own)
        return cls(suite, rows, control, pairs.own, pairs.control, before, after, taken(codes, pairs.own), kinds)

    @cached_property
    def first_of_base(self) -> Flags:
        """The first pair of each original claim."""
        flags = np.zeros(len(self.places), dtype=np.bool_)
        flags[np.unique(self.places, return_index=True)[1]] = True
        return flags

    def words(self, *, edited: bool = True) -> Floats:
        """How many words the document of each pair has, after the edit or before it."""
        rows, places = (self.rows, self.own) if edited else (self.control, self.places)
        counts = rows.column(pl.col("premise").str.count_matches(r"\S+")).to_numpy().astype(np.float64)
        return taken(counts, places)

    def gold_changes(self, edit: str) -> tuple[Flags, Flags]:
        """Which pairs have a claim that is no longer supported, and which keep their gold.

        Where claims have no gold, the edit says it. A pair whose gold changes in another way is neither.
        """
        default = known_edits().get(edit, ("",))[0]
        unknown = (self.before.gold == GOLD_MASKS["any"]) & (self.after.gold == GOLD_MASKS["any"])
        changes = (self.before.supported & self.after.unsupported) | (unknown & (default == CHANGES))
        keeps = ((self.before.gold == self.after.gold) & ~unknown) | (unknown & (default == KEEPS))
        return changes, keeps

    def effects(self, fit: CrossFit | None) -> Iterator[EditEffect]:
        """The effect of every edit of the suite, then of each of its kinds where it has several."""
        for edit in self.kinds[EDIT].unique(maintain_order=True).drop_nulls():
            names = self.kinds[KIND].to_list()
            codes = [number for number, name in enumerate(self.kinds[EDIT]) if name == edit]
            here = np.isin(self.codes, codes)
            for gold, flags in zip((CHANGES, KEEPS), self.gold_changes(edit), strict=True):
                chosen = here & flags
                if not chosen.any():
                    continue
                yield self._effect(edit, gold, "", chosen, fit)
                several = [code for code in codes if names[code] and (chosen & (self.codes == code)).any()]
                for code in several if len(several) > 1 else []:
                    yield self._effect(edit, gold, names[code], chosen & (self.codes == code), fit)

    def _effect(self, edit: str, gold: str, kind: str, chosen: Flags, fit: CrossFit | None) -> EditEffect:
        answered = chosen & self.before.answered & self.after.answered
        pairs = ClaimPairs(self.before.select(answered), self.after.select(answered), gold)
        cut = pairs.before.truncated | pairs.after.truncated
        return EditEffect(
            edit=edit,
            suite=self.suite,
            gold=gold,
            kind=kind,
            pairs=pairs.before.size,
            documents=len(np.unique(pairs.before.documents)),
            unanswered=int(chosen.sum()) - pairs.before.size,
            wrong=pairs.wrong(),
            wrong_chosen=pairs.wrong_chosen(fit),
            higher=pairs.higher(),
            shift=mean_of_groups(pairs.after.score - pairs.before.score, pairs.before.documents),
            lost=pairs.mean(pairs.before.called & ~pairs.after.called),
            gained=pairs.mean(~pairs.before.called & pairs.after.called),
            truncated=int(cut.sum()),
            wrong_truncated=pairs.select(cut).wrong(),
            wrong_whole=pairs.select(~cut).wrong(),
        )


@dataclass(frozen=True)
class ClaimPairs:
    """Original and edited claims, one of each for every pair, all answered."""

    before: ClaimRows
    after: ClaimRows
    gold: str

    def select(self, chosen: Flags) -> ClaimPairs:
        """The chosen pairs."""
        return ClaimPairs(self.before.select(chosen), self.after.select(chosen), self.gold)

    def mean(self, values: Flags | Floats) -> Estimate:
        """The mean over pairs, with an interval over documents."""
        return rate(values, groups=self.before.documents, empty="no pairs")

    def wrong(self) -> Estimate:
        """Edited claims still called supported, of originals called so; or changed verdicts, where gold is kept."""
        if self.gold == KEEPS:
            return self.mean(self.before.called != self.after.called)
        asked = self.before.called
        return rate(self.after.called[asked], groups=self.before.documents[asked], empty=NOT_CALLED)

    def wrong_chosen(self, fit: CrossFit | None) -> Estimate:
        """``wrong`` with thresholds that are chosen on untouched claims of other documents."""
        if fit is None:
            return Estimate(math.nan, note=NO_THRESHOLD)
        before, after = fit.exceeded(self.before.score), fit.exceeded(self.after.score)
        documents = self.before.documents
        both = fit.above(np.minimum(before, after), documents)
        if self.gold == KEEPS:
            changed = fit.above(np.maximum(before, after), documents) - both
            return fit.estimate(changed / fit.rows(documents), documents, empty="no pairs")
        shares: Resamples = both / fit.above(before, documents)
        called = self.before.score > fit.threshold_of(documents)
        return fit.estimate(shares, documents[called], empty=NOT_CALLED)

    def higher(self) -> Estimate:
        """Probability that the original has the higher score; ties count half."""
        difference = self.before.score - self.after.score
        return self.mean((np.sign(difference) + 1) / 2)
