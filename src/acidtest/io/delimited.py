"""Comma- and tab-separated text into frames of strings, with the line of everything that is wrong in it.

A text is read block by block. A well-formed block goes through Polars. One pass of NumPy over its bytes says beforehand
whether it is well formed, because Polars pads short lines and makes rows of blank ones without warning; any other block
is read cell by cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import FileError
from acidtest.io import blocks
from acidtest.io.blocks import Block, Cut, Text, line_end
from acidtest.io.rows import Rows, Spool

Header = bool | Callable[[Sequence[str]], bool]
"""Whether the first line names the columns, or a function that decides it from the cells of that line."""

_LINE_FEED, _RETURN, _QUOTE = b'\n\r"'

_GLANCE = 1 << 20
"""How many bytes are searched before the whole text is."""

_HEADER = 1 << 16
"""How many bytes are searched for a header."""

_MARKS = {",": "commas", ";": "semicolons", "\t": "tabs"}

_UNNAMED = re.compile(r"\s*(?:Unnamed: \d+\s*)?")
"""What a header contains where it has no name; the words are those that pandas writes."""

_INSIDE = rb'(?:[^"]++|"")*+'
_QUOTED = re.compile(rb'"%b"' % _INSIDE)
_BLANK_LINES = re.compile(rb"[\r\n]*\n")
_STRAY = re.compile(rb'[^\t\n"]"[^\t\r\n"]')
_ALL_QUOTED = re.compile(rb'"%b"(?:\t"%b")*+\r?(?:\n|\Z)' % (_INSIDE, _INSIDE))


@dataclass(frozen=True)
class Dialect:
    """How the cells of a text are kept apart, and whether quotes may enclose them."""

    separator: str
    quoted: bool


@dataclass(frozen=True)
class Delimited:
    """What was read: rows of strings, whether the first line named their columns, and the dialect."""

    rows: Rows
    header: bool
    dialect: Dialect
    line: Callable[[int], int]
    """Finds the line on which a row begins, by reading the text again."""


class Record(NamedTuple):
    """One row of a text: the line it begins on, its cells, and the byte where the next record begins."""

    line: int
    cells: list[str]
    end: int


@dataclass(frozen=True)
class _BlockShape:
    """What one pass over the bytes of a block shows, without extracting a cell."""

    well_quoted: bool
    doubled: bool
    """Some quoted cell holds a quote, written twice."""
    widths: npt.NDArray[np.int64]
    """The number of cells of every record, 0 for a blank line."""


def read_delimited(text: Text, *, separator: str, header: Header = True, quoted: bool | None = None) -> Delimited:
    """The table in a text. An empty cell is null, a blank line is no row, a column without a name is left out.

    Without a header the columns are ``column_1``, ``column_2`` … ``quoted`` None: commas always, tabs by evidence.
    """
    dialect = Dialect(separator, _is_quoted(text, separator) if quoted is None else quoted)
    cut = _cut(text.path, dialect)
    first = next((record for block in text.blocks(cut) for record in _block_records(text.path, block, dialect)), None)
    if first is None:
        raise FileError(text.path, "holds nothing, not even a header; copy or write it again")
    named = header if isinstance(header, bool) else header(first.cells)
    names = first.cells if named else [f"column_{number}" for number in range(1, len(first.cells) + 1)]
    if named:
        _check_names(text.path, first)
    reader = _BlockReader(text.path, dialect, first, named=named)
    kept = [place for place, name in enumerate(names) if not _UNNAMED.fullmatch(name)]
    spool = Spool()
    for block in text.blocks(cut):
        frame = reader.frame(block)
        spool.add(frame.select(pl.nth(place).alias(names[place]) for place in kept))
    schema = {names[place]: pl.String() for place in kept}

    def line(row: int) -> int:
        block, number = text.block_of(row, spool.heights, cut)
        return next(islice(reader.records(block), number, None)).line

    return Delimited(spool.rows(schema), named, dialect, line)


def csv_separator(content: bytes) -> str:
    """What separates the cells of a CSV: semicolons where the first line has some and no comma, outside quotes.

    Spreadsheets write them wherever the comma is the decimal mark; NaN-NLI was published so.
    """
    first = _QUOTED.sub(b"", content[:_HEADER].lstrip(b"\r\n")).split(b"\n", 1)[0]
    return ";" if b";" in first and b"," not in first else ","


def read_records(path: Path, content: bytes, *, dialect: Dialect, line: int = 1) -> Iterator[Record]:
    """The records of a text that begins on a line, one by one. Slow; knows where everything is."""
    pattern, separator = _cell_pattern(dialect), dialect.separator.encode()
    position, first = 0, line
    while position < len(content):
        if blank := _BLANK_LINES.match(content, position):
            line += content.count(b"\n", position, blank.end())
            position = blank.end()
            continue
        start, cells, then = position, list[str](), separator
        while then == separator:
            match = pattern.match(content, position)
            if match is None:
                raise _misquoted(path, content, position, first=first)
            quoted = match["quoted"] if dialect.quoted else None
            cells.append((match["plain"] if quoted is None else quoted.replace(b'""', b'"')).decode())
            if len(cells) > blocks.MAX_COLUMNS:
                raise FileError(path, f"has more than {blocks.MAX_COLUMNS:,} columns; keep those you need", line)
            then, position = match["then"], match.end()
        if content[start:position].strip(b"\r\n"):
            yield Record(line, cells, position)
        line += content.count(b"\n", start, position)


def _block_records(path: Path, block: Block, dialect: Dialect) -> Iterator[Record]:
    """The records of a block. What ends the text is no part of its last cell."""
    content = block.content.rstrip(b"\r\n") if block.is_last else block.content
    return read_records(path, content, dialect=dialect, line=block.line)


@cache
def _cell_pattern(dialect: Dialect) -> re.Pattern[bytes]:
    """A cell, quoted or plain, and what comes then."""
    separator = dialect.separator.encode()
    # A carriage return belongs to the cell unless the line ends right after it.
    cell = rb"(?P<plain>[^%b\r\n]*+(?:\r(?!\n|\Z)[^%b\r\n]*+)*+)" % (separator, separator)
    if dialect.quoted:
        cell = rb'(?:"(?P<quoted>%b)"|(?!")%b)' % (_INSIDE, cell)
    return re.compile(rb"%b(?P<then>%b|\r?\n|\r?\Z)" % (cell, separator))


def _misquoted(path: Path, content: bytes, position: int, *, first: int) -> FileError:
    line = content.count(b"\n", 0, position) + first
    if _QUOTED.match(content, position):
        problem = "text follows the closing quote of a cell; write a quote inside a quoted cell twice"
    else:
        problem = "a quote opens a cell here and none closes it; close it, or write a quote inside a quoted cell twice"
    return FileError(path, problem, line)


def _is_quoted(text: Text, separator: str) -> bool:
    """Whether quotes enclose cells. SNLI, MNLI and HANS begin cells with plain quotes; pandas quotes what needs it.

    A tab-separated text is quoted when all cells of its first line are; or when every quote in it encloses a cell or
    is doubled inside one, and besides either one is doubled or the lines have equally many cells only when read so.
    """
    if separator != "\t":
        return True
    if text.head.startswith(b'"') and _ALL_QUOTED.match(next(text.blocks(_quoted_end)).content.rstrip(b"\r\n")):
        return True
    if not text.has_quotes or _STRAY.search(text.head, 0, _GLANCE):
        return False
    doubled, widths, plain_widths = False, set[int](), set[int]()
    for block in text.blocks(_quoted_end):
        content = block.content.rstrip(b"\r\n")
        shape = _shape(content, Dialect(separator, quoted=True))
        if not shape.well_quoted:
            return False
        doubled |= shape.doubled
        widths |= _widths(shape)
        plain_widths |= _widths(_shape(content, Dialect(separator, quoted=False)))
    return doubled or (len(widths) < 2 <= len(plain_widths))


def _widths(shape: _BlockShape) -> set[int]:
    """How many cells the lines have that are not blank."""
    return set(np.unique(shape.widths[shape.widths > 0]).tolist())


def _cut(path: Path, dialect: Dialect) -> Cut:
    """Where the last whole record ends of a text that begins with one."""

    def record_end(content: bytes) -> int:
        end = _quoted_end(content)
        if end and _shape(content[:end].rstrip(b"\r\n"), dialect).well_quoted:
            return end
        # A quote inside a plain cell encloses nothing, so that counting quotes is of no use.
        lines, end = content[: line_end(content)], 0
        with suppress(FileError):
            for record in read_records(path, lines, dialect=dialect):
                end = record.end
        return end

    return record_end if dialect.quoted else line_end


def _quoted_end(content: bytes) -> int:
    """Where the last line ends that is followed by no quote or by an even number of quotes since the beginning."""
    text = np.frombuffer(content, dtype=np.uint8)
    feeds, quotes = np.flatnonzero(text == _LINE_FEED), np.flatnonzero(text == _QUOTE)
    outside = feeds[np.searchsorted(quotes, feeds) % 2 == 0]
    return int(outside[-1]) + 1 if len(outside) else 0


def _shape(content: bytes, dialect: Dialect) -> _BlockShape:
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
    return _BlockShape(well_quoted, doubled, widths.astype(np.int64))


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


@dataclass(frozen=True)
class _BlockReader:
    """Reads the blocks of a text whose first record is known."""

    path: Path
    dialect: Dialect
    first: Record
    named: bool
    """Whether the first record names the columns, so that it is no row."""

    def frame(self, block: Block) -> pl.DataFrame:
        """The rows of a block, as many columns wide as the first record."""
        frame = _fast_frame(block, self.dialect, start=self._start(block), width=len(self.first.cells))
        return self._slow_frame(block) if frame is None else frame

    def records(self, block: Block) -> Iterator[Record]:
        """The rows of a block with their lines."""
        return islice(_block_records(self.path, block, self.dialect), 1 if self._start(block) else 0, None)

    def _start(self, block: Block) -> int:
        """Where the rows of a block begin: after the names of the columns, where they stand in it."""
        if not self.named or block.line > self.first.line:
            return 0
        is_inside = block.is_last or self.first.line < block.line + block.content.count(b"\n")
        return self.first.end if is_inside else 0

    def _slow_frame(self, block: Block) -> pl.DataFrame:
        rows, width = list[list[str | None]](), len(self.first.cells)
        for record in self.records(block):
            if len(record.cells) != width:
                raise FileError(
                    self.path, _describe_ragged(record, width, dialect=self.dialect, named=self.named), record.line
                )
            rows.append([cell or None for cell in record.cells])
        return pl.DataFrame(rows, schema=_schema(width), orient="row")


def _schema(width: int) -> dict[str, type[pl.String]]:
    return {f"{number}": pl.String for number in range(width)}


def _fast_frame(block: Block, dialect: Dialect, *, start: int, width: int) -> pl.DataFrame | None:
    """The rows from byte ``start`` on, or None when the block has to be read cell by cell."""
    body = block.content[start:]
    body = body.rstrip(b"\r\n") if block.is_last else body.removesuffix(b"\n").removesuffix(b"\r")
    if not body:
        return pl.DataFrame(schema=_schema(width))
    # Polars drops a carriage return at the end of a cell, wherever the cell stands.
    if body.count(b"\r") != body.count(b"\r\n"):
        return None
    shape = _shape(body, dialect)
    if not shape.well_quoted or (shape.widths != width).any():
        return None
    try:
        frame = pl.read_csv(
            body,
            schema=_schema(width),
            has_header=False,
            separator=dialect.separator,
            quote_char='"' if dialect.quoted else None,
            null_values=[""],
        )
    except pl.exceptions.PolarsError:
        return None
    return frame if frame.height == len(shape.widths) else None


def _describe_ragged(record: Record, width: int, *, dialect: Dialect, named: bool) -> str:
    cells = f"{len(record.cells)} cell{'s' if len(record.cells) != 1 else ''}"
    first = "header" if named else "first line"
    if len(record.cells) < width:
        advice = "complete or remove the line: even an empty cell needs its separator"
    elif dialect.quoted:
        advice = "put a cell that holds the separator in double quotes"
    else:
        advice = "remove the tabs inside cells"
    return f"{cells} between {_MARKS[dialect.separator]} where the {first} has {width}; {advice}"


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
