"""Threads that multiply matrices each on its own, in place of those that NumPy's BLAS would make for every product."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import numpy as np

_NAMES = ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "openblas_{}_num_threads")


@contextmanager
def own_threads() -> Iterator[int]:
    """How many threads may call NumPy at once: inside the block BLAS makes none itself.

    It is as many as BLAS would make, which its environment variables say, too. One where BLAS is not the OpenBLAS that
    NumPy's own packages bring: that other makes threads as it likes.
    """
    found = _openblas()
    if found is None:
        yield 1
        return
    count, set_count = found
    set_count(1)
    try:
        yield count
    finally:
        set_count(count)


@cache
def _openblas() -> tuple[int, Callable[[int], object]] | None:
    """How many threads OpenBLAS makes, and what changes that."""
    home = Path(np.__file__).parent
    for path in sorted(path for folder in (home.parent / "numpy.libs", home / ".dylibs") for path in folder.glob("*")):
        if "openblas" not in path.name:
            continue
        with suppress(OSError):
            library = ctypes.CDLL(str(path))
            for name in _NAMES:
                with suppress(AttributeError):
                    return max(1, library[name.format("get")]()), library[name.format("set")]
    return None
