"""Measures for two suites: how often a model breaks laws of logic, and how much text it reads.

Each row of suite ``consistency`` is made by a law. The share of source pairs on which a model keeps all laws is its
group consistency, as for every suite with groups. Some source pairs have only laws that need no gold, which are easily
kept; the share among the others is given as well.

Suite ``length-ladder`` shows up to which rung (a number of words) a model is as accurate as on the bare premises. For
each position of the premise, the longest rung is compared with the untouched pairs; if accuracy is significantly lower,
the next shorter rung is compared, and so on. The first rung without a significant loss is what the model reads. As the
order of the tests is fixed beforehand, each may use the whole level (Maurer, Hothorn and Lehmacher 1995); the level is
divided evenly among the positions.
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
    """How many words a model reads with the premise at a position."""

    position: str
    words: int
    """The longest rung without a significant loss of accuracy; 0 if there is none."""
    longest: int
    """The longest rung there is."""
    falls: int | None = None
    """The next longer rung, at which accuracy is lower; None if ``words`` is the longest."""
    accuracy: Estimate | None = None
    """Accuracy at ``falls``."""
    against: AgainstControl | None = None
    """Accuracy at ``falls`` against that on the same pairs untouched; p is adjusted for the number of positions."""


def consistency_metrics(rows: ScoredRows) -> dict[str, Estimate]:
    """The violations of each law and the consistency of source pairs; nothing for suites that are not made by laws."""
    if not _is_made_by_laws(rows):
        return {}
    return {"group consistency where gold is asked": gold_consistency(rows)} | violations(rows)


def violations(rows: ScoredRows) -> dict[str, Estimate]:
    """For each law the share of its pairs answered against it; a pair without an answer breaks its law."""
    return {f"{_VIOLATIONS}{law}": share for law, share in breakdown(rows, ["law"], ~rows.correct).items()}


def gold_consistency(rows: ScoredRows) -> Estimate:
    """Share of source pairs on which all laws hold, among those with a law that depends on their gold."""
    kept = groups_right(rows)
    asked = np.zeros(len(kept), dtype=np.bool_)
    asked[rows.groups[~rows.column(pl.col("law").is_in(LAWS_WITHOUT_GOLD).fill_null(False)).to_numpy()]] = True
    if not asked.any():
        return Estimate(nan, note="no source pair with a law that rests on its gold")
    return rate(kept[asked])


def consistency_notes(rows: ScoredRows) -> list[str]:
    """A note on the share of source pairs on which all laws hold, and the law broken most often."""
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
    """Notes on how many words the model reads for each position of the premise."""
    if control is None or not _is_ladder(rows):
        return []
    if _cannot_fall(control):
        return ["how far it reads is not told: on the untouched pairs it is no better than one answer to all of them"]
    return [_describe(reading) for reading in readings(rows, control)]


def readings(rows: ScoredRows, control: ScoredRows | None) -> list[ReadingSpan]:
    """How many words are read at each position; empty for other suites, without control, or if accuracy cannot fall."""
    pairs = pairing(rows, control) if control and _is_ladder(rows) else None
    if control is None or pairs is None or not pairs.alike or _cannot_fall(control):
        return []
    positions = rows.coded("position")[1]["position"].drop_nulls().to_list()
    return [_reading(rows, control, pairs, position, len(positions)) for position in positions]


def _is_ladder(rows: ScoredRows) -> bool:
    return rows.card.name.partition(":")[0] == "length-ladder" and {"words", "position"} <= set(rows.card.factors)


def _cannot_fall(control: ScoredRows) -> bool:
    """Whether accuracy on the untouched pairs is not clearly above the share of the most frequent gold."""
    right = accuracy(control)
    return not (right.known and right.low > np.bincount(control.gold).max() / len(control.gold))


def _reading(rows: ScoredRows, control: ScoredRows, pairs: Pairing, position: str, positions: int) -> ReadingSpan:
    """Test the rungs from the longest down to the first without a significant loss."""
    words = rows.column(pl.col("words").cast(pl.Int64)).to_numpy()
    here = rows.column((pl.col("position") == position).fill_null(False)).to_numpy()
    rungs = sorted({int(number) for number in words[here]}, reverse=True)
    span = ReadingSpan(position, rungs[0], rungs[0])
    for rung, shorter in zip(rungs, [*rungs[1:], 0], strict=True):
        chosen = here & (words == rung)
        against = pairs.part(chosen).rate(rows.correct, control.correct)
        against = replace(against, p_adjusted=min(1.0, positions * against.p))
        # Written so that NaN, without rows or without a difference, counts as no loss.
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
