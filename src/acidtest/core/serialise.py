"""Results as JSON and back: one way for every study, and the JSON Schema that its result's type gives."""

from __future__ import annotations

import math
import typing
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import Field, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")

KEY = "json"
"""In the metadata of a field: its key in JSON where that is not its name, or None where JSON leaves it out."""

INLINE = ""
"""The key of a field whose object's keys stand among those of the object around it; none of them where it is None."""

OPTIONAL = "optional"
"""In the metadata of a field: whether JSON leaves it out where it is None."""

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
            elif part is not None or not field.metadata.get(OPTIONAL):
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


def from_json(kind: Any, value: Any) -> Any:
    """The value of a type that ``to_json`` wrote; keys of a later version are left aside."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        make: Any = kind
        hints = get_type_hints(kind)
        parts = {field.name: value[key] for field, key in _keys(kind) if key in value}
        for field, key in _keys(kind):
            if key == INLINE and _fits(_object_type(hints[field.name]), value):
                parts[field.name] = value
        return make(**{name: from_json(hints[name], part) for name, part in parts.items()})
    if kind is float:
        return math.nan if value is None else float(value)
    if origin in (typing.Union, _UNION):
        return next(from_json(part, value) for part in arguments if _fits(part, value))
    if origin is tuple and (len(arguments) != 2 or arguments[1] is not ...):
        return tuple(from_json(part, one) for part, one in zip(arguments, value, strict=True))
    if origin in (tuple, list, Sequence, frozenset, set):
        container = tuple if origin is Sequence else origin
        return container(from_json(arguments[0], part) for part in value)
    if origin in (dict, Mapping):
        numeric = arguments[0] is int
        return {int(key) if numeric else key: from_json(arguments[1], part) for key, part in value.items()}
    if _is_array(origin):
        import numpy as np

        return np.array(value, dtype=get_args(arguments[1])[0])
    return Path(value) if kind is Path else value


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


def _fits(kind: Any, value: Any) -> bool:
    """Whether a value of JSON can be of a type, to choose a member of a union by."""
    if is_dataclass(kind):
        keys = [key for field, key in _keys(kind) if key != INLINE and not field.metadata.get(OPTIONAL)]
        return isinstance(value, dict) and all(key in value for key in keys)
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    origin = get_origin(kind) or kind
    if origin in (tuple, list, Sequence, set, frozenset):
        return isinstance(value, list)
    if origin in (dict, Mapping):
        return isinstance(value, dict)
    if origin is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return origin is Any or isinstance(value, str if origin is Path else origin)


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
