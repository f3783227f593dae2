"""A document as one self-contained HTML page, which opens from disk without a network."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace
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
    PValue,
    Row,
    Section,
    Slice,
    Table,
    estimates,
    tables,
    walk,
)
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import cell_text
from acidtest.render.maps import draw_map, pack_map
from acidtest.render.svg import draw

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

GENERATOR = '<meta name="generator" content="acidtest'
"""The text near the top of a page that identifies it as one of acidtest."""

SCRIPTS, MAP_SCRIPTS, BROWSER_SCRIPTS = ("page.js",), ("maps.js",), ("trees.js", "examples.js")
PACKAGE = "acidtest.render"

METHODS = {
    "mover with correlation": "The difference of two shares among errors, different rows of the same pairs; its ends "
    "combine the ends of their two intervals, less what the two have in common.",
    "contributions to shares": "A permutation test of a difference of shares among errors: the signs of what each "
    "group adds to it are flipped at random. It gives the share of draws with at least this difference.",
    "newcombe": "The difference of two shares over different rows; its ends combine the ends of their two intervals.",
    "since all agree": "All groups agree, so nothing varies: an exact bound on the share that could disagree unseen.",
    "clopper": "The exact (Clopper–Pearson) interval of a share, used where no row or every row is right.",
    "wilson": "The Wilson score interval of a share: the rows count as independent draws.",
    "bootstrap": "A bootstrap that draws whole groups (rows made from one source sentence) with replacement within "
    "each stratum, widened where groups are few or uneven; BCa corrects it for skew.",
    "degrees of freedom": "A t interval on the mean, with the jackknife's variance over groups, used where there are "
    "few groups or few of them carry the variance.",
    "standard deviation": "The standard deviation over the values of a factor: how uneven a score is, in points.",
    "mcnemar": "McNemar's test on the rows where the two sides differ; the others say nothing about which is better.",
    "permutation": "A permutation test: the share of random swaps of the two sides that give at least this "
    "difference, counting the one observed, so that it is never 0.",
}
"""Explanations of methods and tests; the first key that occurs in the name of a method applies."""


def render_page(document: Document) -> str:
    """The HTML page of a document."""
    from markupsafe import Markup

    document = replace(document, parts=_add_anchors(document.parts))
    browser = next((part for part in walk(document.parts) if isinstance(part, Browser)), None)
    examples = _pack_examples(browser) if browser else None
    has_map = any(isinstance(part, Map) for part in walk(document.parts))
    script_names = (*SCRIPTS, *(MAP_SCRIPTS if has_map else ()), *(BROWSER_SCRIPTS if browser else ()))
    script = '"use strict";\n(() => {\n' + "\n".join(map(_asset, script_names)) + "})();\n"
    by_id = tables(document)
    return (
        _environment()
        .get_template("page.html")
        .render(
            document=document,
            browser=browser,
            examples=examples,
            draw=partial(_draw_chart, by_id),
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


def explain_methods(names: Iterable[str]) -> dict[str, str]:
    """The explanation of each method or test by name; empty if there is none."""
    # The degrees of freedom differ from slice to slice; the method does not.
    unique_names = dict.fromkeys(re.sub(r"(?<=\bt)\([\d.]+\)|[\d.]+ (?=degrees)", "", name) for name in names if name)
    return {name: next((text for word, text in METHODS.items() if word in name.lower()), "") for name in unique_names}


def sentence(text: str) -> str:
    """The text with a capital letter and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def breakable(text: str) -> Markup:
    """The text, escaped, with line breaks allowed after ``_``, ``/`` and ``:``."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(part) for part in re.split(r"(?<=[_/:])", text))


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
    elif isinstance(cell, Coefficient | Change):
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
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (cell_text, sort_value, cell_note, column_groups, row_groups, browser_link, breakable, sentence)
    environment.filters |= {function.__name__: function for function in filters}
    environment.filters["kind"] = lambda part: type(part).__name__
    return environment


def _asset(name: str) -> str:
    return resources.files(PACKAGE).joinpath("templates", name).read_text(encoding="utf-8")
