"""How models react when two words are swapped: the experiments of Sanchez, Mitchell and Riedel (2018) on any run.

Three factors are tested on a suite of swapped pairs and its control: insensitivity (the same answer although gold
changed), unseen word pairs (the training set does not have them in this order), and polarity (the most frequent
training label of a word pair). The tests are the paper's; most come with a second one that allows for dependent rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from string import ascii_lowercase
from typing import Annotated, Literal, TypeVar

import numpy as np
import polars as pl

from acidtest.core.document import (
    Cell,
    Change,
    Chart,
    Column,
    Document,
    Finding,
    Note,
    Part,
    Published,
    PValue,
    Reference,
    Role,
    Row,
    Section,
    Table,
    Unit,
)
from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS
from acidtest.core.logs import stage
from acidtest.core.run import Run
from acidtest.core.study import study
from acidtest.core.suite import CONTROL, Suite
from acidtest.io.published import PublishedScore, published_scores, values_by_system
from acidtest.pairs.counts import CATEGORIES, TIE, Polarities, polarities
from acidtest.stats.contingency import Crosstab, Ties, tied_categories
from acidtest.stats.significance import bonferroni
from acidtest.studies.behaviour.factors import (
    CONTROL_POLARITY,
    DOUBTFUL,
    GIVEN_GOLD,
    INSENSITIVITY,
    POLARITY,
    UNSEEN,
    ContingencyOptions,
    FactorTest,
    SwapTest,
    compare_with_control,
    describe_errors,
    describe_factor,
    describe_repeats,
    describe_swap,
    factor_tests,
    repeats_all,
)
from acidtest.studies.behaviour.samples import (
    SUBSETS,
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


TITLES = {
    INSENSITIVITY: "Insensitivity (table 2): pairs whose gold changed, answered otherwise than before or not",
    UNSEEN: "Unseen word pairs (table 3): answers by whether training has the words in this order",
    POLARITY: "Polarity (table 4): answers by the label that training ties to the word pair",
    CONTROL_POLARITY: "Polarity on the control",
}

COLUMNS = {"whole sample": "", **{name.replace(" is not ", " ≠ "): name for name in SUBSETS}}
"""Titles of the columns of table 1, with the subset each shows (empty for the whole sample)."""

SHORT_TITLES = dict(zip(COLUMNS, ("all", "gold", "new", "pol."), strict=True))
"""Titles of the same columns on the screen, where a column for each model has to fit beside the others."""

LEAST_FACTOR_ROWS = 4
"""If the screen has room for fewer lines on factors, it shows none."""

CONTROLS, SWAPPED = "control", "swapped"
"""Names of the lines of table 1."""

IN_SITU, PROXY = "swaps/antonyms-in-situ", "swaps/antonyms-proxy"
PROXY_SAMPLES = {f"{PROXY} (premise)": "I_TA2", f"{PROXY} (hypothesis)": "I_TA3"}
"""Section 6.1 replaces a word "on both the premise and hypothesis", which "yields two new samples": in this order."""

SAMPLES = {
    IN_SITU: ("I_A", "I_TA1"),
    **{suite: ("I_A", sample) for suite, sample in PROXY_SAMPLES.items()},
    "swaps/antonyms-ex-situ": ("E_A", "E_TA"),
    "swaps/hypernyms-in-situ": ("I_H", "I_TH"),
    "swaps/hypernyms-ex-situ": ("E_H", "E_TH"),
}
"""The paper's names of a suite's control and of the suite."""

_TABLE_4 = "published (table 4)"

K = TypeVar("K")

Accuracies = dict[str, dict[str, float]]
"""Published accuracy by system and column of table 1."""


def document(result: BehaviourResult) -> Document:
    """A document with an overview of all factors, then for each suite table 1, answers by polarity, and models."""
    suites = dict.fromkeys(one.suite for one in result.behaviours)
    sections = [_suite_section(suite, [one for one in result.behaviours if one.suite == suite]) for suite in suites]
    labels = ", ".join(f"{count:,} {label}" for label, count in result.train.labels.items())
    forms = "as they stand" if result.words == "as they stand" else "in any of their forms (--literal: as they stand)"
    tests = (
        f"Found is what has a p below {result.alpha:g} in its own test, the paper's level, whatever else is tested; "
        f"corrected p-values are by Bonferroni over all {result.tests} tests. Tests of tables take rows for "
        "independent; p is given a second time with word pairs shuffled as wholes, and a finding for which that is "
        f"{DOUBTFUL} or more is in doubt. Polarities that share a letter are not told apart (Fisher's test of every "
        "two, Holm, 0.05)."
    )
    return Document(
        title="acidtest behaviour",
        headline=_headline(result.behaviours),
        parts=(
            _overview(result),
            *sections,
            Note(f"Training set: {result.train.name}, {labels}. Words are looked up in it {forms}.", quiet=True),
            Note(tests, quiet=True),
        ),
        models=tuple(dict.fromkeys(one.model for one in result.behaviours)),
        signatures={f"{one.suite}, {one.model}": one.signature for one in result.behaviours},
        methods=(
            "Published: Sanchez, Mitchell and Riedel 2018, tables 1 to 4 and sections 6.1 to 6.4. What they call "
            "chi-square is the likelihood-ratio statistic G.",
        ),
    )


def _headline(behaviours: Sequence[Behaviour]) -> str:
    """The model that repeats most predictions, if it repeats more than half; otherwise what a swap costs."""
    repeating = [one for one in behaviours if one.repeats.known and one.repeats.low > 1 / 2]
    if repeating:
        # The lower bound, so that nine pairs do not outweigh five hundred.
        first = max(repeating, key=lambda one: one.repeats.low)
        return (
            f"{first.model} repeats its prediction on {first.repeats.value:.1%} of the swapped pairs whose gold "
            f"changed ({first.suite})."
        )
    tested = [one for one in behaviours if one.swap.difference.known]
    if not tested:
        return "No pair has its control beside it, so what the swap does cannot be told."
    most = max(tested, key=lambda one: abs(one.swap.difference.value))
    change = f"from {most.control.whole.value:.1%} to {most.transformed.whole.value:.1%}"
    if len(behaviours) == 1:
        return f"When two words of {most.suite} change places, the accuracy of {most.model} goes {change}."
    return f"When two words change places, the accuracy of {most.model} changes most: on {most.suite} {change}."


def _overview(result: BehaviourResult) -> Section:
    """A table of accuracy before and after the swap and the verdict on each factor, by model and suite."""
    factors = {INSENSITIVITY: "insensitivity", UNSEEN: "unseen pairs", POLARITY: "polarity", GIVEN_GOLD: "same gold"}
    columns = [Column(CONTROLS), Column(SWAPPED), Column("difference", "points"), Column("repeated")]
    for title in factors.values():
        columns += [Column("effect", "number", group=title), Column("verdict", "text", group=title)]
    rows = []
    suites = list(dict.fromkeys(one.suite for one in result.behaviours))
    for one in sorted(result.behaviours, key=lambda one: suites.index(one.suite)):
        cells: list[Cell] = [one.control.whole, one.transformed.whole, one.swap.difference, one.repeats]
        for name in factors:
            factor = one.factor(name)
            known = factor is not None and not math.isnan(factor.association.p)
            cells += [factor.association.effect if factor and known else None, _verdict(factor, result.alpha)]
        rows.append(Row(one.model, tuple(cells), heading=one.suite))
    explanation = Note(
        "A model is insensitive when its errors repeat its earlier answer where gold changed; unseen are pairs of "
        "words that no training pair has in this order; polarity is the label of most training pairs that have them so."
    )
    caption = (
        "Accuracy before and after the swap, %; predictions repeated where gold changed, %; and which factors were "
        f"found at a level of {result.alpha:g}"
    )
    return Section("Overview", (explanation, Table("overview", caption, tuple(columns), tuple(rows), "model")))


def _verdict(factor: FactorTest | None, alpha: float) -> str | None:
    """What the test of a factor found, in a word or two; None where it could not be made."""
    if factor is not None and repeats_all(factor):
        return "found"
    if factor is None or math.isnan(factor.association.p):
        return None
    if factor.association.p >= alpha:
        return "not shown"
    return "in doubt" if factor.p_pairs >= DOUBTFUL else "found"


def screen(result: BehaviourResult, rows: int) -> Document:
    """The paper's table 1 for all samples and models and, if there is room, ``rows`` lines on what factors show."""
    behaviours = result.behaviours
    parts: list[Part] = [_table_1(behaviours)]
    if rows >= LEAST_FACTOR_ROWS:
        parts.append(_factor_table(result, rows))
        rest = "Tests, tables 2 to 4 and published numbers: --full."
    else:
        rest = "Factors that were found, tests, tables 2 to 4 and published numbers: --full."
    parts.append(Note(rest, quiet=True))
    return Document(
        "acidtest behaviour", _headline(behaviours), tuple(parts), tuple(dict.fromkeys(b.model for b in behaviours))
    )


def _factor_table(result: BehaviourResult, most: int) -> Table:
    """Predictions repeated and factors found, for the ``most`` suites and models with the most repeated ones."""
    behaviours = result.behaviours
    factors = {INSENSITIVITY: "insensitivity", UNSEEN: "unseen pairs", POLARITY: "polarity"}
    columns = (Column("repeated"), *(Column(title, "text") for title in factors.values()))
    lines = [
        Row(one.model, (one.repeats, *(_verdict(one.factor(name), result.alpha) for name in factors)), one.suite)
        for one in sorted(behaviours, key=lambda one: -one.repeats.low if one.repeats.known else 0.0)
    ][:most]
    lines.sort(key=lambda row: [one.suite for one in behaviours].index(row.heading))
    left_out = len(behaviours) - len(lines)
    notes = (f"and {left_out} more: --full",) if left_out else ()
    caption = "Predictions repeated where gold changed, %, with 95 % intervals, and which factors were found"
    return Table("factors", caption, columns, tuple(lines), "model", notes=notes)


def _table_1(behaviours: Sequence[Behaviour]) -> Table:
    """Table 1 as the paper prints it: a row for each sample, a column for each subset and model.

    More than two models are called by letters, so that the table fits on a screen.
    """
    models = tuple(dict.fromkeys(one.model for one in behaviours))
    letters = dict(zip(models, ascii_lowercase, strict=False)) if 2 < len(models) <= len(ascii_lowercase) else {}
    lines: dict[str, dict[str, SwapSample]] = {}
    order = list(SAMPLES)
    for one in sorted(behaviours, key=lambda one: _place(order, one.suite)):
        control, swapped = SAMPLES.get(paper_suite(one.suite), (f"{one.suite}, {CONTROLS}", f"{one.suite}, {SWAPPED}"))
        lines.setdefault(control, {}).setdefault(one.model, one.control)
        lines.setdefault(swapped, {})[one.model] = one.transformed
    columns = tuple(
        Column(letters.get(model, model), group=SHORT_TITLES[name], model=model) for name in COLUMNS for model in models
    )
    shown = []
    for name, samples in lines.items():
        cells: list[Cell] = []
        for subset in COLUMNS:
            for model in models:
                estimate = _line(samples[model])[subset] if model in samples else None
                cells.append(estimate.value if estimate and estimate.known else None)
        shown.append(Row(name, tuple(cells)))
    names = "I: in situ, E: ex situ, A: antonyms, H: hypernyms, T: transformed"
    subsets = "gold: gold changed; new: word pairs not in training; pol.: polarity ≠ gold"
    key = (", ".join(f"{letter}: {model}" for model, letter in letters.items()),) if letters else ()
    return Table("table 1", "Accuracy, % (table 1)", columns, tuple(shown), "sample", notes=(*key, names, subsets))


def _place(order: Sequence[str], suite: str) -> int:
    """The place of a suite in the paper's order; others come last."""
    return order.index(paper_suite(suite)) if paper_suite(suite) in order else len(order)


def _suite_section(suite: str, behaviours: Sequence[Behaviour]) -> Section:
    samples = " and ".join(SAMPLES.get(paper_suite(suite), ()))
    text = f"The paper's samples {samples}. Its systems were trained on SNLI and asked other sentences."
    subsets, answers = _subset_table(suite, behaviours), _answer_table(suite, behaviours)
    chance = Reference(1 / 3, "chance (33 %)")
    published = tuple(
        _crosstab(f"{suite} {factor} {system}", f"{title}; {system}, published", table, role="published")
        for factor, title in TITLES.items()
        for system, table in published_tables(suite, factor).items()
    )
    return Section(
        suite,
        (
            *([Note(text, quiet=True)] if samples else []),
            Chart(subsets.id, title=subsets.caption, axis="accuracy; hollow: control", reference=chance),
            subsets,
            _sample_table(suite, behaviours),
            Chart(answers.id, "stack", axis="share of the pairs of a polarity"),
            answers,
            *(_model_section(one) for one in behaviours),
            *([Section("The paper's tables", published, folded=True)] if published else []),
        ),
    )


def _line(sample: SwapSample) -> dict[str, Estimate | None]:
    """The cells of a line of table 1, by column title."""
    return {name: sample.subsets[subset] if subset else sample.whole for name, subset in COLUMNS.items()}


def _subset_table(suite: str, behaviours: Sequence[Behaviour]) -> Table:
    """A table of accuracy by subset and model; a change from the control if that has the subset, too."""
    published = published_accuracies(suite).get(SWAPPED, {})
    columns = [Column(one.model, model=one.model) for one in behaviours]
    columns += [Column(system, role="published") for system in published]
    rows = []
    for name in COLUMNS:
        cells: list[Cell] = []
        for one in behaviours:
            before, after = _line(one.control)[name], _line(one.transformed)[name]
            cells.append(Change(before, after) if before and before.known and after else after)
        rows.append(Row(name, (*cells, *(_published_cell(numbers, name) for numbers in published.values()))))
    caption = "Accuracy by subset, %: control → swapped pairs, with its 95 % interval"
    return Table(f"{suite} subsets", caption, tuple(columns), tuple(rows), "subset")


def _published_cell(numbers: Mapping[str, float], name: str) -> Published | None:
    return Published(numbers[name]) if name in numbers else None


def _sample_table(suite: str, behaviours: Sequence[Behaviour]) -> Table:
    """Table 1: the number of pairs and the accuracy of each subset, for the control and the swapped pairs."""
    columns: list[Column] = []
    for name in COLUMNS:
        columns += [Column("pairs", "count", group=name), Column("accuracy", group=name)]
    rows = []
    for one in behaviours:
        for line, sample in ((CONTROLS, one.control), (SWAPPED, one.transformed)):
            cells: list[Cell] = []
            for estimate in _line(sample).values():
                cells += [estimate.n if estimate else None, estimate]
            rows.append(Row(line, tuple(cells), heading=one.model))
    lines = published_accuracies(suite)
    for system in dict.fromkeys(system for systems in lines.values() for system in systems):
        for line, systems in lines.items():
            cells = []
            for name in COLUMNS:
                cells += [None, _published_cell(systems.get(system, {}), name)]
            rows.append(Row(line, tuple(cells), heading=f"{system}, published", role="published"))
    caption = "Accuracy on whole samples and subsets, %, with 95 % intervals (table 1)"
    sources = ("Sanchez et al. 2018, table 1",) if lines else ()
    return Table(f"{suite} samples", caption, tuple(columns), tuple(rows), "sample", sources=sources)


def _answer_table(suite: str, behaviours: Sequence[Behaviour]) -> Table:
    """A table of answers by polarity: of each model to control and swapped pairs, and the paper's table 4."""
    tables: dict[str, Crosstab] = {}
    for one in behaviours:
        for name, line, sample in ((CONTROL_POLARITY, CONTROLS, one.control), (POLARITY, SWAPPED, one.transformed)):
            factor = one.factor(name)
            if factor and factor.table and factor.table.n:
                n = factor.table.n
                known = "" if n == sample.whole.n else f": {n:,} of {sample.whole.n:,} pairs"
                tables[f"{one.model}, {line}{known}"] = factor.table
    tables |= {f"{system}, {_TABLE_4}": table for system, table in published_tables(suite, POLARITY).items()}
    answers = tuple(dict.fromkeys((*LABELS, *(answer for table in tables.values() for answer in table.columns))))
    rows = [row for heading, table in tables.items() for row in _answer_rows(table, heading, answers)]
    columns = (Column("pairs", "count"), *(Column(answer) for answer in answers))
    return Table(f"{suite} answers", "Answers by the polarity of the word pair, %", columns, tuple(rows), "polarity")


def _answer_rows(table: Crosstab, heading: str, answers: Sequence[str]) -> Iterator[Row]:
    """A row of answer shares for each polarity that occurs; all ties make one row."""
    by_polarity: dict[str, Counter[str]] = {}
    for name, counts in zip(table.rows, table.counts.tolist(), strict=True):
        polarity = "a tie" if TIE in name else name
        by_polarity.setdefault(polarity, Counter()).update(dict(zip(table.columns, counts, strict=True)))
    role: Role = "published" if heading.endswith(_TABLE_4) else ""
    for polarity, totals in by_polarity.items():
        n = totals.total()
        if n:
            shares = (Estimate(totals[answer] / n, n=n) for answer in answers)
            yield Row(polarity, (n, *shares), heading=heading, role=role)


def _model_section(result: Behaviour) -> Section:
    """The findings about a model, and the tables and tests behind them."""
    where = f"{result.suite} {result.model}"
    details: list[Part] = [_test_table(where, result)]
    for factor in result.factors:
        if factor.table and factor.table.n:
            tests = published_tests(result.suite, factor.name)
            details.append(_crosstab(f"{where} {factor.name}", TITLES[factor.name], factor.table, source=tests))
    letters = result.ties.letters
    rows = tuple(Row(name, (value.n, value, letters.get(name, ""))) for name, value in result.by_polarity.items())
    columns = (Column("pairs", "count"), Column("accuracy"), Column("letters", "text"))
    caption = "Accuracy by polarity, %, with 95 % intervals; those that share a letter are not told apart"
    details.append(Table(f"{where} by polarity", caption, columns, rows, "polarity"))
    details += [Note(f"{note}.", quiet=True) for note in result.notes]
    findings = (Finding("behaviour", "info", sentence, model=result.model) for sentence in result.findings)
    return Section(result.model, (*findings, Section("Tables and tests", tuple(details), folded=True)))


def _test_table(where: str, result: Behaviour) -> Table:
    """A table of the tests of the swap and of every factor: effects, and p with and without dependent rows."""
    units: dict[str, Unit] = {"test": "text", "statistic": "number", "df": "count", "p": "p", "corrected p": "p"}
    units |= {"p, wholes shuffled": "p", "effect": "number", "measure": "text", "odds ratio": "number"}
    swap = result.swap
    ps = (PValue(swap.p), PValue(swap.p_adjusted), PValue(swap.p_groups))
    rows = [Row("swapped against control", (swap.test, None, None, *ps, swap.difference, "difference", None))]
    for factor in result.factors:
        test = factor.association
        statistic = (None, None) if math.isnan(test.p) else (test.statistic, test.df)
        ps = (PValue(test.p), PValue(factor.p_adjusted), PValue(factor.p_pairs))
        effect = test.effect if test.effect.known else None
        rows.append(Row(factor.name, (test.test, *statistic, *ps, effect, test.effect.method, test.odds_ratio)))
    notes = ["wholes shuffled: whole groups change places, or whole word pairs"]
    notes += [f"{factor.name}: {factor.association.note}" for factor in result.factors if factor.association.note]
    columns = tuple(Column(name, unit) for name, unit in units.items())
    caption = f"Tests of {result.model} on {result.suite}"
    return Table(f"{where} tests", caption, columns, tuple(rows), "what", notes=tuple(notes))


def _crosstab(name: str, caption: str, table: Crosstab, *, role: Role = "", source: str = "") -> Table:
    counts = zip(table.rows, table.counts.tolist(), strict=True)
    rows = tuple(Row(row, tuple(cells), role=role) for row, cells in counts)
    columns = tuple(Column(column, "count") for column in table.columns)
    return Table(name, caption, columns, rows, sources=(source,) if source else ())


def paper_suite(suite: str) -> str:
    """A suite's name without options but with its sample: ``swaps/a:least=5 (premise)`` gives ``swaps/a (premise)``."""
    base, options, rest = suite.partition(":")
    side = rest[rest.rfind(" (") :] if options and rest.endswith(")") else ""
    return base + side


def published_accuracies(suite: str) -> dict[str, Accuracies]:
    """The paper's table 1 for a suite: accuracies by line, system (short name) and column."""
    base = paper_suite(suite)
    sample = {"sample": PROXY_SAMPLES[base]} if base in PROXY_SAMPLES else {}
    sources = {CONTROLS: (IN_SITU if sample else base) + CONTROL, SWAPPED: "behaviour" if sample else base}
    columns = {subset: column for column, subset in COLUMNS.items()}
    lines: dict[str, Accuracies] = {}
    for line, source in sources.items():
        wanted = sample if line == SWAPPED else {}
        scores = [score for score in published_scores(source) if {**score.by, "subset": ""} == {**wanted, "subset": ""}]
        lines[line] = _by_system(scores, lambda score: columns[score.by.get("subset", "")])
    return {line: accuracies for line, accuracies in lines.items() if accuracies}


def _by_system(scores: Sequence[PublishedScore], key: Callable[[PublishedScore], K]) -> dict[str, dict[K, float]]:
    """Published values by system, under the paper's short name, and key."""
    names = {"Decomposable Attention": "DAM", "Conditional Encoder": "CE"}
    return {names.get(system, system): values for system, values in values_by_system(scores, key).items()}


def published_tests(suite: str, factor: str) -> str:
    """The paper's tests of a factor on the sample of a suite: ``ESIM G(1) = 39.33, …``."""
    scores = _factor_scores(suite, factor, "statistic")
    return ", ".join(
        f"{system} G({values['degrees of freedom']:.0f}) = {values['G']:g}"
        + (f", p {values['p']:g}" if "p" in values else "")
        for system, values in _by_system(scores, lambda score: score.by["statistic"]).items()
    )


def published_tables(suite: str, factor: str) -> dict[str, Crosstab]:
    """The paper's table of a factor (tables 2 to 4) for the sample of a suite, by system; empty if it prints none."""
    scores = _factor_scores(suite, factor, "column")
    cells = _by_system(scores, lambda score: (score.by["row"], score.by["column"]))
    tables = {}
    for system, counts in cells.items():
        # Labels come first, in our order; the paper has neutral first.
        rows, columns = (
            sorted(dict.fromkeys(names), key=lambda name: LABELS.index(name) if name in LABELS else len(LABELS))
            for names in zip(*counts, strict=True)
        )
        numbers = np.array([[int(counts[row, column]) for column in columns] for row in rows])
        tables[system] = Crosstab(tuple(rows), tuple(columns), numbers)
    return tables


def _factor_scores(suite: str, factor: str, key: str) -> list[PublishedScore]:
    """The paper's numbers on a factor and the sample of a suite that are broken down by ``key``."""
    control, sample = SAMPLES.get(paper_suite(suite), ("", ""))
    wanted = (control, POLARITY) if factor == CONTROL_POLARITY else (sample, factor)
    scores = [score for score in published_scores("behaviour") if key in score.by]
    return [score for score in scores if (score.by.get("sample"), score.by.get("factor")) == wanted]
