"""Pairs that only one side gets right, to read: the most confident mistakes on the slices that lost or gained most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from acidtest.core.document import Pair
from acidtest.core.run import ANSWER_COLUMNS
from acidtest.studies.gate.pairing import GateInput, SliceRows
from acidtest.studies.scoring.rows import with_texts
from acidtest.studies.scoring.slices import MOST_FACTS, confidence, describe_answer, spread

MOST_PAIRS = 5
_VERDICTS = {True: "right", False: "wrong"}


def newly_wrong(slices: Sequence[SliceRows], sides: tuple[GateInput, GateInput]) -> tuple[Pair, ...]:
    """Pairs that only the baseline gets right, from the first of the slices that have any.

    Of a baseline file only verdicts are known; without a run on either side there are no texts, and no pairs.
    """
    return _examples(slices, sides, right=0)


def newly_right(slices: Sequence[SliceRows], sides: tuple[GateInput, GateInput]) -> tuple[Pair, ...]:
    """Pairs that only the candidate gets right, from the first of the slices that have any."""
    return _examples(slices, sides, right=1)


def _examples(slices: Sequence[SliceRows], sides: tuple[GateInput, GateInput], right: int) -> tuple[Pair, ...]:
    """Up to five pairs that only the side with this number gets right; later slices fill what earlier ones lack."""
    pairs: dict[tuple[str, str], Pair] = {}
    for rows in slices:
        if len(pairs) >= MOST_PAIRS:
            break
        for pair in _slice_examples(rows, sides, right):
            pairs.setdefault((rows.suite.name, pair.id), pair)
    return tuple(pairs.values())[:MOST_PAIRS]


def _slice_examples(rows: SliceRows, sides: tuple[GateInput, GateInput], right: int) -> list[Pair]:
    suite, prefixes = rows.suite, ("before_", "after_")
    verdicts = suite.before, suite.after
    chosen = np.flatnonzero(rows.rows & verdicts[right] & ~verdicts[1 - right])
    if suite.described is None or not len(chosen):
        return []
    scored, described = suite.described
    columns = scored.frame[described[chosen]]
    answers = [
        side.scored.frame[places[chosen]].select(pl.col(*ANSWER_COLUMNS).name.prefix(prefix))
        for side, places, prefix in zip(suite.sides, suite.places, prefixes, strict=True)
        if side.scored is not None
    ]
    frame = pl.concat([columns, *answers], how="horizontal")
    wrong = sides[1 - right].run
    sure = np.zeros(len(chosen)) if wrong is None else confidence(frame, wrong, prefixes[1 - right])
    factors = [name for name in dict.fromkeys((*scored.card.strata, *scored.card.factors)) if name in columns.columns]
    shown = frame[spread(columns, factors, sure, count=MOST_PAIRS)]
    names = side_names(sides)
    pairs = []
    for row in with_texts(shown, scored.run, suite.name).iter_rows(named=True):
        given = {
            name: _VERDICTS[number == right] if side.run is None else describe_answer(row, side.run, prefix)
            for number, (name, side, prefix) in enumerate(zip(names, sides, prefixes, strict=True))
        }
        facts = [(name, str(row[name])) for name in factors if row[name] is not None]
        about = {"suite": suite.name, **dict(facts[:MOST_FACTS])}
        pairs.append(Pair(row["premise"], row["hypothesis"], row["label"], given, about, row["id"]))
    return pairs


def side_names(sides: tuple[GateInput, GateInput]) -> tuple[str, str]:
    """The names of the two sides, or what they are if both have the same."""
    first, second = (side.side.name for side in sides)
    return (first, second) if first != second else ("baseline", "candidate")
