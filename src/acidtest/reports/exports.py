"""Tables as CSV and LaTeX, charts as SVG and PNG: a file each for every suite and factor, and for the comparison."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

import polars as pl

from acidtest.core.errors import FileError
from acidtest.core.estimate import Estimate
from acidtest.core.files import replacing, write_text
from acidtest.core.suite import CROSS
from acidtest.io.tables import write_table
from acidtest.reports import latex
from acidtest.reports.charts import Picture
from acidtest.reports.contamination import Finding
from acidtest.reports.differences import families, whole, whole_chart
from acidtest.reports.drawings import picture
from acidtest.reports.error_tables import MEASURES, confusion_lines, error_lines
from acidtest.reports.lexical_page import LexicalPage, lexical_page
from acidtest.reports.papers import MAIN, PEOPLE, condition
from acidtest.reports.plots import as_png, as_svg
from acidtest.reports.sections import Breakdown, Crossing, Entry, Section, Table, named, runs_of, sections
from acidtest.reports.stress_page import stress_page
from acidtest.studies.comparison import Contrast

CONTAMINATION = "contamination"
CHANGES = ("difference", "reference", "excess")
COMPARISON = "comparison"
STRESS = "stress-tests"
LEXICAL = "lexical-inference"

_NUMBERS: Mapping[str, Any] = {
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "groups": pl.Int64,
    "method": pl.String,
    "note": pl.String,
}
_SCORE: Mapping[str, Any] = {
    "system": pl.String,
    "kind": pl.String,
    "condition": pl.String,
    **_NUMBERS,
    "source": pl.String,
    "signature": pl.String,
}
_CONTRAST: Mapping[str, Any] = {
    "suite": pl.String,
    "first": pl.String,
    "second": pl.String,
    "first_accuracy": pl.Float64,
    "second_accuracy": pl.Float64,
    "difference": pl.Float64,
    **{name: kind for name, kind in _NUMBERS.items() if name != "value"},
    "paired": pl.Boolean,
    "test": pl.String,
    "p": pl.Float64,
    "p_adjusted": pl.Float64,
    "detectable": pl.Float64,
    "family": pl.String,
    "family_tests": pl.Int64,
}


class Folder:
    """A folder that takes files whole or not at all, and gives no two the same name."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.exists() and not self.path.is_dir():
            raise FileError(self.path, "is a file; a folder was expected")
        self.written: list[Path] = []
        self._taken: set[str] = set()

    def name(self, *parts: str) -> str:
        """A file name, without an ending, for what the parts name."""
        plain = "-".join(filter(None, (re.sub(r"[^\w.]+", "-", part).strip("-.") for part in parts))) or "table"
        # File systems count bytes: letters of other scripts take up to four.
        plain = plain.encode()[:100].decode(errors="ignore")
        name, turn = plain, 1
        while name.lower() in self._taken:
            turn += 1
            name = f"{plain}-{turn}"
        self._taken.add(name.lower())
        return name

    def add_table(self, name: str, frame: pl.DataFrame, text: str) -> None:
        """A table as CSV and as LaTeX."""
        write_table(frame, self.path / f"{name}.csv")
        write_text(self.path / f"{name}.tex", text)
        self.written += [self.path / f"{name}.csv", self.path / f"{name}.tex"]

    def add_plot(self, name: str, chart: Picture) -> None:
        """A chart as SVG and as PNG."""
        spec = picture(chart)
        write_text(self.path / f"{name}.svg", as_svg(spec))
        with replacing(self.path / f"{name}.png") as temporary:
            temporary.write_bytes(as_png(spec))
        self.written += [self.path / f"{name}.svg", self.path / f"{name}.png"]


def write_tables(
    entries: Sequence[Entry], contrasts: Sequence[Contrast], folder: str | Path, *, leaks: Sequence[Finding] = ()
) -> list[Path]:
    """Every suite's tables (the whole, the metrics, each factor and crossing, errors), the stress tests' and the rest.

    Gives what was written.
    """
    target, models = Folder(folder), named(entries)
    for section in sections(models):
        signed = [result["signature"] for result in section.results.values()]
        for part, what, title, factor in (
            (section.overall, "whole", "Accuracy", ""),
            (section.metrics, "metrics", "Metrics", section.metrics.title),
        ):
            name = target.name(section.name, what)
            caption = f"{title} in per cent on {section.name}, with 95 % intervals."
            text = latex.breakdown_table(part, list(section.results), caption, label=f"tab:{name}", signatures=signed)
            target.add_table(name, _scores(section, part, factor), text)
        for found in section.breakdowns:
            name = target.name(section.name, found.table.title)
            text = _latex(section, found, f"tab:{name}", signed)
            target.add_table(name, _scores(section, found.table, found.table.title), text)
        _add_error_tables(target, section, signed)
    _add_stress_tables(target, models)
    _add_lexical_tables(target, lexical_page(models))
    _add_contrast_tables(target, contrasts, models)
    _add_contamination_tables(target, leaks)
    return target.written


def write_plots(entries: Sequence[Entry], contrasts: Sequence[Contrast], folder: str | Path) -> list[Path]:
    """Every suite's charts, one for each factor with few enough values, the stress tests' and the contrasts'.

    Gives what was written.
    """
    target, models = Folder(folder), named(entries)
    for section in sections(models):
        for found in section.breakdowns:
            if found.chart:
                target.add_plot(target.name(section.name, found.table.title), found.chart)
    _add_stress_plots(target, models)
    _add_lexical_plots(target, lexical_page(models))
    _add_contrast_plots(target, contrasts, models)
    return target.written


def write_comparison_tables(
    entries: Sequence[Entry], contrasts: Sequence[Contrast], folder: str | Path, *, leaks: Sequence[Finding] = ()
) -> list[Path]:
    """Differences between models on whole suites and by every factor, and contamination's; what was written."""
    target = Folder(folder)
    _add_contrast_tables(target, contrasts, named(entries))
    _add_contamination_tables(target, leaks)
    return target.written


def write_comparison_plots(entries: Sequence[Entry], contrasts: Sequence[Contrast], folder: str | Path) -> list[Path]:
    """Charts of differences on whole suites and by every factor with few enough values; what was written."""
    target = Folder(folder)
    _add_contrast_plots(target, contrasts, named(entries))
    return target.written


def _add_error_tables(target: Folder, section: Section, signed: Sequence[str]) -> None:
    """Errors by kind and answers by gold, where gold tells kinds apart."""
    lines, answers = error_lines(section.results), confusion_lines(section.results)
    if lines:
        name = target.name(section.name, "errors")
        caption = f"Errors on {section.name} by kind, in per cent of all errors with 95 % intervals."
        rows = [
            {"system": line.model, "kind": line.kind, "measure": measure, "count": line.count}
            | line.value.to_json()
            | {"control_count": line.control_count}
            | _prefixed("control", line.control)
            | _prefixed("difference", line.difference)
            | {"p": line.p, "p_adjusted": line.p_adjusted}
            for measure in MEASURES
            for line in error_lines(section.results, measure)
        ]
        text = latex.error_table(lines, caption, label=f"tab:{name}", signatures=signed)
        target.add_table(name, pl.DataFrame(rows, infer_schema_length=None), text)
    if answers:
        name = target.name(section.name, "confusion")
        text = latex.confusion_table(
            answers, f"Answers on {section.name} by gold, in pairs.", label=f"tab:{name}", signatures=signed
        )
        told = [{"system": line.model, "gold": line.gold, **line.answers} for line in answers]
        target.add_table(name, pl.DataFrame(told), text)


def _add_stress_tables(target: Folder, models: Mapping[str, Entry]) -> None:
    """The tables of Naik et al. (2018)."""
    page = stress_page(models)
    for table in page.tables if page else ():
        name = target.name(STRESS, table.name)
        signed = [sign for suite in table.suites for sign in _signatures(models, suite)]
        text = latex.crossing_table(table.crossing, f"{table.caption}.", label=f"tab:{name}", signatures=signed)
        target.add_table(name, _crossing_frame(table.crossing), text)


def _add_stress_plots(target: Folder, models: Mapping[str, Entry]) -> None:
    page = stress_page(models)
    if page is None:
        return
    curves, grid = page.ladder or (None, None)
    charts: Mapping[str, Picture | None] = {
        "accuracy": page.cost,
        "errors": page.errors,
        "ladder-repetitions": curves,
        "ladder-places": grid,
    }
    for name, chart in charts.items():
        if chart is not None:
            target.add_plot(target.name(STRESS, name), chart)


def _add_lexical_tables(target: Folder, page: LexicalPage | None) -> None:
    """Table 4 of Glockner et al. (2018), and accuracy by similarity and training frequency."""
    if page is None:
        return
    told = [(page.columns, page.categories, page.caption)]
    told += [(along.columns, along.table, f"{along.title}: accuracy in per cent.") for along in page.along]
    for columns, table, caption in told:
        name = target.name(LEXICAL, table.title)
        text = latex.breakdown_table(table, columns, caption, label=f"tab:{name}", signatures=())
        target.add_table(name, _line_frame(table, columns), text)


def _add_lexical_plots(target: Folder, page: LexicalPage | None) -> None:
    for along in page.along if page else ():
        target.add_plot(target.name(LEXICAL, along.table.title), along.chart)


def _line_frame(table: Table, columns: Sequence[str]) -> pl.DataFrame:
    """A row for each line and system; accuracies are from 0 to 1."""
    models = [
        {table.title: line.value, "system": system, "kind": "model"} | estimate.to_json()
        for line in table.lines
        for system, estimate in zip(columns, line.estimates, strict=True)
        if estimate is not None
    ]
    published = [
        {
            table.title: line.value,
            "system": system,
            "kind": "published",
            "value": number,
            "note": "; ".join(table.notes),
        }
        for line in table.lines
        for system, number in zip(table.systems, line.published, strict=True)
        if number is not None
    ]
    schema = dict.fromkeys((table.title, "system", "kind"), pl.String) | dict(_NUMBERS)
    return pl.DataFrame([*models, *published], schema=schema)


def _crossing_frame(crossing: Crossing) -> pl.DataFrame:
    """A row for each system and column; shares are from 0 to 1."""
    columns = [(group, title) for group, titles in crossing.columns.items() for title in titles]
    kinds: Mapping[str, Mapping[str, Sequence[Estimate | float | None]]] = {
        "model": crossing.models,
        "people": crossing.people,
        "published": crossing.published,
    }
    notes = {title: "; ".join(differences) for title, differences in crossing.differences.items()}
    rows = [
        {"group": group, "column": title, "system": system, "kind": kind}
        | (one.to_json() if isinstance(one, Estimate) else {"value": one, "note": notes.get(title, "")})
        for kind, systems in kinds.items()
        for system, values in systems.items()
        for (group, title), one in zip(columns, values, strict=True)
        if one is not None
    ]
    schema = dict.fromkeys(("group", "column", "system", "kind"), pl.String) | dict(_NUMBERS)
    return pl.DataFrame(rows, schema=schema)


def _prefixed(name: str, value: Estimate | None) -> dict[str, float | None]:
    fields = value.to_json() if value else {}
    return {f"{name}_{end}": fields.get(end) for end in ("value", "low", "high")}


def _add_contrast_tables(target: Folder, contrasts: Sequence[Contrast], models: Mapping[str, Entry]) -> None:
    if not contrasts:
        return
    caption = (
        "Second minus first on {}, in percentage points with 95 % intervals; "
        "p adjusted over all suites and pairs of models."
    )
    suites = dict.fromkeys(contrast.suite for contrast in contrasts)
    name = target.name(COMPARISON)
    text = latex.whole_table(
        whole(contrasts),
        caption.format("whole suites"),
        label=f"tab:{name}",
        signatures=[sign for suite in suites for sign in _signatures(models, suite)],
    )
    target.add_table(name, _contrasts(whole(contrasts), ""), text)
    for family in families(contrasts, runs_of(models)):
        if family.factor:
            name = target.name(COMPARISON, family.suite, family.factor)
            text = latex.contrast_table(
                family.pairs,
                family.factor,
                caption.format(f"{family.suite} by {family.factor}"),
                label=f"tab:{name}",
                signatures=_signatures(models, family.suite),
            )
            members = [contrast for pair in family.pairs for contrast in pair.contrasts]
            target.add_table(name, _contrasts(members, family.factor), text)


def _add_contamination_tables(target: Folder, leaks: Sequence[Finding]) -> None:
    """The four cells and the contrasts of each model, a table each."""
    for leak in leaks:
        cells = [
            {"slice": name, "words": cell["words"], "templates": cell["templates"], "suite": cell["suite"]}
            | dict(found)
            for cell in leak["cells"]
            for name, found in cell["slices"].items()
        ]
        contrasts = [
            {"slice": each["slice"], "contrast": each["name"], "p": each["p"], "p_adjusted": each["p_adjusted"]}
            | {f"{part}_{end}": (each[part] or {}).get(end) for part in CHANGES for end in ("value", "low", "high")}
            for each in leak["contrasts"]
        ]
        for what, rows in (("cells", cells), ("contrasts", contrasts)):
            name = target.name(CONTAMINATION, leak["model"], what)
            text = latex.contamination_table(leak, what, label=f"tab:{name}")
            target.add_table(name, pl.DataFrame(rows, infer_schema_length=None), text)


def _add_contrast_plots(target: Folder, contrasts: Sequence[Contrast], models: Mapping[str, Entry]) -> None:
    picture = whole_chart(contrasts)
    if picture:
        target.add_plot(target.name(COMPARISON), picture)
    for family in families(contrasts, runs_of(models)):
        if family.chart:
            target.add_plot(target.name(COMPARISON, family.suite, family.factor), family.chart)
        for pair in family.pairs:
            if pair.chart:
                target.add_plot(target.name(COMPARISON, family.suite, family.factor, pair.name), pair.chart)


def _latex(section: Section, found: Breakdown, label: str, signed: Sequence[str]) -> str:
    caption = f"Accuracy in per cent on {section.name} by {found.table.title}, with 95 % intervals."
    if found.crossing:
        return latex.crossing_table(found.crossing, caption, label=label, signatures=signed)
    return latex.breakdown_table(found.table, list(section.results), caption, label=label, signatures=signed)


def _scores(section: Section, table: Table, factor: str) -> pl.DataFrame:
    """A row for each slice and system, the factors first; shares are from 0 to 1."""
    rows = [
        (line.value, {"system": model, "kind": "model", "signature": result["signature"], **one.to_json()})
        for line in table.lines
        for (model, result), one in zip(section.results.items(), line.estimates, strict=True)
        if one
    ]
    names = factor.split(CROSS) if factor else []
    for score in section.published:
        if set(score["by"]) == set(names):
            under = condition(score)
            own = {"system": score["system"], "source": score["source"], "value": score["value"]}
            own |= {"kind": "people" if under == PEOPLE else "published"}
            own |= {"condition": under} if under not in (MAIN, PEOPLE) else {}
            own |= {"note": "; ".join([*score.get("differs", ()), *filter(None, [score.get("correction")])])}
            rows.append((CROSS.join(score["by"][name] for name in names), own))
    return _frame(factor, rows, _SCORE)


def _contrasts(contrasts: Iterable[Contrast], factor: str) -> pl.DataFrame:
    """A row for each slice and pair of models, the factors first; shares are from 0 to 1."""
    rows = []
    for one in contrasts:
        fields, change = one.to_json(), one.difference.to_json()
        first, second = (None if isnan(value) else value for value in one.accuracies)
        own = {"first_accuracy": first, "second_accuracy": second, "difference": change.pop("value")}
        rows.append((one.value, {name: fields[name] for name in _CONTRAST if name in fields} | change | own))
    return _frame(factor, rows, _CONTRAST)


def _frame(factor: str, rows: Sequence[tuple[str, dict[str, Any]]], schema: Mapping[str, Any]) -> pl.DataFrame:
    """Rows with their slices taken apart into a column for each factor, in one where a value cannot be."""
    names = factor.split(CROSS) if factor else []
    if any(len(value.split(CROSS)) != len(names) for value, _ in rows if names):
        names = [factor]
    columns = [f"factor_{name}" if name in schema else name for name in names]
    made = [
        dict(zip(columns, value.split(CROSS) if len(names) > 1 else [value], strict=False)) | own for value, own in rows
    ]
    return pl.DataFrame(made, schema=dict.fromkeys(columns, pl.String) | dict(schema))


def _signatures(models: Mapping[str, Entry], suite: str) -> list[str]:
    return [entry.run.header.signature(suite) for entry in models.values() if suite in entry.run.header.suites]
