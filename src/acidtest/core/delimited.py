"""Comma- and tab-separated text into frames of strings, with the line of whatever is wrong in it.

A well-formed text goes through Polars. One pass of NumPy over its bytes says beforehand whether it is well formed,
because Polars pads short lines and makes rows of blank ones without a word; any other text is read cell by cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import FileError

Header = bool | Callable[[Sequence[str]], bool]
"""Whether the first line names the columns, or a function that decides it from the cells of that line."""

_LINE_FEED, _RETURN, _QUOTE = b'\n\r"'

_GLANCE = 1 << 20
"""How many bytes are looked at before a whole text is."""

_HEADER = 1 << 16
"""How many bytes a header is looked for in."""

_MARKS = {",": "commas", ";": "semicolons", "\t": "tabs"}

_UNNAMED = re.compile(r"\s*(?:Unnamed: \d+\s*)?")
"""What stands in a header where no name does; the words are those pandas writes."""

_INSIDE = rb'(?:[^"]++|"")*+'
_QUOTED = re.compile(rb'"%b"' % _INSIDE)
_STRAY = re.compile(rb'[^\t\n"]"[^\t\r\n"]')
_ALL_QUOTED = re.compile(rb'"%b"(?:\t"%b")*+\r?(?:\n|\Z)' % (_INSIDE, _INSIDE))


@dataclass(frozen=True)
class Dialect:
    """How the cells of a text are kept apart, and whether quotes may enclose them."""

    separator: str
    quoted: bool


@dataclass(frozen=True)
class Delimited:
    """What was read: a frame of strings, whether the first line named its columns, and the dialect found."""

    frame: pl.DataFrame
    header: bool
    dialect: Dialect


class Record(NamedTuple):
    """One row of a text: the line it begins on, its cells, and the byte where the next record begins."""

    line: int
    cells: list[str]
    end: int


@dataclass(frozen=True)
class _Shape:
    """What one pass over the bytes shows, without cutting a single cell out."""

    well_quoted: bool
    doubled: bool
    """Some quoted cell holds a quote, written twice."""
    widths: npt.NDArray[np.int64]
    """The number of cells of each record, 0 for a blank line."""


def delimited(
    path: Path, content: bytes, *, separator: str, header: Header = True, quoted: bool | None = None
) -> Delimited:
    """The table in a UTF-8 text. An empty cell is null, a blank line is no row, a column without a name is left out.

    Without a header the columns are ``column_1``, ``column_2`` … ``quoted`` None: commas always, tabs by evidence.
    """
    content = content.rstrip(b"\r\n")
    dialect = Dialect(separator, _is_quoted(content, separator) if quoted is None else quoted)
    first = next(records(path, content, dialect=dialect), None)
    if first is None:
        raise FileError(path, "holds nothing, not even a header; copy or write it again")
    named = header if isinstance(header, bool) else header(first.cells)
    names = first.cells if named else [f"column_{number}" for number in range(1, len(first.cells) + 1)]
    if named:
        _check_names(path, first)
    frame = _fast_frame(content, dialect, start=first.end if named else 0, width=len(names))
    if frame is None:
        frame = _slow_frame(path, content, dialect=dialect, named=named)
    renamed = {place: name for place, name in zip(frame.columns, names, strict=True) if not _UNNAMED.fullmatch(name)}
    return Delimited(frame.select(list(renamed)).rename(renamed), named, dialect)


def csv_separator(content: bytes) -> str:
    """What separates the cells of a CSV: semicolons where the first line has some and no comma, outside quotes.

    Spreadsheets write them wherever the comma is the decimal mark; NaN-NLI was published so.
    """
    first = _QUOTED.sub(b"", content[:_HEADER].lstrip(b"\r\n")).split(b"\n", 1)[0]
    return ";" if b";" in first and b"," not in first else ","


def record_line(path: Path, content: bytes, *, dialect: Dialect, record: int) -> int:
    """The line on which a record (the header counts as one, a blank line does not) begins."""
    return next(islice(records(path, content.rstrip(b"\r\n"), dialect=dialect), record, None)).line


def records(path: Path, content: bytes, *, dialect: Dialect) -> Iterator[Record]:
    """The records of a text, one by one. Slow; knows where everything is."""
    pattern, separator = _cell_pattern(dialect), dialect.separator.encode()
    position, line = 0, 1
    while position < len(content):
        start, cells, then = position, list[str](), separator
        while then == separator:
            match = pattern.match(content, position)
            if match is None:
                raise _misquoted(path, content, position)
            quoted = match["quoted"] if dialect.quoted else None
            cells.append((match["plain"] if quoted is None else quoted.replace(b'""', b'"')).decode())
            then, position = match["then"], match.end()
        if content[start:position].strip(b"\r\n"):
            yield Record(line, cells, position)
        line += content.count(b"\n", start, position)


@cache
def _cell_pattern(dialect: Dialect) -> re.Pattern[bytes]:
    """A cell, quoted or plain, and what comes then."""
    separator = dialect.separator.encode()
    # A carriage return belongs to the cell unless the line ends right after it.
    cell = rb"(?P<plain>[^%b\r\n]*+(?:\r(?!\n|\Z)[^%b\r\n]*+)*+)" % (separator, separator)
    if dialect.quoted:
        cell = rb'(?:"(?P<quoted>%b)"|(?!")%b)' % (_INSIDE, cell)
    return re.compile(rb"%b(?P<then>%b|\r?\n|\r?\Z)" % (cell, separator))


def _misquoted(path: Path, content: bytes, position: int) -> FileError:
    line = content.count(b"\n", 0, position) + 1
    if _QUOTED.match(content, position):
        problem = "text follows the closing quote of a cell; write a quote inside a quoted cell twice"
    else:
        problem = "a quote opens a cell here and none closes it; close it, or write a quote inside a quoted cell twice"
    return FileError(path, problem, line)


def _is_quoted(content: bytes, separator: str) -> bool:
    """Whether quotes enclose cells. SNLI, MNLI and HANS begin cells with plain quotes; pandas quotes what needs it.

    A tab-separated text is quoted when all cells of its first line are; or when every quote in it encloses a cell or
    is doubled inside one, and besides either one is doubled or the lines have equally many cells only when read so.
    """
    if separator != "\t" or _ALL_QUOTED.match(content):
        return True
    if b'"' not in content or _STRAY.search(content, 0, _GLANCE):
        return False
    shape = _shape(content, Dialect(separator, quoted=True))
    if not shape.well_quoted:
        return False
    if shape.doubled:
        return True
    plain = _shape(content, Dialect(separator, quoted=False))
    return _even(shape) and not _even(plain)


def _even(shape: _Shape) -> bool:
    widths = shape.widths[shape.widths > 0]
    return bool((widths == widths[:1]).all())


def _shape(content: bytes, dialect: Dialect) -> _Shape:
    """The shape of a text that does not end in a line end."""
    # Framed by line ends, so that every quote has a neighbour on both sides.
    text = np.frombuffer(b"\n%b\n" % content, dtype=np.uint8)
    separator = ord(dialect.separator)
    marks = (text == separator) | (text == _LINE_FEED)
    if dialect.quoted:
        marks |= text == _QUOTE
    places = np.flatnonzero(marks)
    kinds = text[places]
    outside = np.cumsum(kinds == _QUOTE) % 2 == 0 if dialect.quoted else np.ones(len(places), dtype=np.bool_)
    ends = np.flatnonzero((kinds == _LINE_FEED) & outside)
    separators = np.cumsum((kinds == separator) & outside)
    widths = np.diff(separators[ends]) + 1
    lengths = np.diff(places[ends]) - 1
    blank = (lengths == 0) | ((lengths == 1) & (text[places[ends[1:]] - 1] == _RETURN))
    widths[blank] = 0
    well_quoted, doubled = _quoting(text, places[kinds == _QUOTE], separator) if dialect.quoted else (True, False)
    return _Shape(well_quoted, doubled, widths.astype(np.int64))


def _quoting(text: npt.NDArray[np.uint8], quotes: npt.NDArray[np.intp], separator: int) -> tuple[bool, bool]:
    """Whether every quote encloses a cell or is doubled inside one, and whether any is doubled."""
    if len(quotes) % 2:
        return False, False
    before, after = text[quotes[::2] - 1], text[quotes[1::2] + 1]
    opens = np.isin(before, (separator, _LINE_FEED, _QUOTE)).all()
    returns = quotes[1::2][after == _RETURN]
    closes = np.isin(after, (separator, _LINE_FEED, _QUOTE, _RETURN)).all()
    closes &= (text[returns + 2] == _LINE_FEED).all()
    return bool(opens and closes), bool((after == _QUOTE).any())


def _fast_frame(content: bytes, dialect: Dialect, *, start: int, width: int) -> pl.DataFrame | None:
    """The rows from byte ``start`` on, or None when the text has to be read cell by cell."""
    body = content[start:]
    schema = {f"{number}": pl.String for number in range(width)}
    if not body:
        return pl.DataFrame(schema=schema)
    # Polars drops a carriage return at the end of a cell, wherever the cell stands.
    if body.count(b"\r") != body.count(b"\r\n"):
        return None
    shape = _shape(body, dialect)
    if not shape.well_quoted or (shape.widths != width).any():
        return None
    try:
        frame = pl.read_csv(
            body,
            schema=schema,
            has_header=False,
            separator=dialect.separator,
            quote_char='"' if dialect.quoted else None,
            null_values=[""],
        )
    except pl.exceptions.PolarsError:
        return None
    return frame if frame.height == len(shape.widths) else None


def _slow_frame(path: Path, content: bytes, *, dialect: Dialect, named: bool) -> pl.DataFrame:
    rows = list[list[str | None]]()
    width = 0
    for number, record in enumerate(records(path, content, dialect=dialect)):
        width = width or len(record.cells)
        if len(record.cells) != width:
            raise FileError(path, _ragged(record, width, dialect=dialect, named=named), record.line)
        if number or not named:
            rows.append([cell or None for cell in record.cells])
    return pl.DataFrame(rows, schema={f"{number}": pl.String for number in range(width)}, orient="row")


def _ragged(record: Record, width: int, *, dialect: Dialect, named: bool) -> str:
    found = f"{len(record.cells)} cell{'s' if len(record.cells) != 1 else ''}"
    first = "header" if named else "first line"
    if len(record.cells) < width:
        advice = "complete or remove the line: even an empty cell needs its separator"
    elif dialect.quoted:
        advice = "put a cell that holds the separator in double quotes"
    else:
        advice = "remove the tabs inside cells"
    return f"{found} between {_MARKS[dialect.separator]} where the {first} has {width}; {advice}"


def _check_names(path: Path, first: Record) -> None:
    seen = dict[str, int]()
    for place, name in enumerate(first.cells, start=1):
        if _UNNAMED.fullmatch(name):
            continue
        if name in seen:
            raise FileError(path, f"columns {seen[name]} and {place} are both called {name!r}; rename one", first.line)
        seen[name] = place
    if not seen:
        raise FileError(path, "the first line names no column; write the names of the columns there", first.line)
