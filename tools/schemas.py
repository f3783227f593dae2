"""Write the JSON Schema of every study's result to ``src/acidtest/data/schemas``.

python tools/schemas.py
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from acidtest.core.serialise import INLINE, OPTIONAL, dataclass_in, json_fields
from acidtest.core.study import STUDIES

FOLDER = Path(__file__).resolve().parent.parent / "src" / "acidtest" / "data" / "schemas"

_SIMPLE: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    Path: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": ["number", "null"]},
    type(None): {"type": "null"},
}


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


def _schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if is_dataclass(kind):
        name = kind.__name__
        if name not in definitions:
            definitions[name] = {}
            definitions[name] = _object_schema(kind, definitions)
        return {"$ref": f"#/$defs/{name}"}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(part, definitions) for part in arguments]}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _schema(arguments[1], definitions)}
    if origin is tuple and (len(arguments) != 2 or arguments[1] is not ...):
        return {"type": "array", "prefixItems": [_schema(part, definitions) for part in arguments]}
    if origin in (tuple, list, Sequence, set, frozenset):
        return {"type": "array", "items": _schema(arguments[0], definitions)}
    return {"type": "array"} if getattr(origin, "__name__", "") == "ndarray" else {}


def _object_schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for field, key in json_fields(kind):
        if key == INLINE:
            inner = _object_schema(dataclass_in(hints[field.name]), definitions)
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


def main() -> None:
    """Write a file for each study, and remove those of studies that are gone."""
    FOLDER.mkdir(exist_ok=True)
    for name in STUDIES:
        kind = get_type_hints(STUDIES[name].compute)["return"]
        text = json.dumps(json_schema(kind, title=f"acidtest {name} --json"), indent=1)
        (FOLDER / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
    for path in FOLDER.glob("*.json"):
        if path.stem not in set(STUDIES):
            path.unlink()


if __name__ == "__main__":
    main()
