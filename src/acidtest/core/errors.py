"""Errors that a user can correct; they are shown without a traceback."""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters except tab and line feed, and marks that change the direction of text."""


class AcidtestError(Exception):
    """An error that a user can correct; the message says what is wrong, what was expected and what to do next."""

    def __init__(self, message: object = "") -> None:
        super().__init__(terminal_text(str(message)))


class FileError(AcidtestError):
    """Something wrong in a file; the message begins with its path and, where known, the line."""

    def __init__(self, path: str | Path, message: str, line: int | None = None) -> None:
        self.path = Path(path)
        self.line = line
        where = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{where}: {message}")


class NothingToMakeError(AcidtestError):
    """Raised where a suite can make no pairs from a corpus; a battery skips that suite."""


class UnknownNameError(AcidtestError):
    """A name that is not among the known ones; the message suggests the nearest."""

    def __init__(self, kind: str, name: str, known: Iterable[str], then: str = "") -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=2, cutoff=0.6)
        if near:
            hint = "; did you mean " + " or ".join(f"{match!r}" for match in near) + "?"
        elif names:
            hint = f"; there is {list_some(names, 16)}"
        else:
            hint = "; there is none"
        super().__init__(f"no {kind} called {name!r}{hint}{then}")


def list_some(items: Sequence[str], most: int = 5) -> str:
    """The first few items, and how many more there are."""
    shown = ", ".join(items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most:,} more"


def import_optional(*names: str, extra: str = "hf", work: str = "this kind of model") -> list[Any]:
    """Import libraries of an extra; where one is missing, the error says what needs it and how to install it."""
    try:
        return [importlib.import_module(name) for name in names]
    except ModuleNotFoundError as error:
        raise AcidtestError(f"{work} needs {error.name}; install it with: pip install 'acidtest[{extra}]'") from error


def terminal_text(text: str) -> str:
    """The text with a replacement character for every character that a terminal would interpret, not show."""
    return _CONTROL_CHARACTERS.sub("\ufffd", text)
