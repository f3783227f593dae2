"""Reads all JSON and TOML files, within bounds of size and nesting, and checks them against a shape.

A shape is a type that pydantic understands: a dataclass, ``dict[str, Any]``, ``list[Task]``. Keys that a dataclass does
not have are ignored, so that a file of a later minor version can be read. Errors name the file and the key:
``run.json: suites.hans.seed: expected an integer, got "x"``.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from acidtest.core.errors import FileError, UnknownNameError
from acidtest.core.files import read_bounded

T = TypeVar("T")

MOST_BYTES = 64 * 2**20
"""The size limit of JSON files other than data: a card, a header, results, a model's configuration."""

MOST_TABLE_BYTES = 256 * 2**20
"""The size limit of JSON files with data, such as tasks of Label Studio."""

MOST_TOML_BYTES = 4 * 2**20
"""The size limit of TOML files."""

MOST_DEPTH = 64
"""The deepest nesting of objects and lists, and the most parts of a dotted key."""

MOST_VALUES = 2**23
"""The most values in one JSON or TOML file, estimated from brackets and commas: a value takes some 70 bytes."""

MOST_ENTRY_BYTES = 4 * 2**20
"""The size limit of one entry of a JSON array that is read entry by entry."""

MOST_INTEGER = 2**63 - 1

# A string without an end matches up to where the parser gives up. Otherwise the search would begin again at each of the
# quotes in it, in quadratic time.
_JSON_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_TOML_STRING = re.compile(
    rb'"""[^"\\]*+(?:(?:\\.|"{1,2}(?!"))[^"\\]*+)*+(?:"{3,5}|["\\]*\Z)'
    rb"|'''[^']*+(?:'{1,2}(?!')[^']*+)*+(?:'{3,5}|'*\Z)"
    rb'|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+(?:"|(?=\n)|\\?\Z)'
    rb"|'[^'\n]*+(?:'|(?=\n)|\Z)"
    rb"|\#[^\n]*+",
    re.DOTALL,
)
# Possessive quantifiers: a long key or line takes linear time.
_DOTTED_KEY = re.compile(rb"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++){%d}" % MOST_DEPTH)
_TOML_HEADER = re.compile(rb"[ \t]*(\[\[?)([^\[\]]+)\]\]?[ \t\r]*$")
_TOML_KEY = re.compile(rb"[ \t]*+([\w.\-][\w.\- \t]*+)=")
_MARKS = b"[]{},"
_NO_MARKS = bytes({*range(256)} - {*_MARKS})
_STEPS = np.zeros(256, dtype=np.int8)
_STEPS[[*b"[{"]], _STEPS[[*b"]}"]] = 1, -1
_PIECE = 1 << 20
_GAP = re.compile(r"\s*,?\s*")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_EXPECTED = {
    "string": "a text",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "dict": "an object",
    "mapping": "an object",
    "dataclass": "an object",
    "list": "a list",
    "tuple": "a list",
    "none": "null",
}
_TOML_TYPES: dict[type, str] = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}
_SHOWN = 60


def read_json(
    path: str | Path, shape: type[T], *, remedy: str = "", foreign: bool = False, most_bytes: int = MOST_BYTES
) -> T:
    """Read a JSON file as a value of type ``shape``; errors end with ``remedy``, what to do about a wrong file.

    A ``foreign`` file was written by another program and may contain NaN or numbers beyond 64 bits.
    """
    content = read_bounded(path, most_bytes)
    return parse_json(content, path, shape, remedy=remedy, foreign=foreign)


def read_own_json(path: str | Path, shape: type[T], schema: int, *, remedy: str = "") -> T:
    """Read a JSON file that acidtest wrote; one with a newer schema than ``schema`` is refused."""
    numbered = _parse(read_bounded(path, MOST_BYTES), path, remedy, foreign=False)
    if not isinstance(numbered, dict) or type(numbered.get("schema")) is not int:
        raise FileError(path, f"has no schema number; it was not written by acidtest{_advice(remedy)}")
    refuse_newer(path, numbered["schema"], schema)
    return check_shape(numbered, path, shape, remedy=remedy)


def parse_json(content: bytes, path: str | Path, shape: type[T], *, remedy: str = "", foreign: bool = False) -> T:
    """Parse the content of a JSON file as a value of type ``shape``; errors name ``path``."""
    return check_shape(_parse(content, path, remedy, foreign=foreign), path, shape, remedy=remedy)


def read_json_entries(pieces: Iterable[bytes], path: str | Path, shape: type[T], *, remedy: str = "") -> Iterator[T]:
    """The entries of a JSON array that comes in pieces, of type ``shape``; few of them are in memory at a time."""
    decoder = json.JSONDecoder(object_pairs_hook=distinct_keys)
    decode = codecs.getincrementaldecoder("utf-8-sig")().decode
    text, begun, closed, remaining = "", False, False, iter(pieces)
    while not closed:
        # An entry that is not whole is parsed again with what follows: with twice as much each time.
        old, added = len(text), 0
        try:
            while added <= old and (piece := next(remaining, None)) is not None:
                text, added = text + decode(piece), added + len(piece)
            if not added:
                raise FileError(path, f"is not a whole JSON array{_advice(remedy)}")
            if not begun and (text := text.lstrip()):
                if text[0] != "[":
                    raise FileError(path, f"expected a list, got {text[:_SHOWN]}{_advice(remedy)}")
                begun, text = True, text[1:]
            values, end, closed = _decode_entries(decoder, text) if begun else ([], 0, False)
        except (ValueError, RecursionError) as error:
            raise FileError(path, f"is not valid JSON: {error}{_advice(remedy)}") from error
        _refuse_deep(_JSON_STRING.sub(b"", text[:end].encode()), path, remedy)
        yield from check_shape(values, path, list[shape], remedy=remedy)  # type: ignore[valid-type]
        text = text[end:]
        if len(text) > MOST_ENTRY_BYTES:
            raise FileError(path, f"has an entry of more than {MOST_ENTRY_BYTES:,} bytes{_advice(remedy)}")


def _decode_entries(decoder: json.JSONDecoder, text: str) -> tuple[list[Any], int, bool]:
    """The whole entries at the beginning of a text, where the last of them ends, and whether the array ends there."""
    values, end = list[Any](), 0
    while True:
        place = _skip_gap(text, end)
        if text.startswith("]", place):
            return values, place + 1, True
        try:
            value, after = decoder.raw_decode(text, place)
        except json.JSONDecodeError:
            return values, end, False
        if _skip_gap(text, after) == len(text):
            # A number may go on in the next piece.
            return values, end, False
        values.append(value)
        end = after


def _skip_gap(text: str, place: int) -> int:
    """Where the next entry of an array, or its end, begins."""
    match = _GAP.match(text, place)
    return match.end() if match else place


def read_toml(path: str | Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    return parse_toml(read_bounded(path, MOST_TOML_BYTES), path)


def parse_toml(content: bytes, path: str | Path) -> dict[str, Any]:
    """The tables in the content of a TOML file; errors name ``path``."""
    import tomllib

    text = _decode(content, path, "")
    _refuse_many(content.count(b'"') // 4, path, "")
    bare = _TOML_STRING.sub(lambda match: b"" if match[0].startswith(b"#") else b"_", content)
    _refuse_deep(bare, path, "")
    if _DOTTED_KEY.search(bare):
        raise FileError(path, f"has a key of more than {MOST_DEPTH} parts; no file of acidtest's needs that")
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise FileError(path, f"is not valid TOML: {error}") from error


@dataclass(frozen=True)
class TomlTable:
    """A table of a TOML file; what is wrong with a key is reported with its line."""

    path: Path
    values: Mapping[str, Any]
    lines: Mapping[tuple[str | int, ...], int]
    place: tuple[str | int, ...] = ()

    def error(self, key: str, problem: str) -> FileError:
        """The error for what is wrong with a key, with the line of the key or of the table."""
        place = (*self.place, key) if key else self.place
        # The line of a list such as [[template]] is that of its first table.
        places = [(*place, 0), *(place[:end] for end in range(len(place), 0, -1))]
        line = next((self.lines[one] for one in places if one in self.lines), None)
        return FileError(self.path, f"{key}: {problem}" if key else problem, line)

    def refuse_unknown(self, known: Collection[str]) -> None:
        """Raise for the first key that is not known."""
        for key in self.values:
            if key not in known:
                raise FileError(self.path, str(UnknownNameError("key", key, known)), self.error(key, "").line)

    def value(self, key: str, kind: type[T], default: T) -> T:
        """The value of a key, which must have this type, or the default."""
        value = self.values.get(key, default)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            shown = json.dumps(value, ensure_ascii=False, default=str)[:_SHOWN]
            raise self.error(key, f"expected {_TOML_TYPES[kind]}, got {shown}")
        return value

    def number(self, key: str, default: int, *, most: int) -> int:
        """The whole number of a key, from 1 to ``most``, or the default."""
        value = self.value(key, int, default)
        if not 1 <= value <= most:
            shown = f"{value:,}" if abs(value) <= MOST_INTEGER else "a longer one"
            raise self.error(key, f"expected a whole number from 1 to {most:,}, got {shown}")
        return value

    def text(self, key: str, default: str, *, most: int) -> str:
        """The text of a key, of at most ``most`` characters, or the default."""
        value = self.value(key, str, default)
        if len(value) > most:
            raise self.error(key, f"has {len(value):,} characters; at most {most:,} are allowed")
        return value

    def table(self, key: str) -> TomlTable:
        """The table under a key, which may be absent."""
        return TomlTable(self.path, self.value(key, dict, {}), self.lines, (*self.place, key))

    def tables(self, key: str) -> list[TomlTable]:
        """The tables of a list such as ``[[template]]``."""
        if isinstance(self.values.get(key), dict):
            raise self.error(key, f"expected a list of tables; write [[{key}]]")
        rows = self.value(key, list, [])
        if not all(isinstance(row, dict) for row in rows):
            raise self.error(key, f"expected tables, written [[{key}]]")
        return [TomlTable(self.path, row, self.lines, (*self.place, key, number)) for number, row in enumerate(rows)]


def read_toml_table(path: str | Path) -> TomlTable:
    """A TOML file as a table that knows the lines of its keys."""
    content = read_bounded(path, MOST_TOML_BYTES)
    return TomlTable(Path(path), parse_toml(content, path), toml_lines(content))


def toml_lines(content: bytes) -> dict[tuple[str | int, ...], int]:
    """The line of every table and key of a TOML file that stands at the beginning of a line, by its path.

    ``("template", 1, "gold")`` is the key ``gold`` of the second ``[[template]]``. A parser has accepted the file.
    """
    bare = _TOML_STRING.sub(lambda match: re.sub(rb"[^\n]", b" " if match[0][:1] == b"#" else b"_", match[0]), content)
    lines, depth = dict[tuple[str | int, ...], int](), 0
    table, counts = tuple[str | int, ...](), Counter[tuple[str | int, ...]]()
    rows = zip(bare.split(b"\n"), content.split(b"\n"), strict=True)
    for number, (row, source) in enumerate(rows, start=1):
        header, key = (_TOML_HEADER.match(row), _TOML_KEY.match(row)) if depth == 0 else (None, None)
        if header:
            table = _toml_path(source[header.start(2) : header.end(2)], counts)
            if header[1] == b"[[":
                table = (*table, counts[table])
                counts[table[:-1]] += 1
            lines[table] = number
            continue
        if key:
            path = (*table, *_toml_path(source[key.start(1) : key.end(1)], Counter()))
            lines |= {path[:end]: number for end in range(len(table) + 1, len(path) + 1) if path[:end] not in lines}
        depth += sum(row.count(sign) for sign in (b"[", b"{")) - sum(row.count(sign) for sign in (b"]", b"}"))
    return lines


def _toml_path(name: bytes, counts: Counter[tuple[str | int, ...]]) -> tuple[str | int, ...]:
    """The parts of a dotted key; after the name of a list of tables comes the number of the latest."""
    parts = tuple[str | int, ...]()
    for part in re.findall(rb"\"[^\"]*\"|'[^']*'|[\w-]+", name):
        parts = (*parts, counts[parts] - 1) if counts[parts] else parts
        parts = (*parts, part.strip(b"\"'").decode())
    return parts


def check_json_bounds(path: str | Path, *, remedy: str = "") -> None:
    """Raise when a JSON file that another library reads is too large, nested too deeply, or not UTF-8."""
    content = read_bounded(path, MOST_BYTES)
    _decode(content, path, remedy)
    _refuse_many(content.count(b'"') // 4, path, remedy)
    _refuse_deep(_JSON_STRING.sub(b"", content), path, remedy)


def check_shape(value: Any, path: str | Path, shape: type[T], *, key: str = "", remedy: str = "") -> T:
    """The value as type ``shape``; raises with the file and the key where it does not fit, below ``key``."""
    from pydantic import ValidationError

    try:
        # Strict validation of JSON accepts a list as a tuple, but not "1" as a number.
        shaped: T = _validator(cast("Any", shape)).validate_json(json.dumps(value, default=str), strict=True)
    except ValidationError as error:
        raise FileError(path, f"{_describe_problem(error, value, key)}{_advice(remedy)}") from error
    return shaped


def refuse_newer(path: str | Path, schema: int, known: int) -> None:
    """Raise when a file was written by a newer acidtest than this one."""
    if schema > known:
        raise FileError(path, f"has schema {schema}; this acidtest reads up to {known}: upgrade acidtest")


def _parse(content: bytes, path: str | Path, remedy: str, *, foreign: bool) -> Any:
    text = _decode(content, path, remedy)
    # A value and its key have four quotes: many short strings are refused before they are taken apart.
    _refuse_many(content.count(b'"') // 4, path, remedy)
    _refuse_deep(_JSON_STRING.sub(b"", content), path, remedy)
    hooks: dict[str, Any] = {"object_pairs_hook": distinct_keys}
    if not foreign:
        hooks |= {"parse_constant": _refuse_constant, "parse_float": _finite, "parse_int": _bounded_integer}
    try:
        value = json.loads(text, **hooks)
        if _SURROGATE.search(content):
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise FileError(path, f"is not valid JSON: {error.msg}{_advice(remedy)}", error.lineno) from error
    except UnicodeEncodeError as error:
        raise FileError(path, f"has half of a surrogate pair, which is no character{_advice(remedy)}") from error
    except ValueError as error:
        raise FileError(path, f"is not valid JSON: {error}{_advice(remedy)}") from error
    return value


def _decode(content: bytes, path: str | Path, remedy: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError(path, f"is not UTF-8 text{_advice(remedy)}", line) from error


def _refuse_deep(bare: bytes, path: str | Path, remedy: str) -> None:
    """Raise when brackets and braces nest deeper than a parser can follow, or are too many.

    ``bare`` is the text without strings.
    """
    marks = bare.translate(None, _NO_MARKS)
    _refuse_many(len(marks) - marks.count(b"]") - marks.count(b"}"), path, remedy)
    depth = 0
    # Piece by piece: the depths of a whole file would take eight bytes per bracket.
    for start in range(0, len(marks), _PIECE):
        steps = _STEPS[np.frombuffer(marks[start : start + _PIECE], dtype=np.uint8)]
        depths = depth + np.cumsum(steps, dtype=np.int64)
        if int(depths.max()) > MOST_DEPTH:
            raise FileError(path, f"nests lists and objects more than {MOST_DEPTH} deep{_advice(remedy)}")
        depth = int(depths[-1])


def _refuse_many(values: int, path: str | Path, remedy: str) -> None:
    if values > MOST_VALUES:
        raise FileError(path, f"holds more than {MOST_VALUES:,} values{_advice(remedy)}")


def distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object with these keys and values; raises for a repeated key, of which a parser would keep the last."""
    value = dict(pairs)
    if len(value) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise ValueError(f"the key {counts.most_common(1)[0][0]!r} stands more than once in one object")
    return value


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text[:_SHOWN]} is too large a number")
    return value


def _bounded_integer(text: str) -> int:
    if len(text) > _SHOWN or abs(int(text)) > MOST_INTEGER:
        raise ValueError(f"{text[:_SHOWN]} is too large an integer")
    return int(text)


@cache
def _validator(shape: Any) -> Any:
    from pydantic import TypeAdapter
    from pydantic_core import SchemaValidator

    schema = TypeAdapter(shape).core_schema
    _stop_at_first_error(schema)
    return SchemaValidator(schema)


def _stop_at_first_error(schema: Any) -> None:
    """Let a list end at its first wrong entry: pydantic takes more than a kilobyte for each."""
    if isinstance(schema, dict):
        if schema.get("type") in ("list", "tuple", "set", "frozenset"):
            schema["fail_fast"] = True
        schema = list(schema.values())
    if isinstance(schema, list | tuple):
        for part in schema:
            _stop_at_first_error(part)


def _describe_problem(error: Any, value: Any, key: str) -> str:
    """A message with the first problem that pydantic reports and the number of others."""
    details = error.errors(include_url=False)
    first = details[0]
    place, at = _existing_part(first["loc"], value)
    same = [first]
    if first["type"] == "missing":
        place, problem = (*place, first["loc"][-1]), "is missing"
    elif first["type"] == "value_error":
        problem = str(first["ctx"]["error"])
    else:
        # For a union, pydantic reports a problem with each member.
        same = [detail for detail in details if _existing_part(detail["loc"], value)[0] == place]
        expected = dict.fromkeys(_describe_expected(detail) for detail in same)
        shown = json.dumps(at, ensure_ascii=False, default=str)
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
        problem = f"expected {' or '.join(expected)}, got {shown}"
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in (key, *place)).lstrip(".")
    problem = f"{where}: {problem}" if where else problem
    others = len(details) - len(same)
    return f"{problem} (and {others:,} more such)" if others else problem


def _describe_expected(detail: Any) -> str:
    kind, context = str(detail["type"]), detail.get("ctx", {})
    if kind == "literal_error":
        return str(context["expected"]).replace("'", '"')
    if kind in ("greater_than_equal", "less_than_equal"):
        bound = context.get("ge", context.get("le"))
        return f"{bound} or {'more' if 'ge' in context else 'less'}"
    return next((words for name, words in _EXPECTED.items() if kind.startswith(name)), "another value")


def _existing_part(location: Sequence[str | int], value: Any) -> tuple[tuple[str | int, ...], Any]:
    """The longest beginning of a location that exists in the value, and the part of the value there.

    The rest of a location is added by pydantic, such as the member of a union that was tried.
    """
    place: tuple[str | int, ...] = ()
    for key in location:
        if not (key in value if isinstance(value, dict) else isinstance(value, list) and key in range(len(value))):
            break
        value, place = value[key], (*place, key)
    return place, value


def _advice(remedy: str) -> str:
    return f"; {remedy}" if remedy else ""
