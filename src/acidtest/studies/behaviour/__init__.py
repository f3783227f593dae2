"""How models react when two words are swapped: the experiments of Sanchez, Mitchell and Riedel (2018) on any run.

Three factors are tested on a suite of swapped pairs and its control: insensitivity (the same answer although gold
changed), unseen word pairs (the training set does not have them in this order), and polarity (the most frequent
training label of a word pair). The tests are the paper's; most come with a second one that allows for dependent rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import numpy as np
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS
from acidtest.core.logs import stage
from acidtest.core.run import Run
from acidtest.core.study import study
from acidtest.core.suite import Suite
from acidtest.pairs.counts import CATEGORIES, Polarities, polarities
from acidtest.stats.contingency import Ties, tied_categories
from acidtest.stats.significance import bonferroni
from acidtest.studies.behaviour.factors import (
    POLARITY,
    ContingencyOptions,
    FactorTest,
    SwapTest,
    compare_with_control,
    describe_errors,
    describe_factor,
    describe_repeats,
    describe_swap,
    factor_tests,
)
from acidtest.studies.behaviour.samples import (
    SwapSample,
    SwapSet,
    errors_following_polarity,
    load_swap_sets,
    repeated_errors,
    sample_lines,
)
from acidtest.studies.scoring.controls import repeats
from acidtest.studies.scoring.rows import runs_by_model

ALPHA = 0.0001
"""The paper's level for a single test, correction included: it calls G(1) = 15.91 (p = 0.00007) significant."""


@dataclass(frozen=True)
class Behaviour:
    """Results of one model on one suite and its control.

    ``repeats`` is the share of the same answer among pairs whose gold changed; ``repeated_errors`` is that share among
    errors on pairs for which the earlier answer is now wrong. ``follows`` is, among errors on pairs whose polarity is
    one label and not gold, the share that answer that label. ``follows_by_chance`` is its expectation if errors on
    pairs of the same gold did not depend on polarity: it is not 0, since a model may err mostly towards one label.
    """

    model: str
    suite: str
    signature: str
    control: SwapSample
    transformed: SwapSample
    swap: SwapTest
    factors: tuple[FactorTest, ...]
    repeats: Estimate
    repeated_errors: Estimate
    follows: Estimate
    follows_by_chance: float
    by_polarity: Mapping[str, Estimate]
    ties: Ties
    notes: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()

    def factor(self, name: str) -> FactorTest | None:
        """The test of a factor; None if it was not tested."""
        return next((factor for factor in self.factors if factor.name == name), None)


@dataclass(frozen=True)
class TrainingLabels:
    """Name of a training set, and its number of pairs by label."""

    name: str
    labels: Mapping[str, int]


@dataclass(frozen=True)
class BehaviourResult:
    """Results of all models on swap suites.

    ``alpha`` is the level of a single test; corrected p-values are Bonferroni's over all ``tests``. ``words`` says
    whether words are looked up in the training set by base form or as written.
    """

    behaviours: tuple[Behaviour, ...] = field(metadata={"json": "results"})
    train: TrainingLabels
    alpha: float
    test: str
    tests: int
    words: Literal["base forms", "as they stand"] = "base forms"
    correction: str = "bonferroni"
    schema: int = 1


@study(group="look into a run")
def behaviour(
    runs: Annotated[Sequence[Run], "Run folders with swap suites (swaps/…) and their controls."],
    *,
    train: Annotated[Suite, "The training set of the models: any three-way NLI file."],
    alpha: Annotated[float, "Level of significance of a single test."] = ALPHA,
    test: Annotated[
        Literal["g", "pearson", "fisher"], "g (likelihood ratio; Yates at one degree of freedom), pearson or fisher."
    ] = "g",
    literal: Annotated[bool, "Look words up in the training set as they stand, not in any of their forms."] = False,
    seed: Annotated[int, "Seed of every random choice."] = 0,
) -> BehaviourResult:
    """Show whether swapped words leave a model insensitive, at a loss for new pairs, or led by training statistics.

    The experiments of Sanchez, Mitchell and Riedel (2018) on any model: accuracy on the whole sample and three subsets,
    contingency tables with tests, and what they say in words.
    """
    # A swap suite has columns premise_word and hypothesis_word, the word pair of each row, and base_id, the id of the
    # control row that it was made from.
    if not 0 < alpha < 1:
        raise AcidtestError(f"--alpha is a number between 0 and 1, not {alpha:g}")
    other = sum(count for label, count in train.card.labels.items() if label not in LABELS)
    if other:
        raise AcidtestError(
            f"{train.name} has {other:,} pairs with another label than {', '.join(LABELS)}: the polarity of word pairs "
            f"needs a three-way training set"
        )
    sets = [swap_set for model, members in runs_by_model(runs).items() for swap_set in load_swap_sets(model, members)]
    if not sets:
        names = ", ".join(dict.fromkeys(name for run in runs for name in run.header.suites)) or "none"
        raise AcidtestError(
            f"no run holds a swap suite with its control (there is: {names}); "
            f"make one with: acidtest run --suites 'swaps/*' --from TRAIN"
        )
    stage("counting word pairs")
    words = pl.concat([rows.words for swap_set in sets for rows in (swap_set.swapped, swap_set.control)])
    known = polarities(words.drop_nulls().unique(), train, inflections=not literal)
    options = ContingencyOptions(test, seed, alpha)
    behaviours = [_behaviour(swap_set, known, options) for swap_set in sets]
    ps = [p for one in behaviours for p in (one.swap.p, *(factor.association.p for factor in one.factors))]
    corrected = iter(bonferroni(ps).tolist())
    return BehaviourResult(
        behaviours=tuple(
            _add_findings(one, [next(corrected) for _ in range(1 + len(one.factors))], alpha) for one in behaviours
        ),
        train=TrainingLabels(train.name, known.rows),
        alpha=alpha,
        test=test,
        tests=sum(not math.isnan(p) for p in ps),
        words="as they stand" if literal else "base forms",
    )


def _behaviour(sample: SwapSet, known: Polarities, options: ContingencyOptions) -> Behaviour:
    swapped = sample.swapped.with_polarity(known)
    sample = replace(sample, swapped=swapped, control=sample.control.with_polarity(known))
    correct, polarity = swapped.rows.correct, {name: swapped.polarity == n for n, name in enumerate(CATEGORIES)}
    right = {name: (int(correct[chosen].sum()), int(chosen.sum())) for name, chosen in polarity.items()}
    control, transformed = sample_lines(sample)
    follows, follows_by_chance = errors_following_polarity(swapped)
    return Behaviour(
        model=sample.model,
        suite=sample.suite,
        signature=sample.signature,
        control=control,
        transformed=transformed,
        swap=compare_with_control(sample, options),
        factors=factor_tests(sample, options),
        repeats=repeats(swapped.rows, sample.control.rows, sample.pairing),
        repeated_errors=repeated_errors(sample),
        follows=follows,
        follows_by_chance=follows_by_chance,
        by_polarity={name: swapped.accuracy(chosen, name) for name, chosen in polarity.items() if chosen.any()},
        ties=tied_categories(right, what=POLARITY),
        notes=_notes(sample),
    )


def _notes(sample: SwapSet) -> tuple[str, ...]:
    """Counts of rows left out of each comparison, and of the different word pairs."""
    swapped, height = sample.swapped, sample.swapped.rows.height
    known = swapped.polarity >= 0
    counts = {
        "without a control in the run, and not compared with one": height - len(sample.pairing.own),
        "without polarity, since they turn on several words or none": int((~known).sum()),
        "not answered": swapped.rows.unanswered,
    }
    skipped = [f"{what}: {count:,}" for what, count in counts.items() if count]
    words = len(np.unique(swapped.pairs[known]))
    return *skipped, f"ordered word pairs that the {height:,} rows turn on: {words:,}"


def _add_findings(result: Behaviour, corrected: Sequence[float], alpha: float) -> Behaviour:
    """The result with corrected p-values and sentences about its tests."""
    swap = replace(result.swap, p_adjusted=corrected[0])
    factors = tuple(replace(factor, p_adjusted=p) for factor, p in zip(result.factors, corrected[1:], strict=True))
    findings = [
        describe_swap(swap, result.control.whole, result.transformed.whole, alpha=alpha),
        *(describe_factor(factor, alpha=alpha) for factor in factors),
        *describe_repeats(result.repeats),
        *describe_errors(result.repeated_errors, result.follows, result.follows_by_chance),
    ]
    return replace(result, swap=swap, factors=factors, findings=tuple(findings))
