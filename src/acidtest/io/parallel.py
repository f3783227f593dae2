"""Premises, hypotheses and labels in three plain-text files that run side by side, such as ``s1.dev``, ``s2.dev`` and
``labels.dev``.

e-SNLI is published so, and InferSent reads SNLI so. The ending of the name is the split; each may be packed with gzip.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from pathlib import Path

import polars as pl

from acidtest.core.errors import FileError
from acidtest.core.files import read_bytes
from acidtest.io.blocks import utf8_text
from acidtest.io.rows import held_rows
from acidtest.io.tables import ENDINGS, Origin, Table

PARTS = ("s1", "s2", "labels")
"""How the names of the files with the premises, the hypotheses and the labels begin."""

_NAME = re.compile(rf"(?:{'|'.join(PARTS)})\.(?P<split>[^.].*?)(?:\.gz)?")
_USUAL = re.compile(r"(?:train|dev|val|valid|validation|test)(?![a-z]).*", re.IGNORECASE)


def is_parallel(path: Path) -> bool:
    """Whether a file is one of three parallel ones, or a folder holds such files.

    The ending is the usual name of a split, or another part has the same. ``s1.txt`` may be a table as well: it is a
    part only where both of the others lie beside it.
    """
    if path.is_dir():
        return bool(_splits(path))
    split = _split(path)
    if split is None or not path.name.lower().endswith(ENDINGS):
        return split is not None and _is_split(path.parent, split)
    return split.lower().endswith("txt") and _present(path.parent, split) == len(PARTS)


def parallel_table(path: Path) -> Table:
    """The table in three parallel files, its columns called as ``PARTS``; ``path`` is one of them or their folder.

    A blank line is a row, or the files would no longer run side by side.
    """
    folder, split = (path, _only_split(path)) if path.is_dir() else (path.parent, _split(path))
    files = {part: _part(folder, part, str(split)) for part in PARTS}
    _check_presence(path, files)
    contents = {part: read_bytes(file) for part, file in files.items()}
    lines = {part: _lines(files[part], content) for part, content in contents.items()}
    _check_lengths(files, lengths={part: len(rows) for part, rows in lines.items()})
    digests = {part: blake2b(content, digest_size=8).hexdigest() for part, content in contents.items()}
    return Table(
        files["labels"],
        held_rows(pl.DataFrame(lines, schema=dict.fromkeys(PARTS, pl.String))),
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
    """The file of a part: packed if only that is there."""
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
        problem = f"ends here, but {others}; each line must have its fellows: copy all three again"
        raise FileError(files[shortest], problem, lengths[shortest])
