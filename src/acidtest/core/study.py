"""Studies compute results from runs or data and show them. A study is one module with two functions.

    @study(group="look into a run")
    def factors(runs: Annotated[Sequence[Run], "Run folders."], *, seed: Annotated[int, "…"] = 0) -> FactorsResult:
        \"\"\"Show which categories of reasoning go with a right answer.\"\"\"

    def document(result: FactorsResult) -> Document: …

The command is made from the first function: parameters become arguments and options, annotations their help, the
docstring the help of the command. Called from Python, the function also accepts folders in place of runs. A module may
also define ``rows(result)``, which returns the frame that ``-o FILE.tsv`` writes, or ``rows(result, path)``, which also
keeps what people have entered in that file; and ``screen(result, rows)``, a shorter document, printed without --full.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from acidtest.core.registry import Registry
from acidtest.core.run import Run

if TYPE_CHECKING:
    import polars as pl

    from acidtest.core.document import Document

GROUPS = ("test a model", "look into a run", "make and check data", "people", "train")
"""Tasks of a user: the headings of ``acidtest --help``."""

R = TypeVar("R")


@dataclass(frozen=True)
class Study:
    """A registered study: its name and the function that computes its result; its module shows the result."""

    name: str
    compute: Callable[..., Any]
    group: str
    """One of ``GROUPS``, or empty for a study whose command is written by hand."""
    applies: Callable[[Sequence[Run]], bool] | None = None
    """Whether a report on the given runs adds this study, such as a ``SuitePattern``; None means never.

    A report composes scores, comparison and contamination by code of their own.
    """

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.compute) or "").partition("\n")[0]

    def document(self, result: Any) -> Document:
        """The document that shows a result."""
        document: Document = self._module.document(result)
        return document

    @property
    def has_screen(self) -> bool:
        """Whether the study can show a result on one screen; everything is then printed with --full."""
        return hasattr(self._module, "screen")

    def screen(self, result: Any, rows: int) -> Document:
        """The document for one screen, with at most ``rows`` rows of each kind."""
        document: Document = self._module.screen(result, rows)
        return document

    @property
    def writes_rows(self) -> bool:
        """Whether the study can write a table of its rows."""
        return hasattr(self._module, "rows")

    @property
    def keeps_rows(self) -> bool:
        """Whether the study's table keeps what people filled in when it is written again."""
        return self.writes_rows and len(inspect.signature(self._module.rows).parameters) > 1

    def rows(self, result: Any, path: Path) -> pl.DataFrame:
        """The rows behind the result, as a table for other programs; ``path`` is where it will be written."""
        frame: pl.DataFrame = self._module.rows(result, path) if self.keeps_rows else self._module.rows(result)
        return frame

    @property
    def _module(self) -> Any:
        """The module with ``document``: that of the study, or the one called ``document`` in its folder."""
        module = importlib.import_module(self.compute.__module__)
        # In a folder, ``document`` may be the module of that name once it is imported.
        is_whole = callable(getattr(module, "document", None))
        return module if is_whole else importlib.import_module(f"{module.__name__}.document")


STUDIES: Registry[Study] = Registry("study", "acidtest.studies")


@dataclass(frozen=True)
class CommandEntry:
    """A command as the help of the program lists it."""

    group: str
    summary: str


def study_entries() -> dict[str, CommandEntry]:
    """The studies with a command: those of the index, which need no import, and those of plug-ins."""
    entries = {name: CommandEntry(one.group, one.summary) for name, one in STUDIES.index.items() if one.group}
    plugins = (study for study in STUDIES.plugins() if study.group)
    return entries | {study.name: CommandEntry(study.group, study.summary) for study in plugins}


def study(
    *, group: str = "", name: str = "", applies: Callable[[Sequence[Run]], bool] | None = None
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Register the decorated function as a study, under ``name`` or else its own name.

    Its arguments may be paths, which ``load_input`` loads as the annotated types. No command is generated for a study
    without a group.
    """
    if group and group not in GROUPS:
        raise ValueError(f"{group!r} is not one of {', '.join(GROUPS)}")

    def register(compute: Callable[..., R]) -> Callable[..., R]:
        signature = inspect.signature(compute)

        @functools.wraps(compute)
        def run_study(*args: Any, **options: Any) -> R:
            bound, hints = signature.bind(*args, **options), get_type_hints(compute, include_extras=True)
            for key, value in bound.arguments.items():
                bound.arguments[key] = load_input(hints[key], value)
            return compute(*bound.args, **bound.kwargs)

        STUDIES.add(name or compute.__name__)(Study(name or compute.__name__, run_study, group, applies))
        return run_study

    return register


LOADERS: dict[type, Callable[[Any], Any]] = {Run: lambda source: getattr(source, "run", None) or Run.read(source)}
"""For each type, how to load it from what a user gives: a run from a folder or from an object with a ``run``."""


def input_type(hint: Any) -> tuple[type | None, bool]:
    """The type in ``LOADERS`` that a parameter takes, or None, and whether it takes a sequence."""
    if get_origin(hint) is Annotated:
        return input_type(get_args(hint)[0])
    if get_origin(hint) in (Sequence, list):
        return input_type(get_args(hint)[0])[0], True
    kinds = [kind for kind in (get_args(hint) if is_union(hint) else (hint,)) if kind is not type(None)]
    return (kinds[0], False) if len(kinds) == 1 and kinds[0] in LOADERS else (None, False)


def is_union(hint: Any) -> bool:
    """Whether a type is a union of types, such as ``Suite | None``."""
    return get_origin(hint) is Union or type(hint).__name__ == "UnionType"


def load_input(hint: Any, value: Any) -> Any:
    """The value that a user gave for a parameter, loaded as the annotated type: a folder becomes a run."""
    kind, several = input_type(hint)
    if kind is None or value is None:
        return value
    if several:
        return [part if isinstance(part, kind) else LOADERS[kind](part) for part in value]
    return value if isinstance(value, kind) else LOADERS[kind](value)
