"""Behaviour under swapped words as a document: tables 1 to 4 of Sanchez et al. (2018), the paper's numbers beside."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

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
)
from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS
from acidtest.stats.contingency import Crosstab
from acidtest.studies.behaviour import Behaviour, BehaviourResult
from acidtest.studies.behaviour.factors import (
    CONTROL_POLARITY,
    DOUBTFUL,
    GIVEN_GOLD,
    INSENSITIVITY,
    POLARITY,
    UNSEEN,
    FactorTest,
)
from acidtest.studies.behaviour.published import (
    COLUMNS,
    CONTROLS,
    SAMPLES,
    SWAPPED,
    paper_suite,
    published_accuracies,
    published_tables,
    published_tests,
)
from acidtest.studies.behaviour.samples import SwapSample
from acidtest.text.pair_counts import TIE

TITLES = {
    INSENSITIVITY: "Insensitivity (table 2): pairs whose gold changed, answered otherwise than before or not",
    UNSEEN: "Unseen word pairs (table 3): answers by whether training has the words in this order",
    POLARITY: "Polarity (table 4): answers by the label that training ties to the word pair",
    CONTROL_POLARITY: "Polarity on the control",
}

_TABLE_4 = "published (table 4)"
_SOURCE = "Sanchez, Mitchell and Riedel 2018, tables 1 to 4 and sections 6.1 to 6.4"


def document(result: BehaviourResult) -> Document:
    """An overview of all factors, then a section for each suite with table 1, answers by polarity, and each model."""
    suites = dict.fromkeys(one.suite for one in result.behaviours)
    sections = [_suite_section(suite, [one for one in result.behaviours if one.suite == suite]) for suite in suites]
    labels = ", ".join(f"{count:,} {label}" for label, count in result.train.labels.items())
    return Document(
        title="acidtest behaviour",
        headline=_headline(result.behaviours),
        parts=(
            _overview(result),
            *sections,
            Note(f"Training set: {result.train.name}, {labels}. {_describe_lookup(result)}", quiet=True),
            Note(_describe_tests(result), quiet=True),
        ),
        models=tuple(dict.fromkeys(one.model for one in result.behaviours)),
        signatures={f"{one.suite}, {one.model}": one.signature for one in result.behaviours},
        methods=(f"Published: {_SOURCE}. What they call chi-square is the likelihood-ratio statistic G.",),
    )


def _headline(behaviours: Sequence[Behaviour]) -> str:
    tested = [one for one in behaviours if one.swap.difference.known]
    if not tested:
        return "No pair has its control beside it, so what the swap does cannot be told."
    most = max(tested, key=lambda one: abs(one.swap.difference.value))
    before, after = most.control.whole.value, most.transformed.whole.value
    change = f"from {before:.1%} to {after:.1%} right"
    if len(behaviours) == 1:
        return f"When two words of {most.suite} change places, {most.model} goes {change}."
    return f"When two words change places, {most.model} changes most: on {most.suite} {change}."


def _describe_lookup(result: BehaviourResult) -> str:
    if result.words == "as they stand":
        return "Words are looked up in it as they stand."
    return "Words are looked up in it in any of their forms (--literal: as they stand)."


def _describe_tests(result: BehaviourResult) -> str:
    return (
        f"Found is what has a p below {result.alpha:g} in its own test, the paper's level, whatever else is tested; "
        f"corrected p-values are by Bonferroni over all {result.tests} tests. Tests of tables take rows for "
        "independent; p is given a second time with word pairs shuffled as wholes, and a finding for which that is "
        f"{DOUBTFUL} or more is in doubt. Polarities that share a letter are not told apart (Fisher's test of every "
        "two, Holm, 0.05)."
    )


def _overview(result: BehaviourResult) -> Section:
    """Accuracy before and after the swap, and what became of each factor, a row for each model on each suite."""
    factors = {INSENSITIVITY: "insensitivity", UNSEEN: "unseen pairs", POLARITY: "polarity", GIVEN_GOLD: "same gold"}
    columns = [Column(CONTROLS), Column(SWAPPED), Column("difference", "points")]
    for title in factors.values():
        columns += [Column("effect", "number", group=title), Column("verdict", "text", group=title)]
    rows = []
    suites = list(dict.fromkeys(one.suite for one in result.behaviours))
    for one in sorted(result.behaviours, key=lambda one: suites.index(one.suite)):
        cells: list[Cell] = [one.control.whole, one.transformed.whole, one.swap.difference]
        for name in factors:
            factor = one.factor(name)
            tested = factor is not None and not math.isnan(factor.association.p)
            cells += [factor.association.effect, _verdict(factor, result.alpha)] if factor and tested else [None, None]
        rows.append(Row(one.model, tuple(cells), heading=one.suite))
    explanation = Note(
        "A model is insensitive when its errors repeat its earlier answer where gold changed; unseen are pairs of "
        "words that no training pair has in this order; polarity is the label of most training pairs that have them so."
    )
    caption = f"Accuracy before and after the swap, %, and which factors were found at a level of {result.alpha:g}"
    return Section("Overview", (explanation, Table("overview", caption, tuple(columns), tuple(rows), "model")))


def _verdict(factor: FactorTest, alpha: float) -> str:
    if factor.association.p >= alpha:
        return "not shown"
    return "in doubt" if factor.p_pairs >= DOUBTFUL else "found"


def _suite_section(suite: str, behaviours: Sequence[Behaviour]) -> Section:
    samples = SAMPLES.get(paper_suite(suite))
    subsets = _subset_table(suite, behaviours)
    answers = _answer_table(suite, behaviours)
    parts: list[Part] = []
    if samples:
        text = (
            f"The paper's samples {' and '.join(samples)}. Its systems were trained on SNLI and asked other sentences."
        )
        parts.append(Note(text, quiet=True))
    parts += [
        Chart(
            subsets.id,
            title=subsets.caption,
            axis="accuracy; hollow: control",
            reference=Reference(1 / 3, "chance (33 %)"),
        ),
        subsets,
        _sample_table(suite, behaviours),
        Chart(answers.id, "stack", axis="share of the pairs of a polarity"),
        answers,
        *(_model_section(one) for one in behaviours),
    ]
    published = tuple(
        _crosstab(f"{suite} {factor} {system}", f"{title}; {system}, published", table, role="published")
        for factor, title in TITLES.items()
        for system, table in published_tables(suite, factor).items()
    )
    parts += [Section("The paper's tables", published, folded=True)] if published else []
    return Section(suite, tuple(parts))


def _estimate(sample: SwapSample, column: str) -> Estimate | None:
    return sample.subsets[COLUMNS[column]] if COLUMNS[column] else sample.whole


def _subset_table(suite: str, behaviours: Sequence[Behaviour]) -> Table:
    """Accuracy of each model by subset, from control to swapped pairs where the control has the subset too."""
    published = published_accuracies(suite).get(SWAPPED, {})
    columns = [Column(one.model, model=one.model) for one in behaviours]
    columns += [Column(system, role="published") for system in published]
    rows = []
    for name in COLUMNS:
        cells: list[Cell] = []
        for one in behaviours:
            before, after = _estimate(one.control, name), _estimate(one.transformed, name)
            cells.append(Change(before, after) if before and before.known and after else after)
        papers = [Published(numbers[name]) if name in numbers else None for numbers in published.values()]
        rows.append(Row(name, (*cells, *papers)))
    caption = "Accuracy by subset, %: control → swapped pairs, with its 95 % interval"
    return Table(f"{suite} subsets", caption, tuple(columns), tuple(rows), "subset")


def _sample_table(suite: str, behaviours: Sequence[Behaviour]) -> Table:
    """Table 1: control and swapped pairs, each with the number of pairs and accuracy of every subset."""
    columns = [
        column for name in COLUMNS for column in (Column("pairs", "count", group=name), Column("accuracy", group=name))
    ]
    rows = []
    for one in behaviours:
        for line, sample in ((CONTROLS, one.control), (SWAPPED, one.transformed)):
            estimates = [_estimate(sample, name) for name in COLUMNS]
            pairs = [(estimate.n if estimate else None, estimate) for estimate in estimates]
            rows.append(Row(line, tuple(cell for pair in pairs for cell in pair), heading=one.model))
    lines = published_accuracies(suite)
    for system in dict.fromkeys(system for systems in lines.values() for system in systems):
        for line, systems in lines.items():
            numbers = systems.get(system, {})
            published = [Published(numbers[name]) if name in numbers else None for name in COLUMNS]
            cells = tuple(cell for number in published for cell in (None, number))
            rows.append(Row(line, cells, heading=f"{system}, published", role="published"))
    caption = "Accuracy on whole samples and subsets, %, with 95 % intervals (table 1)"
    sources = ("Sanchez et al. 2018, table 1",) if lines else ()
    return Table(f"{suite} samples", caption, tuple(columns), tuple(rows), "sample", sources=sources)


def _answer_table(suite: str, behaviours: Sequence[Behaviour]) -> Table:
    """How the pairs of each polarity were answered: models on control and swapped pairs, and the paper's table 4."""
    tables: dict[str, Crosstab] = {}
    for one in behaviours:
        for name, line, sample in ((CONTROL_POLARITY, CONTROLS, one.control), (POLARITY, SWAPPED, one.transformed)):
            factor = one.factor(name)
            if factor and factor.table and factor.table.n:
                n = factor.table.n
                known = "" if n == sample.whole.n else f": {n:,} of {sample.whole.n:,} pairs"
                tables[f"{one.model}, {line}{known}"] = factor.table
    published = {f"{system}, {_TABLE_4}": table for system, table in published_tables(suite, POLARITY).items()}
    tables |= published
    answers = tuple(dict.fromkeys((*LABELS, *(answer for table in tables.values() for answer in table.columns))))
    rows = [row for heading, table in tables.items() for row in _answer_rows(table, heading, answers)]
    columns = (Column("pairs", "count"), *(Column(answer) for answer in answers))
    return Table(f"{suite} answers", "Answers by the polarity of the word pair, %", columns, tuple(rows), "polarity")


def _answer_rows(table: Crosstab, heading: str, answers: Sequence[str]) -> Iterator[Row]:
    """A row for each polarity that pairs have, all ties together."""
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
    """What was found of a model, and the tables and tests that it rests on."""
    where = f"{result.suite} {result.model}"
    details: list[Part] = [_test_table(where, result)]
    for factor in result.factors:
        if factor.table and factor.table.n:
            details.append(_count_table(f"{where} {factor.name}", result.suite, factor))
    details += [_polarity_table(where, result), *(Note(f"{note}.", quiet=True) for note in result.notes)]
    findings = (Finding("behaviour", "info", sentence, model=result.model) for sentence in result.findings)
    return Section(result.model, (*findings, Section("Tables and tests", tuple(details), folded=True)))


def _test_table(where: str, result: Behaviour) -> Table:
    """The test of the swap and that of every factor, with effects, and p when rows that belong together are kept so."""
    columns = (
        Column("test", "text"),
        Column("statistic", "number"),
        Column("df", "count"),
        Column("p", "p"),
        Column("corrected p", "p"),
        Column("p, wholes shuffled", "p", note="whole groups change places, or whole word pairs"),
        Column("effect", "number"),
        Column("measure", "text"),
        Column("odds ratio", "number"),
    )
    swap = result.swap
    ps = (PValue(swap.p), PValue(swap.p_adjusted), PValue(swap.p_groups))
    rows = [Row("swapped against control", (swap.test, None, None, *ps, swap.difference, "difference", None))]
    for factor in result.factors:
        test = factor.association
        tested = not math.isnan(test.p)
        rows.append(
            Row(
                factor.name,
                (
                    test.test,
                    test.statistic if tested else None,
                    test.df if tested else None,
                    *(PValue(p) for p in (test.p, factor.p_adjusted, factor.p_pairs)),
                    test.effect if test.effect.known else None,
                    test.effect.method,
                    test.odds_ratio,
                ),
            )
        )
    notes = tuple(f"{factor.name}: {factor.association.note}" for factor in result.factors if factor.association.note)
    caption = f"Tests of {result.model} on {result.suite}"
    return Table(f"{where} tests", caption, columns, tuple(rows), "what", notes=notes)


def _count_table(name: str, suite: str, factor: FactorTest) -> Table:
    assert factor.table is not None
    tests = published_tests(suite, factor.name)
    return _crosstab(name, TITLES[factor.name], factor.table, sources=(tests,) if tests else ())


def _crosstab(name: str, caption: str, table: Crosstab, *, role: Role = "", sources: tuple[str, ...] = ()) -> Table:
    rows = tuple(
        Row(row, tuple(counts), role=role) for row, counts in zip(table.rows, table.counts.tolist(), strict=True)
    )
    columns = tuple(Column(column, "count") for column in table.columns)
    return Table(name, caption, columns, rows, sources=sources)


def _polarity_table(where: str, result: Behaviour) -> Table:
    letters = result.ties.letters
    rows = tuple(Row(name, (value.n, value, letters.get(name, ""))) for name, value in result.by_polarity.items())
    columns = (Column("pairs", "count"), Column("accuracy"), Column("letters", "text"))
    caption = "Accuracy by polarity, %, with 95 % intervals; those that share a letter are not told apart"
    return Table(f"{where} by polarity", caption, columns, rows, "polarity")
