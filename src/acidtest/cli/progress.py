"""Progress bars on standard error, for work that takes longer than two seconds."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING

from acidtest.cli.options import complain
from acidtest.core.logs import log

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_DELAY = 2.0
_EVERY = 15.0


class ProgressBar:
    """A bar on a terminal, a line every 15 seconds elsewhere; nothing for quick work."""

    def __init__(self, title: str, *, quiet: bool = False) -> None:
        self._title = title
        self._state = ""
        self._quiet = quiet
        self._start = time.monotonic()
        self._last_line = self._start
        self._first: int | None = None
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show_state(self, state: str) -> None:
        """Show a phrase about the state of the work after the title from now on."""
        self._state = f", {state}"

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._first is None:
            # Work done before this process started does not count towards its speed.
            self._first, self._start, self._last_line = done, now, now
        if self._quiet or now - self._start < _DELAY:
            return
        if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            self._draw(done, total)
        elif now - self._last_line >= _EVERY:
            self._last_line = now
            rate = (done - self._first) / (now - self._start)
            left = f", {_shown((total - done) / rate)} left" if rate else ""
            complain(f"{self._title}{self._state}: {done:,} of {total:,}, {rate:,.0f} a second{left}")
            log.debug("%s: %d of %d", self._title, done, total)

    def _draw(self, done: int, total: int) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]} a second"),
                TimeRemainingColumn(),
            )
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(self._title, total=total, rate="")
            self._bar.start()
        if self._task is not None:
            rate = (done - (self._first or 0)) / max(time.monotonic() - self._start, 1e-9)
            self._bar.update(self._task, completed=done, description=self._title + self._state, rate=f"{rate:,.0f}")


def usage_line(usage: Mapping[str, float]) -> str:
    """A line on the speed of a run and how its time was spent; empty if no pairs were asked."""
    if not usage.get("pairs"):
        return ""
    rest = dict(usage)
    parts = [f"{rest.pop('pairs'):,.0f} pairs in {_shown(rest.pop('seconds'))}"]
    parts += [f"{rest.pop(f'{name}_per_s'):,.0f} {name}/s" for name in ("pairs", "tokens") if f"{name}_per_s" in rest]
    tokens, padding = rest.pop("tokens", 0), rest.pop("padding", 0)
    parts += [f"{100 * padding / (tokens + padding):.1f} % padding"] if tokens else []
    times = [name for name in rest if name.endswith("_s")]
    parts += [f"{_shown(rest.pop(name))} {name.removesuffix('_s')}" for name in times]
    parts += [f"{value:,g} {name.replace('_', ' ')}" for name, value in rest.items() if value]
    return ", ".join(parts)


def _shown(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
