"""The engine that works in this process: one part is made ready in a thread while another is worked on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Part = TypeVar("Part")
Ready = TypeVar("Ready")
Result = TypeVar("Result")

_AHEAD = 2
"""How many parts are made ready before they are needed."""


def mapped(
    parts: Iterable[Part], prepare: Callable[[Part], Ready], work: Callable[[Ready], Result]
) -> Iterator[tuple[Part, Result]]:
    """Each part with what is made of it, in order, as soon as it is made."""
    with ThreadPoolExecutor(1, thread_name_prefix="prepare") as pool:
        waiting = deque[tuple[Part, Future[Ready]]]()
        try:
            for part in parts:
                waiting.append((part, pool.submit(prepare, part)))
                if len(waiting) > _AHEAD:
                    first, ready = waiting.popleft()
                    yield first, work(ready.result())
            while waiting:
                first, ready = waiting.popleft()
                yield first, work(ready.result())
        finally:
            for _, left in waiting:
                left.cancel()


def plainly(parts: Iterable[Part], work: Callable[[Part], Result]) -> Iterator[tuple[Part, Result]]:
    """Each part with what is made of it, one after another and with no thread."""
    for part in parts:
        yield part, work(part)
