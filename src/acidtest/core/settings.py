"""Settings from ``acidtest.toml``; flags and ``ACIDTEST_*`` variables take precedence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from acidtest.core.errors import FileError, UnknownNameError
from acidtest.core.structured import read_toml

FILE = "acidtest.toml"
PREFIX = "ACIDTEST_"
CONFIG = "ACIDTEST_CONFIG"
"""The variable that names a settings file."""

_UNREQUESTED_MODELS = ("python:", "endpoint:")
_UNREQUESTED_OPTION = "address"


def read_settings(path: str | Path, commands: Mapping[str, Iterable[str]]) -> dict[str, dict[str, Any]]:
    """The settings of every command in a settings file; ``commands`` maps command names to their options.

    A top-level key applies to all commands with that option; a key under ``[run]`` applies to ``run`` and overrides it.
    """
    path = Path(path)
    if not path.is_file():
        return {}
    values = read_toml(path)
    known = {command: {_normal(option) for option in options} for command, options in commands.items()}
    everywhere = set().union(*known.values())
    settings: dict[str, dict[str, Any]] = {command: {} for command in known}
    for key, value in values.items():
        if isinstance(value, dict):
            _require(path, "command", key, known)
            for option, inner in value.items():
                _require(path, f"option of {key}", _normal(option), known[key])
                _require_plain(path, f"{key}.{option}", inner)
            continue
        _require(path, "option", _normal(key), everywhere)
        _require_plain(path, key, value)
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


def _require_plain(path: Path, key: str, value: Any) -> None:
    for part in value if isinstance(value, list) else [value]:
        if not isinstance(part, str | int | float):
            raise FileError(path, f"{key}: expected a text, a number, true or false, or a list of such, got {part!r}")


def refuse_unrequested(path: str | Path, option: str, value: Any) -> None:
    """Raise when a settings file that the user did not name would run code or send a key to a server.

    Such a file is read merely because it lies in the current folder.
    """
    values = value if isinstance(value, list | tuple) else [value]
    for part in (part.strip() for text in values for part in str(text).split(",")):
        if part.startswith(_UNREQUESTED_MODELS) or _is_code(part) or _normal(option) == _UNREQUESTED_OPTION:
            raise FileError(
                path,
                f"{option} = {part!r} {_why(option, part)}, and a settings file that is merely there may not ask for "
                f"that; say it on the command line, or name the file: {CONFIG}={path}",
            )


def _is_code(value: str) -> bool:
    """Whether a value is a Python file, or a function of one: as a suite, it would be run."""
    return re.fullmatch(r".+\.py(:\w+)?", value) is not None


def _why(option: str, value: str) -> str:
    if value.startswith("python:") or _is_code(value):
        return "runs code"
    return (
        "connects to a cluster, which runs code"
        if _normal(option) == _UNREQUESTED_OPTION
        else "sends a key to a server"
    )


def _normal(option: str) -> str:
    return option.replace("-", "_")
