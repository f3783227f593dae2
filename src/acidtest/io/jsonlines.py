"""JSON objects, one a line or all in one array, into a frame, with the line of everything that is wrong in them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core import bounds
from acidtest.core.errors import FileError
from acidtest.io.blocks import UTF8_MARK, Block, Text
from acidtest.io.json_schemas import merge_or_strings, merge_schemas, refuse_wide
from acidtest.io.rows import Rows, Schema, Spool

Object = dict[str, Any]
_ReadBlock = Callable[[Path, Block, Schema | None], pl.DataFrame | None]

_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F]"
_HALF = re.compile(rb"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!%b)|[c-fC-F](?<!%b%b))" % (_LOW, _HIGH, _LOW))
"""Half of a surrogate pair, unless a doubled backslash makes it plain text."""

_SPACE = re.compile(r"[\s,]*")
_NONBLANK_LINE = re.compile(rb"\S[^\n]*")
_PIECE = 1 << 12
"""How many lines Polars is given at once, whose table has as many columns as they have different keys."""
_LINE_FEED, _BLANK, _QUOTE, _COLON = b'\n ":'
_NO_MARKS = bytes({*range(256)} - {*b"[{,"})
_NO_BRACKETS = bytes({*range(256)} - {*b"[{\n"})
AS_LINES = "write it as JSON lines, for example with: jq -c '.[]' OLD.json > NEW.jsonl"
_TOO_DEEP = f"is nested more than {bounds.MAX_DEPTH} deep; leave out what no table can show"
_KINDS = {list: "an array", str: "a string", int: "a number", float: "a number", bool: "a boolean", type(None): "null"}


@dataclass(frozen=True)
class JSONLines:
    """The rows of a text, and a function that finds the line of a row by reading the text again."""

    rows: Rows
    line: Callable[[int], int]


class _RepeatedKeyError(Exception):
    """A key that occurs twice in one object, where a parser would silently keep the last."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key!r} stands more than once in one object; keep one of them")


def read_json_lines(text: Text) -> JSONLines:
    """The objects of a text with one a line. A key missing somewhere is null there; blank lines are skipped.

    A key whose values have no type in common becomes strings, what is not a string as JSON.
    """
    spool = _read_blocks(text, _checked_frame) or _read_blocks(text, _slow_frame)
    if spool is None or not spool.schemas:
        raise FileError(text.path, "holds nothing, not even one JSON object; copy or write it again")
    schema = {name: pl.String() if dtype == pl.Null else dtype for name, dtype in spool.schemas[0].items()}

    def line(row: int) -> int:
        block, number = text.block_of(row, spool.heights)
        return next(islice(_numbered(text.path, block), number, None))[0]

    return JSONLines(spool.rows(schema), line)


def read_json_array(path: Path, content: bytes) -> pl.DataFrame:
    """The objects of a text that is one JSON array; otherwise as ``read_json_lines``."""
    marks = content.translate(None, _NO_MARKS)
    if len(marks) > bounds.MAX_ARRAY_VALUES:
        raise FileError(path, f"holds more than {bounds.MAX_ARRAY_VALUES:,} values in one array; {AS_LINES}")
    text = content.decode()
    try:
        values = json.loads(text, object_pairs_hook=_refuse_repeated_key)
    except _RepeatedKeyError as error:
        raise FileError(path, str(error), _repeating_line(text)) from error
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        raise FileError(
            path, f"is not valid JSON: {_reason(error)}; correct the array that opens the file", line
        ) from error
    for number, value in enumerate(values):
        if not isinstance(value, dict):
            line = array_line(content, number)
            problem = f"entry {number + 1:,} of the array is {_kind_name(value)}, not an object; correct or remove it"
            raise FileError(path, problem, line)
    _refuse_half_characters(path, content, values)
    # An entry has one bracket that the others do not share, and those of what is nested in it.
    if len(marks) - marks.count(b",") - len(values) > bounds.MAX_DEPTH:
        for number, value in enumerate(values):
            if _is_deep(value):
                raise FileError(path, _TOO_DEEP, array_line(content, number))
    return _frame(path, values, Block(content))


def is_array(content: bytes) -> bool:
    """Whether a text begins as a JSON array."""
    return content[:4096].removeprefix(UTF8_MARK).lstrip().startswith(b"[")


def is_object(content: bytes) -> bool:
    """Whether a text begins as a JSON object."""
    return content[:4096].lstrip().startswith(b"{")


def array_line(content: bytes, row: int) -> int:
    """The line on which an entry of an array begins."""
    text, decoder = content.decode(), json.JSONDecoder()
    position = text.index("[") + 1
    for _ in range(row):
        _, position = decoder.raw_decode(text, _past_space(text, position))
    return text.count("\n", 0, _past_space(text, position)) + 1


def _repeating_line(text: str) -> int:
    """The line on which the first entry of an array with a repeated key begins."""
    decoder = json.JSONDecoder(object_pairs_hook=_refuse_repeated_key)
    position = text.index("[") + 1
    with suppress(_RepeatedKeyError):
        while True:
            position = _past_space(text, position)
            _, position = decoder.raw_decode(text, position)
    return text.count("\n", 0, position) + 1


def _refuse_repeated_key(pairs: list[tuple[str, Any]]) -> Object:
    """The object that pairs of keys and values make, if no key occurs twice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise _RepeatedKeyError(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return fields


def _past_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _read_blocks(text: Text, read: _ReadBlock) -> Spool | None:
    """The objects of all blocks, or None where a block, or what blocks have in common, is beyond a reader.

    A block shows only some keys and types. Where blocks differ, all are read again with what they have in common.
    """
    spool = _read_blocks_once(text, read, None)
    if spool is None or len(spool.schemas) < 2:
        return spool
    if read is _slow_frame:
        return _read_blocks_once(text, read, merge_or_strings(spool.schemas))
    common = reduce(merge_schemas, spool.schemas)
    return None if None in common.values() else _read_blocks_once(text, read, common)


def _read_blocks_once(text: Text, read: _ReadBlock, schema: Schema | None) -> Spool | None:
    spool, names = Spool(), set[str]()
    for block in text.blocks():
        frame = read(text.path, block, schema) if block.content.strip() else pl.DataFrame()
        if frame is None:
            return None
        spool.add(frame)
        names.update(frame.columns)
        refuse_wide(text.path, dict.fromkeys(names), block, rows=0)
    return spool


def _checked_frame(path: Path, block: Block, schema: Schema | None) -> pl.DataFrame | None:
    """What Polars makes of the lines of a block, if it can and no line names a key twice or is nested too deeply.

    Whoever knows the schema has read the block before.
    """
    if schema is not None:
        refuse_wide(path, schema, block, rows=_line_count(block.content))
        return _fast_frame(path, block, schema)
    for number, line in _bracketed_lines(block.content):
        _object(path, line, block.line + number)
    frame = _fast_frame(path, block)
    if frame is not None:
        for number, line in _doubtful_lines(block.content, frame):
            _object(path, line, block.line + number)
    return frame


def _slow_frame(path: Path, block: Block, schema: Schema | None) -> pl.DataFrame:
    return _frame(path, [fields for _, fields in _numbered(path, block)], block, schema)


def _fast_frame(path: Path, block: Block, schema: Schema | None = None) -> pl.DataFrame | None:
    """What Polars makes of the lines, or None where it fails or would lose something."""
    # Polars turns half of a surrogate pair into a NUL character.
    if _HALF.search(block.content):
        return None
    frames, height, names = list[pl.DataFrame](), 0, dict[str, Any]()
    for piece in _pieces(block.content):
        frame = _polars_frame(piece, schema)
        if frame is None:
            return None
        frames.append(frame)
        height += frame.height
        names |= frame.schema
        refuse_wide(path, names, block, rows=height)
    if schema is None and any(frame.schema != frames[0].schema for frame in frames):
        schemas: list[Schema] = [dict(frame.schema) for frame in frames]
        common = reduce(merge_schemas, schemas)
        whole = None if None in common.values() else _fast_frame(path, block, common)
    else:
        whole = pl.concat(frames)
    # Not select, to which a column called "*" or "^a$" would mean others, too.
    return whole if schema or whole is None else whole[_names_in_order(block.content, whole.columns)]


def _polars_frame(content: bytes, schema: Schema | None) -> pl.DataFrame | None:
    try:
        frame = pl.read_ndjson(content, schema=schema, infer_schema_length=None)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    # No line makes two rows; where there are fewer rows than lines, it remains to count those that are blank.
    is_whole = frame.height == content.count(b"\n") + 1 or frame.height == _line_count(content)
    return frame if is_whole else None


def _pieces(content: bytes) -> Iterator[bytes]:
    """The lines of a block, ``_PIECE`` at a time, without pieces that are blank."""
    _, ends = _line_places(np.frombuffer(content, dtype=np.uint8))
    for start, end in pairwise([0, *ends[_PIECE - 1 : -1 : _PIECE].tolist(), len(content)]):
        if piece := content[start:end].strip():
            yield piece


def _line_count(content: bytes) -> int:
    """How many lines are not blank."""
    return sum(1 for _ in _NONBLANK_LINE.finditer(content))


def _names_in_order(content: bytes, names: Sequence[str]) -> list[str]:
    """Names in the order in which they first occur in the lines: those of more than 32 keys Polars mixes at random."""
    ordered, known = dict[str, None](), set(names)
    with suppress(ValueError, RecursionError):
        for line in _NONBLANK_LINE.finditer(content):
            if len(ordered) >= len(names):
                break
            ordered |= dict.fromkeys(json.loads(line.group()))
    return [*(name for name in ordered if name in known), *sorted(known - set(ordered))]


def _doubtful_lines(content: bytes, frame: pl.DataFrame) -> Iterator[tuple[int, bytes]]:
    """The lines, counted from 0, that may name a key twice: those with more keys than their row has values.

    Nulls, nested objects and a quote before a colon inside a text make a line doubtful too. Elsewhere one pass over the
    bytes, about a twentieth of the time of reading, is enough.
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
    if max(map(len, brackets)) > bounds.MAX_DEPTH:
        for number, line in enumerate(content.split(b"\n")):
            if len(brackets[number]) > bounds.MAX_DEPTH:
                yield number, line


def _line_places(text: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Where the lines begin and where they end."""
    ends = np.append(np.flatnonzero(text == _LINE_FEED), len(text))
    return np.append(0, ends[:-1] + 1), ends


def _key_ends(text: npt.NDArray[np.uint8]) -> npt.NDArray[np.intp]:
    """Where the closing quotes of keys are: before a colon, maybe with space between."""
    before: npt.NDArray[np.intp] = np.flatnonzero(text == _COLON) - 1
    while len(spaced := np.flatnonzero(text[before] <= _BLANK)):
        before[spaced] -= 1
    return np.compress(text[before] == _QUOTE, before)


def _numbered(path: Path, block: Block) -> Iterator[tuple[int, Object]]:
    """Every object with its line."""
    content, number, place = block.content, block.line, 0
    for match in _NONBLANK_LINE.finditer(content):
        start = content.rfind(b"\n", 0, match.start()) + 1
        number, place = number + content.count(b"\n", place, start), start
        yield number, _object(path, content[start : match.end()], number)


def _object(path: Path, line: bytes, number: int) -> Object:
    try:
        value = json.loads(line.decode(), object_pairs_hook=_refuse_repeated_key)
    except _RepeatedKeyError as error:
        raise FileError(path, str(error), number) from error
    except (ValueError, RecursionError) as error:
        raise FileError(path, f"is not valid JSON: {_reason(error)}; {_advice(line, number)}", number) from error
    if not isinstance(value, dict):
        raise FileError(path, f"holds {_kind_name(value)}, not an object; {_advice(line, number)}", number)
    if line.count(b"[") + line.count(b"{") > bounds.MAX_DEPTH and _is_deep(value):
        raise FileError(path, _TOO_DEEP, number)
    _refuse_half_characters(path, line, value, number)
    return value


def _is_deep(value: object, levels: int = bounds.MAX_DEPTH) -> bool:
    """Whether objects and arrays are nested in more than so many levels."""
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


def _kind_name(value: object) -> str:
    return _KINDS.get(type(value), "something else")


def _refuse_half_characters(path: Path, content: bytes, value: object, line: int | None = None) -> None:
    if not _HALF.search(content):
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise FileError(path, f"holds {half}, half of a character; write both halves or leave it out", line) from error


def _frame(path: Path, objects: list[Object], block: Block, schema: Schema | None = None) -> pl.DataFrame:
    names = dict.fromkeys(name for fields in objects for name in fields) if schema is None else schema
    if not names:
        return pl.DataFrame(height=len(objects))
    refuse_wide(path, dict.fromkeys(names), block, rows=len(objects))
    dtypes = schema or {}
    return pl.DataFrame(
        {name: _series(name, [fields.get(name) for fields in objects], dtypes.get(name)) for name in names}
    )


def _series(name: str, values: list[Any], dtype: pl.DataType | None = None) -> pl.Series:
    """The values of a key, of a type that is known or of the one they have in common."""
    kinds = {type(value) for value in values if value is not None}
    with suppress(TypeError, OverflowError, pl.exceptions.PolarsError):
        if dtype is not None and dtype != pl.String:
            return pl.Series(name, values, dtype=dtype, strict=False)
        if dtype is None and kinds == {int, float}:
            return pl.Series(name, values, dtype=pl.Float64, strict=False)
        if dtype is None and len(kinds) < 2 and dict not in kinds:
            return pl.Series(name, values, strict=True)
    return pl.Series(name, [_as_string(value) for value in values], dtype=pl.String)


def _as_string(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
