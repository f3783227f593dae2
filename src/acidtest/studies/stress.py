"""Stress tests as Naik et al. (2018) report them: what small changes cost a model, and what its errors are.

Accuracy on changed and untouched pairs (table 3), false neutrals among errors (table 4), kinds of errors on antonyms
and numbers (table 7, section 4.3), variants of misspelling (table 8), and accuracy by number of repetitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Protocol

import polars as pl

from acidtest.core.document import Cell, Change, Chart, Column, Document, Note, Part, Reference, Row, Section, Table
from acidtest.core.errors import AcidtestError, list_some
from acidtest.core.estimate import Estimate
from acidtest.core.logs import stage
from acidtest.core.run import Run, SuitePattern
from acidtest.core.study import study
from acidtest.core.suite import CONTROL, CROSS, Card
from acidtest.io.published import (
    CORPUS,
    ERROR,
    FROM,
    MAIN,
    PEOPLE,
    PublishedScore,
    made_from,
    people_name,
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
    confusion_table,
    correct_kinds,
    errors_by_kind,
    kind_title,
    kinds_table,
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


FALSE_NEUTRAL = "false neutral"
TO_CONTRADICTION = ("E-C", "N-C")
"""Entailment and neutral taken for contradiction."""
CONTENT_SWAP = f"adjacent{CROSS}content"
"""The slice of spelling that table 3 has: two letters of a content word swapped."""
VARIANTS = {
    f"adjacent{CROSS}any": "swap",
    f"keyboard{CROSS}any": "keyboard",
    CONTENT_SWAP: "swap, content word",
    f"adjacent{CROSS}function": "swap, function word",
}
"""The four variants of table 8, by edit and target."""
_SIDES, _PLACES = ("premise", "hypothesis", "both"), ("start", "middle", "end")

Tests = Mapping[str, StressTest]
"""The tests of one suite by model."""


@dataclass(frozen=True)
class PaperLine:
    """A row of one of the paper's tables: the models' cells, and which published numbers stand beside them."""

    name: str
    cells: Mapping[str, Cell]
    suite: str
    by: Mapping[str, str]
    heading: str = ""
    note: str = ""


def document(result: StressResult) -> Document:
    """The tables of Naik et al. (2018) for which there are results, some with a chart."""
    by_suite = {suite: {test.model: test for test in result.tests if test.suite == suite} for suite in result.suites}
    sections = {
        ("Accuracy", "stress-accuracy"): _accuracy_parts(result, by_suite),
        ("What the errors are", "stress-errors"): _error_parts(result, by_suite),
        ("Does a negation word draw contradiction?", "stress-negation"): _negation_tables(by_suite),
        ("Answers on numbers", "stress-answers"): _answer_tables(by_suite),
        ("How much distraction a model bears", "stress-ladder"): _ladder_parts(by_suite),
    }
    shown = [Section(title, tuple(parts), anchor=anchor) for (title, anchor), parts in sections.items()]
    return Document(
        title="acidtest stress",
        headline=_headline(result),
        parts=tuple(section for section in shown if section.parts),
        models=result.models,
        signatures={f"{test.suite}, {test.model}": test.signature for test in result.tests},
        methods=(
            "Changed pairs are compared with the untouched pairs they were made from, row by row. P-values of kinds of "
            "errors are adjusted (Holm) over all kinds and suites of a run, shares and rates apart.",
        ),
    )


def suite_title(suite: str) -> str:
    """``word overlap`` for ``stress/word-overlap``, followed by its options where it has any."""
    base, _, options = suite.removeprefix(PREFIX).partition(":")
    return f"{base.replace('-', ' ')} ({options})" if options else base.replace("-", " ")


def _variants(by_suite: Mapping[str, Tests], base: str) -> list[str]:
    """The suites of one name, whatever their options."""
    return [suite for suite in by_suite if base_name(suite) == base]


def _headline(result: StressResult) -> str:
    sentences = []
    for model in result.models:
        tests = [test for test in result.tests if test.model == model]
        changes = {test.suite: test.vs_control.difference.value for test in tests if test.vs_control}
        changes = {suite: change for suite, change in changes.items() if change == change}
        accuracies = {test.suite: test.accuracy.value for test in tests if test.accuracy.known}
        if changes:
            worst = min(changes, key=changes.__getitem__)
            loss = f"{-100 * changes[worst]:.1f} points on {suite_title(worst)}"
            sentences.append(f"{model} loses {loss if changes[worst] < 0 else 'nothing on changed pairs'}")
        elif accuracies:
            worst = min(accuracies, key=accuracies.__getitem__)
            sentences.append(f"{model} is right on {accuracies[worst]:.0%} of {suite_title(worst)}")
    return "; ".join(sentences) + "." if sentences else "No stress test could be scored."


def _accuracy_parts(result: StressResult, by_suite: Mapping[str, Tests]) -> Iterator[Part]:
    """Tables 3 and 8: accuracy on every stress test, and by what is misspelt and how."""
    controls = {
        suite: {model: before for model, test in tests.items() if (before := _control(test, tests)) is not None}
        for suite, tests in by_suite.items()
    }
    lines, variants = _original_lines(controls, {}), []
    for suite, tests in by_suite.items():
        swaps = _has_swaps(tests)
        cells: dict[str, Cell] = {}
        for model, test in tests.items():
            after = test.slices.get(CONTENT_SWAP) if swaps else test.accuracy
            before = controls[suite].get(model)
            cells[model] = Change(before, after) if before and after else after
        by = {"edit": "adjacent", "target": "content"} if swaps else {}
        group = next((name for name, members in CLASSES.items() if base_name(suite) in members), "other")
        # For other corpora the note below the tables is enough.
        hidden = base_name(suite) == ANTONYMY and result.published and not result.published.get(suite)
        note = "the published systems were evaluated on the pairs that --faithful makes" if hidden else ""
        lines.append(PaperLine(suite_title(suite), cells, suite, by, group, note=note))
        for key, title in VARIANTS.items() if base_name(suite) == SPELLING else ():
            by = dict(zip(("edit", "target"), key.split(CROSS), strict=True))
            slices = {model: _slice_change(test, key) for model, test in tests.items()}
            variants.append(PaperLine(title, slices, suite, by, suite_title(suite)))
    caption = (
        "Accuracy on the stress tests, % with 95 % intervals: untouched pairs → changed pairs; spelling: two letters "
        "of a content word swapped (table 3)"
    )
    for table in _paper_tables(result, "accuracy", caption, lines):
        yield table
        axis = "accuracy; hollow: untouched pairs"
        yield Chart(table.id, axis=axis, reference=Reference(1 / 3, "chance (33 %)"))
    caption = "Accuracy by what is misspelt and how, % with 95 % intervals: untouched pairs → changed pairs (table 8)"
    yield from _paper_tables(result, "spelling", caption, variants)
    sources = "pairs made from MultiNLI and, on numbers, from AQuA-RAT"
    shown = "; their numbers are shown only next to such pairs"
    yield Note(f"The systems of Naik et al. (2018) were evaluated on {sources}{shown}.", quiet=True)


def _has_swaps(tests: Tests) -> bool:
    """Whether the suite has the variant of misspelling that table 3 has."""
    return any(CONTENT_SWAP in test.slices for test in tests.values())


def _control(test: StressTest, tests: Tests) -> Estimate | None:
    """The accuracy on the untouched pairs that the pairs of table 3 were made from."""
    if _has_swaps(tests):
        return test.slice_controls.get(CONTENT_SWAP)
    return test.vs_control.control if test.vs_control else None


def _slice_change(test: StressTest, key: str) -> Cell:
    """The accuracy on a slice, after that on the untouched pairs that it was made from, if these are known."""
    before, after = test.slice_controls.get(key), test.slices.get(key)
    return Change(before, after) if before and after else after


def _original_lines(controls: Mapping[str, Mapping[str, Estimate]], by: Mapping[str, str]) -> list[PaperLine]:
    """A line for the largest set of untouched pairs, with a note on suites that are compared with other pairs.

    With ``--limit`` suites of one corpus have the same pairs, except where they make nothing of some of them.
    """
    known = {suite: {model: one for model, one in pairs.items() if one.known} for suite, pairs in controls.items()}
    known = {suite: pairs for suite, pairs in known.items() if pairs and base_name(suite) != LADDER}
    if not known:
        return []
    largest = max(known, key=lambda suite: max(one.n for one in known[suite].values()))
    numbers = {suite: [(one.value, one.n) for one in pairs.values()] for suite, pairs in known.items()}
    others = [suite for suite in known if numbers[suite] != numbers[largest]]
    note = ""
    if others:
        same = list_some([suite_title(suite) for suite in known if suite not in others])
        compared = []
        for suite in others:
            rates = {model: f"{one.value * 100:.1f} % of {one.n:,}" for model, one in known[suite].items()}
            texts = (f"{model} {text}" if len(rates) > 1 else text for model, text in rates.items())
            compared.append(f"{suite_title(suite)} with {', '.join(texts)}")
        note = f"the untouched pairs of {same}; compared with their own are {', '.join(compared)}"
    return [PaperLine("untouched pairs", known[largest], ORIGINAL, by, note=note)]


def _error_parts(result: StressResult, by_suite: Mapping[str, Tests]) -> Iterator[Part]:
    for kinds in _kind_shares(by_suite):
        yield kinds
        yield Chart(kinds.id, "stack", tuple(c.name for c in kinds.columns[:-1]), axis="share of all errors")
    caption = "False neutrals, % of all errors with 95 % intervals: untouched pairs → changed pairs (table 4)"
    yield from _paper_tables(result, "false neutrals", caption, _false_neutrals(by_suite))
    caption = "Contradictions taken for entailment (C–E) and for neutral (C–N) on antonymy, % of all errors (table 7)"
    lines = _kind_lines(by_suite, ANTONYMY, ("C-E", "C-N"), result)
    yield from _paper_tables(result, "antonymy errors", caption, lines)
    caption = "Errors on numbers by gold and answer, % of all errors (section 4.3)"
    lines = _kind_lines(by_suite, NUMERICAL, ("E-N", "E-C", "N-E", "N-C", "C-E", "C-N"), result)
    yield from _paper_tables(result, "numerical errors", caption, lines)


def _kind_shares(by_suite: Mapping[str, Tests]) -> Iterator[Table]:
    """The errors on each stress test by the wrong answer, those on the untouched pairs above them."""
    tests = [test for members in by_suite.values() for test in members.values() if test.errors.n]
    names = dict.fromkeys(kind for test in tests for kind in test.errors.kinds if len(kind) > 3)
    several = any(len(members) > 1 for members in by_suite.values())
    rows = []
    for test in tests:
        kinds = {name: kind for name, kind in test.errors.kinds.items() if name in names}
        before = {name: kind.vs_control.share.control for name, kind in kinds.items() if kind.vs_control}
        title, who = suite_title(test.suite), f"{test.model}, " if several else ""
        compared = bool(test.errors.control_n) and len(before) == len(kinds)
        if compared:
            cells = (*map(before.get, names), test.errors.control_n)
            rows.append(Row(f"{who}untouched pairs", cells, title, "control"))
        shares = (kinds[name].share if name in kinds else None for name in names)
        rows.append(Row(f"{who}{'changed' if compared else 'all'} pairs", (*shares, test.errors.n), title))
    columns = (*(Column(name) for name in names), Column("errors", "count"))
    caption = "Errors by the wrong answer, % of all errors with 95 % intervals"
    if rows:
        yield Table("error kinds", caption, columns, tuple(rows), "pairs")


def _false_neutrals(by_suite: Mapping[str, Tests]) -> list[PaperLine]:
    """Table 4: false neutrals among errors on changed pairs and on untouched ones."""
    by = {ERROR: FALSE_NEUTRAL}
    controls: dict[str, dict[str, Estimate]] = {}
    lines = []
    for suite, tests in by_suite.items():
        kinds = {model: kind for model, test in tests.items() if (kind := test.errors.kinds.get(FALSE_NEUTRAL))}
        before = {model: kind.vs_control.share.control for model, kind in kinds.items() if kind.vs_control}
        if base_name(suite) == LADDER or not before:
            continue
        controls[suite] = before
        shares = {model: kind.share for model, kind in kinds.items()}
        cells = {model: Change(before[model], after) if model in before else after for model, after in shares.items()}
        lines.append(PaperLine(suite_title(suite), cells, suite, by, "changed pairs"))
    original = _original_lines(controls, by)
    return [*original, *lines] if original else []


def _kind_lines(
    by_suite: Mapping[str, Tests], base: str, kinds: Sequence[str], result: StressResult
) -> list[PaperLine]:
    """A line for each kind of error on a suite, with the errors that all models make where these were counted."""
    lines = []
    for suite in _variants(by_suite, base):
        tests = by_suite[suite]
        errors = {model: test.errors for model, test in tests.items()}
        common = result.common_errors.get(suite)
        if common and common.n:
            errors[f"errors that {'both' if len(tests) == 2 else 'all'} make ({common.n:,})"] = common
        for kind in kinds:
            cells = {who: one.kinds[kind].share if kind in one.kinds else None for who, one in errors.items()}
            lines.append(PaperLine(kind_title(kind), cells, suite, {ERROR: kind}, suite_title(suite)))
    return lines


def _negation_tables(by_suite: Mapping[str, Tests]) -> Iterator[Table]:
    caption = "Entailment (E–C) and neutral (N–C) taken for contradiction on {}, % of all pairs with 95 % intervals"
    for suite in _variants(by_suite, NEGATION):
        errors = {model: test.errors for model, test in by_suite[suite].items() if test.errors.compared}
        yield from kinds_table(
            f"{suite} contradictions", caption.format(suite), errors, measure="rate", kinds=TO_CONTRADICTION
        )


def _answer_tables(by_suite: Mapping[str, Tests]) -> Iterator[Table]:
    for suite in _variants(by_suite, NUMERICAL):
        counts = {model: test.confusion for model, test in by_suite[suite].items() if test.confusion}
        yield from confusion_table(f"{suite} answers", f"Answers by gold on {suite}", counts)


def _ladder_parts(by_suite: Mapping[str, Tests]) -> Iterator[Part]:
    """Accuracy by the number of tautologies at the end of the premise, and by the place of a single one."""
    tests = {model: test for suite in _variants(by_suite, LADDER) for model, test in by_suite[suite].items()}
    keys: dict[tuple[str, str, int], str] = {}
    for test in tests.values():
        for key in test.slices:
            side, place, times = key.split(CROSS)
            keys[side, place, int(times)] = key
    steps = {times: key for (side, place, times), key in keys.items() if (side, place) == ("premise", "end")}
    if len(steps) < 2:
        return
    # With --limit every step is made from other pairs, and only its own untouched pairs can be set beside it.
    shared = all(
        len({_comparable(test.slice_controls.get(key)) for key in steps.values()}) == 1 for test in tests.values()
    )
    rows = [
        Row(str(times), tuple(test.slices.get(key) if shared else _slice_change(test, key) for test in tests.values()))
        for times, key in sorted(steps.items())
    ]
    first = next(iter(steps.values()))
    controls = tuple(test.slice_controls.get(first) for test in tests.values())
    rows += [Row("untouched pairs", controls, role="control")] if shared and any(controls) else []
    title = "repetitions of the tautology at the end of the premise"
    columns = tuple(Column(model, model=model) for model in tests)
    changes = "" if shared else ": untouched pairs → changed pairs"
    yield Table("ladder repetitions", f"Accuracy by {title}, %{changes}", columns, tuple(rows), "repetitions")
    yield Chart("ladder repetitions", "line", axis=title)
    placed = tuple(
        Row(
            f"{model}, {side}" if len(tests) > 1 else side,
            tuple(test.slices.get(keys.get((side, place, 1), "")) for place in _PLACES),
        )
        for model, test in tests.items()
        for side in _SIDES
    )
    caption = "Accuracy with one tautology, by side and place, %"
    yield Table("ladder places", caption, tuple(map(Column, _PLACES)), placed, "side")
    yield Chart("ladder places", "shades")


def _comparable(control: Estimate | None) -> tuple[float, int] | None:
    """What tells two sets of untouched pairs apart."""
    return (control.value, control.n) if control else None


def _paper_tables(result: StressResult, table_id: str, caption: str, lines: Sequence[PaperLine]) -> Iterator[Table]:
    """A table of the lines, models first, then people and the paper's systems; none where no model has a value."""
    if not any(cell for line in lines if line.suite != ORIGINAL for cell in line.cells.values()):
        return
    models = dict.fromkeys(model for line in lines for model in line.cells)
    published = [(line, _scores_by_system(result, line)) for line in lines]
    on_tests = dict.fromkeys(key for line, scores in published if line.suite != ORIGINAL for key in scores)
    systems = sorted(on_tests, key=lambda key: key[0] == MAIN)
    columns = [Column(model, model=model if model in result.models else "") for model in models]
    for condition, system in systems:
        people = condition == PEOPLE
        columns.append(Column(people_name(system) if people else system, role="people" if people else "published"))
    rows, sources, notes = [], dict[str, None](), dict[str, list[str]]()
    for line, scores in published:
        numbers = [scores.get(key) for key in systems]
        cells = (*map(line.cells.get, models), *(score.cell if score else None for score in numbers))
        rows.append(Row(line.name, cells, line.heading, "control" if line.suite == ORIGINAL else ""))
        shown = [score for key, score in scores.items() if key in on_tests]
        sources |= dict.fromkeys(score.source for score in shown)
        remarks = [line.note]
        for score in shown:
            remarks += [*score.differs, f"{score.system}: {score.note}" if score.printed is not None else ""]
        notes[line.name] = list(dict.fromkeys(filter(None, remarks)))
    yield Table(table_id, caption, tuple(columns), tuple(rows), notes=tuple(_row_notes(notes)), sources=tuple(sources))


def _scores_by_system(result: StressResult, line: PaperLine) -> dict[tuple[str, str], StressScore]:
    """The published numbers on a slice by condition and system; the second of a system is named with its source."""
    by_system: dict[tuple[str, str], StressScore] = {}
    for score in result.published.get(line.suite, ()):
        if score.by == line.by:
            key = (score.condition, score.system)
            by_system[key if key not in by_system else (score.condition, f"{score.system} ({score.source})")] = score
    return by_system


def _row_notes(notes: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Each note once, after the names of the rows it is about."""
    for note in dict.fromkeys(note for members in notes.values() for note in members):
        rows = [name for name, members in notes.items() if note in members]
        others = [name for name in notes if name not in rows]
        if 2 * len(others) < len(notes) > 2:
            yield f"{f'all but {list_some(others)}' if others else 'all rows'}: {note}"
        else:
            yield f"{list_some(rows)}: {note}"
