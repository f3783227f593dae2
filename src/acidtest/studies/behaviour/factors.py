"""Tests of behaviour under swapped words: accuracy before and after, the tables of factors, and sentences on both.

The tests are those of Sanchez, Mitchell and Riedel (2018); most come with a second one that allows for dependent rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS
from acidtest.core.numbers import describe_share, share, signed
from acidtest.core.serialise import INLINE
from acidtest.pairs.counts import CATEGORIES
from acidtest.pairs.counts import UNSEEN as NO_POLARITY
from acidtest.stats.contingency import Association, Crosstab, association, conditional_association, permutation_p
from acidtest.stats.intervals import difference
from acidtest.stats.resampling import generator
from acidtest.stats.significance import mcnemar, paired_permutation
from acidtest.studies.behaviour.samples import SampleRows, SwapSet
from acidtest.studies.scoring.rows import Flags

INSENSITIVITY, UNSEEN, POLARITY = "insensitivity", "unseen pairs", "polarity"
CONTROL_POLARITY, GIVEN_GOLD = "polarity, control", "polarity given gold"

CORRECT = ("correct", "incorrect")

CLAIMS = {
    INSENSITIVITY: (
        "Where gold changes, insensitivity cannot be tested",
        "Where gold changes, errors are not shown to go with repeated answers",
        "Where gold changes, errors go with {} answers",
    ),
    UNSEEN: (
        "Unseen word pairs cannot be tested",
        "Unseen word pairs are not shown to matter",
        "Unseen word pairs are answered {}",
    ),
    POLARITY: (
        "{} cannot be set against polarity",
        "{} are not shown to go with the polarity of the word pair",
        "{} go with the polarity of the word pair",
    ),
    GIVEN_GOLD: (
        "Whether polarity matters among pairs of the same gold cannot be tested",
        "Among pairs of the same gold, answers are not shown to go with polarity",
        "Answers go with polarity among pairs of the same gold too",
    ),
}
"""Sentences on each factor: if it cannot be tested, if it is not significant, and if it is."""

DOUBTFUL = 0.01
"""A finding is in doubt if p with whole groups or word pairs permuted is not below this."""


@dataclass(frozen=True)
class SwapTest:
    """Accuracy after the swap minus accuracy before it, paired by row, with McNemar's test as in the paper.

    ``p_groups`` is from a permutation test over whole groups, NaN if every row is its own group.
    """

    difference: Estimate
    test: str
    p: float
    p_groups: float
    p_adjusted: float = math.nan


@dataclass(frozen=True)
class FactorTest:
    """The table of one factor, if it has one, and its test.

    ``p_pairs`` is from a permutation test over whole word pairs, NaN for insensitivity and polarity given gold.
    """

    name: str = field(metadata={"json": "factor"})
    table: Crosstab | None
    association: Association = field(metadata={"json": INLINE})
    p_pairs: float = field(default=math.nan, metadata={"json": "p_word_pairs"})
    p_adjusted: float = math.nan


@dataclass(frozen=True)
class ContingencyOptions:
    """The test of contingency tables, its seed, and the level of significance."""

    test: str
    seed: int
    alpha: float

    @property
    def rng(self) -> np.random.Generator:
        """A new random generator with the same seed for every table."""
        return generator(self.seed)

    @property
    def draws(self) -> int:
        """Number of tables that Fisher's test draws: enough for a p well below alpha, up to a limit."""
        return min(2_000_000, max(100_000, math.ceil(20 / self.alpha)))


def compare_with_control(sample: SwapSet, options: ContingencyOptions) -> SwapTest:
    """Test accuracy after the swap against accuracy before it."""
    pairs = sample.pairing
    new = sample.swapped.rows.correct[pairs.own].astype(np.float64)
    old = sample.control.rows.correct[pairs.control].astype(np.float64)
    test = mcnemar(new, old)
    alone = len(np.unique(pairs.groups)) == len(pairs.groups)
    grouped = math.nan if alone else paired_permutation(new, old, groups=pairs.groups, rng=options.rng).p
    return SwapTest(difference(new, old, groups=pairs.groups, strata=pairs.strata), test.name, test.p, grouped)


def factor_tests(sample: SwapSet, options: ContingencyOptions) -> tuple[FactorTest, ...]:
    """Tests of insensitivity, unseen pairs, polarity in suite and control and, if gold varies, polarity given gold."""
    swapped = sample.swapped
    tests = [
        _test_insensitivity(sample, options),
        _test_unseen_pairs(swapped, options),
        _test_polarity(POLARITY, swapped, options),
        _test_polarity(CONTROL_POLARITY, sample.control, options),
    ]
    golds = np.unique(swapped.rows.gold)
    if len(golds) > 1:
        # In table 4, answers may go with polarity only because both go with gold; holding gold fixed rules that out.
        by_gold = [_polarity_table(swapped, swapped.rows.gold == gold) for gold in golds]
        tests.append(FactorTest(GIVEN_GOLD, None, conditional_association(by_gold, options.test)))
    return tuple(tests)


def _test_insensitivity(sample: SwapSet, options: ContingencyOptions) -> FactorTest:
    """Table 2: for pairs whose gold changed, whether the answer is the control's by whether it is correct."""
    pairs = sample.pairing
    chosen = sample.changed[pairs.own]
    after, before = sample.swapped.answers[pairs.own][chosen], sample.control.answers[pairs.control][chosen]
    same = np.where((after < 0) | (before < 0), -1, after == before)
    wrong = ~sample.swapped.rows.correct[pairs.own][chosen]
    return _test_table(INSENSITIVITY, Crosstab.of(same, wrong, names=(("change", "no change"), CORRECT)), options)


def _test_unseen_pairs(rows: SampleRows, options: ContingencyOptions) -> FactorTest:
    """Table 3: whether the answer is correct by whether the training set has the words in this order."""
    unseen = np.where(rows.polarity >= 0, rows.polarity == len(CATEGORIES) - 1, -1)
    wrong = ~rows.rows.correct
    table = Crosstab.of(wrong, unseen, names=(CORRECT, ("seen", "unseen")))
    return _test_table(UNSEEN, table, options, permutation_p(unseen, wrong, rows.pairs, rng=options.rng))


def _test_polarity(name: str, rows: SampleRows, options: ContingencyOptions) -> FactorTest:
    """Table 4: the answer by the polarity of the word pair, without empty rows and columns."""
    table = _polarity_table(rows, slice(None)).filled
    return _test_table(name, table, options, permutation_p(rows.polarity, rows.answers, rows.pairs, rng=options.rng))


def _polarity_table(rows: SampleRows, chosen: Flags | slice) -> Crosstab:
    return Crosstab.of(rows.polarity[chosen], rows.answers[chosen], names=(CATEGORIES, rows.rows.labels))


def _test_table(name: str, table: Crosstab, options: ContingencyOptions, p_pairs: float = math.nan) -> FactorTest:
    return FactorTest(name, table, association(table, options.test, rng=options.rng, draws=options.draws), p_pairs)


def describe_swap(swap: SwapTest, before: Estimate, after: Estimate, *, alpha: float) -> str:
    """A sentence on accuracy before and after the swap."""
    if math.isnan(swap.p):
        return "No pair has its control beside it, so what the swap does cannot be told."
    change = swap.difference
    interval = f", {signed(change.low)} to {signed(change.high)}" if not math.isnan(change.low) else ""
    accuracies = f"from {share(before.value)} % to {share(after.value)} %"
    change_text = f"{accuracies} ({signed(change.value)} points{interval}; {_p(swap.p)})"
    if swap.p >= alpha:
        return f"The swap is not shown to change accuracy, {change_text}."
    verb = "lowers" if change.value < 0 else "raises"
    return f"The swap {verb} accuracy {change_text}{_doubt(swap.p_groups, 'groups')}."


def describe_factor(factor: FactorTest, *, alpha: float) -> str:
    """A sentence on the test of a factor: the result, the test in brackets, then counts."""
    table, test, word, shares = factor.table, factor.association, "", ""
    if table is not None and factor.name == INSENSITIVITY:
        if not table.n:
            return (
                "Insensitivity cannot be told: no gold changes among pairs that are answered, and there a model that "
                "ignores the swap loses nothing."
            )
        (kept_right, kept_wrong), (right, wrong) = table.counts[1].tolist(), table.counts.sum(axis=0).tolist()
        if repeats_all(factor):
            return (
                f"Insensitive: where gold changes, all {table.n:,} predictions repeat the earlier one, so {wrong:,} "
                "are wrong; no table is needed to test that."
            )
        errors = f"{_of(kept_wrong, wrong)} errors repeat the answer given before"
        word = "changed" if test.effect.value < 0 else "repeated"
        shares = f"{errors}, {_of(kept_right, right)} right answers do"
    elif table is not None and factor.name == UNSEEN:
        (seen_right, unseen_right), (seen, unseen) = table.counts[0].tolist(), table.counts.sum(axis=0).tolist()
        if not unseen:
            return "Every word pair stands in the training set in this order: there are no unseen pairs to look at."
        new = f"{_of(unseen_right, unseen)} rows with unseen word pairs are right"
        word, shares = "worse" if test.effect.value > 0 else "better", f"{new}, {_of(seen_right, seen)} with seen ones"
    elif table is not None:
        word = "Answers" if factor.name == POLARITY else "On the control, answers"
        if not table.n:
            return f"{word} cannot be set against polarity: no word pair has one, among those that are answered."
        if len(table.columns) == 1:
            return f"{word} do not depend on polarity: every one is {table.columns[0]} ({table.n:,} in all)."
        shares = _answers_by_polarity(table)
    untested, unshown, shown = CLAIMS[POLARITY if factor.name == CONTROL_POLARITY else factor.name]
    numbers = f": {shares}" if shares else ""
    if math.isnan(test.p):
        # The last part of the note gives the reason; the parts before it list what was dropped.
        return f"{untested.format(word)} ({test.note.split('; ')[-1]}){numbers}."
    tested = f"({test.describe()}, {_p(test.p)}){numbers}"
    if test.p >= alpha:
        return f"{unshown.format(word)} {tested}."
    return f"{shown.format(word)} {tested}{_doubt(factor.p_pairs, 'word pairs')}."


def repeats_all(factor: FactorTest) -> bool:
    """Whether no prediction changes where gold does: then there is nothing to set errors against, and no p-value."""
    table = factor.table
    return factor.name == INSENSITIVITY and table is not None and table.n > 0 and not table.counts[0].any()


def describe_repeats(repeats: Estimate) -> Iterator[str]:
    """A sentence on how often the prediction stays where the swap changes gold."""
    if repeats.known:
        yield f"Where gold changes, it repeats its prediction on {describe_share(repeats)} of the pairs."


def describe_errors(repeated: Estimate, following: Estimate, expected: float) -> Iterator[str]:
    """Sentences on errors that repeat the earlier answer, and on errors that follow a wrong polarity."""
    if repeated.known:
        errors = f"{describe_share(repeated)} of the errors that might repeat the answer given before do"
        yield f"Where gold changes, {errors}; one half would, were errors even between the two wrong labels."
    if following.known:
        errors = f"{describe_share(following)} of the errors are that label"
        chance = f"{share(expected)} % would be if errors took no heed of it"
        yield f"Where polarity is one label and wrong, {errors}; {chance}."


def _answers_by_polarity(table: Crosstab) -> str:
    """A phrase on how often pairs with a label as polarity get that answer, and the main answer to unseen pairs."""
    rows = zip(table.rows, table.counts.tolist(), strict=True)
    counts = {name: dict(zip(table.columns, row, strict=True)) for name, row in rows}
    labels = [label for label in table.rows if label in table.columns and label in LABELS]
    shares = ", ".join(f"{label} {_of(counts[label][label], sum(counts[label].values()))}" for label in labels)
    parts = [f"as their polarity says are answered {shares}"] if labels else []
    if NO_POLARITY in counts:
        unseen = counts[NO_POLARITY]
        most = max(unseen, key=lambda answer: unseen[answer])
        parts.append(f"{most} is the answer to {_of(unseen[most], sum(unseen.values()))} unseen ones")
    return "; ".join(parts) or "no polarity is one label"


def _doubt(p: float, what: str) -> str:
    """A phrase that casts doubt on a finding if p with whole groups or word pairs shuffled is high; else empty."""
    return f"; in doubt, since with whole {what} shuffled p is {p:.3f}" if p >= DOUBTFUL else ""


def _of(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}" + (f" ({share(part / whole)} %)" if whole else "")


def _p(p: float) -> str:
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"
