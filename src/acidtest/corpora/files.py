"""Reads NLI files of any layout as suites."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from acidtest.core.digests import DigestList, digests, hexadecimal, repeated_values
from acidtest.core.draws import U64, Integers
from acidtest.core.errors import FileError, list_some
from acidtest.core.logs import note
from acidtest.core.suite import (
    PARSES,
    RESERVED,
    Card,
    Kind,
    SourceIds,
    Suite,
    complete_columns,
    plain_name,
)
from acidtest.corpora.published_sets import AS_A_FILE, FilePairs, hans_label_map, recognise
from acidtest.corpora.questions import QUESTION, join_questions
from acidtest.io.claim_files import claim_table
from acidtest.io.columns import ColumnValues, ListValues, encode_lists, gold_meanings, gold_names, row_error
from acidtest.io.corpus_files import fracas_table, is_parallel, is_xml, parallel_table, part_table
from acidtest.io.layouts import Layout, check_names, detect_layout, file_column, is_header, standard_names
from acidtest.io.rows import Rows, Spool, part_files
from acidtest.io.tables import FileTable, flatten, is_opaque, read_table, stem

_IDS = ("pairid", "pair_id", "uid", "id", "sample_id", "index", "idx")

_QUESTIONS = (QUESTION, "query")
_CLAIMS = ("claim", "answer", "response", "summary", "generated_text")
"""Columns whose cells may answer a question that stands beside them."""


@dataclass(frozen=True)
class Corpus:
    """A suite read from a foreign file, and how the file was read."""

    suite: Suite
    layout: str
    dropped: int
    """Number of rows without gold, which are left out of the suite."""
    rows_read: int
    published: str = ""
    """The published set that the file was recognised as; empty for any other file."""


@dataclass(frozen=True)
class _GoldRows:
    """The rows of a table that have gold; with ``unlabelled`` also the others, whose gold is ``any``."""

    table: FileTable
    label: str
    """The column of the labels; empty if the table has none."""
    meanings: Mapping[str, str | None]
    unlabelled: bool = False

    def gold(self, frame: pl.DataFrame) -> pl.Series:
        """The gold of the rows of a batch; null for those to leave out."""
        if not self.label:
            return pl.repeat("any", frame.height, eager=True).alias("label")
        labels = gold_names(frame[self.label], self.meanings)
        return labels.fill_null("any") if self.unlabelled else labels

    def batches(self, *columns: str) -> Iterator[tuple[pl.DataFrame, pl.Series]]:
        """The rows in batches: some of their columns, flattened, and their gold."""
        for frame, has_gold, labels in self.all_batches(*columns):
            yield frame.filter(has_gold), labels.filter(has_gold)

    def all_batches(self, *columns: str) -> Iterator[tuple[pl.DataFrame, pl.Series, pl.Series]]:
        """As ``batches``, but with all rows of the file, and a mask of those to keep."""
        for batch in self.table.rows.batches(*dict.fromkeys((*columns, *([self.label] if self.label else [])))):
            frame = flatten(batch)
            labels = self.gold(frame)
            yield frame[list(columns)], labels.is_not_null(), labels


@dataclass(frozen=True)
class _Roles:
    """Suite column → file column: ``standard`` has the columns any suite may have, ``others`` the rest, with kinds."""

    standard: Mapping[str, str]
    others: Mapping[str, str]
    kinds: Mapping[str, Kind]
    question: str | None = None
    """The file column with the questions that the hypotheses answer."""
    joins_all: bool = False
    """Whether all answers are joined with their questions, and not only short ones."""


def read_corpus(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    label_map: Mapping[str, str] | None = None,
    name: str | None = None,
    published_as: str | None = None,
    unlabelled: bool = False,
) -> Corpus:
    """Read the pairs of a file as a suite. Rows without gold (``-``, ``-1``, nothing) are counted and left out.

    With ``unlabelled`` they stay and their gold is ``any``; a file without labels will do as well.

    ``path`` is a table in any format, FraCaS in XML, or one of three parallel files or their folder. ``columns`` maps
    our names (premise, hypothesis, label, question, group, source_id, any factor) to the file's; ``label_map`` maps the
    file's labels to gold sets, or to ``-`` for no gold. Rows that share a premise are one group, unless the file has a
    column ``group`` with several values. A short answer is joined with its question. A file that a paper published (see
    ``published_sets``) is read as that suite; ``published_as`` names it where the content is not enough.
    """
    columns = standard_names(columns or {})
    check_names(columns)
    table = _table(Path(path), columns)
    # Images, durations and similar Parquet values cannot be written as text.
    writable = [name for name, dtype in table.rows.schema.items() if not is_opaque(dtype)]
    table = replace(table, rows=table.rows.select(writable))
    if not table.rows.height:
        raise FileError(table.path, "has no rows, so there is nothing to ask a model about; copy or write it again")
    layout = detect_layout(table, columns, unlabelled=unlabelled)
    if not layout.label:
        columns_read = list_some(table.columns, 30)
        note("%s: no label column (it has %s); name it with --columns label=NAME", path, columns_read)
    table = _reread_quotes(table, layout)
    meanings = dict[str, str | None]()
    if layout.label:
        meanings = gold_meanings(
            *(table, layout),
            label_map=label_map or {},
            unlabelled=unlabelled,
            published=lambda: {} if published_as == AS_A_FILE else hans_label_map(_texts(table, layout)),
        )
    pairs = _GoldRows(table, layout.label, meanings, unlabelled)
    for role, column in (("premise", layout.premise), ("hypothesis", layout.hypothesis)):
        _check_text(pairs, role=role, name=column)
    roles = _roles(pairs, layout, columns)
    published = recognise(_file_pairs(pairs, roles, table.name or stem(path)), published_as)
    name = name or (published.name if published else table.name) or stem(path)
    rows, without_gold = _suite_rows(pairs, roles, name, complete=published.complete if published else None)
    design = published.card_fields(roles.kinds) if published else _hans_design(roles.kinds)
    misleading = layout.misleading or published is not None or bool(design.get("crossings"))
    card = Card(name, sources=table.sources, **design)
    suite = Suite(rows.lazy(), card, origin=table.path, without_gold=without_gold, misleading=misleading).sealed()
    dropped = table.rows.height - rows.height
    return Corpus(suite, layout.name, dropped, table.rows.height, published.name if published else "")


def _texts(table: FileTable, layout: Layout) -> Iterator[pl.DataFrame]:
    """Premises, hypotheses and labels as they are written, piece by piece."""
    names = (layout.premise, layout.hypothesis, layout.label)
    for batch in table.rows.batches(*names):
        columns = flatten(batch).select(pl.col(names).cast(pl.String, strict=False))
        yield columns.rename(dict(zip(names, ("premise", "hypothesis", "label"), strict=True)))


def _hans_design(kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """Card fields for a file with HANS's columns: crossed by heuristic and label, with subcases as strata."""
    if kinds.get("heuristic") != "factor":
        return {"columns": kinds}
    strata = ("subcase",) if kinds.get("subcase") == "factor" else ()
    return {"columns": kinds, "crossings": (("heuristic", "label"),), "strata": strata}


def _file_pairs(pairs: _GoldRows, roles: _Roles, file: str) -> FilePairs:
    """The file in the form that ``recognise`` takes."""

    def read(*names: str) -> Iterator[pl.DataFrame]:
        wanted = [name for name in ("premise", "hypothesis", *names) if name != "label"]
        columns = {name: roles.standard.get(name) or roles.others[name] for name in wanted}
        for frame, labels in pairs.batches(*dict.fromkeys(columns.values())):
            texts = {name: frame[column].cast(pl.String) for name, column in columns.items()}
            yield pl.DataFrame(texts | {"label": labels})

    return FilePairs(pairs.table.path, file, roles.kinds, read, parses=frozenset(PARSES) & roles.standard.keys())


def _table(path: Path, columns: Mapping[str, str]) -> FileTable:
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
    table = read_table(path, header=lambda cells: is_header(cells, columns))
    return table if columns else claim_table(table)


def _reread_quotes(table: FileTable, layout: Layout) -> FileTable:
    """The table, read again if its layout treats quotes differently from how the file was read.

    A file that cannot be read that way, such as a copy saved with quotes, stays as it is.
    """
    quoted, dialect = layout.quoted, table.dialect
    if quoted is None or dialect is None or dialect.separator != "\t" or dialect.quoted == quoted:
        return table
    with suppress(FileError):
        again = read_table(table.path, header=table.header, quoted=quoted)
        if again.columns == table.columns:
            return again
    return table


def _check_text(pairs: _GoldRows, *, role: str, name: str) -> None:
    """Raise when a column is not text or is empty in a row that has gold."""
    table, dtype = pairs.table, pairs.table.rows.schema[name]
    if not isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        problem = f"column {name!r} holds {dtype} values, not text; name another with --columns {role}=NAME"
        raise FileError(table.path, problem)
    start = 0
    for batch in table.rows.batches(*filter(None, dict.fromkeys((name, pairs.label)))):
        frame = flatten(batch)
        empty = (frame[name].str.strip_chars().fill_null("") == "") & pairs.gold(frame).is_not_null()
        if empty.any():
            reason = "" if pairs.unlabelled else ", but the row has gold"
            problem = f"column {name!r} is empty here{reason}; fill it in or remove the row"
            raise row_error(table, start + (empty.arg_max() or 0), column=name, problem=problem)
        start += batch.height


def _roles(pairs: _GoldRows, layout: Layout, columns: Mapping[str, str]) -> _Roles:
    """The roles of all columns of a file; no column is left out."""
    table = pairs.table
    given = {name: file_column(table, column) for name, column in columns.items()}
    standard = {"premise": layout.premise, "hypothesis": layout.hypothesis}
    standard |= {"label": layout.label} if layout.label else {}
    standard |= _parses(table, layout)
    standard |= {name: column for name, column in given.items() if name in RESERVED}
    others = {name: column for name, column in given.items() if name not in RESERVED}
    question = others.get(QUESTION) or question_column(table, layout)
    others |= {QUESTION: question} if question else {}
    kinds: dict[str, Kind] = {name: "text" if name == QUESTION else "factor" for name in others}
    rest = [column for column in table.columns if column not in {*standard.values(), *others.values()}]
    if "source_id" in standard:
        _check_ids(pairs, standard["source_id"])
    elif (column := _id_column(pairs, rest)) is not None:
        standard["source_id"] = column
        rest.remove(column)
    if "group" not in standard and (column := _group_column(pairs, rest)) is not None:
        standard["group"] = column
        rest.remove(column)
    for column, kind in _kinds(pairs, rest).items():
        name = _free_name(column, taken=others)
        others[name], kinds[name] = column, kind
    return _Roles(standard, others, kinds, question, layout.joins_questions)


def question_column(table: FileTable, layout: Layout) -> str | None:
    """The column with the questions that the claims of a table answer."""
    if layout.hypothesis.lower() not in _CLAIMS:
        return None
    texts = {name.lower(): name for name, dtype in table.rows.schema.items() if dtype == pl.String}
    return next((texts[name] for name in _QUESTIONS if name in texts), None)


def _parses(table: FileTable, layout: Layout) -> dict[str, str]:
    """The parse columns: ``sentence1_binary_parse``, or ``binary_parse_premise`` as in Hugging Face's HANS."""
    names = {name.lower(): name for name, dtype in table.rows.schema.items() if dtype == pl.String}
    parses = dict[str, str]()
    for name in PARSES:
        role, _, kind = name.partition("_")
        text = (layout.premise if role == "premise" else layout.hypothesis).lower()
        column = names.get(f"{text}_{kind}") or names.get(f"{kind}_{text}")
        if column:
            parses[name] = column
    return parses


def _suite_rows(
    pairs: _GoldRows, roles: _Roles, name: str, *, complete: Callable[[pl.DataFrame], pl.DataFrame] | None = None
) -> tuple[Rows, Integers]:
    """The rows that have gold, in our columns, and the numbers of the others in the file.

    ``complete`` adds the columns of a published set.
    """
    seen, spool = DigestList(), Spool()
    texts = [roles.standard["premise"], roles.standard["hypothesis"], *([roles.question] if roles.question else [])]
    for batch in pairs.table.rows.batches(*dict.fromkeys(texts)):
        seen.add(_pair_digests(flatten(batch), roles, name))
    ids = SourceIds(repeated_values(seen.sorted()))
    del seen
    rows_read, without_gold = 0, [np.empty(0, dtype=np.int64)]
    for frame, has_gold, labels in pairs.all_batches(*pairs.table.columns):
        without_gold.append(rows_read + np.flatnonzero(~has_gold.to_numpy()))
        rows_read += frame.height
        identifiers = ids.of(_pair_digests(frame, roles, name)).filter(has_gold)
        rows = _suite_frame(frame.filter(has_gold), labels.filter(has_gold), roles).with_columns(identifiers)
        spool.add(complete_columns(complete(rows) if complete else rows, name))
    return spool.rows(), np.concatenate(without_gold)


def _pair_digests(frame: pl.DataFrame, roles: _Roles, name: str) -> U64:
    """Digests of suite name, premise and hypothesis, from which ids are made.

    Gold is not part of them, and rows without gold are counted like the others, so that an id stays the same whatever
    the labels of the file are taken for.
    """
    return digests(frame[roles.standard["premise"]].cast(pl.String), _hypotheses(frame, roles), salt=name)


def _hypotheses(frame: pl.DataFrame, roles: _Roles) -> pl.Series:
    """The hypotheses of rows of a file; short answers, or all of them, are joined with their questions."""
    hypotheses = frame[roles.standard["hypothesis"]].cast(pl.String)
    if not roles.question:
        return hypotheses
    return join_questions(frame[roles.question].cast(pl.String), hypotheses, only_short=not roles.joins_all)


def _suite_frame(frame: pl.DataFrame, labels: pl.Series, roles: _Roles) -> pl.DataFrame:
    columns = {name: frame[column].cast(pl.String) for name, column in roles.standard.items()}
    columns |= {"label": labels, "hypothesis": _hypotheses(frame, roles)}
    premises = hexadecimal(digests(columns["premise"]))
    columns["group"] = columns["group"].fill_null(premises) if "group" in columns else premises
    for name, source in roles.others.items():
        values, kind = frame[source], roles.kinds[name]
        if kind == "list":
            columns[name] = encode_lists(values)
        else:
            columns[name] = values.cast(pl.Float64) if kind == "covariate" else values.cast(pl.String, strict=False)
    return pl.DataFrame(columns)


def _check_ids(pairs: _GoldRows, name: str) -> None:
    twice = _repeated_ids(pairs, name)
    if twice is not None and not len(twice):
        return
    values = (frame[name].cast(pl.String).drop_nulls() for frame, _ in pairs.batches(name))
    problem = "it is empty"
    if twice is not None:
        duplicates = (value for cells in values for value in cells.filter(np.isin(digests(cells), twice)).head(1))
        problem = f"{next(duplicates)!r} stands in it more than once"
    raise FileError(pairs.table.path, f"column {name!r} cannot be the source_id: {problem}; leave source_id out")


def _id_column(pairs: _GoldRows, names: Iterable[str]) -> str | None:
    """The column with ids of the rows, if there is one without duplicates."""
    named = {name.lower(): name for name in names}
    candidates = (named[name] for name in _IDS if name in named)
    repeated = ((name, _repeated_ids(pairs, name)) for name in candidates)
    return next((name for name, twice in repeated if twice is not None and not len(twice)), None)


def _group_column(pairs: _GoldRows, names: Iterable[str]) -> str | None:
    """The column called group, in whatever case, if it has several values; a note says that it is used."""
    column = next((name for name in names if name.strip().lower() == "group"), None)
    if column is None:
        return None
    values = DigestList()
    for frame, _ in pairs.batches(column):
        values.add(digests(frame[column].cast(pl.String).drop_nulls()))
    ids = values.sorted()
    groups = int((ids[1:] != ids[:-1]).sum()) + 1 if len(ids) else 0
    if groups < 2:
        return None
    note(
        "%s: column %r says which rows belong together (%s groups); to read it as a factor: --columns NAME=%s",
        *(pairs.table.path, column, f"{groups:,}", column),
    )
    return column


def _repeated_ids(pairs: _GoldRows, name: str) -> U64 | None:
    """The digests of values that occur more than once in a column; None if it has no values."""
    values = DigestList()
    for frame, _ in pairs.batches(name):
        values.add(digests(frame[name].cast(pl.String).drop_nulls()))
    ids = values.sorted()
    return repeated_values(ids) if len(ids) else None


def _free_name(name: str, taken: Collection[str]) -> str:
    """The name of a file's column in a suite: unchanged unless it is reserved, taken or an id's name."""
    forbidden, name = {*RESERVED, *taken}, plain_name(name)
    if name in forbidden or name.lower() in _IDS:
        name = f"source_{name}"
    while name in forbidden:
        name += "_"
    return name


def _kinds(pairs: _GoldRows, names: Sequence[str]) -> dict[str, Kind]:
    """The kind of each column: factor for few distinct values, covariate for numbers, otherwise text.

    A column whose cells hold several values is a list. System answers and annotators' labels are text.
    """
    table = pairs.table
    schema = table.rows.schema
    read = [name for name in names if name.lower() not in _IDS]
    values = {name: ColumnValues(is_text=table.dialect is not None) for name in read if not schema[name].is_nested()}
    texts = [name for name in read if schema[name] == pl.String or schema[name].is_nested()]
    # A list of ids says nothing about the pair.
    lists = {name: ListValues() for name in texts if not name.lower().endswith(("id", "ids"))}
    for frame, _ in pairs.batches(*{**values, **lists}) if read else ():
        for name, column in values.items():
            column.add(frame[name])
        for name, cells in lists.items():
            cells.add(frame[name])
    kinds: dict[str, Kind] = dict.fromkeys(names, "text")
    kinds |= {name: seen.kind_of(name) for name, seen in values.items()}
    return kinds | {name: "list" for name, seen in lists.items() if seen.is_list}
