"""Tables of a TOML file read key by key, with errors that say which table and key they are about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acidtest.annotate.conditions import choice
from acidtest.core.errors import AcidtestError, UnknownNameError


class TomlTable:
    """A table of the file, read key by key; in errors it goes by ``where``."""

    def __init__(self, written: Mapping[str, Any], where: str = "") -> None:
        self._written = written
        self._where = f"{where}: " if where else ""

    def error(self, problem: object) -> AcidtestError:
        """What is wrong, and where."""
        return AcidtestError(f"{self._where}{problem}")

    def check_keys(self, *known: str) -> None:
        """Raise when there is a key that means nothing."""
        for name in self._written:
            if name not in known:
                raise self.error(UnknownNameError("key", name, known))

    def has(self, name: str) -> bool:
        """Whether the key is there."""
        return name in self._written

    def value(self, name: str) -> Any:
        """Whatever stands there."""
        return self._written[name]

    def text(self, name: str, *, needed: str = "") -> str:
        """A string without spaces around it; ``needed`` says what to write where it must not be missing."""
        value = self._written.get(name, "")
        if not isinstance(value, str):
            raise self.error(f"{name} = {toml_value(value)} is no text; put it in quotes")
        if not value.strip() and (needed or name in self._written):
            raise self.error(f"{name} is {'empty' if name in self._written else 'missing'}; {needed or 'fill it in'}")
        return value.strip()

    def flag(self, name: str, *, default: bool) -> bool:
        """True or false."""
        value = self._written.get(name, default)
        if not isinstance(value, bool):
            raise self.error(f"{name} = {toml_value(value)} is neither true nor false")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of strings."""
        value = self._written.get(name, [])
        if not isinstance(value, list) or not all(isinstance(each, str) and each.strip() for each in value):
            raise self.error(f'{name} is a list of texts: {name} = ["…", "…"]')
        return tuple(each.strip() for each in value)

    def one_of(self, name: str, known: tuple[str, ...], *, default: str) -> Any:
        """One of some words."""
        value = self._written.get(name, default)
        if value not in known:
            raise self.error(f"{name} {value!r} is not {choice(known)}")
        return value

    def tables(self, name: str) -> list[Mapping[str, Any]]:
        """A list of tables."""
        value = self._written.get(name, [])
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self.error(f"{name} is a list of tables; begin each with [[{name}]]")
        return value


def toml_value(value: object) -> str:
    """A value as TOML has it, near enough to be recognised."""
    return str(value).lower() if isinstance(value, bool) else repr(value)
