"""A comparison as a document: profiles side by side, whole suites by size, then slices one factor at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from acidtest.core.document import (
    Browser,
    Cell,
    Chart,
    Column,
    Document,
    Note,
    Pairs,
    Part,
    PValue,
    Reference,
    Row,
    Section,
    Table,
    describe_count,
)
from acidtest.core.suite import CATEGORY, CROSS
from acidtest.stats.contingency import ALPHA, Ties
from acidtest.studies.comparison import ComparisonResult
from acidtest.studies.comparison.contrasts import Contrast
from acidtest.studies.comparison.profile_tables import profile_parts
from acidtest.studies.comparison.sentence import by_size, listed, short_names
from acidtest.studies.scoring.rows import ScoredRows, score_alike
from acidtest.studies.scoring.slices import MOST_CHART_ROWS, disagreement, headings, main_factor, row_names, slice_of

MOST_NAMES = 4
"""The most suites or slices that a note names before it counts the others."""

_METHODS = (
    "Differences are percentage points, second minus first. Detectable is the smallest difference that as many rows "
    "would show four times in five.",
    "Differences of effects between profiles have joint intervals (Bonferroni over ten effects and all pairs of "
    "models); they are shown to differ where the interval excludes zero.",
)


_UNSURE = f"adjusted p is below {ALPHA:g}, but the interval includes zero: undecided"


def document(result: ComparisonResult) -> Document:
    """The sentence, profiles and whole suites; slices and the rows on which models differ are folded."""
    whole = [contrast for contrast in result.contrasts if not contrast.factor]
    return Document(
        title="acidtest compare",
        headline=result.headline.replace("\n", " "),
        parts=(
            Section("What moves their answers", tuple(profile_parts(result.profiles)), anchor="profiles"),
            Section("Suites", tuple(_suite_parts(result, whole)), anchor="differences"),
            *_matrix_sections(whole),
            *factor_sections(result),
            *_disagreement_sections(result),
            *([Browser(result.runs)] if result.runs else []),
        ),
        models=tuple(dict.fromkeys(name for one in whole for name in (one.first, one.second))),
        methods=_METHODS,
    )


def factor_sections(result: ComparisonResult) -> Iterator[Section]:
    """The slices, one factor at a time, with a table for each suite that has it; crossed factors first.

    Sections are folded but for the factors that the caller chose.
    """
    factors: dict[str, dict[str, list[Contrast]]] = {}
    for contrast in result.contrasts:
        if contrast.factor:
            factors.setdefault(contrast.factor, {}).setdefault(contrast.suite, []).append(contrast)
    for factor in sorted(factors, key=lambda factor: CROSS not in factor):
        suites = factors[factor]
        parts = [part for suite, members in suites.items() for part in _factor_parts(result, suite, factor, members)]
        tests = describe_families(result.correction, [one for members in suites.values() for one in members])
        folded = factor not in result.shown_factors
        yield Section(f"By {factor}", (*parts, Note(tests, quiet=True)), folded=folded, summary=_summary(suites))


def describe_families(correction: str, contrasts: Sequence[Contrast]) -> str:
    """Over which tests p is adjusted."""
    families = {one.family: one.family_tests for one in contrasts}
    sizes = ", and apart from these ".join(
        f"{family} ({describe_count(size, 'test')})" for family, size in families.items()
    )
    return f"p is adjusted ({correction}) over all suites and pairs of models: {sizes}."


def describe_tests(names: Sequence[str], contrasts: Sequence[Contrast]) -> tuple[str, ...]:
    """How each contrast was tested, and what there is to know about it: every fact once, with what it holds for.

    ``names`` are those of the contrasts, in the same order.
    """
    tests: dict[tuple[bool, str], dict[str, None]] = {}
    notes: dict[str, dict[str, None]] = {}
    for name, one in zip(names, contrasts, strict=True):
        tests.setdefault((one.paired, one.test), {})[name] = None
        if one.difference.note:
            notes.setdefault(one.difference.note, {})[name] = None
        if one.p_adjusted < ALPHA and not one.is_shown():
            notes.setdefault(_UNSURE, {})[name] = None
    most_common = max(tests, key=lambda test: len(tests[test]))
    asked = []
    for rows, paired in (("the same rows", True), ("different rows", False)):
        chosen = {test: members for (is_paired, test), members in tests.items() if is_paired == paired}
        # The most frequent test comes last, where "the rest" says what is left.
        ordered = sorted(chosen, key=lambda test: (paired, test) == most_common)
        texts = [
            f"{test} ({'the rest' if (paired, test) == most_common else listed(list(chosen[test]), MOST_NAMES)})"
            for test in ordered
        ]
        phrase = ", ".join(texts) if len(tests) > 1 else "".join(chosen)
        asked += [(paired == most_common[0], f"on {rows}: {phrase}")] if chosen else []
    sentence = f"Tested {'; '.join(text for _, text in sorted(asked))}."
    return sentence, *(f"{listed(list(members), MOST_NAMES)}: {note}." for note, members in notes.items())


def _summary(suites: Mapping[str, Sequence[Contrast]]) -> str:
    """What is under a folded factor: its suites, and how many slices show a difference."""
    contrasts = [one for members in suites.values() for one in members]
    shown = sum(one.verdict != "undecided" for one in contrasts)
    where = listed(list(short_names(list(suites)).values()), MOST_NAMES)
    return f"{where}: {shown:,} of {describe_count(len(contrasts), 'slice')} differ"


def _suite_parts(result: ComparisonResult, whole: Sequence[Contrast]) -> Iterator[Part]:
    """Whole suites, the largest difference first, then controls; with more models, which of them are tied."""
    kinds = {
        "differences": ("Accuracy on whole suites", [one for one in whole if not one.is_control]),
        "untouched": ("Accuracy on the untouched pairs of suites", [one for one in whole if one.is_control]),
    }
    for table_id, (caption, contrasts) in kinds.items():
        if contrasts:
            table = _contrast_table(table_id, f"{caption}, and second minus first", contrasts, "suite")
            yield table
            if 1 < len(contrasts) <= MOST_CHART_ROWS:
                yield _chart(table)
    yield Note(describe_families(result.correction, whole), quiet=True)
    for ties in (ties for ties in result.ties if len(ties.rates) > 2):
        yield Note(f"{describe_ties(ties)}.")


def describe_ties(ties: Ties) -> str:
    """Which models a suite does not tell apart: ``Tied on hans (…), best first: a = b; c``."""
    groups = "; ".join(" = ".join(group) for group in ties.groups)
    which = "Tied" if any(len(group) > 1 for group in ties.groups) else "None tied"
    return f"{which} on {ties.what} (not told apart at {ties.alpha:g}, adjusted), best first: {groups}"


def _matrix_sections(whole: Sequence[Contrast]) -> Iterator[Section]:
    """Every model against every other on each suite, if there are three models or more."""
    suites = dict.fromkeys(contrast.suite for contrast in whole)
    matrices = [table for suite in suites for table in _matrices(suite, [one for one in whole if one.suite == suite])]
    if matrices:
        yield Section("Every model against every other", tuple(matrices), folded=True)


def _matrices(suite: str, contrasts: Sequence[Contrast]) -> Iterator[Table]:
    models = tuple(dict.fromkeys(name for one in contrasts for name in (one.first, one.second)))
    if len(models) < 3:
        return
    cells: dict[tuple[str, str], Cell] = {}
    for one in contrasts:
        change = cells[one.second, one.first] = one.difference
        # 0.0 - x rather than -x: negating zero would give -0.0, which is shown with a minus sign.
        cells[one.first, one.second] = replace(
            change, value=0.0 - change.value, low=0.0 - change.high, high=0.0 - change.low
        )
    rows = tuple(Row(row, tuple(cells.get((row, column)) for column in models)) for row in models)
    columns = tuple(Column(model, "points", model=model) for model in models)
    caption = f"{suite}: accuracy of the row's model minus that of the column's, in points"
    yield Table(f"{suite} matrix", caption, columns, rows, "model")


def _contrast_table(
    table_id: str, caption: str, contrasts: Sequence[Contrast], corner: str, rows: Mapping[str, Row] | None = None
) -> Table:
    """A table with one row per contrast, by pair of models and heading, the largest difference first.

    ``rows`` has the name, heading and slice of each value; without it contrasts are named by their suites.
    """
    pairs = list(dict.fromkeys((one.first, one.second) for one in contrasts))
    described = [(one, (rows or {}).get(one.value, Row(one.suite, ()))) for one in by_size(contrasts)]
    # Headings stay together, in the order of the largest difference under each.
    places = {heading: place for place, heading in enumerate(dict.fromkeys(row.heading for _, row in described))}
    described.sort(key=lambda item: (pairs.index((item[0].first, item[0].second)), places[item[1].heading]))
    shown = []
    for one, row in described:
        cells = (*one.accuracies, one.difference, PValue(one.p), PValue(one.p_adjusted), one.detectable, one.verdict)
        heading = f"{one.second} − {one.first}" if len(pairs) > 1 else row.heading
        shown.append(replace(row, cells=cells, heading=heading))
    if len(pairs) == 1:
        caption = f"{caption}: {pairs[0][1]} − {pairs[0][0]}"
    columns = _columns(pairs[0] if len(pairs) == 1 else ("first", "second"))
    notes = describe_tests([row.name for _, row in described], [one for one, _ in described])
    return Table(table_id, caption, columns, tuple(shown), corner, notes=notes)


def _columns(models: tuple[str, str]) -> tuple[Column, ...]:
    accuracies = (Column(model) for model in models)
    tests = (Column("p", "p"), Column("adjusted", "p"), Column("detectable"), Column("verdict", "text"))
    return (*accuracies, Column("difference", "points"), *tests)


def _chart(table: Table) -> Chart:
    no_difference = Reference(0.0, "no difference")
    return Chart(table.id, columns=("difference",), axis="difference in points", reference=no_difference)


def _factor_parts(
    result: ComparisonResult, suite: str, factor: str, contrasts: Sequence[Contrast]
) -> Iterator[Table | Chart]:
    """The slices of one suite by one factor, as a table and, if there are not too many, a chart."""
    first = next((run for run in result.runs.values() if suite in run.header.suites), None)
    values = [contrast.value for contrast in contrasts]
    under = headings(first, suite, factor) if first and CROSS not in factor else {}
    names = row_names(values, under)
    rows = {}
    for value in dict.fromkeys(values):
        place = slice_of(first.header.suites[suite], factor, value) | {"verdict": "differs"} if first else {}
        rows[value] = Row(names[value], (), heading=under.get(value, ""), slice=place)
    name = f"{suite} by {factor}"
    table = _contrast_table(name, name, contrasts, "slice", rows)
    yield table
    if len(table.rows) <= MOST_CHART_ROWS:
        yield _chart(table)


def _disagreement_sections(result: ComparisonResult) -> Iterator[Section]:
    """Rows that only one of two models gets right, suite by suite, with examples."""
    suites = dict.fromkeys(contrast.suite for contrast in result.contrasts)
    parts = [part for suite in suites for part in _disagreements(suite, result)]
    if parts:
        yield Section("Rows that only one gets right", tuple(parts), folded=True)


def _disagreements(suite: str, result: ComparisonResult) -> Iterator[Section]:
    runs = {model: run for model, run in result.runs.items() if suite in run.header.suites}
    contrasts = [one for one in result.contrasts if one.suite == suite and one.first in runs]
    paired = [one for one in contrasts if not one.factor and one.paired]
    if not paired:
        return
    sizes = {one.factor: len({other.value for other in contrasts if other.factor == one.factor}) for one in contrasts}
    card = next(iter(runs.values())).header.suites[suite]
    main = main_factor(card, {factor: size for factor, size in sizes.items() if factor})
    rows = score_alike(runs, suite)
    for first, second in ((one.first, one.second) for one in paired):
        yield _disagreement_section(suite, {first: rows[first], second: rows[second]}, main)


def _disagreement_section(suite: str, rows: Mapping[str, ScoredRows], main: str | None) -> Section:
    """How many rows of a suite both models get right, one, or neither, with examples for each."""
    (first, second), sides = rows, tuple(rows.values())
    counts = disagreement((first, second), (sides[0], sides[1]), None if main == CATEGORY else main)
    titles = ("both right", f"only {first}", f"only {second}", "neither right")
    cells = (counts.both, counts.only_first, counts.only_second, counts.neither)
    columns = tuple(Column(title, "count") for title in titles)
    table = Table(f"{suite} {second} {first} rows", "Rows by who is right", columns, (Row("rows", cells),))
    examples = {first: counts.first_examples, second: counts.second_examples}
    only = (Pairs(f"Only {model} is right", pairs) for model, pairs in examples.items() if pairs)
    return Section(f"{suite}: {second} and {first}", (table, *only), folded=True)
