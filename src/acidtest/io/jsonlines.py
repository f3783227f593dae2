"""Reads JSON objects, one per line or all in one array, into a frame; errors name the line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import reduce
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import FileError
from acidtest.core.structured import distinct_keys
from acidtest.io import blocks
from acidtest.io.blocks import Block, Text
from acidtest.io.rows import Rows, Schema, Spool

MAX_CELLS_PER_BYTE = 16
"""The most cells (rows times keys) per byte of text: lines with different keys make a mostly empty table."""

MAX_DEPTH = 16
"""How deep JSON may be nested: Polars takes time quadratic in the depth, and crashes at about a thousand."""

MAX_ARRAY_VALUES = 2**23
"""The most values in one JSON array, estimated from brackets and commas: a value takes some 70 bytes of memory."""

Object = dict[str, Any]
_ReadBlock = Callable[[Path, Block, Schema | None], pl.DataFrame | None]

_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F]"
_HALF = re.compile(rb"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!%b)|[c-fC-F](?<!%b%b))" % (_LOW, _HIGH, _LOW))
"""Half of a surrogate pair; may also match plain text after a doubled backslash."""

_SPACE = re.compile(r"[\s,]*")
_NONBLANK_LINE = re.compile(rb"\S[^\n]*")
_PIECE = 1 << 12
"""How many lines Polars parses at once, into a frame with a column for every key among them."""
_LINE_FEED, _BLANK, _QUOTE, _COLON = b'\n ":'
_NO_MARKS = bytes({*range(256)} - {*b"[{,"})
_NO_BRACKETS = bytes({*range(256)} - {*b"[{\n"})
AS_LINES = "write it as JSON lines, for example with: jq -c '.[]' OLD.json > NEW.jsonl"
_TOO_DEEP = f"is nested more than {MAX_DEPTH} deep; leave out what no table can show"
_KINDS = {list: "an array", str: "a string", int: "a number", float: "a number", bool: "a boolean", type(None): "null"}


def read_json_lines(text: Text) -> tuple[Rows, Callable[[int], int]]:
    """The objects of a text with one per line, and a function that finds the line of a row by reading the text again.

    A key missing somewhere is null there; blank lines are skipped. If the values of a key have no
    common type, all become strings, and those that are not strings are written as JSON.
    """
    spool = _read_blocks(text, _fast_frame) or _read_blocks(text, _slow_frame)
    if spool is None or not spool.schemas:
        raise FileError(text.path, "holds nothing, not even one JSON object; copy or write it again")
    schema = {name: pl.String() if dtype == pl.Null else dtype for name, dtype in spool.schemas[0].items()}

    def line(row: int) -> int:
        block, number = text.block_of(row, spool.heights)
        return next(islice(numbered_objects(text.path, block), number, None))[0]

    return spool.rows(schema), line


def read_json_array(path: Path, content: bytes) -> pl.DataFrame:
    """The objects of a text that is one JSON array; otherwise as ``read_json_lines``."""
    marks = content.translate(None, _NO_MARKS)
    if len(marks) > MAX_ARRAY_VALUES:
        raise FileError(path, f"holds more than {MAX_ARRAY_VALUES:,} values in one array; {AS_LINES}")
    text = content.decode()
    try:
        values = json.loads(text, object_pairs_hook=distinct_keys)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else _failing_line(text)
        problem = f"is not valid JSON: {_reason(error)}; correct the array that opens the file"
        raise FileError(path, problem, line) from error
    # Each entry has one bracket of its own; how many others there are limits the depth of nesting.
    may_be_deep = len(marks) - marks.count(b",") - len(values) > MAX_DEPTH
    for number, value in enumerate(values):
        if not isinstance(value, dict):
            problem = f"entry {number + 1:,} of the array is {_KINDS[type(value)]}, not an object; correct or remove it"
            raise FileError(path, problem, array_line(content, number))
        if may_be_deep and _is_deep(value):
            raise FileError(path, _TOO_DEEP, array_line(content, number))
    _refuse_half_characters(path, content, values)
    return _objects_frame(path, values, Block(content))


def array_line(content: bytes, row: int) -> int:
    """The line on which an entry of an array begins."""
    text = content.decode()
    return text.count("\n", 0, next(islice(_entry_places(text, json.JSONDecoder()), row, None))) + 1


def _entry_places(text: str, decoder: json.JSONDecoder) -> Iterator[int]:
    """Where the entries of an array begin."""
    position = text.index("[") + 1
    while match := _SPACE.match(text, position):
        yield match.end()
        _, position = decoder.raw_decode(text, match.end())


def _failing_line(text: str) -> int:
    """The line of the first entry of an array that names a key twice or is nested too deeply."""
    places, place = _entry_places(text, json.JSONDecoder(object_pairs_hook=distinct_keys)), 0
    with suppress(ValueError, RecursionError):
        while True:
            place = next(places)
    return text.count("\n", 0, place) + 1


def _read_blocks(text: Text, read: _ReadBlock) -> Spool | None:
    """The objects of all blocks, or None if ``read`` fails on a block or blocks have no common schema.

    A block shows only some keys and types. If blocks differ, all are read again with their common schema.
    """
    spool = _read_blocks_once(text, read, None)
    if spool is None or len(spool.schemas) < 2:
        return spool
    if read is _slow_frame:
        return _read_blocks_once(text, read, _merge_or_strings(spool.schemas))
    common = _common_schema(spool.schemas)
    return None if common is None else _read_blocks_once(text, read, common)


def _read_blocks_once(text: Text, read: _ReadBlock, schema: Schema | None) -> Spool | None:
    spool, names = Spool(), set[str]()
    for block in text.blocks():
        frame = read(text.path, block, schema) if block.content.strip() else pl.DataFrame()
        if frame is None:
            return None
        spool.add(frame)
        names.update(frame.columns)
        _refuse_wide(text.path, dict.fromkeys(names), block, rows=0)
    return spool


def _fast_frame(path: Path, block: Block, schema: Schema | None) -> pl.DataFrame | None:
    """The lines of a block as Polars parses them, None if it cannot; a repeated key or deep nesting is an error.

    If a schema is given, the lines have been checked before.
    """
    if schema is not None:
        _refuse_wide(path, schema, block, rows=_line_count(block.content))
        return _polars_frame(path, block, schema)
    for number, line in _bracketed_lines(block.content):
        _object(path, line, block.line + number)
    frame = _polars_frame(path, block)
    if frame is not None:
        for number, line in _doubtful_lines(block.content, frame):
            _object(path, line, block.line + number)
    return frame


def _polars_frame(path: Path, block: Block, schema: Schema | None = None) -> pl.DataFrame | None:
    """The lines as Polars parses them, or None if it fails or would lose data."""
    # Polars turns half of a surrogate pair into a NUL character.
    if _HALF.search(block.content):
        return None
    frames, height, names = list[pl.DataFrame](), 0, dict[str, Any]()
    for piece in _pieces(block.content):
        frame = _piece_frame(piece, schema)
        if frame is None:
            return None
        frames.append(frame)
        height += frame.height
        names |= frame.schema
        _refuse_wide(path, names, block, rows=height)
    if schema is None and any(frame.schema != frames[0].schema for frame in frames):
        common = _common_schema(dict(frame.schema) for frame in frames)
        whole = None if common is None else _polars_frame(path, block, common)
    else:
        whole = pl.concat(frames)
    # Not select, which would read a column called "*" or "^a$" as a pattern.
    return whole if schema or whole is None else whole[_names_in_order(block.content, whole.columns)]


def _piece_frame(content: bytes, schema: Schema | None) -> pl.DataFrame | None:
    try:
        frame = pl.read_ndjson(content, schema=schema, infer_schema_length=None)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    # A line makes one row at most; if there are fewer rows than lines, the other lines must be blank.
    is_whole = frame.height == content.count(b"\n") + 1 or frame.height == _line_count(content)
    return frame if is_whole else None


def _pieces(content: bytes) -> Iterator[bytes]:
    """The lines of a block, ``_PIECE`` at a time, without pieces that are blank."""
    _, ends = _line_places(np.frombuffer(content, dtype=np.uint8))
    for start, end in pairwise([0, *ends[_PIECE - 1 : -1 : _PIECE].tolist(), len(content)]):
        if piece := content[start:end].strip():
            yield piece


def _line_count(content: bytes) -> int:
    return sum(1 for _ in _NONBLANK_LINE.finditer(content))


def _names_in_order(content: bytes, names: Sequence[str]) -> list[str]:
    """Names in order of first occurrence: Polars returns more than 32 keys in random order."""
    ordered, known = dict[str, None](), set(names)
    with suppress(ValueError, RecursionError):
        for line in _NONBLANK_LINE.finditer(content):
            if len(ordered) >= len(names):
                break
            ordered |= dict.fromkeys(json.loads(line.group()))
    return [*(name for name in ordered if name in known), *sorted(known - set(ordered))]


def _doubtful_lines(content: bytes, frame: pl.DataFrame) -> Iterator[tuple[int, bytes]]:
    """The lines, counted from 0, that may name a key twice: those with more keys than their row has values.

    Nulls, nested objects and a quote before a colon inside a text make a line doubtful too. Without any of these, one
    pass over the bytes is enough, about a twentieth of the time of reading.
    """
    text = np.frombuffer(content, dtype=np.uint8)
    keys = _key_ends(text)
    if len(keys) == sum(len(column) - column.null_count() for column in frame):
        return
    starts, ends = _line_places(text)
    counts = np.diff(np.searchsorted(keys, ends), prepend=0)
    is_row = counts > 0
    for number in np.flatnonzero(~is_row):
        is_row[number] = bool(content[starts[number] : ends[number]].strip())
    values = frame.select(pl.sum_horizontal(pl.all().is_not_null())).to_series().to_numpy()
    rows = np.flatnonzero(is_row)
    for number in rows[counts[rows] > values]:
        yield int(number), content[starts[number] : ends[number]]


def _bracketed_lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines, counted from 0, with so many brackets that they may be nested too deeply."""
    brackets = content.translate(None, _NO_BRACKETS).split(b"\n")
    if max(map(len, brackets)) > MAX_DEPTH:
        for number, line in enumerate(content.split(b"\n")):
            if len(brackets[number]) > MAX_DEPTH:
                yield number, line


def _line_places(text: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    ends = np.append(np.flatnonzero(text == _LINE_FEED), len(text))
    return np.append(0, ends[:-1] + 1), ends


def _key_ends(text: npt.NDArray[np.uint8]) -> npt.NDArray[np.intp]:
    """Where the closing quotes of keys are: before a colon, maybe with space between."""
    before: npt.NDArray[np.intp] = np.flatnonzero(text == _COLON) - 1
    while len(spaced := np.flatnonzero(text[before] <= _BLANK)):
        before[spaced] -= 1
    return np.compress(text[before] == _QUOTE, before)


def numbered_objects(path: Path, block: Block) -> Iterator[tuple[int, Object]]:
    """The objects of a block of lines, each with the number of its line."""
    content, number, place = block.content, block.line, 0
    for match in _NONBLANK_LINE.finditer(content):
        start = content.rfind(b"\n", 0, match.start()) + 1
        number, place = number + content.count(b"\n", place, start), start
        yield number, _object(path, content[start : match.end()], number)


def _object(path: Path, line: bytes, number: int) -> Object:
    try:
        value = json.loads(line.decode(), object_pairs_hook=distinct_keys)
    except (ValueError, RecursionError) as error:
        raise FileError(path, f"is not valid JSON: {_reason(error)}; {_advice(line, number)}", number) from error
    if not isinstance(value, dict):
        raise FileError(path, f"holds {_KINDS[type(value)]}, not an object; {_advice(line, number)}", number)
    if line.count(b"[") + line.count(b"{") > MAX_DEPTH and _is_deep(value):
        raise FileError(path, _TOO_DEEP, number)
    _refuse_half_characters(path, line, value, number)
    return value


def _is_deep(value: object, levels: int = MAX_DEPTH) -> bool:
    """Whether objects and arrays are nested more than ``levels`` deep."""
    if not isinstance(value, dict | list):
        return False
    items = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deep(item, levels - 1) for item in items)


def _advice(line: bytes, number: int) -> str:
    if number == 1 and line.lstrip().startswith(b"["):
        return "one object a line was expected; if the file is one JSON array, end its name in .json"
    return "every line must hold one whole JSON object: correct or remove this one"


def _reason(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg[0].lower()}{error.msg[1:].removesuffix(' at')} at column {error.colno}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _refuse_half_characters(path: Path, content: bytes, value: object, line: int | None = None) -> None:
    if not _HALF.search(content):
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise FileError(path, f"holds {half}, half of a character; write both halves or leave it out", line) from error


def _slow_frame(path: Path, block: Block, schema: Schema | None) -> pl.DataFrame:
    return _objects_frame(path, [fields for _, fields in numbered_objects(path, block)], block, schema)


def _objects_frame(path: Path, objects: list[Object], block: Block, schema: Schema | None = None) -> pl.DataFrame:
    names = dict.fromkeys(name for fields in objects for name in fields) if schema is None else schema
    if not names:
        return pl.DataFrame(height=len(objects))
    _refuse_wide(path, dict.fromkeys(names), block, rows=len(objects))
    columns = {name: [fields.get(name) for fields in objects] for name in names}
    return pl.DataFrame({name: _series(name, values, (schema or {}).get(name)) for name, values in columns.items()})


def _series(name: str, values: list[Any], dtype: pl.DataType | None = None) -> pl.Series:
    """The values of a key as a series of the given type or of their common type, or else as strings."""
    kinds = {type(value) for value in values if value is not None}
    with suppress(TypeError, OverflowError, pl.exceptions.PolarsError):
        if dtype is not None and dtype != pl.String:
            return pl.Series(name, values, dtype=dtype, strict=False)
        if dtype is None and kinds == {int, float}:
            return pl.Series(name, values, dtype=pl.Float64, strict=False)
        if dtype is None and len(kinds) < 2 and dict not in kinds:
            return pl.Series(name, values, strict=True)
    texts = (value if isinstance(value, str | None) else json.dumps(value, ensure_ascii=False) for value in values)
    return pl.Series(name, texts, dtype=pl.String)


def _merge_or_strings(schemas: Iterable[Schema]) -> Schema:
    """The keys of several schemas in order, strings where their values have no type in common."""
    types = dict[str, list[Any]]()
    for schema in schemas:
        for name, dtype in schema.items():
            types.setdefault(name, []).append(dtype)
    mixed = {name for name, dtypes in types.items() if {pl.Boolean()} < {*dtypes} - {pl.Null()}}
    return {name: (name not in mixed and reduce(_common, dtypes)) or pl.String() for name, dtypes in types.items()}


def _common_schema(schemas: Iterable[Schema]) -> Schema | None:
    """The keys of schemas with the types their values have in common; None where some have none."""
    common = reduce(_merge_schemas, schemas)
    return None if None in common.values() else common


def _merge_schemas(one: Schema, other: Schema) -> Schema:
    """The keys of two schemas with the type their values have in common, None where they have none; as Polars does."""
    if list(one) == list(other):
        return {name: _common(one[name], other[name]) for name in one}
    longer, shorter = (other, one) if len(other) > len(one) else (one, other)
    both = {name: _common(shorter[name], longer[name]) for name in longer if name in shorter}
    return {**longer, **shorter, **both}


def _common(one: Any, other: Any) -> Any:
    if one == other or other == pl.Null:
        return one
    if one == pl.Null:
        return other
    if one is None or other is None:
        return None
    if pl.String() in (one, other):
        return pl.String()
    if pl.Boolean() in (one, other) and (one.is_numeric() or other.is_numeric()):
        # As Polars does: it takes the number and then refuses the boolean, unless a string turns both into strings.
        return one if one.is_numeric() else other
    if one.is_numeric() and other.is_numeric():
        return pl.Float64() if one.is_float() or other.is_float() else pl.Int128()
    if isinstance(one, pl.List) and isinstance(other, pl.List):
        inner = _common(one.inner, other.inner)
        return None if inner is None else pl.List(inner)
    if isinstance(one, pl.Struct) and isinstance(other, pl.Struct):
        fields = _common_schema([dict(one), dict(other)])
        return None if fields is None else pl.Struct(fields)
    return None


def _refuse_wide(path: Path, schema: Schema, block: Block, *, rows: int) -> None:
    """Raise where the rows of a block would have too many columns, or far more cells than there is text."""
    width = sum(map(_leaf_count, schema.values()))
    if width > blocks.MAX_COLUMNS:
        raise FileError(path, f"has more than {blocks.MAX_COLUMNS:,} keys; keep those you need", block.line)
    if rows * width > MAX_CELLS_PER_BYTE * max(len(block.content), 1 << 16):
        problem = f"{rows:,} objects have {width:,} keys in all, of which each has but a few; keep those you need"
        raise FileError(path, problem, block.line)


def _leaf_count(dtype: Any) -> int:
    """How many columns a value takes when nested objects are laid out flat."""
    if isinstance(dtype, pl.Struct):
        return sum(_leaf_count(field.dtype) for field in dtype.fields)
    return _leaf_count(dtype.inner) if isinstance(dtype, pl.List) else 1
