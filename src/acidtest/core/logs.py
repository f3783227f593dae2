"""Logging: one logger for the package, shown on standard error and kept in a run's log.txt."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

log = logging.getLogger("acidtest")

NOTE = 25
"""The level of what everybody should read, though nothing is amiss."""

logging.addLevelName(NOTE, "NOTE")


@contextmanager
def kept(path: str | Path) -> Iterator[None]:
    """Append what is logged inside the block to a file."""
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
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
        handler.close()


def stage(text: str, *arguments: object) -> None:
    """Say what is being done now, for whoever waits: logged as information, and shown when it takes long."""
    log.info(text, *arguments, extra={"stage": True})


def note(text: str, *arguments: object) -> None:
    """Say what everybody should read, such as which output of a model means which label."""
    log.log(NOTE, text, *arguments)
