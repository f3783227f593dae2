"""NLI files of every layout people bring, as suites."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from acidtest.core.digests import digests, hexadecimal
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.suite import PARSES, RESERVED, Card, Kind, Suite, completed
from acidtest.core.tables import Table, flat, read_table, stem
from acidtest.sources.fracas import fracas_table, is_xml
from acidtest.sources.gold import gold, row_error
from acidtest.sources.layouts import Layout, check_names, file_column, found_layout, is_header
from acidtest.sources.parallel import is_parallel, parallel_table

MOST_VALUES = 50
"""A column with more different values than this is no factor."""

_IDS = ("pairid", "pair_id", "uid", "id", "index", "idx")
# A number with a zero in front is a code, such as 007.
_INTEGER = r"^-?(?:0|[1-9]\d*)$"
_NUMBER = r"^-?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$|^(?i:-?inf|nan)$"


@dataclass(frozen=True)
class Corpus:
    """A suite read from a foreign file, and what was found on the way."""

    suite: Suite
    layout: str
    dropped: int
    """Rows without gold, which the suite does not have."""
    rows_read: int


@dataclass(frozen=True)
class _Roles:
    """Which column of a file becomes which of ours; what is in none of them is carried along."""

    standard: Mapping[str, str]
    factors: Mapping[str, str]


def corpus(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    label_map: Mapping[str, str] | None = None,
    name: str | None = None,
) -> Corpus:
    """The pairs of a file as a suite. Rows without gold (``-``, ``-1``, nothing) are counted and left out.

    ``path`` is a table in any format, FraCaS in XML, or one of three parallel files or their folder. ``columns`` maps
    our names (premise, hypothesis, label, group, source_id, any factor) to the file's; ``label_map`` maps the file's
    labels to gold sets, or to ``-`` for no gold. Rows that share a premise are one group.
    """
    columns = dict(columns or {})
    check_names(columns)
    table = _as_text(_table(Path(path), columns))
    if table.frame.is_empty():
        raise FileError(table.path, "has no rows, so there is nothing to ask a model about; copy or write it again")
    layout = found_layout(table, columns)
    table = _as_quoted(table, layout)
    labels = gold(table, layout, label_map=label_map or {})
    for role, column in (("premise", layout.premise), ("hypothesis", layout.hypothesis)):
        _check_text(table, labels, role=role, name=column)
    name = name or table.name or stem(path)
    frame, kinds = _suite_frame(table, labels, _roles(table, layout, columns))
    card = Card(name, sources=table.sources, columns=kinds, **_hans_design(kinds))
    suite = Suite(completed(frame, name).lazy(), card).sealed()
    return Corpus(suite, layout.name, dropped=labels.null_count(), rows_read=table.frame.height)


def _hans_design(kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """How a file with the columns of HANS is analysed: by heuristic and gold, subcases being its strata."""
    if kinds.get("heuristic") != "factor":
        return {}
    strata = ("subcase",) if kinds.get("subcase") == "factor" else ()
    return {"crossings": (("heuristic", "label"),), "strata": strata}


def parsed_pairs(text: str, *, option: str) -> dict[str, str]:
    """What ``premise=text_a,hypothesis=text_b`` says; ``option`` is the flag it was given to, for errors."""
    pairs = dict[str, str]()
    for part in text.split(","):
        left, _, right = (piece.strip() for piece in part.partition("="))
        if not left or not right:
            raise AcidtestError(f"{option}: {part!r} is not a pair; write {option} NAME=NAME,NAME=NAME")
        if left in pairs:
            raise AcidtestError(f"{option}: {left!r} is given twice, as {pairs[left]!r} and {right!r}; leave one out")
        pairs[left] = right
    return pairs


def _table(path: Path, columns: Mapping[str, str]) -> Table:
    if is_xml(path):
        return fracas_table(path)
    if is_parallel(path):
        return parallel_table(path)
    if path.is_dir():
        problem = "is a folder, but no suite that acidtest wrote (no data/test.parquet) and no s1.*, s2.* and labels.*"
        raise FileError(path, problem)
    return read_table(path, header=lambda cells: is_header(cells, columns))


def _as_text(table: Table) -> Table:
    """The table without pictures, durations and the like, which Parquet may hold but text cannot."""
    opaque = [name for name, dtype in table.frame.schema.items() if _is_opaque(dtype)]
    return replace(table, frame=table.frame.drop(opaque))


def _is_opaque(dtype: object) -> bool:
    if isinstance(dtype, pl.Struct):
        return any(_is_opaque(field.dtype) for field in dtype.fields)
    if isinstance(dtype, pl.List | pl.Array):
        return _is_opaque(dtype.inner)
    return isinstance(dtype, pl.Binary | pl.Duration)


def _as_quoted(table: Table, layout: Layout) -> Table:
    """The table, read again where its layout knows better than the evidence whether quotes enclose cells.

    A file of that layout which somebody wrote anew with quotes, so that it makes no sense without, stays as it is.
    """
    quoted, dialect = layout.quoted, table.dialect
    if quoted is None or dialect is None or dialect.separator != "\t" or dialect.quoted == quoted:
        return table
    with suppress(FileError):
        again = read_table(table.path, header=table.header, quoted=quoted)
        if again.frame.columns == table.frame.columns:
            return again
    return table


def _check_text(table: Table, labels: pl.Series, *, role: str, name: str) -> None:
    """Raise when a column is not text or is empty in a row that has gold."""
    column, dtype = flat(table.frame.select(name))[name], table.frame.schema[name]
    if dtype.is_nested() or column.dtype != pl.String:
        problem = f"column {name!r} holds {dtype} values, not text; name another with --columns {role}=NAME"
        raise FileError(table.path, problem)
    empty = (column.str.strip_chars().fill_null("") == "") & labels.is_not_null()
    if empty.any():
        problem = f"column {name!r} is empty here, but the row has gold; fill it in or remove the row"
        raise row_error(table, empty.arg_max() or 0, column=name, problem=problem)


def _roles(table: Table, layout: Layout, columns: Mapping[str, str]) -> _Roles:
    given = {ours: file_column(table, theirs) for ours, theirs in columns.items()}
    standard = {"premise": layout.premise, "hypothesis": layout.hypothesis, "label": layout.label}
    standard |= _parses(table, layout)
    standard |= {ours: theirs for ours, theirs in given.items() if ours in RESERVED}
    factors = {ours: theirs for ours, theirs in given.items() if ours not in RESERVED}
    return _Roles(standard, factors)


def _parses(table: Table, layout: Layout) -> dict[str, str]:
    """``sentence1_binary_parse`` (or ``binary_parse_premise``, as in Hugging Face's HANS) and the like."""
    names = {name.lower(): name for name in table.frame.columns if table.frame.schema[name] == pl.String}
    parses = dict[str, str]()
    for ours in PARSES:
        role, _, kind = ours.partition("_")
        text = (layout.premise if role == "premise" else layout.hypothesis).lower()
        theirs = names.get(f"{text}_{kind}") or names.get(f"{kind}_{text}")
        if theirs:
            parses[ours] = theirs
    return parses


def _suite_frame(table: Table, labels: pl.Series, roles: _Roles) -> tuple[pl.DataFrame, dict[str, Kind]]:
    """The rows that have gold, in our columns, and the kind of every other column, all of which are carried along."""
    frame = flat(table.frame).filter(labels.is_not_null())
    ours = {name: frame[theirs].cast(pl.String) for name, theirs in roles.standard.items()}
    ours["label"] = labels.drop_nulls()
    premises = hexadecimal(digests(ours["premise"]))
    ours["group"] = ours["group"].fill_null(premises) if "group" in ours else premises
    used = {*roles.standard.values(), *roles.factors.values()}
    if "source_id" in ours:
        _check_ids(table, ours["source_id"], roles.standard["source_id"])
    elif (name := _id_column(frame.drop(used))) is not None:
        ours["source_id"] = frame[name].cast(pl.String)
        used.add(name)
    kinds = dict[str, Kind]()
    for name, theirs in roles.factors.items():
        ours[name], kinds[name] = frame[theirs].cast(pl.String), "factor"
    for column in frame.drop(used):
        name = _free_name(column.name, taken=kinds)
        nested = table.frame.schema[column.name].is_nested()
        ours[name], kinds[name] = (column, "text") if nested else _typed(column, is_text=table.dialect is not None)
    return pl.DataFrame(ours), kinds


def _check_ids(table: Table, ids: pl.Series, name: str) -> None:
    if not _tell_rows_apart(ids):
        twice = ids.filter(ids.is_duplicated() & ids.is_not_null())
        problem = f"{twice[0]!r} stands in it more than once" if len(twice) else "it is empty"
        raise FileError(table.path, f"column {name!r} cannot be the source_id: {problem}; leave source_id out")


def _id_column(frame: pl.DataFrame) -> str | None:
    """The column that names the rows, if any does without naming two alike."""
    named = {name.lower(): name for name in frame.columns}
    candidates = (named[name] for name in _IDS if name in named)
    return next((name for name in candidates if _tell_rows_apart(frame[name])), None)


def _tell_rows_apart(ids: pl.Series) -> bool:
    present = ids.drop_nulls()
    return len(present) > 0 and present.n_unique() == len(present)


def _free_name(name: str, taken: Collection[str]) -> str:
    """The name a foreign column has in a suite: its own, unless that means something else there."""
    forbidden = {*RESERVED, *taken}
    if name in forbidden or name.lower() in _IDS:
        name = f"source_{name}"
    while name in forbidden:
        name += "_"
    return name


def _typed(column: pl.Series, *, is_text: bool) -> tuple[pl.Series, Kind]:
    """A column with its kind: few different values are a factor, numbers a covariate, the rest text.

    Integers of few values are codes, so they are a factor; floats are measurements, however few they are.
    """
    if column.name.lower() in _IDS:
        return column.cast(pl.String), "text"
    values = column.drop_nulls()
    is_integer = column.dtype.is_integer() or (is_text and _all_match(values, _INTEGER))
    is_float = column.dtype.is_float() or column.dtype.is_decimal() or (is_text and _all_match(values, _NUMBER))
    if is_float and not is_integer:
        return column.cast(pl.Float64), "covariate"
    size = values.n_unique()
    if 2 <= size <= MOST_VALUES:
        return column.cast(pl.String), "factor"
    if is_integer and size > MOST_VALUES:
        return column.cast(pl.Float64), "covariate"
    return column.cast(pl.String, strict=False), "text"


def _all_match(values: pl.Series, pattern: str) -> bool:
    return len(values) > 0 and values.dtype == pl.String and bool(values.str.contains(pattern).all())
