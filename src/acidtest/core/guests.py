"""Code of other people in this process: what it prints, closes and changes does not reach the results.

A model may print, start programs that print, close standard output or change the working folder. While it loads or
predicts, all that is written to standard output goes to standard error, and it has a working folder of its own.
"""

from __future__ import annotations

import ctypes
import io
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

_STDOUT, _STDERR = 1, 2

_CLOSED = (OSError, ValueError)
"""What a closed or broken stream raises; ``io.UnsupportedOperation``, that of notebooks and pytest, is both."""


@contextmanager
def guest_code(*, is_new: bool = False) -> Iterator[None]:
    """Run code of a model inside the block: its output is diverted, and the working folder is the model's.

    A folder that it changes to is its folder in the next block, too, until another model is loaded (``is_new``).
    """
    with divert_output():
        _FOLDERS.enter(is_new=is_new)
        try:
            yield
        finally:
            _FOLDERS.leave()


@contextmanager
def divert_output() -> Iterator[None]:
    """Send standard output to standard error inside the block: of Python, C, other threads and started programs.

    Blocks may overlap in several threads: the first one diverts, and the last one restores.
    """
    _DIVERSION.enter()
    try:
        yield
    finally:
        _DIVERSION.leave()


def stay_diverted() -> None:
    """Let the next block that diverts standard output do so until the program ends.

    Threads of a model may print until then.
    """
    _DIVERSION.restores = False


def private_copy(stream: TextIO) -> TextIO:
    """A stream to the same file or terminal that nobody else can close or divert; itself if it is in memory."""
    try:
        descriptor = os.dup(stream.fileno())
    except (*_CLOSED, AttributeError):
        return stream
    return open(descriptor, "w", encoding=stream.encoding, errors=stream.errors)  # noqa: PTH123 - a descriptor


class _Diversion:
    """Standard output while it is diverted."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._depth, self._active = 0, False
        self.restores = True
        """Whether the last block restores standard output."""
        self._stdout: Any = None
        self._descriptors: dict[int, int | None] = {}
        """Copies of the descriptors as they were."""

    def enter(self) -> None:
        with self._lock:
            if not self._active:
                self._active = True
                _flush()
                self._stdout = sys.stdout
                self._descriptors = {number: _copy(number) for number in (_STDOUT, _STDERR)}
                with suppress(OSError):
                    os.dup2(_STDERR, _STDOUT)
                sys.stdout = _to_stderr()
            elif getattr(sys.stdout, "closed", False):
                sys.stdout = _to_stderr()
            self._depth += 1

    def leave(self) -> None:
        with self._lock:
            _flush()
            self._depth -= 1
            # A model may have closed it, and messages follow.
            if _copy(_STDERR, keep=False) is None:
                _restore(_STDERR, self._descriptors[_STDERR])
            if self._depth or not self.restores:
                with suppress(OSError):
                    os.dup2(_STDERR, _STDOUT)
                return
            sys.stdout, self._active = self._stdout, False
            _restore(_STDOUT, self._descriptors[_STDOUT])
            for descriptor in self._descriptors.values():
                if descriptor is not None:
                    os.close(descriptor)


class _Folders:
    """The working folder of the program, and that of the model."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._ours = self._guests = ""

    def enter(self, *, is_new: bool) -> None:
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._ours = _working_folder()
                self._guests = "" if is_new else self._guests
                _change_folder(self._guests)

    def leave(self) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                folder = _working_folder()
                self._guests = folder if folder != self._ours else ""
                _change_folder(self._ours)


_DIVERSION, _FOLDERS = _Diversion(), _Folders()


class _Writer(io.RawIOBase):
    """Writes to a text stream, and stays of use to others when somebody closes it."""

    def __init__(self, target: TextIO) -> None:
        self._target = target

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        content = bytes(data)
        with suppress(*_CLOSED):
            self._target.write(content.decode("utf-8", "replace"))
        return len(content)

    def flush(self) -> None:
        super().flush()
        with suppress(*_CLOSED):
            self._target.flush()

    def fileno(self) -> int:
        return _STDERR


def _to_stderr() -> TextIO:
    return io.TextIOWrapper(_Writer(sys.stderr), encoding="utf-8", errors="replace", write_through=True)  # type: ignore[type-var]


def _flush() -> None:
    """Write what Python and C still hold for standard output to where it goes now."""
    for stream in {id(stream): stream for stream in (sys.stdout, sys.__stdout__) if stream is not None}.values():
        with suppress(*_CLOSED):
            stream.flush()
    with suppress(OSError, AttributeError):
        library = ctypes.cdll.ucrtbase if sys.platform == "win32" else ctypes.CDLL(None)
        library.fflush(None)


def _copy(descriptor: int, *, keep: bool = True) -> int | None:
    """A copy of a descriptor, which may be closed at once; None if the descriptor is closed."""
    try:
        copy = os.dup(descriptor)
    except OSError:
        return None
    if not keep:
        os.close(copy)
    return copy


def _restore(descriptor: int, copy: int | None) -> None:
    if copy is not None:
        os.dup2(copy, descriptor)
    else:
        with suppress(OSError):
            os.close(descriptor)


def _working_folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - it may have been deleted
    except OSError:
        return ""


def _change_folder(folder: str) -> None:
    if folder:
        with suppress(OSError):
            os.chdir(folder)
