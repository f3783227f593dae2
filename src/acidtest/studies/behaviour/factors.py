"""Tests of behaviour under swapped words: accuracy before and after, the three factors' tables, and what they say.

The tests are those of Sanchez, Mitchell and Riedel (2018); beside each is one that does not take rows for independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS
from acidtest.core.serialise import INLINE
from acidtest.stats.contingency import Association, Crosstab, association, conditional_association, permutation_p
from acidtest.stats.intervals import difference
from acidtest.stats.resampling import generator
from acidtest.stats.significance import mcnemar, paired_permutation
from acidtest.studies.behaviour.samples import SampleRows, SwapSet
from acidtest.text.pair_counts import CATEGORIES
from acidtest.text.pair_counts import UNSEEN as NO_POLARITY

INSENSITIVITY, UNSEEN, POLARITY = "insensitivity", "unseen pairs", "polarity"
CONTROL_POLARITY, GIVEN_GOLD = "polarity, control", "polarity given gold"

CORRECT = ("correct", "incorrect")
CHANGE = ("change", "no change")
SEEN = ("seen", "unseen")

DOUBTFUL = 0.01
"""A finding whose p is above this when rows that belong together are kept so is said to be in doubt."""

_MOST_DRAWS = 2_000_000


@dataclass(frozen=True)
class SwapTest:
    """Accuracy after the swap less accuracy before it, pair by pair: McNemar's test on rows, as in the paper.

    ``p_groups`` is that of whole groups changing places, NaN where every row is a group of its own.
    """

    difference: Estimate
    test: str
    p: float
    p_groups: float
    p_adjusted: float = math.nan


@dataclass(frozen=True)
class FactorTest:
    """One factor's table, where it has one, and its test.

    ``p_pairs`` is that of whole word pairs changing places, NaN where the factor does not belong to word pairs.
    """

    name: str = field(metadata={"json": "factor"})
    table: Crosstab | None
    association: Association = field(metadata={"json": INLINE})
    p_pairs: float = field(default=math.nan, metadata={"json": "p_word_pairs"})
    p_adjusted: float = math.nan


@dataclass(frozen=True)
class ContingencyOptions:
    """Which test tables get, with which seed, and how many tables Fisher's test draws."""

    test: str
    seed: int
    draws: int

    @property
    def rng(self) -> np.random.Generator:
        """A source of random numbers, the same for every table."""
        return generator(self.seed)

    @staticmethod
    def for_level(test: str, seed: int, alpha: float) -> ContingencyOptions:
        """Enough draws for a p well below alpha, up to a limit."""
        return ContingencyOptions(test, seed, min(_MOST_DRAWS, max(100_000, math.ceil(20 / alpha))))


def compare_with_control(sample: SwapSet, options: ContingencyOptions) -> SwapTest:
    """Accuracy after the swap against accuracy before it."""
    pairs = sample.pairing
    new = sample.swapped.rows.correct[pairs.own].astype(np.float64)
    old = sample.control.rows.correct[pairs.control].astype(np.float64)
    test = mcnemar(new, old)
    alone = len(np.unique(pairs.groups)) == len(pairs.groups)
    grouped = math.nan if alone else paired_permutation(new, old, groups=pairs.groups, rng=options.rng).p
    return SwapTest(difference(new, old, groups=pairs.groups, strata=pairs.strata), test.name, test.p, grouped)


def factor_tests(sample: SwapSet, options: ContingencyOptions) -> tuple[FactorTest, ...]:
    """Insensitivity, unseen pairs, polarity on both samples and, where gold varies, among pairs of the same gold."""
    swapped, control = sample.swapped, sample.control
    tests = [
        _test_insensitivity(sample, options),
        _test_unseen_pairs(swapped, options),
        _test_polarity(POLARITY, swapped, options),
        _test_polarity(CONTROL_POLARITY, control, options),
    ]
    varies = len(np.unique(swapped.rows.gold)) > 1
    return (*tests, _test_polarity_given_gold(swapped, options)) if varies else tuple(tests)


def _test_insensitivity(sample: SwapSet, options: ContingencyOptions) -> FactorTest:
    """Table 2: among pairs whose gold changed, correct or not by whether the answer is the control's."""
    pairs = sample.pairing
    chosen = sample.changed[pairs.own]
    after, before = sample.swapped.answers[pairs.own][chosen], sample.control.answers[pairs.control][chosen]
    same = np.where((after < 0) | (before < 0), -1, after == before)
    wrong = ~sample.swapped.rows.correct[pairs.own][chosen]
    return _test_table(INSENSITIVITY, Crosstab.of(same, wrong, names=(CHANGE, CORRECT)), options)


def _test_unseen_pairs(rows: SampleRows, options: ContingencyOptions) -> FactorTest:
    """Table 3: correct or not by whether the training set has the words in this order."""
    unseen = np.where(rows.known, rows.codes == len(CATEGORIES) - 1, -1)
    table = Crosstab.of(~rows.rows.correct, unseen, names=(CORRECT, SEEN))
    p = permutation_p(unseen, ~rows.rows.correct, rows.pairs, rng=options.rng)
    return _test_table(UNSEEN, table, options, p)


def _test_polarity(name: str, rows: SampleRows, options: ContingencyOptions) -> FactorTest:
    """Table 4: the answer by the polarity of the word pair."""
    table = Crosstab.of(rows.codes, rows.answers, names=(CATEGORIES, rows.rows.labels))
    return _test_table(name, table, options, permutation_p(rows.codes, rows.answers, rows.pairs, rng=options.rng))


def _test_polarity_given_gold(rows: SampleRows, options: ContingencyOptions) -> FactorTest:
    """Whether answers go with polarity among pairs of the same gold: right answers alone make a table-4 association."""
    names = (CATEGORIES, rows.rows.labels)
    tables = [
        Crosstab.of(rows.codes[chosen], rows.answers[chosen], names=names)
        for chosen in (rows.rows.gold == gold for gold in np.unique(rows.rows.gold))
    ]
    return FactorTest(GIVEN_GOLD, None, conditional_association(tables, options.test))


def _test_table(name: str, table: Crosstab, options: ContingencyOptions, p_pairs: float = math.nan) -> FactorTest:
    # Polarities that no pair has are no finding; tables keep the rows and columns that hold something.
    shown = table.filled if name in (POLARITY, CONTROL_POLARITY) else table
    return FactorTest(name, shown, association(shown, options.test, rng=options.rng, draws=options.draws), p_pairs)


def describe_swap(swap: SwapTest, before: Estimate, after: Estimate, *, alpha: float) -> str:
    """Accuracy before and after the swap."""
    if math.isnan(swap.p):
        return "No pair has its control beside it, so what the swap does cannot be told."
    change = swap.difference
    interval = f", {_points(change.low)} to {_points(change.high)}" if not math.isnan(change.low) else ""
    accuracies = f"from {_share(before.value)} to {_share(after.value)}"
    change_text = f"{accuracies} ({_points(change.value)} points{interval}; {_p(swap.p)})"
    if swap.p >= alpha:
        return f"The swap is not shown to change accuracy, {change_text}."
    verb = "lowers" if change.value < 0 else "raises"
    return f"The swap {verb} accuracy {change_text}{_doubt(swap.p_groups, 'groups')}."


def describe_factor(factor: FactorTest, *, alpha: float) -> str:
    """What the test of a factor says; nothing where a table was expected and there is none."""
    if factor.name == GIVEN_GOLD:
        return _describe_given_gold(factor.association, alpha=alpha)
    if factor.table is None:
        return ""
    if factor.name == INSENSITIVITY:
        return _describe_insensitivity(factor.table, factor.association, alpha=alpha)
    if factor.name == UNSEEN:
        return _describe_unseen(factor.table, factor, alpha=alpha)
    subjects = {POLARITY: "Answers", CONTROL_POLARITY: "On the control, answers"}
    return _describe_polarity(subjects[factor.name], factor.table, factor, alpha=alpha)


def describe_repeated_errors(share: Estimate) -> list[str]:
    """How errors fall where gold changes: what the test of table 2 does not say."""
    if not share.known:
        return []
    errors = f"{_with_interval(share)} of the {share.n:,} errors that might repeat the answer given before do"
    return [f"Where gold changes, {errors}; one half would, were errors even between the two wrong labels."]


def describe_following(share: Estimate, expected: float) -> list[str]:
    """How errors fall where polarity misleads."""
    if not share.known:
        return []
    errors = f"{_with_interval(share)} of the {share.n:,} errors are that label"
    return [
        f"Where polarity is one label and wrong, {errors}; {_share(expected)} would be if errors took no heed of it."
    ]


def _describe_insensitivity(table: Crosstab, test: Association, *, alpha: float) -> str:
    """Table 2 in words."""
    if not table.n:
        return (
            "Insensitivity cannot be told: no gold changes among pairs that are answered, and there a model that "
            "ignores the swap loses nothing."
        )
    kept_right, kept_wrong = (int(count) for count in table.counts[1])
    right, wrong = (int(count) for count in table.counts.sum(axis=0))
    shares = (
        f"{_of(kept_wrong, wrong)} errors repeat the answer given before, {_of(kept_right, right)} right answers do"
    )
    if math.isnan(test.p):
        return f"Where gold changes, insensitivity cannot be tested ({_reason(test)}): {shares}."
    if test.p >= alpha:
        return f"Where gold changes, errors are not shown to go with repeated answers ({_test(test)}): {shares}."
    kind = "changed" if test.effect.value < 0 else "repeated"
    return f"Where gold changes, errors go with {kind} answers ({_test(test)}): {shares}."


def _describe_unseen(table: Crosstab, factor: FactorTest, *, alpha: float) -> str:
    """Table 3 in words."""
    test = factor.association
    seen, unseen = (int(count) for count in table.counts.sum(axis=0))
    if not unseen:
        return "Every word pair stands in the training set in this order: there are no unseen pairs to look at."
    right = [int(count) for count in table.counts[0]]
    shares = f"{_of(right[1], unseen)} rows with unseen word pairs are right, {_of(right[0], seen)} with seen ones"
    if math.isnan(test.p):
        return f"Unseen word pairs cannot be tested ({_reason(test)}): {shares}."
    if test.p >= alpha:
        return f"Unseen word pairs are not shown to matter ({_test(test)}): {shares}."
    worse = "worse" if test.effect.value > 0 else "better"
    doubt = _doubt(factor.p_pairs, "word pairs")
    return f"Unseen word pairs are answered {worse} ({_test(test)}): {shares}{doubt}."


def _describe_polarity(subject: str, table: Crosstab, factor: FactorTest, *, alpha: float) -> str:
    """Table 4 in words, of the swapped pairs or of the control."""
    test = factor.association
    if not table.n:
        return f"{subject} cannot be set against polarity: no word pair has one, among those that are answered."
    if len(table.columns) == 1:
        return f"{subject} do not depend on polarity: every one is {table.columns[0]} ({table.n:,} in all)."
    if math.isnan(test.p):
        return f"{subject} cannot be set against polarity ({_reason(test)})."
    shares = _answers_by_polarity(table)
    if test.p >= alpha:
        return f"{subject} are not shown to go with the polarity of the word pair ({_test(test)}): {shares}."
    doubt = _doubt(factor.p_pairs, "word pairs")
    return f"{subject} go with the polarity of the word pair ({_test(test)}): {shares}{doubt}."


def _describe_given_gold(test: Association, *, alpha: float) -> str:
    """Whether polarity matters beyond gold."""
    if math.isnan(test.p):
        return f"Whether polarity matters among pairs of the same gold cannot be tested: {test.note}."
    if test.p >= alpha:
        return f"Among pairs of the same gold, answers are not shown to go with polarity ({_test(test)})."
    return f"Answers go with polarity among pairs of the same gold too ({_test(test)})."


def _answers_by_polarity(table: Crosstab) -> str:
    """How often each polarity of one label is answered by that label, and what unseen pairs are answered by."""
    labels = [name for name in table.rows if name in table.columns and name in LABELS]
    shares = ", ".join(f"{label} {_of(_count(table, label), _row_total(table, label))}" for label in labels)
    parts = [f"as their polarity says are answered {shares}"] if labels else []
    if NO_POLARITY in table.rows:
        counts = table.counts[table.rows.index(NO_POLARITY)]
        most = table.columns[int(counts.argmax())]
        parts.append(f"{most} is the answer to {_of(int(counts.max()), int(counts.sum()))} unseen ones")
    return "; ".join(parts) or "no polarity is one label"


def _count(table: Crosstab, label: str) -> int:
    return int(table.counts[table.rows.index(label), table.columns.index(label)])


def _row_total(table: Crosstab, row: str) -> int:
    return int(table.counts[table.rows.index(row)].sum())


def _test(test: Association) -> str:
    """``G(1) = 175.34 with Yates' correction, phi 0.74, p < 0.0001``."""
    return f"{test.describe()}, {_p(test.p)}"


def _reason(test: Association) -> str:
    """Why a table cannot be tested, without what was dropped on the way."""
    return test.note.split("; ")[-1]


def _doubt(p: float, what: str) -> str:
    """What is added when keeping together what belongs together leaves little."""
    return f"; in doubt, since with whole {what} shuffled p is {p:.3f}" if p >= DOUBTFUL else ""


def _with_interval(share: Estimate) -> str:
    interval = "" if math.isnan(share.low) else f" ({_share(share.low)} to {_share(share.high)})"
    return f"{_share(share.value)}{interval}"


def _of(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}" + (f" ({_share(part / whole)})" if whole else "")


def _p(p: float) -> str:
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def _points(value: float) -> str:
    rounded = round(100 * value, 1)
    return f"{rounded:+.1f}".replace("-", "−") if rounded else "0.0"
