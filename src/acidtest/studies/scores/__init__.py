"""Accuracy of models on suites, by label, category and factor, and against untouched pairs, with a diagnosis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import Annotated

import numpy as np
import polars as pl

from acidtest.core.document import Finding
from acidtest.core.estimate import Estimate
from acidtest.core.run import Run
from acidtest.core.study import study
from acidtest.core.suite import CONTROL
from acidtest.io.published import FROM, PublishedScore, published_beside, published_notes
from acidtest.stats.intervals import rate
from acidtest.stats.significance import holm
from acidtest.studies.crossed_suites import CUE_SUITES
from acidtest.studies.cue_profile import Profile, measure_profile
from acidtest.studies.scores.diagnosis import findings
from acidtest.studies.scores.diagnosis.cues import entailments_seen
from acidtest.studies.scores.diagnosis.suites import REPEATED, prompt_findings, variation_findings
from acidtest.studies.scores.diagnosis.untouched import UntouchedAccuracy, untouched_pairs
from acidtest.studies.scoring.controls import (
    AgainstControl,
    Pairing,
    against_control,
    pairing,
    repeats,
    score_with_control,
)
from acidtest.studies.scoring.error_kinds import Confusion, Errors, confusion, correct_kinds, errors_by_kind
from acidtest.studies.scoring.expectations import expectation_metrics, expectation_notes, pairs_with_gold
from acidtest.studies.scoring.rows import (
    ScoredRows,
    accuracy,
    breakdown,
    breakdowns,
    chances,
    group_consistency,
    groups_right,
    metrics,
    model_names,
)
from acidtest.studies.verification import GROUNDING, grounding_metrics, measure_grounding
from acidtest.studies.verification.result import ModelGrounding

LAWS_WITHOUT_GOLD = ("identity", "conjunction")
"""Laws that hold whatever the gold of the source pair."""

LEVEL = 0.05
"""The level of the tests of how much a model reads, divided evenly among the positions of the premise."""

SWAPS = "swaps/"
"""How the names of suites of swapped words begin."""

_VIOLATIONS = "violations of "


@dataclass(frozen=True)
class SuiteResult:
    """The numbers of one suite, as results.json holds them."""

    signature: str
    overall: Estimate
    metrics: Mapping[str, Estimate]
    by: Mapping[str, Mapping[str, Estimate]]
    vs_control: AgainstControl | None
    unanswered: int
    truncated: int
    collapse_differs: int | None
    published: tuple[PublishedScore, ...]
    strata: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    confusion: Confusion | None = None
    errors: Errors = field(default_factory=Errors)
    corpus: str = ""
    """The corpus whose pairs the suite was made from; empty if it was not made from pairs."""
    chances: Mapping[str, Mapping[str, float]] = field(default_factory=dict, metadata={"json": None})
    """The accuracy of guessing evenly on the pairs of each value of each stratum."""


@dataclass(frozen=True)
class ModelScores:
    """The results of one run's suites and the findings about them."""

    suites: Mapping[str, SuiteResult]
    diagnosis: tuple[Finding, ...]
    profile: Profile | None = None
    run: Run | None = field(default=None, metadata={"json": None})
    untouched: UntouchedAccuracy | None = None
    """None if the run has no untouched pairs."""
    grounding: ModelGrounding | None = None
    """None if the run has no suites on documents and claims."""


@dataclass(frozen=True)
class ScoresResult:
    """The scores of every run, by the name of its model."""

    models: Mapping[str, ModelScores]


@dataclass(frozen=True)
class ReadingSpan:
    """How many words a model reads with the premise at a position."""

    position: str
    words: int
    """The longest rung without a significant loss of accuracy; 0 if there is none."""
    longest: int
    """The longest rung there is."""
    falls: int | None = None
    """The next longer rung, at which accuracy is lower; None if ``words`` is the longest."""
    accuracy: Estimate | None = None
    """Accuracy at ``falls``."""
    against: AgainstControl | None = None
    """Accuracy at ``falls`` against that on the same pairs untouched; p is adjusted for the number of positions."""


@study()
def scores(runs: Annotated[Sequence[Run], "Run folders."]) -> ScoresResult:
    """Score runs: accuracy by label, category and factor, changes against untouched pairs, errors, and a diagnosis."""
    return ScoresResult({name: score_run(run) for name, run in zip(model_names(runs), runs, strict=True)})


def score_run(run: Run, others: Sequence[Finding] = ()) -> ModelScores:
    """The scores of one run; ``others`` are findings of other studies that the diagnosis weighs with its own."""
    suites, untouched = suite_results(run), untouched_pairs(run)
    grounding = None
    if GROUNDING([run]):
        grounding = measure_grounding(run, base_rate=run.header.settings.get("base_rate"))
        for name, measured in grounding_metrics(grounding).items():
            suites[name] = replace(suites[name], metrics={**suites[name].metrics, **measured})
    profile = measure_profile(run) if CUE_SUITES([run]) else None
    seen = entailments_seen(run) if profile else None
    others = (*others, *prompt_findings(run.header.usage), *variation_findings(run.header.usage))
    diagnosis = findings(suites, profile, untouched, seen, grounding=grounding, others=others)
    summary = untouched.summarise() if untouched else None
    return ModelScores(suites, tuple(diagnosis), profile, run, summary, grounding)


def suite_results(run: Run) -> dict[str, SuiteResult]:
    """The results of every suite of a run.

    All tests of accuracy against a control are one family (Holm); tests of error kinds are corrected separately.
    """
    results = {name: _suite_result(run, name) for name in run.header.suites if not name.endswith(CONTROL)}
    tests = {name: result.vs_control for name, result in results.items() if result.vs_control}
    ps = dict(zip(tests, holm([test.p for test in tests.values()]), strict=True))
    corrected = {name: replace(test, p_adjusted=float(ps[name])) for name, test in tests.items()}
    kinds = correct_kinds({name: result.errors for name, result in results.items()})
    return {
        name: replace(result, vs_control=corrected.get(name), errors=kinds[name]) for name, result in results.items()
    }


def _suite_result(run: Run, name: str) -> SuiteResult:
    header = run.header
    rows, control, pairs = score_with_control(run, name)
    overall, by = accuracy(rows), breakdowns(rows)
    expectations, compared = expectation_metrics(rows, control, pairs), pairs_with_gold(rows, control, pairs)
    return SuiteResult(
        signature=header.signature(name),
        overall=overall,
        metrics=metrics(rows, overall, by["label"])
        | consistency_metrics(rows)
        | expectations
        | repeat_metrics(name, rows, control, pairs),
        by=by,
        vs_control=against_control(rows, control, compared),
        unanswered=rows.unanswered,
        truncated=header.truncated.get(name, 0),
        collapse_differs=rows.collapse_differs if header.model.probabilities else None,
        strata=rows.card.strata,
        chances={stratum: chances(rows, stratum) for stratum in rows.card.strata if stratum in by},
        published=tuple(published_beside(rows.card)),
        notes=(
            *consistency_notes(rows),
            *expectation_notes(expectations),
            *reading_notes(rows, control),
            *_notes(run, name, rows, compared),
        ),
        confusion=confusion(rows),
        errors=errors_by_kind(rows, control, compared),
        corpus=str(rows.card.arguments.get(FROM, "")),
    )


def _notes(run: Run, name: str, rows: ScoredRows, pairs: Pairing | None) -> Iterator[str]:
    """Caveats that a reader of a suite's numbers must know."""
    if rows.card.categories:
        from acidtest.pairs.category_rules import proposal_caution

        yield from filter(None, [proposal_caution(rows.card.categories)])
    if truncated := run.header.truncated.get(name):
        yield f"{truncated:,} pairs were cut to fit the model"
    if run.header.model.resolution == "two-way":
        yield "the model has two labels: gold was coarsened to entailment and non-entailment"
    if rows.ties:
        yield f"in {rows.ties:,} rows the likeliest labels tie; entailment goes before neutral before contradiction"
    if rows.left_out:
        yield f"{rows.left_out:,} rows whose gold accepts both labels of a two-way model were left out"
    if pairs and not pairs.alike:
        yield "the untouched pairs have other gold than those made from them: the two are not compared"
    yield from published_notes(rows.card)


def repeat_metrics(
    name: str, rows: ScoredRows, control: ScoredRows | None, pairs: Pairing | None
) -> dict[str, Estimate]:
    """How often the prediction stays where swapped words change gold, for swap suites (Sanchez et al. 2018)."""
    if control is None or pairs is None or not name.startswith(SWAPS):
        return {}
    repeated = repeats(rows, control, pairs)
    return {REPEATED: repeated} if repeated.known else {}


def consistency_metrics(rows: ScoredRows) -> dict[str, Estimate]:
    """The violations of each law and the consistency of source pairs; nothing for suites that are not made by laws."""
    if not _is_made_by_laws(rows):
        return {}
    return {"group consistency where gold is asked": gold_consistency(rows)} | violations(rows)


def violations(rows: ScoredRows) -> dict[str, Estimate]:
    """For each law the share of its pairs answered against it; a pair without an answer breaks its law."""
    return {f"{_VIOLATIONS}{law}": share for law, share in breakdown(rows, ["law"], ~rows.correct).items()}


def gold_consistency(rows: ScoredRows) -> Estimate:
    """Share of source pairs on which all laws hold, among those with a law that depends on their gold.

    The other source pairs have only laws that need no gold, which are easily kept.
    """
    kept = groups_right(rows)
    asked = np.zeros(len(kept), dtype=np.bool_)
    asked[rows.groups[~rows.column(pl.col("law").is_in(LAWS_WITHOUT_GOLD).fill_null(False)).to_numpy()]] = True
    if not asked.any():
        return Estimate(nan, note="no source pair with a law that rests on its gold")
    return rate(kept[asked])


def consistency_notes(rows: ScoredRows) -> list[str]:
    """A note on the share of source pairs on which all laws hold, and the law broken most often."""
    if not _is_made_by_laws(rows):
        return []
    whole, broken = group_consistency(rows), violations(rows)
    if not whole.known:
        return []
    worst = max(broken, key=lambda name: broken[name].value)
    note = f"all laws hold on {100 * whole.value:.1f} % of {whole.n:,} source pairs"
    if broken[worst].value:
        law = worst.removeprefix(_VIOLATIONS)
        note += f"; broken most often: {law} ({100 * broken[worst].value:.1f} %)"
    return [note]


def _is_made_by_laws(rows: ScoredRows) -> bool:
    return rows.card.name == "consistency" and "law" in rows.card.factors


def reading_notes(rows: ScoredRows, control: ScoredRows | None) -> list[str]:
    """Notes on how many words the model reads for each position of the premise."""
    if control is None or not _is_ladder(rows):
        return []
    if _cannot_fall(control):
        return ["how far it reads is not told: on the untouched pairs it is no better than one answer to all of them"]
    return [_describe(reading) for reading in readings(rows, control)]


def readings(rows: ScoredRows, control: ScoredRows | None) -> list[ReadingSpan]:
    """How many words are read at each position; empty for other suites, without control, or if accuracy cannot fall.

    For each position of the premise, the longest rung (a number of words) is compared with the untouched pairs; if
    accuracy is significantly lower, the next shorter rung is compared, and so on. The first rung without a significant
    loss is what the model reads. As the order of the tests is fixed beforehand, each may use the whole level (Maurer,
    Hothorn and Lehmacher 1995).
    """
    pairs = pairing(rows, control) if control and _is_ladder(rows) else None
    if control is None or pairs is None or not pairs.alike or _cannot_fall(control):
        return []
    positions = rows.coded("position")[1]["position"].drop_nulls().to_list()
    return [_reading(rows, control, pairs, position, len(positions)) for position in positions]


def _is_ladder(rows: ScoredRows) -> bool:
    return rows.card.name.partition(":")[0] == "length-ladder" and {"words", "position"} <= set(rows.card.factors)


def _cannot_fall(control: ScoredRows) -> bool:
    """Whether accuracy on the untouched pairs is not clearly above the share of the most frequent gold."""
    right = accuracy(control)
    return not (right.known and right.low > np.bincount(control.gold).max() / len(control.gold))


def _reading(rows: ScoredRows, control: ScoredRows, pairs: Pairing, position: str, positions: int) -> ReadingSpan:
    """Test the rungs from the longest down to the first without a significant loss."""
    words = rows.column(pl.col("words").cast(pl.Int64)).to_numpy()
    here = rows.column((pl.col("position") == position).fill_null(False)).to_numpy()
    rungs = sorted({int(number) for number in words[here]}, reverse=True)
    span = ReadingSpan(position, rungs[0], rungs[0])
    for rung, shorter in zip(rungs, [*rungs[1:], 0], strict=True):
        chosen = here & (words == rung)
        against = pairs.part(chosen).rate(rows.correct, control.correct)
        against = replace(against, p_adjusted=min(1.0, positions * against.p))
        # Written so that NaN, without rows or without a difference, counts as no loss.
        if not (against.difference.value < 0 and against.p_adjusted < LEVEL):
            break
        span = ReadingSpan(position, shorter, rungs[0], rung, rows.rate(rows.correct, chosen), against)
    return span


def _describe(reading: ReadingSpan) -> str:
    where = f"with the premise {'in' if reading.position == 'middle' else 'at'} the {reading.position}"
    if reading.against is None or reading.accuracy is None:
        return f"{where}, reads all {reading.longest:,} words"
    read = f"reads {reading.words:,} words" if reading.words else f"reads fewer than {reading.falls:,} words"
    change = f"{100 * reading.accuracy.value:.1f} % right at {reading.falls:,}"
    return f"{where}, {read}: {change}, {100 * reading.against.control.value:.1f} % on the same pairs untouched"
