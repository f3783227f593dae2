"""The engine that works in this process, one part after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")


def mapped(function: Callable[[Part], Result], parts: Iterable[Part]) -> Iterator[tuple[Part, Result]]:
    """Each part with what the function makes of it, as soon as it is made."""
    for part in parts:
        yield part, function(part)
