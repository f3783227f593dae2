"""What blocks of JSON lines have in common: their keys, the types of the values, and how large a table they make."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from pathlib import Path
from typing import Any

import polars as pl

from acidtest.core import bounds
from acidtest.core.errors import FileError
from acidtest.io.blocks import Block
from acidtest.io.rows import Schema


def merge_or_strings(schemas: Iterable[Schema]) -> Schema:
    """The keys of several schemas in order, strings where their values have no type in common."""
    types = dict[str, list[Any]]()
    for schema in schemas:
        for name, dtype in schema.items():
            types.setdefault(name, []).append(dtype)
    mixed = {name for name, dtypes in types.items() if {pl.Boolean()} < {*dtypes} - {pl.Null()}}
    return {name: (name not in mixed and reduce(_common, dtypes)) or pl.String() for name, dtypes in types.items()}


def merge_schemas(one: Schema, other: Schema) -> Schema:
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
        # Polars takes the number here, although it then refuses the boolean, unless a string makes strings of them all.
        return one if one.is_numeric() else other
    if one.is_numeric() and other.is_numeric():
        return pl.Float64() if one.is_float() or other.is_float() else pl.Int128()
    if isinstance(one, pl.List) and isinstance(other, pl.List):
        inner = _common(one.inner, other.inner)
        return None if inner is None else pl.List(inner)
    if isinstance(one, pl.Struct) and isinstance(other, pl.Struct):
        fields = merge_schemas(dict(one), dict(other))
        return None if None in fields.values() else pl.Struct(fields)
    return None


def refuse_wide(path: Path, schema: Schema, block: Block, *, rows: int) -> None:
    """Raise where the rows of a block would have too many columns, or far more cells than there is text."""
    width = sum(map(_leaf_count, schema.values()))
    if width > bounds.MAX_COLUMNS:
        raise FileError(path, f"has more than {bounds.MAX_COLUMNS:,} keys; keep those you need", block.line)
    if rows * width > bounds.MAX_CELLS_PER_BYTE * max(len(block.content), 1 << 16):
        problem = f"{rows:,} objects have {width:,} keys in all, of which each has but a few; keep those you need"
        raise FileError(path, problem, block.line)


def _leaf_count(dtype: Any) -> int:
    """How many columns a value takes when nested objects are laid out flat."""
    if isinstance(dtype, pl.Struct):
        return sum(_leaf_count(field.dtype) for field in dtype.fields)
    return _leaf_count(dtype.inner) if isinstance(dtype, pl.List) else 1
