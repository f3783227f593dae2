"""The rows of a table: in memory when they are few, in a temporary file or in Parquet files when they are many."""

from __future__ import annotations

import io
import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
from polars.selectors import by_name

from acidtest.core.errors import AcidtestError, FileError, list_some
from acidtest.core.suite import is_pattern, sink_rows, stream_frame
from acidtest.io import blocks

MAX_MEMORY_BYTES = 12 << 20
"""The most bytes of rows that are kept in memory; with more, all are on disk."""

_NOT_UTF8 = "invalid UTF-8"
"""What Polars says of a text column of Parquet with other bytes."""

Schema = Mapping[str, Any]
"""The names of columns and their Polars types."""

MOST_ROWS = 1 << 18
"""The most rows of one of several Parquet files that we write."""

NUMBERED = re.compile(r"(?P<split>.+)-(?P<number>\d{5})-of-(?P<total>\d{5})\.parquet", re.IGNORECASE)
"""How data-set hubs name the files of a split: ``test-00000-of-00007.parquet``."""

_STEP = 1 << 16
"""How many rows of a Parquet file are read at once, at most."""


@dataclass(frozen=True)
class Rows:
    """Rows that can be read any number of times, piece by piece."""

    schema: Schema
    height: int
    read: Callable[[Sequence[str]], Iterator[pl.DataFrame]]
    """Reads the rows in order, piece by piece, with the given columns only."""
    frame: pl.DataFrame | None = None
    """All of them, where they are in memory."""

    def batches(self, *columns: str) -> Iterator[pl.DataFrame]:
        """The rows piece by piece, with all columns or with some."""
        return self.read(columns or tuple(self.schema))

    def lazy(self) -> pl.LazyFrame:
        """The rows as a lazy frame; their source is kept as long as any frame made from it."""
        return stream_frame(self.read, self.schema) if self.frame is None else self.frame.lazy()

    def collected(self) -> pl.DataFrame:
        """The rows in memory."""
        if self.frame is not None:
            return self.frame
        return pl.concat([pl.DataFrame(schema=self.schema), *self.batches()])

    def select(self, names: Sequence[str]) -> Rows:
        """The same rows with some of their columns."""
        schema = {name: self.schema[name] for name in names}
        return replace(self, schema=schema, frame=None if self.frame is None else self.frame[list(names)])

    def without_patterns(self) -> Rows:
        """The same rows; columns called ``*`` or ``^…$``, patterns to Polars, get the prefix ``source_``."""
        if not any(map(is_pattern, self.schema)):
            return self
        former = dict[str, str]()
        for name in self.schema:
            new = f"source_{name}" if is_pattern(name) else name
            while new != name and (new in self.schema or new in former):
                new += "_"
            former[new] = name

        def read(columns: Sequence[str]) -> Iterator[pl.DataFrame]:
            return (_with_names(part, columns) for part in self.read([former[name] for name in columns]))

        schema = {new: self.schema[name] for new, name in former.items()}
        return Rows(schema, self.height, read, None if self.frame is None else _with_names(self.frame, list(schema)))


def _with_names(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    frame = frame.clone()
    frame.columns = list(names)
    return frame


def memory_rows(frame: pl.DataFrame) -> Rows:
    """Rows that are in memory."""
    return Rows(frame.schema, frame.height, lambda columns: iter([frame[list(columns)]]), frame)


def parquet_rows(path: Path, *, in_memory: bool = True) -> Rows:
    """The rows of a Parquet file, kept in memory when they are few and otherwise read again for every use.

    With ``in_memory`` false they are read again, however few they are.
    """
    with _name_in_errors(path):
        scan = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        # A column of nothing but nulls has no type; a dictionary of categories is text, stored compactly.
        schema = {
            name: pl.String() if isinstance(dtype, pl.Null | pl.Categorical | pl.Enum) else dtype
            for name, dtype in scan.collect_schema().items()
        }
        if len(schema) > blocks.MAX_COLUMNS:
            raise FileError(path, f"has {len(schema):,} columns; keep those you need, at most {blocks.MAX_COLUMNS:,}")
        height = scan.select(pl.len()).collect().item()
    stamp = _stamp(path)

    def read(columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        # About a block at a time, however large the row groups of the file are.
        start, step = 0, min(_STEP, 1 << 10)
        while start < height:
            if _stamp(path) != stamp:
                raise FileError(path, "was changed after it was loaded; load it again")
            with _name_in_errors(path, columns):
                part = scan.select(by_name(*columns)).slice(start, step).collect()
            yield _cast(part, {name: schema[name] for name in columns})
            start += step
            step = max(1, min(_STEP, step * blocks.BLOCK // max(1, int(part.estimated_size()))))

    kept, size = [pl.DataFrame(schema=schema)], 0
    for part in read(list(schema)) if in_memory else ():
        kept.append(part)
        size += int(part.estimated_size())
        if size > MAX_MEMORY_BYTES:
            break
    return memory_rows(pl.concat(kept)) if in_memory and size <= MAX_MEMORY_BYTES else Rows(schema, height, read)


def _cast(frame: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    # By name rather than by expression: the name may be a pattern.
    return pl.DataFrame({name: frame[name].cast(dtype) for name, dtype in schema.items()})


def parquet_metadata(path: Path) -> dict[str, str]:
    """The key–value metadata of a Parquet file."""
    with _name_in_errors(path):
        return pl.read_parquet_metadata(path)


@contextmanager
def _name_in_errors(path: Path, columns: Sequence[str] = ()) -> Iterator[None]:
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = str(error).splitlines()[0]
        if _NOT_UTF8 in reason and (column := next((name for name in columns if _holds_bad_text(path, name)), "")):
            problem = f"column {column!r} holds text that is not UTF-8; write it again as UTF-8, or remove the column"
            raise FileError(path, problem) from error
        raise FileError(path, f"is not a whole Parquet file ({reason}); copy or write it again") from error


def _holds_bad_text(path: Path, column: str) -> bool:
    try:
        pl.scan_parquet(path, glob=False, hive_partitioning=False).select(by_name(column)).collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        return _NOT_UTF8 in str(error)
    return False


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return status.st_size, status.st_mtime_ns


def part_files(folder: Path, split: str | None = None) -> list[Path]:
    """The Parquet files of a folder, or of one split in it, in order."""
    paths = sorted(path for path in folder.glob("*.parquet") if path.is_file() and path.name[0] not in "._")
    if split is not None:
        paths = [path for path in paths if (match := NUMBERED.fullmatch(path.name)) and match["split"] == split]
    return paths


def part_rows(paths: Sequence[Path]) -> Rows:
    """The rows of all parts in order, not kept in memory; the parts must have the same columns."""
    _check_whole(paths)
    parts = [parquet_rows(path, in_memory=False) for path in paths]
    schema = parts[0].schema
    for path, part in zip(paths, parts, strict=True):
        if dict(part.schema) != dict(schema):
            differ = sorted(f"{name} {dtype}" for name, dtype in dict(part.schema).items() ^ dict(schema).items())
            raise FileError(path, f"has other columns than {paths[0].name}: {list_some(differ)}; write the parts alike")

    def read(columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        for part in parts:
            yield from part.batches(*columns)

    return Rows(schema, sum(part.height for part in parts), read)


def _check_whole(paths: Sequence[Path]) -> None:
    """Raise if parts are missing, according to the total in the file names."""
    matches = [match for path in paths if (match := NUMBERED.fullmatch(path.name))]
    wanted = max((int(match["total"]) for match in matches), default=0)
    missing = sorted({*range(wanted)} - {int(match["number"]) for match in matches})
    if missing:
        shown = list_some([f"{number:05}" for number in missing])
        raise FileError(paths[0].parent, f"lacks parts {shown} of {wanted:,}; copy them too")


def write_parts(frame: pl.LazyFrame, folder: Path, *, split: str, metadata: Mapping[str, str]) -> None:
    """Write a frame to files of one split in a folder; ``metadata`` goes into each."""
    temporary = folder / f".{split}"
    places = pl.PartitionBy(temporary, max_rows_per_file=MOST_ROWS)
    sink_rows(frame, places, metadata)
    written = sorted(temporary.glob("*.parquet"))
    for number, path in enumerate(written):
        path.replace(folder / f"{split}-{number:05}-of-{len(written):05}.parquet")
    shutil.rmtree(temporary)


class Spool:
    """Takes rows part by part and gives them back any number of times.

    Beyond ``MAX_MEMORY_BYTES`` they are in an unnamed temporary file, which the operating system removes when it is
    closed or the process ends.
    """

    def __init__(self) -> None:
        self.heights = list[int]()
        """The number of rows of every part."""
        self.schemas = list[Schema]()
        """The different schemas of the parts."""
        self._parts_in_memory = list[pl.DataFrame]()
        self._size = 0
        self._file: io.BufferedRandom | None = None
        self._ends = [0]
        self._lock = threading.Lock()

    def add(self, part: pl.DataFrame) -> None:
        """Add the next rows; the columns of an empty part are ignored."""
        self.heights.append(part.height)
        if not part.height:
            return
        if part.schema not in self.schemas:
            self.schemas.append(part.schema)
        self._parts_in_memory.append(part)
        self._size += int(part.estimated_size())
        if self._size <= MAX_MEMORY_BYTES:
            return
        try:
            while self._parts_in_memory:
                self._write(self._parts_in_memory.pop(0))
        except OSError as error:
            advice = "make room there or name a folder that has some in the environment variable TMPDIR"
            problem = f"a large file cannot be kept here while it is read ({error.strerror or error})"
            raise AcidtestError(f"{tempfile.gettempdir()}: {problem}; {advice}") from error

    def rows(self, schema: Schema | None = None) -> Rows:
        """All rows added, cast to the types of ``schema``; the parts must have the same columns."""
        schema = schema or (self.schemas[0] if self.schemas else {})
        if self._file is None:
            parts = [_cast(part, schema) for part in self._parts_in_memory]
            return memory_rows(pl.concat(parts) if parts else pl.DataFrame(schema=schema))
        return Rows(schema, sum(self.heights), partial(self._parts, schema=schema))

    def _parts(self, columns: Sequence[str], *, schema: Schema) -> Iterator[pl.DataFrame]:
        places = [list(self.schemas[0]).index(name) for name in columns]
        for start, end in pairwise(self._ends):
            assert self._file is not None
            with self._lock:
                self._file.seek(start)
                content = self._file.read(end - start)
            yield _cast(pl.read_ipc(io.BytesIO(content), columns=places), {name: schema[name] for name in columns})

    def _write(self, part: pl.DataFrame) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="acidtest-")  # noqa: SIM115
            weakref.finalize(self, self._file.close)
        packed = io.BytesIO()
        part.write_ipc(packed, compression="lz4")
        self._file.seek(self._ends[-1])
        self._file.write(packed.getbuffer())
        self._file.flush()
        self._ends.append(self._file.tell())
