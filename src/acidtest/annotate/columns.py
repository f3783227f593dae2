"""Interprets columns of files with people's answers: participation, which rows count, and marked categories.

Optional columns describe participation: ``seconds``; ``control`` (yes) or ``role`` (control) for an attention check,
with ``passed`` or ``failed`` (yes or no); ``excluded`` (yes, or the reason) for a person whose answers are left out.
Categories are one column of lists, or a column of 0 and 1 for each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.annotate.questionnaires import SEPARATOR
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.ratings import ALL, DISCARDED, KEPT, Attendance, CheckCounts, Headcount, PeoplePace, summarise_times
from acidtest.io.tables import FileTable
from acidtest.pairs.taxonomy import ordered_categories, taxonomy_name

GOLD_COLUMNS = ("gold", "gold_label")
"""Names of the column with the gold label that items came with, the likeliest first."""

SENTENCE_COLUMNS = ("premise", "sentence1", "prem", "context", "sentence_a")
"""Columns that rows of one source sentence have in common, the likeliest first."""

PARTICIPATION_COLUMNS = ("seconds", "control", "passed", "failed", "excluded")
"""Columns that say how long an answer took and whether it counts; ``role`` may occur with them."""

ANNOTATED = "annotated_label"
"""The column with people's labels in files where ``label`` is a gold label, such as TaxiNLI's."""
ANY = "any"
"""The gold of pairs that nobody has labelled yet, as ``--ask`` writes it: not a label to compare with."""

LIST_COLUMNS = ("annotator_labels",)
JUDGEMENT_COLUMNS = (ANNOTATED, "label", "annotator_label", "rating", "annotation", "answer")
LABEL_COLUMNS = (*LIST_COLUMNS, *JUDGEMENT_COLUMNS, *(f"label{number}" for number in range(1, 6)))
"""Columns recognised as people's labels, in files of judgements or in corpora."""

LIST_COLUMN = "categories"
"""The name of the column with lists of categories."""

_YES, _NO = ("yes", "y", "true", "1", "1.0"), ("no", "n", "false", "0", "0.0")
_MARKED, _UNMARKED = ("1", "1.0", "true"), ("0", "0.0", "false")
_NO_CATEGORY = ("", "-", "none")


class RowError(AcidtestError):
    """Something wrong in one row of a frame; ``row`` counts from 0."""

    def __init__(self, row: int, problem: str) -> None:
        self.row, self.problem = row, problem
        super().__init__(f"row {row + 1:,}: {problem}")


def row_error(table: FileTable, row: int, problem: str) -> FileError:
    """An error about a row of a table, with its line if the file has lines."""
    line = table.line(row)
    return FileError(table.path, problem if line else f"row {row + 1:,}: {problem}", line)


@contextmanager
def errors_in(table: FileTable) -> Iterator[None]:
    """Turn errors about a row, or about the whole table, into errors that name the file."""
    try:
        yield
    except RowError as error:
        raise row_error(table, error.row, error.problem) from error
    except FileError:
        raise
    except AcidtestError as error:
        raise FileError(table.path, str(error)) from error


def find_column(columns: Sequence[str], known: Sequence[str], but: Collection[str | None] = ()) -> str | None:
    """A table's column for the first of the ``known`` names that it has, ignoring case; never one in ``but``."""
    names = {name.strip().lower(): name for name in columns if name not in but}
    return next((names[name] for name in known if name in names), None)


def sentence_column(columns: Sequence[str]) -> str | None:
    """The first column whose name is in ``SENTENCE_COLUMNS``, ignoring case."""
    return next((name for name in columns if name.lower() in SENTENCE_COLUMNS), None)


def clean_text(column: pl.Series) -> pl.Series:
    """A column as stripped text; an empty cell is null."""
    return column.cast(pl.String, strict=False).str.strip_chars().replace("", None)


def clean_gold(column: pl.Series, *, missing: Sequence[str]) -> pl.Series:
    """A column of gold labels as written; null where it holds one of the marks for a missing label."""
    written = clean_text(column)
    return written.set(written.is_in(list(missing)), None).alias("gold")


def split_lists(cells: pl.Series, separator: str) -> pl.Series:
    """Text cells split into lists: they hold a list as JSON or Python writes it, or texts between separators."""
    bracketed = cells.str.starts_with("[")
    written = cells.set(~bracketed, None)
    try:
        lists = written.str.json_decode(pl.List(pl.String))
    except pl.exceptions.PolarsError:
        lists = written.str.strip_chars("[]").str.replace_all(r"""["']""", "").str.split(",")
    return lists.zip_with(bracketed.fill_null(True), cells.str.split(separator))


def group_codes(column: pl.Series) -> npt.NDArray[np.int64]:
    """A code for each row, the same for equal texts; every null gets a code of its own."""
    unique = pl.int_range(len(column), eager=True) + len(column) + 1
    codes = pl.select(pl.coalesce(column.rank("dense").cast(pl.Int64), unique)).to_series()
    return np.asarray(codes.to_numpy(), dtype=np.int64)


def answer_keys(frame: pl.DataFrame, item: str, annotator: str) -> pl.DataFrame:
    """The item and the annotator of each row; an empty cell or a repeated pair is an error."""
    keys = pl.DataFrame({"item": clean_text(frame[item]), "annotator": clean_text(frame[annotator])})
    for name, column in (("item", item), ("annotator", annotator)):
        for row in keys[name].is_null().arg_true().head(1):
            raise RowError(row, f"has no {column}; fill it in or remove the row")
    for row in (~keys.select(pl.struct(pl.all()).is_first_distinct()).to_series()).arg_true().head(1):
        repeated, person = keys.row(row)
        raise RowError(row, f"annotator {person!r} answers item {repeated!r} a second time; keep one row")
    return keys


def counted_rows(annotators: pl.Series, participation: pl.DataFrame) -> tuple[pl.Series, Attendance]:
    """Which rows count, and a summary of the people; ``participation`` has the columns about it that the file has."""
    cells = {
        name: clean_text(participation[name])
        if name in participation.columns
        else pl.Series(name, [None] * participation.height, dtype=pl.String)
        for name in (*PARTICIPATION_COLUMNS, "role")
    }
    excluded = cells["excluded"].str.to_lowercase()
    failed = pl.coalesce(_flags(cells["failed"]), ~_flags(cells["passed"]))
    rows = pl.DataFrame(
        {
            "annotator": annotators,
            "seconds": _seconds(cells["seconds"]),
            "check": _flags(cells["control"]).fill_null(False)
            | (cells["role"].str.to_lowercase() == "control").fill_null(False),
            # Null where nothing is known of the result of a check.
            "failed": pl.select(failed).to_series(),
            # Anything but no excludes a person: the cell may hold the reason.
            "excluded": (excluded.is_not_null() & ~excluded.is_in(_NO)).fill_null(False),
        }
    )
    # If one row excludes a person, all rows of that person are left out.
    rows = rows.with_columns(excluded=pl.col("excluded").any().over("annotator"))
    counts = ~rows["check"] & ~rows["excluded"]
    if not counts.any():
        raise AcidtestError(f"all {rows.height:,} rows are attention checks or of excluded people; none is left")
    kept = rows.filter(counts)
    people = kept.partition_by("annotator", as_dict=True, maintain_order=True)
    by_person = {str(name): summarise_times(part["seconds"]) for (name,), part in people.items()}
    by_annotator = rows.filter("check").group_by("annotator", maintain_order=True)
    checks = by_annotator.agg(asked=pl.len(), known=pl.col("failed").count(), failed=pl.col("failed").sum())
    excluded_people = tuple(rows.filter("excluded")["annotator"].unique(maintain_order=True))
    attendance = Attendance(
        seconds=summarise_times(kept["seconds"]),
        by_person={name: seconds for name, seconds in by_person.items() if seconds},
        controls={name: CheckCounts(asked, failed) for name, asked, known, failed in checks.iter_rows() if known},
        excluded=excluded_people,
        left_out=int((~counts).sum()),
        people=Headcount(rows["annotator"].n_unique(), len(excluded_people)),
        paces=_paces(rows),
    )
    return counts, attendance


def exclusion_reason(cell: str) -> str:
    """The reason for exclusion in a cell; empty if the cell says no."""
    return "" if cell.lower() in _NO else cell


def category_columns(
    table: FileTable,
    named: Sequence[str],
    *,
    used: Collection[str | None],
    item_properties: Collection[str] = (),
    item: str = "",
) -> tuple[str, ...]:
    """The columns with categories: those in ``named``, else a column of lists, else two or more 0/1 columns.

    0/1 columns in ``used`` have another meaning; if all the others are in ``item_properties``, they are not answers. If
    ``item``, the column that identifies items, is given, one of them must differ between rows of an item: otherwise
    they may describe the items.
    """
    if named:
        return tuple(named)
    if lists := find_column(table.columns, [LIST_COLUMN], but=item_properties):
        return (lists,)
    columns = tuple(name for name in binary_columns(table) if name not in used)
    if len(columns) < 2 or set(columns) <= set(item_properties):
        return ()
    if not item:
        return columns
    values = table.frame.group_by(item).agg(pl.col(columns).n_unique())
    return columns if (values.select(pl.max_horizontal(columns)).to_series() > 1).any() else ()


def binary_columns(table: FileTable) -> list[str]:
    """The columns that hold only 0 and 1, apart from occasional typing errors."""
    names = (name for name in table.columns if name.strip().lower() not in PARTICIPATION_COLUMNS)
    return [name for name in names if _is_binary(table.frame[name], allow_errors=True)]


def read_category_marks(table: FileTable, columns: Sequence[str]) -> tuple[pl.Series, tuple[str, ...]]:
    """The list of categories of each row, in the order of the columns, and all categories.

    A row that nobody judged is null: its list is missing in JSON, or all of its category columns are empty.
    """
    if len(columns) == 1 and not _is_binary(table.frame[columns[0]]):
        return _read_lists(table.frame[columns[0]])
    # Columns are renamed to numbers, because Polars would read some names as patterns.
    names = {f"{number}": taxonomy_name(column) for number, column in enumerate(columns)}
    marks = pl.DataFrame([_read_marks(table, column).alias(at) for at, column in zip(names, columns, strict=True)])
    lists = pl.concat_list(pl.when(pl.col(at).fill_null(False)).then(pl.lit(name)) for at, name in names.items())
    marked = pl.when(pl.any_horizontal(pl.all().is_not_null())).then(lists.list.drop_nulls())
    return marks.select(categories=marked).to_series(), ordered_categories(list(names.values()))


def _read_lists(column: pl.Series) -> tuple[pl.Series, tuple[str, ...]]:
    if not isinstance(column.dtype, pl.List):
        # Delimited text cannot distinguish an empty list from a missing one: an empty cell is an empty list.
        column = split_lists(column.cast(pl.String, strict=False).fill_null(""), SEPARATOR)
    category = pl.element().str.strip_chars()
    is_category = category.is_not_null() & ~category.str.to_lowercase().is_in(_NO_CATEGORY)
    lists = column.cast(pl.List(pl.String)).list.eval(category.filter(is_category))
    names = {name: taxonomy_name(name) for name in lists.explode(empty_as_null=False, keep_nulls=False).unique()}
    return lists.list.eval(pl.element().replace(names)).alias("categories"), ordered_categories(sorted(names))


def _is_binary(column: pl.Series, *, allow_errors: bool = False) -> bool:
    """Whether a column holds only 0 and 1, and at least one of them.

    With ``allow_errors``, fewer than half of its cells may hold other texts, but not other numbers: those are counts.
    """
    if column.dtype.is_nested():
        return False
    written = clean_text(column).drop_nulls().str.to_lowercase()
    known = written.is_in([*_MARKED, *_UNMARKED])
    if not allow_errors:
        return bool(known.any() and known.all())
    others = written.filter(~known)
    return len(written) > 2 * len(others) and others.cast(pl.Float64, strict=False).is_null().all()


def _read_marks(table: FileTable, name: str) -> pl.Series:
    """Whether the category of a column is marked in each row; null where the cell is empty."""
    column = table.frame[name]
    if column.dtype.is_nested():
        raise FileError(table.path, f"column {name!r} holds lists; it alone can be given as --categories {name}")
    marks, wrong = _parse_yes_no(column, _MARKED, _UNMARKED)
    for row in wrong:
        problem = f"column {name!r} holds {column[row]!r}; write 1 where the category is marked and 0 where not"
        raise row_error(table, row, problem)
    return marks


def _paces(rows: pl.DataFrame) -> dict[str, PeoplePace]:
    """The mean over people of their mean seconds per item: of all people, of those kept, and of those excluded."""
    timed = rows.filter(~pl.col("check")).drop_nulls("seconds")
    people = timed.group_by("annotator").agg(pl.col("seconds").mean(), pl.col("excluded").first())
    parts = {ALL: people, KEPT: people.filter(~pl.col("excluded")), DISCARDED: people.filter("excluded")}
    filled = {name: part for name, part in parts.items() if part.height}
    return {name: PeoplePace(part.height, float(part["seconds"].sum()) / part.height) for name, part in filled.items()}


def _seconds(written: pl.Series) -> pl.Series:
    seconds = written.cast(pl.Float64, strict=False)
    wrong = written.is_not_null() & (seconds.is_null() | (seconds < 0) | seconds.is_nan()).fill_null(True)
    for row in wrong.arg_true().head(1):
        raise RowError(row, f"seconds {written[row]!r} is not a duration; write a number, or leave it empty")
    return seconds


def _flags(written: pl.Series) -> pl.Series:
    flags, wrong = _parse_yes_no(written, _YES, _NO)
    for row in wrong:
        raise RowError(row, f"{written.name} {written[row]!r} is neither yes nor no")
    return flags


def _parse_yes_no(column: pl.Series, yes: Sequence[str], no: Sequence[str]) -> tuple[pl.Series, list[int]]:
    """Whether each cell says yes (null: empty), and the first row that says neither yes nor no, if any."""
    written = clean_text(column).str.to_lowercase()
    meanings = {**dict.fromkeys(yes, True), **dict.fromkeys(no, False)}
    values = written.replace_strict(meanings, default=None, return_dtype=pl.Boolean)
    return values, (written.is_not_null() & values.is_null()).arg_true().head(1).to_list()
