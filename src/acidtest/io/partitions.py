"""Tables in several files: parts of rows in Parquet, or premises, hypotheses and labels in parallel text files.

Parquet parts are named as data-set hubs name them: ``test-00000-of-00007.parquet``. Parallel files are plain text, such
as ``s1.dev``, ``s2.dev`` and ``labels.dev``, as e-SNLI is published and InferSent reads SNLI: the ending of the name is
the split, and the files may be packed with gzip.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

import polars as pl

from acidtest.core.errors import FileError, list_some
from acidtest.core.files import read_bytes
from acidtest.core.streams import sink_rows
from acidtest.io.blocks import utf8_text
from acidtest.io.rows import Rows, memory_rows, parquet_rows
from acidtest.io.tables import ENDINGS, FileTable, Origin, file_digest

MOST_ROWS = 1 << 18
"""The most rows of a file we write."""

_NUMBERED = re.compile(r"(?P<split>.+)-(?P<number>\d{5})-of-(?P<total>\d{5})\.parquet", re.IGNORECASE)

PARTS = ("s1", "s2", "labels")
"""How the names of the files with the premises, the hypotheses and the labels begin."""

_NAME = re.compile(rf"(?:{'|'.join(PARTS)})\.(?P<split>[^.].*?)(?:\.gz)?")
_USUAL = re.compile(r"(?:train|dev|val|valid|validation|test)(?![a-z]).*", re.IGNORECASE)


def part_files(folder: Path, split: str | None = None) -> list[Path]:
    """The Parquet files of a folder, or of one split in it, in order; none where there are none."""
    paths = sorted(path for path in folder.glob("*.parquet") if path.is_file() and path.name[0] not in "._")
    if split is not None:
        paths = [path for path in paths if (match := _NUMBERED.fullmatch(path.name)) and match["split"] == split]
    return paths


def part_rows(paths: Sequence[Path]) -> Rows:
    """The rows of all parts, one after another, which must have the same columns; they are not kept in memory."""
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


def part_table(folder: Path) -> FileTable:
    """The table whose rows lie in a folder's Parquet files, all of one split."""
    paths = part_files(folder)
    splits = sorted({match["split"] for path in paths if (match := _NUMBERED.fullmatch(path.name))})
    if len(splits) > 1:
        raise FileError(
            folder, f"holds several splits ({list_some(splits)}); put the files of one split into their own folder"
        )
    rows = part_rows(paths).without_patterns()
    return FileTable(folder, rows, fingerprint=file_digest(*paths), name=folder.absolute().name)


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
    """Raise when parts are missing, by the total that the names of the others give."""
    matches = [match for path in paths if (match := _NUMBERED.fullmatch(path.name))]
    wanted = max((int(match["total"]) for match in matches), default=0)
    missing = sorted({*range(wanted)} - {int(match["number"]) for match in matches})
    if missing:
        shown = list_some([f"{number:05}" for number in missing])
        raise FileError(paths[0].parent, f"lacks parts {shown} of {wanted:,}; copy them too")


def is_parallel(path: Path) -> bool:
    """Whether a path is one of three parallel files, or a folder with such files.

    The ending must be the usual name of a split, or one that another of the three files has. ``s1.txt`` may be a table
    as well: it counts only where both of the others lie beside it.
    """
    if path.is_dir():
        return bool(_splits(path))
    split = _split(path)
    if split is None or not path.name.lower().endswith(ENDINGS):
        return split is not None and _is_split(path.parent, split)
    return split.lower().endswith("txt") and _present(path.parent, split) == len(PARTS)


def parallel_table(path: Path) -> FileTable:
    """The table in three parallel files, with the columns ``PARTS``; ``path`` is one of them or their folder.

    A blank line is a row, because the lines of the three files belong together by their numbers.
    """
    folder, split = (path, _only_split(path)) if path.is_dir() else (path.parent, _split(path))
    files = {part: _part(folder, part, str(split)) for part in PARTS}
    _check_presence(path, files)
    contents = {part: read_bytes(file) for part, file in files.items()}
    lines = {part: _lines(files[part], content) for part, content in contents.items()}
    _check_lengths(files, lengths={part: len(rows) for part, rows in lines.items()})
    digests = {part: blake2b(content, digest_size=8).hexdigest() for part, content in contents.items()}
    return FileTable(
        files["labels"],
        memory_rows(pl.DataFrame(lines, schema=dict.fromkeys(PARTS, pl.String))),
        fingerprint=blake2b("".join(digests.values()).encode(), digest_size=8).hexdigest(),
        line=range(1, len(lines["labels"]) + 1).__getitem__,
        origins={part: Origin(file, digests[part]) for part, file in files.items()},
        name=f"{folder.absolute().name}.{split}",
    )


def _split(path: Path) -> str | None:
    match = _NAME.fullmatch(path.name)
    return match["split"] if match else None


def _splits(folder: Path) -> list[str]:
    """The splits whose files, or some of them, lie in a folder."""
    names = (file.name for file in folder.iterdir() if not file.name.lower().endswith(ENDINGS))
    splits = {match["split"] for name in names if (match := _NAME.fullmatch(name))}
    return sorted(split for split in splits if _is_split(folder, split))


def _is_split(folder: Path, split: str) -> bool:
    return _USUAL.fullmatch(split) is not None or _present(folder, split) > 1


def _present(folder: Path, split: str) -> int:
    """How many of the three files of a split are there."""
    return sum(_part(folder, part, split).exists() for part in PARTS)


def _only_split(folder: Path) -> str:
    splits = _splits(folder)
    if len(splits) > 1:
        choice = f"{', '.join(splits[:-1])} and {splits[-1]}"
        advice = f"give one file of the split that is meant, for example {folder / f'labels.{splits[0]}'}"
        raise FileError(folder, f"holds {len(splits)} splits, {choice}; {advice}")
    return splits[0]


def _part(folder: Path, part: str, split: str) -> Path:
    """The file of a part: the packed one if there is no other."""
    plain, packed = folder / f"{part}.{split}", folder / f"{part}.{split}.gz"
    return packed if packed.exists() and not plain.exists() else plain


def _check_presence(path: Path, files: dict[str, Path]) -> None:
    missing = [file for file in files.values() if not file.exists()]
    if not missing:
        return
    *first, last = (file.name for file in files.values())
    layout = f"premises, hypotheses and labels are read side by side from {', '.join(first)} and {last}"
    if len(missing) == len(files):
        raise FileError(path, f"there is no such file; check the path ({layout})")
    others = "".join(f", nor {file.name}" for file in missing[1:])
    raise FileError(missing[0], f"there is no such file{others}, but {layout}; put them all in one folder")


def _lines(path: Path, content: bytes) -> list[str]:
    text = utf8_text(path, content).decode()
    if not text.strip():
        raise FileError(path, "holds nothing; copy or write it again")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def _check_lengths(files: dict[str, Path], *, lengths: dict[str, int]) -> None:
    shortest = min(lengths, key=lengths.__getitem__)
    if len(set(lengths.values())) > 1:
        others = " and ".join(f"{files[part].name} at line {lengths[part]:,}" for part in PARTS if part != shortest)
        problem = f"ends here, but {others}; the three must have as many lines: copy all of them again"
        raise FileError(files[shortest], problem, lengths[shortest])
