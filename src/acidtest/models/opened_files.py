"""The files that a model reads, noticed by Python's audit events, and digests of their content.

Python cannot remove an audit hook. So one is installed when the first model is watched; between watches it does
nothing.
Files that compiled code opens by itself cause no event (safetensors, ONNX); nor do those of other processes. Files that
other threads open are ignored: the threads may belong to another library.
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

MAX_WHOLE_BYTES = 256 << 20
"""Of a larger file, only the size and ``_PIECES`` evenly spaced megabytes enter the digest."""

_PIECES = 64
_PIECE = 1 << 20
_SYSTEM = ("/dev", "/proc", "/sys", "/etc", "/usr/lib", "/usr/lib64", "/usr/share")
_CODE = (".py", ".pyc", ".pyi", ".so", ".pyd", ".dll")
_INSTALLED = tuple(
    str(Path(path).resolve())
    for path in {
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib", "data")),
        *(sys.prefix, sys.base_prefix, str(Path(__file__).resolve().parents[1])),
    }
)


@dataclass
class OpenedFiles:
    """The absolute paths of files that were opened to read, and of those that were opened to write."""

    read: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)

    def digests(self, known: Mapping[str, str]) -> dict[str, str]:
        """The digest of each file that was only read; ``known`` are not computed again.

        Files of Python, of installed packages and of the system are left out, as is what no longer exists.
        """
        made = dict[str, str]()
        for path in sorted(self.read - self.written):
            if path in known:
                made[path] = known[path]
            elif not path.endswith(_CODE) and not _is_within(path, (*_SYSTEM, *_INSTALLED)):
                digest = _file_digest(Path(path))
                made |= {path: digest} if digest else {}
        return made


_watching: list[tuple[int, OpenedFiles]] = []
"""The threads that are watched, and where their files are noted."""
_installed = False


@contextmanager
def watch_opened_files(opened: OpenedFiles) -> Iterator[None]:
    """Add the files that this thread opens within the block; other threads may be those of another library."""
    global _installed
    if not _installed:
        sys.addaudithook(_note_event)
        _installed = True
    watch = (threading.get_ident(), opened)
    _watching.append(watch)
    try:
        yield
    finally:
        _watching.remove(watch)


def _note_event(event: str, arguments: tuple[object, ...]) -> None:
    if not _watching or event != "open":
        return
    path, _, flags = arguments
    if isinstance(path, str | bytes) and isinstance(flags, int):
        absolute = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - Path.resolve would open files
        writes = flags & (os.O_WRONLY | os.O_RDWR)
        here = threading.get_ident()
        for opened in [opened for thread, opened in _watching if thread == here]:
            (opened.written if writes else opened.read).add(absolute)


def _is_within(path: str, folders: tuple[str, ...]) -> bool:
    real = os.path.realpath(path)
    return any(real == folder or real.startswith(folder + os.sep) for folder in folders)


def _file_digest(path: Path) -> str:
    """The digest of a regular file's content; empty for anything else."""
    try:
        if not path.is_file():
            return ""
        digest = hashlib.sha256()
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size <= MAX_WHOLE_BYTES:
                return hashlib.file_digest(file, "sha256").hexdigest()
            digest.update(str(size).encode())
            for number in range(_PIECES):
                file.seek((size - _PIECE) * number // (_PIECES - 1))
                digest.update(file.read(_PIECE))
        return digest.hexdigest()
    except OSError:
        return ""
