"""Registries of named things, which modules of acidtest, other packages and local files add when imported.

Other packages declare an entry point; the environment variable ``ACIDTEST_PLUGINS`` lists local files.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.resources
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
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


@dataclass(frozen=True)
class IndexEntry:
    """What the index lists of one thing in the package: the module that registers it, and what help prints of it."""

    module: str
    group: str
    summary: str
    applies: bool
    """Whether a study declares that it belongs in reports."""
    pairs: int
    """The pairs of a suite; 0 if they depend on a corpus, and for everything else."""


@cache
def read_index(kind: str) -> Mapping[str, IndexEntry]:
    """The things of one kind in the package by name, as ``data/plugins.tsv`` lists them; nothing is imported."""
    text = importlib.resources.files("acidtest.data").joinpath("plugins.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines()[1:])
    return {
        name: IndexEntry(module, group, summary, applies == "yes", int(pairs or 0))
        for row_kind, name, module, group, applies, pairs, summary in rows
        if row_kind == kind
    }


class Registry(Generic[T]):
    """Things of one kind by name. A module registers its things when it is imported.

    The index (``data/plugins.tsv``, written by ``tools/plugins.py``) names the module of everything in the package, so
    that looking up one name imports one module. Other packages and local files are imported when their names are
    needed. ``adopt`` makes a thing of a plain function that an entry point names.
    """

    def __init__(
        self, kind: str, entry_points: str, *, adopt: Callable[[str, Callable[..., Any]], T] | None = None
    ) -> None:
        self._kind = kind
        self._adopt = adopt
        self._entry_points = entry_points
        self._things: dict[str, T] = {}

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
            problem = UnknownNameError(self._kind, name, self)
            if os.environ.get(PLUGINS) or str(problem).endswith("?"):
                raise problem
            then = f"; if a Python file of your own adds it, name that file in {PLUGINS}"
            raise UnknownNameError(self._kind, name, self, then)
        self._import(name)
        return self._things[name]

    def __contains__(self, name: object) -> bool:
        if name in self._things or name in self.index:
            return True
        self._import_plugins()
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        self._import_plugins()
        return iter(sorted({*self.index, *self._things}))

    @property
    def index(self) -> Mapping[str, IndexEntry]:
        """What the index lists of this kind; nothing is imported."""
        return read_index(self._kind)

    def registered(self) -> list[T]:
        """What imported modules have registered, sorted by name."""
        return [self._things[name] for name in sorted(self._things)]

    def applicable(self) -> list[T]:
        """The things that the index marks as belonging in reports, and all plug-ins, sorted by name."""
        self._import_plugins()
        names = {name for name, entry in self.index.items() if entry.applies} | (
            self._things.keys() - self.index.keys()
        )
        return [self[name] for name in sorted(names)]

    def plugins(self) -> list[T]:
        """What plug-ins have registered."""
        self._import_plugins()
        return [self._things[name] for name in sorted(self._things.keys() - self.index.keys())]

    def _import(self, name: str) -> None:
        """Import the module that registers a name of the index."""
        if name not in self._things:
            importlib.import_module(self.index[name].module)

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
