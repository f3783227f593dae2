"""A comparison as a document: differences on whole suites, by factor, and rows that only one model gets right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan

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
from acidtest.core.run import Run
from acidtest.core.suite import CATEGORY, CROSS
from acidtest.studies.comparison import ComparisonResult, Contrast
from acidtest.studies.rows import score_alike
from acidtest.studies.slices import MOST_CHART_ROWS, disagreement, headings, main_factor, row_names, slice_of

SHOWN = 0.05
"""A difference is reported as one if its adjusted p-value is below this."""

MOST_SENTENCES = 6
"""With more contrasts of whole suites than this, they are shown in tables only, not in sentences."""

_METHODS = (
    "Differences are percentage points, second minus first. Detectable is the smallest difference that as many rows "
    "would show four times in five.",
)
_COLUMNS = (
    Column("first"),
    Column("second"),
    Column("difference", "points"),
    Column("p", "p"),
    Column("adjusted", "p"),
    Column("detectable"),
)


def document(result: ComparisonResult) -> Document:
    """Whole suites first, then a section for each suite with its factors and the rows on which models differ."""
    whole = [contrast for contrast in result.contrasts if not contrast.factor]
    suites = dict.fromkeys(contrast.suite for contrast in result.contrasts)
    sections = [_suite_section(result, suite) for suite in suites]
    return Document(
        title="acidtest compare",
        headline=" ".join(describe_pairs(whole)),
        parts=(
            Section("Differences between the models", tuple(_whole_parts(result, whole)), anchor="differences"),
            *(section for section in sections if section.parts),
            *([Browser(result.runs)] if result.runs else []),
        ),
        models=tuple(dict.fromkeys(name for one in whole for name in (one.first, one.second))),
        methods=_METHODS,
    )


def describe_pairs(whole: Sequence[Contrast]) -> Iterator[str]:
    """A sentence for each pair of models: on which suites the second is better, worse or undecided (all corrected)."""
    pairs: dict[tuple[str, str], list[Contrast]] = {}
    for contrast in whole:
        pairs.setdefault((contrast.first, contrast.second), []).append(contrast)
    if len(pairs) > MOST_SENTENCES:
        shown = sum(contrast.p_adjusted < SHOWN for contrast in whole)
        yield f"{shown} of {len(whole)} comparisons of whole suites show a difference."
        return
    for (first, second), contrasts in pairs.items():
        decided = [one for one in contrasts if one.p_adjusted < SHOWN]
        decided.sort(key=lambda one: -abs(one.difference.value))
        parts = [
            f"{word} on {', '.join(f'{one.suite} ({_signed_points(one)})' for one in chosen)}"
            for word, chosen in (
                ("better", [one for one in decided if one.difference.value > 0]),
                ("worse", [one for one in decided if one.difference.value <= 0]),
            )
            if chosen
        ]
        if len(decided) < len(contrasts):
            parts.append("undecided on the rest" if decided else "undecided on all suites")
        yield f"Against {first}, {second} is {', '.join(parts)}."


def _signed_points(contrast: Contrast) -> str:
    return f"{100 * contrast.difference.value:+.1f}".replace("-", "−")


def describe_contrast(contrast: Contrast) -> str:
    """What a contrast of a whole suite says, in one sentence."""
    first, second, change = contrast.first, contrast.second, contrast.difference
    if not change.known:
        return f"{contrast.suite}: {second} and {first} cannot be compared ({change.note})."
    interval = "" if isnan(change.low) else f"95 % interval {100 * change.low:+.1f} to {100 * change.high:+.1f}"
    if contrast.p_adjusted < SHOWN:
        size = f"{abs(change.value) * 100:.1f} points {'better' if change.value > 0 else 'worse'}"
        p = "< 0.0001" if contrast.p_adjusted < 0.0001 else f"{contrast.p_adjusted:.4f}"
        details = ", ".join(filter(None, (interval, f"adjusted p {p}")))
        return f"{contrast.suite}: {second} is {size} than {first} ({details})."
    size = f"{change.value * 100:+.1f} points{f' ({interval})' if interval else ''}"
    sentence = f"{contrast.suite}: no difference shown between {second} and {first}, {size}."
    if isnan(contrast.detectable):
        return sentence
    unseen = f"A difference under about {contrast.detectable * 100:.1f} points would probably have gone unseen."
    return f"{sentence} {unseen}"


def _whole_parts(result: ComparisonResult, whole: Sequence[Contrast]) -> Iterator[Part]:
    if 1 < len(whole) <= MOST_SENTENCES:
        yield from (Note(describe_contrast(contrast)) for contrast in whole)
    for suite in dict.fromkeys(contrast.suite for contrast in whole):
        yield from _matrices(suite, [contrast for contrast in whole if contrast.suite == suite])
    # NaN, a difference that cannot be computed, goes last.
    by_size = sorted(whole, key=lambda one: -abs(one.difference.value) if one.difference.known else 1.0)
    table = _contrast_table("differences", "Accuracy on whole suites, and second minus first", by_size, "suite")
    yield table
    if 1 < len(whole) <= MOST_CHART_ROWS:
        yield _chart(table)
    shown = result.shown_factors or [one.factor for one in result.contrasts if CROSS in one.factor]
    families = {one.family: one.family_tests for one in result.contrasts if not one.factor or one.factor in shown}
    sizes = ", ".join(f"{family} ({describe_count(size, 'test')})" for family, size in families.items())
    yield Note(f"p is adjusted ({result.correction}) over all suites and pairs of models: {sizes}.", quiet=True)
    for ties in (ties for ties in result.ties if len(ties.rates) > 2):
        groups = "; ".join(" = ".join(group) for group in ties.groups)
        which = "Tied" if any(len(group) > 1 for group in ties.groups) else "None tied"
        yield Note(f"{which} on {ties.what} (not told apart at {ties.alpha:g}, adjusted), best first: {groups}.")


def _matrices(suite: str, contrasts: Sequence[Contrast]) -> Iterator[Table]:
    """The matrix of differences between models on a suite, if there are three models or more."""
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
    table_id: str,
    caption: str,
    contrasts: Sequence[Contrast],
    corner: str,
    describe_row: Callable[[str], Row] = lambda value: Row(value, ()),
) -> Table:
    """A table with one row per contrast, grouped by pair of models if there are several pairs."""
    pairs = dict.fromkeys((contrast.first, contrast.second) for contrast in contrasts)
    if len(pairs) == 1:
        first, second = next(iter(pairs))
        caption = f"{caption}: {second} − {first}"
    rows, notes = [], dict[str, None]()
    for one in sorted(contrasts, key=lambda one: list(pairs).index((one.first, one.second))):
        cells = (*one.accuracies, one.difference, PValue(one.p), PValue(one.p_adjusted), one.detectable)
        row = replace(describe_row(one.value or one.suite), cells=cells)
        rows.append(replace(row, heading=f"{one.second} − {one.first}") if len(pairs) > 1 else row)
    for one in contrasts:
        asked = "the same rows" if one.paired else "different rows"
        notes[", ".join(filter(None, (asked, one.test, one.difference.note)))] = None
    return Table(table_id, caption, _COLUMNS, tuple(rows), corner, notes=tuple(notes))


def _chart(table: Table) -> Chart:
    no_difference = Reference(0.0, "no difference")
    return Chart(table.id, columns=("difference",), axis="difference in points", reference=no_difference)


def _suite_section(result: ComparisonResult, suite: str) -> Section:
    members: dict[str, list[Contrast]] = {}
    for contrast in result.contrasts:
        if contrast.suite == suite and contrast.factor:
            members.setdefault(contrast.factor, []).append(contrast)
    runs = {model: run for model, run in result.runs.items() if suite in run.header.suites}
    first = next(iter(runs.values()), None)
    sizes = {factor: len({one.value for one in contrasts}) for factor, contrasts in members.items()}
    main = main_factor(first.header.suites[suite], sizes) if first else None
    ordered = sorted(members, key=lambda factor: (CROSS not in factor, factor != main))
    shown = result.shown_factors or [factor for factor in ordered if CROSS in factor]
    sections = [
        _factor_section(suite, factor, members[factor], first, folded=factor not in shown) for factor in ordered
    ]
    disagreements = _disagreements(suite, result, runs, None if main == CATEGORY else main)
    return Section(suite, (*sections, *disagreements))


def _factor_section(
    suite: str, factor: str, contrasts: Sequence[Contrast], first: Run | None, *, folded: bool
) -> Section:
    values = [contrast.value for contrast in contrasts]
    under = headings(first, suite, factor) if first and CROSS not in factor else {}
    names = row_names(values, under)

    def describe_row(value: str) -> Row:
        place = slice_of(first.header.suites[suite], factor, value) | {"verdict": "differs"} if first else {}
        return Row(names[value], (), heading=under.get(value, ""), slice=place)

    name = f"{suite} by {factor}"
    table = _contrast_table(name, name, contrasts, "slice", describe_row)
    parts = (table, _chart(table)) if len(table.rows) <= MOST_CHART_ROWS else (table,)
    return Section(f"By {factor}", parts, folded=folded, summary=f"{len(names):,} values")


def _disagreements(
    suite: str, result: ComparisonResult, runs: Mapping[str, Run], main: str | None
) -> Iterator[Note | Section]:
    """The number of rows that only one of two models gets right, with examples for each model."""
    contrasts = [one for one in result.contrasts if one.suite == suite and not one.factor and one.first in runs]
    rows = score_alike(runs, suite) if contrasts else {}
    for first, second, paired in ((one.first, one.second, one.paired) for one in contrasts):
        if not paired:
            yield Note(f"{second} and {first} were asked different rows.", quiet=True)
            continue
        counts = disagreement((first, second), (rows[first], rows[second]), main)
        titles = ("both right", f"only {first}", f"only {second}", "neither right")
        cells = (counts.both, counts.only_first, counts.only_second, counts.neither)
        columns = tuple(Column(title, "count") for title in titles)
        table = Table(f"{suite} {second} {first} rows", "Rows by who is right", columns, (Row("rows", cells),))
        examples = {first: counts.first_examples, second: counts.second_examples}
        only = (Pairs(f"Only {model} is right", pairs) for model, pairs in examples.items() if pairs)
        yield Section(f"Rows that only one gets right: {second} and {first}", (table, *only), folded=True)
