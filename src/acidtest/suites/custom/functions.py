"""Suites that a Python function of the user's makes: it returns rows, and the rest is completed.

Rows are a list of dicts, a dict of columns, or a frame, with premise, hypothesis and label. The function's parameters
are the options of the suite; ``seed`` and ``n`` get the user's.
"""

from __future__ import annotations

import hashlib
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl

from acidtest.core.digests import digests, hexadecimal
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.files import suggest_files
from acidtest.core.labels import GOLD_MASKS, gold_name
from acidtest.core.model import code_error, defined_names, import_users_module
from acidtest.core.registry import import_file
from acidtest.core.suite import COLUMNS, PARSES, RESERVED, Argument, Card, Kind, Suite, complete_columns, plain_name
from acidtest.suites.catalogue import SUITES, Generator, Request
from acidtest.suites.corpus import uses_all

FUNCTION = "suite"
"""The function that a file stands for, unless it has only one."""

_GIVEN = ("seed", "n")
"""Parameters that get the user's seed and size."""
_NEEDED = ("premise", "hypothesis", "label")
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_modules: dict[tuple[Path, int], ModuleType] = {}
"""Files that were run, by path and date: a file is run once."""


def import_function(rest: str) -> tuple[str, Callable[..., Any]]:
    """The name of the suite and the function at ``pkg.mod:function``; the current folder is searched first."""
    module_name, _, attribute = rest.partition(":")
    if not _MODULE.fullmatch(module_name) or not attribute:
        raise AcidtestError(
            f"python:{rest}: write python:MODULE:FUNCTION, such as python:mine:rows for rows in mine.py"
        )
    module = import_users_module(module_name, f"python:{rest}")
    return _suite_name(module_name, attribute), _function_of(module, attribute, f"python:{rest}")


def file_generator(path: Path, function: str) -> Generator:
    """The generator of a Python file: of the function named, of ``suite``, or of its only function."""
    if not path.is_file():
        raise FileError(path, f"there is no such file, and no suite of that name{suggest_files(path)}")
    resolved = path.resolve()
    key = resolved, resolved.stat().st_mtime_ns
    if key not in _modules:
        folder = str(resolved.parent)
        sys.path.insert(0, folder)
        try:
            digest = hashlib.blake2b(folder.encode(), digest_size=4).hexdigest()
            _modules[key] = import_file(resolved, f"acidtest_suite_{resolved.stem}_{digest}", str(path))
        finally:
            sys.path.remove(folder)
    module = _modules[key]
    registered = [suite for suite in SUITES.registered() if suite.make.__module__ == module.__name__]
    if len(registered) == 1 and not function:
        return registered[0]
    public = [name for name in defined_names(module) if inspect.isfunction(getattr(module, name))]
    if not function and FUNCTION not in public and len(public) != 1:
        problem = f"has {len(public)} functions ({', '.join(public)})" if public else "has no function"
        raise FileError(path, f"{problem}; call one {FUNCTION!r}, or name it: {path}:FUNCTION")
    name = function or (FUNCTION if FUNCTION in public else public[0])
    suite = _suite_name(path.stem, name) if function else path.stem
    return function_generator(suite, _function_of(module, name, str(path)))


def _suite_name(module: str, function: str) -> str:
    return module if function == FUNCTION else f"{module}/{function}"


def _function_of(module: ModuleType, name: str, where: str) -> Callable[..., Any]:
    function = getattr(module, name, None)
    if not callable(function):
        raise AcidtestError(f"{where}: {UnknownNameError('function', name, defined_names(module))}")
    return function  # type: ignore[no-any-return]


def function_generator(name: str, function: Callable[..., Any]) -> Generator:
    """The generator of a function that returns rows; its parameters are the suite's options."""
    where = _location(function)
    parameters = inspect.signature(function, eval_str=True).parameters
    options = [parameter for key, parameter in parameters.items() if key not in _GIVEN]
    for option in options:
        if option.kind in (option.VAR_POSITIONAL, option.VAR_KEYWORD, option.POSITIONAL_ONLY):
            raise AcidtestError(f"{where}: parameter {option.name!r}: a suite's options are named, one by one")
        if not isinstance(option.default, str | int | float | bool | tuple):
            kinds = "a text, a number, true or false, or a tuple of texts"
            raise AcidtestError(f"{where}: parameter {option.name!r} needs a default: {kinds}")

    def make(request: Request, **values: Argument | tuple[str, ...]) -> Suite:
        return _make(name, function, request, values)

    request = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    keyword = [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in options]
    make.__signature__ = inspect.Signature([request, *keyword])  # type: ignore[attr-defined]
    make.__doc__, make.__module__ = function.__doc__, function.__module__
    summary = (inspect.getdoc(function) or f"Made by {where}").partition("\n")[0].rstrip(".")
    return Generator(name, make, summary, 0, "code", f"{name}, written by its user ({where})", "not stated")


def _make(
    name: str, function: Callable[..., Any], request: Request, values: Mapping[str, Argument | tuple[str, ...]]
) -> Suite:
    """Call the function and complete what it returns to a suite."""
    where, parameters = _location(function), inspect.signature(function).parameters
    given: dict[str, Any] = dict(values)
    if "seed" in parameters:
        given["seed"] = request.seed
    if "n" in parameters and request.n is not None:
        given["n"] = request.n
    try:
        returned = function(**given)
        returned = list(returned) if inspect.isgenerator(returned) else returned
    except AcidtestError:
        raise
    except Exception as error:
        raise code_error(where, error) from error
    if isinstance(returned, Suite):
        return returned
    frame, kinds = _complete(_read_rows(returned, where), name, where)
    if "n" not in parameters and not uses_all(request, frame.height, "rows", f"{where} makes only {frame.height:,}"):
        order = np.argsort(Draws(request.seed, name).bits(digests(frame["id"])), kind="stable")
        frame = frame[np.sort(order[: request.n])]
    shown = {key: ",".join(value) if isinstance(value, tuple) else value for key, value in values.items()}
    is_drawn = "seed" in parameters or ("n" not in parameters and request.n is not None)
    generator = function_generator(name, function)
    card = Card(
        name,
        seed=request.seed if is_drawn else None,
        arguments=shown,
        sources=_code_digest(function),
        licence=generator.licence,
        citation=generator.citation,
        columns=kinds,
    )
    return Suite(frame.lazy(), card)


def _read_rows(returned: Any, where: str) -> pl.DataFrame:
    """What a function returned, as a frame."""
    try:
        if isinstance(returned, pl.LazyFrame):
            return returned.collect()
        if isinstance(returned, pl.DataFrame):
            return returned
        if isinstance(returned, Mapping):
            return pl.DataFrame({str(name): list(column) for name, column in returned.items()}, strict=False)
        if isinstance(returned, list | tuple) and all(isinstance(row, Mapping) for row in returned):
            return pl.DataFrame([dict(row) for row in returned], infer_schema_length=None, strict=False)
        names = getattr(returned, "columns", None)
        if names is None:
            names = getattr(returned, "column_names", None)
        if names is not None:
            return pl.DataFrame({str(name): list(returned[name]) for name in names}, strict=False)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise AcidtestError(f"{where}: what it returns is no table: {str(error).splitlines()[0]}") from error
    kind = type(returned).__name__
    if isinstance(returned, list | tuple):
        kind += f" of {', '.join(sorted({type(row).__name__ for row in returned}))}"
    raise AcidtestError(f"{where} returns {kind}; return a list of dicts, or a frame, with {', '.join(_NEEDED)}")


def _complete(frame: pl.DataFrame, name: str, where: str) -> tuple[pl.DataFrame, dict[str, Kind]]:
    """The rows with all columns of a suite, and the kinds of the user's own."""
    from acidtest.io.columns import ColumnValues

    if frame.is_empty():
        raise AcidtestError(f"{where} returns no rows")
    for column in _NEEDED:
        if column not in frame.columns:
            raise AcidtestError(f"{where}: its rows have no {column!r}, only {', '.join(frame.columns)}")
        values = frame[column].cast(pl.String, strict=False)
        if (bad := (values.fill_null("").str.strip_chars() == "").arg_true()).len():
            raise AcidtestError(f"{where}: row {bad[0] + 1} has no {column}")
    labels = {text: gold_name(text) for text in frame["label"].cast(pl.String).unique()}
    for text in (text for text, gold in labels.items() if gold is None):
        row = int(frame["label"].cast(pl.String).eq(text).arg_max() or 0) + 1
        raise AcidtestError(f"{where}: row {row}: {UnknownNameError('label', text, GOLD_MASKS)}")
    frame = frame.with_columns(label=pl.col("label").cast(pl.String).replace_strict(labels, return_dtype=pl.String))
    standard = [column for column in frame.columns if column in (*COLUMNS, *PARSES)]
    others, kinds = list[pl.Series](), dict[str, Kind]()
    for column in (column for column in frame.columns if column not in standard):
        free = plain_name(f"source_{column}" if column in RESERVED else column)
        seen = ColumnValues(is_text=False)
        seen.add(frame[column])
        kinds[free] = "text" if frame[column].dtype.is_nested() else seen.kind_of(free)
        text = frame[column].cast(pl.Float64) if kinds[free] == "covariate" else _texts(frame[column])
        others.append(text.alias(free))
    frame = frame.select(pl.col(standard).cast(pl.String)).hstack(others)
    if "group" not in standard:
        # Rows that share a premise are one group, as in files.
        frame = frame.with_columns(group=hexadecimal(digests(frame["premise"])))
    return complete_columns(frame, name), kinds


def _texts(values: pl.Series) -> pl.Series:
    if values.dtype.is_nested():
        return pl.Series([None if value is None else str(value) for value in values.to_list()], dtype=pl.String)
    return values.cast(pl.String)


def _location(function: Callable[..., Any]) -> str:
    """The file and the name of a function, for messages and citations."""
    code = inspect.unwrap(function)
    file = getattr(getattr(code, "__code__", None), "co_filename", "")
    return f"{Path(file).name}:{getattr(code, '__name__', 'function')}" if file else repr(function)


def _code_digest(function: Callable[..., Any]) -> dict[str, str]:
    """The name and a digest of the file that a function stands in."""
    file = Path(getattr(getattr(inspect.unwrap(function), "__code__", None), "co_filename", ""))
    return {file.name: hashlib.blake2b(file.read_bytes(), digest_size=8).hexdigest()} if file.is_file() else {}
