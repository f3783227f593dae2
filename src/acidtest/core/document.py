"""Documents: sections, findings, tables of values, and charts that are views of those tables.

A study builds a ``Document`` of values; a renderer (terminal, page, files) decides how they look. Cells are never
formatted strings: an ``Estimate`` keeps its interval, count and method until it is rendered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from acidtest.core.estimate import Estimate
from acidtest.core.run import Run

Unit = Literal[
    "percent", "points", "whole percent", "whole points", "decimal", "number", "count", "p", "seconds", "text"
]
"""How the values of a column are shown. Shares are from 0 to 1; percent and points multiply them by 100.

A decimal, such as a kappa, has three decimal places; a number has three significant digits.
"""

Role = Literal["", "total", "control", "published", "people"]
"""What a row or column holds if not a model's values: a summary, the untouched pairs, a paper's system, people."""

Severity = Literal["severe", "warning", "info", "good"]

Mark = Literal["dots", "bars", "stack", "line", "shades", "effects"]
"""How a chart draws a table: values with intervals, lengths, parts of a whole, curves over numbers, shaded cells, or
bars from zero with their numbers and labels beside them."""

MOST_NAMED = 4
"""How many suites are named beside a finding."""

Slice = Mapping[str, str]
"""Factor values that select rows of a suite: ``{"suite": "hans", "heuristic": "constituent"}``."""


@dataclass(frozen=True, slots=True)
class PValue:
    """A p-value; NaN where no test could be computed."""

    value: float


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A fitted coefficient with its interval, its standard error and stars for its p-value."""

    estimate: Estimate
    error: float
    stars: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """A quantity before and after a change."""

    before: Estimate
    after: Estimate


@dataclass(frozen=True, slots=True)
class Published:
    """A number of a paper; ``corrected`` is what its released predictions give where the paper misprints it."""

    value: float
    corrected: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Push:
    """How far something moves answers toward a label; ``used`` where that is beyond doubt more than a little."""

    estimate: Estimate
    toward: str = ""
    """The label; empty where it is no one label."""
    used: bool = False


Cell = Estimate | PValue | Coefficient | Change | Push | Published | int | float | str | None
"""One value of a table; None where there is no value to compute."""


@dataclass(frozen=True)
class Column:
    """A column of a table. ``group`` is a heading over several columns; ``model`` names the run it is about."""

    name: str
    unit: Unit = "percent"
    model: str = ""
    group: str = ""
    role: Role = ""
    slice: Slice = field(default_factory=dict)
    note: str = ""
    spark: bool = False
    """Whether a page draws a small bar beside each share, with a tick at the value of the model's control column."""


@dataclass(frozen=True)
class Row:
    """A row of a table; ``heading`` is shown above the rows that share it."""

    name: str
    cells: tuple[Cell, ...]
    heading: str = ""
    role: Role = ""
    slice: Slice = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """Values in rows and columns; ``id`` names its file, charts refer to it; ``corner`` heads the row names."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    corner: str = ""
    notes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """The sources of published numbers."""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                message = f"table {self.id}: {len(row.cells)} cells in row {row.name!r}, {len(self.columns)} columns"
                raise ValueError(message)


@dataclass(frozen=True)
class Reference:
    """A line to read a chart's values against, such as chance."""

    value: float
    label: str


@dataclass(frozen=True)
class Chart:
    """A drawing of some columns of a table, with a kind of mark and a reference line."""

    table: str
    mark: Mark = "dots"
    columns: tuple[str, ...] = ()
    """Names of the columns drawn; if empty, all columns with numbers of models."""
    title: str = ""
    axis: str = ""
    reference: Reference | None = None


@dataclass(frozen=True)
class MapLayer:
    """One view of a map: a position for each point."""

    name: str
    positions: tuple[tuple[float, float], ...]
    note: str = ""


@dataclass(frozen=True)
class Colouring:
    """One way to colour the points of a map: the values that each point has, none, one or several."""

    name: str
    values: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Map:
    """Points in a plane, in one layer or several, coloured in one way or several.

    ``texts`` are shown when the pointer is over a point, by title: ``{"premise": …, "hypothesis": …}``.
    """

    id: str
    caption: str
    layers: tuple[MapLayer, ...]
    colourings: tuple[Colouring, ...]
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Pair:
    """One pair to read, with the answers of models and other facts."""

    premise: str
    hypothesis: str
    gold: str
    answers: Mapping[str, str]
    """What each model answered, in words: ``entailment 0.93``."""
    facts: Mapping[str, str] = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True)
class Pairs:
    """A few pairs to read, such as the most confident mistakes."""

    caption: str
    pairs: tuple[Pair, ...]
    slice: Slice = field(default_factory=dict)
    """The rows that the ``Browser`` of the page shows for these pairs."""


@dataclass(frozen=True)
class Toggle:
    """One item asked twice, with a cue and without it; its gold is the same."""

    having: Pair
    lacking: Pair


@dataclass(frozen=True)
class Toggles:
    """Some items with a cue and without it, side by side."""

    caption: str
    having: str
    lacking: str
    """Headings of the two sides: ``where all words overlap`` and ``where they do not``."""
    toggles: tuple[Toggle, ...]


@dataclass(frozen=True)
class Browser:
    """Runs whose rows a reader can browse on a page; JSON leaves them out."""

    runs: Mapping[str, Run]


@dataclass(frozen=True)
class Finding:
    """One thing that the numbers show: a sentence about a suite, its severity and its evidence."""

    code: str
    severity: Severity
    sentence: str = field(metadata={"json": "text"})
    suite: str = ""
    evidence: tuple[str, ...] = ()
    slice: Slice = field(default_factory=dict, metadata={"json": "by"})
    """The rows that the finding is about."""
    suites: tuple[str, ...] = field(default=(), metadata={"optional": True})
    """All suites that show it, ``suite`` first."""
    size: float = field(default=0.0, metadata={"json": None})
    """How large it is, as a share; findings of one severity are in order of it."""
    model: str = field(default="", metadata={"json": None})

    @property
    def where(self) -> str:
        """The suites that show it and that the sentence does not name; their number where they are many."""
        names = [name for name in self.suites or (self.suite,) if name and name not in self.sentence]
        return ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} suites"


@dataclass(frozen=True)
class Note:
    """A sentence or paragraph; ``quiet`` shows it less prominently."""

    text: str
    quiet: bool = False


@dataclass(frozen=True)
class Section:
    """Parts under a title; a folded one shows its title only until it is opened."""

    title: str
    parts: tuple[Part, ...]
    anchor: str = ""
    folded: bool = False
    summary: str = ""
    """The text beside the title of a folded section."""


Part = Section | Finding | Table | Chart | Map | Pairs | Toggles | Browser | Note


@dataclass(frozen=True)
class Document:
    """A title, the one sentence a reader should remember, and the parts that show it."""

    title: str
    headline: str
    parts: tuple[Part, ...]
    models: tuple[str, ...] = ()
    signatures: Mapping[str, str] = field(default_factory=dict)
    """Signatures by what they sign, such as ``hans, reference``."""
    methods: tuple[str, ...] = ()
    """Sentences on how numbers were computed, in addition to the explanations of intervals and tests."""
    sentences: tuple[str, ...] = ()
    """The headline in parts that a screen shows on lines of their own; empty if it is one."""


def walk(parts: tuple[Part, ...]) -> Iterator[Part]:
    """All parts in reading order, including those inside sections."""
    for part in parts:
        yield part
        if isinstance(part, Section):
            yield from walk(part.parts)


def embed(document: Document, name: str) -> Section:
    """A document as a section of another: its headline, then its parts, with ``name`` as a prefix of their ids."""
    parts = tuple(_with_prefix(part, name) for part in document.parts if not isinstance(part, Browser))
    return Section(name[:1].upper() + name[1:], (Note(document.headline), *parts), anchor=name)


def _with_prefix(part: Part, prefix: str) -> Part:
    if isinstance(part, Section):
        anchor = f"{prefix}-{part.anchor}" if part.anchor else ""
        return replace(part, anchor=anchor, parts=tuple(_with_prefix(inner, prefix) for inner in part.parts))
    if not isinstance(part, Table | Map | Chart):
        return part
    name = part.table if isinstance(part, Chart) else part.id
    name = name if name.startswith(prefix) else f"{prefix} {name}"
    return replace(part, table=name) if isinstance(part, Chart) else replace(part, id=name)


def tables(document: Document) -> dict[str, Table]:
    """The tables of a document by their ids."""
    return {part.id: part for part in walk(document.parts) if isinstance(part, Table)}


def estimates(cell: Cell) -> tuple[Estimate, ...]:
    """The estimates that a cell holds."""
    if isinstance(cell, Estimate):
        return (cell,)
    if isinstance(cell, Coefficient | Push):
        return (cell.estimate,)
    return (cell.before, cell.after) if isinstance(cell, Change) else ()


def describe_count(count: int, noun: str) -> str:
    """A number of things for sentences: ``1 row``, ``2,000 rows``, ``8 categories``."""
    if count != 1:
        noun = re.sub(r"(?<![aeiou])y$", "ie", noun) + "s"
    return f"{count:,} {noun}"


def listed(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; nothing for no name."""
    *first, last = names or [""]
    return f"{', '.join(first)} and {last}" if first else last
