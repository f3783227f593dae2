"""A comparison as a document: differences on whole suites, by factor, and rows that only one model gets right."""

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
)
from acidtest.core.run import Run
from acidtest.core.suite import CATEGORY, CROSS
from acidtest.studies.comparison import ComparisonResult
from acidtest.studies.comparison.contrasts import Contrast
from acidtest.studies.rows import score_rows
from acidtest.studies.selections import disagreement
from acidtest.studies.slices import MOST_CHART_ROWS, headings, main_factor, row_names, slice_of

SHOWN = 0.05
"""A difference is said to be there when its adjusted p-value is below this."""

MOST_SENTENCES = 6
"""With more pairs of models and suites than this, only the tables say how they differ."""

_METHODS = (
    "Differences are percentage points, second minus first. Detectable is the smallest difference that as many rows "
    "would show four times in five.",
)
_NO_DIFFERENCE = Reference(0.0, "no difference")


def document(result: ComparisonResult) -> Document:
    """Whole suites first, then a section for each suite with its factors and the rows on which models differ."""
    whole = [contrast for contrast in result.contrasts if not contrast.factor]
    suites = dict.fromkeys(contrast.suite for contrast in result.contrasts)
    sections = [_suite_section(result, suite) for suite in suites]
    return Document(
        title="acidtest compare",
        headline=_headline(whole),
        parts=(
            Section("Differences between the models", tuple(_whole_parts(result, whole)), anchor="differences"),
            *(section for section in sections if section.parts),
            *([Browser(result.runs)] if result.runs else []),
        ),
        models=tuple(dict.fromkeys(name for one in whole for name in (one.first, one.second))),
        methods=_METHODS,
    )


def describe_contrast(contrast: Contrast) -> str:
    """What a contrast of a whole suite says, in one sentence."""
    first, second, change = contrast.first, contrast.second, contrast.difference
    if not change.known:
        return f"{contrast.suite}: {second} and {first} cannot be compared ({change.note})."
    interval = f"95 % interval {100 * change.low:+.1f} to {100 * change.high:+.1f}" if change.low == change.low else ""
    if contrast.p_adjusted < SHOWN:
        size = f"{abs(change.value) * 100:.1f} points {'better' if change.value > 0 else 'worse'}"
        p = "< 0.0001" if contrast.p_adjusted < 0.0001 else f"{contrast.p_adjusted:.4f}"
        details = ", ".join(filter(None, (interval, f"adjusted p {p}")))
        return f"{contrast.suite}: {second} is {size} than {first} ({details})."
    unseen = ""
    if contrast.detectable == contrast.detectable:
        unseen = f" A difference under about {contrast.detectable * 100:.1f} points would probably have gone unseen."
    size = f"{change.value * 100:+.1f} points{f' ({interval})' if interval else ''}"
    return f"{contrast.suite}: no difference shown between {second} and {first}, {size}.{unseen}"


def _headline(whole: Sequence[Contrast]) -> str:
    if len(whole) == 1:
        return describe_contrast(whole[0])
    shown = sum(contrast.p_adjusted < SHOWN for contrast in whole)
    return f"{shown} of {len(whole)} comparisons of whole suites show a difference."


def _describe_families(result: ComparisonResult) -> str:
    """Over which tests the p-values that are shown were adjusted."""
    shown = result.shown_factors or [one.factor for one in result.contrasts if CROSS in one.factor]
    families = {one.family: one.family_tests for one in result.contrasts if not one.factor or one.factor in shown}
    sizes = ", ".join(f"{family} ({size:,} test{'s' * (size != 1)})" for family, size in families.items())
    return f"p is adjusted ({result.correction}) over all suites and pairs of models: {sizes}."


def _whole_parts(result: ComparisonResult, whole: Sequence[Contrast]) -> Iterator[Part]:
    if 1 < len(whole) <= MOST_SENTENCES:
        yield from (Note(describe_contrast(contrast)) for contrast in whole)
    yield from _matrices(whole)
    table = contrast_table("differences", "Accuracy on whole suites, and second minus first", whole, by_pair=True)
    yield table
    if 1 < len(whole) <= MOST_CHART_ROWS:
        yield Chart(table.id, columns=("difference",), axis="difference in points", reference=_NO_DIFFERENCE)
    yield Note(_describe_families(result), quiet=True)
    for ties in (ties for ties in result.ties if len(ties.rates) > 2):
        groups = "; ".join(" = ".join(group) for group in ties.groups)
        which = "Tied" if any(len(group) > 1 for group in ties.groups) else "None tied"
        yield Note(f"{which} on {ties.what} (not told apart at {ties.alpha:g}, adjusted), best first: {groups}.")


def _matrices(whole: Sequence[Contrast]) -> Iterator[Table]:
    """For each suite that three models or more share, all of them against each other."""
    for suite in dict.fromkeys(contrast.suite for contrast in whole):
        members = [contrast for contrast in whole if contrast.suite == suite]
        models = tuple(dict.fromkeys(name for one in members for name in (one.first, one.second)))
        if len(models) < 3:
            continue
        cells: dict[tuple[str, str], Cell] = {(one.second, one.first): one.difference for one in members}
        cells |= {(one.first, one.second): _reversed(one) for one in members}
        rows = tuple(Row(row, tuple(cells.get((row, column)) for column in models)) for row in models)
        columns = tuple(Column(model, "points", model=model) for model in models)
        caption = f"{suite}: accuracy of the row's model minus that of the column's, in points"
        yield Table(f"{suite} matrix", caption, columns, rows, "model")


def _reversed(contrast: Contrast) -> Cell:
    change = contrast.difference
    # Adding zero makes a negative zero positive.
    return replace(change, value=0.0 - change.value, low=0.0 - change.high, high=0.0 - change.low)


def contrast_table(name: str, caption: str, contrasts: Sequence[Contrast], *, by_pair: bool) -> Table:
    """Contrasts as rows: named by suite or slice, under the pair of models where there are several."""
    pairs = dict.fromkeys((contrast.first, contrast.second) for contrast in contrasts)
    several = len(pairs) > 1
    if not several and pairs:
        first, second = next(iter(pairs))
        caption = f"{caption}: {second} − {first}"
    how = {True: "the same rows", False: "different rows"}
    notes = dict.fromkeys(
        f"{how[contrast.paired]}, {contrast.test}{f', {contrast.difference.note}' if contrast.difference.note else ''}"
        for contrast in contrasts
    )
    rows = tuple(
        Row(
            (contrast.suite if by_pair else contrast.value) or contrast.suite,
            (
                *contrast.accuracies,
                contrast.difference,
                PValue(contrast.p),
                PValue(contrast.p_adjusted),
                contrast.detectable,
            ),
            heading=f"{second} − {first}" if several else "",
        )
        for first, second in pairs
        for contrast in contrasts
        if (contrast.first, contrast.second) == (first, second)
    )
    columns = (
        Column("first"),
        Column("second"),
        Column("difference", "points"),
        Column("p", "p"),
        Column("adjusted", "p"),
        Column("detectable"),
    )
    return Table(name, caption, columns, rows, "suite" if by_pair else "slice", notes=tuple(notes))


def _suite_section(result: ComparisonResult, suite: str) -> Section:
    members = [contrast for contrast in result.contrasts if contrast.suite == suite and contrast.factor]
    factors = dict.fromkeys(contrast.factor for contrast in members)
    runs = {model: run for model, run in result.runs.items() if suite in run.header.suites}
    sizes = {factor: len({one.value for one in members if one.factor == factor}) for factor in factors}
    main = main_factor(next(iter(runs.values())).header.suites[suite], sizes) if runs else None
    ordered = sorted(factors, key=lambda factor: (CROSS not in factor, factor != main))
    shown = result.shown_factors or [factor for factor in ordered if CROSS in factor]
    parts: list[Part] = []
    for factor in ordered:
        chosen = [contrast for contrast in members if contrast.factor == factor]
        parts.append(_factor_section(suite, factor, chosen, runs, folded=factor not in shown))
    parts += _disagreements(suite, result, runs, None if main == CATEGORY else main)
    return Section(suite, tuple(parts))


def _factor_section(
    suite: str, factor: str, contrasts: Sequence[Contrast], runs: Mapping[str, Run], *, folded: bool
) -> Section:
    first = next(iter(runs.values()), None)
    under = headings(first, suite, factor) if first and CROSS not in factor else {}
    names = row_names([contrast.value for contrast in contrasts], under)
    caption = f"{suite} by {factor}"
    table = contrast_table(f"{suite} by {factor}", caption, contrasts, by_pair=False)
    card = first.header.suites[suite] if first else None
    pairs = len({(contrast.first, contrast.second) for contrast in contrasts})
    slices = {names.get(value, value): value for value in names}
    rows = tuple(
        replace(
            row,
            name=names.get(row.name, row.name),
            heading=row.heading if pairs > 1 else under.get(row.name, ""),
            slice=slice_of(card, factor, row.name) | {"verdict": "differs"} if card else {},
        )
        for row in table.rows
    )
    table = replace(table, rows=rows)
    parts: list[Part] = [table]
    if len(slices) * pairs <= MOST_CHART_ROWS:
        parts.append(Chart(table.id, columns=("difference",), axis="difference in points", reference=_NO_DIFFERENCE))
    return Section(f"By {factor}", tuple(parts), folded=folded, summary=f"{len(names):,} values")


def _disagreements(suite: str, result: ComparisonResult, runs: Mapping[str, Run], main: str | None) -> list[Part]:
    """How many rows only one of two models gets right, and some of those for each."""
    pairs = [one for one in result.contrasts if one.suite == suite and not one.factor and one.first in runs]
    # As the contrasts were computed: where one model is two-way, all are judged two-way.
    two_way = any(run.header.model.resolution == "two-way" for run in runs.values())
    rows = {model: score_rows(run, suite, two_way=two_way) for model, run in runs.items()} if pairs else {}
    parts: list[Part] = []
    for one in pairs:
        names = (one.first, one.second)
        if not one.paired:
            parts.append(Note(f"{one.second} and {one.first} were asked different rows.", quiet=True))
            continue
        counts = disagreement(names, (runs[names[0]], runs[names[1]]), (rows[names[0]], rows[names[1]]), main, count=5)
        cells = (counts.both, counts.only_first, counts.only_second, counts.neither)
        columns = tuple(
            Column(title, "count")
            for title in ("both right", f"only {one.first}", f"only {one.second}", "neither right")
        )
        table = Table(f"{suite} {one.second} {one.first} rows", "Rows by who is right", columns, (Row("rows", cells),))
        only = (
            Pairs(f"Only {one.first} is right", counts.first_examples),
            Pairs(f"Only {one.second} is right", counts.second_examples),
        )
        title = f"Rows that only one gets right: {one.second} and {one.first}"
        parts.append(Section(title, (table, *(pairs for pairs in only if pairs.pairs)), folded=True))
    return parts
