"""A document as one self-contained HTML page, which opens from disk without a network."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from functools import partial
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from acidtest.core.document import (
    Browser,
    Cell,
    Change,
    Chart,
    Coefficient,
    Document,
    Map,
    Part,
    Published,
    Push,
    PValue,
    Row,
    Section,
    Slice,
    Table,
    estimates,
    tables,
    walk,
)
from acidtest.core.escaping import escape_html
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import cell_text
from acidtest.render.drawing import draw_spark
from acidtest.render.explanations import explain_code, explain_methods, explain_signatures
from acidtest.render.folding import fold_sections
from acidtest.render.maps import draw_map, pack_map
from acidtest.render.svg import draw

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

GENERATOR = '<meta name="generator" content="acidtest'
"""The text near the top of a page that identifies it as one of acidtest."""

SCRIPTS, MAP_SCRIPTS, BROWSER_SCRIPTS = ("page.js",), ("maps.js",), ("trees.js", "examples.js")
PACKAGE = "acidtest.render"


def render_page(document: Document) -> str:
    """The HTML page of a document."""
    from markupsafe import Markup

    by_id = tables(document)
    document = replace(document, parts=_add_anchors(fold_sections(document.parts, by_id)))
    browser = next((part for part in walk(document.parts) if isinstance(part, Browser)), None)
    examples = _pack_examples(browser) if browser else None
    has_map = any(isinstance(part, Map) for part in walk(document.parts))
    script_names = (*SCRIPTS, *(MAP_SCRIPTS if has_map else ()), *(BROWSER_SCRIPTS if browser else ()))
    script = '"use strict";\n(() => {\n' + "\n".join(map(_asset, script_names)) + "})();\n"
    labelled = {part.table for part in walk(document.parts) if isinstance(part, Chart) and part.mark == "effects"}
    return (
        _environment()
        .get_template("page.html")
        .render(
            document=document,
            browser=browser,
            examples=examples,
            draw=partial(_draw_chart, by_id),
            labelled=labelled,
            row_link=partial(_row_link, _section_anchors(document), has_browser=browser is not None),
            spark=_draw_spark,
            pack_map=pack_map,
            still_map=lambda part: Markup(draw_map(part, part.colourings[0])),
            methods=explain_methods(_method_names(document)),
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            style=Markup(_asset("page.css")),
        )
    )


def is_report(path: Path) -> bool:
    """Whether a file is a page of acidtest."""
    with path.open("rb") as file:
        return GENERATOR.encode() in file.read(4096)


def sentence(text: str) -> str:
    """The text with a full stop and a capital letter, unless it begins with a name: ``hans: right on 50 %.``."""
    named = text.partition(" ")[0].endswith(":")
    return (text if named else text[:1].upper() + text[1:]) + ("" if text.endswith((".", "!", "?")) else ".")


def breakable(text: str) -> Markup:
    """The text, escaped, with line breaks allowed after ``_``, ``/`` and ``:``."""
    from markupsafe import Markup

    return Markup("<wbr>").join(escape_html(part) for part in re.split(r"(?<=[_/:])", text))


def browser_link(part: Slice) -> str:
    """The link to a slice in the example browser; empty for an empty slice."""
    if not part:
        return ""
    fields = ("suite", "label", "model", "verdict", "sort", "other", "answer", "q")
    return "#examples?" + urlencode({name if name in fields else f"f.{name}": value for name, value in part.items()})


def column_groups(table: Table) -> list[tuple[str, int]]:
    """The headings above columns and how many columns each spans; empty if no column has a heading."""
    groups = [(name, len(list(columns))) for name, columns in groupby(column.group for column in table.columns)]
    return groups if any(name for name, _ in groups) else []


def row_groups(table: Table) -> list[tuple[str, list[Row]]]:
    """Rows under their headings, in order."""
    return [(heading, list(rows)) for heading, rows in groupby(table.rows, key=lambda row: row.heading)]


def sort_value(cell: Cell) -> float | str:
    """The number by which a cell is sorted; the empty string if it has none."""
    if isinstance(cell, int | float):
        value = float(cell)
    elif isinstance(cell, Estimate | PValue | Published):
        value = cell.value
    elif isinstance(cell, Coefficient | Change | Push):
        value = estimates(cell)[-1].value
    else:
        return ""
    return value if value == value else ""


def cell_note(cell: Cell) -> str:
    """The tooltip of a cell: why there is no value, or how many rows it is based on."""
    if cell is None:
        return "not asked"
    if isinstance(cell, Published):
        return cell.note
    notes = [estimate.note or (f"n = {estimate.n:,}" if estimate.n else "") for estimate in estimates(cell)]
    return "; ".join(dict.fromkeys(filter(None, notes)))


def cell_notes(cell: Cell) -> list[str]:
    """What the estimates of a cell say about themselves, such as why there is no value."""
    return [estimate.note for estimate in estimates(cell) if estimate.note]


def footnotes(table: Table) -> dict[str, int]:
    """The notes of a table's columns and cells, each with its number."""
    notes = [column.note for column in table.columns if column.note]
    notes += [note for row in table.rows for cell in row.cells for note in cell_notes(cell)]
    return {note: number for number, note in enumerate(dict.fromkeys(notes), 1)}


def counts(row: Row) -> str:
    """On how many pairs the numbers of a row are based: ``n = 816``; empty if that is not known."""
    numbers = sorted(
        {estimate.n for cell in row.cells for estimate in estimates(cell) if estimate.known and estimate.n}
    )
    return f"n = {numbers[0]:,}" + (f" to {numbers[-1]:,}" if len(numbers) > 1 else "") if numbers else ""


def shared_counts(table: Table) -> str:
    """On how many pairs all numbers of a table are based; empty if rows differ."""
    texts = {text for row in table.rows if (text := counts(row))}
    return texts.pop() if len(texts) == 1 else ""


def has_controls(table: Table) -> bool:
    """Whether any small bar of a table has a tick for its control."""
    places = [number for number, column in enumerate(table.columns) if column.spark]
    return any(_control(table, row, number) for row in table.rows for number in places)


def mark_words(text: str, other: str) -> Markup:
    """The text, escaped, with the words marked that another text has not at the same place."""
    from markupsafe import Markup

    words, others = text.split(), other.split()
    pieces = []
    for kind, start, end, _, _ in SequenceMatcher(None, words, others, autojunk=False).get_opcodes():
        piece = escape_html(" ".join(words[start:end]))
        if piece:
            pieces.append(piece if kind == "equal" else Markup("<mark>{}</mark>").format(piece))
    return Markup(" ").join(pieces)


def _control(table: Table, row: Row, number: int) -> Estimate | None:
    """The value on the untouched pairs beside a cell: before a change, or in the control column of the same model."""
    cell, model = row.cells[number], table.columns[number].model
    if isinstance(cell, Change):
        return cell.before
    for column, other in zip(table.columns, row.cells, strict=True):
        if column.role == "control" and column.model in (model, "") and isinstance(other, Estimate):
            return other
    return None


def _draw_spark(table: Table, row: Row, number: int) -> Markup | str:
    """The small bar of a cell; empty if its column has none or the value is not known."""
    from markupsafe import Markup

    values = estimates(row.cells[number])
    if not table.columns[number].spark or not values or not values[-1].known:
        return ""
    return Markup(draw_spark(values[-1], _control(table, row, number)))


def _section_anchors(document: Document) -> dict[str, str]:
    return {part.title: part.anchor for part in document.parts if isinstance(part, Section)}


def _row_link(anchors: Mapping[str, str], row: Row, *, has_browser: bool) -> str:
    """The link of a row: to its pairs in the example browser, or to the section of the same name."""
    link = browser_link(row.slice) if has_browser else ""
    return link or (f"#{anchors[row.name]}" if row.name in anchors else "")


def _draw_chart(by_id: dict[str, Table], chart: Chart, width: int) -> Markup:
    from markupsafe import Markup

    size = "wide" if width > 480 else "slim"
    return Markup(f'<div class="{size}">{draw(chart, by_id[chart.table], width=width)}</div>')


def _add_anchors(parts: tuple[Part, ...], prefix: str = "part") -> tuple[Part, ...]:
    """The parts with an anchor for every section."""
    anchored: list[Part] = []
    for number, part in enumerate(parts, 1):
        if isinstance(part, Section):
            anchor = part.anchor or f"{prefix}-{number}"
            part = replace(part, anchor=anchor, parts=_add_anchors(part.parts, anchor))
        anchored.append(part)
    return tuple(anchored)


def _method_names(document: Document) -> list[str]:
    return [
        estimate.method
        for part in walk(document.parts)
        if isinstance(part, Table)
        for row in part.rows
        for cell in row.cells
        for estimate in estimates(cell)
    ]


def _pack_examples(browser: Browser) -> Any:
    from acidtest.render.examples import examples

    return examples(browser.runs)


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(PACKAGE),
        autoescape=True,
        # What is marked as HTML stays; every other text goes through the one function.
        finalize=lambda value: escape_html(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (
        *(
            cell_text,
            sort_value,
            cell_note,
            cell_notes,
            footnotes,
            counts,
            shared_counts,
            has_controls,
            column_groups,
            row_groups,
        ),
        *(browser_link, breakable, sentence, mark_words, explain_code, explain_signatures),
    )
    environment.filters |= {function.__name__: function for function in filters}
    environment.filters["kind"] = lambda part: type(part).__name__
    return environment


def _asset(name: str) -> str:
    return resources.files(PACKAGE).joinpath("templates", name).read_text(encoding="utf-8")
