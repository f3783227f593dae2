"""Shares behind the behaviour under swapped words: table 1 of Sanchez et al. (2018), and what errors are."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS
from acidtest.core.suite import CONTROL
from acidtest.studies.behaviour_results import Sample
from acidtest.studies.behaviour_rows import Flags, Side, SwapSet
from acidtest.text.polarity import CATEGORIES


def control_sample(held: SwapSet) -> Sample:
    """The control's line of table 1."""
    return Sample(held.suite + CONTROL, _rate(held.control, None, "pairs"), None, None, _against(held.control))


def swapped_sample(held: SwapSet) -> Sample:
    """The changed pairs' line of table 1."""
    own = held.own
    return Sample(
        held.suite,
        _rate(own, None, "pairs"),
        _rate(own, held.changed, "pair whose gold changed"),
        _rate(own, (own.polarity == CATEGORIES[-1]).fill_null(value=False).to_numpy(), "unseen word pair"),
        _against(own),
    )


def by_polarity(side: Side) -> dict[str, Estimate]:
    """Accuracy on the pairs of each polarity that there is."""
    codes = side.codes
    numbers = {name: number for number, name in enumerate(CATEGORIES) if (codes == number).any()}
    return {name: _rate(side, codes == number, name) for name, number in numbers.items()}


def right_by_polarity(side: Side) -> dict[str, tuple[int, int]]:
    """How many pairs of each polarity are right, and how many there are."""
    codes, correct = side.codes, side.rows.correct
    chosen = {name: codes == number for number, name in enumerate(CATEGORIES)}
    return {name: (int(correct[flags].sum()), int(flags.sum())) for name, flags in chosen.items()}


def repeats(held: SwapSet, *, errors: bool = False) -> Estimate:
    """Among pairs whose gold changed and that were answered both times, the share of the same answer.

    ``errors``: only where gold is one label, the answer is wrong and the one given before would be wrong, too.
    """
    pairs, own = held.pairing, held.own
    if errors and len(own.rows.labels) < len(LABELS):
        return Estimate(math.nan, note="a two-way model has one way to be wrong")
    after, before, gold = own.answers[pairs.own], held.control.answers[pairs.control], own.rows.gold[pairs.own]
    chosen = held.changed[pairs.own] & (after >= 0) & (before >= 0)
    if errors:
        single = np.isin(gold, [1 << bit for bit in range(len(LABELS))])
        chosen &= single & ~own.rows.correct[pairs.own] & (gold != 1 << np.maximum(before, 0))
    same, rows = np.zeros((2, own.rows.height), dtype=np.bool_)
    same[pairs.own], rows[pairs.own] = after == before, chosen
    found = own.rows.rate(same, rows)
    return found if found.known else replace(found, note=f"no {'error on a ' if errors else ''}pair whose gold changed")


def follows(side: Side) -> Estimate:
    """Among errors on pairs with a polarity of one label that is not gold, the share that answers that label."""
    if len(side.rows.labels) < len(LABELS):
        return Estimate(math.nan, note="a two-way model has one way to be wrong")
    found = side.rows.rate(side.answers == side.codes, _misled(side))
    return found if found.known else replace(found, note="no error against a polarity of one label")


def follows_by_chance(side: Side) -> float:
    """What ``follows`` would be if the errors of each gold were spread over its word pairs at random."""
    wrong = _misled(side)
    if not wrong.any():
        return math.nan
    expected = 0.0
    for gold in np.unique(side.rows.gold[wrong]):
        chosen = wrong & (side.rows.gold == gold)
        polarity, answer = (np.bincount(codes[chosen], minlength=len(LABELS)) for codes in (side.codes, side.answers))
        expected += float(polarity @ answer) / int(chosen.sum())
    return expected / int(wrong.sum())


def _misled(side: Side) -> Flags:
    single = (side.codes >= 0) & (side.codes < len(LABELS))
    return np.asarray(side.against & single & ~side.rows.correct & (side.answers >= 0), dtype=np.bool_)


def _against(side: Side) -> Estimate:
    return _rate(side, side.against, "pair whose polarity is not gold")


def _rate(side: Side, chosen: Flags | None, what: str) -> Estimate:
    found = side.rows.rate(side.rows.correct, chosen)
    return found if found.known else replace(found, note=f"no {what}")
