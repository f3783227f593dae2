"""Comparison of changed pairs with the untouched pairs they were made from, row by row."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import nan

import numpy as np
import numpy.typing as npt

from acidtest.core.draws import U64
from acidtest.core.estimate import Estimate
from acidtest.core.run import Run
from acidtest.core.suite import CONTROL
from acidtest.stats.intervals import difference, rate
from acidtest.stats.resampling import Codes, blocks, taken
from acidtest.stats.significance import paired_test
from acidtest.studies.scoring.rows import Flags, ScoredRows, score_rows

Places = npt.NDArray[np.int32]


@dataclass(frozen=True)
class AgainstControl:
    """A rate on the untouched pairs, the difference of the changed pairs' rate from it, and its test.

    ``changed`` is the rate on the changed pairs that were compared; None if these are all pairs of the suite.
    """

    control: Estimate
    difference: Estimate
    test: str
    p: float
    p_adjusted: float = nan
    changed: Estimate | None = field(default=None, metadata={"json": None})


@dataclass(frozen=True)
class Pairing:
    """Positions of changed rows (``own``) and of the control rows they were made from (``control``), pair by pair.

    ``groups`` and ``strata`` are those of the changed rows; ``alike`` says whether gold is the same in every pair.
    """

    own: Places
    control: Places
    groups: Codes
    strata: Codes
    alike: bool

    def once(self, flags: Flags) -> int:
        """Number of flagged control rows in this pairing; a row paired several times counts once."""
        compared = np.zeros(len(flags), dtype=np.bool_)
        for part in blocks(self.control.size):
            compared[self.control[part]] = True
        return int((flags & compared).sum())

    def part(self, chosen: Flags) -> Pairing:
        """The pairing of the chosen changed rows; ``chosen`` has one flag for each row of their suite."""
        kept = chosen[self.own]
        return Pairing(self.own[kept], self.control[kept], self.groups[kept], self.strata[kept], self.alike)

    def rate(self, after: Flags, before: Flags) -> AgainstControl:
        """Compare the rate of a flag on the changed rows (``after``) with that on their control (``before``)."""
        new, old = taken(after, self.own), taken(before, self.control)
        test = paired_test(new, old, groups=self.groups, strata=self.strata)
        change = difference(new, old, groups=self.groups, strata=self.strata)
        # A control row counts once per changed row in the rate, so that the two rates differ by exactly ``change``, but
        # only once in ``n``.
        control = replace(rate(old, groups=self.groups, strata=self.strata), n=self.once(np.ones_like(before)))
        changed = rate(new, groups=self.groups, strata=self.strata) if self.own.size < after.size else None
        return AgainstControl(control, change, test.name, test.p, changed=changed)


def score_with_control(run: Run, suite: str) -> tuple[ScoredRows, ScoredRows | None, Pairing | None]:
    """The scored rows of a suite, those of its control if the run has it, and the pairing of the two."""
    rows = score_rows(run, suite)
    control = score_rows(run, suite + CONTROL) if suite + CONTROL in run.header.suites else None
    return rows, control, pairing(rows, control) if control else None


def pairing(rows: ScoredRows, control: ScoredRows) -> Pairing | None:
    """Pair the rows of a suite with the control rows they were made from; None if no row has one."""
    changed, untouched = match_ids(rows.digests("base_id"), control.digests("id"))
    if not changed.size:
        return None
    alike = np.array_equal(taken(rows.gold, changed), taken(control.gold, untouched))
    return Pairing(changed, untouched, taken(rows.groups, changed), taken(rows.strata, changed), alike)


def repeats(rows: ScoredRows, control: ScoredRows, pairs: Pairing, among: Flags | None = None) -> Estimate:
    """Share of pairs with the same prediction before and after a change that leaves no accepted label the same.

    Only pairs predicted both times count, and only those flagged in ``among``, which has a flag for each of ``pairs``.
    """
    after, before = taken(rows.answer, pairs.own), taken(control.answer, pairs.control)
    changed = taken(rows.gold, pairs.own) & taken(control.gold, pairs.control) == 0
    chosen = changed & (after >= 0) & (before >= 0)
    same, counted = np.zeros((2, rows.height), dtype=np.bool_)
    same[pairs.own], counted[pairs.own] = after == before, chosen if among is None else chosen & among
    return rows.rate(same, counted, empty=f"no {'error on a ' if among is not None else ''}pair whose gold changed")


def against_control(rows: ScoredRows, control: ScoredRows | None, pairs: Pairing | None) -> AgainstControl | None:
    """Accuracy compared with that on the untouched pairs; None without these or if their gold differs."""
    return pairs.rate(rows.correct, control.correct) if control and pairs and pairs.alike else None


def match_ids(wanted: U64, ids: U64) -> tuple[Places, Places]:
    """Positions of the digests that occur among the ids, and of these ids, which are unique; sorts ``ids`` in place."""
    order = np.argsort(ids).astype(np.int32)
    ids.sort()
    matches = [(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32))]
    for part in blocks(wanted.size if ids.size else 0):
        places = np.minimum(np.searchsorted(ids, wanted[part]), ids.size - 1)
        matching = np.flatnonzero(ids[places] == wanted[part])
        matches.append(((matching + part.start).astype(np.int32), order[places[matching]]))
    changed, untouched = (np.concatenate(places) for places in zip(*matches, strict=True))
    return changed, untouched
