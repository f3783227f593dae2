"""Results as tables for the terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from acidtest.core.estimate import Estimate
from acidtest.core.suite import CATEGORY, CROSS
from acidtest.reports import contamination as contaminated
from acidtest.reports.error_tables import confusion_lines, error_lines
from acidtest.reports.numerals import NONE, interval, p_value, percent, points, published, share, signed
from acidtest.reports.stress import paper_tables
from acidtest.studies.comparison import Contrast

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_MARKS = {"severe": "[bold red]✗[/]", "warning": "[yellow]![/]", "info": "[cyan]·[/]", "good": "[green]✓[/]"}
_BAR = 20
_MOST_BARS = 40
_MOST_COLUMNS = 6


def scorecard(results: Mapping[str, Any]) -> list[RenderableType]:
    """What a person reads first: the diagnosis, then every suite's numbers."""
    from rich.markup import escape
    from rich.text import Text

    parts: list[RenderableType] = [
        Text.from_markup(f"[bold]{escape(results['model']['name'])}[/]", emoji=False),
        Text(""),
    ]
    parts += [_finding(finding) for finding in results["diagnosis"]]
    for name, suite in results["suites"].items():
        parts += [Text(""), _headline(name, suite)]
        parts += _errors(suite)
        parts += [_crossing(factor, values) for factor, values in suite["by"].items() if factor.count(CROSS) == 1]
        parts += _bars(suite["by"], suite.get("strata", ()))
        parts += [Text(f"  {note}", style="dim") for note in suite["notes"]]
        parts.append(Text(f"  {suite['signature']}", style="dim"))
    return [*parts, *_stress(results)]


def _errors(suite: Mapping[str, Any]) -> Iterable[RenderableType]:
    """What the errors are, in a line; answers by gold where the pairs have no untouched ones to compare with."""
    from rich.table import Table
    from rich.text import Text

    lines = [line for line in error_lines({"": suite}) if line.kind.startswith("false ")]
    if lines and suite["errors"]["n"]:
        told = [
            f"{line.kind} {percent(line.value)} %" + (f" (untouched {percent(line.control)} %)" if line.control else "")
            for line in lines
        ]
        yield Text(f"  {suite['errors']['n']:,} errors: {', '.join(told)}")
    answers = confusion_lines({"": suite})
    if len(answers) > 1 and not suite["vs_control"]:
        table = Table(box=None, padding=(0, 2), header_style="dim")
        table.add_column("gold")
        for name in answers[0].answers:
            table.add_column(name if name == "unanswered" else f"answered {name}", justify="right")
        for line in answers:
            table.add_row(line.gold, *(f"{count:,}" for count in line.answers.values()))
        yield table


def _stress(results: Mapping[str, Any]) -> Iterable[RenderableType]:
    """The model beside the systems of Naik et al. (2018), where it was asked two stress tests or more."""
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    found = paper_tables({results["model"]["name"]: results["suites"]})
    table = next((each.crossing for each in found if each.name == "accuracy"), None)
    titles = [title for group in table.columns.values() for title in group] if table else []
    if table is None or len(titles) < 3:
        return
    grid = Table(box=None, padding=(0, 1), header_style="dim")
    grid.add_column("accuracy, %")
    for title in titles:
        grid.add_column(title + table.signs.get(title, ""), justify="right")
    for name, values in table.models.items():
        grid.add_row(f"[bold]{escape(name)}[/]", *map(percent, values))
    for system, numbers in (*table.people.items(), *table.published.items()):
        grid.add_row(escape(system), *map(published, numbers))
    yield Text.from_markup("\n[bold]Stress tests[/]  beside Naik et al. (2018)", emoji=False)
    yield grid
    paper = "Naik et al. 2018, "
    yield Text(f"  {paper}{'; '.join(source.removeprefix(paper) for source in table.sources)}", style="dim")
    yield from (Text(f"  {note}", style="dim") for note in table.notes)


def comparison_tables(contrasts: Sequence[Contrast], *, by: Collection[str] = ()) -> list[RenderableType]:
    """Differences between runs, a table for each pair of models: whole suites, and the factors asked for."""
    from rich.markup import escape
    from rich.text import Text

    parts: list[RenderableType] = []
    for first, second in dict.fromkeys((contrast.first, contrast.second) for contrast in contrasts):
        shown = [
            contrast
            for contrast in contrasts
            if (contrast.first, contrast.second) == (first, second) and (not contrast.factor or contrast.factor in by)
        ]
        how = "the same rows" if all(contrast.paired for contrast in shown) else "different rows"
        notes = "".join(dict.fromkeys(f", {c.difference.note}" for c in shown if not c.factor and c.difference.note))
        tests = " and ".join(dict.fromkeys(contrast.test for contrast in shown))
        title = f"[bold]{escape(second)} − {escape(first)}[/], {how}, {tests}{escape(notes)}"
        parts += [Text.from_markup(title, emoji=False), _contrast_table(shown), Text("")]
    return parts


def _contrast_table(contrasts: Sequence[Contrast]) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("slice", "first", "second", "difference (95 %)", "p", "adjusted", "detectable"):
        table.add_column(column, justify="left" if column == "slice" else "right", no_wrap=column != "slice")
    factor = ""
    for contrast in contrasts:
        if contrast.factor and contrast.factor != factor:
            table.add_row(escape(contrast.factor), style="dim italic")
        factor = contrast.factor
        before, after = (f"{share(value)} %" for value in contrast.accuracies)
        change = points(contrast.difference) if contrast.difference.known else NONE
        cells = (change, p_value(contrast.p), p_value(contrast.p_adjusted))
        name = f"  {contrast.value}" if contrast.factor else contrast.suite
        table.add_row(escape(name), before, after, *cells, share(contrast.detectable))
    return table


def contamination_tables(found: Mapping[str, Any]) -> list[RenderableType]:
    """What an analysis of published against fresh suites found: verdict, four corners, contrasts, what it can show."""
    from rich.markup import escape
    from rich.text import Text

    parts: list[RenderableType] = [
        Text.from_markup(f"[bold]{escape(found['model'])}[/]  contamination", emoji=False),
        Text(f"  {found['verdict']}"),
        Text(""),
        _corners(found),
        Text(""),
        _contamination_contrasts(found),
        Text(""),
    ]
    parts += [Text(f" {name}: {question}", style="dim") for name, question in contaminated.questions(found).items()]
    parts += [Text(f" reference: {found['reference']}", style="dim")] if contaminated.has_reference(found) else []
    parts += [Text.from_markup(f" [green]✓[/] {escape(line)}", emoji=False) for line in found["can"]]
    parts += [Text.from_markup(f" [yellow]✗[/] {escape(line)}", emoji=False) for line in found["cannot"]]
    return parts


def _corners(found: Mapping[str, Any]) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 2), header_style="dim")
    table.add_column("slice")
    table.add_column("words")
    for templates in contaminated.TEMPLATES:
        table.add_column(f"{templates} templates", justify="right")
    for name in contaminated.slices(found):
        for words in contaminated.WORDS:
            cells = (contaminated.cell_estimate(found, words, templates, name) for templates in contaminated.TEMPLATES)
            table.add_row(escape(name) if words == contaminated.WORDS[0] else "", words, *map(_cell, cells))
    return table


def _contamination_contrasts(found: Mapping[str, Any]) -> Table:
    from rich.markup import escape
    from rich.table import Table

    beside = contaminated.has_reference(found)
    table = Table(box=None, padding=(0, 1), header_style="dim")
    titles = ["contrast", "slice", "difference (95 %)", "p adjusted"]
    titles += ["reference", "excess (95 %)", "p adjusted"] if beside else []
    for title in titles:
        words = title in ("contrast", "slice")
        table.add_column(title, justify="left" if words else "right", no_wrap=not words)
    for contrast in found["contrasts"]:
        cells = [_points(contrast["difference"]), p_value(contrast["p_adjusted"])]
        if beside:
            reference = contrast["reference"]
            cells += [NONE if reference is None else signed(reference["value"])]
            cells += [_points(contrast["excess"]), p_value(contrast["excess_p_adjusted"])]
        table.add_row(contrast["name"], escape(contrast["slice"]), *cells)
    return table


def _points(fields: Mapping[str, Any] | None) -> str:
    return NONE if fields is None else points(Estimate.from_json(dict(fields)))


def _finding(finding: Mapping[str, Any]) -> Table:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=3)
    grid.add_column()
    grid.add_row(
        Text.from_markup(f" {_MARKS[finding['severity']]}", emoji=False), Text(f"{finding['suite']}: {finding['text']}")
    )
    return grid


def _headline(name: str, suite: Mapping[str, Any]) -> RenderableType:
    from rich.markup import escape
    from rich.text import Text

    overall = Estimate.from_json(suite["overall"])
    line = f"[bold]{escape(name)}[/]  {overall.n:,} pairs  accuracy [bold]{_value(overall)}[/] {_interval(overall)}"
    control = suite["vs_control"]
    if control:
        change = Estimate.from_json(control["difference"])
        line += f"  against control {points(change)} points, p {p_value(control['p_adjusted'])}"
    if suite["unanswered"]:
        line += f"  [yellow]{suite['unanswered']:,} unanswered[/]"
    return Text.from_markup(line, emoji=False)


def _crossing(factor: str, values: Mapping[str, Mapping[str, Any]]) -> Table:
    """Two factors crossed: rows are the first, columns the second, as in the papers' tables."""
    from rich.markup import escape
    from rich.table import Table

    rows = dict.fromkeys(key.split(CROSS)[0] for key in values)
    columns = sorted({key.split(CROSS)[1] for key in values})
    if len(columns) > _MOST_COLUMNS and len(rows) <= _MOST_COLUMNS:
        turned = {CROSS.join(reversed(key.split(CROSS))): found for key, found in values.items()}
        return _crossing(CROSS.join(reversed(factor.split(CROSS))), turned)
    table = Table(box=None, padding=(0, 2), header_style="dim")
    table.add_column(escape(factor.split(CROSS)[0]))
    for column in columns:
        table.add_column(escape(f"gold {column}" if factor.endswith(f"{CROSS}label") else column), justify="right")
    for row in rows:
        estimates = [values.get(f"{row}{CROSS}{column}") for column in columns]
        table.add_row(escape(row), *(_cell(Estimate.from_json(dict(found))) if found else "" for found in estimates))
    return table


def _bars(by: Mapping[str, Mapping[str, Any]], strata: Sequence[str]) -> Iterable[Table]:
    """What the suite is stratified by, as bars, where it fits a screen; else its categories, else the labels."""
    from rich.markup import escape
    from rich.table import Table

    name = next((name for name in (*strata, CATEGORY, "label") if 2 <= len(by.get(name, ())) <= _MOST_BARS), None)
    if name is None:
        return
    table = Table(box=None, padding=(0, 2), header_style="dim")
    table.add_column(escape(name))
    table.add_column("accuracy", justify="right")
    table.add_column("")
    table.add_column("95 % interval", justify="right")
    for value, fields in by[name].items():
        estimate = Estimate.from_json(dict(fields))
        table.add_row(escape(value), _value(estimate), _bar(estimate), _interval(estimate))
    yield table


def _bar(estimate: Estimate) -> str:
    if not estimate.known:
        return ""
    full = round(estimate.value * _BAR)
    colour = "green" if estimate.value >= 0.75 else "yellow" if estimate.value >= 0.5 else "red"
    return f"[{colour}]{'━' * full}[/][dim]{'╌' * (_BAR - full)}[/]"


def _cell(estimate: Estimate | None) -> str:
    return f"{_value(estimate)} {_interval(estimate)}"


def _value(estimate: Estimate | None) -> str:
    return f"{percent(estimate)} %" if estimate and estimate.known else NONE


def _interval(estimate: Estimate | None) -> str:
    return f"({interval(estimate)})" if interval(estimate) else ""
