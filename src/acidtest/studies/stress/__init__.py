"""Stress tests as Naik et al. (2018) report them: what small changes cost a model, and what its errors are.

Accuracy on changed and untouched pairs (table 3), false neutrals among errors (table 4), kinds of errors on antonyms
and numbers (table 7, section 4.3), variants of misspelling (table 8), and accuracy by number of repetitions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Protocol

import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.logs import stage
from acidtest.core.run import Run, SuitePattern
from acidtest.core.study import study
from acidtest.core.suite import CONTROL, CROSS, Card
from acidtest.io.published import (
    CORPUS,
    FROM,
    MAIN,
    PEOPLE,
    PublishedScore,
    made_from,
    published_beside,
    published_differences,
    published_scores,
    scores_beside,
)
from acidtest.studies.scoring.controls import AgainstControl, Pairing, against_control, score_with_control
from acidtest.studies.scoring.error_kinds import (
    Confusion,
    Errors,
    common_errors,
    confusion,
    correct_kinds,
    errors_by_kind,
)
from acidtest.studies.scoring.rows import ScoredRows, accuracy, breakdown, model_names, score_rows

SCHEMA = 1
PREFIX = "stress/"
_STRESS_TESTS = SuitePattern((f"{PREFIX}*",))
ANTONYMY, NUMERICAL = "stress/antonymy", "stress/numerical"
NEGATION, SPELLING, LADDER = "stress/negation", "stress/spelling", "stress/ladder"
ORIGINAL = "mnli"
"""The pairs that the published stress tests were made from, as published numbers name them."""

CLASSES = {
    "competence": (ANTONYMY, NUMERICAL),
    "distraction": ("stress/word-overlap", NEGATION, "stress/length-mismatch"),
    "noise": (SPELLING,),
}
"""The paper's three classes of stress tests, in its order."""

_SLICES = {SPELLING: ("edit", "target"), LADDER: ("side", "place", "repetitions")}
"""The factors that a stress test is broken down by."""


@dataclass(frozen=True)
class StressTest:
    """One model on one stress test.

    ``vs_control`` compares the accuracy with that on the untouched pairs, None where there are none. ``slices`` are
    accuracies by edit and target (spelling) or by side, place and repetitions (ladder); ``slice_controls`` are those on
    the untouched pairs that a slice was made from, which with ``--limit`` are others for every slice. P-values of
    ``errors`` are corrected over all kinds and suites of the run.
    """

    model: str
    suite: str
    signature: str
    corpus: str
    accuracy: Estimate
    vs_control: AgainstControl | None
    slices: Mapping[str, Estimate]
    errors: Errors
    confusion: Confusion | None
    slice_controls: Mapping[str, Estimate] = field(default_factory=dict)


class SuiteScores(Protocol):
    """The scores of a suite that a stress test shows, as the study of scores computes them."""

    @property
    def overall(self) -> Estimate: ...
    @property
    def by(self) -> Mapping[str, Mapping[str, Estimate]]: ...
    @property
    def vs_control(self) -> AgainstControl | None: ...
    @property
    def errors(self) -> Errors: ...
    @property
    def confusion(self) -> Confusion | None: ...


@dataclass(frozen=True)
class StressScore(PublishedScore):
    """A published number on a slice of a stress test, or of the pairs it was made from; its JSON has all keys."""

    printed: float | None = None
    note: str = field(default="", metadata={"json": "correction"})
    differs: tuple[str, ...] = ()


@dataclass(frozen=True)
class StressResult:
    """Models on stress tests; ``common_errors`` are those that all models make on a suite, where there are several."""

    tests: tuple[StressTest, ...]
    common_errors: Mapping[str, Errors]
    published: Mapping[str, tuple[StressScore, ...]] = field(default_factory=dict)
    schema: int = SCHEMA

    @property
    def models(self) -> tuple[str, ...]:
        """The models in the order of their runs."""
        return tuple(dict.fromkeys(test.model for test in self.tests))

    @property
    def suites(self) -> list[str]:
        """The stress tests in the paper's order, those it does not have last."""
        order = {suite: place for place, suite in enumerate(sum(CLASSES.values(), ()))}
        suites = {test.suite for test in self.tests}
        return sorted(suites, key=lambda suite: (order.get(base_name(suite), len(order)), suite))


def base_name(suite: str) -> str:
    """A suite's name without its options: ``stress/negation`` for ``stress/negation:tautology=green``."""
    return suite.partition(":")[0]


def _stress_suites(run: Run) -> list[str]:
    return [name for name, card in run.header.suites.items() if _STRESS_TESTS.matches(name, card)]


@study(group="look into a run", applies=_STRESS_TESTS)
def stress(
    runs: Annotated[Sequence[Run], "Run folders with stress tests."],
    *,
    seed: Annotated[int, "Seed of every random choice."] = 0,
) -> StressResult:
    """Show what stress tests cost models and what their errors are, beside the numbers of Naik et al. (2018)."""
    tests: list[StressTest] = []
    for model, run in zip(model_names(runs), runs, strict=True):
        stage("stress tests of %s", model)
        tests += _measure_run(model, run)
    return _result(runs, tests)


def stress_of_scores(runs: Sequence[Run], scores: Sequence[Mapping[str, SuiteScores]]) -> StressResult:
    """What ``stress`` gives, taken from the known scores of each run's suites; p against controls is adjusted, too."""
    tests = []
    for model, run, suites in zip(model_names(runs), runs, scores, strict=True):
        for name in _stress_suites(run):
            known, factors = suites[name], _slice_factors(run, name)
            # Scores hold the slices of factors that the suite crosses, which a ladder does not.
            slices = known.by.get(CROSS.join(factors), {}) if factors else {}
            rows, control, pairs = score_with_control(run, name) if factors else (None, None, None)
            if rows and not slices:
                slices = breakdown(rows, factors)
            test = StressTest(
                model=model,
                suite=name,
                signature=run.header.signature(name),
                corpus=str(run.header.suites[name].arguments.get(FROM, "")),
                accuracy=known.overall,
                vs_control=known.vs_control,
                slices=slices,
                errors=known.errors,
                confusion=known.confusion,
                slice_controls=_slice_controls(rows, control, pairs, factors) if rows else {},
            )
            tests.append(test)
    return _result(runs, tests)


def _result(runs: Sequence[Run], tests: Sequence[StressTest]) -> StressResult:
    if not tests:
        suites = dict.fromkeys(name for run in runs for name in run.header.suites)
        raise AcidtestError(f"no stress test in these runs; there is {', '.join(suites) or 'no suite'}")
    return StressResult(tuple(tests), _errors_in_common(runs), _published(runs))


def _measure_run(model: str, run: Run) -> list[StressTest]:
    """The stress tests of a run; p-values of error kinds are corrected with those of its other suites with controls."""
    suites = _stress_suites(run)
    compared = [name for name in run.header.suites if name + CONTROL in run.header.suites]
    errors, tests = {}, []
    for name in dict.fromkeys((*suites, *compared)):
        rows, control, pairs = score_with_control(run, name)
        errors[name] = errors_by_kind(rows, control, pairs)
        if name not in suites:
            continue
        factors = _slice_factors(run, name)
        test = StressTest(
            model=model,
            suite=name,
            signature=run.header.signature(name),
            corpus=str(rows.card.arguments.get(FROM, "")),
            accuracy=accuracy(rows),
            vs_control=against_control(rows, control, pairs),
            slices=breakdown(rows, factors) if factors else {},
            errors=errors[name],
            confusion=confusion(rows),
            slice_controls=_slice_controls(rows, control, pairs, factors) if factors else {},
        )
        tests.append(test)
    corrected = correct_kinds(errors)
    return [replace(test, errors=corrected[test.suite]) for test in tests]


def _slice_controls(
    rows: ScoredRows, control: ScoredRows | None, pairs: Pairing | None, factors: Sequence[str]
) -> dict[str, Estimate]:
    """Accuracy on the untouched pairs that each slice was made from; empty without these."""
    if control is None or pairs is None or not pairs.alike:
        return {}
    codes, keys = rows.coded(pl.concat_str(pl.col(factors).cast(pl.String), separator=CROSS).alias("key"))
    parts = {key: pairs.part(codes == number) for number, key in enumerate(keys["key"]) if key is not None}
    return {key: part.rate(rows.correct, control.correct).control for key, part in parts.items() if part.own.size}


def _slice_factors(run: Run, suite: str) -> tuple[str, ...]:
    factors = _SLICES.get(base_name(suite), ())
    return factors if set(factors) <= set(run.header.suites[suite].factors) else ()


def _errors_in_common(runs: Sequence[Run]) -> dict[str, Errors]:
    """The errors that all models make on ``stress/numerical``, if two or more were asked (section 4.3)."""
    asked: dict[str, list[Run]] = {}
    for run in runs:
        for suite in _stress_suites(run):
            asked.setdefault(suite, []).append(run)
    shared = [suite for suite, members in asked.items() if base_name(suite) == NUMERICAL and len(members) > 1]
    return {suite: common_errors([score_rows(run, suite) for run in asked[suite]]) for suite in shared}


def _published(runs: Sequence[Run]) -> dict[str, tuple[StressScore, ...]]:
    """Published results of systems and people, by suite and for MultiNLI itself, without repetitions."""
    cards = [(suite, run.header.suites[suite]) for run in runs for suite in _stress_suites(run)]
    # The pairs of stress/numerical are not those of the other tests.
    sources = [card for suite, card in cards if base_name(suite) != NUMERICAL]
    corpus = next(filter(None, map(made_from, sources)), "")
    given = {name: card.arguments[name] for card in sources[:1] for name in (FROM, CORPUS) if name in card.arguments}
    is_multinli = not published_differences(Card("stress/word-overlap", arguments=given))
    original = [
        replace(score, note=score.note if score.printed is not None else "")
        for score in published_scores(ORIGINAL)
        if CORPUS in score.by and is_multinli
    ]
    scores: dict[str, dict[tuple[object, ...], StressScore]] = {}
    for suite, entries in [*((suite, published_beside(card)) for suite, card in cards), (ORIGINAL, original)]:
        for score in scores_beside(entries, corpus):
            if score.condition in (MAIN, PEOPLE):
                key = (score.system, score.source, score.condition, *sorted(score.by.items()))
                scores.setdefault(suite, {}).setdefault(key, StressScore(**vars(score)))
    return {suite: tuple(entries.values()) for suite, entries in scores.items()}
