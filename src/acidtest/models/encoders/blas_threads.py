"""Threads that multiply matrices each on its own, in place of those that NumPy's BLAS would make for every product."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock

import numpy as np

_NAMES = ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "openblas_{}_num_threads")


@contextmanager
def own_threads() -> Iterator[int]:
    """How many threads may call NumPy at once: inside the block BLAS makes none itself.

    It is as many as BLAS would make, which its environment variables say, too. One where BLAS is not the OpenBLAS that
    NumPy's own packages bring: that other makes threads as it likes. Of several blocks at once the first finds out how
    many it is, and the last gives them back.
    """
    found = _openblas()
    if found is None:
        yield 1
        return
    count = found.enter()
    try:
        yield count
    finally:
        found.leave()


@dataclass
class OpenBlas:
    """What tells and what changes how many threads OpenBLAS makes, and how many blocks keep it from making any."""

    made: Callable[[], int]
    make: Callable[[int], object]
    _count: int = 1
    _blocks: int = 0
    _lock: Lock = field(default_factory=Lock)

    def enter(self) -> int:
        """Make none from now on; how many there were."""
        with self._lock:
            if not self._blocks:
                self._count = max(1, self.made())
                self.make(1)
            self._blocks += 1
            return self._count

    def leave(self) -> None:
        """Make as many as before, where no other block is open."""
        with self._lock:
            self._blocks -= 1
            if not self._blocks:
                self.make(self._count)


@cache
def _openblas() -> OpenBlas | None:
    """The OpenBLAS that NumPy has loaded."""
    home = Path(np.__file__).parent
    for path in sorted(path for folder in (home.parent / "numpy.libs", home / ".dylibs") for path in folder.glob("*")):
        if "openblas" not in path.name:
            continue
        with suppress(OSError):
            library = ctypes.CDLL(str(path))
            for name in _NAMES:
                with suppress(AttributeError):
                    return OpenBlas(library[name.format("get")], library[name.format("set")])
    return None
