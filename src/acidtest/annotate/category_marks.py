"""Categories that people marked, as files hold them: one column of lists, or a column of 0 and 1 for each category."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from acidtest.annotate.answers import PARTICIPATION_COLUMNS, clean_text, parse_yes_no, row_error, split_lists
from acidtest.annotate.questionnaires import SEPARATOR
from acidtest.core.errors import FileError
from acidtest.io.tables import FileTable
from acidtest.text.taxonomy import ordered_categories, taxonomy_name

LIST_COLUMN = "categories"
"""The name of the column with lists of categories."""

_MARKED, _UNMARKED = ("1", "1.0", "true"), ("0", "0.0", "false")
_NO_CATEGORY = ("", "-", "none")


def category_columns(
    table: FileTable,
    named: Sequence[str],
    *,
    used: Collection[str | None],
    item_properties: Collection[str] = (),
    item: str = "",
) -> tuple[str, ...]:
    """The columns with categories: those named, one of lists, or two or more that hold only 0 and 1.

    Columns in ``used`` have another meaning. Columns that all belong to ``item_properties`` are no answers of people.
    With ``item``, the column that identifies items, one of the 0/1 columns must differ between people somewhere: beside
    labels, columns that are the same for every item may be known of the items themselves.
    """
    if named:
        return tuple(named)
    for name in table.columns:
        if name.strip().lower() == LIST_COLUMN and name not in item_properties:
            return (name,)
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

    A row is null, because nobody judged it, if its list is missing in JSON or all of its columns are empty.
    """
    frame = table.frame
    if len(columns) == 1 and not _is_binary(frame[columns[0]]):
        return _read_lists(frame[columns[0]])
    names = [taxonomy_name(column) for column in columns]
    marks = pl.DataFrame([_read_marks(table, column).alias(f"{at}") for at, column in enumerate(columns)])
    lists = pl.concat_list(
        pl.when(pl.col(f"{at}").fill_null(False)).then(pl.lit(name)) for at, name in enumerate(names)
    ).list.drop_nulls()
    judged = pl.any_horizontal(pl.all().is_not_null())
    return marks.select(categories=pl.when(judged).then(lists)).to_series(), ordered_categories(names)


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

    With ``allow_errors``, whether more than half of its cells do and the others are no numbers, which would be counts.
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
    marks, wrong = parse_yes_no(column, _MARKED, _UNMARKED)
    for row in wrong[:1]:
        problem = f"column {name!r} holds {column[row]!r}; write 1 where the category is marked and 0 where not"
        raise row_error(table, row, problem)
    return marks
