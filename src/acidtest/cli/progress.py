"""Progress on anything longer than two seconds, on standard error."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from acidtest.core.logs import log

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE = 2.0
_EVERY = 15.0


class ProgressBar:
    """A bar on a terminal, a line now and then elsewhere; nothing for what is over quickly."""

    def __init__(self, title: str, *, quiet: bool = False) -> None:
        self._title = title
        self._quiet = quiet
        self._start = time.monotonic()
        self._said = self._start
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._quiet or now - self._start < _PATIENCE:
            return
        if sys.stderr.isatty():
            self._draw(done, total)
        elif now - self._said >= _EVERY:
            self._said = now
            rate = done / (now - self._start)
            sys.stderr.write(f"{self._title}: {done:,} of {total:,}, {rate:,.0f} a second\n")
            log.debug("%s: %d of %d", self._title, done, total)

    def _draw(self, done: int, total: int) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(self._title, total=total)
            self._bar.start()
        if self._task is not None:
            self._bar.update(self._task, completed=done)
