"""Changed pairs beside the untouched ones they were made from, row by row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.analysis.intervals import difference, rate
from acidtest.analysis.metrics import Scored
from acidtest.analysis.significance import paired_test
from acidtest.core.estimate import Estimate

Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class AgainstControl:
    """A number on the untouched pairs, what that of the changed pairs differs by, and how likely by chance alone."""

    control: Estimate
    difference: Estimate
    test: str
    p: float
    p_adjusted: float = nan

    def to_json(self) -> dict[str, Any]:
        """As results.json holds it; NaN is null."""
        return {
            "control": self.control.to_json(),
            "difference": self.difference.to_json(),
            "test": self.test,
            "p": None if isnan(self.p) else self.p,
            "p_adjusted": None if isnan(self.p_adjusted) else self.p_adjusted,
        }


@dataclass(frozen=True)
class Pairing:
    """Which row of the control each changed row was made from, by their places; groups and strata are the latter's.

    ``alike``: whether the change left gold as it was in every pair.
    """

    own: Places
    control: Places
    groups: Places
    strata: Places
    alike: bool

    @property
    def untouched(self) -> int:
        """How many different rows of the control are compared; several changed rows may share one."""
        return int(np.unique(self.control).size)

    def rate(self, after: Flags, before: Flags) -> AgainstControl:
        """A rate of changed rows beside that of their control, with the test that suits paired rows."""
        new, old = after[self.own].astype(np.float64), before[self.control].astype(np.float64)
        test = paired_test(new, old, groups=self.groups)
        change = difference(new, old, groups=self.groups, strata=self.strata)
        # The control's rate on the pairs compared, so that it differs from the changed ones' by the difference.
        control = replace(rate(old, groups=self.groups, strata=self.strata), n=self.untouched)
        return AgainstControl(control, change, test.name, test.p)


def pairing(own: Scored, control: Scored) -> Pairing | None:
    """The rows of a suite that have a control, None when none has."""
    bases = control.frame.select(pl.col("id").alias("base_id")).with_row_index("control")
    rows = own.frame.select("base_id").with_row_index("own").join(bases, on="base_id", maintain_order="left")
    if not rows.height:
        return None
    own_rows, control_rows = (rows[name].to_numpy().astype(np.int64) for name in ("own", "control"))
    alike = bool((own.gold[own_rows] == control.gold[control_rows]).all())
    return Pairing(own_rows, control_rows, own.groups[own_rows], own.strata[own_rows], alike)
