"""Ctrl-C while the program loads, which takes most of a second in which nothing could catch it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType

INTERRUPTED = 130
"""The exit status of a program that Ctrl-C ended."""

_NAMES = ("acidtest", "acidtest.exe", "acidtest-script.py")


def end_quietly_while_loading() -> None:
    """Let Ctrl-C end the program without a traceback until ``interrupt_normally``.

    Only where acidtest is the program (``acidtest …``, ``python -m acidtest``): a program that imports it decides for
    itself what Ctrl-C means.
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
    return as_module or (bool(sys.argv) and os.path.basename(sys.argv[0]) in _NAMES)  # noqa: PTH119


def _exit_quietly(number: int, frame: FrameType | None) -> None:
    sys.stderr.write("acidtest: interrupted\n")
    sys.stderr.flush()
    os._exit(INTERRUPTED)
