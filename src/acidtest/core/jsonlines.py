"""JSON objects, one a line or all in one array, into a frame, with the line of whatever is wrong in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from acidtest.core.errors import FileError

Object = dict[str, Any]

_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F]"
_HALF = re.compile(rb"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!%b)|[c-fC-F](?<!%b%b))" % (_LOW, _HIGH, _LOW))
"""Half of a surrogate pair, unless a doubled backslash makes it plain text."""

_SPACE = re.compile(r"[\s,]*")
_KINDS = {list: "an array", str: "a string", int: "a number", float: "a number", bool: "a boolean", type(None): "null"}


def json_lines(path: Path, content: bytes) -> pl.DataFrame:
    """The objects of a text with one a line. A key missing somewhere is null there; blank lines are skipped.

    A key whose values have no type in common becomes strings, what is not a string as JSON.
    """
    if not content.strip():
        raise FileError(path, "holds nothing, not even one JSON object; copy or write it again")
    frame = _fast_frame(content)
    return _frame([fields for _, fields in _numbered(path, content)]) if frame is None else frame


def json_array(path: Path, content: bytes) -> pl.DataFrame:
    """The objects of a text that is one JSON array; otherwise as ``json_lines``."""
    text = content.decode()
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        raise FileError(path, f"is not valid JSON: {_said(error)}; mend the array that opens the file", line) from error
    for number, value in enumerate(values):
        if not isinstance(value, dict):
            line = array_line(content, number)
            problem = f"entry {number + 1:,} of the array is {_kind(value)}, not an object; mend or remove it"
            raise FileError(path, problem, line)
    _refuse_half_characters(path, content, values)
    return _frame(values)


def is_array(content: bytes) -> bool:
    """Whether a text begins as a JSON array."""
    return content[:4096].lstrip().startswith(b"[")


def object_line(path: Path, content: bytes, *, row: int) -> int:
    """The line that holds an object of a text with one a line."""
    return next(islice(_numbered(path, content), row, None))[0]


def array_line(content: bytes, row: int) -> int:
    """The line on which an entry of an array begins."""
    text, decoder = content.decode(), json.JSONDecoder()
    position = text.index("[") + 1
    for _ in range(row):
        _, position = decoder.raw_decode(text, _past_space(text, position))
    return text.count("\n", 0, _past_space(text, position)) + 1


def _past_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _fast_frame(content: bytes) -> pl.DataFrame | None:
    """What Polars makes of the lines, or None where it fails or would lose something."""
    # Polars turns half of a surrogate pair into a NUL character.
    if _HALF.search(content):
        return None
    try:
        frame = pl.read_ndjson(content, infer_schema_length=None)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    blank = sum(1 for line in content.split(b"\n") if not line.strip())
    return frame if frame.height == content.count(b"\n") + 1 - blank else None


def _numbered(path: Path, content: bytes) -> Iterator[tuple[int, Object]]:
    """Every object with its line."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            yield number, _object(path, line, number)


def _object(path: Path, line: bytes, number: int) -> Object:
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        raise FileError(path, f"is not valid JSON: {_said(error)}; {_advice(line, number)}", number) from error
    if not isinstance(value, dict):
        raise FileError(path, f"holds {_kind(value)}, not an object; {_advice(line, number)}", number)
    _refuse_half_characters(path, line, value, number)
    return value


def _advice(line: bytes, number: int) -> str:
    if number == 1 and line.lstrip().startswith(b"["):
        return "one object a line was expected; if the file is one JSON array, end its name in .json"
    return "every line must hold one whole JSON object: mend or remove this one"


def _said(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg[0].lower()}{error.msg[1:].removesuffix(' at')} at column {error.colno}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "something else")


def _refuse_half_characters(path: Path, content: bytes, value: object, line: int | None = None) -> None:
    if not _HALF.search(content):
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise FileError(path, f"holds {half}, half of a character; write both halves or leave it out", line) from error


def _frame(objects: list[Object]) -> pl.DataFrame:
    names = dict.fromkeys(name for fields in objects for name in fields)
    return pl.DataFrame([_series(name, [fields.get(name) for fields in objects]) for name in names])


def _series(name: str, values: list[Any]) -> pl.Series:
    kinds = {type(value) for value in values if value is not None}
    with suppress(TypeError, OverflowError, pl.exceptions.PolarsError):
        if kinds == {int, float}:
            return pl.Series(name, values, dtype=pl.Float64, strict=False)
        if len(kinds) < 2 and dict not in kinds:
            return pl.Series(name, values, strict=True)
    return pl.Series(name, [_as_string(value) for value in values], dtype=pl.String)


def _as_string(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
