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
from acidtest.stats.intervals import difference, mean_of_groups, rate
from acidtest.stats.resampling import Codes, Floats, taken
from acidtest.stats.significance import paired_test
from acidtest.stats.thresholds import CrossFit
from acidtest.studies.scoring.controls import Places, score_with_control
from acidtest.studies.scoring.rows import Flags, ScoredRows
from acidtest.studies.verification.claims import KIND, ClaimReader, ClaimRows
from acidtest.studies.verification.result import CHANGES, KEEPS, EditEffect, LengthControl

LENGTHENED = "lengthened"
"""The edit that lengthens claims and keeps gold."""
NOT_CALLED = "no original is called supported"
NO_THRESHOLD = "no threshold was chosen"


@cache
def known_edits() -> dict[str, tuple[str, str]]:
    """For each edit of ours whether gold changes or keeps, and a phrase about the claims that were edited."""
    rows = packaged_table("grounding/edits.tsv").select("edit", "gold", "phrase").iter_rows()
    return {edit: (gold, phrase) for edit, gold, phrase in rows}


@cache
def kinds_as_long() -> dict[str, str]:
    """For each edit that lengthens claims, the kind of ``grounding/lengthened`` that adds as many words."""
    rows = packaged_table("grounding/edits.tsv").select("edit", "lengthened_by").iter_rows()
    return {edit: kind for edit, kind in rows if kind}


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

    def length_controls(self) -> Iterator[LengthControl]:
        """For each edit that lengthens claims, the unsupported claims that were lengthened as much, if any."""
        codes = {(edit, kind): number for number, (edit, kind) in enumerate(self.kinds.select(EDIT, KIND).iter_rows())}
        for edit, kind in kinds_as_long().items():
            claims = self.after.select(self.after.unsupported & (self.codes == codes.get((LENGTHENED, kind), -1)))
            if not claims.size:
                continue
            answered = claims.select(claims.answered)
            yield LengthControl(
                edit=edit,
                suite=self.suite,
                claims=claims.size,
                unanswered=claims.size - answered.size,
                wrong=rate(~claims.right, groups=claims.documents),
                accepted=rate(answered.called, groups=answered.documents, empty="no claim has a prediction"),
            )

    def _effect(self, edit: str, gold: str, kind: str, chosen: Flags, fit: CrossFit | None) -> EditEffect:
        pairs = ClaimPairs(self.before.select(chosen), self.after.select(chosen), gold)
        answered = pairs.select(pairs.before.answered & pairs.after.answered)
        cut = pairs.before.truncated | pairs.after.truncated
        net, net_p = pairs.net()
        return EditEffect(
            edit=edit,
            suite=self.suite,
            gold=gold,
            kind=kind,
            pairs=answered.before.size,
            documents=len(np.unique(answered.before.documents)),
            unanswered=pairs.before.size - answered.before.size,
            wrong=pairs.wrong(),
            wrong_chosen=pairs.wrong_chosen(fit),
            accepted=pairs.accepted(),
            still_supported=pairs.still_supported(),
            became_wrong=pairs.turned(pairs.before.right & ~pairs.after.right),
            became_right=pairs.turned(~pairs.before.right & pairs.after.right),
            net=net,
            net_p=net_p,
            higher=pairs.higher(),
            shift=mean_of_groups(answered.after.score - answered.before.score, answered.before.documents),
            lost=answered.mean(answered.before.called & ~answered.after.called),
            gained=answered.mean(~answered.before.called & answered.after.called),
            truncated=int(cut.sum()),
            wrong_truncated=pairs.select(cut).wrong(),
            wrong_whole=pairs.select(~cut).wrong(),
        )


@dataclass(frozen=True)
class ClaimPairs:
    """Original and edited claims, one of each for every pair."""

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
        """Edited claims that are not rejected; or, where gold is kept, changed verdicts of answered originals."""
        if self.gold == CHANGES:
            return self.mean(self.after.called | ~self.after.answered)
        asked = self.select(self.before.answered)
        return asked.mean((asked.before.called != asked.after.called) | ~asked.after.answered)

    def accepted(self) -> Estimate:
        """Answered edited claims that are called supported."""
        asked = self.select(self.after.answered)
        return asked.mean(asked.after.called)

    def still_supported(self) -> Estimate:
        """Of originals called supported, those whose edited claim is as well, or has no prediction."""
        asked = self.before.called
        kept = self.after.called | ~self.after.answered
        return rate(kept[asked], groups=self.before.documents[asked], empty=NOT_CALLED)

    def turned(self, values: Flags) -> Estimate:
        """The share of pairs with gold that turn, where gold is kept."""
        if self.gold == CHANGES:
            return Estimate(math.nan, note="gold changes")
        known = self.before.has_gold & self.after.has_gold
        return rate(values[known], groups=self.before.documents[known], empty="no pair has gold")

    def net(self) -> tuple[Estimate, float]:
        """How many more verdicts become wrong than right, with the p-value of an edit that does nothing.

        Errors that have nothing to do with the edit come and go equally often. Without gold, verdicts that become
        supported are compared with those that no longer are.
        """
        if self.gold == CHANGES:
            return Estimate(math.nan, note="gold changes"), math.nan
        known = self.before.has_gold & self.after.has_gold
        before, after = (
            (self.before.right[known], self.after.right[known])
            if known.any()
            else (self.before.called, self.after.called)
        )
        documents = self.before.documents[known] if known.any() else self.before.documents
        if not before.size:
            return Estimate(math.nan, note="no pairs"), math.nan
        change = difference(before, after, groups=documents)
        p = paired_test(before, after, groups=documents).p
        if known.any():
            p = p / 2 if change.value > 0 else 1 - p / 2
        return change, p

    def wrong_chosen(self, fit: CrossFit | None) -> Estimate:
        """``wrong`` with thresholds that are chosen on untouched claims of other documents."""
        if fit is None:
            return Estimate(math.nan, note=NO_THRESHOLD)
        documents = self.before.documents
        if self.gold == CHANGES:
            return fit.share_above(np.where(self.after.answered, self.after.score, np.inf), documents)
        asked = self.before.answered
        both_answered = asked & self.after.answered
        before, after = (fit.exceeded(rows.score[both_answered]) for rows in (self.before, self.after))
        above, below = (fit.above(ends(before, after), documents[both_answered]) for ends in (np.maximum, np.minimum))
        changed = above - below + fit.rows(documents[asked & ~self.after.answered])
        return fit.estimate(changed / fit.rows(documents[asked]), documents[asked], empty="no pairs")

    def higher(self) -> Estimate:
        """Share of pairs whose original has the higher score; ties count half, without both predictions none has."""
        wins = (np.sign(self.before.score - self.after.score) + 1) / 2
        return self.mean(np.nan_to_num(wins, nan=0.0))
