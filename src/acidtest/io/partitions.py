"""Tables in folders of Parquet files, named as data-set hubs name them: ``test-00000-of-00007.parquet``."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

import polars as pl

from acidtest.core.errors import FileError, some
from acidtest.core.files import chunks
from acidtest.io.rows import Rows, parquet_rows
from acidtest.io.tables import Table, sink_rows

MOST_ROWS = 1 << 18
"""Rows of a file we write, at most."""

_NUMBERED = re.compile(r"(?P<split>.+)-(?P<number>\d{5})-of-(?P<total>\d{5})\.parquet", re.IGNORECASE)


def part_files(folder: Path, split: str | None = None) -> list[Path]:
    """The Parquet files of a folder, or of one split in it, in order; none where there are none."""
    paths = sorted(path for path in folder.glob("*.parquet") if path.is_file() and path.name[0] not in "._")
    if split is not None:
        paths = [path for path in paths if (found := _NUMBERED.fullmatch(path.name)) and found["split"] == split]
    return paths


def part_rows(paths: Sequence[Path]) -> Rows:
    """The rows of all parts, one after another, which have the same columns; none of them held in memory."""
    _check_whole(paths)
    parts = [parquet_rows(path, held=False) for path in paths]
    schema = parts[0].schema
    for path, part in zip(paths, parts, strict=True):
        if dict(part.schema) != dict(schema):
            differ = sorted(f"{name} {dtype}" for name, dtype in dict(part.schema).items() ^ dict(schema).items())
            raise FileError(path, f"has other columns than {paths[0].name}: {some(differ)}; write the parts alike")

    def read(columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        for part in parts:
            yield from part.batches(*columns)

    return Rows(schema, sum(part.height for part in parts), read)


def part_table(folder: Path) -> Table:
    """The table whose rows lie in a folder's Parquet files, all of one split."""
    paths = part_files(folder)
    splits = sorted({found["split"] for path in paths if (found := _NUMBERED.fullmatch(path.name))})
    if len(splits) > 1:
        raise FileError(folder, f"holds several splits ({some(splits)}); put the files of one into a folder of its own")
    digest = blake2b(digest_size=8)
    for path in paths:
        for chunk in chunks(path):
            digest.update(chunk)
    rows = part_rows(paths).without_patterns()
    return Table(folder, rows, fingerprint=digest.hexdigest(), name=folder.absolute().name)


def write_parts(frame: pl.LazyFrame, folder: Path, *, split: str, metadata: Mapping[str, str]) -> None:
    """Write a frame to files of one split in a folder; ``metadata`` goes into each."""
    temporary = folder / f".{split}"
    places = pl.PartitionBy(temporary, max_rows_per_file=MOST_ROWS)
    sink_rows(frame, places, metadata)
    written = sorted(temporary.glob("*.parquet"))
    for number, path in enumerate(written):
        path.replace(folder / f"{split}-{number:05}-of-{len(written):05}.parquet")
    shutil.rmtree(temporary)


def _check_whole(paths: Sequence[Path]) -> None:
    """Raise when the names of parts say that there are more than lie there."""
    named = [found for path in paths if (found := _NUMBERED.fullmatch(path.name))]
    wanted = max((int(found["total"]) for found in named), default=0)
    missing = sorted({*range(wanted)} - {int(found["number"]) for found in named})
    if missing:
        shown = some([f"{number:05}" for number in missing])
        raise FileError(paths[0].parent, f"lacks parts {shown} of {wanted:,}; copy them, too")
