"""One line with all that changes a number."""

from __future__ import annotations

from acidtest.core.estimate import signature
from acidtest.version import __version__


def test_the_version_stands_last() -> None:
    assert signature("agreement", "n:3") == f"agreement|n:3|acidtest:{__version__}"
