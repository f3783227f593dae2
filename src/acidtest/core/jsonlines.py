"""JSON objects, one a line or all in one array, into a frame, with the line of whatever is wrong in them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import FileError

Object = dict[str, Any]

_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F]"
_HALF = re.compile(rb"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!%b)|[c-fC-F](?<!%b%b))" % (_LOW, _HIGH, _LOW))
"""Half of a surrogate pair, unless a doubled backslash makes it plain text."""

_SPACE = re.compile(r"[\s,]*")
_LINE_FEED, _BLANK, _QUOTE, _COLON = b'\n ":'
_KINDS = {list: "an array", str: "a string", int: "a number", float: "a number", bool: "a boolean", type(None): "null"}


class _RepeatedKeyError(Exception):
    """A key that stands twice in one object, where a parser would keep the last without a word."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key!r} stands more than once in one object; keep one of them")


def json_lines(path: Path, content: bytes) -> pl.DataFrame:
    """The objects of a text with one a line. A key missing somewhere is null there; blank lines are skipped.

    A key whose values have no type in common becomes strings, what is not a string as JSON.
    """
    if not content.strip():
        raise FileError(path, "holds nothing, not even one JSON object; copy or write it again")
    frame = _fast_frame(content)
    if frame is None:
        return _frame([fields for _, fields in _numbered(path, content)])
    for number, line in _doubtful_lines(content, frame):
        _object(path, line, number)
    return frame


def json_array(path: Path, content: bytes) -> pl.DataFrame:
    """The objects of a text that is one JSON array; otherwise as ``json_lines``."""
    text = content.decode()
    try:
        values = json.loads(text, object_pairs_hook=_distinct)
    except _RepeatedKeyError as error:
        raise FileError(path, str(error), _repeating_line(text)) from error
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


def is_object(content: bytes) -> bool:
    """Whether a text begins as a JSON object."""
    return content[:4096].lstrip().startswith(b"{")


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


def _repeating_line(text: str) -> int:
    """The line on which the entry of an array begins that has a key twice."""
    decoder = json.JSONDecoder(object_pairs_hook=_distinct)
    position = text.index("[") + 1
    with suppress(_RepeatedKeyError):
        while True:
            position = _past_space(text, position)
            _, position = decoder.raw_decode(text, position)
    return text.count("\n", 0, position) + 1


def _distinct(pairs: list[tuple[str, Any]]) -> Object:
    """The object that pairs of keys and values make, if no key stands twice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise _RepeatedKeyError(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return fields


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


def _doubtful_lines(content: bytes, frame: pl.DataFrame) -> Iterator[tuple[int, bytes]]:
    """The lines that may name a key twice: those with more keys than their row has values.

    Nulls, nested objects and a quote before a colon inside a text put a line under doubt too. Elsewhere one pass over
    the bytes, about a twentieth of the time of reading, is all it costs.
    """
    text = np.frombuffer(content, dtype=np.uint8)
    keys = _key_ends(text)
    if len(keys) == sum(len(column) - column.null_count() for column in frame):
        return
    ends = np.append(np.flatnonzero(text == _LINE_FEED), len(text))
    starts = np.append(0, ends[:-1] + 1)
    counts = np.diff(np.searchsorted(keys, ends), prepend=0)
    is_row = counts > 0
    for number in np.flatnonzero(~is_row):
        is_row[number] = bool(content[starts[number] : ends[number]].strip())
    values = frame.select(pl.sum_horizontal(pl.all().is_not_null())).to_series().to_numpy()
    rows = np.flatnonzero(is_row)
    for number in rows[counts[rows] > values]:
        yield int(number) + 1, content[starts[number] : ends[number]]


def _key_ends(text: npt.NDArray[np.uint8]) -> npt.NDArray[np.intp]:
    """Where the closing quotes of keys are: before a colon, maybe with space between."""
    before: npt.NDArray[np.intp] = np.flatnonzero(text == _COLON) - 1
    while len(spaced := np.flatnonzero(text[before] <= _BLANK)):
        before[spaced] -= 1
    return np.compress(text[before] == _QUOTE, before)


def _numbered(path: Path, content: bytes) -> Iterator[tuple[int, Object]]:
    """Every object with its line."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            yield number, _object(path, line, number)


def _object(path: Path, line: bytes, number: int) -> Object:
    try:
        value = json.loads(line.decode(), object_pairs_hook=_distinct)
    except _RepeatedKeyError as error:
        raise FileError(path, str(error), number) from error
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
