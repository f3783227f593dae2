"""Results of studies as JSON and back, and small YAML files."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

KEY = "json"
"""Field metadata: the key in JSON where it differs from the field's name, or None to leave the field out."""

INLINE = ""
"""The key of a field whose own keys are written into the enclosing object; a field that is None adds none."""

OPTIONAL = "optional"
"""Field metadata: true to leave the field out of JSON when it is None or its default."""


def to_json(value: Any) -> Any:
    """A result as JSON values: dataclasses become objects, NaN becomes null, sets and tuples become arrays.

    Properties of a class that are named in its ``json_properties`` are written too.
    """
    if is_dataclass(value) and not isinstance(value, type):
        written: dict[str, Any] = {}
        for field, key in json_fields(type(value)):
            part = getattr(value, field.name)
            if key == INLINE:
                written |= to_json(part) or {}
            elif not (field.metadata.get(OPTIONAL) and part in (None, field.default)):
                written[key] = to_json(part)
        return written | {name: to_json(getattr(value, name)) for name in getattr(value, "json_properties", ())}
    if isinstance(value, Mapping):
        return {str(key): to_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(part) for part in value]
    if isinstance(value, Set):
        return sorted(map(to_json, value))
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    if hasattr(value, "tolist"):
        return to_json(value.tolist())
    return str(value) if isinstance(value, Path) else value


def from_json(kind: Any, value: Any, at: str = "") -> Any:
    """Convert what ``to_json`` wrote back to a value of type ``kind``; unknown keys are ignored.

    A value of another type raises a ``ValueError`` that names the key: ``suites.hans.n: expected an integer, got "x"``.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        # In a union null is None; only a plain float reads null as NaN.
        fitting = [type(None)] if value is None else [part for part in arguments if _has_keys(part, value)]
        return from_json(fitting[0] if fitting else arguments[0], value, at)
    if not _fits(kind, value):
        shown = json.dumps(value, ensure_ascii=False)
        raise ValueError(f"{f'{at}: ' if at else ''}expected {_describe(kind)}, got {shown[:60]}")
    if is_dataclass(kind):
        return _dataclass_from_json(kind, value, at)
    if kind is float:
        return math.nan if value is None else float(value)
    if origin is tuple and (len(arguments) != 2 or arguments[1] is not ...):
        parts = enumerate(zip(arguments, value, strict=True))
        return tuple(from_json(part, item, f"{at}[{number}]") for number, (part, item) in parts)
    if origin in (tuple, list, Sequence, frozenset, set):
        container = tuple if origin is Sequence else origin
        return container(from_json(arguments[0], part, f"{at}[{number}]") for number, part in enumerate(value))
    if origin in (dict, Mapping):
        number_keys = arguments[0] is int
        entries = {key: from_json(arguments[1], part, f"{at}.{key}".lstrip(".")) for key, part in value.items()}
        return {int(key): part for key, part in entries.items()} if number_keys else entries
    if origin is np.ndarray:
        return np.array(value, dtype=get_args(arguments[1])[0])
    return Path(value) if kind is Path else value


def _dataclass_from_json(kind: Any, value: Mapping[str, Any], at: str) -> Any:
    hints = _type_hints(kind)
    parts = {}
    for field, key in json_fields(kind):
        place = f"{at}.{key}".lstrip(".")
        if key == INLINE:
            inner = dataclass_in(hints[field.name])
            if _has_keys(inner, value):
                parts[field.name] = from_json(inner, value, at)
        elif key in value:
            parts[field.name] = from_json(hints[field.name], value[key], place)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise ValueError(f"{place}: is missing")
    try:
        return kind(**parts)
    except ValueError as error:
        raise ValueError(f"{f'{at}: ' if at else ''}{error}") from error


@cache
def _type_hints(kind: Any) -> dict[str, Any]:
    # Evaluating annotations takes longer than all else in reading a result.
    return get_type_hints(kind)


def json_fields(kind: Any) -> tuple[tuple[Field[Any], str], ...]:
    """The fields of a dataclass that JSON holds, with their keys."""
    return _json_fields(kind)


@cache
def _json_fields(kind: Any) -> tuple[tuple[Field[Any], str], ...]:
    keys = ((field, field.metadata.get(KEY, field.name)) for field in fields(kind))
    return tuple((field, key) for field, key in keys if key is not None)


def dataclass_in(kind: Any) -> Any:
    """The dataclass in a type: ``Effect`` for ``Effect | None``."""
    return kind if is_dataclass(kind) else next(part for part in get_args(kind) if is_dataclass(part))


def _has_keys(kind: Any, value: Any) -> bool:
    """Whether a JSON value fits a member of a union; a dataclass needs all keys that are not optional."""
    if not is_dataclass(kind):
        return _fits(kind, value)
    keys = [key for field, key in json_fields(kind) if key != INLINE and not field.metadata.get(OPTIONAL)]
    return isinstance(value, dict) and all(key in value for key in keys)


def _fits(kind: Any, value: Any) -> bool:
    """Whether a JSON value can be of a type; for a dataclass, only whether it is an object."""
    origin = get_origin(kind) or kind
    if is_dataclass(kind) or origin in (dict, Mapping):
        return isinstance(value, dict)
    if origin is Literal:
        return value in get_args(kind)
    if origin in (tuple, list, Sequence, set, frozenset, np.ndarray):
        return isinstance(value, list)
    if origin in (Union, UnionType):
        return any(_fits(part, value) for part in get_args(kind))
    if origin is float:
        return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
    if origin is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return origin in (Any, object) or isinstance(value, str if origin is Path else origin)


def _describe(kind: Any) -> str:
    """A type in words, for errors about a value of another type."""
    if get_origin(kind) is Literal:
        return " or ".join(f'"{choice}"' for choice in get_args(kind))
    if is_dataclass(kind) or get_origin(kind) in (dict, Mapping):
        return "an object"
    names = {str: "a text", Path: "a text", int: "an integer", float: "a number", bool: "true or false"}
    return names.get(kind, "null" if kind is type(None) else "a list")


_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")
"""Characters that JSON allows in a text and YAML does not."""


def to_yaml(value: Mapping[str, Any] | Sequence[Any], indent: str = "") -> str:
    """JSON values as YAML: objects in blocks, lists of plain values on one line, texts in quotes."""
    items = value.items() if isinstance(value, Mapping) else (("", part) for part in value)
    text = ""
    for key, part in items:
        mark = f"{indent}{key}:" if key else f"{indent}-"
        if not _holds_objects(part):
            plain = json.dumps(part, ensure_ascii=False, allow_nan=False)
            text += f"{mark} {_NOT_IN_YAML.sub(lambda match: f'{ascii(match[0])[1:-1]}', plain)}\n"
        elif key:
            text += f"{mark}\n{to_yaml(part, indent + '  ')}"
        else:
            text += f"{mark} {to_yaml(part, indent + '  ').lstrip()}"
    return text


def _holds_objects(value: Any) -> bool:
    """Whether a value is an object with keys, or a list with one in it."""
    parts = value if isinstance(value, list | tuple) else [value]
    return any(isinstance(part, Mapping) and part for part in parts)
