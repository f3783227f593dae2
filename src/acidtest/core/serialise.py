"""Results of studies as JSON and back, and the JSON Schema of a result's type."""

from __future__ import annotations

import json
import math
import typing
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

KEY = "json"
"""In the metadata of a field: its key in JSON where that is not its name, or None where JSON leaves it out."""

INLINE = ""
"""The key of a field whose keys are written into the object around it; none are written where it is None."""

OPTIONAL = "optional"
"""In the metadata of a field: true where JSON leaves it out when it is its default."""

_SIMPLE: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    Path: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": ["number", "null"]},
    type(None): {"type": "null"},
}


def to_json(value: Any) -> Any:
    """A result as JSON holds it: dataclasses are objects, NaN is null, sets and tuples are arrays.

    A class may name computed values that belong to its object in ``json_properties``.
    """
    if is_dataclass(value) and not isinstance(value, type):
        written: dict[str, Any] = {}
        for field, key in _keys(type(value)):
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
    """The value of a type that ``to_json`` wrote; keys of a later version are ignored.

    What does not fit raises a ``ValueError`` that names the key: ``suites.hans.n: expected an integer, got "x"``.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (typing.Union, _UNION):
        # A number that is null is None where that is a choice, not NaN.
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
    if _is_array(origin):
        import numpy as np

        return np.array(value, dtype=get_args(arguments[1])[0])
    return Path(value) if kind is Path else value


def _dataclass_from_json(kind: Any, value: Mapping[str, Any], at: str) -> Any:
    hints = get_type_hints(kind)
    parts = {}
    for field, key in _keys(kind):
        place = f"{at}.{key}".lstrip(".")
        if key == INLINE:
            inner = _object_type(hints[field.name])
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


def json_schema(kind: type, *, title: str) -> dict[str, Any]:
    """The JSON Schema of what ``to_json`` makes of a dataclass."""
    definitions: dict[str, Any] = {}
    schema = _schema(kind, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **schema,
        "$defs": dict(sorted(definitions.items())),
    }


_UNION = type(int | str)


def _keys(kind: Any) -> Iterator[tuple[Field[Any], str]]:
    """The fields of a dataclass that JSON holds, with their keys."""
    for field in fields(kind):
        key = field.metadata.get(KEY, field.name)
        if key is not None:
            yield field, key


def _object_type(kind: Any) -> Any:
    """The dataclass in a type, such as that of ``Effect | None``."""
    return kind if is_dataclass(kind) else next(part for part in get_args(kind) if is_dataclass(part))


def _is_array(origin: Any) -> bool:
    return getattr(origin, "__name__", "") == "ndarray"


def _has_keys(kind: Any, value: Any) -> bool:
    """Whether a value of JSON fits a member of a union; of a dataclass, whether all its keys are there."""
    if not is_dataclass(kind):
        return _fits(kind, value)
    keys = [key for field, key in _keys(kind) if key != INLINE and not field.metadata.get(OPTIONAL)]
    return isinstance(value, dict) and all(key in value for key in keys)


def _fits(kind: Any, value: Any) -> bool:
    """Whether a value of JSON can be of a type; of a dataclass only whether it is an object."""
    origin = get_origin(kind) or kind
    if is_dataclass(kind) or origin in (dict, Mapping):
        return isinstance(value, dict)
    if origin is Literal:
        return value in get_args(kind)
    if origin in (tuple, list, Sequence, set, frozenset) or _is_array(origin):
        return isinstance(value, list)
    if origin in (typing.Union, _UNION):
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


def _schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if is_dataclass(kind):
        name = typing.cast("type", kind).__name__
        if name not in definitions:
            definitions[name] = {}
            definitions[name] = _object_schema(kind, definitions)
        return {"$ref": f"#/$defs/{name}"}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (typing.Union, _UNION):
        return {"anyOf": [_schema(part, definitions) for part in arguments]}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _schema(arguments[1], definitions)}
    if origin is tuple and (len(arguments) != 2 or arguments[1] is not ...):
        return {"type": "array", "prefixItems": [_schema(part, definitions) for part in arguments]}
    if origin in (tuple, list, Sequence, set, frozenset):
        return {"type": "array", "items": _schema(arguments[0], definitions)}
    return {"type": "array"} if _is_array(origin) else {}


def _object_schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for field, key in _keys(kind):
        if key == INLINE:
            inner = _object_schema(_object_type(hints[field.name]), definitions)
            properties |= inner["properties"]
            required += inner["required"] if is_dataclass(hints[field.name]) else []
        else:
            properties[key] = _schema(hints[field.name], definitions)
            required += [] if field.metadata.get(OPTIONAL) else [key]
    for name in getattr(kind, "json_properties", ()):
        computed = getattr(kind, name).fget
        properties[name] = _schema(get_type_hints(computed)["return"], definitions)
        required.append(name)
    return {"type": "object", "properties": properties, "required": required}
