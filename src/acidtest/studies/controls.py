"""Changed pairs beside the untouched ones they were made from, row by row."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from acidtest.studies.rows import Flags, ScoredRows, score_rows

Places = npt.NDArray[np.int32]


@dataclass(frozen=True)
class AgainstControl:
    """A number on the untouched pairs, what that of the changed pairs differs by, and how likely by chance alone."""

    control: Estimate
    difference: Estimate
    test: str
    p: float
    p_adjusted: float = nan


@dataclass(frozen=True)
class Pairing:
    """Which row of the control each changed row was made from, by their places; groups and strata are the latter's.

    ``alike``: whether the change left gold as it was in every pair.
    """

    own: Places
    control: Places
    groups: Codes
    strata: Codes
    alike: bool

    def once(self, flags: Flags) -> int:
        """How many rows of the control that are compared are flagged, each counted once."""
        compared = np.zeros(len(flags), dtype=np.bool_)
        for part in blocks(self.control.size):
            compared[self.control[part]] = True
        return int((flags & compared).sum())

    def part(self, chosen: Flags) -> Pairing:
        """Only the changed rows that are chosen, ``chosen`` being of all rows of their suite."""
        kept = chosen[self.own]
        return Pairing(self.own[kept], self.control[kept], self.groups[kept], self.strata[kept], self.alike)

    def rate(self, after: Flags, before: Flags) -> AgainstControl:
        """A rate of changed rows beside that of their control, with the test that suits paired rows."""
        new, old = taken(after, self.own), taken(before, self.control)
        test = paired_test(new, old, groups=self.groups, strata=self.strata)
        change = difference(new, old, groups=self.groups, strata=self.strata)
        # The control's rate on the pairs compared, so that it differs from the changed ones' by the difference; several
        # changed rows may share one of the control.
        control = replace(rate(old, groups=self.groups, strata=self.strata), n=self.once(np.ones_like(before)))
        return AgainstControl(control, change, test.name, test.p)


def score_with_control(run: Run, suite: str) -> tuple[ScoredRows, ScoredRows | None, Pairing | None]:
    """The scored rows of a suite, those of its control if it is in the run, and which was made from which."""
    rows = score_rows(run, suite)
    control = score_rows(run, suite + CONTROL) if suite + CONTROL in run.header.suites else None
    return rows, control, pairing(rows, control) if control else None


def pairing(rows: ScoredRows, control: ScoredRows) -> Pairing | None:
    """The rows of a suite that have a control, None when none has."""
    changed, untouched = _places(rows.digests("base_id"), control.digests("id"))
    if not changed.size:
        return None
    alike = np.array_equal(taken(rows.gold, changed), taken(control.gold, untouched))
    return Pairing(changed, untouched, taken(rows.groups, changed), taken(rows.strata, changed), alike)


def against_control(rows: ScoredRows, control: ScoredRows | None, pairs: Pairing | None) -> AgainstControl | None:
    """Accuracy beside that on the untouched pairs; None without those, or where they have other gold."""
    return pairs.rate(rows.correct, control.correct) if control and pairs and pairs.alike else None


def _places(bases: U64, ids: U64) -> tuple[Places, Places]:
    """Which digests are among those of ids, and where there; an id stands once."""
    order = np.argsort(ids).astype(np.int32)
    ids.sort()
    matches = [(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32))]
    for part in blocks(bases.size if ids.size else 0):
        places = np.minimum(np.searchsorted(ids, bases[part]), ids.size - 1)
        there = np.flatnonzero(ids[places] == bases[part])
        matches.append(((there + part.start).astype(np.int32), order[places[there]]))
    changed, untouched = (np.concatenate(places) for places in zip(*matches, strict=True))
    return changed, untouched
