"""Registries of named things, which modules of acidtest, other packages and local files add when imported.

Other packages declare an entry point; the environment variable ``ACIDTEST_PLUGINS`` lists local files.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.metadata
import importlib.util
import inspect
import os
import pkgutil
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, Literal, TypeVar, get_args, get_origin

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.logs import log
from acidtest.core.settings import PLUGINS, require_requested
from acidtest.core.suite import Argument

T = TypeVar("T")

_IMPORTED_FILES = set[str]()

_PLUGIN_PLACES = set[Path]()
"""The files and package folders of the plug-ins that were imported."""


class Registry(Generic[T]):
    """Things of one kind by name. Modules register theirs when imported, and are imported when a name is looked up.

    ``stress/negation`` is looked up in the module or package ``stress`` first; all modules are imported only if it is
    not there. ``homes`` are the packages to import from. With ``deep=False`` only the ``__init__`` of a package in them
    is imported, not the modules below it. ``adopt`` makes a thing of a plain function that an entry point names.
    """

    def __init__(
        self,
        kind: str,
        homes: Sequence[str],
        entry_points: str,
        *,
        deep: bool = True,
        adopt: Callable[[str, Callable[..., Any]], T] | None = None,
    ) -> None:
        self._kind = kind
        self._adopt = adopt
        self._deep = deep
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
            problem = UnknownNameError(self._kind, name, self._things)
            if os.environ.get(PLUGINS) or str(problem).endswith("?"):
                raise problem
            then = f"; if a Python file of your own adds it, name that file in {PLUGINS}"
            raise UnknownNameError(self._kind, name, self._things, then)
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
        """Import the modules or packages of this name in the homes, and every home that itself has this name."""
        for home in self._homes:
            if name in home.split(".")[1:] and home.count(".") > 1:
                _import_tree(home)
            elif name in {module.name for module in pkgutil.iter_modules(_folders(home))}:
                self._import(f"{home}.{name}")

    def _import(self, name: str) -> None:
        if self._deep:
            _import_tree(name)
        else:
            importlib.import_module(name)

    def mentioning(self, word: str) -> list[T]:
        """All registered things, sorted by name, after importing modules with a word in their source, and plug-ins.

        Use it for a keyword that every relevant thing must write out: modules without that word need no import.
        """
        self._import_all(word)
        return [self._things[name] for name in sorted(self._things)]

    def _import_all(self, word: str = "") -> None:
        """Import the modules of all homes, or only those with ``word`` in their source, and all plug-ins."""
        if self._complete:
            return
        self._complete = not word
        for home in self._homes:
            importlib.import_module(home)
            for module in pkgutil.iter_modules(_folders(home), f"{home}."):
                if not word or word in module_source(module.name):
                    self._import(module.name)
        self._import_plugins()

    def sources(self) -> dict[str, str]:
        """The source of each module or package in the homes, by its name; nothing is imported."""
        modules = ((home, module.name) for home in self._homes for module in pkgutil.iter_modules(_folders(home)))
        return {name: module_source(f"{home}.{name}") for home, name in modules}

    def plugins(self) -> list[T]:
        """What plug-ins have registered, besides what modules imported before them have."""
        self._import_plugins()
        return [self._things[name] for name in sorted(self._things)]

    def _is_registered(self, function: Callable[..., Any]) -> bool:
        """Whether a function registered itself when its module was imported."""
        return any(getattr(thing, "make", None) is function for thing in self._things.values())

    def _import_plugins(self) -> None:
        import_local_files()
        for point in importlib.metadata.entry_points(group=self._entry_points):
            try:
                loaded = point.load()
                _PLUGIN_PLACES.add(_package_place(point.module))
                if self._adopt and inspect.isfunction(loaded) and not self._is_registered(loaded):
                    self.add(point.name)(self._adopt(point.name, loaded))
            except Exception as error:
                # A broken third-party package must not stop acidtest.
                log.warning("the plug-in %s (%s) could not be loaded: %s", point.name, point.value, error)


def module_source(name: str) -> str:
    """The source of a module, or of the ``__init__`` of a package, read without importing it."""
    spec = importlib.util.find_spec(name)
    loader = spec and spec.loader
    return (loader.get_source(name) or "") if isinstance(loader, importlib.abc.InspectLoader) else ""


def docstring_after(source: str, start: int) -> str:
    """The first paragraph of the first docstring after a place in the source of a module."""
    return " ".join(source[start:].split('"""', 2)[1].partition("\n\n")[0].split())


def import_local_files() -> None:
    """Import the files that ``ACIDTEST_PLUGINS`` names, separated as in PATH, each once."""
    for name in filter(None, os.environ.get(PLUGINS, "").split(os.pathsep)):
        path = Path(name).resolve()
        if str(path) in _IMPORTED_FILES:
            continue
        if path.suffix != ".py" or not path.is_file():
            raise AcidtestError(f"{PLUGINS}: {name} is not a Python file; name files that end in .py")
        _IMPORTED_FILES.add(str(path))
        _PLUGIN_PLACES.add(path)
        import_file(path, f"acidtest_plugin_{path.stem}", f"{PLUGINS}: {name}")


def _package_place(module: str) -> Path:
    """The folder of the package that an imported module belongs to, or the file of a single module."""
    top = sys.modules[module.partition(".")[0]]
    # A package without __init__.py has no file.
    path = Path(getattr(top, "__file__", None) or next(iter(top.__path__))).resolve()
    return path.parent if path.name == "__init__.py" else path


def plugin_error(error: Exception) -> AcidtestError | None:
    """The error to show for an exception in a plug-in's code, with file and line; None if no plug-in was running."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename).resolve()
        if _PLUGIN_PLACES & {path, *path.parents}:
            log.debug("%s", "".join(traceback.format_exception(error)))
            problem = f"the plug-in {path.name} raised {type(error).__name__}: {error}"
            return AcidtestError(f"{problem} ({path}, line {frame.lineno}; -vv shows the whole traceback)")
    return None


def import_file(path: Path, module_name: str, what: str) -> ModuleType:
    """Run a Python file as a module of this name; errors begin with ``what``.

    Raises if only a settings file that the user did not name asks for it.
    """
    require_requested(path.resolve(), f"runs code: {path}")
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise AcidtestError(f"{what} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    # A study in the file finds its module by name (``Study._module``).
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        where = f" (line {lines[-1]})" if lines else ""
        raise AcidtestError(f"{what} could not be imported: {type(error).__name__}: {error}{where}") from error
    return module


def _import_tree(name: str) -> None:
    """Import a module and, if it is a package, every module below it."""
    importlib.import_module(name)
    for module in pkgutil.walk_packages(_folders(name), f"{name}."):
        importlib.import_module(module.name)


def _folders(name: str) -> Sequence[str]:
    """The folders of a package, found without importing it; none for a single module."""
    spec = importlib.util.find_spec(name)
    return (spec and spec.submodule_search_locations) or ()


@dataclass(frozen=True)
class Option:
    """An argument that one suite or one kind of model takes, such as ``--words``."""

    name: str
    default: Argument | tuple[str, ...]
    choices: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """The option as it is written on a command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def shown(self) -> str:
        """The default as a user would write it."""
        return ",".join(self.default) or "none" if isinstance(self.default, tuple) else str(self.default)

    def parsed(self, text: object, owner: str) -> Argument | tuple[str, ...]:
        """The value that a user wrote, converted to the type of the default; commas separate the values of a tuple."""
        if isinstance(self.default, bool):
            if str(text).lower() not in ("true", "false"):
                raise AcidtestError(f"{owner}: {self.flag} takes no value, true or false, not {text!r}")
            return str(text).lower() == "true"
        if text is True:
            raise AcidtestError(f"{owner}: {self.flag} needs a value")
        if isinstance(self.default, tuple):
            return tuple(part.strip() for part in str(text).split(",") if part.strip())
        if self.choices and text not in self.choices:
            raise AcidtestError(f"{owner}: {self.flag} is {' or '.join(self.choices)}, not {text!r}")
        try:
            return type(self.default)(str(text))
        except ValueError as error:
            kind = "a whole number" if isinstance(self.default, int) else "a number"
            raise AcidtestError(f"{owner}: {self.flag} needs {kind}, not {text!r}") from error


def read_options(make: Callable[..., Any]) -> dict[str, Option]:
    """The options a function takes: all its parameters but the first."""
    parameters = list(inspect.signature(make, eval_str=True).parameters.values())[1:]
    return {p.name: Option(p.name, p.default, _choices(p.annotation)) for p in parameters}


def _choices(annotation: object) -> tuple[str, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def parse_options(
    options: Mapping[str, Option], given: Mapping[str, Any], owner: str
) -> dict[str, Argument | tuple[str, ...]]:
    """The parsed values of the options that a user gave; an unknown name raises."""
    values = {}
    for name, value in given.items():
        if name not in options:
            raise UnknownNameError(f"option of {owner}", name, options)
        values[name] = options[name].parsed(value, owner)
    return values
