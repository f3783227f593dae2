"""NLI files of every layout people bring, as suites."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from acidtest.core.digests import Gathered, digests, hexadecimal, repeated
from acidtest.core.draws import U64
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.suite import PARSES, RESERVED, Card, Kind, SourceIds, Suite, completed, plain_name, source_digests
from acidtest.io.fracas import fracas_table, is_xml
from acidtest.io.gold import gold, golds, row_error
from acidtest.io.layouts import Layout, check_names, file_column, found_layout, is_header
from acidtest.io.list_columns import ListValues, is_prediction, listed_cells
from acidtest.io.parallel import is_parallel, parallel_table
from acidtest.io.partitions import part_files, part_table
from acidtest.io.published_sets import FilePairs, recognise
from acidtest.io.rows import Rows, Spool
from acidtest.io.tables import Table, flat, read_table, stem

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
    published: str = ""
    """The published set that the file is, where it is one."""


@dataclass(frozen=True)
class _Pairs:
    """The rows of a table that have gold."""

    table: Table
    label: str
    meanings: Mapping[str, str | None]

    def batches(self, *columns: str) -> Iterator[tuple[pl.DataFrame, pl.Series]]:
        """The rows piece by piece with some of their columns, all flat, and their gold."""
        for batch in self.table.rows.batches(*dict.fromkeys((*columns, self.label))):
            frame = flat(batch)
            labels = golds(frame[self.label], self.meanings)
            has_gold = labels.is_not_null()
            yield frame[list(columns)].filter(has_gold), labels.filter(has_gold)


@dataclass(frozen=True)
class _Roles:
    """Which column of a file becomes which of ours: those every suite may have, and the rest with their kinds."""

    standard: Mapping[str, str]
    own: Mapping[str, str]
    kinds: Mapping[str, Kind]


def corpus(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    label_map: Mapping[str, str] | None = None,
    name: str | None = None,
    published_as: str | None = None,
) -> Corpus:
    """The pairs of a file as a suite. Rows without gold (``-``, ``-1``, nothing) are counted and left out.

    ``path`` is a table in any format, FraCaS in XML, or one of three parallel files or their folder. ``columns`` maps
    our names (premise, hypothesis, label, group, source_id, any factor) to the file's; ``label_map`` maps the file's
    labels to gold sets, or to ``-`` for no gold. Rows that share a premise are one group. A file that a paper published
    (see ``published_sets``) is its suite; ``published_as`` says so where its content does not.
    """
    columns = dict(columns or {})
    check_names(columns)
    table = _as_text(_table(Path(path), columns))
    if not table.rows.height:
        raise FileError(table.path, "has no rows, so there is nothing to ask a model about; copy or write it again")
    layout = found_layout(table, columns)
    table = _as_quoted(table, layout)
    pairs = _Pairs(table, layout.label, gold(table, layout, label_map=label_map or {}))
    for role, column in (("premise", layout.premise), ("hypothesis", layout.hypothesis)):
        _check_text(pairs, role=role, name=column)
    roles = _roles(pairs, layout, columns)
    published = recognise(_file_pairs(pairs, roles, table.name or stem(path)), published_as)
    name = name or (published.name if published else table.name) or stem(path)
    rows = _suite_rows(pairs, roles, name, complete=published.complete if published else None)
    design = published.card_fields(roles.kinds) if published else _hans_design(roles.kinds)
    suite = Suite(rows.lazy(), Card(name, sources=table.sources, **design), origin=table.path).sealed()
    dropped = table.rows.height - rows.height
    return Corpus(suite, layout.name, dropped, table.rows.height, published.name if published else "")


def _hans_design(kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """How a file with the columns of HANS is analysed: by heuristic and gold, subcases being its strata."""
    if kinds.get("heuristic") != "factor":
        return {"columns": kinds}
    strata = ("subcase",) if kinds.get("subcase") == "factor" else ()
    return {"columns": kinds, "crossings": (("heuristic", "label"),), "strata": strata}


def _file_pairs(pairs: _Pairs, roles: _Roles, file: str) -> FilePairs:
    """The file as the recognition of published sets looks at it."""

    def read(*names: str) -> Iterator[pl.DataFrame]:
        columns = {name: roles.standard.get(name) or roles.own[name] for name in ("premise", "hypothesis", *names)}
        columns.pop("label", None)
        for frame, labels in pairs.batches(*dict.fromkeys(columns.values())):
            texts = {name: frame[theirs].cast(pl.String) for name, theirs in columns.items()}
            yield pl.DataFrame(texts | {"label": labels})

    return FilePairs(pairs.table.path, file, roles.kinds, read)


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
        if part_files(path):
            return part_table(path)
        problem = (
            "is a folder, but no suite that acidtest wrote (no data/test.parquet), and has no .parquet files and no "
            "s1.*, s2.* and labels.*"
        )
        raise FileError(path, problem)
    return read_table(path, header=lambda cells: is_header(cells, columns))


def _as_text(table: Table) -> Table:
    """The table without pictures, durations and the like, which Parquet may hold but text cannot."""
    kept = [name for name, dtype in table.rows.schema.items() if not _is_opaque(dtype)]
    return replace(table, rows=table.rows.select(kept))


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
        if again.columns == table.columns:
            return again
    return table


def _check_text(pairs: _Pairs, *, role: str, name: str) -> None:
    """Raise when a column is not text or is empty in a row that has gold."""
    table, dtype = pairs.table, pairs.table.rows.schema[name]
    if not isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        problem = f"column {name!r} holds {dtype} values, not text; name another with --columns {role}=NAME"
        raise FileError(table.path, problem)
    start = 0
    for batch in table.rows.batches(*dict.fromkeys((name, pairs.label))):
        frame = flat(batch)
        labels = golds(frame[pairs.label], pairs.meanings)
        empty = (frame[name].str.strip_chars().fill_null("") == "") & labels.is_not_null()
        if empty.any():
            problem = f"column {name!r} is empty here, but the row has gold; fill it in or remove the row"
            raise row_error(table, start + (empty.arg_max() or 0), column=name, problem=problem)
        start += batch.height


def _roles(pairs: _Pairs, layout: Layout, columns: Mapping[str, str]) -> _Roles:
    """What becomes of every column of a file; all are carried along."""
    table = pairs.table
    given = {ours: file_column(table, theirs) for ours, theirs in columns.items()}
    standard = {"premise": layout.premise, "hypothesis": layout.hypothesis, "label": layout.label}
    standard |= _parses(table, layout)
    standard |= {ours: theirs for ours, theirs in given.items() if ours in RESERVED}
    own = {ours: theirs for ours, theirs in given.items() if ours not in RESERVED}
    kinds: dict[str, Kind] = dict.fromkeys(own, "factor")
    rest = [name for name in table.columns if name not in {*standard.values(), *own.values()}]
    if "source_id" in standard:
        _check_ids(pairs, standard["source_id"])
    elif (name := _id_column(pairs, rest)) is not None:
        standard["source_id"] = name
        rest.remove(name)
    for theirs, kind in _kinds(pairs, rest).items():
        ours = _free_name(theirs, taken=own)
        own[ours], kinds[ours] = theirs, kind
    return _Roles(standard, own, kinds)


def _parses(table: Table, layout: Layout) -> dict[str, str]:
    """``sentence1_binary_parse`` (or ``binary_parse_premise``, as in Hugging Face's HANS) and the like."""
    names = {name.lower(): name for name, dtype in table.rows.schema.items() if dtype == pl.String}
    parses = dict[str, str]()
    for ours in PARSES:
        role, _, kind = ours.partition("_")
        text = (layout.premise if role == "premise" else layout.hypothesis).lower()
        theirs = names.get(f"{text}_{kind}") or names.get(f"{kind}_{text}")
        if theirs:
            parses[ours] = theirs
    return parses


def _suite_rows(
    pairs: _Pairs, roles: _Roles, name: str, *, complete: Callable[[pl.DataFrame], pl.DataFrame] | None = None
) -> Rows:
    """The rows that have gold, in our columns; ``complete`` adds some to the pairs of a published set."""
    premise, hypothesis = roles.standard["premise"], roles.standard["hypothesis"]
    seen, spool = Gathered(), Spool()
    for frame, labels in pairs.batches(premise, hypothesis):
        texts = pl.DataFrame({"premise": frame[premise], "hypothesis": frame[hypothesis], "label": labels})
        seen.add(source_digests(name, texts))
    ids = SourceIds(repeated(seen.sorted()))
    del seen
    for frame, labels in pairs.batches(*pairs.table.columns):
        rows = _suite_frame(frame, labels, roles)
        spool.add(completed(complete(rows) if complete else rows, name, ids))
    return spool.rows()


def _suite_frame(frame: pl.DataFrame, labels: pl.Series, roles: _Roles) -> pl.DataFrame:
    ours = {name: frame[theirs].cast(pl.String) for name, theirs in roles.standard.items()}
    ours["label"] = labels
    premises = hexadecimal(digests(ours["premise"]))
    ours["group"] = ours["group"].fill_null(premises) if "group" in ours else premises
    for name, theirs in roles.own.items():
        column, kind = frame[theirs], roles.kinds[name]
        if kind == "list":
            ours[name] = listed_cells(column)
        else:
            ours[name] = column.cast(pl.Float64) if kind == "covariate" else column.cast(pl.String, strict=False)
    return pl.DataFrame(ours)


def _check_ids(pairs: _Pairs, name: str) -> None:
    ids = _gathered(pairs, name)
    twice = repeated(ids)
    if len(ids) and not len(twice):
        return
    values = (frame[name].cast(pl.String).drop_nulls() for frame, _ in pairs.batches(name))
    found = (value for cells in values for value in cells.filter(np.isin(digests(cells), twice)).head(1))
    problem = f"{next(found)!r} stands in it more than once" if len(twice) else "it is empty"
    raise FileError(pairs.table.path, f"column {name!r} cannot be the source_id: {problem}; leave source_id out")


def _id_column(pairs: _Pairs, names: Iterable[str]) -> str | None:
    """The column that names the rows, if any does without naming two alike."""
    named = {name.lower(): name for name in names}
    candidates = (named[name] for name in _IDS if name in named)
    return next((name for name in candidates if _tells_rows_apart(pairs, name)), None)


def _tells_rows_apart(pairs: _Pairs, name: str) -> bool:
    ids = _gathered(pairs, name)
    return len(ids) > 0 and not len(repeated(ids))


def _gathered(pairs: _Pairs, name: str) -> U64:
    """The digests of what stands in a column, sorted."""
    gathered = Gathered()
    for frame, _ in pairs.batches(name):
        gathered.add(digests(frame[name].cast(pl.String).drop_nulls()))
    return gathered.sorted()


def _free_name(name: str, taken: Collection[str]) -> str:
    """The name a foreign column has in a suite: its own, unless that means something else there."""
    forbidden, name = {*RESERVED, *taken}, plain_name(name)
    if name in forbidden or name.lower() in _IDS:
        name = f"source_{name}"
    while name in forbidden:
        name += "_"
    return name


def _kinds(pairs: _Pairs, names: Sequence[str]) -> dict[str, Kind]:
    """The kind of each column: few different values are a factor, numbers a covariate, the rest text.

    A column whose cells list several values is a list. Answers of systems and labels of annotators are text.
    """
    table = pairs.table
    schema = table.rows.schema
    read = [name for name in names if name.lower() not in _IDS]
    values = {name: _Values(is_text=table.dialect is not None) for name in read if not schema[name].is_nested()}
    texts = [name for name in read if schema[name] == pl.String or schema[name].is_nested()]
    # Whose ids a cell lists says nothing of the pair.
    lists = {name: ListValues() for name in texts if not name.lower().endswith(("id", "ids"))}
    for frame, _ in pairs.batches(*{**values, **lists}) if read else ():
        for name, column in values.items():
            column.add(frame[name])
        for name, cells in lists.items():
            cells.add(frame[name])
    kinds: dict[str, Kind] = dict.fromkeys(names, "text")
    kinds |= {name: seen.kind_of(name) for name, seen in values.items()}
    return kinds | {name: "list" for name, seen in lists.items() if seen.is_list}


class _Values:
    """What has been seen of a column; ``is_text``: numbers in it are written as text."""

    def __init__(self, *, is_text: bool) -> None:
        self._is_integer = self._is_number = is_text
        self._is_text = is_text
        self._different: pl.Series | None = None

    def add(self, column: pl.Series) -> None:
        """Look at the next rows."""
        values, dtype = column.drop_nulls(), column.dtype
        if self._is_text:
            self._is_integer = self._is_integer and bool(values.str.contains(_INTEGER).all())
            self._is_number = self._is_number and bool(values.str.contains(_NUMBER).all())
        else:
            self._is_integer = dtype.is_integer()
            self._is_number = dtype.is_float() or dtype.is_decimal()
        if self._size <= MOST_VALUES:
            values = values if self._different is None else self._different.append(values)
            self._different = values.unique().head(MOST_VALUES + 1)

    def kind_of(self, name: str) -> Kind:
        """Integers of few values are codes, so they are a factor; floats are measurements, however few they are."""
        if self._is_text and not self._size:
            return "text"
        if self._is_number and not self._is_integer:
            return "covariate"
        if 2 <= self._size <= MOST_VALUES and self._different is not None:
            return "text" if is_prediction(name, self._different.cast(pl.String).to_list()) else "factor"
        return "covariate" if self._is_integer and self._size > MOST_VALUES else "text"

    @property
    def _size(self) -> int:
        return 0 if self._different is None else len(self._different)
