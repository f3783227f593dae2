"""How models behave when two words change places: the experiments of Sanchez, Mitchell and Riedel (2018) on any run.

Three factors are looked at on a suite of swapped pairs and its untouched ones: insensitivity (the same answer although
gold changed), word pairs that the training set does not hold in this order, and polarity, the label that the training
set ties to a word pair. The tests are the paper's; beside each stands one that does not take rows for independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.run import Run
from acidtest.core.suite import Suite
from acidtest.stats.contingency import TESTS
from acidtest.stats.significance import bonferroni
from acidtest.stats.ties import tied_categories
from acidtest.studies import behaviour_verdict as verdict
from acidtest.studies.behaviour_factors import Testing, factors, swap_test, testing
from acidtest.studies.behaviour_results import (
    CONTROL_POLARITY,
    GIVEN_GOLD,
    INSENSITIVITY,
    POLARITY,
    UNSEEN,
    Behaviour,
    Behaviours,
)
from acidtest.studies.behaviour_rows import SwapSet, swap_sets, word_pairs
from acidtest.studies.behaviour_shares import (
    by_polarity,
    control_sample,
    follows,
    follows_by_chance,
    repeats,
    right_by_polarity,
    swapped_sample,
)
from acidtest.studies.rows import runs_by_model
from acidtest.text.polarity import polarities

ALPHA = 0.0001
"""The paper's level for a single test: what is left after its correction, since it finds G(1) = 15.91 (p = 0.00007)."""


def behaviours(
    runs: Sequence[Run],
    train: Suite,
    *,
    alpha: float = ALPHA,
    test: str = "g",
    literal: bool = False,
    seed: int = 0,
) -> Behaviours:
    """Every swap suite with its control in the runs, looked at by the factors that the training set tells.

    A swap suite has the columns ``premise_word`` and ``hypothesis_word``, the pair as it stands in each row, and rows
    that say by ``base_id`` which row of the control they were made from. ``test`` is g, pearson or fisher. The training
    set holds a word pair when it holds any forms of the two words; ``literal`` asks for the forms as they stand.
    ``alpha`` is the level of a single test, so that a verdict does not depend on which other runs are named.
    """
    if not 0 < alpha < 1:
        raise AcidtestError(f"--alpha is a number between 0 and 1, not {alpha:g}")
    if test not in TESTS:
        raise UnknownNameError("test of contingency tables", test, TESTS)
    sets = [each for model, held in runs_by_model(runs).items() for each in swap_sets(model, held)]
    if not sets:
        held_by = ", ".join(dict.fromkeys(name for run in runs for name in run.header.suites)) or "none"
        raise AcidtestError(
            f"no run holds a swap suite with its control (there is: {held_by}); "
            f"make one with: acidtest run --suites 'swaps/*' --from TRAIN"
        )
    told = polarities(word_pairs(sets), train, inflections=not literal)
    how = testing(test, seed, alpha=alpha)
    looked = [_behaviour(each.with_polarity(told), how) for each in sets]
    ps = [p for each in looked for p in (each.swap.p, *(factor.found.p for factor in each.factors))]
    corrected = iter(bonferroni(ps))
    found = tuple(
        _concluded(each, [float(next(corrected)) for _ in range(1 + len(each.factors))], alpha) for each in looked
    )
    tests = sum(not math.isnan(p) for p in ps)
    return Behaviours(found, train.name, told.rows, alpha, test, tests, literal)


def _behaviour(held: SwapSet, how: Testing) -> Behaviour:
    return Behaviour(
        model=held.model,
        suite=held.suite,
        signature=held.signature,
        control=control_sample(held),
        transformed=swapped_sample(held),
        swap=swap_test(held, how),
        factors=factors(held, how),
        repeats=repeats(held),
        repeated_errors=repeats(held, errors=True),
        follows=follows(held.own),
        follows_by_chance=follows_by_chance(held.own),
        by_polarity=by_polarity(held.own),
        ties=tied_categories(right_by_polarity(held.own), what=POLARITY),
        notes=_notes(held),
    )


def _notes(held: SwapSet) -> tuple[str, ...]:
    """What was left out, and what rows share."""
    own, height = held.own, held.own.rows.height
    counts = {
        "without a control in the run, and not compared with one": height - len(held.pairing.own),
        "without polarity, since they turn on several words or none": int((~own.known).sum()),
        "not answered": own.rows.unanswered,
    }
    told = [f"{what}: {count:,}" for what, count in counts.items() if count]
    words = len(np.unique(own.pairs[own.known]))
    return *told, f"ordered word pairs that the {height:,} rows turn on: {words:,}"


def _concluded(each: Behaviour, corrected: Sequence[float], alpha: float) -> Behaviour:
    """With corrected p-values, and what they say in words."""
    swap = replace(each.swap, p_adjusted=corrected[0])
    factors = tuple(replace(factor, p_adjusted=p) for factor, p in zip(each.factors, corrected[1:], strict=True))
    done = replace(each, swap=swap, factors=factors)
    return replace(done, findings=_findings(done, alpha))


def _findings(each: Behaviour, alpha: float) -> tuple[str, ...]:
    accuracies = each.control.whole, each.transformed.whole
    told = [verdict.swap(each.swap.difference, accuracies, p=each.swap.p, p_groups=each.swap.p_groups, alpha=alpha)]
    says = {
        INSENSITIVITY: verdict.insensitivity,
        UNSEEN: verdict.unseen,
        POLARITY: verdict.polarity,
        CONTROL_POLARITY: verdict.control_polarity,
    }
    for factor in each.factors:
        if factor.table is not None:
            ps = {"p": factor.found.p, "p_pairs": factor.p_pairs, "alpha": alpha}
            told.append(says[factor.name](factor.table, factor.found, **ps))
    given = each.factor(GIVEN_GOLD)
    if given:
        told.append(verdict.given_gold(given.found, p=given.found.p, alpha=alpha))
    told += [*verdict.repeated(each.repeated_errors), *verdict.follows(each.follows, each.follows_by_chance)]
    return tuple(told)
