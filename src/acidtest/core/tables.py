"""Tables in files of every format we read and write, by the ending of their name."""

from __future__ import annotations

import gzip
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import polars as pl

from acidtest.core.delimited import Dialect, Header, csv_separator, delimited, record_line
from acidtest.core.errors import FileError
from acidtest.core.files import read_bytes, replacing
from acidtest.core.jsonlines import array_line, is_array, is_object, json_array, json_lines, object_line

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
_JSON = (".jsonl", ".ndjson", ".json")
_READ = (".parquet", *_JSON, *_SEPARATORS)
_WRITTEN = (".parquet", ".jsonl", ".csv", ".tsv")
_NAMED = (".gz", *_READ, ".xml")

ENDINGS = (*_READ, *(f"{ending}.gz" for ending in _READ[1:]))
"""How the name of a file that can be read ends."""

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16 = "is UTF-16 text; save it as UTF-8, for example with: iconv -f UTF-16 -t UTF-8 OLD > NEW"
_FOREIGN = {
    b"\xff\xfe": _UTF16,
    b"\xfe\xff": _UTF16,
    b"\x1f\x8b": "is gzip data; end its name in .gz",
    b"PAR1": "is a Parquet file; end its name in .parquet",
    b"PK\x03\x04": "is a zip archive or a spreadsheet; unpack it or export it as .csv",
}
"""How files that are not UTF-8 text begin, and what to do with them."""

_FORMULA = r"^('*[=+\-@\t\r])"
_PREFIXED_FORMULA = r"^'('*[=+\-@\t\r])"


@dataclass(frozen=True)
class Origin:
    """A file that holds one column of a table, and a digest of its content."""

    path: Path
    fingerprint: str


@dataclass(frozen=True)
class Table:
    """A frame and the file it was read from."""

    path: Path
    frame: pl.DataFrame
    header: bool = True
    """Whether the file names its columns; false only for delimited text read without a header."""
    dialect: Dialect | None = None
    """How delimited text is written; None for JSON and Parquet."""
    fingerprint: str = ""
    """A digest of the (unpacked) content."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """The key–value metadata of a Parquet file."""
    lines: Sequence[int] | None = None
    """The line of each row, from a reader that keeps them; the others find them when asked."""
    origins: Mapping[str, Origin] = field(default_factory=dict)
    """The file of each column, where every column lies in its own."""
    name: str = ""
    """What to call it where the name of the file does not say; empty: the ``stem`` of the file."""

    @property
    def sources(self) -> dict[str, str]:
        """The fingerprint of every file it was read from, by name."""
        origins = {origin.path.name: origin.fingerprint for origin in self.origins.values()}
        return origins or {self.path.name: self.fingerprint}

    def file(self, column: str) -> Path:
        """The file a column was read from."""
        return self.origins[column].path if column in self.origins else self.path

    def line(self, row: int) -> int | None:
        """The line on which a row of the frame begins, found by reading the file again; None in Parquet."""
        if self.lines is not None:
            return self.lines[row]
        ending = _ending(self.path, _READ)
        if ending == ".parquet":
            return None
        content = utf8_text(self.path, read_bytes(self.path))
        if self.dialect:
            return record_line(self.path, content, dialect=self.dialect, record=row + self.header)
        return array_line(content, row) if _is_array(ending, content) else object_line(self.path, content, row=row)


def read_table(path: str | Path, *, header: Header = True, quoted: bool | None = None) -> Table:
    """The table in a Parquet, JSON, comma- or tab-separated file, the text ones also packed with gzip.

    JSON and Parquet keep their types; delimited text gives strings only, an empty cell is null. ``header`` false, or a
    function that says so of the cells of the first line: there are no names in delimited text, columns become
    ``column_1``, ``column_2`` … ``quoted`` None: whether quotes enclose the cells of tab-separated text is decided by
    evidence. So it is whether semicolons stand for the commas, and whether a ``.txt`` holds JSON lines (as SciTail's
    do) or tab-separated text. Columns without a name (an index, a spacer) are left out.
    """
    path = Path(path)
    if path.is_dir():
        raise FileError(path, "is a folder; a file was expected")
    ending = _ending(path, _READ)
    content = read_bytes(path)
    fingerprint = blake2b(content, digest_size=8).hexdigest()
    if ending == ".parquet":
        frame, metadata = _parquet(path, content)
        return Table(path, _strings_for_nulls(frame), fingerprint=fingerprint, metadata=metadata)
    text = utf8_text(path, content)
    if ending in _JSON or (ending == ".txt" and is_object(text)):
        frame = json_array(path, text) if _is_array(ending, text) else json_lines(path, text)
        return Table(path, _strings_for_nulls(frame), fingerprint=fingerprint)
    # The scripts released with HANS write predictions with commas into a .txt.
    is_csv = ending == ".csv" or (ending == ".txt" and b"\t" not in text and b"," in text.split(b"\n", 1)[0])
    separator = csv_separator(text) if is_csv else _SEPARATORS[ending]
    found = delimited(path, text, separator=separator, header=header, quoted=quoted)
    return Table(path, found.frame, found.header, found.dialect, fingerprint)


def write_table(frame: pl.DataFrame, path: str | Path, *, metadata: Mapping[str, str] | None = None) -> None:
    """Write a frame, format by ending, whole or not at all; ``metadata`` goes into Parquet and nowhere else.

    Delimited text: null and the empty string are both an empty cell; text cells that a spreadsheet would run as a
    formula get a ``'`` in front (``unprefixed`` takes it away); lists are written as JSON. NaN is null in JSON.
    """
    path = Path(path)
    ending = _ending(path, _WRITTEN)
    with replacing(path) as temporary:
        if ending == ".parquet":
            frame.write_parquet(temporary, metadata=dict(metadata or {}))
        else:
            text = frame.write_ndjson() if ending == ".jsonl" else _delimited_text(path, frame, _SEPARATORS[ending])
            content = text.encode()
            temporary.write_bytes(_packed(content) if path.suffix == ".gz" else content)


def stem(path: str | Path) -> str:
    """The name of a table's file without its endings: ``snli_1.0_dev`` for ``snli_1.0_dev.jsonl.gz``."""
    name = Path(path).name
    for ending in _NAMED:
        if name.lower().endswith(ending):
            name = name[: -len(ending)]
    return name


def unprefixed(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame without the ``'`` that ``write_table`` put in front of formulas."""
    return _replaced(frame, _PREFIXED_FORMULA, "$1")


def flat(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with lists and other nested values as JSON, and categories as strings."""
    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    return frame.with_columns(_as_json(name) for name in nested).with_columns(
        pl.col(pl.Categorical, pl.Enum).cast(pl.String)
    )


def utf8_text(path: Path, content: bytes) -> bytes:
    """The content of a file without a byte order mark, once it is known to be UTF-8 text."""
    for start, advice in _FOREIGN.items():
        if content.startswith(start):
            raise FileError(path, advice)
    content = content.removeprefix(_UTF8_MARK)
    _check_utf8(path, content)
    if b"\0" in content[:2]:
        raise FileError(path, _UTF16)
    if (place := content.find(b"\0")) >= 0:
        line = content.count(b"\n", 0, place) + 1
        raise FileError(path, "holds a NUL byte, as no text does; the file is damaged: copy it again or mend it", line)
    if b"\r" in content and b"\n" not in content:
        advice = r"save it with \n line ends, for example with: tr '\r' '\n' < OLD > NEW"
        raise FileError(path, f"its lines end in a carriage return alone; {advice}")
    return content


def _ending(path: Path, known: Sequence[str]) -> str:
    """The ending that says a file's format, without ``.gz``."""
    packed = path.suffix == ".gz"
    ending = Path(path.stem if packed else path.name).suffix.lower()
    if ending in known and not (packed and ending == ".parquet"):
        return ending
    found = f"{ending}.gz" if packed else ending
    problem = f"the ending {found} is not among those known" if found else "has no ending that says its format"
    choice = f"{', '.join(known[:-1])} or {known[-1]}"
    raise FileError(path, f"{problem}; use {choice}, the text ones also with .gz")


def _is_array(ending: str, text: bytes) -> bool:
    return ending == ".json" and is_array(text)


def _parquet(path: Path, content: bytes) -> tuple[pl.DataFrame, dict[str, str]]:
    try:
        return pl.read_parquet(io.BytesIO(content)), pl.read_parquet_metadata(io.BytesIO(content))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        said = str(error).splitlines()[0]
        raise FileError(path, f"is not a whole Parquet file ({said}); copy it again or write it anew") from error


def _strings_for_nulls(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col(pl.Null).cast(pl.String))


def _check_utf8(path: Path, content: bytes) -> None:
    if content.isascii():
        return
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        if error.reason == "unexpected end of data":
            raise FileError(path, "ends in the middle of a character; it is incomplete, copy it again", line) from error
        place = error.start - content.rfind(b"\n", 0, error.start)
        advice = "save the file as UTF-8, for example with: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW"
        problem = f"byte {place} of the line, 0x{content[error.start]:02x}, is not UTF-8; {advice}"
        raise FileError(path, problem, line) from error


def _delimited_text(path: Path, frame: pl.DataFrame, separator: str) -> str:
    frame = _replaced(flat(frame), _FORMULA, "'$1")
    # A line must not be blank; elsewhere an empty cell is not worth quotes.
    missing = pl.col(pl.String).fill_null("") if frame.width == 1 else pl.col(pl.String).replace("", None)
    frame = frame.with_columns(missing)
    header = frame.clear().write_csv(separator=separator)
    body = frame.write_csv(separator=separator, include_header=False)
    if "\0" in header or "\0" in body:
        raise FileError(path, "a cell holds a NUL character, which no text file may; use .jsonl or .parquet")
    if _misleading(header, body, separator=separator, width=frame.width):
        header = frame.clear().write_csv(separator=separator, quote_style="always")
    return header + body


def _misleading(header: str, body: str, *, separator: str, width: int) -> bool:
    """Whether a reader could take quotes around cells for part of them, because none is doubled, or one cell for more.

    Quotes around every name in the header are evidence enough.
    """
    if separator == ",":
        return width == 1 and ";" in header
    return '"' in header + body and ('""' not in header + body or width == 1)


def _as_json(name: str) -> pl.Expr:
    # Polars writes JSON of structs only: make one of the column and take its wrapping off.
    wrapped = pl.struct(pl.col(name).alias("v")).struct.json_encode()
    return pl.when(pl.col(name).is_not_null()).then(wrapped.str.strip_prefix('{"v":').str.strip_suffix("}")).alias(name)


def _replaced(frame: pl.DataFrame, pattern: str, replacement: str) -> pl.DataFrame:
    """The frame with a pattern replaced in all strings and in the names of the columns."""
    names = pl.Series(frame.columns, dtype=pl.String).str.replace(pattern, replacement)
    cells = frame.with_columns(pl.col(pl.String).str.replace(pattern, replacement))
    return cells.rename(dict(zip(frame.columns, names, strict=True)))


def _packed(content: bytes) -> bytes:
    """Gzip data that depend on nothing but the content: no name, no time, no operating system."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as file:
        file.write(content)
    return buffer.getvalue()
