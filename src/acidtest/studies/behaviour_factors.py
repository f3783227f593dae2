"""Tests of behaviour under swapped words: accuracy before and after, and the three factors' tables.

The tests are those of Sanchez, Mitchell and Riedel (2018); beside each stands one that does not take rows for
independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from acidtest.stats.contingency import Crosstab, association, conditional_association, shuffled
from acidtest.stats.intervals import difference
from acidtest.stats.resampling import generator
from acidtest.stats.significance import mcnemar, paired_permutation
from acidtest.studies.behaviour_results import (
    CONTROL_POLARITY,
    GIVEN_GOLD,
    INSENSITIVITY,
    POLARITY,
    UNSEEN,
    Factor,
    Swap,
)
from acidtest.studies.behaviour_rows import Side, SwapSet
from acidtest.text.polarity import CATEGORIES

CORRECT = ("correct", "incorrect")
CHANGE = ("change", "no change")
SEEN = ("seen", "unseen")

_MOST_DRAWS = 2_000_000


@dataclass(frozen=True)
class Testing:
    """How tables are tested: by which test, with which seed, and how many tables Fisher's test draws."""

    test: str
    seed: int
    draws: int

    @property
    def rng(self) -> np.random.Generator:
        """A source of random numbers, the same for every table."""
        return generator(self.seed)


def testing(test: str, seed: int, *, alpha: float) -> Testing:
    """Draws are enough for a p well below alpha, or as many as can be waited for."""
    return Testing(test, seed, min(_MOST_DRAWS, max(100_000, math.ceil(20 / alpha))))


def swap_test(held: SwapSet, how: Testing) -> Swap:
    """Accuracy after the change against accuracy before it."""
    pairs = held.pairing
    new = held.own.rows.correct[pairs.own].astype(np.float64)
    old = held.control.rows.correct[pairs.control].astype(np.float64)
    test = mcnemar(new, old)
    alone = len(np.unique(pairs.groups)) == len(pairs.groups)
    grouped = math.nan if alone else paired_permutation(new, old, groups=pairs.groups, rng=how.rng).p
    return Swap(difference(new, old, groups=pairs.groups, strata=pairs.strata), test.name, test.p, grouped)


def factors(held: SwapSet, how: Testing) -> tuple[Factor, ...]:
    """Insensitivity, unseen pairs, polarity on both samples and, where gold varies, among pairs of the same gold."""
    own, control = held.own, held.control
    tested = [
        _insensitivity(held, how),
        _unseen(own, how),
        _polarity(POLARITY, own, how),
        _polarity(CONTROL_POLARITY, control, how),
    ]
    return (*tested, _given_gold(own, how)) if len(np.unique(own.rows.gold)) > 1 else tuple(tested)


def _insensitivity(held: SwapSet, how: Testing) -> Factor:
    """Table 2: among pairs whose gold changed, correct or not by whether the answer is the control's."""
    pairs = held.pairing
    chosen = held.changed[pairs.own]
    after, before = held.own.answers[pairs.own][chosen], held.control.answers[pairs.control][chosen]
    same = np.where((after < 0) | (before < 0), -1, after == before)
    wrong = ~held.own.rows.correct[pairs.own][chosen]
    return _factor(INSENSITIVITY, Crosstab.of(same, wrong, names=(CHANGE, CORRECT)), how)


def _unseen(side: Side, how: Testing) -> Factor:
    """Table 3: correct or not by whether the training set holds the words in this order."""
    unseen = np.where(side.known, side.codes == len(CATEGORIES) - 1, -1)
    table = Crosstab.of(~side.rows.correct, unseen, names=(CORRECT, SEEN))
    p = shuffled(unseen, ~side.rows.correct, side.pairs, rng=how.rng)
    return _factor(UNSEEN, table, how, p)


def _polarity(name: str, side: Side, how: Testing) -> Factor:
    """Table 4: the answer by the polarity of the word pair."""
    table = Crosstab.of(side.codes, side.answers, names=(CATEGORIES, side.rows.labels))
    return _factor(name, table, how, shuffled(side.codes, side.answers, side.pairs, rng=how.rng))


def _given_gold(side: Side, how: Testing) -> Factor:
    """Whether answers go with polarity among pairs of the same gold: right answers alone make a table-4 association."""
    names = (CATEGORIES, side.rows.labels)
    tables = [
        Crosstab.of(side.codes[chosen], side.answers[chosen], names=names)
        for chosen in (side.rows.gold == gold for gold in np.unique(side.rows.gold))
    ]
    return Factor(GIVEN_GOLD, None, conditional_association(tables, how.test))


def _factor(name: str, table: Crosstab, how: Testing, p_pairs: float = math.nan) -> Factor:
    # Polarities that no pair has are no finding; tables keep the rows and columns that hold something.
    shown = table.filled if name in (POLARITY, CONTROL_POLARITY) else table
    return Factor(name, shown, association(shown, how.test, rng=how.rng, draws=how.draws), p_pairs)
