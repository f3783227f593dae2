"""Logging: one logger for the package, shown on standard error and kept in a run's log.txt."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path

from acidtest.core.escaping import escape_lines, escape_terminal
from acidtest.core.files import open_to_write

log = logging.getLogger("acidtest")

NOTE = 25
"""The level of messages that everybody should read, although nothing is wrong."""

logging.addLevelName(NOTE, "NOTE")


class PlainFormatter(logging.Formatter):
    """Writes each record on one line without control characters, because a log is read on a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record; those for developers may have several, such as tracebacks."""
        text = super().format(record)
        return escape_lines(text) if record.levelno <= logging.DEBUG else escape_terminal(text)


class LogFile(logging.StreamHandler[TextIOWrapper]):
    """A log that a full disk silently cuts short; other writes report the full disk."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        """Drop a record that cannot be written."""


@contextmanager
def log_to_file(path: str | Path) -> Iterator[None]:
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
    """Log what is being done now, as information; it is shown when it takes long."""
    log.info(text, *arguments, extra={"stage": True})


def note(text: str, *arguments: object) -> None:
    """Log what everybody should read, such as which output of a model means which label."""
    log.log(NOTE, text, *arguments)
