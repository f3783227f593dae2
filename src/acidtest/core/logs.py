"""Logging: one logger for the package, shown on standard error and kept in a run's log.txt."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path

from acidtest.core.files import open_to_write
from acidtest.core.terminal import terminal_text

log = logging.getLogger("acidtest")

NOTE = 25
"""The level of what everybody should read, though nothing is amiss."""

logging.addLevelName(NOTE, "NOTE")


class PlainFormatter(logging.Formatter):
    """Writes records without what a terminal would obey, for a log is read on one."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        return terminal_text(super().format(record))


class LogFile(logging.StreamHandler[TextIOWrapper]):
    """A log that a full disk cuts short; what else it does to the run is told where it does it."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        """Pass over a record that cannot be written."""


@contextmanager
def kept(path: str | Path) -> Iterator[None]:
    """Append what is logged inside the block to a file, which must not be a link."""
    stream = TextIOWrapper(open_to_write(path, "ab"), encoding="utf-8", newline="\n", line_buffering=True)
    handler = LogFile(stream)
    handler.setFormatter(PlainFormatter("%(asctime)s %(levelname)s %(message)s"))
    handler.setLevel(logging.DEBUG)
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield
    except BaseException as error:
        handler.handle(log.makeRecord(log.name, logging.ERROR, "", 0, "stopped: %r", (error,), None))
        raise
    finally:
        log.setLevel(level)
        log.removeHandler(handler)
        # A full disk cuts the log short and nothing else.
        with suppress(OSError):
            handler.close()
        with suppress(OSError):
            stream.close()


def stage(text: str, *arguments: object) -> None:
    """Say what is being done now, for whoever waits: logged as information, and shown when it takes long."""
    log.info(text, *arguments, extra={"stage": True})


def note(text: str, *arguments: object) -> None:
    """Say what everybody should read, such as which output of a model means which label."""
    log.log(NOTE, text, *arguments)
