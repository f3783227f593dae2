"""What only two suites tell: how often a model breaks laws of logic, and how much text it reads.

Suite ``consistency`` is made by laws. Whether a model keeps all of them on a source pair is the group consistency that
every suite with groups has. Of some source pairs only laws are asked that need no gold, and those are easily kept: the
others are counted by themselves, too.

Suite ``length-ladder`` tells up to which rung a model is as right as on the bare premises. For each position of the
premise the longest rung is compared with the untouched pairs first; only where accuracy is below theirs by more than
chance is the next shorter one compared, and so on. The first that holds is what the model reads. In such a sequence
fixed beforehand every test may use the whole level (Maurer, Hothorn and Lehmacher 1995); the positions are a family and
share it out evenly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan

import numpy as np
import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.stats.intervals import rate
from acidtest.studies.controls import AgainstControl, Pairing, pairing
from acidtest.studies.rows import ScoredRows, accuracy, breakdown, group_consistency, groups_right

LAWS_WITHOUT_GOLD = ("identity", "conjunction")
"""Laws that hold whatever the gold of the source pair."""

LEVEL = 0.05

_VIOLATIONS = "violations of "


@dataclass(frozen=True)
class ReadingSpan:
    """What a model reads with the premise at a position."""

    position: str
    words: int
    """The longest rung at which accuracy holds; 0 where it holds at none."""
    longest: int
    """The longest rung there is."""
    falls: int | None = None
    """The rung after that, at which accuracy is lower; None when ``words`` is the longest."""
    accuracy: Estimate | None = None
    """Accuracy there."""
    against: AgainstControl | None = None
    """Accuracy there beside that on the same pairs untouched; p is adjusted for the number of positions."""


def consistency_metrics(rows: ScoredRows) -> dict[str, Estimate]:
    """The violations of each law and the consistency of source pairs; nothing for suites that are not made by laws."""
    if not _is_made_by_laws(rows):
        return {}
    return {"group consistency where gold is asked": gold_consistency(rows)} | violations(rows)


def violations(rows: ScoredRows) -> dict[str, Estimate]:
    """For each law the share of its pairs answered against it; a pair without an answer breaks its law."""
    return {f"{_VIOLATIONS}{law}": share for law, share in breakdown(rows, ["law"], ~rows.correct).items()}


def gold_consistency(rows: ScoredRows) -> Estimate:
    """Share of source pairs on which all laws hold, among those with a law that rests on their gold."""
    kept = groups_right(rows)
    asked = np.zeros(len(kept), dtype=np.bool_)
    asked[rows.groups[~rows.column(pl.col("law").is_in(LAWS_WITHOUT_GOLD).fill_null(False)).to_numpy()]] = True
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
    note = f"all laws hold on {100 * whole.value:.1f} % of {whole.n:,} source pairs"
    if broken[worst].value:
        law = worst.removeprefix(_VIOLATIONS)
        note += f"; broken most often: {law} ({100 * broken[worst].value:.1f} %)"
    return [note]


def _is_made_by_laws(rows: ScoredRows) -> bool:
    return rows.card.name == "consistency" and "law" in rows.card.factors


def reading_notes(rows: ScoredRows, control: ScoredRows | None) -> list[str]:
    """How much is read for each position of the premise, in words."""
    if control is None or not _is_ladder(rows):
        return []
    if _cannot_fall(control):
        return ["how far it reads is not told: on the untouched pairs it is no better than one answer to all of them"]
    return [_describe(reading) for reading in readings(rows, control)]


def readings(rows: ScoredRows, control: ScoredRows | None) -> list[ReadingSpan]:
    """For each position how much is read; nothing for other suites, without a control, or where nothing can fall."""
    pairs = pairing(rows, control) if control and _is_ladder(rows) else None
    if control is None or pairs is None or not pairs.alike or _cannot_fall(control):
        return []
    positions = rows.coded("position")[1]["position"].drop_nulls().to_list()
    return [_reading(rows, control, pairs, position, len(positions)) for position in positions]


def _is_ladder(rows: ScoredRows) -> bool:
    return rows.card.name.partition(":")[0] == "length-ladder" and {"words", "position"} <= set(rows.card.factors)


def _cannot_fall(control: ScoredRows) -> bool:
    """Whether one answer to all would be as right on the untouched pairs: then there is nothing to lose."""
    right = accuracy(control)
    return not (right.known and right.low > np.bincount(control.gold).max() / len(control.gold))


def _reading(rows: ScoredRows, control: ScoredRows, pairs: Pairing, position: str, positions: int) -> ReadingSpan:
    """The descent from the longest rung to the first that holds."""
    words = rows.column(pl.col("words").cast(pl.Int64)).to_numpy()
    here = rows.column((pl.col("position") == position).fill_null(False)).to_numpy()
    rungs = sorted({int(number) for number in words[here]}, reverse=True)
    span = ReadingSpan(position, rungs[0], rungs[0])
    for rung, shorter in zip(rungs, [*rungs[1:], 0], strict=True):
        chosen = here & (words == rung)
        against = pairs.part(chosen).rate(rows.correct, control.correct)
        against = replace(against, p_adjusted=min(1.0, positions * against.p))
        # A test without rows or without a difference has no p below the level, NaN included.
        if not (against.difference.value < 0 and against.p_adjusted < LEVEL):
            break
        span = ReadingSpan(position, shorter, rungs[0], rung, rows.rate(rows.correct, chosen), against)
    return span


def _describe(reading: ReadingSpan) -> str:
    where = f"with the premise {'in' if reading.position == 'middle' else 'at'} the {reading.position}"
    if reading.against is None or reading.accuracy is None:
        return f"{where}, reads all {reading.longest:,} words"
    read = f"reads {reading.words:,} words" if reading.words else f"reads fewer than {reading.falls:,} words"
    change = f"{100 * reading.accuracy.value:.1f} % right at {reading.falls:,}"
    return f"{where}, {read}: {change}, {100 * reading.against.control.value:.1f} % on the same pairs untouched"
