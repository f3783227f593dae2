"""Names → things: found in a folder of ours and in other packages' entry points, imported on use."""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.logs import log

T = TypeVar("T")


class Registry(Generic[T]):
    """Things of one kind by name. A module that lies in a package, or is named itself, registers them when imported."""

    def __init__(self, kind: str, homes: Sequence[str], entry_points: str) -> None:
        self._kind = kind
        self._homes = homes
        self._entry_points = entry_points
        self._things: dict[str, T] = {}
        self._read = False

    def add(self, name: str) -> Callable[[T], T]:
        """A decorator that registers a thing under a name."""

        def register(thing: T) -> T:
            if name in self._things:
                raise AcidtestError(f"two {self._kind}s are called {name!r}; rename one")
            self._things[name] = thing
            return thing

        return register

    def __getitem__(self, name: str) -> T:
        self._read_all()
        if name not in self._things:
            raise UnknownNameError(self._kind, name, self._things)
        return self._things[name]

    def __contains__(self, name: object) -> bool:
        self._read_all()
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        self._read_all()
        return iter(sorted(self._things))

    def _read_all(self) -> None:
        if self._read:
            return
        self._read = True
        for home in self._homes:
            folders = getattr(importlib.import_module(home), "__path__", ())
            for module in pkgutil.walk_packages(folders, f"{home}."):
                importlib.import_module(module.name)
        for point in importlib.metadata.entry_points(group=self._entry_points):
            try:
                point.load()
            except Exception as error:
                # Somebody else's broken package must not take ours down.
                log.warning("the plug-in %s (%s) could not be loaded: %s", point.name, point.value, error)
