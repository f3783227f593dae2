"""Writes files whole or not at all, reads them within size limits, locks folders, and finds acidtest's folders."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import stat
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from acidtest.core.errors import FileError, FolderInUseError, suggest_near

PAGE_MARK = b'<meta name="generator" content="acidtest'
"""Text near the beginning of every page that acidtest writes."""

MAX_UNPACKED_BYTES = 16 * 2**30
"""A compressed file that unpacks to more is refused; data sets of this field are far smaller."""

MAX_UNPACK_RATIO = 200
"""The largest ratio of unpacked to packed bytes; that of ordinary text is 3 to 20, of gzip at most 1,030."""

UNPACK_RATIO_FROM = 64 * 2**20
"""The ratio is checked only beyond this many unpacked bytes: smaller files do no harm."""

MAX_WHOLE_BYTES = 2**30
"""The most bytes, unpacked, of a file that is read into memory whole."""

LOCK = ".lock"
"""The file in a folder by which a process locks it."""

_PIECE = 1 << 20
_GUNZIP = "if it is meant to, unpack it first, for example with: gunzip --keep FILE"


@contextmanager
def replace_file(path: str | Path) -> Iterator[Path]:
    """A temporary path to write to; it becomes ``path`` when the block succeeds and is removed when it fails."""
    path = Path(path)
    make_folder(path.parent)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def replace_folder(path: str | Path) -> Iterator[Path]:
    """Like ``replace_file``, for a whole folder; the old folder is removed only when the new one is in place."""
    path = Path(path)
    make_folder(path.parent)
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent))
    try:
        yield temporary
        temporary.chmod(0o777 & ~_umask())
        old = temporary.with_suffix(".old")
        if path.exists():
            path.replace(old)
        try:
            temporary.replace(path)
        except OSError:
            if old.exists():
                old.replace(path)
            raise
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def make_folder(path: Path) -> None:
    """Make a folder and those above it that are missing; raises where one of them is a file."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        file = next(place for place in (path, *path.parents) if place.exists())
        raise FileError(file, "is a file where a folder is needed; choose another name") from error


def write_text(path: str | Path, text: str) -> None:
    """Write a UTF-8 file with ``\\n`` line ends, whole or not at all."""
    with replace_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_page(path: str | Path, page: str) -> None:
    """Write an HTML page, whole or not at all; raises as ``require_page`` does."""
    require_page(path)
    write_text(path, page)


def require_page(path: str | Path) -> None:
    """Raise when a path does not end in .html or .htm, or is a file that acidtest did not write."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise FileError(path, "is to be a page, whose name ends in .html")
    refuse_overwrite(path, is_ours=is_page)


def is_page(path: Path) -> bool:
    """Whether a file is a page that acidtest wrote."""
    with open_regular_file(path) as file:
        return PAGE_MARK in file.read(4096)


def refuse_overwrite(path: str | Path, *, is_ours: Callable[[Path], bool] | None = None) -> None:
    """Raise where writing to a path that a user named would replace a file that acidtest may not have written.

    All commands follow this rule. ``is_ours`` recognises a file that acidtest wrote; without it, every existing file is
    refused, since a user may have edited it. Symbolic links are always refused.
    """
    path = Path(path)
    if path.is_symlink():
        raise FileError(path, "is a symbolic link, and acidtest does not write through links; name its target")
    if not path.exists():
        return
    if is_ours is None:
        raise FileError(path, "exists, perhaps with somebody's work in it; delete it or choose another name")
    if not path.is_file() or not is_ours(path):
        raise FileError(path, "exists and was not written by acidtest; delete it or choose another name")


def open_to_write(path: str | Path, mode: str) -> IO[bytes]:
    """Open a file of a run in place, with mode ``ab``, ``r+b`` or ``w+b``; a link is refused."""
    path = Path(path)
    refuse_link(path)
    try:
        # O_NOFOLLOW: a link created after the check is not followed either.
        no_links = getattr(os, "O_NOFOLLOW", 0)
        return open(path, mode, opener=lambda name, flags: os.open(name, flags | no_links, 0o666))
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror or error}") from error


def refuse_link(path: Path) -> None:
    """Raise when a file of a run is a symbolic link."""
    if path.is_symlink():
        raise FileError(path, "is a symbolic link, and acidtest does not write through links; remove it")


def write_json(path: str | Path, value: Any) -> None:
    """Write a JSON file, whole or not at all; NaN is refused rather than written."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_bytes(path: str | Path) -> bytes:
    """The content of a file, unpacked when its name ends in ``.gz``; raises beyond ``MAX_WHOLE_BYTES``."""
    return read_bounded(path, MAX_WHOLE_BYTES)


def read_bounded(
    path: str | Path, most_bytes: int, *, remedy: str = "the most that a file of this kind may have"
) -> bytes:
    """The bytes of a file, unpacked when its name ends in ``.gz``; more than ``most_bytes`` are refused."""
    content = bytearray()
    for chunk in chunks(path):
        content += chunk
        if len(content) > most_bytes:
            raise FileError(path, f"is larger than {most_bytes:,} bytes, {remedy}")
    return bytes(content)


def chunks(path: str | Path) -> Generator[bytes, None, None]:
    """The content of a file, unpacked when its name ends in ``.gz``, in pieces of a megabyte."""
    path = Path(path)
    try:
        with open_regular_file(path) as file:
            if path.suffix.lower() == ".gz":
                yield from _unpack(path, file)
            else:
                yield from iter(partial(file.read, _PIECE), b"")
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror or error}") from error


def open_regular_file(path: str | Path) -> IO[bytes]:
    """Open a file to read; pipes, devices and sockets are refused without waiting for a writer."""
    path = Path(path)
    try:
        # O_NONBLOCK: do not wait for the writer of a pipe. O_BINARY: Windows would open the file as text.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        # Sockets and, on Windows, folders cannot be opened: require_file names the kind.
        require_file(path)
        raise FileError(path, f"cannot be read: {error.strerror or error}") from error
    try:
        _refuse_special(path, os.fstat(handle).st_mode)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def require_file(path: str | Path) -> None:
    """Raise unless there is a regular file at a path, or a link to one."""
    try:
        mode = Path(path).stat().st_mode
    except FileNotFoundError as error:
        raise FileError(path, f"there is no such file{suggest_files(path) or '; check the path'}") from error
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror or error}") from error
    _refuse_special(Path(path), mode)


def suggest_files(path: str | Path) -> str:
    """The end of a message about a missing file: the files beside its place whose names are near, if any."""
    path = Path(path)
    with suppress(OSError):
        # The ending alone makes two names somewhat alike.
        return suggest_near(path.name, (file.name for file in path.parent.iterdir() if file.is_file()), cutoff=0.8)
    return ""


def _refuse_special(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise FileError(path, "is a folder; a file was expected")
    if not stat.S_ISREG(mode):
        kind = "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
        raise FileError(path, f"is {kind}; acidtest reads a file more than once: save the data to one and name that")


def _unpack(path: Path, packed: IO[bytes]) -> Iterator[bytes]:
    size = 0
    try:
        with gzip.GzipFile(fileobj=packed) as file:
            for content in iter(partial(file.read, _PIECE), b""):
                size += len(content)
                refuse_bomb(path, packed.tell(), size)
                yield content
    except EOFError as error:
        raise FileError(path, "the gzip data end too early; the file is incomplete, copy it again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise FileError(path, f"is not valid gzip data ({error}); rename or repack it") from error


def refuse_bomb(path: Path, packed_size: int, size: int, *, remedy: str = _GUNZIP) -> None:
    """Raise when a file unpacks to more than ``MAX_UNPACKED_BYTES`` or ``MAX_UNPACK_RATIO`` allows.

    Every reader of compressed files calls this: of gzip data, of zip archives and of NumPy archives.
    """
    if size > MAX_UNPACKED_BYTES:
        problem = f"unpacks to more than {MAX_UNPACKED_BYTES:,} bytes"
    elif size > UNPACK_RATIO_FROM and size > MAX_UNPACK_RATIO * packed_size:
        problem = f"unpacks to more than {MAX_UNPACK_RATIO} times its size, as data of people do not"
    else:
        return
    raise FileError(path, f"{problem}; {remedy}")


class ZipArchive:
    """Reads a zip archive; everything that it unpacks counts towards one limit."""

    def __init__(self, path: str | Path, *, kind: str = "zip archive", remedy: str = "copy the file again") -> None:
        """``kind`` says what the file should be, and ``remedy`` what to do if it is not."""
        self.path = Path(path)
        self._remedy = remedy
        self._unpacked = 0
        with ExitStack() as opened:
            file = opened.enter_context(open_regular_file(self.path))
            self._packed = os.fstat(file.fileno()).st_size
            try:
                self._zip = opened.enter_context(zipfile.ZipFile(file))
            except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
                raise FileError(self.path, f"is no {kind} that can be read ({error}); {remedy}") from error
            self._opened = opened.pop_all()
        self.members = {member.filename: member for member in self._zip.infolist()}
        """The members by name; of two with the same name, the last."""

    def __enter__(self) -> ZipArchive:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def require_small(self) -> None:
        """Raise when all members together unpack to more than the limits allow, by the sizes that they declare.

        No reader unpacks more of a member than its declared size.
        """
        refuse_bomb(self.path, self._packed, sum(one.file_size for one in self._zip.infolist()), remedy=self._remedy)

    def pieces(self, name: str) -> Iterator[bytes]:
        """The content of a member in pieces of about a megabyte."""
        if name not in self.members:
            raise FileError(self.path, f"has no {name}; {self._remedy}")
        try:
            with self._zip.open(self.members[name]) as file:
                while piece := file.read(_PIECE):
                    self._unpacked += len(piece)
                    refuse_bomb(self.path, self._packed, self._unpacked, remedy=self._remedy)
                    yield piece
        except (
            zipfile.BadZipFile,
            ValueError,
            NotImplementedError,
            RuntimeError,
            EOFError,
            OSError,
            zlib.error,
        ) as error:
            raise FileError(self.path, f"{name}: cannot be unpacked: {error}; {self._remedy}") from error

    def read(self, name: str, most_bytes: int) -> bytes:
        """The content of a member; raises beyond ``most_bytes``."""
        content = bytearray()
        for piece in self.pieces(name):
            content += piece
            if len(content) > most_bytes:
                raise FileError(self.path, f"{name}: unpacks to more than {most_bytes:,} bytes")
        return bytes(content)


class Lock:
    """Locks a folder for one process; the operating system unlocks it when the process ends."""

    def __init__(self, folder: str | Path) -> None:
        self._path = Path(folder) / LOCK
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Lock:
        make_folder(self._path.parent)
        file = open_to_write(self._path, "ab")
        try:
            _lock(file.fileno())
        except OSError as error:
            file.close()
            raise FolderInUseError(
                f"{self._path.parent}: another acidtest process is working here; wait for it or choose another folder"
            ) from error
        self._file = file
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            # The file stays: removing it would let a third process lock a new file of the same name.
            self._file.close()
            self._file = None


def _lock(handle: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        return
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _umask() -> int:
    value = os.umask(0)
    os.umask(value)
    return value


def data_folder(environment: Mapping[str, str], *, platform: str = sys.platform, home: Path | None = None) -> Path:
    """The folder for fetched resources: ``ACIDTEST_DATA``, or the platform's folder for user data."""
    if environment.get("ACIDTEST_DATA"):
        return Path(environment["ACIDTEST_DATA"])
    home = home or Path.home()
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "acidtest"
    if platform == "darwin":
        return home / "Library" / "Application Support" / "acidtest"
    return Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share") / "acidtest"


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The folder for files that can be recomputed: ``ACIDTEST_CACHE_FOLDER``, or the platform's folder for caches."""
    if environment.get("ACIDTEST_CACHE_FOLDER"):
        return Path(environment["ACIDTEST_CACHE_FOLDER"])
    if sys.platform == "win32":
        return data_folder({**environment, "ACIDTEST_DATA": ""}) / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "acidtest"
    return Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "acidtest"
