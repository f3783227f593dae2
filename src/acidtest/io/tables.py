"""Read and write tables in files; the ending of the file name decides the format."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import IO, TypeVar

import polars as pl

from acidtest.core.errors import FileError
from acidtest.core.escaping import escape_cells, unescape_cells
from acidtest.core.files import chunks, read_bounded, replace_file, require_file
from acidtest.core.suite import sink_rows, visit_batches
from acidtest.io.blocks import begins_with, scan_text, utf8_text
from acidtest.io.delimited import Dialect, Header, csv_separator, read_delimited
from acidtest.io.jsonlines import AS_LINES, array_line, read_json_array, read_json_lines
from acidtest.io.rows import Rows, memory_rows, parquet_metadata, parquet_rows

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
_SAMPLES = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"samples"\s*:\s*\[')
_SAMPLES_END = re.compile(rb"\]\s*\}\s*\Z")
"""What stands around the array of a file such as those of FaithBench."""
_JSON_ENDINGS = (".jsonl", ".ndjson", ".json")
_READ_ENDINGS = (".parquet", *_JSON_ENDINGS, *_SEPARATORS)
_WRITE_ENDINGS = (".parquet", ".jsonl", ".csv", ".tsv")
_STEM_ENDINGS = (".gz", *_READ_ENDINGS, ".xml")

ENDINGS = (*_READ_ENDINGS, *(f"{ending}.gz" for ending in _READ_ENDINGS[1:]))
"""The endings of files that can be read."""

MAX_ARRAY_BYTES = 128 * 2**20
"""The largest file that may be a single JSON array, which is read into memory at once."""

_Frame = TypeVar("_Frame", pl.DataFrame, pl.LazyFrame)
_OpenOutput = Callable[[], AbstractContextManager[IO[bytes]]]


@dataclass(frozen=True)
class Origin:
    """A file that holds one column of a table, and a digest of its content."""

    path: Path
    fingerprint: str


@dataclass(frozen=True)
class FileTable:
    """Rows and the file they were read from."""

    path: Path
    rows: Rows
    header: bool = True
    """Whether the file names its columns; false only for delimited text read without a header."""
    dialect: Dialect | None = None
    """How delimited text is written; None for JSON and Parquet."""
    fingerprint: str = ""
    """A digest of the (unpacked) content."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """The key–value metadata of a Parquet file."""
    line: Callable[[int], int | None] = field(default=lambda _: None)
    """Returns the line on which a row begins, if necessary by reading the file again; None for Parquet."""
    origins: Mapping[str, Origin] = field(default_factory=dict)
    """The file of each column, if the columns come from separate files."""
    name: str = ""
    """The name of the table; empty: the ``stem`` of the file."""

    @cached_property
    def frame(self) -> pl.DataFrame:
        """All rows, in memory."""
        return self.rows.collected()

    @property
    def written_frame(self) -> pl.DataFrame:
        """All rows as they were passed to ``write_table``: in delimited text, the ``'`` before formulas is removed.

        Use it only for files of a kind that acidtest writes; in others a leading ``'`` is part of the text.
        """
        return remove_formula_prefix(self.frame) if self.dialect else self.frame

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.rows.schema)

    @property
    def sources(self) -> dict[str, str]:
        """The fingerprint of every file that the table was read from, by file name."""
        origins = {origin.path.name: origin.fingerprint for origin in self.origins.values()}
        return origins or {self.path.name: self.fingerprint}

    def file(self, column: str) -> Path:
        """The file a column was read from."""
        return self.origins[column].path if column in self.origins else self.path


def read_table(path: str | Path, *, header: Header = True, quoted: bool | None = None) -> FileTable:
    """The table in a Parquet, JSON, comma- or tab-separated file; text formats may be compressed with gzip.

    JSON and Parquet keep their types; delimited text gives strings only, and an empty cell is null. If ``header`` is
    false, or is a function that returns false for the cells of the first line, delimited text has no header, and its
    columns are called ``column_1``, ``column_2`` … The content decides whether quotes enclose the cells of
    tab-separated text (if ``quoted`` is None), whether a ``.json`` is an array, also as ``samples`` of one object, or
    has an object a line, whether semicolons take the place of commas, and whether a ``.txt``
    holds JSON lines (as SciTail's do) or tab-separated text. Columns without a name (an index, a spacer) are left out.
    Large tables are not kept in memory, unless they are one JSON array. A column whose name Polars would read as a
    pattern, such as ``*``, is renamed.
    """
    path = Path(path)
    require_file(path)
    table = _read(path, header=header, quoted=quoted)
    return replace(table, rows=table.rows.without_patterns())


def _read(path: Path, *, header: Header, quoted: bool | None) -> FileTable:
    ending = _ending(path, _READ_ENDINGS)
    if ending == ".parquet":
        rows = parquet_rows(path)
        return FileTable(path, rows, fingerprint=file_digest(path), metadata=parquet_metadata(path))
    if ending == ".json":
        with closing(chunks(path)) as pieces:
            head = next(pieces, b"")
        if begins_with(head, b"[") or _SAMPLES.match(head):
            return _read_array(path)
    text = scan_text(path)
    if ending in _JSON_ENDINGS or (ending == ".txt" and begins_with(text.head, b"{")):
        rows, line = read_json_lines(text)
        return FileTable(path, rows, fingerprint=text.fingerprint, line=line)
    # The scripts released with HANS write predictions with commas into a .txt.
    is_csv = ending == ".csv" or (ending == ".txt" and not text.has_tabs and b"," in text.head.split(b"\n", 1)[0])
    separator = csv_separator(text.head) if is_csv else _SEPARATORS[ending]
    content = read_delimited(text, separator=separator, header=header, quoted=quoted)
    return FileTable(path, content.rows, content.header, content.dialect, text.fingerprint, line=content.line)


def write_table(
    frame: pl.DataFrame | pl.LazyFrame, path: str | Path, *, metadata: Mapping[str, str] | None = None
) -> None:
    """Write a frame to a file, completely or not at all; only Parquet stores ``metadata``.

    In delimited text, null and the empty string are both an empty cell, lists are written as JSON, and a text cell that
    a spreadsheet would run as a formula gets a ``'`` in front (``remove_formula_prefix`` removes it). NaN is null in
    JSON. A lazy frame is written batch by batch, so it may be larger than memory.
    """
    path, rows = Path(path), frame.lazy()
    ending = _ending(path, _WRITE_ENDINGS)
    with replace_file(path) as temporary:
        if ending == ".parquet":
            sink_rows(rows, temporary, metadata or {})
            return
        open_output = partial(_open_output, temporary, packed=path.suffix == ".gz")
        if ending == ".jsonl":
            with open_output() as file:
                visit_batches(rows, lambda batch: file.write(batch.write_ndjson().encode()))
        elif "\0" in _write_delimited(rows, open_output, separator=_SEPARATORS[ending]):
            raise FileError(path, "a cell holds a NUL character, which no text file may; use .jsonl or .parquet")


def stem(path: str | Path) -> str:
    """The name of a table's file without its endings: ``snli_1.0_dev`` for ``snli_1.0_dev.jsonl.gz``."""
    name = Path(path).name
    for ending in _STEM_ENDINGS:
        if name.lower().endswith(ending):
            name = name[: -len(ending)]
    return name


def is_delimited(path: str | Path) -> bool:
    """Whether a table written to a file of this name is comma- or tab-separated text."""
    return _ending(Path(path), _WRITE_ENDINGS) in _SEPARATORS


def remove_formula_prefix(frame: _Frame) -> _Frame:
    """The frame without the ``'`` that ``write_table`` put in front of formulas."""
    return unescape_cells(frame)


def is_opaque(dtype: object) -> bool:
    """Whether values of a type, such as images and durations in Parquet, cannot be written as text."""
    if isinstance(dtype, pl.Struct):
        return any(is_opaque(field.dtype) for field in dtype.fields)
    if isinstance(dtype, pl.List | pl.Array):
        return is_opaque(dtype.inner)
    return isinstance(dtype, pl.Binary | pl.Duration)


def flatten(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with lists and other nested values as JSON, and categories as strings."""
    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    return frame.with_columns(_as_json(name) for name in nested).with_columns(
        pl.col(pl.Categorical, pl.Enum).cast(pl.String)
    )


def _read_array(path: Path) -> FileTable:
    content = read_bounded(path, MAX_ARRAY_BYTES, remedy=f"the most of one JSON array; {AS_LINES}")
    text = _unwrap_samples(utf8_text(path, content))
    frame = read_json_array(path, text).with_columns(pl.col(pl.Null).cast(pl.String))
    fingerprint = blake2b(content, digest_size=8).hexdigest()
    return FileTable(path, memory_rows(frame), fingerprint=fingerprint, line=partial(array_line, text))


def _unwrap_samples(text: bytes) -> bytes:
    """The array in an object with the one key ``samples``, on the same lines; any other text as it is."""
    start, end = _SAMPLES.match(text), _SAMPLES_END.search(text)
    if not start or not end:
        return text
    return b"\n" * start[0].count(b"\n") + text[start.end() - 1 : end.start() + 1]


def file_digest(*paths: Path) -> str:
    """The digest of the concatenated content of files."""
    digest = blake2b(digest_size=8)
    for path in paths:
        for chunk in chunks(path):
            digest.update(chunk)
    return digest.hexdigest()


def _ending(path: Path, known: Sequence[str]) -> str:
    """The ending that says a file's format, without ``.gz``."""
    packed = path.suffix == ".gz"
    ending = Path(path.stem if packed else path.name).suffix.lower()
    if ending in known and not (packed and ending == ".parquet"):
        return ending
    ending = f"{ending}.gz" if packed else ending
    problem = f"the ending {ending} is not among those known" if ending else "has no ending that says its format"
    choice = f"{', '.join(known[:-1])} or {known[-1]}"
    raise FileError(path, f"{problem}; use {choice}, the text ones also with .gz")


def _write_delimited(rows: pl.LazyFrame, open_output: _OpenOutput, *, separator: str) -> set[str]:
    """Write the table, again with a quoted header if ``read_table`` would misread it; return the marks that occur.

    In tab-separated text, ``read_table`` may take quotes around cells for text if no quote is doubled; in a CSV, it
    would split a single column whose name contains a semicolon. Quotes around every name in the header prevent both.
    """
    names = escape_cells(flatten(pl.DataFrame(schema=rows.collect_schema())))
    header = names.write_csv(separator=separator)
    marks = _write_cells(rows, open_output, header=header, separator=separator)
    if separator == ",":
        misleading = names.width == 1 and ";" in header
    else:
        misleading = '"' in marks and ('""' not in marks or names.width == 1)
    if misleading:
        header = names.write_csv(separator=separator, quote_style="always")
        _write_cells(rows, open_output, header=header, separator=separator)
    return marks


def _write_cells(rows: pl.LazyFrame, open_output: _OpenOutput, *, header: str, separator: str) -> set[str]:
    """Write a header and the cells; return which of NUL, a quote and a doubled quote occur in them."""
    marks = set[str]()
    with open_output() as file:

        def append(text: str) -> None:
            marks.update(mark for mark in ("\0", '"', '""') if mark in text)
            file.write(text.encode())

        append(header)
        visit_batches(rows, lambda batch: append(_format_cells(batch, separator)))
    return marks


def _format_cells(batch: pl.DataFrame, separator: str) -> str:
    frame = escape_cells(flatten(batch))
    # A blank line is not a row, so in a single column an empty cell is written as quotes; elsewhere as nothing.
    empty_cells = pl.col(pl.String).fill_null("") if frame.width == 1 else pl.col(pl.String).replace("", None)
    return frame.with_columns(empty_cells).write_csv(separator=separator, include_header=False)


@contextmanager
def _open_output(path: Path, *, packed: bool) -> Iterator[IO[bytes]]:
    """A file to write to; equal content gives equal gzip data, without file name, time or operating system."""
    with path.open("wb") as file:
        if not packed:
            yield file
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed_file:
            yield packed_file  # type: ignore[misc]


def _as_json(name: str) -> pl.Expr:
    # Polars encodes only structs as JSON: wrap the column in one, and strip the wrapper from the text.
    wrapped = pl.struct(pl.col(name).alias("v")).struct.json_encode()
    return pl.when(pl.col(name).is_not_null()).then(wrapped.str.strip_prefix('{"v":').str.strip_suffix("}")).alias(name)
