"""Whether a model's answers to sets of pairs fit together, without any gold: suite ``consistency/sets``.

For each rule of a law: how often it could fire, given what was answered to the pairs it starts from; how often it held
then; and how often it would have held with the same answers shuffled among pairs of the same kind. A set is wholly
consistent if no rule that fires on it is broken. One answer to everything breaks no rule at all, which is why shuffled
answers and accuracy stand beside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.document import Column, Document, Note, Part, Row, Section, Table
from acidtest.core.draws import U64, Draws
from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS
from acidtest.core.run import Run, SuitePattern
from acidtest.core.study import study
from acidtest.core.suite import EXPECTATION, LINK
from acidtest.stats.intervals import rate
from acidtest.stats.resampling import Codes, taken
from acidtest.studies.scoring.controls import Pairing, score_with_control
from acidtest.studies.scoring.expectations import (
    CHANGE,
    Answers,
    AnswerTriples,
    Rule,
    expectation_rules,
    link_answers,
    link_places,
)
from acidtest.studies.scoring.rows import Flags, ScoredRows, accuracy, model_names

SCHEMA = 1
LAW = "law"
TRANSITIVITY = "transitivity"
_LAWS = (TRANSITIVITY, "contraposition", "monotonicity")
_SETS = SuitePattern(columns=((LAW, EXPECTATION, LINK),))

_ONE_ANSWER = 0.95
"""A model that gives one label to more than this share of pairs is called one that gives a single answer."""

_CONSTANT = (
    "A model that gives one answer to every pair keeps every law. Consistency says something only of a model that is "
    "right far more often than guessing, and whose answers fit together far more often than the same answers shuffled."
)
_PUBLISHED = (
    "Best published figure, on other sets and laws: 46.7 % of sets wholly consistent where 83.0 % of single answers "
    "are right (ConsistencyBench, the best of 18 language models)."
)


@dataclass(frozen=True)
class RuleResult:
    """One rule of a law: what was answered to the pairs it is about."""

    law: str
    change: str
    """What the pairs were made by; empty for all changes of the law together."""
    rule: str
    """The rule in signs, such as *E, C → C*: the answers it starts from, and what it then asks for."""
    pairs: int
    fired: Estimate
    """Share of pairs on which the rule could fire, given the answers it starts from."""
    held: Estimate
    """Share of those on which it held, with an interval over sets."""
    shuffled: float
    """The same with shuffled answers."""


@dataclass(frozen=True)
class ModelConsistency:
    """One model on one suite of sets."""

    model: str
    suite: str
    signature: str
    accuracy: Estimate
    """On the untouched pairs, as far as they have gold."""
    sets: int
    consistent: Estimate
    """Share of sets in which every rule that could fire held, of the sets in which one could."""
    shuffled: float
    """The same with shuffled answers."""
    most_frequent: str
    """The label answered most often, over all pairs of the sets."""
    most_frequent_share: float
    rules: tuple[RuleResult, ...]


@dataclass(frozen=True)
class ConsistencyResult:
    """Every model that was asked a suite of sets; ``shuffles`` is how often its answers were shuffled."""

    models: tuple[ModelConsistency, ...]
    shuffles: int
    schema: int = SCHEMA


@dataclass(frozen=True)
class AskedSets:
    """The rows of a suite of sets: where their answers are, which kind they are of, and the rules to check."""

    rows: ScoredRows
    control: ScoredRows
    pairs: Pairing
    links: Codes
    """For each row of the suite the position of its link."""
    kinds: Codes
    """For each row of the suite the code of its kind: law, change, expectation."""
    kind_values: pl.DataFrame

    @classmethod
    def of(cls, run: Run, suite: str) -> AskedSets:
        """The sets of a run; raises where their untouched pairs are missing."""
        rows, control, pairs = score_with_control(run, suite)
        if control is None or pairs is None:
            raise AcidtestError(f"the run lacks {suite}#control, the untouched pairs that its sets start from")
        kinds, values = rows.coded(LAW, CHANGE, EXPECTATION)
        return cls(rows, control, pairs, link_places(rows), kinds, values)

    def triples(self, answers: Answers, before: Answers) -> AnswerTriples:
        """Answers to the rows and to the untouched pairs, matched pair by pair."""
        link = link_answers(answers, taken(self.links, self.pairs.own))
        after = taken(answers, self.pairs.own)
        return AnswerTriples(taken(before, self.pairs.control), after, link, self.rows.labels)

    def rules(self) -> Iterator[tuple[str, str, Rule, Flags]]:
        """Law, change and rule, with the pairs it is about."""
        kinds = taken(self.kinds, self.pairs.own)
        for code, (law, change, expectation) in enumerate(self.kind_values.iter_rows()):
            for rule in expectation_rules(expectation or ""):
                yield law, change, rule, kinds == code


@study(group="look into a run", applies=_SETS)
def consistency(
    runs: Annotated[Sequence[Run], "Run folders with suite consistency/sets."],
    *,
    shuffles: Annotated[int, "How often the answers are shuffled."] = 40,
    seed: Annotated[int, "Seed of every random choice."] = 0,
) -> ConsistencyResult:
    """Show whether models' answers fit together: transitivity, contraposition and monotonicity, without gold."""
    if shuffles < 1:
        raise AcidtestError(f"--shuffles is a number from 1 on, not {shuffles}")
    asked = [
        (name, run, suite) for name, run in zip(model_names(runs), runs, strict=True) for suite in _SETS.names_in(run)
    ]
    if not asked:
        raise AcidtestError("none of the runs has a suite of sets; run the models with -s consistency/sets")
    draws = Draws(seed, "consistency")
    return ConsistencyResult(
        tuple(_model_consistency(name, run, suite, draws, shuffles) for name, run, suite in asked), shuffles
    )


def _model_consistency(name: str, run: Run, suite: str, draws: Draws, shuffles: int) -> ModelConsistency:
    sets = AskedSets.of(run, suite)
    checked = SetChecks.of(sets, sets.rows.answer, sets.control.answer)
    by_chance = [SetChecks.of(sets, *answers) for answers in _shuffled_answers(sets, draws, shuffles)]
    answers = np.concatenate([sets.rows.answer, sets.control.answer])
    counts = np.bincount(answers[answers >= 0], minlength=len(sets.rows.labels))
    most = int(counts.argmax())
    return ModelConsistency(
        model=name,
        suite=suite,
        signature=run.header.signature(suite),
        accuracy=accuracy(sets.control),
        sets=len(np.unique(sets.pairs.groups)),
        consistent=checked.consistent(),
        shuffled=_mean([check.consistent_share() for check in by_chance]),
        most_frequent=sets.rows.labels[most],
        most_frequent_share=float(counts[most] / counts.sum()) if counts.sum() else math.nan,
        rules=tuple(_rule_results(checked, by_chance)),
    )


@dataclass(frozen=True)
class SetChecks:
    """For each rule to which pairs it applies and which keep to it."""

    groups: Codes
    names: tuple[tuple[str, str, str], ...]
    """Law, change and rule."""
    about: tuple[Flags, ...]
    fires: tuple[Flags, ...]
    holds: tuple[Flags, ...]

    @classmethod
    def of(cls, sets: AskedSets, answers: Answers, before: Answers) -> SetChecks:
        """Check every rule that the model's labels can tell."""
        triples = sets.triples(answers, before)
        names, about, fires, holds = [], [], [], []
        for law, change, rule, here in sets.rules():
            check = triples.check(rule)
            if check is not None:
                names.append((law, change, rule.name))
                about.append(here)
                fires.append(check[0] & here)
                holds.append(check[1])
        return cls(sets.pairs.groups, tuple(names), tuple(about), tuple(fires), tuple(holds))

    def members(self, law: str, change: str, rule: str) -> list[int]:
        """The positions of a rule; with an empty change, for all changes of the law."""
        wanted = enumerate(self.names)
        return [number for number, name in wanted if (name[0], name[2]) == (law, rule) and change in ("", name[1])]

    def flags(self, members: Sequence[int]) -> tuple[Flags, Flags]:
        """The pairs on which some rules fire, and of these the ones on which they hold."""
        fires = np.logical_or.reduce([self.fires[number] for number in members])
        breaks = np.logical_or.reduce([self.fires[number] & ~self.holds[number] for number in members])
        return fires, fires & ~breaks

    def consistent(self) -> Estimate:
        """Share of sets in which every rule that fires holds, of the sets in which one fires."""
        kept = self._kept_sets()
        return rate(kept, empty="no set in which a rule could fire")

    def consistent_share(self) -> float:
        """``consistent`` without its interval."""
        return _mean(self._kept_sets())

    def _kept_sets(self) -> Flags:
        if not self.names:
            return np.zeros(0, dtype=np.bool_)
        fires, holds = self.flags(range(len(self.names)))
        groups = np.unique(self.groups[fires])
        return ~np.isin(groups, self.groups[fires & ~holds])


def _rule_results(checked: SetChecks, by_chance: Sequence[SetChecks]) -> Iterator[RuleResult]:
    """The results of every rule: for transitivity over all third sentences first, then change by change."""
    pooled = dict.fromkeys((law, "" if law == TRANSITIVITY else change, rule) for law, change, rule in checked.names)
    apart = [name for name in checked.names if name[0] == TRANSITIVITY]
    # Laws that we do not know go last.
    ordered = sorted(pooled, key=lambda name: _LAWS.index(name[0]) if name[0] in _LAWS else len(_LAWS))
    for law, change, rule in (*ordered, *apart):
        members = checked.members(law, change, rule)
        about = np.logical_or.reduce([checked.about[number] for number in members])
        fires, holds = checked.flags(members)
        shares = []
        for check in by_chance:
            fires_then, holds_then = check.flags(members)
            shares.append(float(holds_then.sum() / fires_then.sum()) if fires_then.any() else math.nan)
        yield RuleResult(
            law=law,
            change=change,
            rule=rule,
            pairs=int(about.sum()),
            fired=rate(fires[about], groups=checked.groups[about]),
            held=rate(holds[fires], groups=checked.groups[fires], empty="never fired, given this model's answers"),
            shuffled=_mean([share for share in shares if not math.isnan(share)]),
        )


def _shuffled_answers(sets: AskedSets, draws: Draws, shuffles: int) -> Iterator[tuple[Answers, Answers]]:
    """The answers to rows and to untouched pairs, shuffled among the rows of each kind and the untouched pairs.

    Each kind keeps how often it was answered what; what answers have to do with each other is lost.
    """
    keys, control_keys = sets.rows.digests("id"), sets.control.digests("id")
    asked = np.unique(sets.pairs.control)
    for number in range(shuffles):
        answers, before = sets.rows.answer.copy(), sets.control.answer.copy()
        for code in range(sets.kind_values.height):
            _permute(answers, np.flatnonzero(sets.kinds == code), keys, draws, number)
        _permute(before, asked, control_keys, draws, number)
        yield answers, before


def _permute(answers: Answers, places: npt.NDArray[np.integer], keys: U64, draws: Draws, number: int) -> None:
    """Permute the answers at some places, by a draw for each row that does not depend on the order of rows."""
    order = places[np.argsort(keys[places], kind="stable")]
    drawn = places[np.argsort(draws.bits(keys[places], "shuffle", number), kind="stable")]
    answers[order] = answers[drawn]


def _mean(values: Sequence[float] | Flags) -> float:
    return float(np.mean(values)) if len(values) else math.nan


def document(result: ConsistencyResult) -> Document:
    """A document of how many sets are wholly consistent, and of every rule."""
    parts: list[Part] = [_set_table(result), Note(_CONSTANT)]
    for number, model in enumerate(result.models):
        tables = tuple(_rule_tables(model, number))
        name = _row_name(model, result)
        parts += [Section(name, tables, anchor=f"laws-{number}")] if len(result.models) > 1 else tables
    return Document(
        title="acidtest consistency",
        headline=_headline(result),
        parts=(*parts, Note(_PUBLISHED, quiet=True)),
        models=tuple(dict.fromkeys(model.model for model in result.models)),
        signatures={f"{model.suite}, {model.model}": model.signature for model in result.models},
        methods=(
            f"Shuffled: the mean over {result.shuffles} shuffles of the model's answers among pairs of the same kind. "
            "Intervals are over sets. A rule could fire where the answers it starts from were given; it says nothing "
            "elsewhere. A set is at stake if some rule could fire on it.",
        ),
    )


def _row_name(model: ModelConsistency, result: ConsistencyResult) -> str:
    several = sum(other.model == model.model for other in result.models) > 1
    return f"{model.model}, {model.suite}" if several else model.model


def _headline(result: ConsistencyResult) -> str:
    sentences = []
    for model in result.models:
        name = _row_name(model, result)
        if not model.consistent.known:
            sentences.append(f"No rule could fire on the answers of {name}.")
        elif model.most_frequent_share > _ONE_ANSWER:
            answer = f"{model.most_frequent} to {100 * model.most_frequent_share:.0f} % of pairs"
            sentences.append(f"{name} answers {answer}, so consistency says nothing of it.")
        else:
            share, chance = (f"{100 * value:.0f} %" for value in (model.consistent.value, model.shuffled))
            sets = f"{model.consistent.n:,} sets"
            sentences.append(f"Answers of {name} fit together in {share} of {sets}; shuffled they would in {chance}.")
    return " ".join(sentences)


def _set_table(result: ConsistencyResult) -> Table:
    columns = (
        Column("single answers right"),
        Column("sets wholly consistent"),
        Column("the same, shuffled"),
        Column("sets at stake", "count"),
        Column("all sets", "count"),
        Column("most frequent answer", "text"),
    )
    rows = tuple(
        Row(
            _row_name(model, result),
            (
                model.accuracy,
                model.consistent,
                _point(model.shuffled),
                model.consistent.n,
                model.sets,
                f"{model.most_frequent}, {100 * model.most_frequent_share:.0f} %",
            ),
        )
        for model in result.models
    )
    return Table("sets", "Sets of pairs whose answers fit together, % with 95 % intervals", columns, rows, "model")


def _rule_tables(model: ModelConsistency, number: int) -> Iterator[Part]:
    pooled = [rule for rule in model.rules if not (rule.law == TRANSITIVITY and rule.change)]
    apart = [rule for rule in model.rules if rule.law == TRANSITIVITY and rule.change]
    caption = "Rules, % of the pairs on which they could fire with 95 % intervals"
    yield _rule_table(f"laws {number}", caption, pooled)
    if apart:
        table = _rule_table(f"third sentences {number}", "Each kind of third sentence apart, %", apart)
        yield Section("Transitivity by the third sentence", (table,), folded=True)


def _rule_table(table_id: str, caption: str, rules: Sequence[RuleResult]) -> Table:
    columns = (Column("pairs", "count"), Column("could fire"), Column("held"), Column("shuffled"))
    rows = tuple(
        Row(
            rule.rule,
            (rule.pairs, rule.fired, rule.held, _point(rule.shuffled)),
            heading=": ".join(filter(None, (rule.law, rule.change if rule.change != rule.law else ""))),
        )
        for rule in rules
    )
    notes = (f"{', '.join(f'{label[:1].upper()}: {label}' for label in LABELS)}",)
    return Table(table_id, caption, columns, rows, "rule", notes=notes)


def _point(share: float) -> Estimate:
    """A share without interval."""
    return Estimate(share, note="" if share == share else "never fired")
