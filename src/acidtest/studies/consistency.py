"""How often a model breaks each law of logic that the pairs of suite ``consistency`` are made by.

Whether it keeps all of them on a source pair is the group consistency that every suite with groups has. Of some source
pairs only laws are asked that need no gold, and those are easily kept: the others are counted by themselves, too.
"""

from __future__ import annotations

from math import nan

import numpy as np
import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.stats.intervals import rate
from acidtest.studies.rows import ScoredRows, breakdown, group_consistency

SUITE = "consistency"
LAW = "law"
WITHOUT_GOLD = ("identity", "conjunction")
"""Laws that hold whatever the gold of the source pair."""

_VIOLATIONS = "violations of "


def consistency_metrics(rows: ScoredRows) -> dict[str, Estimate]:
    """The violations of each law and the consistency of source pairs; nothing for suites that are not made by laws."""
    if not _is_made_by_laws(rows):
        return {}
    return {"group consistency where gold is asked": gold_consistency(rows)} | violations(rows)


def violations(rows: ScoredRows) -> dict[str, Estimate]:
    """For each law the share of its pairs answered against it; a pair without an answer breaks its law."""
    return {f"{_VIOLATIONS}{law}": found for law, found in breakdown(rows, [LAW], np.logical_not(rows.correct)).items()}


def gold_consistency(rows: ScoredRows) -> Estimate:
    """Share of source pairs on which all laws hold, among those with a law that rests on their gold."""
    count = int(rows.groups.max(initial=-1)) + 1
    kept, asked = np.ones(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
    without = rows.column(pl.col(LAW).is_in(WITHOUT_GOLD).fill_null(False)).to_numpy()
    kept[rows.groups[~rows.correct]] = False
    asked[rows.groups[~without]] = True
    if not asked.any():
        return Estimate(nan, note="no source pair with a law that rests on its gold")
    return rate(kept[asked])


def consistency_notes(rows: ScoredRows) -> list[str]:
    """On how many source pairs all laws hold and which is broken most, in words."""
    if not _is_made_by_laws(rows):
        return []
    whole, broken = group_consistency(rows), violations(rows)
    if not whole.known:
        return []
    worst = max(broken, key=lambda name: broken[name].value)
    told = f"all laws hold on {_percent(whole)} of {whole.n:,} source pairs"
    if broken[worst].value:
        told += f"; broken most often: {worst.removeprefix(_VIOLATIONS)} ({_percent(broken[worst])})"
    return [told]


def _percent(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.1f} %"


def _is_made_by_laws(rows: ScoredRows) -> bool:
    return rows.card.name == SUITE and LAW in rows.card.factors
