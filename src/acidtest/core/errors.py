"""Mistakes a user can mend, told without a traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

from acidtest.core.terminal import terminal_text


class AcidtestError(Exception):
    """A user's mistake: the thing, the value, what was expected, what to do next."""

    def __init__(self, message: object = "") -> None:
        super().__init__(terminal_text(str(message)))


class FileError(AcidtestError):
    """Something wrong in a file, named with its line where there is one."""

    def __init__(self, path: str | Path, message: str, line: int | None = None) -> None:
        self.path = Path(path)
        self.line = line
        where = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{where}: {message}")


class NothingToMakeError(AcidtestError):
    """A corpus that gives a suite no pairs; a battery goes on without that suite."""


class UnknownNameError(AcidtestError):
    """A name that is not among those known, with the nearest ones as a hint."""

    def __init__(self, kind: str, name: str, known: Iterable[str], then: str = "") -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=2, cutoff=0.6)
        if near:
            hint = "; did you mean " + " or ".join(f"{match!r}" for match in near) + "?"
        elif names:
            hint = f"; there is {some(names, 16)}"
        else:
            hint = "; there is none"
        super().__init__(f"no {kind} called {name!r}{hint}{then}")


def some(items: Sequence[str], most: int = 5) -> str:
    """The first few items, and how many more there are."""
    shown = ", ".join(items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most:,} more"
