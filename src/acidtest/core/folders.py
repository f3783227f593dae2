"""Where acidtest keeps what outlives a command: a user's data, and what could be made again."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

DATA = "ACIDTEST_DATA"
CACHE = "ACIDTEST_CACHE_FOLDER"


def data_folder(environment: Mapping[str, str], *, platform: str = sys.platform, home: Path | None = None) -> Path:
    """Where resources are kept: ``ACIDTEST_DATA``, or the platform's folder for a user's data."""
    if environment.get(DATA):
        return Path(environment[DATA])
    home = Path.home() if home is None else home
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "acidtest"
    if platform == "darwin":
        return home / "Library" / "Application Support" / "acidtest"
    return Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share") / "acidtest"


def cache_folder(environment: Mapping[str, str], *, platform: str = sys.platform, home: Path | None = None) -> Path:
    """Where what can be made again is kept: ``ACIDTEST_CACHE_FOLDER``, or the platform's folder for it."""
    if environment.get(CACHE):
        return Path(environment[CACHE])
    home = Path.home() if home is None else home
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "acidtest" / "cache"
    if platform == "darwin":
        return home / "Library" / "Caches" / "acidtest"
    return Path(environment.get("XDG_CACHE_HOME") or home / ".cache") / "acidtest"
