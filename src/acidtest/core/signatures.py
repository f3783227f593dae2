"""What stands behind a number, on one line."""

from __future__ import annotations

from acidtest.version import __version__


def signature(*parts: str) -> str:
    """The parts with bars between them, and the version of acidtest behind them."""
    return "|".join([*parts, f"acidtest:{__version__}"])
