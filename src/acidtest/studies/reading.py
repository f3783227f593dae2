"""How much text a model reads: up to which rung of suite ``length-ladder`` it is as right as on the bare premises.

For each position of the premise the longest rung is compared with the untouched pairs first; only where accuracy is
below theirs by more than chance is the next shorter one compared, and so on. The first that holds is what the model
reads. In such a sequence fixed beforehand every test may use the whole level (Maurer, Hothorn and Lehmacher 1995);
the positions are a family and share it out evenly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.studies.controls import AgainstControl, Pairing, pairing
from acidtest.studies.rows import Flags, ScoredRows, accuracy

SUITE = "length-ladder"
LEVEL = 0.05

_FACTORS = ("words", "position")


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


def readings(rows: ScoredRows, control: ScoredRows | None) -> list[ReadingSpan]:
    """For each position how much is read; nothing for other suites, without a control, or where nothing can fall."""
    pairs = pairing(rows, control) if control and _is_ladder(rows) else None
    if control is None or pairs is None or not pairs.alike or _cannot_fall(control):
        return []
    positions = rows.coded("position").values["position"].drop_nulls().to_list()
    return [_reading(rows, control, pairs, position, len(positions)) for position in positions]


def reading_notes(rows: ScoredRows, control: ScoredRows | None) -> list[str]:
    """The readings in words."""
    if control is None or not _is_ladder(rows):
        return []
    if _cannot_fall(control):
        return ["how far it reads is not told: on the untouched pairs it is no better than one answer to all of them"]
    return [_describe(reading) for reading in readings(rows, control)]


def _describe(reading: ReadingSpan) -> str:
    where = f"with the premise {'in' if reading.position == 'middle' else 'at'} the {reading.position}"
    if reading.against is None or reading.accuracy is None:
        return f"{where}, reads all {reading.longest:,} words"
    read = f"reads {reading.words:,} words" if reading.words else f"reads fewer than {reading.falls:,} words"
    change = f"{100 * reading.accuracy.value:.1f} % right at {reading.falls:,}"
    return f"{where}, {read}: {change}, {100 * reading.against.control.value:.1f} % on the same pairs untouched"


def _reading(rows: ScoredRows, control: ScoredRows, pairs: Pairing, position: str, family: int) -> ReadingSpan:
    """The descent from the longest rung to the first that holds."""
    words = rows.column(pl.col("words").cast(pl.Int64)).to_numpy()
    here = rows.column((pl.col("position") == position).fill_null(False)).to_numpy()
    rungs = sorted({int(number) for number in words[here]}, reverse=True)
    span = ReadingSpan(position, rungs[0], rungs[0])
    for rung, shorter in _steps(rungs):
        chosen = here & (words == rung)
        against = _part(pairs, chosen).rate(rows.correct, control.correct)
        against = replace(against, p_adjusted=min(1.0, family * against.p))
        # A test without rows or without a difference has no p below the level, NaN included.
        if not (against.difference.value < 0 and against.p_adjusted < LEVEL):
            break
        estimate = rows.rate(rows.correct, chosen)
        span = ReadingSpan(position, shorter, rungs[0], rung, estimate, against)
    return span


def _steps(rungs: list[int]) -> Iterator[tuple[int, int]]:
    """Each rung, the longest first, with the next shorter; below the shortest there is nothing."""
    return zip(rungs, [*rungs[1:], 0], strict=True)


def _part(pairs: Pairing, chosen: Flags) -> Pairing:
    kept = chosen[pairs.own]
    return replace(
        pairs,
        own=pairs.own[kept],
        control=pairs.control[kept],
        groups=pairs.groups[kept],
        strata=pairs.strata[kept],
    )


def _cannot_fall(control: ScoredRows) -> bool:
    """Whether one answer to all would be as right on the untouched pairs: then there is nothing to lose."""
    rate = accuracy(control)
    if not rate.known:
        return True
    return not rate.low > np.bincount(control.gold).max() / len(control.gold)


def _is_ladder(rows: ScoredRows) -> bool:
    name = rows.card.name.partition(":")[0]
    return name == SUITE and set(_FACTORS) <= set(rows.card.factors)
