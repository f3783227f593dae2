"""Names → things: registered by modules of ours, of other packages and by local files, imported on use.

Other packages declare an entry point; a local file is named by the variable ``ACIDTEST_PLUGINS``.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.logs import log

T = TypeVar("T")

PLUGINS = "ACIDTEST_PLUGINS"
"""The variable that names local files to import; a settings file cannot, since it may be somebody else's."""

_IMPORTED = set[str]()


class Registry(Generic[T]):
    """Things of one kind by name. A module registers its things when imported, which happens when one is asked for.

    A thing called ``stress/negation`` is looked for in the module or folder ``stress`` first; only when it is not there
    is everything imported.
    """

    def __init__(self, kind: str, homes: Sequence[str], entry_points: str) -> None:
        self._kind = kind
        self._homes = homes
        self._entry_points = entry_points
        self._things: dict[str, T] = {}
        self._complete = False

    def add(self, name: str) -> Callable[[T], T]:
        """A decorator that registers a thing under a name."""

        def register(thing: T) -> T:
            if name in self._things:
                raise AcidtestError(f"two {self._kind}s are called {name!r}; rename one")
            self._things[name] = thing
            return thing

        return register

    def __getitem__(self, name: str) -> T:
        if name not in self:
            raise UnknownNameError(self._kind, name, self._things)
        return self._things[name]

    def __contains__(self, name: object) -> bool:
        if name not in self._things and isinstance(name, str):
            self._import_module(name.partition("/")[0].replace("-", "_"))
        if name not in self._things:
            self._import_all()
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        self._import_all()
        return iter(sorted(self._things))

    def _import_module(self, name: str) -> None:
        """Import the module or folder of a name, where there is one."""
        for home in self._homes:
            if name in home.split(".")[1:] and home.count(".") > 1:
                _import_tree(home)
            elif name in {module.name for module in pkgutil.iter_modules(_folders(home))}:
                _import_tree(f"{home}.{name}")

    def _import_all(self) -> None:
        if self._complete:
            return
        self._complete = True
        for home in self._homes:
            _import_tree(home)
        import_local_files()
        for point in importlib.metadata.entry_points(group=self._entry_points):
            try:
                point.load()
            except Exception as error:
                # Somebody else's broken package must not take ours down.
                log.warning("the plug-in %s (%s) could not be loaded: %s", point.name, point.value, error)


def import_local_files() -> None:
    """Import the files that ``ACIDTEST_PLUGINS`` names, separated as in PATH, each once."""
    for name in filter(None, os.environ.get(PLUGINS, "").split(os.pathsep)):
        path = Path(name).resolve()
        if str(path) in _IMPORTED:
            continue
        if path.suffix != ".py" or not path.is_file():
            raise AcidtestError(f"{PLUGINS}: {name} is not a Python file; name files that end in .py")
        _IMPORTED.add(str(path))
        spec = importlib.util.spec_from_file_location(f"acidtest_plugin_{path.stem}", path)
        if spec is None or spec.loader is None:
            raise AcidtestError(f"{PLUGINS}: {name} cannot be imported")
        module = importlib.util.module_from_spec(spec)
        # Functions of a study look for their module by its name.
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)


def _import_tree(name: str) -> None:
    """Import a module and, where it is a folder, every module below it."""
    importlib.import_module(name)
    for module in pkgutil.walk_packages(_folders(name), f"{name}."):
        importlib.import_module(module.name)


def _folders(name: str) -> Sequence[str]:
    """Where the modules of a folder lie; none for a single module, which is not imported for that."""
    spec = importlib.util.find_spec(name)
    return (spec and spec.submodule_search_locations) or ()
