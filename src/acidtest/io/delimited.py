"""Read comma- and tab-separated text into frames of strings; errors name the line.

A text is read block by block: a well-formed block by Polars, any other cell by cell. NumPy checks the bytes of a block
first, because Polars pads short lines and turns blank lines into rows without warning.
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

_STRAY_SEARCH_BYTES = 1 << 20
"""How many bytes are searched for a stray quote before the whole text is examined."""

_HEADER_BYTES = 1 << 16
"""How many bytes are searched for a header."""

_SEPARATOR_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs"}

_UNNAMED = re.compile(r"\s*(?:Unnamed: \d+\s*)?")
"""A header cell without a name: blank, or what pandas writes instead."""

_QUOTED_CONTENT = rb'(?:[^"]++|"")*+'
_QUOTED_CELL = re.compile(rb'"%b"' % _QUOTED_CONTENT)
_BLANK_LINES = re.compile(rb"[\r\n]*\n")
_STRAY_QUOTE = re.compile(rb'[^\t\n"]"[^\t\r\n"]')
_ALL_QUOTED_LINE = re.compile(rb'"%b"(?:\t"%b")*+\r?(?:\n|\Z)' % (_QUOTED_CONTENT, _QUOTED_CONTENT))


@dataclass(frozen=True)
class Dialect:
    """What separates the cells of a text, and whether quotes may enclose them."""

    separator: str
    quoted: bool


@dataclass(frozen=True)
class Delimited:
    """What was read: rows of strings, whether the first line named their columns, and the dialect."""

    rows: Rows
    header: bool
    dialect: Dialect
    line: Callable[[int], int]
    """Returns the line on which a row begins, by reading the text again."""


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
    """The table in a text. Empty cells are null; blank lines and columns without a name are left out.

    Without a header the columns are ``column_1``, ``column_2`` … If ``quoted`` is None, tab-separated text is
    examined for quoted cells, and any other text may have them.
    """
    dialect = Dialect(separator, _is_quoted(text, separator) if quoted is None else quoted)
    cut = _make_cut(text.path, dialect)
    first = next((record for block in text.blocks(cut) for record in _block_records(text.path, block, dialect)), None)
    if first is None:
        raise FileError(text.path, "holds nothing, not even a header; copy or write it again")
    named = header if isinstance(header, bool) else header(first.cells)
    names = first.cells if named else [f"column_{number}" for number in range(1, len(first.cells) + 1)]
    if named:
        _check_names(text.path, first)
    reader = _BlockReader(text.path, dialect, first, named=named)
    named_places = [place for place, name in enumerate(names) if not _UNNAMED.fullmatch(name)]
    spool = Spool()
    for block in text.blocks(cut):
        frame = reader.frame(block)
        spool.add(frame.select(pl.nth(place).alias(names[place]) for place in named_places))
    schema = {names[place]: pl.String() for place in named_places}

    def line(row: int) -> int:
        block, number = text.block_of(row, spool.heights, cut)
        return next(islice(reader.records(block), number, None)).line

    return Delimited(spool.rows(schema), named, dialect, line)


def csv_separator(content: bytes) -> str:
    """What separates the cells of a CSV: semicolons where the first line has some and no comma, outside quotes.

    Spreadsheets write semicolons in languages with a decimal comma; NaN-NLI was published in this form.
    """
    first_line = _QUOTED_CELL.sub(b"", content[:_HEADER_BYTES].lstrip(b"\r\n")).split(b"\n", 1)[0]
    return ";" if b";" in first_line and b"," not in first_line else ","


def read_records(path: Path, content: bytes, *, dialect: Dialect, line: int = 1) -> Iterator[Record]:
    """The records of a text, read cell by cell (slow) to know their lines; the text begins on ``line``."""
    pattern, separator = _cell_pattern(dialect), dialect.separator.encode()
    position, first_line = 0, line
    while position < len(content):
        if blank := _BLANK_LINES.match(content, position):
            line += content.count(b"\n", position, blank.end())
            position = blank.end()
            continue
        start, cells, delimiter = position, list[str](), separator
        while delimiter == separator:
            match = pattern.match(content, position)
            if match is None:
                raise _quoting_error(path, content, position, first_line=first_line)
            quoted = match["quoted"] if dialect.quoted else None
            cells.append((match["plain"] if quoted is None else quoted.replace(b'""', b'"')).decode())
            if len(cells) > blocks.MAX_COLUMNS:
                raise FileError(path, f"has more than {blocks.MAX_COLUMNS:,} columns; keep those you need", line)
            delimiter, position = match["then"], match.end()
        if content[start:position].strip(b"\r\n"):
            yield Record(line, cells, position)
        line += content.count(b"\n", start, position)


def _block_records(path: Path, block: Block, dialect: Dialect) -> Iterator[Record]:
    """The records of a block; line ends at the end of the text are not part of its last cell."""
    content = block.content.rstrip(b"\r\n") if block.is_last else block.content
    return read_records(path, content, dialect=dialect, line=block.line)


@cache
def _cell_pattern(dialect: Dialect) -> re.Pattern[bytes]:
    """The pattern of a cell, quoted or plain, and of the separator or line end after it."""
    separator = dialect.separator.encode()
    # A carriage return belongs to the cell unless the line ends right after it.
    cell = rb"(?P<plain>[^%b\r\n]*+(?:\r(?!\n|\Z)[^%b\r\n]*+)*+)" % (separator, separator)
    if dialect.quoted:
        cell = rb'(?:"(?P<quoted>%b)"|(?!")%b)' % (_QUOTED_CONTENT, cell)
    return re.compile(rb"%b(?P<then>%b|\r?\n|\r?\Z)" % (cell, separator))


def _quoting_error(path: Path, content: bytes, position: int, *, first_line: int) -> FileError:
    line = content.count(b"\n", 0, position) + first_line
    if _QUOTED_CELL.match(content, position):
        problem = "text follows the closing quote of a cell; write a quote inside a quoted cell twice"
    else:
        problem = "a quote opens a cell here and none closes it; close it, or write a quote inside a quoted cell twice"
    return FileError(path, problem, line)


def _is_quoted(text: Text, separator: str) -> bool:
    """Whether quotes enclose cells, as pandas writes them, or are part of the text, as in SNLI, MNLI and HANS.

    Tab-separated text is quoted if all cells of its first line are. Otherwise every quote must enclose a cell or be
    doubled inside one, and there must be evidence: a doubled quote, or lines that have the same number of cells only
    if quotes enclose cells.
    """
    if separator != "\t":
        return True
    if text.head.startswith(b'"') and _ALL_QUOTED_LINE.match(next(text.blocks(_quoted_end)).content.rstrip(b"\r\n")):
        return True
    if not text.has_quotes or _STRAY_QUOTE.search(text.head, 0, _STRAY_SEARCH_BYTES):
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
    """The different numbers of cells in lines that are not blank."""
    return set(np.unique(shape.widths[shape.widths > 0]).tolist())


def _make_cut(path: Path, dialect: Dialect) -> Cut:
    """A function that finds the end of the last whole record in text that begins with a record."""

    def record_end(content: bytes) -> int:
        end = _quoted_end(content)
        if end and _shape(content[:end].rstrip(b"\r\n"), dialect).well_quoted:
            return end
        # Quotes inside plain cells enclose nothing, so counting quotes does not help: read the records.
        lines, end = content[: line_end(content)], 0
        with suppress(FileError):
            for record in read_records(path, lines, dialect=dialect):
                end = record.end
        return end

    return record_end if dialect.quoted else line_end


def _quoted_end(content: bytes) -> int:
    """The end of the last line that ends after an even number of quotes, hence outside quotes; 0 without one."""
    text = np.frombuffer(content, dtype=np.uint8)
    feeds, quotes = np.flatnonzero(text == _LINE_FEED), np.flatnonzero(text == _QUOTE)
    outside = feeds[np.searchsorted(quotes, feeds) % 2 == 0]
    return int(outside[-1]) + 1 if len(outside) else 0


def _shape(content: bytes, dialect: Dialect) -> _BlockShape:
    """The shape of a text that does not end in a line end."""
    # A line feed is added at both ends, so that every quote has a neighbour on both sides.
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
    well_quoted, doubled = _check_quoting(text, places[kinds == _QUOTE], separator) if dialect.quoted else (True, False)
    return _BlockShape(well_quoted, doubled, widths.astype(np.int64))


def _check_quoting(text: npt.NDArray[np.uint8], quotes: npt.NDArray[np.intp], separator: int) -> tuple[bool, bool]:
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
    """Whether the first record is a header and not a row."""

    def frame(self, block: Block) -> pl.DataFrame:
        """The rows of a block, with as many columns as the first record has cells."""
        frame = _fast_frame(block, self.dialect, start=self._start(block), width=len(self.first.cells))
        return self._slow_frame(block) if frame is None else frame

    def records(self, block: Block) -> Iterator[Record]:
        """The rows of a block with their lines."""
        return islice(_block_records(self.path, block, self.dialect), 1 if self._start(block) else 0, None)

    def _start(self, block: Block) -> int:
        """The byte at which the rows of a block begin: after the header, if the block contains it."""
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
    # Polars drops a carriage return at the end of any cell, not only of the last in a line.
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
    return f"{cells} between {_SEPARATOR_NAMES[dialect.separator]} where the {first} has {width}; {advice}"


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
