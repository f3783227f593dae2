"""Settings from ``acidtest.toml``; flags and ``ACIDTEST_*`` variables go before it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from acidtest.core.errors import FileError, UnknownNameError
from acidtest.core.files import read_bytes

FILE = "acidtest.toml"
PREFIX = "ACIDTEST_"


def variable(option: str) -> str:
    """The environment variable of an option: ``ACIDTEST_BATCH_SIZE`` for ``batch_size``."""
    return PREFIX + option.upper().replace("-", "_")


def file_settings(path: str | Path, commands: Mapping[str, Iterable[str]]) -> dict[str, dict[str, Any]]:
    """What a settings file says for each command; ``commands`` are their names and options.

    Top-level keys hold for every command that has the option, ``[run]`` and the like for one.
    """
    path = Path(path)
    if not path.is_file():
        return {}
    try:
        values = tomllib.loads(read_bytes(path).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileError(path, f"is not valid TOML: {error}") from error
    known = {command: {_normal(option) for option in options} for command, options in commands.items()}
    everywhere = set().union(*known.values())
    settings: dict[str, dict[str, Any]] = {command: {} for command in known}
    for key, value in values.items():
        if isinstance(value, dict):
            _require(path, "command", key, known)
            for option in value:
                _require(path, f"option of {key}", _normal(option), known[key])
            continue
        _require(path, "option", _normal(key), everywhere)
        for command, options in known.items():
            if _normal(key) in options:
                settings[command][_normal(key)] = value
    for command, table in values.items():
        if isinstance(table, dict):
            settings[command] |= {_normal(option): value for option, value in table.items()}
    return settings


def _require(path: Path, kind: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise FileError(path, str(UnknownNameError(kind, name, known)))


def _normal(option: str) -> str:
    return option.replace("-", "_")
