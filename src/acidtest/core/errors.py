"""Errors that a user can correct, and Ctrl-C while the program loads: both are shown without a traceback."""

from __future__ import annotations

import difflib
import importlib
import os
import re
import signal
import sys
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from acidtest.core.escaping import escape_terminal

INTERRUPTED = 130
"""The exit status of a program that Ctrl-C ended."""

_PROGRAMS = ("acidtest", "acidtest.exe", "acidtest-script.py")


MAX_QUOTED = 200
"""The most characters of a value that an error message quotes."""

_MAX_WORD, _MAX_MESSAGE = 255, 5_000
"""The most characters of a word without quotes, which may be the name of a file, and of a whole message."""

_OPENING = re.compile(r"""(?<!\w)['"]""")
_QUOTED = {
    quote: re.compile(rf"{quote}[^{quote}\\]*+(?:(?:\\.|{quote}(?=\w))[^{quote}\\]*+)*+{quote}(?!\w)", re.DOTALL)
    for quote in "'\""
}
_LONG_WORD = re.compile(rf"[^\s'\"/\\]{{{_MAX_WORD + 1},}}")


class AcidtestError(Exception):
    """An error that a user can correct; the message says what is wrong, what was expected and what to do next.

    Values between quotes are cut at ``MAX_QUOTED`` characters.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(escape_terminal(cut_long_values(str(message))))


class FileError(AcidtestError):
    """Something wrong in a file; the message begins with its path and, where known, the line."""

    def __init__(self, path: str | Path, message: str, line: int | None = None) -> None:
        self.path = Path(path)
        self.line = line
        self.problem = cut_long_values(message)
        where = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{where}: {self.problem}")


class FolderInUseError(AcidtestError):
    """Raised where another process works in a folder; it is free again when that process ends."""


class LabelOrderError(AcidtestError):
    """Raised where predictions show that labels are declared in the wrong order."""


class NothingToMakeError(AcidtestError):
    """Raised where a suite can make no pairs from a corpus; a battery skips that suite."""


class UnknownNameError(AcidtestError):
    """A name that is not among the known ones; the message suggests the nearest."""

    def __init__(self, kind: str, name: str, known: Iterable[str], then: str = "") -> None:
        names = sorted(known)
        others = f"; there is {list_some(names, 16)}" if names else "; there is none"
        super().__init__(f"no {kind} called {name!r}{suggest_near(name, names) or others}{then}")


def suggest_near(name: str, known: Iterable[str], *, most: int = 2, cutoff: float = 0.6) -> str:
    """The end of a message: “; did you mean 'hans'?”; empty if no known name is near."""
    near = difflib.get_close_matches(name, sorted(known), n=most, cutoff=cutoff)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


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


def cut_long_values(text: str) -> str:
    """The text of a message with quoted values cut at ``MAX_QUOTED`` characters; long words are cut too."""
    if len(text) <= MAX_QUOTED:
        return text
    text = _LONG_WORD.sub(lambda match: f"{match[0][:MAX_QUOTED]}…", _cut_quoted_values(text))
    return text if len(text) <= _MAX_MESSAGE else f"{text[: _MAX_MESSAGE - 1000]}…{text[-1000:]}"


def _cut_quoted_values(text: str) -> str:
    pieces, start, place, unclosed = list[str](), 0, 0, set[str]()
    while opening := _OPENING.search(text, place):
        quote, place = opening[0], opening.end()
        # After a quotation mark without an end, no later one has an end: searching again would take quadratic time.
        if quote in unclosed:
            continue
        quoted = _QUOTED[quote].match(text, opening.start())
        if quoted is None:
            unclosed.add(quote)
            continue
        place = quoted.end()
        if place - quoted.start() > MAX_QUOTED + 2:
            pieces += [text[start : quoted.start() + MAX_QUOTED + 1], f"…{quote}"]
            start = place
    return "".join([*pieces, text[start:]])


def end_quietly_while_loading() -> None:
    """Let Ctrl-C end the program without a traceback until ``interrupt_normally``.

    Loading takes part of a second, in which nothing could catch it. Only where acidtest is the program (``acidtest …``,
    ``python -m acidtest``): a program that imports it decides for itself what Ctrl-C means.
    """
    if _is_the_program() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _exit_quietly)


def interrupt_normally() -> None:
    """Let Ctrl-C raise ``KeyboardInterrupt`` from here on."""
    if signal.getsignal(signal.SIGINT) is _exit_quietly:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_the_program() -> bool:
    if threading.current_thread() is not threading.main_thread():
        return False
    # While "python -m" looks for the module, the first argument is "-m".
    as_module = sys.argv[:1] == ["-m"] and "acidtest" in sys.orig_argv
    return as_module or (bool(sys.argv) and os.path.basename(sys.argv[0]) in _PROGRAMS)  # noqa: PTH119


def _exit_quietly(number: int, frame: FrameType | None) -> None:
    sys.stderr.write("acidtest: interrupted\n")
    sys.stderr.flush()
    os._exit(INTERRUPTED)
