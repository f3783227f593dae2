"""How models behave when two words change places: the experiments of Sanchez, Mitchell and Riedel (2018) on any run.

Three factors are looked at on a suite of swapped pairs and its untouched ones: insensitivity (the same answer although
gold changed), word pairs that the training set does not hold in this order, and polarity, the label that the training
set ties to a word pair. The tests are the paper's; beside each stands one that does not take rows for independent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from acidtest.analysis import behaviour_verdict as verdict
from acidtest.analysis.behaviour_rows import Flags, Side, SwapSet, swap_sets, word_pairs
from acidtest.analysis.contingency import TESTS, Association, Crosstab, association, conditional_association, shuffled
from acidtest.analysis.controls import Pairing
from acidtest.analysis.intervals import difference
from acidtest.analysis.lexical_rows import by_model
from acidtest.analysis.resampling import generator
from acidtest.analysis.significance import bonferroni, mcnemar, paired_permutation
from acidtest.analysis.ties import Ties, tied_categories
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS
from acidtest.core.run import Run
from acidtest.core.suite import CONTROL, Suite
from acidtest.sources.polarity import CATEGORIES, polarities

SCHEMA = 1
ALPHA = 0.0001
"""The paper's level, for p-values after Bonferroni's correction."""

INSENSITIVITY, UNSEEN, POLARITY = "insensitivity", "unseen pairs", "polarity"
CONTROL_POLARITY, GIVEN_GOLD = "polarity, control", "polarity given gold"

CORRECT = ("correct", "incorrect")
CHANGE = ("change", "no change")
SEEN = ("seen", "unseen")

# McNemar's and those of five factors.
_TESTS_OF_A_SET = 6
_MOST_DRAWS = 2_000_000


@dataclass(frozen=True)
class Sample:
    """A line of table 1: accuracy on a whole sample and on three subsets; None where the paper defines none.

    ``changed``: gold differs from the control's; ``unseen``: no training pair holds the words in this order;
    ``against``: polarity is not gold, ties and unseen pairs among them.
    """

    suite: str
    whole: Estimate
    changed: Estimate | None
    unseen: Estimate | None
    against: Estimate

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        subsets = {"gold changed": self.changed, "unseen pairs": self.unseen, "polarity is not gold": self.against}
        told = {name: None if value is None else value.to_json() for name, value in subsets.items()}
        return {"suite": self.suite, "whole": self.whole.to_json(), "subsets": told}


@dataclass(frozen=True)
class Swap:
    """Accuracy after the change less accuracy before it, pair by pair: McNemar's test on rows, as in the paper.

    ``p_groups`` is that of whole groups changing places, NaN where every row is a group of its own.
    """

    difference: Estimate
    test: str
    p: float
    p_groups: float
    p_adjusted: float = math.nan

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it; NaN is null."""
        ps = {name: _null(getattr(self, name)) for name in ("p", "p_adjusted", "p_groups")}
        return {"difference": self.difference.to_json(), "test": self.test, **ps}


@dataclass(frozen=True)
class Factor:
    """One factor's table, where it has one, and its test.

    ``p_pairs`` is that of whole word pairs changing places, NaN where the factor does not belong to word pairs.
    """

    name: str
    table: Crosstab | None
    found: Association
    p_pairs: float = math.nan
    p_adjusted: float = math.nan

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it; NaN is null."""
        return {
            "factor": self.name,
            "table": self.table.to_json() if self.table else None,
            **self.found.to_json(),
            "p_adjusted": _null(self.p_adjusted),
            "p_word_pairs": _null(self.p_pairs),
        }


@dataclass(frozen=True)
class Behaviour:
    """One model on one suite and its control.

    ``repeats`` is the share of pairs whose gold changed that are answered as before. ``repeated_errors`` is the share
    of errors there, where the answer given before is wrong now, that give it again; ``follows`` the share of errors
    against a polarity of one label that answer that label, ``follows_by_chance`` what that would be if errors on pairs
    of the same gold fell regardless of polarity: a model that errs towards neutral follows some polarity by that alone.
    """

    model: str
    suite: str
    signature: str
    control: Sample
    transformed: Sample
    swap: Swap
    factors: tuple[Factor, ...]
    repeats: Estimate
    repeated_errors: Estimate
    follows: Estimate
    follows_by_chance: float
    by_polarity: Mapping[str, Estimate]
    ties: Ties
    notes: tuple[str, ...] = ()
    findings: tuple[str, ...] = field(default=())

    def factor(self, name: str) -> Factor | None:
        """The factor of that name; None where it was not tested."""
        return next((each for each in self.factors if each.name == name), None)

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        return {
            "model": self.model,
            "suite": self.suite,
            "signature": self.signature,
            "control": self.control.to_json(),
            "transformed": self.transformed.to_json(),
            "swap": self.swap.to_json(),
            "factors": [each.to_json() for each in self.factors],
            "repeats": self.repeats.to_json(),
            "repeated_errors": self.repeated_errors.to_json(),
            "follows": self.follows.to_json(),
            "follows_by_chance": _null(self.follows_by_chance),
            "by_polarity": {name: value.to_json() for name, value in self.by_polarity.items()},
            "ties": self.ties.to_json(),
            "notes": list(self.notes),
            "findings": list(self.findings),
        }


@dataclass(frozen=True)
class Behaviours:
    """Models on swap suites; their tests, ``tests`` of them, are one family, corrected by Bonferroni."""

    found: tuple[Behaviour, ...]
    train: str
    training: Mapping[str, int]
    alpha: float
    test: str
    tests: int

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        return {
            "schema": SCHEMA,
            "alpha": self.alpha,
            "test": self.test,
            "correction": "bonferroni",
            "tests": self.tests,
            "train": {"name": self.train, "labels": dict(self.training)},
            "results": [each.to_json() for each in self.found],
        }


def behaviours(
    runs: Sequence[Run], train: Suite, *, alpha: float = ALPHA, test: str = "g", seed: int = 0
) -> Behaviours:
    """Every swap suite with its control in the runs, looked at by the factors that the training set tells.

    A swap suite has the columns ``premise_word`` and ``hypothesis_word``, the pair as it stands in each row, and rows
    that say by ``base_id`` which row of the control they were made from. ``test`` is g, pearson or fisher.
    """
    if not 0 < alpha < 1:
        raise AcidtestError(f"--alpha is a number between 0 and 1, not {alpha:g}")
    if test not in TESTS:
        raise UnknownNameError("test of contingency tables", test, TESTS)
    sets = [each for model, held in by_model(runs).items() for each in swap_sets(model, held)]
    if not sets:
        held_by = ", ".join(dict.fromkeys(name for run in runs for name in run.header.suites)) or "none"
        raise AcidtestError(
            f"no run holds a swap suite with its control (there is: {held_by}); "
            f"make one with: acidtest run --suites 'swaps/*' --from TRAIN"
        )
    told = polarities(word_pairs(sets), train)
    how = _How(test, seed, _draws(len(sets), alpha))
    looked = [_behaviour(each.with_polarity(told), how) for each in sets]
    ps = [p for each in looked for p in (each.swap.p, *(factor.found.p for factor in each.factors))]
    corrected = iter(bonferroni(ps))
    found = tuple(
        _concluded(each, [float(next(corrected)) for _ in range(1 + len(each.factors))], alpha) for each in looked
    )
    return Behaviours(found, train.name, told.rows, alpha, test, sum(not math.isnan(p) for p in ps))


@dataclass(frozen=True)
class _How:
    """How tables are tested."""

    test: str
    seed: int
    draws: int

    @property
    def rng(self) -> np.random.Generator:
        return generator(self.seed)


def _draws(sets: int, alpha: float) -> int:
    """Tables that Fisher's test draws: enough for a corrected p below alpha, or as many as can be waited for."""
    family = _TESTS_OF_A_SET * sets
    return min(_MOST_DRAWS, max(100_000, math.ceil(2 * family / alpha)))


def _behaviour(held: SwapSet, how: _How) -> Behaviour:
    own, control, pairs = held.own, held.control, held.pairing
    changed = _changed(held)
    tested = [
        _insensitivity(held, changed, how),
        _unseen(own, how),
        _polarity(POLARITY, own, how),
        _polarity(CONTROL_POLARITY, control, how),
    ]
    if len(np.unique(own.rows.gold)) > 1:
        tested.append(_given_gold(own, how))
    correct = own.rows.correct
    return Behaviour(
        model=held.model,
        suite=held.suite,
        signature=held.signature,
        control=Sample(held.suite + CONTROL, _rate(control, None, "pairs"), None, None, _against(control)),
        transformed=Sample(
            held.suite,
            _rate(own, None, "pairs"),
            _rate(own, changed, "pair whose gold changed"),
            _rate(own, (own.polarity == CATEGORIES[-1]).fill_null(False).to_numpy(), "unseen word pair"),
            _against(own),
        ),
        swap=_swap(pairs, correct, control.rows.correct, how),
        factors=tuple(tested),
        repeats=_repeats(held),
        repeated_errors=_repeats(held, errors=True),
        follows=_follows(own),
        follows_by_chance=_by_chance(own),
        by_polarity={
            name: _rate(own, own.codes == number, name)
            for number, name in enumerate(CATEGORIES)
            if (own.codes == number).any()
        },
        ties=tied_categories(
            {
                name: (int(correct[own.codes == number].sum()), int((own.codes == number).sum()))
                for number, name in enumerate(CATEGORIES)
            },
            what=POLARITY,
        ),
        notes=_notes(held),
    )


def _changed(held: SwapSet) -> Flags:
    """Whether a row's gold differs from that of the row it was made from."""
    pairs, changed = held.pairing, np.zeros(held.own.rows.frame.height, dtype=np.bool_)
    changed[pairs.own] = held.own.rows.gold[pairs.own] != held.control.rows.gold[pairs.control]
    return changed


def _swap(pairs: Pairing, after: Flags, before: Flags, how: _How) -> Swap:
    new, old = after[pairs.own].astype(np.float64), before[pairs.control].astype(np.float64)
    test = mcnemar(new, old)
    alone = len(np.unique(pairs.groups)) == len(pairs.groups)
    grouped = math.nan if alone else paired_permutation(new, old, groups=pairs.groups, rng=how.rng).p
    return Swap(difference(new, old, groups=pairs.groups, strata=pairs.strata), test.name, test.p, grouped)


def _insensitivity(held: SwapSet, changed: Flags, how: _How) -> Factor:
    """Table 2: among pairs whose gold changed, correct or not by whether the answer is the control's."""
    pairs = held.pairing
    chosen = changed[pairs.own]
    after, before = held.own.answers[pairs.own][chosen], held.control.answers[pairs.control][chosen]
    same = np.where((after < 0) | (before < 0), -1, after == before)
    wrong = ~held.own.rows.correct[pairs.own][chosen]
    return _factor(INSENSITIVITY, Crosstab.of(same, wrong, names=(CHANGE, CORRECT)), how)


def _unseen(side: Side, how: _How) -> Factor:
    """Table 3: correct or not by whether the training set holds the words in this order."""
    unseen = np.where(side.known, side.codes == len(CATEGORIES) - 1, -1)
    table = Crosstab.of(~side.rows.correct, unseen, names=(CORRECT, SEEN))
    p = shuffled(unseen, ~side.rows.correct, side.pairs, rng=how.rng)
    return _factor(UNSEEN, table, how, p)


def _polarity(name: str, side: Side, how: _How) -> Factor:
    """Table 4: the answer by the polarity of the word pair."""
    table = Crosstab.of(side.codes, side.answers, names=(CATEGORIES, side.rows.labels))
    return _factor(name, table, how, shuffled(side.codes, side.answers, side.pairs, rng=how.rng))


def _given_gold(side: Side, how: _How) -> Factor:
    """Whether answers go with polarity among pairs of the same gold: right answers alone make a table-4 association."""
    names = (CATEGORIES, side.rows.labels)
    tables = [
        Crosstab.of(side.codes[chosen], side.answers[chosen], names=names)
        for chosen in (side.rows.gold == gold for gold in np.unique(side.rows.gold))
    ]
    return Factor(GIVEN_GOLD, None, conditional_association(tables, how.test))


def _factor(name: str, table: Crosstab, how: _How, p_pairs: float = math.nan) -> Factor:
    # Polarities that no pair has are no finding; tables keep the rows and columns that hold something.
    shown = table.filled if name in (POLARITY, CONTROL_POLARITY) else table
    return Factor(name, shown, association(shown, how.test, rng=how.rng, draws=how.draws), p_pairs)


def _against(side: Side) -> Estimate:
    return _rate(side, side.against, "pair whose polarity is not gold")


def _rate(side: Side, chosen: Flags | None, what: str) -> Estimate:
    found = side.rows.rate(side.rows.correct, chosen)
    return found if found.known else replace(found, note=f"no {what}")


def _repeats(held: SwapSet, *, errors: bool = False) -> Estimate:
    """Among pairs whose gold changed and that were answered both times, the share of the same answer.

    ``errors``: only where gold is one label, the answer is wrong and the one given before would be wrong, too.
    """
    pairs, own = held.pairing, held.own
    if errors and len(own.rows.labels) < len(LABELS):
        return Estimate(math.nan, note="a two-way model has one way to be wrong")
    after, before, gold = own.answers[pairs.own], held.control.answers[pairs.control], own.rows.gold[pairs.own]
    chosen = _changed(held)[pairs.own] & (after >= 0) & (before >= 0)
    if errors:
        single = np.isin(gold, [1 << bit for bit in range(len(LABELS))])
        chosen &= single & ~own.rows.correct[pairs.own] & (gold != 1 << np.maximum(before, 0))
    same, rows = np.zeros((2, own.rows.frame.height), dtype=np.bool_)
    same[pairs.own], rows[pairs.own] = after == before, chosen
    found = own.rows.rate(same, rows)
    return found if found.known else replace(found, note=f"no {'error on a ' if errors else ''}pair whose gold changed")


def _follows(side: Side) -> Estimate:
    """Among errors on pairs with a polarity of one label that is not gold, the share that answers that label."""
    if len(side.rows.labels) < len(LABELS):
        return Estimate(math.nan, note="a two-way model has one way to be wrong")
    found = side.rows.rate(side.answers == side.codes, _misled(side))
    return found if found.known else replace(found, note="no error against a polarity of one label")


def _by_chance(side: Side) -> float:
    """What ``_follows`` would be if the errors of each gold were spread over its word pairs at random."""
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


def _notes(held: SwapSet) -> tuple[str, ...]:
    """What was left out, and what rows share."""
    own, height = held.own, held.own.rows.frame.height
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
    told = [
        verdict.swap(each.swap.difference, accuracies, p=each.swap.p_adjusted, p_groups=each.swap.p_groups, alpha=alpha)
    ]
    says = {
        INSENSITIVITY: verdict.insensitivity,
        UNSEEN: verdict.unseen,
        POLARITY: verdict.polarity,
        CONTROL_POLARITY: verdict.control_polarity,
    }
    for factor in each.factors:
        if factor.table is not None:
            ps = {"p": factor.p_adjusted, "p_pairs": factor.p_pairs, "alpha": alpha}
            told.append(says[factor.name](factor.table, factor.found, **ps))
    given = each.factor(GIVEN_GOLD)
    if given:
        told.append(verdict.given_gold(given.found, p=given.p_adjusted, alpha=alpha))
    told += [*verdict.repeated(each.repeated_errors), *verdict.follows(each.follows, each.follows_by_chance)]
    return tuple(told)


def _null(value: float) -> float | None:
    return None if math.isnan(value) else value
