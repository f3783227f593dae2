"""Documents as files: tables as CSV, LaTeX and Markdown, charts and maps as SVG and PNG, or all of it as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from acidtest.core.document import (
    Cell,
    Change,
    Chart,
    Coefficient,
    Column,
    Document,
    Finding,
    Map,
    Note,
    Part,
    Published,
    Push,
    PValue,
    Row,
    Section,
    Table,
    tables,
    walk,
)
from acidtest.core.errors import FileError
from acidtest.core.escaping import breakable_latex, escape_latex, escape_markdown
from acidtest.core.estimate import Estimate
from acidtest.core.files import replace_file, write_text
from acidtest.core.numbers import cell_text
from acidtest.io.tables import write_table
from acidtest.render.drawing import Drawing
from acidtest.render.html import column_groups, row_groups
from acidtest.render.maps import draw_map
from acidtest.render.svg import draw, draw_on

PICTURES = (".svg", ".png")
LONG = 45
"""A LaTeX table of more rows than this is a longtable, which can span pages."""

_NUMBERS: dict[str, Any] = {
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "groups": pl.Int64,
    "method": pl.String,
    "note": pl.String,
}


def write_tables(document: Document, folder: str | Path) -> list[Path]:
    """Write every table as CSV, LaTeX and Markdown; returns the paths."""
    names = _Names(folder)
    written = []
    for table in tables(document).values():
        name = names.unique(table.id)
        paths = [names.folder / f"{name}{ending}" for ending in (".csv", ".tex", ".md")]
        write_table(table_frame(table), paths[0])
        write_text(paths[1], latex_table(table, label=f"tab:{name}", signatures=document.signatures.values()))
        write_text(paths[2], markdown_table(table))
        written += paths
    return written


def write_charts(document: Document, folder: str | Path) -> list[Path]:
    """Write every chart, and every map in each of its colourings, as SVG and PNG; returns the paths."""
    names, by_id = _Names(folder), tables(document)
    written = []
    for part in walk(document.parts):
        if isinstance(part, Chart):
            svg = draw(part, by_id[part.table], standalone=True)
            written += write_picture(svg, names.folder / names.unique(part.table))
        elif isinstance(part, Map):
            for colouring in part.colourings:
                svg = draw_map(part, colouring, standalone=True)
                written += write_picture(svg, names.folder / names.unique(f"{part.id}-{colouring.name}"))
    return written


def write_chart(document: Document, path: str | Path) -> None:
    """Write the last chart of a document, the most detailed one, as SVG or PNG by the ending of the path."""
    path = Path(path)
    if path.suffix.lower() not in PICTURES:
        raise FileError(path, f"the ending {path.suffix or 'of its name'} is not that of a picture; use .svg or .png")
    charts = [part for part in walk(document.parts) if isinstance(part, Chart)]
    if not charts:
        raise FileError(path, "there is no chart to draw; end the name in .html for a page")
    _write_picture(draw(charts[-1], tables(document)[charts[-1].table], standalone=True), path)


def write_picture(svg: str, path: Path) -> list[Path]:
    """Write a picture as SVG and as PNG; the path has no ending."""
    paths = [path.with_name(f"{path.name}{ending}") for ending in PICTURES]
    for one in paths:
        _write_picture(svg, one)
    return paths


def _write_picture(svg: str, path: Path) -> None:
    if path.suffix.lower() == ".svg":
        write_text(path, svg)
        return
    import vl_convert

    with replace_file(path) as temporary:
        temporary.write_bytes(vl_convert.svg_to_png(svg, scale=2))


def draw_side_by_side(panels: Sequence[tuple[Chart, Table]], *, width: int = 440, gap: int = 36) -> str:
    """Charts side by side in one picture, each below its title."""
    whole = Drawing(max(len(panels) * (width + gap) - gap, 0))
    for number, (chart, table) in enumerate(panels):
        panel = Drawing(width, height=24)
        panel.text(0, 10, chart.title or table.caption, css="heading")
        draw_on(panel, chart, table)
        place = number * (width + gap)
        whole.elements.append(f'<g transform="translate({place} 0)">{"".join(panel.elements)}</g>')
        whole.height = max(whole.height, panel.height)
    return whole.svg(", ".join(chart.title for chart, _ in panels), standalone=True)


def render_markdown(document: Document) -> str:
    """The whole document in GitHub's Markdown, without charts, maps, pairs and example browser."""
    title, headline = escape_markdown(document.title), escape_markdown(document.headline)
    return "\n\n".join([f"# {title}", headline, *_markdown_parts(document.parts, level=2)]) + "\n"


def _markdown_parts(parts: Iterable[Part], level: int) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Section):
            yield f"{'#' * level} {escape_markdown(part.title)}"
            yield from _markdown_parts(part.parts, level + 1)
        elif isinstance(part, Table):
            yield markdown_table(part).strip()
        elif isinstance(part, Note):
            yield escape_markdown(part.text)
        elif isinstance(part, Finding):
            where = f" [{part.where}]" if part.where else ""
            yield f"**{part.severity}**: {escape_markdown(part.sentence + where)}"


def table_frame(table: Table) -> pl.DataFrame:
    """A frame with a row for each cell: its row, its column, and its value with interval; shares are from 0 to 1."""
    cells = list(_cells(table))
    slices = dict.fromkeys(name for row, column, _ in cells for name in (*row.slice, *column.slice))
    heads = {"row": pl.String, "column": pl.String, "group": pl.String, "heading": pl.String, "kind": pl.String}
    rows = [
        {
            **{name: row.slice.get(name, column.slice.get(name)) for name in slices},
            "row": row.name,
            "column": column.name,
            "group": column.group or None,
            "heading": row.heading or None,
            "kind": row.role or column.role or ("model" if column.model else None),
            **_numbers(cell),
        }
        for row, column, cell in cells
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(slices, pl.String) | heads | _NUMBERS | {"text": pl.String})


def markdown_table(table: Table) -> str:
    """The table in GitHub's Markdown, below its caption."""
    titles = [table.corner, *(f"{column.group} {column.name}".strip() for column in table.columns)]
    rule = [":--", *("--:" if column.unit != "text" else ":--" for column in table.columns)]
    lines = [f"{escape_markdown(table.caption)}\n", _markdown_row(map(escape_markdown, titles)), _markdown_row(rule)]
    for heading, rows in row_groups(table):
        lines += [_markdown_row([f"**{escape_markdown(heading)}**", *[""] * len(table.columns)])] if heading else []
        lines += [_markdown_row(map(escape_markdown, (row.name, *_texts(row, table)))) for row in rows]
    notes = [*table.notes, *table.sources]
    return "\n".join([*lines, *(f"\n{escape_markdown(note)}" for note in notes), ""])


def latex_table(table: Table, *, label: str, signatures: Iterable[str] = ()) -> str:
    """The table in LaTeX with booktabs; notes, sources and signatures are in the caption."""
    groups, rules, place = [""], list[str](), 2
    for name, size in column_groups(table):
        groups.append(f"\\multicolumn{{{size}}}{{c}}{{{escape_latex(name)}}}")
        rules += [f"\\cmidrule(lr){{{place}-{place + size - 1}}}"] if name else []
        place += size
    titles = _latex_row(map(escape_latex, (table.corner, *(column.name for column in table.columns))))
    head = "\n".join([_latex_row(groups), "".join(rules), titles] if len(groups) > 1 else [titles])
    bodies = []
    for heading, rows in row_groups(table):
        lines = (
            [f"\\multicolumn{{{len(table.columns) + 1}}}{{l}}{{\\emph{{{escape_latex(heading)}}}}} \\\\"]
            if heading
            else []
        )
        lines += [_latex_row(map(escape_latex, (row.name, *_texts(row, table)))) for row in rows]
        bodies.append("\n".join(lines))
    alignment = "l" + "".join("l" if column.unit == "text" else "r" for column in table.columns)
    caption_text = " ".join(filter(None, (table.caption, *table.notes, "; ".join(table.sources))))
    signed = "; ".join(map(breakable_latex, signatures))
    caption = f"\\caption{{{escape_latex(caption_text)}{f' {signed}.' if signed else ''}}}\\label{{{label}}}"
    return _set_latex(caption, alignment, head, "\n\\midrule\n".join(bodies), long=len(table.rows) > LONG)


class _Names:
    """Makes file names for one folder, no two of them the same."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise FileError(self.folder, "is a file; a folder was expected")
        self._taken: set[str] = set()

    def unique(self, text: str) -> str:
        """A file name without an ending, made from a text."""
        # File systems count bytes: letters of other scripts take up to four.
        plain = re.sub(r"[^\w.]+", "-", text).strip("-.").encode()[:100].decode(errors="ignore") or "table"
        name, turn = plain, 1
        while name.lower() in self._taken:
            turn += 1
            name = f"{plain}-{turn}"
        self._taken.add(name.lower())
        return name


def _cells(table: Table) -> Iterator[tuple[Row, Column, Cell]]:
    for row in table.rows:
        for column, cell in zip(table.columns, row.cells, strict=True):
            if cell is not None:
                yield row, column, cell


def _numbers(cell: Cell) -> dict[str, Any]:
    """A cell's value with whatever bounds and counts it has; NaN is null."""
    if isinstance(cell, Estimate):
        return cell.to_json()
    if isinstance(cell, Coefficient):
        return {**cell.estimate.to_json(), "text": cell.stars or None}
    if isinstance(cell, Push):
        return {**cell.estimate.to_json(), "text": f"{cell.toward}{', used' if cell.used else ''}" or None}
    if isinstance(cell, Change):
        return {**cell.after.to_json(), "text": f"before: {cell.before.value}"}
    if isinstance(cell, Published):
        return {"value": cell.value, "note": cell.note or None}
    if isinstance(cell, str):
        return {"text": cell}
    number = cell.value if isinstance(cell, PValue) else cell
    return {"value": None if number is None or number != number else float(number)}


def _texts(row: Row, table: Table) -> list[str]:
    return [cell_text(cell, column.unit).line for cell, column in zip(row.cells, table.columns, strict=True)]


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _set_latex(caption: str, alignment: str, head: str, body: str, *, long: bool) -> str:
    if long:
        return f"""% Written by acidtest; needs \\usepackage{{booktabs,longtable}}.
\\begin{{longtable}}{{{alignment}}}
{caption}\\\\
\\toprule
{head}
\\midrule
\\endfirsthead
\\toprule
{head}
\\midrule
\\endhead
\\bottomrule
\\endfoot
{body}
\\end{{longtable}}
"""
    return f"""% Written by acidtest; needs \\usepackage{{booktabs}}.
\\begin{{table}}
\\centering
{caption}
\\begin{{tabular}}{{{alignment}}}
\\toprule
{head}
\\midrule
{body}
\\bottomrule
\\end{{tabular}}
\\end{{table}}
"""
